"""The bookkeeping of a row: its checks, its attributes, how it is written, the registry.

What an operation *does* is in ``core.py``; here is how a row is asked for its derivatives, what it
is called, how many inputs it has, how it is printed, and that its parts fit together.

Read next: ``evaluate.py``.
"""

from __future__ import annotations

from functools import partial

from minigrad import hooks
from minigrad.elsewhere import wrong_call
from minigrad.errors import ArgumentTypeError, DefinitionError, UnknownOperationError
from minigrad.nothing import NOTHING
from minigrad.ops import evaluate
from minigrad.ops.floats import IEEEFloat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Self

    from minigrad.ops.manual import Manual

__all__ = ["FIRST", "INF", "MANY", "ONE", "OPS", "SECOND", "Op", "find", "row_of"]

OPS: dict[str, Any] = {}  # the registry: name -> row

MANY = 1 << 30  # the arity of a row that takes any number of inputs

INF = float("inf")

ONE = 1.0  # the slope of a sum, always this object: the fast pass need not multiply by it


def FIRST(out: Any, x: Any, y: Any) -> Any:
    """The slope that is the first input. The fast pass knows it, and need not call it."""
    return x


def SECOND(out: Any, x: Any, y: Any) -> Any:
    """The slope that is the second input."""
    return y


_TAKES_ANY = 0x04  # the flag of a code object with *args


def find(name: str) -> Any:
    """Return the row called ``name``.

    Raises:
        UnknownOperationError: naming similar rows.
    """
    if name in OPS:
        return OPS[name]
    near = sorted(known for known in OPS if name[:3].lower() in known or known in name)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    raise UnknownOperationError(f"no operation is called {name!r}{hint}")


def row_of(function: Any) -> Op:
    """The row of a function of the table."""
    row: Op = function.op
    return row


def parameters(function: Callable[..., Any]) -> tuple[list[str], dict[str, Any], bool]:
    """The positional parameters, the keyword-only ones with defaults, and if it takes *args."""
    code = function.__code__
    names = list(code.co_varnames)
    count = code.co_argcount
    return (
        names[:count],
        {
            name: (function.__kwdefaults__ or {}).get(name)
            for name in names[count : count + code.co_kwonlyargcount]
        },
        bool(code.co_flags & _TAKES_ANY),
    )


_CONSTANT = None, None, "constant"  # the edge to a plain number


class Op:
    """What the table says of one operation.

    Args:
        name: A snake_case word; also the name of the function and of the method.
        forward: ``(m, *xs, **attrs) -> out``. ``m`` has the functions for the kind of numbers.
        partials: Per input the local derivative: ``(out, *xs, **attrs) -> ∂out/∂xᵢ``, a number
            where it is constant, or None where the operation is not differentiable.
        text: How it is written, ``"{0:1} + {1:1}"``: input 0 in brackets if it binds less than 1.
        latex: The same in LaTeX, or only a function's name such as ``r"\\sin"``.
        precedence: How tightly it binds: 0 comparison, 1 sum, 2 product, 3 sign, 4 power, 5 atom.
        domain: ``(*xs) -> condition``; outside it the local derivatives are nan.
        edges: Per input a list of (condition, value): the derivative at singular points. A value
            is a number or a formula ``(out, *xs)``.
        kink: ``(*xs) -> condition``: here the function has no derivative, and the formula gives the
            slope that is used by convention.
        selects: A slope of 0 sends nothing at all (``where``).
        sentence: One sentence for the documentation.
        example: The arguments of an example and its result.
        source: Where the formula is published.
        manual: What is said of a row of arrays beyond that; see ``manual.py``.
        public: Whether it is a name of ``minigrad`` (``add`` is not: it is written ``+``).

    Raises:
        DefinitionError: if the parts do not fit together, naming the row.
    """

    __slots__ = (
        "arity", "attrs", "domain", "edges", "example", "forward", "kink", "latex", "manual",
        "name", "parameters", "partials", "precedence", "public", "selects", "sentence", "slopes",
        "source", "text",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        forward: Callable[..., Any],
        partials: Sequence[Callable[..., Any] | float | None],
        *,
        text: str = "",
        latex: str = "",
        precedence: int = 5,
        domain: Callable[..., Any] | None = None,
        edges: Mapping[int, Sequence[tuple[Callable[..., Any], Any]]] | None = None,
        kink: Callable[..., Any] | None = None,
        selects: bool = False,
        sentence: str = "",
        example: tuple[Any, ...] = (),
        source: str = "",
        manual: Manual | None = None,
        public: bool = True,
    ) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise DefinitionError(f"operation {name!r}: the name is a word such as 'my_square'")
        if not hasattr(forward, "__code__"):
            raise DefinitionError(
                f"operation {name!r}: forward is a function (m, *xs), not {forward!r}"
            )
        if not isinstance(partials, list | tuple):
            raise DefinitionError(
                f"operation {name!r}: partials is a list, one entry per input, not {partials!r}"
            )
        names, attrs, any_number = parameters(forward)
        self.name = name
        self.forward = forward
        self.parameters = tuple(names[1:])
        self.arity = MANY if any_number else len(self.parameters)
        self.attrs = attrs
        self.partials = tuple(
            ONE if p == 1 else float(p) if isinstance(p, int | float) else p for p in partials
        )
        self.domain = domain
        self.edges = dict(edges or {})
        self.kink = kink
        self.selects = selects
        self.precedence = precedence
        self.sentence, self.example, self.source, self.public = sentence, example, source, public
        self.manual = manual
        slots = [f"{{{i}}}" for i in range(len(self.parameters))]
        self.text = text or f"{name}({', '.join(slots)})"
        head = (
            latex
            or (text and text.replace("**", "^"))
            or rf"\operatorname{{{{{name.replace('_', '')}}}}}"
        )
        self.latex = head if "{0" in head else rf"{head}\left({', '.join(slots)}\right)"
        self._check()
        self.slopes = tuple(self._slope(i) for i in range(len(self.partials)))

    def _check(self) -> None:
        if not self.arity:
            raise DefinitionError(
                f"operation {self.name!r}: forward takes (m, x, …), at least one input"
            )
        if self.arity is not MANY and len(self.partials) != self.arity:
            raise DefinitionError(
                f"operation {self.name!r} has {self.arity} inputs ({', '.join(self.parameters)}) "
                f"but {len(self.partials)} partials; one is needed per input (None if it is not "
                f"differentiable)"
            )
        if not all(0 <= i < len(self.partials) for i in self.edges):
            raise DefinitionError(
                f"operation {self.name!r} has edges for the inputs {sorted(self.edges)}, but its "
                f"inputs count from 0 to {len(self.partials) - 1}"
            )
        for i, formula in enumerate(self.partials):
            if formula is None or isinstance(formula, float):
                continue
            if not hasattr(formula, "__code__"):
                raise DefinitionError(
                    f"operation {self.name!r}: partial {i} is a function (out, *xs), a number or "
                    f"None, not {formula!r}"
                )
            names, _, any_number = parameters(formula)
            if not any_number and len(names) != 1 + self.arity:
                raise DefinitionError(
                    f"operation {self.name!r}: partial {i} takes ({', '.join(names)}), "
                    f"but is called with (out, {', '.join(self.parameters)})"
                )

    def _slope(self, i: int) -> Any:
        """The derivative for input ``i`` with the domain and the edges around it."""
        formula, domain, edges = self.partials[i], self.domain, self.edges.get(i, ())
        if formula is None or (domain is None and not edges):
            return formula

        def guarded(out: Any, *xs: Any) -> Any:
            inside = type(out) is float and out == out  # outside the domain, out is nan
            if domain is not None and not inside and not domain(*xs):
                return float("nan")
            for condition, value in edges:
                if condition(*xs):
                    return value(out, *xs) if callable(value) else value
            return formula(out, *xs) if callable(formula) else formula

        return guarded

    def differentiable(self, i: int) -> bool:
        """Whether input ``i`` gets a gradient at all."""
        return self.arity is MANY or self.slopes[i] is not None

    def local_derivatives(self, xs: Sequence[Any]) -> Sequence[Any]:
        """∂out/∂xᵢ for every i at once, for a row of any number of inputs."""
        raise DefinitionError(f"operation {self.name!r} does not say its local derivatives")

    def local_derivative(self, i: int, out: Any, xs: Sequence[Any]) -> Any:
        """Evaluate ∂out/∂xᵢ: a float on floats, a node on nodes."""
        if type(out) is float:
            return evaluate.derivative(self, i, out, tuple(xs))
        if hasattr(out, "shape"):
            return hooks.local_array(self, i, out, xs)
        slope = self.slopes[i]
        return slope(out, *xs) if callable(slope) else slope

    def pull(
        self, upstream: Any, out: Any, xs: Sequence[Any], inputs: Sequence[object]
    ) -> list[tuple[Any, Any, str]]:
        """Multiply ``upstream`` by each local derivative.

        Returns:
            Per input: the local derivative, the contribution, and why there is none.
        """
        if hasattr(out, "shape"):  # the same on arrays, element by element
            return hooks.pull_array(self, upstream, out, xs, inputs)  # type: ignore[no-any-return]
        edges: list[tuple[Any, Any, str]] = []
        every = self.local_derivatives(xs) if self.arity is MANY else ()
        plain = out.__class__ is float
        for i, node in enumerate(inputs):
            if node is None:
                edges.append(_CONSTANT)
            elif not every and self.slopes[i] is None:
                edges.append((None, None, "not differentiable"))
            elif upstream is NOTHING:
                edges.append((None, NOTHING, "nothing arrived"))
            else:
                if every:
                    local = every[i]
                elif plain:
                    local = evaluate.derivative(self, i, out, xs)
                else:
                    local = self.local_derivative(i, out, xs)
                if self.selects and not local:
                    edges.append((0.0, NOTHING, "other branch"))
                    continue
                if local.__class__ is IEEEFloat:  # of constants alone, in a formula on nodes
                    local = float(local)
                product = upstream * local
                if plain and product.__class__ is float and product - product != 0.0:
                    evaluate.check_product(self, i, out, tuple(xs), upstream, local)
                edges.append((local, product, ""))
        return edges

    def contributions(self, upstream: float, out: float, xs: Sequence[float]) -> Iterable[Any]:
        """``pull`` without the rest, for the fast pass: per input upstream × local, or None."""
        products: list[Any] = []
        for slope in self.slopes:
            local = slope(out, *xs) if callable(slope) else slope
            nothing = self.selects and local == 0.0
            products.append(NOTHING if nothing else None if local is None else upstream * local)
        return products

    def register(self) -> Self:
        """Enter the row into the registry."""
        if self.name in OPS:
            raise DefinitionError(f"an operation is already called {self.name!r}")
        OPS[self.name] = self
        return self

    def bind(self, **attrs: Any) -> Self:
        """The same row with its attributes fixed: what a node keeps of ``leaky_relu(x, 0.2)``."""
        if not self.attrs:
            return self
        bound = object.__new__(type(self))
        for slot in Op.__slots__:
            setattr(bound, slot, getattr(self, slot))
        bound.attrs = {**self.attrs, **attrs}
        bound.forward = partial(self.forward, **bound.attrs)
        bound.partials = tuple(
            partial(p, **bound.attrs) if callable(p) else p for p in self.partials
        )
        bound.slopes = tuple(bound._slope(i) for i in range(len(self.partials)))
        if attrs:
            shown = ", ".join(f"{name}={value!r}" for name, value in bound.attrs.items())
            slots = ", ".join(f"{{{i}}}" for i in range(self.arity))
            bound.text = f"{self.name}({slots}, {shown})"
            head = rf"\operatorname{{{{{self.name.replace('_', '')}}}}}"
            words = ", ".join(rf"\mathrm{{{{{v!r}}}}}" for v in bound.attrs.values())
            bound.latex = rf"{head}\left({slots}, {words}\right)"
        return bound

    def arrange(
        self, xs: tuple[Any, ...], attrs: Mapping[str, Any]
    ) -> tuple[Self, tuple[Any, ...]]:
        """Sort the arguments of a call into inputs and attributes.

        Raises:
            ArgumentTypeError: for a wrong number or an unknown name, with the signature.
        """
        names = (*self.parameters, *self.attrs)
        given = dict(zip(names, xs, strict=False))
        known = len(xs) <= len(names) and not any(k in given or k not in names for k in attrs)
        given.update(attrs)
        if not known or not all(name in given for name in self.parameters):
            signature = ", ".join(
                [*self.parameters, *(f"{name}={value!r}" for name, value in self.attrs.items())]
            )
            raise wrong_call(
                self.word, evaluate.shown(xs, attrs), f"{self.word}({signature})", names, attrs
            )
        inputs = tuple(given.pop(name) for name in self.parameters)
        for name, value in given.items():
            if isinstance(self.attrs[name], float):
                given[name] = evaluate.as_number(value)
                if given[name] is None:
                    raise ArgumentTypeError(
                        f"{self.word}(…, {name}={evaluate.brief(value)}): {name} is one number, "
                        f"not {evaluate.kind_of(value)}"
                    )
        return (self.bind(**given) if given else self), inputs

    @property
    def word(self) -> str:
        """What a learner calls it: the row of sums of arrays is ``sum``."""
        word = self.text.partition("(")[0]
        return word if word.isidentifier() else self.name

    def describe(self, xs: Sequence[Any]) -> str:
        """``'div(x=1.0, y=0.0)'``: the operation with the numbers that went in."""
        names = self.parameters if len(self.parameters) == len(xs) else [""] * len(xs)
        shown = [
            f"{name}={_shown(x)}" if name else _shown(x) for name, x in zip(names, xs, strict=True)
        ]
        if len(shown) > 6:
            shown = [*shown[:3], f"… {len(shown) - 4} more", shown[-1]]
        return f"{self.name}({', '.join(shown)})"

    def __repr__(self) -> str:
        attrs = "".join(f", {name}={value!r}" for name, value in self.attrs.items())
        return f"Op({self.name!r}{attrs})"


def _shown(x: Any) -> str:
    shape = getattr(x, "shape", ())
    return f"array{shape}" if shape else repr(x)

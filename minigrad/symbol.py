"""Symbols: the rows of the table run on names, to be printed as text and LaTeX.

``tanh.op.partials[0](Symbol("y"), Symbol("x"))`` is ``1 - y ** 2``: the formula that computes a
local derivative also writes it down. ``derivative_formula`` does that for an input of a row.

Read next: ``explanation/`` and ``reference/``, which print with it.
"""

from __future__ import annotations

import math
from functools import lru_cache

from minigrad.errors import ArgumentTypeError
from minigrad.formatting import visible
from minigrad.ops import FUNCTIONS, OPS
from minigrad.ops.evaluate import as_number, compute, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from minigrad.ops.row import Op

__all__ = ["Symbol", "bracketed", "derivative_formula", "edge_value", "formula", "is_expression"]

_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = 1, 2, 3, 4, 5  # how tightly a text binds


class Symbol:
    """A formula: a name, a number, or an operation on formulas.

    Args:
        name: Its text.
        latex: Its LaTeX; the name itself by default.

    >>> x = Symbol("x")
    >>> print(2.0 * x + x ** 3.0)
    2 * x + x ** 3
    """

    __slots__ = ("inputs", "latex_name", "name", "number", "op")
    _rank = 3

    if TYPE_CHECKING:  # filled in from the table, at the end of this file

        def _operator(self, other: Any) -> Symbol: ...

        __add__ = __sub__ = __mul__ = __truediv__ = __pow__ = _operator
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = _operator

    def __init__(self, name: str, latex: str | None = None) -> None:
        self.name = name
        self.latex_name = _name_latex(name) if latex is None else latex
        self.op: Op | None = None
        self.inputs: tuple[Symbol, ...] = ()
        self.number: float | None = None

    @staticmethod
    def of(x: Any) -> Symbol:
        """``x`` as a symbol: itself, or a number written down."""
        if isinstance(x, Symbol):
            return x
        number = as_number(x)
        if number is None:
            raise refuse(x, "a formula")
        symbol = Symbol(_number_text(number), _number_latex(number))
        symbol.number = number
        return symbol

    @staticmethod
    def _apply(op: Op, xs: Sequence[Any], kinds: set[type]) -> Symbol:
        inputs = tuple(map(Symbol.of, xs))
        if op.arity < 3 and all(x.number is not None for x in inputs):
            number = compute(op, tuple(float(x.number or 0.0) for x in inputs))
            if math.isfinite(number):
                return Symbol.of(number)
        simple = _SIMPLER.get(op.name, _nothing_simpler)(*inputs)
        if simple is not None:
            return simple
        symbol = Symbol("")
        symbol.op, symbol.inputs = op, inputs
        return symbol

    @property
    def text(self) -> str:
        """The formula as Python would write it; it evaluates to the same number."""
        return str(_written(self)[0])

    @property
    def latex(self) -> str:
        """The formula in LaTeX."""
        return str(_written(self)[1])

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Symbol({self.text!r})"

    def __neg__(self) -> Symbol:
        return Symbol._apply(OPS["neg"], (self,), set())

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return Symbol._apply(OPS["abs"], (self,), set())

    def __bool__(self) -> NoReturn:
        raise ArgumentTypeError(
            f"whether {self.text} holds is not known in a formula; write where(condition, x, y)"
        )


class _Written:
    """A text that knows how tightly it binds: ``f"{part:2}"`` brackets it if less than 2."""

    __slots__ = ("binds", "brackets", "text")

    def __init__(self, text: str, binds: int, brackets: str) -> None:
        self.text = text
        self.binds = binds
        self.brackets = brackets

    def __format__(self, needed: str) -> str:
        if needed and self.binds < int(needed):
            return self.brackets.format(self.text)
        return self.text

    def __str__(self) -> str:
        return self.text


def _written(root: Symbol) -> tuple[_Written, _Written]:
    """Text and LaTeX, with a stack of its own: a formula may be deep."""
    done: dict[int, tuple[_Written, _Written]] = {}
    stack = [root]
    while stack:
        symbol = stack[-1]
        waiting = [x for x in symbol.inputs if id(x) not in done]
        if waiting:
            stack.extend(waiting)
            continue
        done[id(stack.pop())] = tuple(  # type: ignore[assignment]
            _write(symbol, [done[id(x)][form] for x in symbol.inputs], form) for form in (0, 1)
        )
    return done[id(root)]


def _write(symbol: Symbol, parts: list[_Written], form: int) -> _Written:
    brackets = r"\left({}\right)" if form else "({})"
    op = symbol.op
    if op is None:
        if symbol.number is None:
            binds = 0 if is_expression(symbol.name) else _ATOM
        else:
            binds = _SIGN if math.copysign(1.0, symbol.number) < 0 else _ATOM
        return _Written(symbol.latex_name if form else symbol.name, binds, brackets)
    template = op.latex if form else op.text
    if op.parameters:
        text = template.format(*parts)
    else:  # any number of inputs
        text = _list_form(op, [str(part) for part in parts], form)
    return _Written(text, _latex_binds(op) if form else op.precedence, brackets)


def _latex_binds(op: Op) -> int:
    """In LaTeX a fraction or a superscript can stand where the text has a function's name."""
    if op.latex.startswith(r"\left"):
        return _ATOM
    if op.latex.startswith(r"\frac"):
        return _PRODUCT
    return _POWER if op.latex.startswith(("e^", "2^", "{{{0:5}}}^")) else op.precedence


def _list_form(op: Op, parts: list[str], form: int) -> str:
    if op.name == "dot":
        half = len(parts) // 2
        left, right = ", ".join(parts[:half]), ", ".join(parts[half:])
        if form:
            return rf"\left[{left}\right] \cdot \left[{right}\right]"
        return f"dot([{left}], [{right}])"
    inside = ", ".join(parts)
    if form:
        word = op.name.replace("_", "")
        head = r"\sum" if op.name == "sum" else rf"\operatorname{{{word}}}"
        return rf"{head}\left[{inside}\right]"
    if "subscripts" in op.attrs:  # einsum("ij,jk->ik", x, y)
        return f"{op.name}({op.attrs['subscripts']!r}, {inside})"
    axis = f", axis={op.attrs['axis']!r}" if "axis" in op.attrs else ""
    return f"{op.name}([{inside}]{axis})"


@lru_cache(maxsize=1024)  # a name is asked about again for each edge of its node
def is_expression(name: str) -> bool:
    """Whether a name is the text of an expression (automatic names may be), such as ``a*b``."""
    depth = 0
    for character in name:
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and (character.isspace() or character in "+-*/%<>=|&^~,"):
            return True
    return False


def bracketed(name: str) -> str:
    """A name as it stands after ∂: ``x``, ``w[0]``, ``mg.tanh(a*b)``, but ``(a*b)``."""
    return f"({name})" if is_expression(name) else name


_LATEX = {"\\": r"\backslash ", "^": r"\hat{ }", "~": r"\sim ", " ": r"\ "} | {
    character: f"\\{character}" for character in "{}$#%&_"
}


_SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
_TO_DIGITS = str.maketrans(_SUBSCRIPTS, "0123456789")


@lru_cache(maxsize=1024)
def _name_latex(name: str) -> str:
    """``x`` is x, ``w1`` is w with an index, and a longer word is set upright."""
    name = visible(name)  # an empty line would end the formula
    letters = name.rstrip(_SUBSCRIPTS)
    index = name[len(letters) :].translate(_TO_DIGITS)  # a repeat of an automatic name: x₂
    if not index:
        letters = name.rstrip("0123456789")
        index = name[len(letters) :] if letters.isalpha() else ""
    letters = letters if index else name
    plain = "".join(_LATEX.get(character, character) for character in letters)
    head = plain if len(letters) == 1 else rf"\mathrm{{{plain}}}"
    return f"{head}_{{{index}}}" if index else head


def _number_text(x: float) -> str:
    if not math.isfinite(x):
        return {"inf": "inf", "-inf": "-inf"}.get(repr(x), "nan")
    return repr(int(x)) if x == int(x) and abs(x) < 1e15 and (x or repr(x) == "0.0") else repr(x)


def _number_latex(x: float) -> str:
    if not math.isfinite(x):
        return {"inf": r"\infty", "-inf": r"-\infty"}.get(repr(x), r"\mathrm{nan}")
    text = f"{x:.4g}"
    if "e" in text:
        mantissa, exponent = text.split("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
    return text


# -- what everybody would write shorter ----------------------------------------------------------


def _is(x: Symbol, number: float) -> bool:
    return x.number == number


def _nothing_simpler(*inputs: Symbol) -> Symbol | None:
    return None


def _simpler_add(x: Symbol, y: Symbol) -> Symbol | None:
    return y if _is(x, 0.0) else x if _is(y, 0.0) else None


def _simpler_sub(x: Symbol, y: Symbol) -> Symbol | None:
    return x if _is(y, 0.0) else None


def _simpler_mul(x: Symbol, y: Symbol) -> Symbol | None:
    if _is(x, 1.0):
        return y
    if _is(y, 1.0):
        return x
    if x is y and x.number is None:
        return Symbol._apply(OPS["pow"], (x, 2.0), set())
    return None


def _simpler_div(x: Symbol, y: Symbol) -> Symbol | None:
    return x if _is(y, 1.0) else None


def _simpler_pow(x: Symbol, y: Symbol) -> Symbol | None:
    return x if _is(y, 1.0) else None


_SIMPLER: dict[str, Callable[..., Symbol | None]] = {
    "add": _simpler_add,
    "sub": _simpler_sub,
    "mul": _simpler_mul,
    "div": _simpler_div,
    "pow": _simpler_pow,
}


# -- the operators, from the table ---------------------------------------------------------------


def _operator(op: Op, reflected: bool = False) -> Callable[[Symbol, Any], Symbol]:
    def method(self: Symbol, other: Any) -> Symbol:
        pair = (other, self) if reflected else (self, other)
        return Symbol._apply(op, pair, set())

    return method


for _word, _name in {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv",
    "mod": "mod", "pow": "pow",
}.items():  # fmt: skip
    setattr(Symbol, f"__{_word}__", _operator(OPS[_name]))
    setattr(Symbol, f"__r{_word}__", _operator(OPS[_name], reflected=True))
for _word, _name, _reflected in (
    ("lt", "less", False), ("le", "less_equal", False), ("gt", "greater", False),
    ("ge", "less_equal", True),
):  # fmt: skip
    setattr(Symbol, f"__{_word}__", _operator(OPS[_name], reflected=_reflected))
for _name, _function in FUNCTIONS.items():
    if _function.op.public and not hasattr(Symbol, _name):
        setattr(Symbol, _name, _function)


def formula(op: Op, xs: Sequence[Any]) -> Symbol:
    """The operation written with ``xs`` for its inputs."""
    return Symbol._apply(op, xs, set())


def derivative_formula(op: Op, i: int, xs: Sequence[Any]) -> Symbol:
    """∂out/∂xᵢ written with ``xs`` for the inputs, without the edges.

    >>> from minigrad.ops import OPS
    >>> print(derivative_formula(OPS["tanh"], 0, [Symbol("x")]))
    1 - tanh(x) ** 2
    """
    inputs = [Symbol.of(x) for x in xs]
    if not op.parameters:
        return Symbol.of(op.local_derivative(i, None, inputs))
    partial = op.partials[i]
    if partial is None:
        return Symbol.of(0.0)
    return Symbol.of(partial(formula(op, inputs), *inputs) if callable(partial) else partial)


def edge_value(value: Any, out: Any, symbols: Sequence[Symbol]) -> str:
    """The derivative at an edge: a number, a formula, or in the words of its function."""
    if not callable(value):
        return Symbol.of(value).text
    return value.__doc__ or Symbol.of(value(out, *symbols)).text

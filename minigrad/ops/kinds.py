"""Rows that are no functions of single numbers: sums, shapes, products, choices of elements.

Such a row has no local derivative per element, but a rule that carries a gradient back at once:

- ``Linear``: the *transpose*. The gradient of a sum is repeated, that of a slice is put back.
- ``Product``: linear in each input by itself (``matmul``, ``einsum``, ``conv2d``).
- ``General``: anything else; it says its jvp (forwards) as well.

A rule is written with the functions of the table, so that it runs on arrays and on nodes alike,
and a derivative can be differentiated again.

Read next: ``reduce.py``, the first of the files with such rows.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import hooks, modes
from minigrad.errors import ArgumentValueError
from minigrad.nothing import NOTHING
from minigrad.ops.arrays import ARRAYS, as_operand, compute_array, errors, ndarray, quiet
from minigrad.ops.broadcasting import Masked, carries, fit, parts, raw
from minigrad.ops.core import where
from minigrad.ops.function import by_position
from minigrad.ops.manual import of_row
from minigrad.ops.row import MANY, Op

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

__all__ = ["General", "Linear", "Product", "array_function"]

_MOST_BINDINGS = 1000  # attributes of a program are few; an index that changes at each step is not


class General(Op):
    """A row with a vjp and a jvp.

    Args:
        name, forward, about: As in ``Op``. ``forward`` is called with arrays alone.
        vjp: Upstream gradient → contribution: one rule ``(g, out, *xs, **attrs)`` per input (None:
            not differentiable), or one function that gives all contributions in a sequence.
        jvp: Tangents → tangent of the output: ``(tangents, out, *xs, **attrs)``; a tangent is None
            where an input does not change.
        reach: Which elements of the inputs an element of the output depends on: rules as in
            ``vjp``, for a ``g`` of zeros and ones. An element of an input that none of the ones
            reaches gets *nothing*. Without it, every element depends on every other.
    """

    __slots__ = ("_bindings", "jvp", "reach", "vjp")

    def __init__(
        self, name: str, forward: Any, vjp: Any, *, jvp: Any = None, reach: Any = None, **about: Any
    ) -> None:
        super().__init__(name, forward, (), **about)
        self.vjp = _rules(vjp)
        self.jvp = jvp
        self.reach = _rules(reach)
        self._bindings: dict[Any, Self] = {}

    def _check(self) -> None:
        """A row of arrays has rules in place of partials; there is nothing to compare."""

    def differentiable(self, i: int) -> bool:
        """Whether input ``i`` gets a gradient at all."""
        return callable(self.vjp) or self.vjp[i] is not None

    def bind(self, **attrs: Any) -> Self:
        """The same row with its attributes fixed."""
        bound = object.__new__(type(self))
        for slot in Op.__slots__:
            setattr(bound, slot, getattr(self, slot))
        attrs = bound.attrs = {**self.attrs, **attrs}
        bound.forward = _with_attributes(self.forward, attrs)
        bound.vjp = _with_attributes(self.vjp, attrs)
        bound.jvp = _with_attributes(self.jvp, attrs)
        bound.reach = _with_attributes(self.reach, attrs)
        bound._bindings = {}
        shown = "".join(
            f", {name}={_braces(value)}"
            for name, value in attrs.items()
            if value is not self.attrs.get(name)
        )
        slots = ", ".join(f"{{{i}}}" for i in range(len(self.parameters)))
        if shown:
            bound.text = f"{self.word}({slots}{shown})"
            name = self.name.replace("_", "")
            bound.latex = rf"\operatorname{{{{{name}}}}}\left({slots}\right)"
        return bound

    def cached(self, **attrs: Any) -> Self:
        """``bind``, which is asked for the same attributes at every step of a training."""
        try:
            known = self._bindings.get(key := tuple(attrs.items()))
        except TypeError:  # an index may hold what has no hash
            return self.bind(**attrs)
        if known is None:
            if len(self._bindings) >= _MOST_BINDINGS:
                self._bindings.clear()
            known = self._bindings[key] = self.bind(**attrs)
        return known

    def pull(
        self, upstream: Any, out: Any, xs: Sequence[Any], inputs: Sequence[Any]
    ) -> list[tuple[Any, Any, str]]:
        """The contributions to the inputs; there is no local derivative per element."""
        reasons = [self._reason(i, node) for i, node in enumerate(inputs)]
        if upstream is NOTHING:
            return [(None, None, r) if r else (None, NOTHING, "nothing arrived") for r in reasons]
        values, nothing = parts(upstream)
        token = errors.set(quiet)
        try:
            with modes.errstate("ignore"):
                if nothing is None:
                    sent = self.contributions_to(inputs, values, out, xs)
                else:
                    sent = self._past_nothing(inputs, values, nothing, out, xs)
                return [
                    (None, None, reason or "not differentiable")
                    if contribution is None
                    else (None, fit(contribution, x), "")
                    for reason, contribution, x in zip(reasons, sent, xs, strict=True)
                ]
        finally:
            errors.reset(token)

    def contributions_to(
        self, inputs: Sequence[Any], upstream: Any, out: Any, xs: Sequence[Any]
    ) -> Sequence[Any]:
        """What goes to each input; None where nobody wants it, which may save the most work."""
        return _asked(self.vjp, inputs, upstream, out, xs)

    def _past_nothing(
        self, inputs: Sequence[Any], values: Any, nothing: Any, out: Any, xs: Sequence[Any]
    ) -> Sequence[Any]:
        """The contributions if ``nothing`` arrived at some elements: they send nothing on.

        Their ``values`` are 0, which is not enough: 0 times an infinite local derivative is nan.
        """
        sent = self.contributions_to(inputs, values, out, xs)
        arrived = (~nothing).astype(float)
        reached = self.reached_by(inputs, arrived, raw(out), [raw(x) for x in xs])
        return [
            s if s is None else _without(s, r == 0.0) for s, r in zip(sent, reached, strict=True)
        ]

    def reached_by(
        self, inputs: Sequence[Any], arrived: Any, out: Any, xs: Sequence[Any]
    ) -> Sequence[Any]:
        """Per input an array that is 0 where no element with a gradient depends on it."""
        if self.reach is None:
            return [np.asarray(arrived.any())] * len(xs)
        return [
            None if r is None else np.asarray(r)
            for r in _asked(self.reach, inputs, arrived, out, xs)
        ]

    def _reason(self, i: int, node: Any) -> str:
        """Why there is no gradient for input ``i``; empty if there is one."""
        if node is None:
            return "constant"
        if not self.differentiable(i):
            return "not differentiable"
        return "" if carries(node) else "whole numbers"

    def push(self, tangents: Sequence[Any], out: Any, xs: Sequence[Any]) -> Any:
        """The tangent of the output, from those of the inputs (None: does not change)."""
        return self.jvp(tangents, out, *xs)

    def local_derivative(self, i: int, out: Any, xs: Sequence[Any]) -> Any:
        """∂out/∂xᵢ as an array of shape ``(*out.shape, *xᵢ.shape)``, one vjp per element of out.

        Raises:
            ArgumentValueError: if it would have more than a million elements.
        """
        shape = (*np.shape(out), *np.shape(xs[i]))
        if np.prod(shape, dtype=float) > 1e6:
            raise ArgumentValueError(
                f"∂{self.name}/∂x{i} has shape {shape}; that is too much to show"
            )
        only = [object() if j == i else None for j in range(len(xs))]
        jacobian = np.zeros((np.size(out), np.size(xs[i])))
        for row, unit in zip(jacobian, np.eye(np.size(out)), strict=True):
            sent = self.contributions_to(only, unit.reshape(np.shape(out)), out, xs)[i]
            row[:] = 0.0 if sent is None else np.ravel(fit(sent, xs[i]))
        return jacobian.reshape(shape)


class Linear(General):
    """A row that is linear in all its inputs together; its vjp is its transpose.

    Args:
        name, forward, about: As in ``Op``.
        transpose: ``(g, out, x, **attrs)`` → the contribution to ``x``; for a row of any number of
            inputs ``(g, out, *xs, **attrs)`` → all contributions.
    """

    __slots__ = ()

    def __init__(self, name: str, forward: Any, transpose: Any, **about: Any) -> None:
        super().__init__(name, forward, transpose, **about)
        if self.arity is not MANY:
            self.vjp = (transpose, *[None] * (self.arity - 1))
        self.reach = self.vjp

    def push(self, tangents: Sequence[Any], out: Any, xs: Sequence[Any]) -> Any:
        """The row itself on the tangents."""
        filled = [
            np.zeros(np.shape(x)) if t is None else t for t, x in zip(tangents, xs, strict=True)
        ]
        if self.arity is not MANY:
            filled[1:] = xs[1:]  # only the first one is linear, the others say which elements
        return evaluate_arrays(self, tuple(filled))


class Product(General):
    """A row that is linear in each of its inputs by itself; the rules are like those of x·y.

    With a jvp it may also be a sum of such products, as ``linear`` is.
    """

    __slots__ = ()

    def push(self, tangents: Sequence[Any], out: Any, xs: Sequence[Any]) -> Any:
        """The product rule."""
        if self.jvp is not None:
            return super().push(tangents, out, xs)
        total = None
        for i, tangent in enumerate(tangents):
            if tangent is not None:
                term = evaluate_arrays(self, (*xs[:i], tangent, *xs[i + 1 :]))
                total = term if total is None else total + term
        return total

    def reached_by(
        self, inputs: Sequence[Any], arrived: Any, out: Any, xs: Sequence[Any]
    ) -> Sequence[Any]:
        """How many elements with a gradient depend on each: the product of ones."""
        return self.contributions_to(inputs, arrived, out, [np.ones(np.shape(x)) for x in xs])

    def _past_nothing(
        self, inputs: Sequence[Any], values: Any, nothing: Any, out: Any, xs: Sequence[Any]
    ) -> Sequence[Any]:
        """The same where a sum takes in elements that got nothing, and factors that are infinite.

        Where such factors meet nothing but *nothing*, they are left out, as if they were 0.
        """
        sent = super()._past_nothing(inputs, values, nothing, out, xs)
        wild = [~np.isfinite(raw(x)) for x in xs]
        if not any(w.any() for w in wild):
            return sent
        tame = [where(w, 0.0, x) if w.any() else x for w, x in zip(wild, xs, strict=True)]
        without = super()._past_nothing(inputs, values, nothing, out, tame)
        arrived = (~nothing).astype(float)
        ones = self.reached_by(inputs, arrived, raw(out), xs)
        twos = self.contributions_to(inputs, arrived, raw(out), [1.0 + w for w in wild])
        return [
            s if s is None else Masked(where(two == one, w.values, s.values), s.nothing)
            for s, w, one, two in zip(sent, without, ones, twos, strict=True)
        ]


def _without(sent: Any, nothing: Any) -> Masked:
    return Masked(where(nothing, 0.0, sent), np.broadcast_to(nothing, getattr(sent, "shape", ())))


# -- rules ---------------------------------------------------------------------------------------


def _rules(given: Any) -> Any:
    """One function for all inputs, a tuple of one per input, or None."""
    return given if given is None or callable(given) else tuple(given)


def _with_attributes(rules: Any, attrs: dict[str, Any]) -> Any:
    """Rules with their attributes fixed."""
    if rules.__class__ is tuple:
        return tuple(_with_attributes(rule, attrs) for rule in rules)
    return partial(rules, **attrs) if rules is not None and attrs else rules


def _asked(rules: Any, inputs: Sequence[Any], g: Any, out: Any, xs: Sequence[Any]) -> Sequence[Any]:
    """What the rules give for each input; None for those that are not differentiated."""
    wanted = [node is not None and carries(node) for node in inputs]
    if callable(rules):
        given = rules(g, out, *xs)
        return [part if want else None for part, want in zip(given, wanted, strict=True)]
    return [
        rule(g, out, *xs) if want and rule is not None else None
        for rule, want in zip(rules, wanted, strict=True)
    ]


def _braces(value: Any) -> str:
    shown = f"array{value.shape}" if isinstance(value, ndarray) and value.ndim else repr(value)
    return shown.replace("{", "{{").replace("}", "}}")


def array_function(
    op: General,
    arrange: Callable[..., dict[str, Any]] | None = None,
    prepare: Callable[..., tuple[Any, ...]] | None = None,
) -> Callable[..., Any]:
    """The function that a learner calls, ``mg.mean``, of a row with a fixed number of inputs.

    Args:
        op: The row.
        arrange: Makes the attributes as the row wants them from those that were given; raises if
            they make no sense.
        prepare: Looks at the inputs as they were given, and gives them as the row takes them;
            raises if they make no sense.
    """
    arity = op.arity
    plain = op.bind(**(arrange(**op.attrs) if arrange else {}))
    known: dict[Any, Any] = {}

    def key_of(xs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """The attributes of a call with their types: 1, 1.0 and True are equal, not the same."""
        given = (*xs[arity:], *attrs.values())
        return given, *attrs, *map(type, given)

    def row_of(xs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
        """The row with the attributes of a call, and the inputs among its arguments."""
        row, inputs = op.arrange(xs, attrs)
        if arrange:
            row = op.bind(**arrange(**row.attrs))
        try:
            if len(xs) >= arity and len(known) < _MOST_BINDINGS:
                known[key_of(xs, attrs)] = row
        except TypeError:  # an attribute without hash, such as a list
            pass
        return row, inputs

    def general(*xs: Any, **attrs: Any) -> Any:
        row: Any = plain
        inputs = xs
        if attrs or len(xs) != arity:
            inputs = xs[:arity]
            try:
                row = known.get(key_of(xs, attrs))
            except TypeError:
                row = None
            if row is None:
                row, inputs = row_of(xs, attrs)
        if prepare is not None and len(inputs) == arity:
            inputs = prepare(*inputs)
        return evaluate_arrays(row, inputs)

    def unary(*xs: Any, **attrs: Any) -> Any:
        if len(xs) == 1 and not attrs:
            record = getattr(xs[0].__class__, "_record_one", None)
            if record is not None:
                return record(plain, xs[0])
        return general(*xs, **attrs)

    function: Any = unary if arity == 1 else general
    function.__name__ = function.__qualname__ = op.name
    function.__module__ = "minigrad"
    function.__wrapped__ = partial(by_position(op.forward), ARRAYS)  # the signature, for help()
    named: Callable[..., Any] = of_row(op)(function)
    return named


def evaluate_arrays(op: Op, xs: tuple[Any, ...]) -> Any:
    """``apply`` for rows of arrays; numbers count as arrays without axes."""
    for x in xs:
        if x.__class__ is not ndarray and hasattr(x, "_apply"):
            return hooks.tensor()._apply(op, xs)
    return compute_array(op, [x if x.__class__ is ndarray else as_operand(x, op.name) for x in xs])

"""The scalar rows on arrays: their local derivatives element by element, broadcasting undone.

``x + b`` repeats a bias for every row of ``x``, so the bias gets the sum of the rows' gradients:
``fit`` does that for every contribution. ``Masked`` is a gradient of which some elements are
*nothing*, what ``where`` sends to the branch not taken: less than 0.0, because 0.0 times an
infinite local derivative is nan, and nothing times anything is nothing.

Read next: ``kinds.py``, rows that are no scalar rows.
"""

from __future__ import annotations

from math import prod as product_of
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import hooks, modes
from minigrad.nothing import NOTHING
from minigrad.ops import core, evaluate
from minigrad.ops.arrays import errors, ndarray, quiet
from minigrad.ops.guarded import read_only
from minigrad.ops.halves import added
from minigrad.ops.row import MANY, OPS
from minigrad.ops.scattered import Scattered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from minigrad.ops.row import Op

__all__ = [
    "Masked", "carries", "fit", "local_array", "parts", "pull_array", "push_array", "raw", "record",
    "repeated", "unbroadcast",
]  # fmt: skip

Edges = list[tuple[Any, Any, str]]


class Masked:
    """A gradient that is nothing where ``nothing`` holds; its ``values`` are 0 there."""

    __slots__ = ("nothing", "values")
    __array_ufunc__ = None  # array + Masked asks Masked, not NumPy

    def __init__(self, values: Any, nothing: Any) -> None:
        self.values = values  # an array, or a node
        self.nothing = nothing

    def __add__(self, other: Any) -> Any:
        if other is NOTHING:
            return self
        if isinstance(other, Masked):
            return Masked(self.values + other.values, self.nothing & other.nothing)
        return self.values + other

    def __radd__(self, other: Any) -> Any:
        return self if other is NOTHING else other + self.values

    def __repr__(self) -> str:
        return f"Masked({self.values!r}, nothing={self.nothing!r})"


def parts(gradient: Any) -> tuple[Any, Any]:
    """The values of a gradient, and where it is nothing (None: nowhere)."""
    if gradient.__class__ is Masked:
        return gradient.values, gradient.nothing
    if gradient.__class__ is Scattered:
        return gradient.values, gradient.nothing
    return gradient, None


def raw(x: Any) -> Any:
    """The numbers of a node, or a plain number or array itself."""
    return getattr(x, "_data", x)


def carries(x: Any) -> bool:
    """Whether there is a gradient for ``x``: whole numbers have none."""
    dtype = getattr(raw(x), "dtype", None)
    return dtype is None or dtype.kind == "f"


# -- undoing broadcasting ------------------------------------------------------------------------


def _axes(wide: tuple[int, ...], narrow: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of ``wide`` along which an array of shape ``narrow`` was repeated."""
    extra = len(wide) - len(narrow)
    return (
        *range(extra),
        *(i + extra for i, n in enumerate(narrow) if n == 1 and wide[i + extra] != 1),
    )


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum ``gradient`` over the axes along which an array of ``shape`` was repeated.

    >>> unbroadcast(np.ones((2, 3)), (3,)), unbroadcast(np.ones((2, 3)), (2, 1)).tolist()
    (array([2., 2., 2.]), [[3.0], [3.0]])
    """
    if gradient.shape == shape:
        return gradient
    axes = _axes(gradient.shape, shape)
    if isinstance(gradient, ndarray | np.generic):
        return added(gradient, axes).reshape(shape)
    return record(OPS["reduce_sum"].cached(axis=axes), gradient).reshape(shape)


def fit(contribution: Any, x: Any) -> Any:
    """A contribution in the shape and the type of the input ``x`` that it goes to.

    Args:
        contribution: Numbers or a node, perhaps broadcast, perhaps ``Masked``.
        x: The number, the array or the node that went in.
    """
    if contribution.__class__ is Scattered:
        return contribution  # it is made in the shape and the type of ``x``
    values, nothing = parts(contribution)
    if not hasattr(x, "shape"):  # a Value, or its number
        if nothing is not None and nothing.all():
            return NOTHING
        if isinstance(values, ndarray | np.generic | float):
            return float(np.sum(values))
        if not hasattr(values, "shape"):
            return values  # a Value already
        total = unbroadcast(values, ())
        return hooks.as_value(total) if hasattr(total, "shape") else total
    if not hasattr(values, "shape"):  # a number, or a Value: it stands for an array without axes
        if isinstance(values, float):
            values = np.asarray(values)
        else:
            values = record(OPS["stack_values"].cached(shape=()), values)
    if values.shape != x.shape:
        if len(values.shape) < len(x.shape):
            values = repeated(values, x.shape)
        if nothing is not None:
            nothing = np.broadcast_to(nothing, values.shape)
            nothing = nothing.all(axis=_axes(values.shape, x.shape)).reshape(x.shape)
        values = unbroadcast(values, x.shape)
    if values.dtype != x.dtype:
        if values.dtype.kind not in "fiub":
            raise evaluate.refuse(raw(values), "a derivative, which must be real")
        values = values.astype(x.dtype)
    return values if nothing is None or not nothing.any() else Masked(values, nothing)


def repeated(values: Any, shape: tuple[int, ...]) -> Any:
    """``values`` repeated to ``shape``, as a node if it is one."""
    if isinstance(values, ndarray | np.generic):
        if product_of(shape) > 4096:
            return np.broadcast_to(values, shape)
        out = np.empty(shape, values.dtype)  # NumPy's view takes longer to make than this to fill
        out[...] = values
        return out
    return record(OPS["broadcast_to"].cached(shape=shape), values)


def record(op: Any, x: Any) -> Any:
    """A row of arrays on one node."""
    return hooks.tensor()._apply(op, (x,))


# -- local derivatives ---------------------------------------------------------------------------


def local_array(op: Op, i: int, out: Any, xs: Sequence[Any]) -> Any:
    """∂out/∂xᵢ of a scalar row on arrays (or nodes that hold them), with edges and domain.

    Conditions are looked at as numbers: only where one holds somewhere is there a ``where``.
    """
    if op.arity is MANY:
        return op.local_derivatives(xs)[i]
    formula: Any = op.partials[i]
    local = _evaluated(formula, out, xs)
    plain = [raw(x) for x in xs]
    for condition, value in reversed(op.edges.get(i, ())):
        holds = np.asarray(condition(*plain)) != 0.0
        if holds.any():
            local = core.where(holds, _evaluated(value, out, xs), local)
    if op.domain is not None:
        inside = np.asarray(op.domain(*plain)) != 0.0
        if not inside.all():
            local = core.where(inside, local, np.nan)
    return local


def _evaluated(formula: Any, out: Any, xs: Sequence[Any]) -> Any:
    if not callable(formula):
        return formula
    try:
        return formula(out, *xs)
    except ArithmeticError:  # Python numbers have no 1/0, NumPy's have
        return formula(out, *(np.asarray(x) if isinstance(x, float) else x for x in xs))


def pull_array(op: Op, upstream: Any, out: Any, xs: Sequence[Any], inputs: Sequence[Any]) -> Edges:
    """``Op.pull`` of a scalar row on arrays: upstream × local, fitted to each input."""
    edges: Edges = []
    token = errors.set(quiet)
    try:
        with modes.errstate("ignore"):  # a formula may pass infinity on its way
            for i, node in enumerate(inputs):
                edges.append(_edge(op, i, node, upstream, out, xs))
    finally:
        errors.reset(token)
    for i, (local, contribution, _) in enumerate(edges):
        if local is not None and contribution is not NOTHING:
            _check_product(op, i, out, xs, upstream, local, contribution)
    return edges


def _edge(op: Op, i: int, node: Any, upstream: Any, out: Any, xs: Sequence[Any]) -> Any:
    if node is None:
        return None, None, "constant"
    if not op.differentiable(i):
        return None, None, "not differentiable"
    if not carries(node):
        return None, None, "whole numbers"
    if upstream is NOTHING:
        return None, NOTHING, "nothing arrived"
    values, nothing = parts(upstream)
    local = local_array(op, i, out, xs)
    if op.selects:
        other = np.broadcast_to(raw(local) == 0.0, out.shape)
        nothing = other if nothing is None else nothing | other
        if nothing.all():
            return (
                local,
                fit(Masked(np.zeros(out.shape, out.dtype), nothing), xs[i]),
                "other branch",
            )
    contribution = values * local
    if nothing is not None:
        contribution = Masked(core.where(nothing, 0.0, contribution), nothing)
    return local, fit(contribution, xs[i]), ""


def _check_product(
    op: Op, i: int, out: Any, xs: Sequence[Any], upstream: Any, local: Any, contribution: Any
) -> None:
    """Report contributions that are not finite, where they arise: ``check_product``, by element."""
    if np.isfinite(raw(parts(contribution)[0])).all():
        return
    values, nothing = parts(upstream)
    g, d, o = np.broadcast_arrays(raw(values), raw(local), raw(out))
    with np.errstate(all="ignore"):
        product = g * d
    bad = ~np.isfinite(product) & ~np.isnan(g) & ~np.isnan(o)
    bad &= ~(np.isinf(product) & np.isinf(g))
    if nothing is not None:
        bad &= ~nothing
    steep = bad & (np.isnan(d) | (np.isinf(product) & np.isinf(d) & np.isfinite(o)))
    where = f"in backward, {op.describe([raw(x) for x in xs])}"
    if steep.any():
        first = float(d[steep].flat[0])
        evaluate.report(
            f"{where}: the derivative with respect to input {i} is {first!r} at {steep.sum()} of "
            f"{steep.size} elements"
        )
        return
    bad &= np.isnan(product) | np.isfinite(d)
    if bad.any():
        left, right = float(g[bad].flat[0]), float(d[bad].flat[0])
        evaluate.report(
            f"{where}, input {i}: upstream {left!r} × local {right!r} is {left * right!r} at "
            f"{bad.sum()} of {bad.size} elements"
        )


def push_array(op: Op, tangents: Sequence[Any], out: Any, xs: Sequence[Any]) -> Any:
    """The tangent of the output of a scalar row: Σ local derivative × tangent, forwards.

    Args:
        op: The row.
        tangents: Per input how it changes, in its shape; None if it does not.
        out: The value of the row.
        xs: The numbers or nodes that went in.
    """
    total: Any = None
    for i, tangent in enumerate(tangents):
        if tangent is not None and op.differentiable(i):
            local = local_array(op, i, out, xs)
            if op.selects:  # nothing times anything is nothing
                term = core.where(raw(local) == 0.0, 0.0, tangent)
            else:
                term = local * tangent
            total = term if total is None else total + term
    return repeated(np.zeros(()) if total is None else total, out.shape)


def _local_to_show(op: Op, i: int, out: Any, xs: Sequence[Any]) -> Any:
    """``local_array`` for a learner: it may be an operand itself, so nobody can write to it."""
    token = errors.set(quiet)
    try:
        with modes.errstate("ignore"):
            return read_only(local_array(op, i, out, xs))
    finally:
        errors.reset(token)


hooks.pull_array, hooks.local_array = pull_array, _local_to_show
hooks.check_array = _check_product

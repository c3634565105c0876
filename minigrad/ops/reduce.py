"""Rows that reduce axes: sums, means, products, extremes, norms.

``axis`` and ``keepdims`` are NumPy's: None for all axes, an int, or a tuple of ints. A rule first
gives the gradient its axes back (``spread``), then it is a matter of one formula.

Read next: ``softmaxes.py``.
"""

from __future__ import annotations

from functools import partial
from math import prod as product_of
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.errors import ArgumentTypeError
from minigrad.ops.arrays import Misfit
from minigrad.ops.broadcasting import raw, repeated
from minigrad.ops.core import where
from minigrad.ops.evaluate import brief
from minigrad.ops.halves import HALF, halved, over, wide
from minigrad.ops.kinds import General, Linear, array_function
from minigrad.ops.manual import Manual
from minigrad.ops.shapes import concatenate, flip, moveaxis, ones_like, stack

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "cumprod", "cumsum", "max", "mean", "min", "norm", "prod", "reduce_sum", "std",
    "sum_of_squares", "var",
]  # fmt: skip

_add: Any = np.add.reduce  # its type knows no keepdims that is not written out
_RUNS = "The axis to run along, an int, or None for all elements in a row"
_RAN = "The shape of x; for axis=None one axis of all elements"
_NO_DIVISION = "Where an element of x is 0, the product of the others is found without a division."


# -- axes ----------------------------------------------------------------------------------------


def reduced_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that are reduced, counted from 0."""
    if axis is None or not ndim:
        return tuple(range(ndim))
    return tuple(n % ndim for n in (axis if isinstance(axis, tuple) else (axis,)))


def spread(g: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """``g``, of the shape of a reduction of ``x``, repeated along the axes that it lost."""
    if not keepdims and g.shape:
        gone = reduced_axes(axis, len(x.shape))
        g = g.reshape(tuple(1 if i in gone else n for i, n in enumerate(x.shape)))
    return repeated(g, x.shape)


def spread_rule(g: Any, out: Any, x: Any, *, axis: Any, keepdims: bool, **_: Any) -> Any:
    """The transpose of a sum, and what each element of any reduction depends on."""
    return spread(g, x, axis, keepdims)


def _count(x: Any, axis: Any) -> int:
    """How many elements of ``x`` make one of the result: a Python number, which widens nothing."""
    shape = getattr(x, "shape", ())  # a number has no axes
    if axis is None or not shape:
        return product_of(shape)
    return product_of([shape[n] for n in reduced_axes(axis, len(shape))])


def axes_of(axis: Any = None, hint: str = "", **attrs: Any) -> dict[str, Any]:
    """Check ``axis``, and make it hashable; an error ends with ``hint``."""
    if isinstance(axis, list):
        axis = tuple(axis)
    for n in axis if isinstance(axis, tuple) else () if axis is None else (axis,):
        if not isinstance(n, int | np.integer) or isinstance(n, bool):
            raise ArgumentTypeError(
                f"axis={brief(axis)}: it is None, an int, or a tuple of ints{hint}"
            )
    if "keepdims" in attrs:
        attrs["keepdims"] = bool(attrs["keepdims"])
    return {"axis": axis, **attrs}


def reduction(row: General, hint: str = "") -> Callable[..., Any]:
    return array_function(row.register(), partial(axes_of, hint=hint) if hint else axes_of)


# -- sums ----------------------------------------------------------------------------------------

reduce_sum = reduction(Linear(
    "reduce_sum", lambda m, x, *, axis=None, keepdims=False: _add(x, axis=axis, keepdims=keepdims),
    spread_rule, text="sum({0})", latex=r"\sum", public=False,
    sentence="Sum over axes: the gradient is repeated along them.",
    manual=Manual("", "g", ([[1.0, 2.0], [3.0, 6.0]], {"axis": 0}, [4.0, 8.0])),
))  # fmt: skip


def _mean(m: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    if getattr(x, "dtype", None) is HALF:
        return halved(_mean(m, wide(x), axis=axis, keepdims=keepdims))
    return np.true_divide(_add(x, axis=axis, keepdims=keepdims), _count(x, axis))


mean = reduction(Linear(
    "mean", _mean,
    lambda g, out, x, *, axis, keepdims: spread(over(g, _count(x, axis)), x, axis, keepdims),
    sentence="Arithmetic mean over axes; nan of no elements.",
    manual=Manual("sum(x, axis) / n", "g / n", ([[1.0, 2.0], [3.0, 6.0]], {"axis": 0}, [2.0, 4.0])),
))  # fmt: skip


def _cumsum_transpose(g: Any, out: Any, x: Any, *, axis: Any) -> Any:
    back = flip(cumsum(flip(g, axis=axis or 0), axis=axis or 0), axis=axis or 0)
    return back.reshape(x.shape)  # without an axis the elements are counted in a row


cumsum = array_function(Linear(
    "cumsum", lambda m, x, *, axis=None: np.cumsum(x, axis=axis), _cumsum_transpose,
    sentence="Running sum along an axis (None: of all elements in a row).",
    manual=Manual("", "flip(cumsum(flip(g, axis), axis), axis)", ([1.0, 2.0, 3.0], [1.0, 3.0, 6.0]),
        args={"axis": _RUNS}, returns=_RAN),
).register())  # fmt: skip


sum_of_squares = array_function(General(
    "sum_of_squares", lambda m, x: np.vdot(x, x), [lambda g, out, x: g * 2.0 * x],
    jvp=lambda ts, out, x: reduce_sum(2.0 * x * ts[0]), public=False,
    sentence="Σ x² as one node: the weight decay of a layer.",
    manual=Manual("sum(x ** 2)", "2 * g * x", returns="Without axes"),
).register())  # fmt: skip


# -- products ------------------------------------------------------------------------------------


def _others(x: Any) -> Any:
    """For each element along the last axis the product of the others, without a division."""
    one = ones_like(x[..., :1])
    left = concatenate([one, cumprod(x, axis=-1)[..., :-1]], axis=-1)
    right = concatenate([one, cumprod(flip(x, axis=-1), axis=-1)[..., :-1]], axis=-1)
    return left * flip(right, axis=-1)


def _divides(out: Any) -> bool:
    """Whether no factor is 0, infinite or nan, and no product left the floats or lost digits."""
    size = np.abs(out)
    return bool(((size >= np.finfo(out.dtype).tiny) & (size < np.inf)).all())


def _prod_slope(out: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """∂prod/∂x: the product of the others; by a division where that loses nothing."""
    if _divides(raw(out)):
        return spread(out, x, axis, keepdims) / x
    gone = reduced_axes(axis, len(x.shape))
    kept = [n for n in range(len(x.shape)) if n not in gone]
    order = (*kept, *gone)
    moved = x.transpose(order)
    others = _others(moved.reshape((*moved.shape[: len(kept)], -1))).reshape(moved.shape)
    return others.transpose(tuple(np.argsort(order).tolist()))


prod = reduction(General(
    "prod",
    lambda m, x, *, axis=None, keepdims=False: np.multiply.reduce(x, axis=axis, keepdims=keepdims),
    [lambda g, out, x, *, axis, keepdims: (
        spread(g, x, axis, keepdims) * _prod_slope(out, x, axis, keepdims))],
    jvp=lambda ts, out, x, *, axis, keepdims: reduce_sum(
        ts[0] * _prod_slope(out, x, axis, keepdims), axis=axis, keepdims=keepdims),
    reach=[spread_rule],
    sentence="Product over axes; each element gets the product of the others, zeros included.",
    manual=Manual("", "g * out / x", ([2.0, 3.0, 4.0], 24.0), note=_NO_DIVISION),
))  # fmt: skip


def _cumprod_vjp(g: Any, out: Any, x: Any, *, axis: Any) -> Any:
    if axis is None:
        return _cumprod_vjp(g, out, x.reshape(-1), axis=0).reshape(x.shape)
    if _divides(raw(out)):
        back = flip(cumsum(flip(g * out, axis=axis), axis=axis), axis=axis)
        return back / x
    g, out, x = (moveaxis(z, axis, 0) for z in (g, out, x))
    n = x.shape[0]
    later = [g[n - 1]]  # Σ over k ≥ i of g[k] · x[i+1] ⋯ x[k], by Horner's rule from the end
    for i in range(n - 2, -1, -1):
        later.append(g[i] + x[i + 1] * later[-1])
    left = concatenate([ones_like(x[:1]), out[:-1]], axis=0)
    return moveaxis(left * stack(later[::-1]), 0, axis)


def _cumprod_jvp(ts: Any, out: Any, x: Any, *, axis: Any) -> Any:
    if axis is None:
        return _cumprod_jvp([ts[0].reshape(-1)], out, x.reshape(-1), axis=0)
    t, x, out = (moveaxis(z, axis, 0) for z in (ts[0], x, out))
    steps = [t[0]]  # the product rule, one factor at a time
    for i in range(1, x.shape[0]):
        steps.append(steps[-1] * x[i] + out[i - 1] * t[i])
    return moveaxis(stack(steps), 0, axis)


cumprod = array_function(General(
    "cumprod", lambda m, x, *, axis=None: np.cumprod(x, axis=axis), [_cumprod_vjp],
    jvp=_cumprod_jvp, reach=[_cumsum_transpose],
    sentence="Running product along an axis (None: of all elements in a row).",
    manual=Manual("", "flip(cumsum(flip(g * out, axis), axis), axis) / x", ([2.0, 3.0], [2.0, 6.0]),
        args={"axis": _RUNS}, returns=_RAN, note=_NO_DIVISION),
).register())  # fmt: skip


# -- extremes ------------------------------------------------------------------------------------


def shares(extreme: Any, x: Any, axis: Any) -> Any:
    """1 at the elements of ``x`` that are its extreme along ``axis``, divided among ties; numbers.

    Args:
        extreme: The largest or smallest elements, in a shape that broadcasts with ``x``.
        x: An array.
        axis: The axes that were reduced.
    """
    hits = x == extreme
    if np.isnan(extreme).any():  # nan is the largest and the smallest, and equals nothing
        hits |= np.isnan(x)
    hits = hits.astype(x.dtype)
    return hits / np.maximum(_add(hits, axis=axis, keepdims=True), 1)


def _share(out: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """What the extreme elements get of a gradient; numbers, for it has no slope."""
    x = raw(x)
    return shares(spread(raw(out), x, axis, keepdims), x, axis)


def nonempty(name: str, reduce: Any) -> Callable[..., Any]:
    """``reduce``, where that it needs an element is said in our words.

    Args:
        name: What the operation is called.
        reduce: NumPy's function ``(x, axis=…, keepdims=…)``.
    """

    def reduced(x: Any, axis: Any, keepdims: bool) -> Any:
        try:
            return reduce(x, axis=axis, keepdims=keepdims)
        except ValueError as error:
            if np.size(x) or isinstance(error, IndexError):  # an axis that is not there
                raise
            along = "" if axis is None else f" along axis {axis}"
            raise Misfit(
                f"{name} of {{0}} of shape {np.shape(x)}{along}: there are no elements to choose "
                f"from, so there is no {name}"
            ) from None

    return reduced


def _extreme(name: str, reduce: Any, what: str, best: float) -> Callable[..., Any]:
    some, hint = nonempty(name, reduce), f"; of two numbers or arrays, {name}imum(x, y) chooses"

    def choose(m: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        if axis is not None and not np.ndim(x):  # NumPy would take max(x, 0) for x
            raise Misfit(f"{name} of {{0}} along axis {axis}: one number has no axes{hint}")
        return some(x, axis, keepdims)

    return reduction(General(
        name, choose,
        [lambda g, out, x, *, axis, keepdims: (
            spread(g, x, axis, keepdims) * _share(out, x, axis, keepdims))],
        jvp=lambda ts, out, x, *, axis, keepdims: reduce_sum(
            ts[0] * _share(out, x, axis, keepdims), axis=axis, keepdims=keepdims),
        reach=[spread_rule],
        latex=rf"\{name}", sentence=f"{what} element; ties share the gradient equally.",
        manual=Manual(
            "", "g * (x == out) / sum(x == out, axis, keepdims=True)", ([1.0, 5.0], best)),
    ), hint)  # fmt: skip


max = _extreme("max", np.maximum.reduce, "Largest", 5.0)
min = _extreme("min", np.minimum.reduce, "Smallest", 1.0)


# -- spread and length ---------------------------------------------------------------------------


def _variance(x: Any, axis: Any, ddof: Any, keepdims: bool) -> Any:
    if getattr(x, "dtype", None) is HALF:
        return halved(_variance(wide(x), axis, ddof, keepdims))
    centred = x - np.true_divide(_add(x, axis=axis, keepdims=True), _count(x, axis))
    squares = _add(centred * centred, axis=axis, keepdims=keepdims)
    degrees = _degrees(x, axis, ddof)
    if degrees > 0:
        return np.true_divide(squares, degrees)
    return np.true_divide(squares * 0, 0)  # nan, as an operation that is invalid


def _degrees(x: Any, axis: Any, ddof: Any) -> Any:
    """What is divided by; nan if no variance can be told."""
    degrees = _count(x, axis) - ddof
    return degrees if degrees > 0 else np.nan


def _centred(x: Any, axis: Any) -> Any:
    return x - mean(x, axis=axis, keepdims=True)


var = reduction(General(
    "var",
    lambda m, x, *, axis=None, ddof=0, keepdims=False: _variance(x, axis, ddof, keepdims),
    [lambda g, out, x, *, axis, ddof, keepdims: (
        spread(wide(g), x, axis, keepdims) * (2.0 * _centred(wide(x), axis))
        / _degrees(x, axis, ddof))],
    jvp=lambda ts, out, x, *, axis, ddof, keepdims: reduce_sum(
        ts[0] * (2.0 * _centred(wide(x), axis)), axis=axis, keepdims=keepdims)
        / _degrees(x, axis, ddof),
    reach=[spread_rule],
    sentence="Variance: mean squared distance from the mean, divided by n - ddof.",
    manual=Manual("sum((x - mean(x, axis, keepdims=True)) ** 2, axis) / (n - ddof)",
        "2 * g * (x - mean(x, axis, keepdims=True)) / (n - ddof)", ([1.0, 3.0], 1.0)),
))  # fmt: skip


def _divided(x: Any, out: Any) -> Any:
    """x / out, and 0 where out is 0: the slope that is used at the kink of a norm."""
    zero = raw(out) == 0.0
    if not zero.any():
        return x / out
    return where(zero, 0.0, x / where(zero, 1.0, out))


def _std_slope(out: Any, x: Any, axis: Any, ddof: Any, keepdims: bool) -> Any:
    x = wide(x)
    length = spread(wide(out), x, axis, keepdims)
    return _divided(_centred(x, axis), length) / _degrees(x, axis, ddof)


def _deviation(x: Any, axis: Any, ddof: Any, keepdims: bool) -> Any:
    """The standard deviation; exactly 0 of equal elements, whose mean may be rounded."""
    if getattr(x, "dtype", None) is HALF:
        return halved(_deviation(wide(x), axis, ddof, keepdims))
    out = np.sqrt(_variance(x, axis, ddof, keepdims))
    if not np.size(x):
        return out
    x = np.asarray(x)
    least: Any = np.minimum.reduce  # their types know no keepdims that is not written out
    most: Any = np.maximum.reduce
    equal = least(x, axis=axis, keepdims=keepdims) == most(x, axis=axis, keepdims=keepdims)
    return np.where(equal & np.isfinite(out), 0, out) if equal.any() else out


std = reduction(General(
    "std",
    lambda m, x, *, axis=None, ddof=0, keepdims=False: _deviation(x, axis, ddof, keepdims),
    [lambda g, out, x, *, axis, ddof, keepdims: (
        spread(g, x, axis, keepdims) * _std_slope(out, x, axis, ddof, keepdims))],
    jvp=lambda ts, out, x, *, axis, ddof, keepdims: reduce_sum(
        ts[0] * _std_slope(out, x, axis, ddof, keepdims), axis=axis, keepdims=keepdims),
    reach=[spread_rule],
    sentence="Standard deviation; slope 0 where all elements are equal.",
    manual=Manual("sqrt(var(x, axis, ddof))",
        "g * (x - mean(x, axis, keepdims=True)) / (out * (n - ddof))", ([1.0, 3.0], 1.0)),
))  # fmt: skip


def _length(x: Any, axis: Any, keepdims: bool) -> Any:
    """sqrt(Σ x²), scaled where the squares leave the floats."""
    if getattr(x, "dtype", None) is HALF:
        return halved(_length(wide(x), axis, keepdims))
    with np.errstate(all="ignore"):
        out = np.sqrt(_add(x * x, axis=axis, keepdims=keepdims))
        limits = np.finfo(out.dtype)
        if np.all((out > limits.tiny**0.5 * 1e8) & (out < limits.max**0.5)) or not x.size:
            return out
        scale = np.maximum.reduce(np.abs(x), axis=axis, keepdims=True)
        scale = np.where((scale > 0.0) & np.isfinite(scale), scale, 1)
        scaled = np.sqrt(_add((x / scale) ** 2, axis=axis, keepdims=keepdims))
        return scaled * scale.reshape(scaled.shape)


norm = reduction(General(
    "norm", lambda m, x, *, axis=None, keepdims=False: _length(x, axis, keepdims),
    [lambda g, out, x, *, axis, keepdims: (
        spread(g, x, axis, keepdims) * _divided(x, spread(out, x, axis, keepdims)))],
    jvp=lambda ts, out, x, *, axis, keepdims: reduce_sum(
        ts[0] * _divided(x, spread(out, x, axis, keepdims)), axis=axis, keepdims=keepdims),
    reach=[spread_rule],
    sentence="Euclidean length sqrt(Σ x²) without overflow; slopes 0 at the zero vector.",
    manual=Manual("sqrt(sum(x ** 2, axis))", "g * x / out", ([3.0, 4.0], 5.0)),
))  # fmt: skip

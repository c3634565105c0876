"""Rows that reduce axes: sums, means, products, extremes, norms, and softmax.

``axis`` and ``keepdims`` are NumPy's: None for all axes, an int, or a tuple of ints. A rule first
gives the gradient its axes back (``_spread``), then it is a matter of one formula.

Source: the derivatives of softmax and logsumexp as in P. Blanchard, D. Higham, N. Higham,
Accurately computing the log-sum-exp and softmax functions, IMA J. Numer. Anal. 41 (2021).

Read next: ``shapes.py``.
"""

from __future__ import annotations

from math import prod as product_of
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.errors import ArgumentTypeError
from minigrad.ops.arrays import Misfit
from minigrad.ops.broadcasting import raw, repeated
from minigrad.ops.core import exp, where
from minigrad.ops.kinds import General, Linear, array_function
from minigrad.ops.shapes import concatenate, flip, moveaxis, ones_like, stack

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "cumprod", "cumsum", "log_softmax", "logsumexp", "max", "mean", "min", "norm", "prod",
    "reduce_sum", "softmax", "std", "sum_of_squares", "var",
]  # fmt: skip

_add: Any = np.add.reduce  # its type knows no keepdims that is not written out


# -- axes ----------------------------------------------------------------------------------------


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that are reduced, counted from 0."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(n % ndim for n in (axis if isinstance(axis, tuple) else (axis,)))


def _spread(g: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """``g``, of the shape of a reduction of ``x``, repeated along the axes that it lost."""
    if not keepdims and g.shape:
        gone = _axes(axis, len(x.shape))
        g = g.reshape(tuple(1 if i in gone else n for i, n in enumerate(x.shape)))
    return repeated(g, x.shape)


def _spread_rule(g: Any, out: Any, x: Any, *, axis: Any, keepdims: bool, **_: Any) -> Any:
    """The transpose of a sum, and what each element of any reduction depends on."""
    return _spread(g, x, axis, keepdims)


def _along_axis(g: Any, out: Any, x: Any, *, axis: Any) -> Any:
    """What each element of a softmax depends on: all that stand along the axis."""
    return repeated(reduce_sum(g, axis=axis, keepdims=True), x.shape)


def _count(x: Any, axis: Any) -> int:
    """How many elements of ``x`` make one of the result: a Python number, which widens nothing."""
    if axis is None:
        return product_of(x.shape)
    return product_of([x.shape[n] for n in _axes(axis, len(x.shape))])


def axes_of(axis: Any = None, **attrs: Any) -> dict[str, Any]:
    """Check ``axis``, and make it hashable."""
    if isinstance(axis, list):
        axis = tuple(axis)
    for n in axis if isinstance(axis, tuple) else () if axis is None else (axis,):
        if not isinstance(n, int | np.integer) or isinstance(n, bool):
            raise ArgumentTypeError(f"axis={axis!r}: it is None, an int, or a tuple of ints")
    if "keepdims" in attrs:
        attrs["keepdims"] = bool(attrs["keepdims"])
    return {"axis": axis, **attrs}


def _reduction(row: General) -> Callable[..., Any]:
    return array_function(row.register(), axes_of)


# -- sums ----------------------------------------------------------------------------------------

reduce_sum = _reduction(Linear(
    "reduce_sum", lambda m, x, *, axis=None, keepdims=False: _add(x, axis=axis, keepdims=keepdims),
    _spread_rule, text="sum({0})", latex=r"\sum", public=False,
    sentence="Sum over axes: the gradient is repeated along them.",
))  # fmt: skip

mean = _reduction(Linear(
    "mean",
    lambda m, x, *, axis=None, keepdims=False: (
        np.true_divide(_add(x, axis=axis, keepdims=keepdims), _count(x, axis))),
    lambda g, out, x, *, axis, keepdims: _spread(g / _count(x, axis), x, axis, keepdims),
    sentence="Arithmetic mean over axes; nan of no elements.",
))  # fmt: skip


def _cumsum_transpose(g: Any, out: Any, x: Any, *, axis: Any) -> Any:
    back = flip(cumsum(flip(g, axis=axis or 0), axis=axis or 0), axis=axis or 0)
    return back.reshape(x.shape)  # without an axis the elements are counted in a row


cumsum = array_function(Linear(
    "cumsum", lambda m, x, *, axis=None: np.cumsum(x, axis=axis), _cumsum_transpose,
    sentence="Running sum along an axis (None: of all elements in a row).",
).register())  # fmt: skip


sum_of_squares = array_function(General(
    "sum_of_squares", lambda m, x: np.vdot(x, x), [lambda g, out, x: g * 2.0 * x],
    jvp=lambda ts, out, x: reduce_sum(2.0 * x * ts[0]), public=False,
    sentence="Σ x² as one node: the weight decay of a layer.",
).register())  # fmt: skip


# -- products ------------------------------------------------------------------------------------


def _others(x: Any) -> Any:
    """For each element along the last axis the product of the others, without a division."""
    one = ones_like(x[..., :1])
    left = concatenate([one, cumprod(x, axis=-1)[..., :-1]], axis=-1)
    right = concatenate([one, cumprod(flip(x, axis=-1), axis=-1)[..., :-1]], axis=-1)
    return left * flip(right, axis=-1)


def _prod_slope(out: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """∂prod/∂x: the product of the others, of 0.0 too."""
    if raw(x).all():
        return _spread(out, x, axis, keepdims) / x
    gone = _axes(axis, len(x.shape))
    kept = [n for n in range(len(x.shape)) if n not in gone]
    order = (*kept, *gone)
    moved = x.transpose(order)
    others = _others(moved.reshape((*moved.shape[: len(kept)], -1))).reshape(moved.shape)
    return others.transpose(tuple(np.argsort(order).tolist()))


prod = _reduction(General(
    "prod",
    lambda m, x, *, axis=None, keepdims=False: np.multiply.reduce(x, axis=axis, keepdims=keepdims),
    [lambda g, out, x, *, axis, keepdims: (
        _spread(g, x, axis, keepdims) * _prod_slope(out, x, axis, keepdims))],
    jvp=lambda ts, out, x, *, axis, keepdims: reduce_sum(
        ts[0] * _prod_slope(out, x, axis, keepdims), axis=axis, keepdims=keepdims),
    reach=[_spread_rule],
    sentence="Product over axes; each element gets the product of the others, zeros included.",
))  # fmt: skip


def _cumprod_vjp(g: Any, out: Any, x: Any, *, axis: Any) -> Any:
    if axis is None:
        return _cumprod_vjp(g, out, x.reshape(-1), axis=0).reshape(x.shape)
    if raw(x).all():
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
    return shares(_spread(raw(out), x, axis, keepdims), x, axis)


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


def _extreme(name: str, reduce: Any, sentence: str) -> Callable[..., Any]:
    choose = nonempty(name, reduce)
    return _reduction(General(
        name, lambda m, x, *, axis=None, keepdims=False: choose(x, axis, keepdims),
        [lambda g, out, x, *, axis, keepdims: (
            _spread(g, x, axis, keepdims) * _share(out, x, axis, keepdims))],
        jvp=lambda ts, out, x, *, axis, keepdims: reduce_sum(
            ts[0] * _share(out, x, axis, keepdims), axis=axis, keepdims=keepdims),
        reach=[_spread_rule], latex=rf"\{name}", sentence=sentence,
    ))  # fmt: skip


max = _extreme("max", np.maximum.reduce, "Largest element; ties share the gradient equally.")
min = _extreme("min", np.minimum.reduce, "Smallest element; ties share the gradient equally.")


# -- spread and length ---------------------------------------------------------------------------


def _variance(x: Any, axis: Any, ddof: Any, keepdims: bool) -> Any:
    centred = x - np.true_divide(_add(x, axis=axis, keepdims=True), _count(x, axis))
    squares = _add(centred * centred, axis=axis, keepdims=keepdims)
    return np.true_divide(squares, _degrees(x, axis, ddof))


def _degrees(x: Any, axis: Any, ddof: Any) -> Any:
    degrees = _count(x, axis) - ddof
    return degrees if degrees > 0 else 0  # 0/0 is nan: no variance can be told


def _centred(x: Any, axis: Any) -> Any:
    return x - mean(x, axis=axis, keepdims=True)


var = _reduction(General(
    "var",
    lambda m, x, *, axis=None, ddof=0, keepdims=False: _variance(x, axis, ddof, keepdims),
    [lambda g, out, x, *, axis, ddof, keepdims: (
        _spread(g, x, axis, keepdims) * (2.0 * _centred(x, axis)) / _degrees(x, axis, ddof))],
    jvp=lambda ts, out, x, *, axis, ddof, keepdims: reduce_sum(
        ts[0] * (2.0 * _centred(x, axis)), axis=axis, keepdims=keepdims) / _degrees(x, axis, ddof),
    reach=[_spread_rule],
    sentence="Variance: mean squared distance from the mean, divided by n - ddof.",
))  # fmt: skip


def _divided(x: Any, out: Any) -> Any:
    """x / out, and 0 where out is 0: the slope that is used at the kink of a norm."""
    zero = raw(out) == 0.0
    if not zero.any():
        return x / out
    return where(zero, 0.0, x / where(zero, 1.0, out))


def _std_slope(out: Any, x: Any, axis: Any, ddof: Any, keepdims: bool) -> Any:
    length = _spread(out, x, axis, keepdims)
    return _divided(_centred(x, axis), length) / _degrees(x, axis, ddof)


std = _reduction(General(
    "std",
    lambda m, x, *, axis=None, ddof=0, keepdims=False: np.sqrt(_variance(x, axis, ddof, keepdims)),
    [lambda g, out, x, *, axis, ddof, keepdims: (
        _spread(g, x, axis, keepdims) * _std_slope(out, x, axis, ddof, keepdims))],
    jvp=lambda ts, out, x, *, axis, ddof, keepdims: reduce_sum(
        ts[0] * _std_slope(out, x, axis, ddof, keepdims), axis=axis, keepdims=keepdims),
    reach=[_spread_rule],
    sentence="Standard deviation; slope 0 where all elements are equal.",
))  # fmt: skip


def _length(x: Any, axis: Any, keepdims: bool) -> Any:
    """sqrt(Σ x²), scaled where the squares leave the floats."""
    with np.errstate(all="ignore"):
        out = np.sqrt(_add(x * x, axis=axis, keepdims=keepdims))
        limits = np.finfo(out.dtype)
        if np.all((out > limits.tiny**0.5 * 1e8) & (out < limits.max**0.5)) or not x.size:
            return out
        scale = np.maximum.reduce(np.abs(x), axis=axis, keepdims=True)
        scale = np.where((scale > 0.0) & np.isfinite(scale), scale, 1)
        scaled = np.sqrt(_add((x / scale) ** 2, axis=axis, keepdims=keepdims))
        return scaled * scale.reshape(scaled.shape)


norm = _reduction(General(
    "norm", lambda m, x, *, axis=None, keepdims=False: _length(x, axis, keepdims),
    [lambda g, out, x, *, axis, keepdims: (
        _spread(g, x, axis, keepdims) * _divided(x, _spread(out, x, axis, keepdims)))],
    jvp=lambda ts, out, x, *, axis, keepdims: reduce_sum(
        ts[0] * _divided(x, _spread(out, x, axis, keepdims)), axis=axis, keepdims=keepdims),
    reach=[_spread_rule],
    sentence="Euclidean length sqrt(Σ x²) without overflow; slopes 0 at the zero vector.",
))  # fmt: skip


# -- softmax and its relatives -------------------------------------------------------------------


def _peak(x: Any, axis: Any) -> Any:
    """The largest element, or 0 where that is infinite: what is subtracted before ``exp``."""
    peak: Any = np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)  # of nothing too
    return np.where(np.isfinite(peak), peak, 0)


def _logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    peak = _peak(x, axis)
    with np.errstate(divide="ignore"):  # log(0): all elements are -inf, and so is the result
        out = np.log(_add(np.exp(x - peak), axis=axis, keepdims=True)) + peak
    return out if keepdims else np.squeeze(out, axis=_axes(axis, np.ndim(x)))


def _weights(out: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """softmax(x) from logsumexp(x); 0 where all elements are -inf."""
    whole = _spread(out, x, axis, keepdims)
    none = np.isneginf(raw(whole))
    if not none.any():
        return exp(x - whole)
    return where(none, 0.0, exp(where(none, 0.0, x) - where(none, 0.0, whole)))


logsumexp = _reduction(General(
    "logsumexp", lambda m, x, *, axis=None, keepdims=False: _logsumexp(x, axis, keepdims),
    [lambda g, out, x, *, axis, keepdims: (
        _spread(g, x, axis, keepdims) * _weights(out, x, axis, keepdims))],
    jvp=lambda ts, out, x, *, axis, keepdims: reduce_sum(
        ts[0] * _weights(out, x, axis, keepdims), axis=axis, keepdims=keepdims),
    reach=[_spread_rule],
    sentence="log(Σ exp(x)) without overflow; -inf with slopes 0 for none, and if all are -inf.",
))  # fmt: skip


def _softmax(x: Any, axis: Any) -> Any:
    small = np.exp(x - _peak(x, axis))
    return small / _add(small, axis=axis, keepdims=True)


def _log_softmax(x: Any, axis: Any) -> Any:
    low = x - _peak(x, axis)
    return low - np.log(_add(np.exp(low), axis=axis, keepdims=True))


def _softmax_rule(g: Any, out: Any, axis: Any) -> Any:
    return out * (g - reduce_sum(g * out, axis=axis, keepdims=True))


softmax = array_function(General(
    "softmax", lambda m, x, *, axis=-1: _softmax(x, axis),
    [lambda g, out, x, *, axis: _softmax_rule(g, out, axis)],
    jvp=lambda ts, out, x, *, axis: _softmax_rule(ts[0], out, axis),
    reach=[_along_axis],
    sentence="exp(x) / Σ exp(x) along an axis, without overflow.",
).register(), axes_of)  # fmt: skip

log_softmax = array_function(General(
    "log_softmax", lambda m, x, *, axis=-1: _log_softmax(x, axis),
    [lambda g, out, x, *, axis: g - exp(out) * reduce_sum(g, axis=axis, keepdims=True)],
    jvp=lambda ts, out, x, *, axis: (
        ts[0] - reduce_sum(exp(out) * ts[0], axis=axis, keepdims=True)),
    reach=[_along_axis], sentence="log(softmax(x)) along an axis, without underflow.",
).register(), axes_of)  # fmt: skip

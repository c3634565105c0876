"""Rows that add exponentials: ``logsumexp``, ``softmax``, ``log_softmax``, none of which overflows.

Source: the derivatives as in P. Blanchard, D. Higham, N. Higham, Accurately computing the
log-sum-exp and softmax functions, IMA J. Numer. Anal. 41 (2021).

Read next: ``shapes.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.broadcasting import raw, repeated
from minigrad.ops.core import exp, where
from minigrad.ops.halves import HALF, halved, wide
from minigrad.ops.kinds import General, array_function
from minigrad.ops.manual import Manual
from minigrad.ops.reduce import (
    axes_of,
    reduce_sum,
    reduced_axes,
    reduction,
    spread,
    spread_rule,
)

__all__ = ["log_softmax", "logsumexp", "softmax"]

_add: Any = np.add.reduce
_SUMMED = "The axis along which the result adds up to 1: an int, a tuple of ints, or None for all"
_SOURCE = "Blanchard, Higham, Higham, IMA J. Numer. Anal. 41 (2021)"


def _peak(x: Any, axis: Any) -> Any:
    """The largest element, or 0 where that is infinite: what is subtracted before ``exp``."""
    peak: Any = np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)  # of nothing too
    return np.where(np.isfinite(peak), peak, 0)


def _logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    if getattr(x, "dtype", None) is HALF:
        return halved(_logsumexp(wide(x), axis, keepdims))
    peak = _peak(x, axis)
    with np.errstate(divide="ignore"):  # log(0): all elements are -inf, and so is the result
        out = np.log(_add(np.exp(x - peak), axis=axis, keepdims=True)) + peak
    return out if keepdims else np.squeeze(out, axis=reduced_axes(axis, np.ndim(x)))


def _weights(out: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """softmax(x); 0 where all elements are -inf. Not exp(x - out), for out is rounded."""
    none = np.isneginf(spread(raw(out), raw(x), axis, keepdims))
    if not none.any():
        return softmax(x, axis=axis)
    return where(none, 0.0, softmax(where(none, 0.0, x), axis=axis))


logsumexp = reduction(General(
    "logsumexp", lambda m, x, *, axis=None, keepdims=False: _logsumexp(x, axis, keepdims),
    [lambda g, out, x, *, axis, keepdims: (
        spread(g, x, axis, keepdims) * _weights(out, x, axis, keepdims))],
    jvp=lambda ts, out, x, *, axis, keepdims: reduce_sum(
        ts[0] * _weights(out, x, axis, keepdims), axis=axis, keepdims=keepdims),
    reach=[spread_rule],
    sentence="log(Σ exp(x)) without overflow; -inf with slopes 0 for none, and if all are -inf.",
    manual=Manual("log(sum(exp(x), axis))", "g * exp(x - out)", ([1000.0, 0.0], 1000.0),
        source=_SOURCE),
))  # fmt: skip


def _along_axis(g: Any, out: Any, x: Any, *, axis: Any) -> Any:
    """What each element of a softmax depends on: all that stand along the axis."""
    return repeated(reduce_sum(g, axis=axis, keepdims=True), x.shape)


def _softmax(x: Any, axis: Any) -> Any:
    if getattr(x, "dtype", None) is HALF:
        return halved(_softmax(wide(x), axis))
    small = np.exp(x - _peak(x, axis))
    return small / _add(small, axis=axis, keepdims=True)


def _log_softmax(x: Any, axis: Any) -> Any:
    if getattr(x, "dtype", None) is HALF:
        return halved(_log_softmax(wide(x), axis))
    low = x - _peak(x, axis)
    return low - np.log(_add(np.exp(low), axis=axis, keepdims=True))


def _softmax_rule(g: Any, out: Any, axis: Any) -> Any:
    g, out = wide(g), wide(out)
    return out * (g - reduce_sum(g * out, axis=axis, keepdims=True))


softmax = array_function(General(
    "softmax", lambda m, x, *, axis=-1: _softmax(x, axis),
    [lambda g, out, x, *, axis: _softmax_rule(g, out, axis)],
    jvp=lambda ts, out, x, *, axis: _softmax_rule(ts[0], out, axis),
    reach=[_along_axis],
    sentence="exp(x) / Σ exp(x) along an axis, without overflow.",
    manual=Manual("exp(x) / sum(exp(x), axis, keepdims=True)",
        "out * (g - sum(g * out, axis, keepdims=True))", ([1000.0, 1000.0], [0.5, 0.5]),
        args={"axis": _SUMMED}, source=_SOURCE),
).register(), axes_of)  # fmt: skip

log_softmax = array_function(General(
    "log_softmax", lambda m, x, *, axis=-1: _log_softmax(x, axis),
    [lambda g, out, x, *, axis: (
        g - exp(wide(out)) * reduce_sum(wide(g), axis=axis, keepdims=True))],
    jvp=lambda ts, out, x, *, axis: (
        ts[0] - reduce_sum(exp(out) * ts[0], axis=axis, keepdims=True)),
    reach=[_along_axis], sentence="log(softmax(x)) along an axis, without underflow.",
    manual=Manual("x - logsumexp(x, axis, keepdims=True)",
        "g - exp(out) * sum(g, axis, keepdims=True)", ([0.0, 1000.0], [-1000.0, 0.0]),
        args={"axis": _SUMMED}, source=_SOURCE),
).register(), axes_of)  # fmt: skip

"""Gradients kept within limits: each number by itself, or all together by their length.

Read next: ``optimizer.py``, which clips before it steps.
"""

from __future__ import annotations

from math import fsum, hypot, isfinite
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError, ArgumentValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["clip_by_global_norm", "clip_by_value", "global_norm", "is_finite", "positive"]


def clip_by_value(gradients: Iterable[Any], limit: float) -> list[Any]:
    """g ← min(max(g, −limit), limit), for every number.

    Args:
        gradients: Floats, arrays, and None for what has no gradient. No unit of their own.
        limit: The largest size that stays as it is; positive.

    Returns:
        New gradients in the same order; None stays None.

    Raises:
        ArgumentValueError: if ``limit`` is not positive.

    >>> clip_by_value([3.0, -0.5, None, -7.0], 1.0)
    [1.0, -0.5, None, -1.0]
    """
    limit = positive(limit, "clip_by_value(…, limit)")
    return [g if g is None else _within(g, limit) for g in gradients]


def clip_by_global_norm(gradients: Iterable[Any], clip_norm: float) -> tuple[list[Any], float]:
    """g ← g · clip_norm / max(‖all g‖, clip_norm): the direction stays, the length is limited.

    Args:
        gradients: Floats, arrays, and None for what has no gradient. No unit of their own.
        clip_norm: The largest length that stays as it is; positive.

    Returns:
        The new gradients in the same order, and the length ‖all g‖ from before.

    Raises:
        ArgumentValueError: if ``clip_norm`` is not positive.

    Source: R. Pascanu, T. Mikolov, Y. Bengio, On the difficulty of training recurrent neural
    networks, arXiv:1211.5063, algorithm 1; the name and the result are TensorFlow's.

    >>> clip_by_global_norm([3.0, None, 4.0], 1.0)
    ([0.6000000000000001, None, 0.8], 5.0)
    """
    clip_norm = positive(clip_norm, "clip_by_global_norm(…, clip_norm)")
    gradients = list(gradients)
    length = global_norm(gradients)
    if length <= clip_norm:
        return gradients, length
    factor = clip_norm / length
    return [g if g is None else g * factor for g in gradients], length


def global_norm(gradients: Iterable[Any]) -> float:
    """√(Σ g²) over every number of every gradient, without overflow.

    Args:
        gradients: Floats, arrays, and None for what has no gradient.

    Returns:
        The length; 0.0 of no gradients, nan or inf if one of them is.

    >>> global_norm([3.0, None, 4.0])
    5.0
    """
    return hypot(*(_length(g) for g in gradients if g is not None))


def _length(gradient: Any) -> float:
    if not hasattr(gradient, "shape"):
        return float(gradient)
    import numpy as np

    flat = np.abs(np.asarray(gradient, dtype=float)).ravel()
    peak = float(flat.max(initial=0.0))
    if peak == 0.0 or not isfinite(peak):
        return peak
    flat /= peak
    return peak * float(np.sqrt(flat @ flat))


def _within(gradient: Any, limit: float) -> Any:
    if not hasattr(gradient, "shape"):
        return gradient if gradient != gradient else min(max(gradient, -limit), limit)
    import numpy as np

    return np.clip(gradient, -limit, limit)


def is_finite(gradient: Any) -> bool:
    """Whether no number of a gradient is nan or infinite."""
    if not hasattr(gradient, "shape"):
        return isfinite(gradient)
    import numpy as np

    if isfinite(np.vdot(gradient, gradient)):  # a sum of squares is one fast look at every number
        return True
    return bool(np.isfinite(gradient).all())


def positive(number: Any, what: str, zero: bool = False) -> float:
    """``number`` as a float.

    Raises:
        ArgumentTypeError: if it is no number.
        ArgumentValueError: if it is nan, infinite, negative, or zero where that is not allowed.
    """
    try:
        if isinstance(number, bool):
            raise TypeError
        value = fsum((number,))
    except (TypeError, ValueError, OverflowError):
        raise ArgumentTypeError(f"{what}: {number!r} is not a number") from None
    if not (isfinite(value) and (value > 0.0 or (zero and value == 0.0))):
        least = "at least 0" if zero else "greater than 0"
        raise ArgumentValueError(f"{what}: {number!r} was given; it must be finite and {least}")
    return value

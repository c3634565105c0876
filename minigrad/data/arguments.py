"""What the functions of ``mg.data`` accept: counts, noise, and lists or arrays.

Read next: ``generators.py``.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError, ArgumentValueError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    Pair = tuple[Any, Any]

__all__ = ["as_count", "as_number", "given"]


def as_count(value: Any, name: str, least: int = 1) -> int:
    """``value`` as an int.

    Raises:
        ArgumentValueError: if it is none, or below ``least``.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < least:
        raise ArgumentValueError(f"{name}={value!r}: it is a whole number from {least} on")
    return int(value)


def as_number(value: Any, name: str, least: float = 0.0) -> float:
    """``value`` as a float.

    Raises:
        ArgumentTypeError: if it is no number.
        ArgumentValueError: if it is nan, infinite, or below ``least``.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{name}={value!r}: it is a number") from None
    if not (isfinite(number) and number >= least):
        raise ArgumentValueError(f"{name}={value!r}: it must be finite and at least {least}")
    return number


def given(points: Sequence[Any], labels: Sequence[Any], as_array: bool) -> Pair:
    """Points and labels as they were asked for.

    Raises:
        MissingDependencyError: if arrays are asked for where NumPy is not installed.
    """
    if not as_array:
        return points, labels
    try:
        import numpy as np
    except ImportError:
        raise MissingDependencyError(
            "as_array=True needs NumPy: pip install numpy; without it there are lists"
        ) from None

    return np.array(points, dtype=float), np.array(labels)

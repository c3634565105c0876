"""What all losses have in common: terms, of which the mean or the sum is the loss.

Read next: ``losses.py``, ``entropy.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.errors import ArgumentValueError
from minigrad.ops.broadcasting import carries, raw
from minigrad.ops.halves import over

__all__ = ["like", "reduced", "reduction_of", "scaled"]


def reduction_of(reduction: Any = "mean") -> dict[str, Any]:
    """The attributes of a loss.

    Raises:
        ArgumentValueError: if there is no such reduction.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentValueError(f"reduction={reduction!r}: it is 'mean', 'sum' or 'none'")
    return {"reduction": reduction}


def reduced(terms: Any, reduction: str) -> Any:
    """The mean or the sum of the terms, or the terms themselves."""
    if reduction == "none":
        return terms
    total = np.add.reduce(terms, axis=None)
    return total if reduction == "sum" else total / terms.size


def scaled(g: Any, reduction: str, count: int) -> Any:
    """The gradient of each term, of a mean or sum of ``count`` of them."""
    return over(g, count) if reduction == "mean" else g


def like(x: Any, y: Any) -> Any:
    """Targets in the type of the predictions, which they must not widen."""
    if y.__class__ is np.ndarray and y.dtype is getattr(x, "dtype", None):
        return y
    if not carries(y):
        y = raw(y)
    kind, other = getattr(x, "dtype", None), getattr(y, "dtype", None)
    if kind is None or other is None or kind == other or kind.kind != "f":
        return y
    return y.astype(kind)

"""Half precision: sums of many terms are formed in float32, for their counts leave float16.

The largest float16 is 65504, and from 2048 on adding 1 changes nothing. So a mean of 70000 ones
would be inf / inf. What is computed is the same row; only the numbers on the way are wider.

Read next: ``broadcasting.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["HALF", "added", "halved", "over", "wide"]

HALF = np.dtype(np.float16)
_SINGLE = np.dtype(np.float32)
_add: Any = np.add.reduce


def wide(x: Any) -> Any:
    """An array or a node of float16 as float32; anything else as it is.

    >>> wide(np.ones(2, np.float16)).dtype, wide(np.ones(2)).dtype, wide(2.0)
    (dtype('float32'), dtype('float64'), 2.0)
    """
    return x.astype(_SINGLE) if getattr(x, "dtype", None) is HALF else x


def halved(x: Any) -> Any:
    """The result of what was computed in float32 in place of float16."""
    return np.asarray(x).astype(HALF)


def over(g: Any, count: Any) -> Any:
    """``g / count``, where the count may be beyond the numbers of float16."""
    return (g.astype(_SINGLE) / count).astype(HALF) if g.dtype is HALF else g / count


def added(x: Any, axis: Any) -> Any:
    """The sum of an array over axes, of float16 in float32."""
    if x.dtype is HALF:
        return halved(_add(x, axis=axis, dtype=_SINGLE))
    return _add(x, axis=axis)

"""The files that hold rows of arrays, in the order of ``docs/operations.md``.

Read next: ``reduce.py``, the first of them.
"""

from __future__ import annotations

from minigrad.ops import (
    convolution,
    entropy,
    indexing,
    losses,
    products,
    reduce,
    shapes,
    softmaxes,
)

__all__ = ["ARRAY_ROWS"]

ARRAY_ROWS = (reduce, softmaxes, shapes, indexing, products, convolution, losses, entropy)

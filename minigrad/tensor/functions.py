"""The functions of the array set, by name: methods of ``Tensor``, exports of ``minigrad``.

Read next: ``../ops/reduce.py`` and its neighbours, where they are made.
"""

from __future__ import annotations

from typing import Any

from minigrad import hooks
from minigrad.ops import nary, reduce, shapes
from minigrad.ops.array_rows import ARRAY_ROWS
from minigrad.ops.calls import checked

__all__ = ["ARRAY_FUNCTIONS", "reshaped", "transposed"]

ARRAY_FUNCTIONS: dict[str, Any] = {
    name: checked(getattr(module, name))
    for module in ARRAY_ROWS
    for name in module.__all__
    if name
    not in ("array_dot", "element", "linear", "put", "reduce_sum", "stack_values", "sum_of_squares")
}
ARRAY_FUNCTIONS["sum"] = nary.sum  # of Values, or of the elements of an array
ARRAY_FUNCTIONS["dot"] = nary.dot

reshaped = shapes.reshape


def transposed(x: Any, *axes: Any, **attrs: Any) -> Any:
    """``x.transpose()``, with the axes one by one or in a tuple, as NumPy takes them."""
    if len(axes) > 1:
        axes = (axes,)
    return shapes.transpose(x, *axes, **attrs)


hooks.reduce_sum = reduce.reduce_sum

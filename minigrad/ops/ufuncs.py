"""NumPy's functions on a ``Value``: ``np.exp(v)`` and ``np.float64(2) * v`` record our rows.

Nothing here imports NumPy; a ufunc is known by its name.

Read next: ``evaluate.py``, where the rows are applied.
"""

from __future__ import annotations

import operator

from minigrad import hooks
from minigrad.errors import ArgumentTypeError
from minigrad.ops.evaluate import apply, as_number, refuse
from minigrad.ops.row import OPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["COMPARISONS", "OURS", "answer"]

OURS = {  # NumPy's name -> ours, where they differ
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "divide": "div", "fabs": "abs",
    "float_power": "pow", "floor_divide": "floordiv", "multiply": "mul", "negative": "neg",
    "power": "pow", "remainder": "mod", "rint": "round", "subtract": "sub",
}  # fmt: skip

COMPARISONS = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip


def answer(name: str, method: str, xs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What the ufunc called ``name`` gives when a node is among ``xs``.

    Raises:
        ArgumentTypeError: for a ufunc without a row, an array operand, or ``out=`` and the like.
    """
    if method != "__call__" or options:
        raise ArgumentTypeError(
            f"np.{name}.{method} with {sorted(options)} is not recorded; use minigrad's functions"
        )
    plain = [_scalar(x) if hasattr(x, "dtype") else x for x in xs]
    if name in COMPARISONS:
        x, y = plain
        if hasattr(x, "shape") or hasattr(y, "shape"):
            x, y = getattr(x, "_data", x), getattr(y, "_data", y)
        return COMPARISONS[name](x, y)
    row = OPS.get(OURS.get(name, name))
    if row is None:
        raise ArgumentTypeError(f"np.{name} has no counterpart here, so it would lose the gradient")
    if not row.slopes and hasattr(row, "vjp"):
        return hooks.tensor()._apply(row, tuple(plain))  # a row of arrays, such as ``matmul``
    return apply(row, tuple(plain))


def _scalar(x: Any) -> Any:
    """A number as a float: NumPy hands its scalars over as arrays without axes."""
    if x.ndim:
        return x  # with an array the result is an array, a ``Tensor``
    number = as_number(x.item())
    if number is None:
        raise refuse(x, "NumPy with a Value")
    return number

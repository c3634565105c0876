"""NumPy's functions on a ``Value``: ``np.exp(v)`` and ``np.float64(2) * v`` record our rows.

Nothing here imports NumPy; a ufunc is known by its name.

Read next: ``evaluate.py``, where the rows are applied.
"""

from __future__ import annotations

import operator

from minigrad.errors import ArgumentTypeError
from minigrad.ops.evaluate import apply, as_number, refuse
from minigrad.ops.row import OPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["answer"]

_OURS = {  # NumPy's name -> ours, where they differ
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "divide": "div", "fabs": "abs",
    "float_power": "pow", "floor_divide": "floordiv", "multiply": "mul", "negative": "neg",
    "power": "pow", "remainder": "mod", "rint": "round", "subtract": "sub",
}  # fmt: skip

_COMPARISONS = {
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
    plain: list[Any] = [as_number(_scalar(x)) if hasattr(x, "dtype") else x for x in xs]
    if any(x is None for x in plain):
        array = next(x for x, number in zip(xs, plain, strict=True) if number is None)
        raise refuse(array, f"np.{name} with a Value")
    if name in _COMPARISONS:
        x, y = plain[0], plain[1]
        return _COMPARISONS[name](x, y)
    row = OPS.get(_OURS.get(name, name))
    if row is None:
        raise ArgumentTypeError(f"np.{name} has no counterpart here, so it would lose the gradient")
    return apply(row, tuple(plain))


def _scalar(x: Any) -> Any:
    """NumPy hands its scalars over as arrays without axes."""
    return x.item() if x.ndim == 0 else x

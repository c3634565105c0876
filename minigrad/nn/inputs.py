"""What goes into a layer, checked, so that the error comes from the layer and names it.

Read next: ``layers.py``.
"""

from __future__ import annotations

from typing import Any

from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.graph import Node
from minigrad.ops.evaluate import refuse

__all__ = ["array_input", "check_mode", "positive_int", "scalar_input"]


def check_mode(mode: Any, arrays_only: str = "") -> str:
    """``mode``, if a layer has it.

    Args:
        mode: ``"scalar"`` or ``"array"``.
        arrays_only: The name of the layer, if it has no scalar form.

    Raises:
        ArgumentValueError: if it is neither, or the layer has no scalar form.
    """
    if mode not in ("scalar", "array"):
        raise ArgumentValueError(f"mode={mode!r}: it is 'scalar' or 'array'")
    if mode == "scalar" and arrays_only:
        raise ArgumentValueError(
            f"{arrays_only} works on arrays alone; mode='array' is its only mode. On Values there "
            f"are Linear, MLP, LayerNorm, Dropout, Flatten and Sequential"
        )
    return str(mode)


def positive_int(value: Any, what: str) -> int:
    """``value`` as an int from 1 on.

    Raises:
        ArgumentValueError: if it is none.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < 1:
        raise ArgumentValueError(f"{what}={value!r}: it is a whole number from 1 on")
    return int(value)


def array_input(x: Any, layer: str, dtype: Any = None) -> Any:
    """A Tensor as it is; numbers, lists and arrays as an array of the type of the layer.

    Raises:
        ArgumentTypeError: for lists of nodes, and for what is no array of numbers.
    """
    if isinstance(x, Node) and hasattr(x, "shape"):
        return x
    import numpy as np

    if not isinstance(x, np.ndarray):
        from minigrad.tensor.arguments import array_of

        if isinstance(x, Node) or (isinstance(x, list | tuple) and _holds_node(x)):
            raise ArgumentTypeError(
                f"{layer} is in array mode, but was given Values; stack_values([...]) makes a "
                f"Tensor of them, and mode='scalar' makes a layer of Values"
            )
        x = array_of(x, f"{layer}(x)")
    elif x.dtype.kind not in "fiub":
        raise refuse(x, f"{layer}(x)")
    return x if dtype is None or x.dtype == dtype else x.astype(dtype)


def _holds_node(x: Any) -> bool:
    while isinstance(x, list | tuple) and x:
        x = x[0]
    return isinstance(x, Node)


def scalar_input(x: Any, layer: str, count: int | None = None) -> list[Any]:
    """One example as a list of numbers and Values.

    Raises:
        ArgumentTypeError: for a Tensor, or for what is no list of numbers.
        ShapeError: if it has another length than ``count``, or is a batch.
    """
    if hasattr(x, "shape"):
        if isinstance(x, Node):
            raise ArgumentTypeError(
                f"{layer} is in scalar mode, but was given a Tensor; to_values(x) opens it"
            )
        x = x.tolist()
    if isinstance(x, Node | str) or not hasattr(x, "__iter__"):
        raise ArgumentTypeError(f"{layer} takes a list of numbers or Values, not {x!r}")
    xs = list(x)
    if any(isinstance(z, list | tuple) or getattr(z, "shape", ()) for z in xs):
        raise ShapeError(
            f"{layer} takes one example at a time in scalar mode, a list of numbers; "
            f"[model(x) for x in batch] computes all"
        )
    if count is not None and len(xs) != count:
        raise ShapeError(f"{layer} takes {count} numbers, but {len(xs)} were given")
    return xs

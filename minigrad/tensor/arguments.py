"""What a ``Tensor`` accepts as data, gradient or seed.

Read next: ``tensor.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.graph import Node
from minigrad.ops.arrays import real_type
from minigrad.ops.evaluate import as_number, refuse

__all__ = ["array_of", "array_with_shape"]


def array_of(data: Any, what: str, dtype: Any = None) -> Any:
    """A new array of ``data``.

    Args:
        data: A number, nested lists of numbers, or an array.
        what: What it is for; the error starts with it.
        dtype: Its type; by default that of an array, and float64 for Python's numbers.

    Raises:
        ArgumentTypeError: if something in it is no real number.
        ArgumentValueError: if lists inside a list have different lengths.
    """
    if isinstance(data, np.ndarray):
        if data.dtype.kind not in "fiub":
            raise _refused(data, what)
        out = np.array(data, order="C", subok=False)
    elif isinstance(data, list | tuple | range):
        out = _array_of_list(data, what)
    elif isinstance(data, np.generic):
        if data.dtype.kind not in "fiub":
            raise _refused(data, what)
        out = np.array(data)
    else:
        number = None if isinstance(data, Node) else as_number(data)
        if number is None:
            raise _refused(data, what)
        out = np.array(number)
    return out if dtype is None else out.astype(real_type(dtype))


def _refused(data: Any, what: str) -> Exception:
    if isinstance(data, Node):
        word = "stack_values([...]) makes a Tensor of Values" if not hasattr(data, "shape") else (
            "use it as it is, or take its .data"
        )  # fmt: skip
        return ArgumentTypeError(f"{what}: {type(data).__name__} is a node; {word}")
    if isinstance(data, np.ndarray):
        fix = (
            "take .real or .imag"
            if data.dtype.kind == "c"
            else "an array of real numbers is needed"
        )
        return ArgumentTypeError(
            f"{what}: an array of {data.dtype} cannot be differentiated; {fix}"
        )
    return refuse(data, what)


def _array_of_list(data: Any, what: str) -> Any:
    """Nested lists as float64; lists of NumPy arrays or scalars as what these are."""
    leaves: list[Any] = []
    stack = [data]
    while stack:
        part = stack.pop()
        if isinstance(part, list | tuple | range):
            stack.extend(part)
        elif isinstance(part, np.ndarray):
            if part.dtype.kind not in "fiub":
                raise _refused(part, what)
            leaves.append(part.dtype)
        elif isinstance(part, Node) or as_number(part) is None:
            raise _refused(part, what)
        else:
            leaves.append(part.dtype if isinstance(part, np.generic) else None)
    dtype = float if not leaves or None in leaves else np.result_type(*set(leaves))
    try:
        return np.array(data, dtype=dtype)
    except OverflowError:  # an integer beyond the floats is infinite, as it is for a Value
        return np.vectorize(as_number, otypes=[float])(np.array(data, dtype=object))
    except ValueError:
        raise ArgumentValueError(
            f"{what}: the lists inside have different lengths, so they make no array"
        ) from None


def array_with_shape(data: Any, like: Any, what: str, spread: bool = False) -> Any:
    """A new array of ``data`` in the shape and the type of ``like``.

    Args:
        data: A number, nested lists, or an array.
        like: The array that it is for.
        what: What it is for; the error starts with it.
        spread: Whether a number stands for an array full of it.

    Raises:
        ShapeError: if the shapes differ.
        ArgumentTypeError: for floats where whole numbers are kept, or no numbers at all.
    """
    out = array_of(data, what)
    if out.shape != like.shape:
        if not (spread and out.ndim == 0):
            raise ShapeError(
                f"{what}: shape {out.shape} was given, but the Tensor has shape {like.shape}; the "
                f"two must be equal"
            )
        out = np.full(like.shape, out)
    if out.dtype != like.dtype:
        if out.dtype.kind == "f" and like.dtype.kind != "f":
            raise ArgumentTypeError(
                f"{what}: {out.dtype} does not fit into an array of {like.dtype}; make a new "
                f"Tensor of floats"
            )
        out = out.astype(like.dtype)
    return out

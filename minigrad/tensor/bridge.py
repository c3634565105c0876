"""From arrays to Values and back: ``to_values``, ``stack_values``, and ``expand``.

``expand`` opens an array node into the scalar nodes that it stands for: the layer that was one
``matmul`` becomes the products and sums of the lecture, with the same numbers and gradients.

Read next: ``../value.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import hooks, modes
from minigrad.errors import ArgumentTypeError
from minigrad.ops.indexing import element, stack_values
from minigrad.tensor.tensor import Tensor
from minigrad.value import Value

__all__ = ["elements", "stack_values", "to_values"]


def _value(x: Tensor, index: tuple[int, ...]) -> Value:
    """The Value that is one element of ``x``."""
    node = Value.__new__(Value)
    row = element(x, index)
    node._data = node._out = float(x._data[index])
    node._grad = node._scratch = node.name = node._b = node._y = None
    node._row, node._a, node._x = row, x, x._data
    node._serial = modes.new_serial()
    if modes.special:
        modes.enter(node)
    return node


def to_values(x: Any) -> Any:
    """Open a ``Tensor`` into Values: nested lists of its shape, a single Value without axes.

    Args:
        x: A Tensor, of any shape; no unit.

    Returns:
        Values in nested lists of the shape of ``x``, or a single one.

    Raises:
        ArgumentTypeError: if ``x`` is no Tensor.

    Derivative:
        ∂L/∂x[place] = the gradient of the Value that was opened from that place.

    >>> x = Tensor([1.0, 2.0])
    >>> a, b = to_values(x)
    >>> (a * b).backward()
    >>> x.grad
    array([2., 1.])
    """
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(f"to_values opens a Tensor, not {x!r}")
    cells = elements(x)
    return cells.tolist() if x.shape else cells[()]


def elements(x: Any) -> Any:
    """The Values that ``to_values`` gives, in an array of objects."""
    cells = np.empty(x.shape, dtype=object)
    for index in np.ndindex(x.shape):
        cells[index] = _value(x, index)
    return cells


hooks.as_value = lambda x, index=(): _value(x, index)

"""``expand(node)``: an array node opened into the scalar nodes that it stands for.

The layer that was one ``matmul`` becomes the dot products of the lecture, a ``dot`` the products
and sums inside it: the same numbers, and the same gradients, which flow back to the same inputs.

Read next: ``openings.py``, how each operation opens.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from minigrad import modes
from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.graph import Node, numbers, sources
from minigrad.ops.kinds import General, Linear
from minigrad.tensor.bridge import elements
from minigrad.tensor.openings import OPENINGS, by_element, linear_row, terms

__all__ = ["expand"]

_MOST = 1_000_000  # numbers that are read or made


def expand(node: Any) -> Any:
    """Open a node into the scalar nodes that it stands for.

    Args:
        node: A ``Tensor`` that an operation made, or a ``Value`` made by ``sum`` or ``dot``.

    Returns:
        Values in nested lists of the shape of ``node``, or a single one. They are computed from
        the inputs of ``node``, which get the same gradients as from ``node`` itself.

    Raises:
        ArgumentTypeError: for what is no node, and for a leaf, which has nothing inside.
        ArgumentValueError: for an operation that does not open, or opens into too many nodes.

    Derivative:
        That of ``node``, through the scalar operations that it stands for.

    >>> from minigrad.tensor import Tensor
    >>> w, x = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([5.0, 6.0])
    >>> first, second = expand(w @ x)
    >>> first.op.name, first.data, second.data
    ('dot', 17.0, 39.0)
    >>> first.backward()
    >>> x.grad
    array([1., 2.])
    """
    if not isinstance(node, Node):
        raise ArgumentTypeError(f"expand opens a node, not {node!r}")
    op: Any = node._row
    if op is None:
        raise ArgumentTypeError(f"{node!r} is a leaf: there is nothing inside to open")
    if not isinstance(op, General) and not hasattr(node, "shape"):
        return _scalar(op, node)
    if not np.size(node._out):
        return node._out.tolist()  # nothing inside nothing
    xs = numbers(node)
    size = terms(op, xs, node._out)
    if size > _MOST:
        raise ArgumentValueError(
            f"{op.name} of shape {np.shape(node._out)} would open into about {size:,} numbers; "
            f"take a part of it that is smaller than {_MOST:,}"
        )
    cells = [_cells(s, x) for s, x in zip(sources(node), xs, strict=True)]
    with modes.errstate("ignore"):  # what is not finite was reported when the node was made
        out = _opened(op, xs, cells)
    if not hasattr(node, "shape"):
        return out.item()
    return out.reshape(node.shape).tolist() if node.shape else out.reshape(()).item()


def _scalar(op: Any, node: Node) -> Any:
    """A sum or a dot of Values as the chain of its terms."""
    parts: list[Any] = [
        x if s is None else s for s, x in zip(sources(node), numbers(node), strict=True)
    ]
    if op.name == "sum":
        return reduce(lambda a, b: a + b, parts)
    if op.name == "dot":
        half = len(parts) // 2
        return reduce(
            lambda a, b: a + b, [w * x for w, x in zip(parts[:half], parts[half:], strict=True)]
        )
    raise ArgumentValueError(f"{op.name} is a single operation on numbers; it does not open")


def _cells(source: Node | None, x: Any) -> Any:
    """The elements of an input: Values where it is a node, numbers where it was a constant."""
    if source is not None and hasattr(source, "shape"):
        return elements(source)
    cells = np.empty(np.shape(x), dtype=object)
    if source is None:
        cells[...] = np.asarray(x).astype(float)
    else:
        cells[()] = source
    return cells


def _opened(op: Any, xs: Any, cells: list[Any]) -> Any:
    if op.name in OPENINGS:
        return OPENINGS[op.name](op, xs, *cells)
    if not isinstance(op, General):
        return by_element(op, *cells)
    if not any(op.differentiable(i) for i in range(len(cells))):
        raise ArgumentValueError(f"{op.name} has no gradient, so there is nothing to open")
    if isinstance(op, Linear):
        return linear_row(op, *cells)
    opens = ", ".join(sorted(OPENINGS))
    raise ArgumentValueError(
        f"{op.name} does not open; those that do: scalar and linear operations, {opens}"
    )

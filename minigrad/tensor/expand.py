"""``expand(node)``: an array node opened into the scalar nodes that it stands for.

The layer that was one ``matmul`` becomes the dot products of the lecture, a ``dot`` the products
and sums inside it: the same numbers, and the same gradients, which flow back to the same inputs.

Read next: ``bridge.py``.
"""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.graph import Node, numbers, sources
from minigrad.ops import FUNCTIONS
from minigrad.ops.arrays import ARRAYS
from minigrad.ops.evaluate import apply
from minigrad.ops.kinds import General, Linear
from minigrad.ops.row import OPS
from minigrad.tensor.bridge import to_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["expand"]

_MOST_NODES = 1_000_000


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
    cells = [_cells(s, x) for s, x in zip(sources(node), numbers(node), strict=True)]
    out = _opened(op, node, cells)
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
        cells = np.empty(source.shape, dtype=object)
        values = to_values(source)
        if not source.shape:
            cells[()] = values
        for index in np.ndindex(source.shape):
            part = values
            for i in index:
                part = part[i]
            cells[index] = part
        return cells
    cells = np.empty(np.shape(x), dtype=object)
    if source is not None:
        cells[()] = source
        return cells
    for index in np.ndindex(cells.shape):
        cells[index] = float(np.asarray(x)[index])
    return cells


def _opened(op: Any, node: Any, cells: list[Any]) -> Any:
    if not isinstance(op, General):
        return _by_element(op, cells)
    if op.name in _PARTS:
        lengths = [c.size for c in cells]
        if sum(lengths) + prod(np.shape(node._out)) > _MOST_NODES:
            raise ArgumentValueError(f"{op.name} would open into too many nodes")
        return _PARTS[op.name](op, node, *cells)
    if isinstance(op, Linear) and len(cells) == 1:
        moved = _moved(op, cells[0])
        if moved is not None:
            return moved
    opens = ", ".join(sorted(_PARTS))
    raise ArgumentValueError(
        f"{op.name} does not open; those that do: scalar functions of arrays, {opens}, and moves"
    )


def _by_element(op: Any, cells: list[Any]) -> Any:
    table = np.broadcast_arrays(*cells)
    out = np.empty(table[0].shape, dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = apply(op, tuple(t[index] for t in table))
    return out


def _moved(op: Any, cells: Any) -> Any:
    """The elements where a move puts them (0.0 where it puts zeros); None if it is no move."""
    tags = np.arange(1.0, cells.size + 1.0).reshape(cells.shape)
    places, twice = op.forward(ARRAYS, tags), op.forward(ARRAYS, 1.0 - 2.0 * tags)
    if not np.array_equal(np.where(places == 0.0, 0.0, 1.0 - 2.0 * places), twice):
        return None
    flat = [0.0, *cells.ravel().tolist()]
    out = np.empty(np.shape(places), dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = flat[int(places[index])]
    return out


def _along(op: Any, cells: Any, combine: Callable[[list[Any]], Any]) -> Any:
    """``combine`` of the elements along the axes of a reduction."""
    axis = op.attrs.get("axis")
    axes = range(cells.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = [n % cells.ndim for n in axes] if cells.ndim else []
    kept = [n for n in range(cells.ndim) if n not in gone]
    table = cells.transpose([*kept, *gone]).reshape((*(cells.shape[n] for n in kept), -1))
    out = np.empty(table.shape[:-1], dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = combine(table[index].tolist())
    return out


def _matmul(op: Any, node: Any, x: Any, y: Any) -> Any:
    left = x[None, :] if x.ndim == 1 else x
    right = y[:, None] if y.ndim == 1 else y
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    out = np.empty((*batch, left.shape[-2], right.shape[-1]), dtype=object)
    dot = FUNCTIONS["dot"]
    for index in np.ndindex(out.shape):
        *b, i, j = index
        out[index] = dot(left[(*b, i)].tolist(), right[(*b, slice(None), j)].tolist())
    return out


def _linear(op: Any, node: Any, x: Any, weight: Any, bias: Any) -> Any:
    return _by_element(_ADD, [_matmul(op, node, x, weight).reshape(node.shape), bias])


def _product(terms: Iterable[Any]) -> Any:
    return reduce(lambda a, b: a * b, terms, 1.0)


def _add(terms: list[Any]) -> Any:
    return FUNCTIONS["sum"](terms)


_ADD = OPS["add"]
_PARTS: dict[str, Callable[..., Any]] = {
    "reduce_sum": lambda op, node, x: _along(op, x, _add),
    "mean": lambda op, node, x: _along(op, x, lambda terms: _add(terms) / float(len(terms))),
    "prod": lambda op, node, x: _along(op, x, _product),
    "matmul": _matmul,
    "linear": _linear,
    "concatenate": lambda op, node, *xs: np.concatenate(xs, op.attrs["axis"]),
    "stack": lambda op, node, *xs: np.stack(xs, op.attrs["axis"]),
    "stack_values": lambda op, node, *xs: np.array([x.item() for x in xs], dtype=object),
}

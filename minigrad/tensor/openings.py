"""How each row of arrays opens: the same function, written with scalar operations.

An opening gets a row, the arrays that went in, and for each an array of *cells*: Values where the
input was a node, plain numbers where it was a constant. It gives the cells of the output. A linear
row needs no opening of its own: its ``forward`` moves and adds whatever stands in the array, so it
runs on the cells as they are.

The slopes at kinks are those of the array row: where three or more elements tie, a chain of
``maximum`` would not share equally, but their mean does; a norm is a chain of ``hypot``, whose
slope at the origin is 0.

Read next: ``expand.py``, which calls these.
"""

from __future__ import annotations

from functools import reduce
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.ops import FUNCTIONS
from minigrad.ops.arrays import ARRAYS
from minigrad.ops.evaluate import apply
from minigrad.ops.row import OPS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["OPENINGS", "by_element", "linear_row", "terms"]

Cells = Any  # an array of dtype object


def _of(name: str, *xs: Any) -> Any:
    """A scalar operation of the table on cells: by IEEE rules where all of them are numbers."""
    return apply(OPS[name], xs)


def _number(cell: Any) -> float:
    return float(getattr(cell, "_data", cell))


def _sum(cells: Sequence[Any]) -> Any:
    return cells[0] if len(cells) == 1 else FUNCTIONS["sum"](list(cells))


def _dot(left: Any, right: Any) -> Any:
    return FUNCTIONS["dot"](list(left), list(right))


def as_cells(x: Any) -> Cells:
    """An array of cells, also of the single one that NumPy gives in place of an array."""
    if isinstance(x, np.ndarray):
        return x
    cell = np.empty((), dtype=object)
    cell[()] = x
    return cell


def _filled(shape: tuple[int, ...], cell: Callable[..., Any]) -> Cells:
    out = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        out[index] = cell(*index)
    return out


def by_element(op: Any, *cells: Cells) -> Cells:
    """A scalar row, element by element, with broadcasting."""
    tables = np.broadcast_arrays(*cells)
    return _filled(tables[0].shape, lambda *i: apply(op, tuple(t[i] for t in tables)))


def linear_row(op: Any, *cells: Cells) -> Cells:
    """A row that moves elements and adds them: what it does to an array of anything."""
    out = as_cells(op.forward(ARRAYS, *cells))
    return _filled(out.shape, lambda *i: float(out[i]) if out[i].__class__ is int else out[i])


# -- along axes ----------------------------------------------------------------------------------


def _axes(axis: Any, ndim: int) -> list[int]:
    if axis is None:
        return list(range(ndim))
    return [n % ndim for n in (axis if isinstance(axis, tuple) else (axis,))] if ndim else []


def _lines(op: Any, x: Cells) -> Cells:
    """The cells with the axes of a reduction joined to one, the last."""
    gone = _axes(op.attrs.get("axis"), x.ndim)
    kept = [n for n in range(x.ndim) if n not in gone]
    count = int(np.prod([x.shape[n] for n in gone], dtype=int))
    return x.transpose([*kept, *gone]).reshape((*(x.shape[n] for n in kept), count))


def _reduction(combine: Callable[..., Any]) -> Callable[..., Cells]:
    """The opening of a row that makes one number of many, from how it makes it."""

    def opening(op: Any, xs: Any, x: Cells) -> Cells:
        lines = _lines(op, x)
        return _filled(lines.shape[:-1], lambda *i: combine(op, lines[i].tolist()))

    return opening


def _along(change: Callable[[list[Any]], list[Any]]) -> Callable[..., Cells]:
    """The opening of a row that changes the numbers along one axis (None: all in a row)."""

    def opening(op: Any, xs: Any, x: Cells) -> Cells:
        axis = op.attrs["axis"]
        if axis is None or not x.ndim:
            flat = _filled((x.size,), change(x.ravel().tolist()).__getitem__)
            return flat if x.ndim else flat.reshape(())
        axes = list(axis) if isinstance(axis, tuple) else [axis]
        last = list(range(-len(axes), 0))
        moved = np.moveaxis(x, axes, last)
        lines = moved.reshape((*moved.shape[: -len(axes)], -1))
        changed = _filled(lines.shape[:-1], lambda *i: change(lines[i].tolist()))
        out = _filled(lines.shape, lambda *i: changed[i[:-1]][i[-1]])
        return np.moveaxis(out.reshape(moved.shape), last, axes)

    return opening


# -- sums and products ---------------------------------------------------------------------------


def _product(op: Any, cells: list[Any]) -> Any:
    return reduce(lambda a, b: a * b, cells) if cells else 1.0


def _mean(cells: list[Any]) -> Any:
    return _of("div", FUNCTIONS["sum"](cells), float(len(cells)))


def _cumprod(cells: list[Any]) -> list[Any]:
    out = cells[:1]
    for cell in cells[1:]:
        out.append(out[-1] * cell)
    return out


def _degrees(op: Any, cells: list[Any]) -> float:
    return float(max(len(cells) - op.attrs["ddof"], 0))


def _centred(cells: list[Any]) -> list[Any]:
    middle = _mean(cells)
    return [cell - middle for cell in cells]


def _variance(op: Any, cells: list[Any]) -> Any:
    centred = _centred(cells)
    return _of("div", _dot(centred, centred), _degrees(op, cells))


def _length(cells: list[Any]) -> Any:
    if not cells:
        return 0.0
    return reduce(lambda a, b: _of("hypot", a, b), cells[1:], _of("abs", cells[0]))


def _deviation(op: Any, cells: list[Any]) -> Any:
    degrees = _degrees(op, cells)
    return _of("div", _length(_centred(cells)), degrees**0.5)


# -- extremes and order --------------------------------------------------------------------------


def _extreme(name: str, sign: float) -> Callable[[list[Any]], Any]:
    """A chain of ``maximum``; of three and more elements that tie, their mean."""

    def combine(cells: list[Any]) -> Any:
        numbers = [sign * _number(cell) for cell in cells]
        wrong = [cell for cell, x in zip(cells, numbers, strict=True) if x != x]
        best = max(numbers)
        tied = wrong or [cell for cell, x in zip(cells, numbers, strict=True) if x == best]
        if len(tied) > 2 or wrong:
            return _mean(tied)
        real = [
            cell
            for cell, x in zip(cells, numbers, strict=True)
            if cell.__class__ is not float or x == best
        ]  # a constant that is not the largest, such as a margin of -inf, decides nothing
        return reduce(lambda a, b: _of(name, a, b), real)

    return combine


_largest, _smallest = _extreme("maximum", 1.0), _extreme("minimum", -1.0)


def _sorted(cells: list[Any]) -> list[Any]:
    order = np.argsort([_number(cell) for cell in cells], kind="stable")
    return [cells[place] for place in order]


# -- softmax and its relatives -------------------------------------------------------------------


def _lowered(cells: list[Any]) -> tuple[list[Any], float]:
    """The cells minus the largest number (0 where that is infinite), so that ``exp`` is finite."""
    peak = float(np.max([_number(cell) for cell in cells]))
    peak = peak if isfinite(peak) else 0.0
    return [cell - peak for cell in cells], peak


def _logsumexp(cells: list[Any]) -> Any:
    low, peak = _lowered(cells)
    total = _of("log", _sum([_of("exp", cell) for cell in low])) + peak
    if all(_number(cell) == -inf for cell in cells):  # log(0): no element sends anything
        return _of("where", 0.0, total, -inf)
    return total


def _softmax(cells: list[Any]) -> list[Any]:
    small = [_of("exp", cell) for cell in _lowered(cells)[0]]
    total = _sum(small)
    return [_of("div", cell, total) for cell in small]


def _log_softmax(cells: list[Any]) -> list[Any]:
    low, _ = _lowered(cells)
    total = _of("log", _sum([_of("exp", cell) for cell in low]))
    return [cell - total for cell in low]


# -- matrix products and their kin ---------------------------------------------------------------


def _matmul(op: Any, xs: Any, x: Cells, y: Cells) -> Cells:
    left = x[None, :] if x.ndim == 1 else x
    right = y[:, None] if y.ndim == 1 else y
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    rows, columns = left.shape[-2], right.shape[-1]
    out = _filled(
        (*batch, rows, columns),
        lambda *i: _dot(left[(*i[:-2], i[-2])], right[(*i[:-2], slice(None), i[-1])]),
    )
    gone = tuple(axis for axis, z in ((-2, x), (-1, y)) if z.ndim == 1)
    return out.squeeze(gone)


def _linear(op: Any, xs: Any, x: Cells, weight: Cells, bias: Cells) -> Cells:
    return by_element(OPS["add"], _matmul(op, xs, x, weight), bias)


def _einsum(op: Any, xs: Any, *cells: Cells) -> Cells:
    left, _, result = op.attrs["subscripts"].partition("->")
    words = left.split(",")
    lengths: dict[str, int] = {}
    for word, x in zip(words, cells, strict=True):
        for letter, n in zip(word, x.shape, strict=True):
            lengths[letter] = max(n, lengths.get(letter, 0)) if n != 1 else lengths.get(letter, 1)
    summed = [letter for letter in lengths if letter not in result]

    def one(x: Cells, word: str, at: dict[str, int]) -> Any:
        # an axis of length 1 is repeated
        return x[tuple(at[c] if n > 1 else 0 for c, n in zip(word, x.shape, strict=True))]

    def element(*index: int) -> Any:
        factors: list[list[Any]] = [[] for _ in cells]
        for rest in np.ndindex(*(lengths[letter] for letter in summed)):
            at = dict(zip([*result, *summed], [*index, *rest], strict=True))
            for column, x, word in zip(factors, cells, words, strict=True):
                column.append(one(x, word, at))
        if len(cells) == 2 and summed:
            return _dot(*factors)
        products = [reduce(lambda a, b: a * b, row) for row in zip(*factors, strict=True)]
        return _sum(products) if products else 0.0

    return _filled(tuple(lengths[letter] for letter in result), element)


# -- images --------------------------------------------------------------------------------------


def _windows(op: Any, x: Cells, size: Any, fill: float = 0.0) -> Cells:
    """The windows of an image, (n, channels, rows, columns, …), each with the pixels in a row."""
    top, left = op.attrs["padding"]
    margin = ((0, 0), (0, 0), (top, top), (left, left))
    x = np.pad(x, margin, constant_values=fill)
    unfold = OPS["unfold"].bind(size=tuple(size), stride=op.attrs["stride"], padding=(0, 0))
    windows = unfold.forward(ARRAYS, x)
    return windows.reshape((*windows.shape[:4], -1))


def _conv2d(op: Any, xs: Any, x: Cells, weight: Cells) -> Cells:
    windows = _windows(op, x, weight.shape[2:])
    n, _, rows, columns, _ = windows.shape
    kernels = weight.reshape((weight.shape[0], -1))
    return _filled(
        (n, len(kernels), rows, columns),
        lambda b, o, i, j: _dot(windows[b, :, i, j].ravel(), kernels[o]),
    )


def _pool(combine: Callable[[list[Any]], Any], fill: float) -> Callable[..., Cells]:
    def opening(op: Any, xs: Any, x: Cells) -> Cells:
        windows = _windows(op, x, op.attrs["kernel_size"], fill)
        return _filled(windows.shape[:4], lambda *i: combine(windows[i].tolist()))

    return opening


# -- losses --------------------------------------------------------------------------------------


def _reduced(op: Any, losses: Cells) -> Cells:
    kind = op.attrs["reduction"]
    if kind == "none":
        return losses
    flat = losses.ravel().tolist()
    return as_cells(_mean(flat) if kind == "mean" else FUNCTIONS["sum"](flat))


def _loss(term: Callable[[Any, Any], Any]) -> Callable[..., Cells]:
    def opening(op: Any, xs: Any, x: Cells, y: Cells) -> Cells:
        y = np.broadcast_to(y, x.shape)
        return _reduced(op, _filled(x.shape, lambda *i: term(x[i], y[i])))

    return opening


def _cross_entropy(op: Any, xs: Any, x: Cells, target: Cells) -> Cells:
    axis = 1 if x.ndim > 1 else 0
    logs = np.moveaxis(_along(_log_softmax)(OPS["log_softmax"].bind(axis=axis), xs, x), axis, -1)
    if target.shape == x.shape:  # probabilities; 0 · log 0 is 0
        likely = np.moveaxis(target, axis, -1)

        def term(*i: int) -> Any:
            both = zip(likely[i], logs[i], strict=True)
            pairs = [(p, q) for p, q in both if p.__class__ is not float or p != 0.0]
            return -_dot(*zip(*pairs, strict=True)) if pairs else 0.0
    else:
        classes = np.asarray(xs[1]).astype(int)

        def term(*i: int) -> Any:
            return -logs[(*i, classes[i])]

    return _reduced(op, _filled(logs.shape[:-1], term))


OPENINGS: dict[str, Callable[..., Cells]] = {
    "reduce_sum": _reduction(lambda op, cells: FUNCTIONS["sum"](cells)),
    "mean": _reduction(lambda op, cells: _mean(cells)),
    "prod": _reduction(_product),
    "sum_of_squares": lambda op, xs, x: as_cells(_dot(x.ravel(), x.ravel())),
    "cumprod": _along(_cumprod),
    "var": _reduction(_variance),
    "std": _reduction(_deviation),
    "norm": _reduction(lambda op, cells: _length(cells)),
    "max": _reduction(lambda op, cells: _largest(cells)),
    "min": _reduction(lambda op, cells: _smallest(cells)),
    "sort": _along(_sorted),
    "logsumexp": _reduction(lambda op, cells: _logsumexp(cells)),
    "softmax": _along(_softmax),
    "log_softmax": _along(_log_softmax),
    "matmul": _matmul,
    "linear": _linear,
    "einsum": _einsum,
    "conv2d": _conv2d,
    "max_pool2d": _pool(_largest, -inf),
    "avg_pool2d": _pool(_mean, 0.0),
    "mse_loss": _loss(lambda x, y: _of("square", x - y)),
    "bce_with_logits": _loss(lambda x, y: y * _of("softplus", -x) + (1.0 - y) * _of("softplus", x)),
    "hinge_loss": _loss(lambda x, y: _of("relu", 1.0 - x * y)),
    "cross_entropy": _cross_entropy,
    "at_set": lambda op, xs, x, y: linear_row(op, x, y),
    "stack_values": lambda op, xs, *parts: _filled(
        (len(parts),), lambda i: parts[i].item()
    ).reshape(op.attrs["shape"]),
    "element": lambda op, xs, x: as_cells(x[op.attrs["index"]]),
    "astype": lambda op, xs, x: x,
}


def terms(op: Any, xs: Sequence[Any], out: Any) -> int:
    """How many cells are made and read, about: what tells whether a node is too large to open."""
    size, shapes = int(np.size(out)), [np.shape(x) for x in xs]
    inner = 1
    if op.name in ("matmul", "linear"):
        inner = shapes[0][-1]
    elif op.name == "conv2d":
        inner = int(np.prod(shapes[1][1:]))
    elif op.name == "einsum":
        left, _, result = op.attrs["subscripts"].partition("->")
        lengths = dict(zip(left.replace(",", ""), [n for s in shapes for n in s], strict=True))
        inner = int(np.prod([n for c, n in lengths.items() if c not in result]))
    elif "kernel_size" in op.attrs:
        inner = int(np.prod(op.attrs["kernel_size"]))
    return size * inner + sum(int(np.prod(shape)) for shape in shapes)

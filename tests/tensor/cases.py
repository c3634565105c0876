"""Every row of the array set, with inputs at which it is smooth and what NumPy says of it.

``CASES`` drives the tests of derivatives; a test says that no row is missing. ``numpy`` is the
oracle of the value; it is a function of the same arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import minigrad as mg
from minigrad.ops import OPS, products, reduce
from minigrad.ops.kinds import General
from minigrad.tensor import ARRAY_FUNCTIONS, Tensor, stack_values, to_values

af = ARRAY_FUNCTIONS

_rng = np.random.default_rng(7)
A = _rng.normal(size=(2, 3))
B = _rng.normal(size=(3, 4))
C = _rng.normal(size=(2, 2, 3))
V = _rng.normal(size=3)
Z = np.array([[0.5, 0.0, -2.0], [0.0, 3.0, 0.0]])  # one zero in a row, and two
IMAGE = _rng.normal(size=(2, 2, 5, 4))
KERNEL = _rng.normal(size=(3, 2, 2, 3))
LABELS = np.array([0, 2])


class Case(NamedTuple):
    """One call of a row: the function of nodes, its inputs, and NumPy's function of the same."""

    label: str
    rows: str
    call: Callable[..., Any]
    inputs: Sequence[Any]
    numpy: Callable[..., Any] | None = None


def _log_softmax(x: Any, axis: int = -1) -> Any:
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


def _correlate(x: Any, w: Any, stride: tuple[int, int], padding: tuple[int, int]) -> Any:
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    rows = (x.shape[2] - w.shape[2]) // stride[0] + 1
    columns = (x.shape[3] - w.shape[3]) // stride[1] + 1
    out = np.zeros((x.shape[0], w.shape[0], rows, columns))
    for i in range(rows):
        for j in range(columns):
            top, left = i * stride[0], j * stride[1]
            window = x[:, :, top : top + w.shape[2], left : left + w.shape[3]]
            out[:, :, i, j] = (window[:, None] * w[None]).sum(axis=(2, 3, 4))
    return out


def _pooled(x: Any, size: int, reduce: Any) -> Any:
    n, c, h, w = x.shape
    x = x[:, :, : h // size * size, : w // size * size]
    return reduce(x.reshape(n, c, h // size, size, w // size, size), axis=(3, 5))


def _set(x: Any, index: Any, y: Any) -> Any:
    out = x.copy()
    out[index] = y
    return out


def _two_norms(x: Any) -> Any:
    return np.linalg.norm(x, axis=1)


CASES = [
    Case("sum", "reduce_sum", lambda x: mg.sum(x, axis=1), [A], lambda x: x.sum(axis=1)),
    Case("sum-all", "reduce_sum", lambda x: x.sum(), [A], np.sum),
    Case("sum-keep", "reduce_sum", lambda x: x.sum(axis=(0, 2), keepdims=True), [C],
         lambda x: x.sum(axis=(0, 2), keepdims=True)),
    Case("sum_of_squares", "sum_of_squares", reduce.sum_of_squares, [A], lambda x: (x * x).sum()),
    Case("mean", "mean", lambda x: x.mean(axis=0), [A], lambda x: x.mean(axis=0)),
    Case("prod", "prod", lambda x: x.prod(axis=1), [A], lambda x: x.prod(axis=1)),
    Case("prod-of-zeros", "prod", lambda x: x.prod(axis=-1), [Z], lambda x: x.prod(axis=-1)),
    Case("prod-all", "prod", lambda x: x.prod(), [Z[0]], np.prod),
    Case("prod-two-axes", "prod", lambda x: x.prod(axis=(0, 2)), [C * (C > 0)],
         lambda x: x.prod(axis=(0, 2))),
    Case("max", "max", lambda x: x.max(axis=0), [A], lambda x: x.max(axis=0)),
    Case("min", "min", lambda x: x.min(axis=(0, 1), keepdims=True), [A],
         lambda x: x.min(axis=(0, 1), keepdims=True)),
    Case("var", "var", lambda x: x.var(axis=1, ddof=1), [A], lambda x: x.var(axis=1, ddof=1)),
    Case("std", "std", lambda x: x.std(axis=0, keepdims=True), [A],
         lambda x: x.std(axis=0, keepdims=True)),
    Case("norm", "norm", lambda x: x.norm(axis=1), [A], _two_norms),
    Case("norm-all", "norm", lambda x: x.norm(), [A], np.linalg.norm),
    Case("logsumexp", "logsumexp", lambda x: x.logsumexp(axis=1), [A],
         lambda x: np.log(np.exp(x).sum(axis=1))),
    Case("softmax", "softmax", lambda x: x.softmax(), [A], lambda x: np.exp(_log_softmax(x))),
    Case("log_softmax", "log_softmax", lambda x: x.log_softmax(axis=0), [A],
         lambda x: _log_softmax(x, 0)),
    Case("cumsum", "cumsum", lambda x: x.cumsum(axis=1), [A], lambda x: x.cumsum(axis=1)),
    Case("cumsum-flat", "cumsum", lambda x: x.cumsum(), [A], np.cumsum),
    Case("cumprod", "cumprod", lambda x: x.cumprod(axis=1), [A], lambda x: x.cumprod(axis=1)),
    Case("cumprod-of-zeros", "cumprod", lambda x: x.cumprod(axis=-1), [Z],
         lambda x: x.cumprod(axis=-1)),
    Case("cumprod-flat", "cumprod", lambda x: x.cumprod(), [A], np.cumprod),
    Case("matmul", "matmul", lambda x, y: x @ y, [A, B], np.matmul),
    Case("matmul-vector", "matmul", lambda x, y: x @ y, [A, V], np.matmul),
    Case("vector-matmul", "matmul", lambda x, y: x @ y, [V, B], np.matmul),
    Case("vector-vector", "matmul", lambda x, y: x @ y, [V, V + 1.0], np.matmul),
    Case("matmul-batch", "matmul", lambda x, y: x @ y, [C, B], np.matmul),
    Case("matmul-batch-vector", "matmul", lambda x, y: x @ y, [C, V], np.matmul),
    Case("matmul-left-batch", "matmul", lambda x, y: x @ y, [A[:, :2], C], np.matmul),
    Case("vector-batch", "matmul", lambda x, y: x @ y, [V[:2], C], np.matmul),
    Case("matmul-broadcast", "matmul", lambda x, y: x @ y, [C[:, None], C.transpose(0, 2, 1)],
         np.matmul),
    Case("linear", "linear", products.linear, [A, B, V[:1]], lambda x, w, b: x @ w + b),
    Case("dot", "matmul", mg.dot, [A, B], np.dot),
    Case("dot-many-axes", "einsum", mg.dot, [C, C.transpose(0, 2, 1)], np.dot),
    Case("outer", "mul", lambda x, y: x.outer(y), [V, A], np.outer),
    Case("tensordot", "einsum", lambda x, y: x.tensordot(y, axes=([2], [0])), [C, B],
         lambda x, y: np.tensordot(x, y, ([2], [0]))),
    Case("tensordot-1", "einsum", lambda x, y: x.tensordot(y, 1), [C, B],
         lambda x, y: np.tensordot(x, y, 1)),
    *(
        Case(f"einsum-{text}", "einsum", lambda *xs, text=text: af["einsum"](text, *xs), xs,
             lambda *xs, text=text: np.einsum(text, *xs))
        for text, xs in {
            "ij,jk->ki": [A, B], "ii->i": [B[:, :3]], "ii": [B[:, :3]], "ij->": [A],
            "...ij,jk": [C, B], "ij,jk,i->k": [A, B, A[:, 0]], "i,i": [V, V[:1]], "ba": [A],
            "ij->i": [A], "iij,j->i": [B[:, :3, None] * V, V], "bij,bik->bjk": [C, C],
            "...i,...i->...": [C, A],
        }.items()
    ),
    Case("reshape", "reshape", lambda x: x.reshape(3, -1), [A], lambda x: x.reshape(3, -1)),
    Case("T", "transpose", lambda x: x.T, [C], np.transpose),
    Case("transpose", "transpose", lambda x: x.transpose(2, 0, 1), [C],
         lambda x: x.transpose(2, 0, 1)),
    Case("swapaxes", "swapaxes", lambda x: x.swapaxes(0, 2), [C], lambda x: x.swapaxes(0, 2)),
    Case("moveaxis", "moveaxis", lambda x: x.moveaxis(0, -1), [C],
         lambda x: np.moveaxis(x, 0, -1)),
    Case("squeeze", "squeeze", lambda x: x.squeeze(axis=0), [A[None]], lambda x: x.squeeze(0)),
    Case("expand_dims", "expand_dims", lambda x: x.expand_dims(axis=1), [A],
         lambda x: np.expand_dims(x, 1)),
    Case("broadcast_to", "broadcast_to", lambda x: x.broadcast_to((4, 2, 3)), [A[:, :1]],
         lambda x: np.broadcast_to(x, (4, 2, 3))),
    Case("astype", "astype", lambda x: x.astype("float64"), [A], lambda x: x),
    Case("flip", "flip", lambda x: x.flip(axis=1), [A], lambda x: np.flip(x, 1)),
    Case("roll", "roll", lambda x: x.roll(1, axis=1), [A], lambda x: np.roll(x, 1, 1)),
    Case("roll-flat", "roll", lambda x: x.roll(2), [A], lambda x: np.roll(x, 2)),
    Case("tril", "tril", lambda x: x.tril(), [B], np.tril),
    Case("triu", "triu", lambda x: x.triu(k=1), [B], lambda x: np.triu(x, 1)),
    Case("diagonal", "diagonal put_diagonal", lambda x: x.diagonal(offset=1), [B],
         lambda x: np.diagonal(x, 1)),
    Case("diagonal-below", "diagonal", lambda x: x.diagonal(-1, 1, 2), [C],
         lambda x: np.diagonal(x, -1, 1, 2)),
    Case("trace", "reduce_sum", lambda x: x.trace(), [B], np.trace),
    Case("pad", "pad", lambda x: x.pad(((1, 0), (0, 2))), [A],
         lambda x: np.pad(x, ((1, 0), (0, 2)))),
    Case("concatenate", "concatenate", lambda x, y: af["concatenate"]([x, y], axis=1), [A, 2 * A],
         lambda x, y: np.concatenate([x, y], axis=1)),
    Case("stack", "stack", lambda x, y: af["stack"]([x, y], axis=-1), [A, 2 * A],
         lambda x, y: np.stack([x, y], axis=-1)),
    Case("split", "getitem", lambda x: x.split([1], axis=1)[1], [A], lambda x: x[:, 1:]),
    *(
        Case(f"getitem-{label}", "getitem put", lambda x, i=index: x[i], [C],
             lambda x, i=index: x[i])
        for label, index in {
            "int": 1, "slice": (slice(None), 0, slice(1, None)),
            "step": (..., slice(None, None, -2)),
            "new-axis": (0, None, ..., None), "fancy": ([1, 1, 0], [1, 1, 0]), "rows": [0, 1] * 40,
            "mask": C > 0.0, "mixed": (slice(None), [0, 0, 1], 1), "negative": [-1, -1, 0],
        }.items()
    ),
    Case("take", "getitem", lambda x: x.take([0, 2, 2], axis=1), [A],
         lambda x: x.take([0, 2, 2], axis=1)),
    Case("take-flat", "getitem", lambda x: x.take([[0, 5], [5, 1]]), [A],
         lambda x: x.take([[0, 5], [5, 1]])),
    Case("at_set", "at_set", lambda x, y: x.at_set((0, slice(None)), y), [A, V],
         lambda x, y: _set(x, (0, slice(None)), y)),
    Case("at_set-twice", "at_set", lambda x, y: x.at_set([0, 0], y), [A, 2.0 * A],
         lambda x, y: _set(x, [0, 0], y)),
    Case("at_set-number", "at_set", lambda x, y: x.at_set((slice(None), 1), y), [A, np.array(2.0)],
         lambda x, y: _set(x, (slice(None), 1), y)),
    Case("sort", "sort", lambda x: x.sort(axis=0), [A], lambda x: np.sort(x, 0)),
    Case("sort-flat", "sort", lambda x: x.sort(axis=None), [A], lambda x: np.sort(x, None)),
    Case("argsort", "argsort", lambda x: x * x.argsort(), [A], lambda x: x * np.argsort(x)),
    Case("argmax", "argmax", lambda x: x[0] * x.argmax(), [A], lambda x: x[0] * np.argmax(x)),
    Case("values", "stack_values element", lambda x: stack_values(to_values(x)[::-1]), [V],
         lambda x: x[::-1]),
    Case("conv2d", "conv2d unfold fold", lambda x, w: x.conv2d(w, stride=(2, 1), padding=(1, 0)),
         [IMAGE, KERNEL], lambda x, w: _correlate(x, w, (2, 1), (1, 0))),
    Case("conv2d-bias", "conv2d", lambda x, w, b: x.conv2d(w, b), [IMAGE, KERNEL, V],
         lambda x, w, b: _correlate(x, w, (1, 1), (0, 0)) + b[:, None, None]),
    Case("max_pool2d", "max_pool2d", lambda x: x.max_pool2d(2), [IMAGE],
         lambda x: _pooled(x, 2, np.max)),
    Case("max_pool2d-overlap", "max_pool2d", lambda x: x.max_pool2d((2, 3), stride=1, padding=1),
         [IMAGE]),
    Case("avg_pool2d", "avg_pool2d", lambda x: x.avg_pool2d(2), [IMAGE],
         lambda x: _pooled(x, 2, np.mean)),
    Case("avg_pool2d-padding", "avg_pool2d", lambda x: x.avg_pool2d(2, padding=1), [IMAGE]),
    Case("mse_loss", "mse_loss", lambda x, y: x.mse_loss(y), [A, 2.0 * A + 1.0],
         lambda x, y: ((x - y) ** 2).mean()),
    Case("mse_loss-none", "mse_loss", lambda x, y: x.mse_loss(y, reduction="none"), [A, A + V],
         lambda x, y: (x - y) ** 2),
    Case("bce", "bce_with_logits", lambda x, y: x.bce_with_logits(y), [A, np.abs(A) / 4.0],
         lambda x, y: -(y * np.log(1 / (1 + np.exp(-x)))
                        + (1 - y) * np.log(1 / (1 + np.exp(x)))).mean()),
    Case("hinge", "hinge_loss", lambda x, y: x.hinge_loss(y, reduction="sum"),
         [A, np.sign(A[::-1])], lambda x, y: np.maximum(0.0, 1.0 - x * y).sum()),
    Case("cross_entropy", "cross_entropy", lambda x: x.cross_entropy(LABELS), [A],
         lambda x: -_log_softmax(x)[[0, 1], LABELS].mean()),
    Case("cross_entropy-none", "cross_entropy",
         lambda x: x.cross_entropy([0, 2], reduction="none"), [A],
         lambda x: -_log_softmax(x)[[0, 1], LABELS]),
    Case("cross_entropy-one", "cross_entropy", lambda x: x.cross_entropy(1), [V],
         lambda x: -_log_softmax(x)[1]),
    Case("cross_entropy-image", "cross_entropy",
         lambda x: x.cross_entropy(np.array([[0, 1, 0], [1, 1, 0]]), reduction="sum"), [C],
         lambda x: -np.take_along_axis(
             _log_softmax(x, 1), np.array([[[0, 1, 0]], [[1, 1, 0]]]), 1).sum()),
    Case("cross_entropy-probabilities", "cross_entropy", lambda x, y: x.cross_entropy(y),
         [A, np.abs(A)], lambda x, y: -(_log_softmax(x) * y).sum(axis=1).mean()),
    # scalar rows whose inputs broadcast, and those of any number of inputs
    Case("mul-bias", "mul", lambda x, y: x * y, [A, V], np.multiply),
    Case("div-column", "div", lambda x, y: x / y, [A, B[:2, :1] + 2.0], np.divide),
    Case("pow", "pow", lambda x, y: x**y, [np.abs(A) + 0.5, V], np.power),
    Case("hypot", "hypot", lambda x, y: x.hypot(y), [A, np.array(0.3)], np.hypot),
    Case("where", "where", lambda x, y: mg.where(A > 0.0, x * y, y), [A, V],
         lambda x, y: np.where(A > 0.0, x * y, y)),
    Case("sum-of-list", "sum", lambda x, y: mg.sum([x, y, x * y, 2.0]), [A, V],
         lambda x, y: x + y + x * y + 2.0),
    Case("dot-of-lists", "dot", lambda x, y: mg.dot([x, y], [y, x * 2.0]), [A, V],
         lambda x, y: 3.0 * x * y),
]  # fmt: skip

ARRAY_ROWS = {name for name, row in OPS.items() if isinstance(row, General)}


def nodes(case: Case) -> list[Tensor]:
    """The inputs as leaves."""
    return [Tensor(x, name=f"x{i}") for i, x in enumerate(case.inputs)]


def difference(function: Callable[..., float], xs: Sequence[Any], h: float = 1e-5) -> list[Any]:
    """The gradient of ``function`` by central differences, one array per input."""
    gradients = []
    for k, x in enumerate(xs):
        gradient = np.zeros(np.shape(x))
        for index in np.ndindex(np.shape(x)):
            up, down = ([np.array(z, dtype=float) for z in xs] for _ in range(2))
            up[k][index] += h
            down[k][index] -= h
            gradient[index] = (function(*up) - function(*down)) / (2.0 * h)
        gradients.append(gradient)
    return gradients

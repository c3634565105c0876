"""Convolution and pooling of images in the layout NCHW, with PyTorch's ``stride`` and ``padding``.

``unfold`` lays the windows of an image beside each other; a convolution is then a product, and
pooling a reduction. Its transpose ``fold`` adds the windows up again where they overlap.

Source: V. Dumoulin, F. Visin, A guide to convolution arithmetic for deep learning,
arXiv:1603.07285 (the lengths of the output).

Read next: ``labels.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.ops.arrays import Misfit, called
from minigrad.ops.broadcasting import raw
from minigrad.ops.evaluate import refuse
from minigrad.ops.halves import HALF, halved, over, wide
from minigrad.ops.kinds import General, Linear, Product, array_function, evaluate_arrays
from minigrad.ops.manual import Manual, of_row
from minigrad.ops.products import einsum
from minigrad.ops.reduce import shares

__all__ = ["avg_pool2d", "conv2d", "max_pool2d"]

Pair = tuple[int, int]

_IMAGES = "Images, shape (N, C, H, W); no unit"
_MARGIN = "A margin of zeros on each side: an int, or two (above and below, left and right)"
_LENGTH = "H' = (H + 2 * padding - height) // stride + 1, and W' likewise"
_POOLED: Any = {
    "args": {
        "x": _IMAGES,
        "kernel_size": "Height and width of the window: an int, or two; None is 1",
        "stride": "The step between windows: an int, or two (down, right); None is kernel_size",
        "padding": "A margin on each side, at most half a window: an int, or two",
    },
    "returns": f"Shape (N, C, H', W'), where {_LENGTH}",
    "raises": {
        "ShapeError": "if there are not 4 axes, or no window fits",
        "ArgumentValueError": "if the padding is more than half a window",
    },
}


def _pair(value: Any, name: str, least: int) -> Pair:
    pair = (value, value) if isinstance(value, int | np.integer) else value
    if (
        not isinstance(pair, list | tuple)
        or len(pair) != 2
        or not all(isinstance(n, int | np.integer) and n >= least for n in pair)
    ):
        raise ArgumentTypeError(f"{name}={value!r}: it is an int from {least} on, or two of them")
    return int(pair[0]), int(pair[1])


def _batched(x: Any) -> str:
    """What makes a batch of images of one image."""
    shape = np.shape(x)
    fix = {2: "{0}[None, None]", 3: "{0}[None]"}.get(len(shape))
    return f"; {fix} has shape {(1,) * (4 - len(shape)) + shape}" if fix else ""


def _padded(x: Any, padding: Pair, fill: float) -> Any:
    if padding == (0, 0):
        return x
    (top, left), (n, c, h, w) = padding, x.shape
    out = np.full((n, c, h + 2 * top, w + 2 * left), fill, x.dtype)
    out[:, :, top : top + h, left : left + w] = x
    return out


def _windows(x: Any, size: Pair, stride: Pair, padding: Pair, fill: float = 0.0) -> Any:
    """The windows of an image, of shape (n, c, out height, out width, height, width); a view."""
    if np.ndim(x) != 4:
        raise Misfit(f"images are (N, C, H, W), but {{0}} has shape {np.shape(x)}{_batched(x)}")
    padded = _padded(x, padding, fill)
    for axis, name in enumerate(("height", "width")):
        if padded.shape[2 + axis] < size[axis]:
            raise Misfit(
                f"a window of {name} {size[axis]} does not fit into {{0}} of shape {x.shape} "
                f"with padding {padding[axis]}"
            )
    view = sliding_window_view(padded, size, axis=(2, 3))
    return view[:, :, :: stride[0], :: stride[1]]


def _fold(g: Any, shape: Any, size: Pair, stride: Pair, padding: Pair) -> Any:
    (n, c, h, w), (top, left) = shape, padding
    out = np.zeros((n, c, h + 2 * top, w + 2 * left), g.dtype)
    rows, columns = g.shape[2], g.shape[3]
    for i in range(size[0]):
        for j in range(size[1]):
            out[
                :, :, i : i + stride[0] * rows : stride[0], j : j + stride[1] * columns : stride[1]
            ] += g[..., i, j]
    return out[:, :, top : top + h, left : left + w]


_UNFOLD = Linear(
    "unfold",
    lambda m, x, *, size=(1, 1), stride=(1, 1), padding=(0, 0): _windows(x, size, stride, padding),
    lambda g, out, x, *, size, stride, padding: _folded(g, x.shape, size, stride, padding),
    sentence="All windows of an image beside each other.", public=False,
    manual=Manual("", "fold(g, x.shape, size, stride, padding)", args={"x": _IMAGES},
        returns="Shape (N, C, H', W', height, width)"),
).register()  # fmt: skip
_FOLD = Linear(
    "fold",
    lambda m, x, *, shape=(), size=(1, 1), stride=(1, 1), padding=(0, 0): (
        _fold(x, shape, size, stride, padding)),
    lambda g, out, x, *, shape, size, stride, padding: _unfolded(g, size, stride, padding),
    sentence="Windows added up to the image that they come from.", public=False,
    manual=Manual("", "unfold(g, size, stride, padding)", returns="Shape (N, C, H, W)"),
).register()  # fmt: skip


def _unfolded(x: Any, size: Pair, stride: Pair, padding: Pair) -> Any:
    return evaluate_arrays(_UNFOLD.cached(size=size, stride=stride, padding=padding), (x,))


def _folded(g: Any, shape: Any, size: Pair, stride: Pair, padding: Pair) -> Any:
    row = _FOLD.cached(shape=tuple(shape), size=size, stride=stride, padding=padding)
    return evaluate_arrays(row, (g,))


# -- convolution ---------------------------------------------------------------------------------


def _conv2d(x: Any, weight: Any, stride: Pair, padding: Pair) -> Any:
    if np.ndim(x) != 4 or np.ndim(weight) != 4:
        raise Misfit(
            f"conv2d of {{0}} of shape {np.shape(x)} and {{1}} of shape {np.shape(weight)}: images "
            f"are (N, C, H, W), weights (out channels, C, height, width)" + _batched(x)
        )
    if x.shape[1] != weight.shape[1]:
        raise Misfit(
            f"conv2d: {{0}} of shape {x.shape} has {x.shape[1]} channels, but {{1}} of shape "
            f"{weight.shape} takes {weight.shape[1]}"
        )
    windows = _windows(x, weight.shape[2:], stride, padding)
    out = np.tensordot(windows, weight, ((1, 4, 5), (1, 2, 3)))
    return out.transpose(0, 3, 1, 2)


_CONV2D = Product(
    "conv2d",
    lambda m, x, weight, *, stride=(1, 1), padding=(0, 0): _conv2d(x, weight, stride, padding),
    [lambda g, out, x, weight, *, stride, padding: _folded(
        einsum("nohw,ocij->nchwij", g, weight), x.shape, weight.shape[2:], stride, padding),
        lambda g, out, x, weight, *, stride, padding: einsum(
            "nohw,nchwij->ocij", g, _unfolded(x, weight.shape[2:], stride, padding))],
    sentence="Cross-correlation of an image (N, C, H, W) with windows (out, C, height, width).",
    manual=Manual(
        "einsum('nchwij,ocij->nohw', unfold(x, weight.shape[2:], stride, padding), weight)",
        {"x": "fold(einsum('nohw,ocij->nchwij', g, weight), x.shape, weight.shape[2:], stride, "
            "padding)",
            "weight": "einsum('nohw,nchwij->ocij', g, "
            "unfold(x, weight.shape[2:], stride, padding))",
            "bias": "sum(g, (0, 2, 3))"},
        ([[[[1.0, 2.0, 3.0]]]], [[[[1.0, 10.0]]]], [[[[21.0, 32.0]]]]),
        args={"x": _IMAGES, "weight": "The windows, shape (out, C, height, width); no unit",
            "bias": "What is added to each channel, shape (out,), or None; no unit",
            "padding": _MARGIN},
        returns=f"Shape (N, out, H', W'), where {_LENGTH}",
        note="unfold lays the windows beside each other, fold adds them up to an image again.",
        raises={"ShapeError": "if there are not 4 axes, the channels differ, or no window fits"},
        source="V. Dumoulin, F. Visin, arXiv:1603.07285"),
)  # fmt: skip
_convolve = array_function(
    _CONV2D.register(),
    lambda stride=1, padding=0: {
        "stride": _pair(stride, "stride", 1),
        "padding": _pair(padding, "padding", 0),
    },
)


@of_row(_CONV2D)
def conv2d(x: Any, weight: Any, bias: Any = None, *, stride: Any = 1, padding: Any = 0) -> Any:
    """Cross-correlation of images (N, C, H, W) and weights (out, C, height, width), plus a bias."""
    out = _convolve(x, weight, stride=stride, padding=padding)
    if bias is None:
        return out
    if isinstance(bias, int) or (isinstance(bias, tuple) and all(isinstance(n, int) for n in bias)):
        raise ArgumentTypeError(
            f"conv2d(x, weight, bias): the bias is an array, not {bias!r}; for the step of the "
            f"windows write stride={bias!r}"
        )
    if not hasattr(bias, "shape"):
        raise refuse(bias, "conv2d(…, bias)")
    if bias.shape != weight.shape[:1]:
        raise ShapeError(
            f"conv2d: {called(bias, 'bias')} has shape {bias.shape}, but it has a number "
            f"for each of the {weight.shape[0]} output channels: {weight.shape[:1]}"
        )
    return out + bias.reshape((1, -1, 1, 1))


# -- pooling -------------------------------------------------------------------------------------


def _pool(kernel_size: Any = None, stride: Any = None, padding: Any = 0) -> dict[str, Any]:
    size = _pair(1 if kernel_size is None else kernel_size, "kernel_size", 1)
    step = size if stride is None else _pair(stride, "stride", 1)
    margin = _pair(padding, "padding", 0)
    if margin[0] > size[0] // 2 or margin[1] > size[1] // 2:
        raise ArgumentValueError(f"padding={padding!r} is more than half of kernel_size={size}")
    return {"kernel_size": size, "stride": step, "padding": margin}


def _max_windows(x: Any, size: Pair, stride: Pair, padding: Pair) -> Any:
    kind = x.dtype.kind if hasattr(x, "dtype") else "f"  # a number has no windows, see below
    least = -np.inf if kind == "f" else False if kind == "b" else np.iinfo(x.dtype).min
    return _windows(x, size, stride, padding, least)


def _shares(out: Any, x: Any, size: Pair, stride: Pair, padding: Pair) -> Any:
    """1 at the largest elements of each window, divided among those that tie; numbers."""
    windows = _max_windows(raw(x), size, stride, padding)
    return shares(raw(out)[..., None, None], windows, (-2, -1))


def _every_window(
    g: Any, out: Any, x: Any, *, kernel_size: Pair, stride: Pair, padding: Pair
) -> Any:
    """What an element depends on: its whole window."""
    g = g[..., None, None] * np.ones(kernel_size, raw(x).dtype)
    return _folded(g, x.shape, kernel_size, stride, padding)


max_pool2d = array_function(General(
    "max_pool2d",
    lambda m, x, *, kernel_size=None, stride=None, padding=0: np.maximum.reduce(
        _max_windows(x, kernel_size, stride, padding), axis=(-2, -1)),
    [lambda g, out, x, *, kernel_size, stride, padding: _folded(
        g[..., None, None] * _shares(out, x, kernel_size, stride, padding), x.shape, kernel_size,
        stride, padding)],
    jvp=lambda ts, out, x, *, kernel_size, stride, padding: (
        _unfolded(ts[0], kernel_size, stride, padding)
        * _shares(out, x, kernel_size, stride, padding)).sum(axis=(-2, -1)),
    reach=[_every_window],
    sentence="The largest element of each window of an image (N, C, H, W); ties share.",
    manual=Manual(
        "", "fold(g[..., None, None] * share, x.shape, kernel_size, stride, padding)",
        ([[[[1.0, 2.0, 4.0, 3.0]]]], (1, 2), [[[[2.0, 4.0]]]]), **_POOLED, note=(
            "share is 1 at the largest element of a window, divided among those that tie.")),
).register(), _pool)  # fmt: skip


def _average(x: Any, size: Pair, stride: Pair, padding: Pair) -> Any:
    if getattr(x, "dtype", None) is HALF:
        return halved(_average(wide(x), size, stride, padding))
    total = np.add.reduce(_windows(x, size, stride, padding), axis=(-2, -1))
    return total / (size[0] * size[1])


avg_pool2d = array_function(Linear(
    "avg_pool2d",
    lambda m, x, *, kernel_size=None, stride=None, padding=0: (
        _average(x, kernel_size, stride, padding)),
    lambda g, out, x, *, kernel_size, stride, padding: _every_window(
        over(g, kernel_size[0] * kernel_size[1]), out, x, kernel_size=kernel_size, stride=stride,
        padding=padding),
    sentence="The mean of each window of an image (N, C, H, W); the padding counts as 0.",
    manual=Manual(
        "mean(unfold(x, kernel_size, stride, padding), (-2, -1))",
        "fold(g[..., None, None] * mask, x.shape, kernel_size, stride, padding)",
        ([[[[1.0, 3.0, 4.0, 6.0]]]], (1, 2), [[[[2.0, 5.0]]]]), **_POOLED, note=(
            "mask has the shape of a window and is 1 / (height · width) everywhere.")),
).register(), _pool)  # fmt: skip

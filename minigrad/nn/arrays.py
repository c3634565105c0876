"""Layers of arrays alone: convolution, pooling, embedding.

Images have the layout (N, C, H, W), as in PyTorch: examples, channels, height, width.

Read next: ``losses.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.nn.initializers import constant, draw
from minigrad.nn.inputs import array_input, check_mode, positive_int
from minigrad.nn.module import Module

if TYPE_CHECKING:
    Pair = int | tuple[int, int]

__all__ = ["Conv2d", "Embedding", "MaxPool2d"]


class Conv2d(Module):
    """Convolution of images with windows that are learned (a cross-correlation), plus a bias.

    Args:
        in_channels: C of the input.
        out_channels: C of the output: how many windows there are.
        kernel_size: Height and width of a window; a number for both.
        stride: By how many pixels a window moves on.
        padding: How many rows and columns of 0 are put around an image.
        bias: Whether each output channel adds a number of its own, 0 at the start.
        init: How weights start; see ``initializers.py``.
        mode: ``"array"``; on Values there is no convolution.
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        dtype: Of the arrays; float64 by default.
        name: What pictures call it.

    Shapes: (N, in_channels, H, W) → (N, out_channels, H', W') with
    H' = ⌊(H + 2·padding − kernel) / stride⌋ + 1; ``weight`` is (out, in, height, width).

    Raises:
        ArgumentValueError: if a number is out of range, or in scalar mode.
        ShapeError: when it is called, if the input is of another shape.

    Source: Y. LeCun et al., Gradient-based learning applied to document recognition, Proc. IEEE 86
    (1998); layout and names are PyTorch's.

    >>> import numpy as np
    >>> Conv2d(1, 4, kernel_size=3, padding=1)(np.zeros((2, 1, 8, 8))).shape
    (2, 4, 8, 8)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Pair,
        stride: Pair = 1,
        padding: Pair = 0,
        *,
        bias: bool = True,
        init: Any = "he_normal",
        mode: str = "array",
        rng: Any = None,
        dtype: Any = None,
        name: str | None = None,
    ) -> None:
        check_mode(mode, "Conv2d")
        n = positive_int(in_channels, "Conv2d(in_channels)")
        m = positive_int(out_channels, "Conv2d(out_channels)")
        size = kernel_size if isinstance(kernel_size, list | tuple) else (kernel_size, kernel_size)
        height, width = (positive_int(s, "Conv2d(kernel_size)") for s in size)
        self.stride, self.padding, self.name = stride, padding, name
        fans = (n * height * width, m * height * width)
        self.weight = draw((m, n, height, width), init, fans, rng, mode, dtype)
        self.bias = constant((m,), 0.0, mode, dtype) if bias else None

    def forward(self, x: Any) -> Any:
        """The windows at every place of the images."""
        from minigrad.ops.convolution import conv2d

        x = array_input(x, "Conv2d", self.weight.dtype)
        return conv2d(x, self.weight, self.bias, stride=self.stride, padding=self.padding)

    def _words(self) -> str:
        m, n, height, width = self.weight.shape
        return f"{n}, {m}, {(height, width)}, stride={self.stride}, padding={self.padding}"


class MaxPool2d(Module):
    """The largest number of each window of an image.

    Args:
        kernel_size: Height and width of a window; a number for both.
        stride: By how many pixels a window moves on; its size by default.
        padding: How many rows and columns of −∞ are put around an image.
        mode: ``"array"``; on Values there is no pooling.
        name: What pictures call it.

    Shapes: (N, C, H, W) → (N, C, H', W'), as in ``Conv2d``.

    Raises:
        ArgumentValueError: if a number is out of range, or in scalar mode.
        ShapeError: when it is called, if the input is of another shape.

    >>> import numpy as np
    >>> MaxPool2d(2)(np.arange(16.0).reshape(1, 1, 4, 4)).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """

    def __init__(
        self,
        kernel_size: Pair,
        stride: Pair | None = None,
        padding: Pair = 0,
        *,
        mode: str = "array",
        name: str | None = None,
    ) -> None:
        check_mode(mode, "MaxPool2d")
        for size in kernel_size if isinstance(kernel_size, list | tuple) else (kernel_size,):
            positive_int(size, "MaxPool2d(kernel_size)")
        self.kernel_size, self.stride, self.padding, self.name = kernel_size, stride, padding, name

    def forward(self, x: Any) -> Any:
        """The largest number of each window."""
        from minigrad.ops.convolution import max_pool2d

        x = array_input(x, "MaxPool2d")
        return max_pool2d(x, kernel_size=self.kernel_size, stride=self.stride, padding=self.padding)

    def _words(self) -> str:
        return str(self.kernel_size)


class Embedding(Module):
    """A vector that is learned for each of ``count`` things: y = weight[i].

    Args:
        count: How many things there are; they are counted from 0.
        size: The length of a vector.
        init: How weights start; see ``initializers.py``.
        mode: ``"array"``; on Values a list of lists does the same.
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        dtype: Of the arrays; float64 by default.
        name: What pictures call it.

    Shapes: whole numbers of any shape (…) → (…, size).

    Raises:
        ArgumentTypeError: when it is called with something else than whole numbers.
        ArgumentValueError: if a number is below 1, in scalar mode, or for an index out of range.

    >>> Embedding(5, 3)([1, 4, 1]).shape
    (3, 3)
    """

    def __init__(
        self,
        count: int,
        size: int,
        *,
        init: Any = "normal",
        mode: str = "array",
        rng: Any = None,
        dtype: Any = None,
        name: str | None = None,
    ) -> None:
        check_mode(mode, "Embedding")
        shape = positive_int(count, "Embedding(count)"), positive_int(size, "Embedding(size)")
        self.weight, self.name = draw(shape, init, shape, rng, mode, dtype), name

    def forward(self, indices: Any) -> Any:
        """weight[indices]."""
        import numpy as np

        places = np.asarray(getattr(indices, "_data", indices))
        if places.dtype.kind not in "iu":
            raise ArgumentTypeError(
                f"Embedding takes whole numbers, not {places.dtype}; .astype(int) makes some"
            )
        count = len(self.weight)
        if places.size and (places.min() < 0 or places.max() >= count):
            raise ArgumentValueError(
                f"Embedding({count}, …) has vectors 0 to {count - 1}, but the indices reach from "
                f"{places.min()} to {places.max()}"
            )
        return self.weight[places]

    def _words(self) -> str:
        return "{}, {}".format(*self.weight.shape)

"""Layers that keep numbers in bounds: ``Dropout``, ``LayerNorm``, ``BatchNorm``.

Read next: ``arrays.py``, the layers of arrays alone.
"""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.errors import ArgumentValueError, ShapeError
from minigrad.nn.initializers import constant
from minigrad.nn.inputs import array_input, check_mode, positive_int, scalar_input
from minigrad.nn.module import Module
from minigrad.ops import FUNCTIONS
from minigrad.randomness import generator

__all__ = ["BatchNorm", "Dropout", "LayerNorm"]


class Dropout(Module):
    """In training each number is 0 with probability p, the others are divided by 1 − p.

    So the expected value stays, and outside training (``model.eval()``) nothing happens.

    Args:
        p: The probability, from 0 to below 1.
        mode: ``"array"`` or ``"scalar"``.
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        name: What pictures call it.

    Raises:
        ArgumentValueError: if p is out of range.

    Source: N. Srivastava et al., Dropout: A simple way to prevent neural networks from
    overfitting, J. Mach. Learn. Res. 15 (2014), with the factor in training ("inverted").

    >>> layer = Dropout(0.5, mode="scalar", rng=1)
    >>> layer([1.0, 2.0, 3.0]), layer.eval()([1.0, 2.0, 3.0])
    ([0.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    """

    def __init__(
        self, p: float = 0.5, *, mode: str = "array", rng: Any = None, name: str | None = None
    ) -> None:
        if not (isinstance(p, int | float) and 0.0 <= p < 1.0):
            raise ArgumentValueError(f"Dropout(p={p!r}): it is a probability from 0 to below 1")
        self.p, self.mode, self.name = float(p), check_mode(mode), name
        source = generator(rng)
        self._rng = None if source is generator(None) else source  # Python's cannot be copied
        self._numbers: Any = None  # NumPy's source, which follows from ours

    def forward(self, x: Any) -> Any:
        """x times a mask of 0 and 1 / (1 − p)."""
        if self.mode == "scalar":
            xs = scalar_input(x, "Dropout")
            if not self.training or self.p == 0.0:
                return xs
            draw_one, factor = generator(self._rng).random, 1.0 / (1.0 - self.p)
            return [z * (factor if draw_one() >= self.p else 0.0) for z in xs]
        x = array_input(x, "Dropout")
        if not self.training or self.p == 0.0:
            return x
        import numpy as np

        if self._numbers is None:
            self._numbers = np.random.default_rng(generator(self._rng).getrandbits(64))
        mask = (self._numbers.random(x.shape) >= self.p) / (1.0 - self.p)
        return x * (mask.astype(x.dtype) if x.dtype.kind == "f" else mask)

    def _words(self) -> str:
        return f"p={self.p}"


class LayerNorm(Module):
    """Each example to mean 0 and variance 1, then weight and bias: (x − μ) / √(σ² + ε) · w + b.

    Args:
        size: The length of the last axis, over which mean and variance are taken.
        epsilon: ε, in units of the variance.
        mode: ``"array"`` or ``"scalar"``.
        dtype: Of the arrays; float64 by default.
        name: What pictures call it.

    Shapes: (…, size) → the same; in scalar mode a list of ``size`` numbers → a list.

    Raises:
        ArgumentValueError: if ``size`` is below 1.
        ShapeError: when it is called, if the input has another length.

    Source: J. Ba, J. Kiros, G. Hinton, Layer normalization, arXiv:1607.06450; σ² is divided by n.

    >>> [round(y.data, 3) for y in LayerNorm(2, mode="scalar")([1.0, 3.0])]
    [-1.0, 1.0]
    """

    def __init__(
        self,
        size: int,
        *,
        epsilon: float = 1e-5,
        mode: str = "array",
        dtype: Any = None,
        name: str | None = None,
    ) -> None:
        self.size, self.mode = positive_int(size, "LayerNorm(size)"), check_mode(mode)
        self.epsilon, self.name = epsilon, name
        self.weight = constant((self.size,), 1.0, mode, dtype)
        self.bias = constant((self.size,), 0.0, mode, dtype)

    def forward(self, x: Any) -> Any:
        """(x − μ) / √(σ² + ε) · weight + bias."""
        sqrt = FUNCTIONS["sqrt"]
        if self.mode == "scalar":
            total, xs = FUNCTIONS["sum"], scalar_input(x, "LayerNorm", self.size)
            mean = total(xs) / self.size
            centred = [z - mean for z in xs]
            scale = sqrt(total([c * c for c in centred]) / self.size + self.epsilon)
            return [
                c / scale * w + b for c, w, b in zip(centred, self.weight, self.bias, strict=True)
            ]
        from minigrad.tensor import ARRAY_FUNCTIONS

        x = array_input(x, "LayerNorm", self.weight.dtype)
        if not x.shape or x.shape[-1] != self.size:
            raise ShapeError(
                f"LayerNorm({self.size}) takes shape (…, {self.size}), but x has {x.shape}"
            )
        centred = x - ARRAY_FUNCTIONS["mean"](x, axis=-1, keepdims=True)
        variance = ARRAY_FUNCTIONS["var"](x, axis=-1, keepdims=True)
        return centred / sqrt(variance + self.epsilon) * self.weight + self.bias

    def _words(self) -> str:
        return str(self.size)


class BatchNorm(Module):
    """Each channel to mean 0 and variance 1 over the batch, then weight and bias.

    (x − μ) / √(σ² + ε) · w + b. In training μ and σ² are those of the batch, and running means of
    them are kept: r ← (1 − momentum) · r + momentum · of the batch. Outside training
    (``model.eval()``) μ and σ² are the running means.

    Args:
        channels: C, the length of axis 1.
        momentum: How fast the running means follow, above 0 and up to 1.
        epsilon: ε, in units of the variance.
        mode: ``"array"``; one example of Values is no batch.
        dtype: Of the arrays; float64 by default.
        name: What pictures call it.

    Shapes: (N, C) or (N, C, H, W) → the same.

    Raises:
        ArgumentValueError: if a number is out of range, in scalar mode, or when it is trained with
            one number per channel, of which there is no variance.
        ShapeError: when it is called, if axis 1 has another length.

    Source: S. Ioffe, C. Szegedy, Batch normalization, arXiv:1502.03167, algorithms 1 and 2: σ² is
    divided by n in training, and by n − 1 in the running mean.

    >>> import numpy as np
    >>> layer = BatchNorm(1)
    >>> layer(np.array([[1.0], [3.0]])).data.round(3).tolist(), layer.running_mean.tolist()
    ([[-1.0], [1.0]], [0.2])
    """

    buffers: ClassVar[tuple[str, ...]] = ("running_mean", "running_var")

    def __init__(
        self,
        channels: int,
        *,
        momentum: float = 0.1,
        epsilon: float = 1e-5,
        mode: str = "array",
        dtype: Any = None,
        name: str | None = None,
    ) -> None:
        check_mode(mode, "BatchNorm")
        self.channels = positive_int(channels, "BatchNorm(channels)")
        if not 0.0 < momentum <= 1.0:
            raise ArgumentValueError(f"momentum={momentum!r}: it is above 0 and up to 1")
        self.momentum, self.epsilon, self.name = momentum, epsilon, name
        self.weight = constant((self.channels,), 1.0, mode, dtype)
        self.bias = constant((self.channels,), 0.0, mode, dtype)
        self.running_mean, self.running_var = self.bias.numpy(), self.weight.numpy()

    def forward(self, x: Any) -> Any:
        """(x − μ) / √(σ² + ε) · weight + bias."""
        from minigrad.tensor import ARRAY_FUNCTIONS

        x = array_input(x, "BatchNorm", self.weight.dtype)
        if len(x.shape) < 2 or x.shape[1] != self.channels:
            raise ShapeError(
                f"BatchNorm({self.channels}) takes shape (N, {self.channels}, …), but x has "
                f"{x.shape}"
            )
        wide = (1, self.channels, *[1] * (len(x.shape) - 2))
        if self.training:
            count = self._count(x)
            axes = (0, *range(2, len(x.shape)))
            mean = ARRAY_FUNCTIONS["mean"](x, axis=axes, keepdims=True)
            variance = ARRAY_FUNCTIONS["var"](x, axis=axes, keepdims=True)
            self._follow(mean, variance, count)
        else:
            mean, variance = self.running_mean.reshape(wide), self.running_var.reshape(wide)
        scale = self.weight.reshape(wide) / FUNCTIONS["sqrt"](variance + self.epsilon)
        return (x - mean) * scale + self.bias.reshape(wide)

    def _count(self, x: Any) -> int:
        """How many numbers a channel has in this batch."""
        count: int = x.size // self.channels
        if count < 2:
            what = "only one number" if count else "no number"
            raise ArgumentValueError(
                f"BatchNorm({self.channels}) in training: x of shape {x.shape} has {what} for each "
                f"channel, which has no variance. Give a larger batch; if this is a short last "
                f"batch, batches(…, drop_last=True) leaves it out. Outside training "
                f"(model.eval()) one example is enough"
            )
        return count

    def _follow(self, mean: Any, variance: Any, count: int) -> None:
        for name, new, factor in (
            ("running_mean", mean, 1.0),
            ("running_var", variance, count / (count - 1)),
        ):
            old, new = getattr(self, name), getattr(new, "_data", new).reshape(-1)
            setattr(self, name, old + self.momentum * (new * factor - old))

    def _words(self) -> str:
        return str(self.channels)

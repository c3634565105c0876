"""``mg.nn``: layers and networks, on ``Value``s or on ``Tensor``s from one definition.

``mode="scalar"`` makes every weight a ``Value``: a neuron is one ``dot`` node plus its bias, and
the network takes one example at a time, as in the lecture. ``mode="array"``, the default, makes
every weight matrix a ``Tensor`` and takes batches. Both draw the same weights from the same seed.

    >>> from minigrad.nn import MLP
    >>> model = MLP(2, [16, 16], 1, mode="scalar", rng=1)
    >>> score = model([1.0, -2.0])
    >>> score.backward()
    >>> len(model.parameters())
    337

Read next: ``module.py``.
"""

from typing import TYPE_CHECKING, Any

from minigrad.elsewhere import PARTS, missing
from minigrad.nn.arrays import Conv2d, Embedding, MaxPool2d
from minigrad.nn.initializers import (
    he_normal,
    he_uniform,
    normal,
    uniform,
    xavier_normal,
    xavier_uniform,
)
from minigrad.nn.layers import MLP, Flatten, Linear, Sequential
from minigrad.nn.losses import bce_with_logits, cross_entropy, hinge_loss, mse_loss
from minigrad.nn.module import Module
from minigrad.nn.regularizing import BatchNorm, Dropout, LayerNorm

__all__ = [
    "BatchNorm", "Conv2d", "Dropout", "Embedding", "Flatten", "LayerNorm", "Linear", "MLP",
    "MaxPool2d", "Module", "Sequential", "bce_with_logits", "cross_entropy", "he_normal",
    "he_uniform", "hinge_loss", "mse_loss", "normal", "uniform", "xavier_normal", "xavier_uniform",
]  # fmt: skip

if not TYPE_CHECKING:  # who checks types is told of a name that is not there

    def __getattr__(name: str) -> Any:
        raise missing("minigrad.nn", name, PARTS)

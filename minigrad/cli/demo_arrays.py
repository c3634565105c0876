"""The network of the demo once more, with arrays: a layer is one product of matrices.

The same weights, points and steps, so the losses are the same; only the number of nodes is not.

Read next: ``demo.py``, the network as single numbers; ``../tensor/tensor.py``.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from minigrad.tensor import ARRAY_FUNCTIONS, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["train"]

mean = ARRAY_FUNCTIONS["mean"]


def train(
    weights: Sequence[tuple[list[list[float]], list[float]]],
    points: Sequence[tuple[float, float]],
    labels: Sequence[float],
    rates: Sequence[float],
) -> tuple[list[float], float]:
    """Train as the demo does.

    Args:
        weights: Per layer the weights of each neuron, and the biases.
        points: The inputs.
        labels: 1 or -1 for each point.
        rates: The learning rate of each step.

    Returns:
        The loss of each step, and the seconds that all steps took.
    """
    layers = [(Tensor(ws), Tensor(bs)) for ws, bs in weights]
    x, y = [list(point) for point in points], list(labels)
    inputs, signs = Tensor(x).data, Tensor(y).data
    losses = []
    start = time.perf_counter()
    for rate in rates:
        loss = _loss(layers, inputs, signs)
        for layer in layers:
            for p in layer:
                p.zero_grad()
        loss.backward()
        for layer in layers:
            for p in layer:
                p.data -= rate * p.grad
        losses.append(loss.item())
    return losses, time.perf_counter() - start


def _loss(layers: Sequence[tuple[Any, Any]], inputs: Any, signs: Any) -> Any:
    x = inputs
    for ws, bs in layers[:-1]:
        x = (x @ ws.T + bs).relu()
    ws, bs = layers[-1]
    scores = (x @ ws.T + bs).reshape(-1)
    penalty = sum((p * p).sum() for layer in layers for p in layer)
    return mean((1.0 - signs * scores).relu()) + 1e-4 * penalty

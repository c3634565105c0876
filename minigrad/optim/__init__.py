"""``mg.optim``: from gradients to better parameters.

An optimizer takes a step against the gradient, each class in its own published way. It works on
the parameters of both modes, ``Value`` and ``Tensor``, with the same formulas.

    >>> from minigrad import Value
    >>> from minigrad.optim import SGD
    >>> w = Value(1.0, name="w")
    >>> optimizer = SGD(learning_rate=0.1, params=[w])
    >>> for step in range(3):
    ...     loss = (w - 3.0) ** 2
    ...     optimizer.zero_grad()
    ...     loss.backward()
    ...     optimizer.step()
    >>> round(w.data, 3)
    1.976

Read next: ``rules.py``, the formulas.
"""

from minigrad.optim.clipping import clip_by_global_norm, clip_by_value, global_norm
from minigrad.optim.optimizer import Optimizer
from minigrad.optim.rules import SGD, Adam, AdamW, Momentum, Nesterov, RMSProp
from minigrad.optim.schedules import (
    constant,
    cosine_decay,
    exponential_decay,
    step_decay,
    warm_up,
)

__all__ = [
    "Adam", "AdamW", "Momentum", "Nesterov", "Optimizer", "RMSProp", "SGD", "clip_by_global_norm",
    "clip_by_value", "constant", "cosine_decay", "exponential_decay", "global_norm", "step_decay",
    "warm_up",
]  # fmt: skip

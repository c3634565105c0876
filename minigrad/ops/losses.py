"""Losses: one number that says how wrong predictions are, with a fused, stable derivative.

Predictions come first, targets second; ``reduction`` is ``"mean"`` (the default), ``"sum"`` or
``"none"``. Shapes are not broadcast: predictions (N, 1) against targets (N,) would silently
compare everything with everything, so it is an error.

Source: PyTorch's documentation of the functions of the same names; hinge loss after C. Cortes,
V. Vapnik, Support-vector networks, Machine Learning 20 (1995).

Read next: ``entropy.py``, the loss of a choice among classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.ops.arrays import Misfit, as_floats
from minigrad.ops.broadcasting import raw
from minigrad.ops.core import less, where
from minigrad.ops.formulas import compiled
from minigrad.ops.halves import HALF, halved, wide
from minigrad.ops.kinds import General, array_function
from minigrad.ops.labels import (
    LABELS,
    check_logits,
    in_array,
    no_number,
    numbers_of,
    odd_one,
)
from minigrad.ops.manual import Manual
from minigrad.ops.reduce import reduce_sum
from minigrad.ops.scalar import sigmoid
from minigrad.ops.terms import like, reduced, reduction_of, scaled

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["bce_with_logits", "hinge_loss", "mse_loss"]


_TARGETS = "What is right, an array or a list of the shape of the predictions, or one number"
_PAIR = {"predictions": "What was predicted, of any shape; no unit", "targets": _TARGETS}
_SHAPES = {"ShapeError": "if predictions and targets differ in shape"}


def _term_rule(g: Any, out: Any, x: Any, y: Any, **_: Any) -> Any:
    """What a term depends on: the elements in its place."""
    return g


def _same_shape(name: str, x: Any, y: Any) -> None:
    """Refuse predictions and targets of different shapes; a number as target fits all.

    Raises:
        Misfit: says which reshape would be right.
    """
    shape, other = (getattr(z, "shape", ()) for z in (x, y))  # arrays, or numbers
    if shape == other or other == ():
        return
    text = f"{name}: the shapes of {{0}}, {shape}, and of {{1}}, {other}, differ"
    if shape == (*other, 1):
        text += f". {{0}}[:, 0] has shape {other}" if len(shape) == 2 else ". Squeeze the last axis"
    elif other == (*shape, 1):
        text += ". {1}[:, 0] would fit" if len(other) == 2 else ". Squeeze the last axis"
    raise Misfit(text + ". Broadcasting here would compare every prediction with every target")


def _prepared(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Predictions and targets as the row takes them; targets are looked at.

    They are looked at if they are plain, or a leaf of labels.

    Raises:
        ArgumentTypeError: says the first that is no number.
        ArgumentValueError: says the first that the loss cannot use.
    """
    check_logits(name, x)
    y = in_array(name, x, y)
    numbers = numbers_of(y)
    if getattr(getattr(numbers, "dtype", None), "kind", "f") not in "fiub":
        raise no_number(name, odd_one(numbers))
    if name not in LABELS or not (hasattr(numbers, "dtype") or isinstance(numbers, int | float)):
        return x, y  # what else is no number is refused where it is recorded
    fits, error = LABELS[name]
    good = np.asarray(fits(numbers))
    if not good.all():
        raise error(np.asarray(numbers)[~good].flat[0].item())
    return x, y


def _loss(
    name: str, terms: Any, slopes: tuple[Any, Any], sentence: str, manual: Manual
) -> Callable[..., Any]:
    """A loss of two arrays of one shape, from its terms and their two derivatives."""

    def forward(m: Any, predictions: Any, targets: Any, *, reduction: str = "mean") -> Any:
        _same_shape(name, predictions, targets)
        x = as_floats(np.asarray(predictions))
        if x.dtype is HALF:
            return halved(forward(m, wide(x), targets, reduction=reduction))
        return reduced(terms(x, like(x, targets)), reduction)

    def rule(slope: Any) -> Any:
        on_arrays = compiled(slope)

        def vjp(g: Any, out: Any, x: Any, y: Any, *, reduction: str) -> Any:
            x, g = wide(x), wide(g)
            formula = on_arrays if not (hasattr(x, "_apply") or hasattr(y, "_apply")) else slope
            return scaled(g, reduction, np.size(raw(x))) * formula(x, like(x, y))

        return vjp

    def jvp(ts: Any, out: Any, x: Any, y: Any, *, reduction: str) -> Any:
        y = like(x, y)
        parts = [t * s(x, y) for t, s in zip(ts, slopes, strict=True) if t is not None]
        total = sum(parts[1:], start=parts[0])
        if reduction == "none":
            return total
        return scaled(reduce_sum(total), reduction, np.size(raw(x)))

    rules = [rule(slope) for slope in slopes]
    row = General(
        name, forward, rules, jvp=jvp, reach=[_term_rule] * 2, sentence=sentence, manual=manual
    )
    return array_function(row.register(), reduction_of, lambda x, y: _prepared(name, x, y))


mse_loss = _loss(
    "mse_loss", lambda x, y: (x - y) ** 2,
    (lambda x, y: 2.0 * (x - y), lambda x, y: 2.0 * (y - x)),
    "Mean squared error of predictions and targets of one shape.",
    Manual("mean((predictions - targets) ** 2)",
        {"predictions": "2 * g * (predictions - targets) / n",
            "targets": "2 * g * (targets - predictions) / n"},
        ([1.0, 2.0], [1.0, 4.0], 2.0), args=_PAIR, raises=_SHAPES),
)  # fmt: skip
bce_with_logits = _loss(
    "bce_with_logits",
    lambda x, y: np.maximum(x, 0.0) - x * y + np.log1p(np.exp(-np.abs(x))),
    (lambda x, y: sigmoid(x) - y, lambda x, y: -x),
    "Binary cross entropy of logits and targets in [0, 1], without overflow.",
    Manual("mean(softplus(predictions) - predictions * targets)",
        {"predictions": "g * (sigmoid(predictions) - targets) / n",
            "targets": "-g * predictions / n"},
        ([1000.0, 0.0], [0.0, 0.0], {"reduction": "none"}, [1000.0, 0.6931471805599453]),
        args={"predictions": "The logits, of any shape; no unit", "targets": _TARGETS},
        raises=_SHAPES),
)  # fmt: skip
hinge_loss = _loss(
    "hinge_loss", lambda x, y: np.maximum(1.0 - x * y, 0.0),
    (lambda x, y: -y * less(0.0, 1.0 - x * y),
        lambda x, y: where(less(0.0, 1.0 - x * y), -x, 0.0)),
    "max(0, 1 - score · target) with targets -1 and 1; slope 0 on the margin.",
    Manual("mean(relu(1 - predictions * targets))",
        {"predictions": "-g * targets * (predictions * targets < 1) / n",
            "targets": "-g * predictions * (predictions * targets < 1) / n"},
        ([0.5, -3.0], [1.0, 1.0], 2.25),
        args={"predictions": "The scores, of any shape; no unit", "targets": _TARGETS},
        raises=_SHAPES, source="C. Cortes, V. Vapnik, Machine Learning 20 (1995)"),
)  # fmt: skip

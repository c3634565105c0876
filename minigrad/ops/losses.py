"""Losses: one number that says how wrong predictions are, with a fused, stable derivative.

Predictions come first, targets second; ``reduction`` is ``"mean"`` (the default), ``"sum"`` or
``"none"``. Shapes are not broadcast: predictions (N, 1) against targets (N,) would silently
compare everything with everything, so it is an error.

Source: PyTorch's documentation of the functions of the same names; hinge loss after C. Cortes,
V. Vapnik, Support-vector networks, Machine Learning 20 (1995).

Read next: ``../tensor/tensor.py``, the numbers of all these rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.ops.arrays import Misfit, as_floats
from minigrad.ops.broadcasting import carries, raw, repeated
from minigrad.ops.core import less, where
from minigrad.ops.formulas import compiled
from minigrad.ops.kinds import General, array_function, evaluate_arrays
from minigrad.ops.labels import (
    LABELS,
    SLACK,
    check_logits,
    in_array,
    no_number,
    no_probability,
    not_a_probability,
    not_one,
    numbers_of,
    odd_one,
)
from minigrad.ops.manual import Manual, of_row
from minigrad.ops.reduce import reduce_sum
from minigrad.ops.scalar import sigmoid
from minigrad.ops.softmaxes import log_softmax, softmax

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["bce_with_logits", "cross_entropy", "hinge_loss", "mse_loss"]


_TARGETS = "What is right, an array or a list of the shape of the predictions, or one number"
_PAIR = {"predictions": "What was predicted, of any shape; no unit", "targets": _TARGETS}
_SHAPES = {"ShapeError": "if predictions and targets differ in shape"}


def _reduction(reduction: Any = "mean") -> dict[str, Any]:
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentValueError(f"reduction={reduction!r}: it is 'mean', 'sum' or 'none'")
    return {"reduction": reduction}


def _reduced(terms: Any, reduction: str) -> Any:
    if reduction == "none":
        return terms
    total = np.add.reduce(terms, axis=None)
    return total if reduction == "sum" else np.true_divide(total, terms.size)


def _scaled(g: Any, reduction: str, count: int) -> Any:
    """The gradient of each term, of a mean or sum of ``count`` of them."""
    return g / count if reduction == "mean" else g


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


def _like(x: Any, y: Any) -> Any:
    """Targets in the type of the predictions, which they must not widen."""
    if y.__class__ is np.ndarray and y.dtype is getattr(x, "dtype", None):
        return y
    if not carries(y):
        y = raw(y)
    kind, other = getattr(x, "dtype", None), getattr(y, "dtype", None)
    if kind is None or other is None or kind == other or kind.kind != "f":
        return y
    return y.astype(kind)


def _loss(
    name: str, terms: Any, slopes: tuple[Any, Any], sentence: str, manual: Manual
) -> Callable[..., Any]:
    """A loss of two arrays of one shape, from its terms and their two derivatives."""

    def forward(m: Any, predictions: Any, targets: Any, *, reduction: str = "mean") -> Any:
        _same_shape(name, predictions, targets)
        x = as_floats(np.asarray(predictions))
        return _reduced(terms(x, _like(x, targets)), reduction)

    def rule(slope: Any) -> Any:
        on_arrays = compiled(slope)

        def vjp(g: Any, out: Any, x: Any, y: Any, *, reduction: str) -> Any:
            formula = on_arrays if not (hasattr(x, "_apply") or hasattr(y, "_apply")) else slope
            return _scaled(g, reduction, np.size(raw(x))) * formula(x, _like(x, y))

        return vjp

    def jvp(ts: Any, out: Any, x: Any, y: Any, *, reduction: str) -> Any:
        y = _like(x, y)
        parts = [t * s(x, y) for t, s in zip(ts, slopes, strict=True) if t is not None]
        total = sum(parts[1:], start=parts[0])
        if reduction == "none":
            return total
        return _scaled(reduce_sum(total), reduction, np.size(raw(x)))

    rules = [rule(slope) for slope in slopes]
    row = General(
        name, forward, rules, jvp=jvp, reach=[_term_rule] * 2, sentence=sentence, manual=manual
    )
    return array_function(row.register(), _reduction, lambda x, y: _prepared(name, x, y))


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


# -- cross entropy -------------------------------------------------------------------------------


def _class_axis(x: Any) -> int:
    return 1 if len(x.shape) > 1 else 0


def _picked(target: Any, axis: int) -> Any:
    """The index of the element that each target names."""
    if target.ndim == 1 and axis == 1:
        return np.arange(len(target)), target
    grid = list(np.ogrid[tuple(slice(n) for n in target.shape)])
    return (*grid[:axis], target, *grid[axis:])


def _one_hot(target: Any, x: Any) -> Any:
    """The targets as probabilities, which are the gradient of the picked elements."""
    target = _whole(raw(target))
    if not _by_index(target, raw(x)):
        return target
    hot = np.zeros(x.shape, raw(x).dtype)
    hot[_picked(np.asarray(target), _class_axis(x))] = 1.0
    return hot


def _by_index(target: Any, x: Any) -> bool:
    """Whether the targets are class indices, and not probabilities of the shape of the logits."""
    return bool(np.shape(target) != np.shape(x))


def _whole(target: Any) -> Any:
    """A single class index, which the record keeps as a float, as an int again; none as ints."""
    if target.__class__ is np.ndarray and not target.size:
        return target.astype(int)
    return int(target) if isinstance(target, float) and target.is_integer() else target


def _check_axis(x: Any) -> None:
    if not np.ndim(x):
        raise Misfit("cross_entropy: {0} need an axis of classes, as in (N, C), but have no axes")
    if not x.shape[_class_axis(x)]:
        raise Misfit(f"cross_entropy: {{0}} of shape {x.shape} have no classes to choose from")


_TWO = "; for two classes with one number each there is bce_with_logits"


def _check_classes(target: Any, x: Any) -> None:
    axis = _class_axis(x)
    expected = x.shape[:axis] + x.shape[axis + 1 :]
    if np.shape(target) != expected:
        text = f"cross_entropy: {{0}} of shape {x.shape} need class indices of shape {expected}"
        text += f" or probabilities of shape {x.shape}, but {{1}} have {np.shape(target)}"
        if np.shape(target) == (*expected, 1):
            text += "; {1}[:, 0] would fit"
        raise Misfit(text)
    if not np.size(target):
        return
    if np.asarray(target).dtype.kind not in "iu":
        raise ArgumentTypeError(
            f"cross_entropy: class indices are ints, not {np.asarray(target).dtype}; "
            f"targets.astype(int) converts"
        )
    least, most = np.minimum.reduce(target, axis=None), np.maximum.reduce(target, axis=None)
    if least < 0 or most >= x.shape[axis]:
        raise ArgumentValueError(
            f"cross_entropy: the logits have {x.shape[axis]} classes, counted from 0, but the "
            f"targets reach from {least} to {most}" + _TWO * (x.shape[axis] == 1)
        )


def _log_weights(x: Any, axis: int) -> Any:
    low = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    low -= np.log(np.add.reduce(np.exp(low), axis=axis, keepdims=True))
    return low


def _check_probabilities(x: Any, target: Any) -> None:
    """Look at targets in the shape of the predictions that are plain, or a leaf of whole numbers.

    Raises:
        ArgumentValueError: if they are no probabilities that add up to 1.
    """
    numbers = numbers_of(target)
    if getattr(numbers, "dtype", np.dtype(float)).kind not in "fiub":
        raise no_number("cross_entropy", odd_one(numbers))
    if not np.size(numbers) or np.shape(numbers) != np.shape(raw(x)):
        return
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        bad = next(p for p in numbers.flat if not_a_probability(p))
        raise no_probability(bad.item())
    axis = _class_axis(numbers)
    totals = np.asarray(numbers.sum(axis=axis, dtype=float))
    bad = np.argwhere(np.abs(totals - 1.0) > SLACK)
    if len(bad):
        place = tuple(bad[0].tolist())
        raise not_one(
            round(float(totals[place]), 6), f"those of example {place[0]}" if place else "these",
            f"targets / targets.sum(axis={axis}, keepdims=True)", numbers.dtype.kind != "f",
        )  # fmt: skip


def _cross_entropy(x: Any, target: Any, reduction: str) -> Any:
    x = as_floats(x)
    _check_axis(x)
    if not _by_index(target, x):
        target = _like(x, target)
        products = np.where(target == 0.0, 0.0, _log_weights(x, _class_axis(x)) * target)
        terms = -np.add.reduce(products, axis=_class_axis(x))
    else:
        target = _whole(target)
        _check_classes(target, x)
        axis = _class_axis(x)
        low = x - np.maximum.reduce(x, axis=axis, keepdims=True)
        whole = np.log(np.add.reduce(np.exp(low), axis=axis))
        terms = np.asarray(whole - low[_picked(np.asarray(target), axis)])
    return _reduced(terms, reduction)


def _terms_count(x: Any) -> int:
    return int(np.size(raw(x)) // (x.shape[_class_axis(x)] or 1))


def _spread(g: Any, x: Any, reduction: str) -> Any:
    """The gradient of each term, with an axis for the classes."""
    g = _scaled(g, reduction, _terms_count(x))
    if not g.shape:
        return g
    axis = _class_axis(x)
    return g.reshape((*g.shape[:axis], 1, *g.shape[axis:]))


def _class_rule(g: Any, out: Any, x: Any, target: Any, *, reduction: str) -> Any:
    """What a term depends on: all logits of its sample."""
    return repeated(_spread(g, x, reduction), x.shape)


def _logits_rule(g: Any, out: Any, x: Any, target: Any, *, reduction: str) -> Any:
    if reduction != "none" and x.__class__ is np.ndarray and x.shape != np.shape(target):
        # the formula below in place, on numbers: no array of zeros and ones
        axis = _class_axis(x)
        weights = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
        weights /= np.add.reduce(weights, axis=axis, keepdims=True)
        weights[_picked(np.asarray(_whole(target)), axis)] -= 1.0
        weights *= _scaled(g, reduction, _terms_count(x))
        return weights
    if by_index := _by_index(raw(target), raw(x)):
        hot = _one_hot(target, x)
    else:
        hot = target = _like(x, target)
    weights = softmax(x, axis=_class_axis(x))
    if by_index:  # probabilities add up to 1 by definition, a node's might not
        return (weights - hot) * _spread(g, x, reduction)
    whole = reduce_sum(target, axis=_class_axis(x), keepdims=True)
    return (weights * whole - target) * _spread(g, x, reduction)


def _target_rule(g: Any, out: Any, x: Any, target: Any, *, reduction: str) -> Any:
    return -log_softmax(x, axis=_class_axis(x)) * _spread(g, x, reduction)


def _cross_entropy_jvp(ts: Any, out: Any, x: Any, target: Any, *, reduction: str) -> Any:
    axis, one, total = _class_axis(x), np.ones(()), None
    for t, rule in zip(ts, (_logits_rule, _target_rule), strict=True):
        if t is not None:
            term = reduce_sum(t * rule(one, out, x, target, reduction="sum"), axis=axis)
            total = term if total is None else total + term
    if reduction == "none":
        return total
    return _scaled(reduce_sum(total), reduction, _terms_count(x))


_CROSS_ENTROPY = General(
    "cross_entropy",
    lambda m, predictions, targets, *, reduction="mean": (
        _cross_entropy(predictions, targets, reduction)),
    [_logits_rule, _target_rule], jvp=_cross_entropy_jvp, reach=[_class_rule] * 2,
    sentence="-log softmax(x) at the target: class indices (N,) or probabilities (N, C).",
    manual=Manual("-mean(sum(t * log_softmax(x, c), c))",
        {"x": "g * (softmax(x, c) * sum(t, c, keepdims=True) - t) / n",
            "target": "-g * log_softmax(x, c) / n"},
        ([[1000.0, 0.0], [0.0, 0.0]], [0, 1], {"reduction": "sum"}, 0.6931471805599453),
        args={"x": "The logits, shape (N, C) or (N, C, …), or (C,) of a single sample; no unit",
            "target": "Class indices from 0, ints of shape (N,) or (N, …); or the probabilities of "
            "the classes, of the shape of x"},
        note="c is the axis of the classes, which g has here with length 1; t is target as "
        "probabilities, 1 at the class of a sample. Class indices get no gradient.",
        raises={"ShapeError": "if the shapes do not fit together",
            "ArgumentTypeError": "if class indices are no ints",
            "ArgumentValueError": "if there is no such class"}),
).register()  # fmt: skip


@of_row(_CROSS_ENTROPY)
def cross_entropy(x: Any, target: Any, *, reduction: str = "mean") -> Any:
    """-log softmax(x) at the targets: class indices (N,), or probabilities of the shape of x."""
    check_logits("cross_entropy", x)
    target = in_array("cross_entropy", x, target)
    if hasattr(target, "shape"):
        _check_probabilities(x, target)
    row = _CROSS_ENTROPY.cached(**_reduction(reduction))
    return evaluate_arrays(row, (x, target))

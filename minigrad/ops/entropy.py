"""Cross entropy: the loss of a choice among classes, from logits, without overflow.

The targets are class indices, or probabilities of the shape of the logits.

Source: PyTorch's documentation of the function of the same name.

Read next: ``../tensor/tensor.py``, the numbers of all these rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.ops.arrays import Misfit, as_floats
from minigrad.ops.broadcasting import raw, repeated
from minigrad.ops.halves import HALF, halved, wide
from minigrad.ops.kinds import General, evaluate_arrays
from minigrad.ops.labels import (
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
from minigrad.ops.softmaxes import log_softmax, softmax
from minigrad.ops.terms import like, reduced, reduction_of, scaled

__all__ = ["cross_entropy"]


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
    return bool(getattr(target, "shape", ()) != x.shape)


def _whole(target: Any) -> Any:
    """A single class index, which the record keeps as a float, as an int again; none as ints."""
    if target.__class__ is np.ndarray and not target.size:
        return target.astype(int)
    return int(target) if isinstance(target, float) and target.is_integer() else target


def _check_axis(x: Any) -> None:
    if not getattr(x, "shape", ()):
        raise Misfit("cross_entropy: {0} need an axis of classes, as in (N, C), but have no axes")
    if not x.shape[_class_axis(x)]:
        raise Misfit(f"cross_entropy: {{0}} of shape {x.shape} have no classes to choose from")


_TWO = "; for two classes with one number each there is bce_with_logits"


def _check_classes(target: Any, x: Any) -> None:
    axis = _class_axis(x)
    expected = x.shape[:axis] + x.shape[axis + 1 :]
    target = np.asarray(target)
    if target.shape != expected:
        text = f"cross_entropy: {{0}} of shape {x.shape} need class indices of shape {expected}"
        text += f" or probabilities of shape {x.shape}, but {{1}} have {target.shape}"
        if target.shape == (*expected, 1):
            text += "; {1}[:, 0] would fit"
        raise Misfit(text)
    if not target.size:
        return
    if target.dtype.kind not in "iu":
        raise ArgumentTypeError(
            f"cross_entropy: class indices are ints, not {target.dtype}; "
            f"targets.astype(int) converts an array, [int(y) for y in targets] a list"
        )
    if np.minimum.reduce(target, axis=None) < 0:  # one that is too large is no index
        raise _no_class(target, x.shape[axis])


def _no_class(target: Any, classes: int) -> ArgumentValueError:
    return ArgumentValueError(
        f"cross_entropy: the logits have {classes} classes, counted from 0, but the targets reach "
        f"from {np.min(target)} to {np.max(target)}" + _TWO * (classes == 1)
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
    if numbers is None:
        return
    if numbers.dtype.kind not in "fiub":
        raise no_number("cross_entropy", odd_one(numbers))
    if not numbers.size or numbers.shape != getattr(x, "shape", ()):
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
    if getattr(x, "dtype", None) is HALF:
        return halved(_cross_entropy(wide(x), target, reduction))
    _check_axis(x)
    if not _by_index(target, x):
        target = like(x, target)
        products = np.where(target == 0.0, 0.0, _log_weights(x, _class_axis(x)) * target)
        terms = -np.add.reduce(products, axis=_class_axis(x))
    else:
        target = _whole(target)
        _check_classes(target, x)
        axis = _class_axis(x)
        low = x - np.maximum.reduce(x, axis=axis, keepdims=True)
        whole = np.log(np.add.reduce(np.exp(low), axis=axis))
        try:
            picked = low[_picked(np.asarray(target), axis)]
        except IndexError:
            raise _no_class(target, x.shape[axis]) from None
        terms = np.asarray(whole - picked)
    return reduced(terms, reduction)


def _terms_count(x: Any) -> int:
    return int(np.size(raw(x)) // (x.shape[_class_axis(x)] or 1))


def _spread(g: Any, x: Any, reduction: str) -> Any:
    """The gradient of each term, with an axis for the classes."""
    g = scaled(g, reduction, _terms_count(x))
    if not g.shape:
        return g
    axis = _class_axis(x)
    return g.reshape((*g.shape[:axis], 1, *g.shape[axis:]))


def _class_rule(g: Any, out: Any, x: Any, target: Any, *, reduction: str) -> Any:
    """What a term depends on: all logits of its sample."""
    return repeated(_spread(g, x, reduction), x.shape)


def _logits_rule(g: Any, out: Any, x: Any, target: Any, *, reduction: str) -> Any:
    x, g = wide(x), wide(g)
    if reduction != "none" and x.__class__ is np.ndarray and x.shape != np.shape(target):
        # the formula below in place, on numbers: no array of zeros and ones
        axis = _class_axis(x)
        weights = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
        weights /= np.add.reduce(weights, axis=axis, keepdims=True)
        weights[_picked(np.asarray(_whole(target)), axis)] -= 1.0
        weights *= scaled(g, reduction, _terms_count(x))
        return weights
    if by_index := _by_index(raw(target), raw(x)):
        hot = _one_hot(target, x)
    else:
        hot = target = like(x, target)
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
    return scaled(reduce_sum(total), reduction, _terms_count(x))


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
_ROWS = {word: _CROSS_ENTROPY.cached(reduction=word) for word in ("mean", "sum", "none")}


@of_row(_CROSS_ENTROPY)
def cross_entropy(x: Any, target: Any, *, reduction: str = "mean") -> Any:
    """-log softmax(x) at the targets: class indices (N,), or probabilities of the shape of x."""
    check_logits("cross_entropy", x)
    target = in_array("cross_entropy", x, target)
    if hasattr(target, "shape"):
        _check_probabilities(x, target)
    row = _ROWS[reduction_of(reduction)["reduction"]]
    return evaluate_arrays(row, (x, target))

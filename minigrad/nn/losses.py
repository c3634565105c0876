"""Losses for both modes: of Tensors the functions of the same names, of Values their formulas.

Predictions come first, targets second. A list of predictions may hold Values, one per example, or
lists of Values, one per example and class. As for arrays, shapes must be equal.

Read next: ``../training/loop.py``.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.graph import Node
from minigrad.nn.activations import log_softmax
from minigrad.nn.entries import shape_of
from minigrad.ops import FUNCTIONS
from minigrad.ops.evaluate import as_number
from minigrad.ops.labels import (
    SLACK,
    check_logits,
    check_numbers,
    first,
    no_number,
    no_probability,
    not_a_probability,
    not_one,
    numbers_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["bce_with_logits", "cross_entropy", "hinge_loss", "mse_loss"]


def mse_loss(predictions: Any, targets: Any, *, reduction: str = "mean") -> Any:
    """Mean of (prediction − target)².

    Args:
        predictions: A Tensor; or a Value, a list of Values, or lists of lists.
        targets: Numbers of the same shape.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        A node; with ``"none"`` nodes in the shape of the predictions.

    Raises:
        ShapeError: if the shapes differ.

    >>> from minigrad import Value
    >>> mse_loss([Value(1.0), Value(3.0)], [0.0, 3.0]).data
    0.5
    """
    return _loss("mse_loss", lambda x, y: (x - y) ** 2.0, predictions, targets, reduction)


def bce_with_logits(predictions: Any, targets: Any, *, reduction: str = "mean") -> Any:
    """Mean of −y·log σ(x) − (1 − y)·log(1 − σ(x)), for logits x and targets y in [0, 1].

    Args:
        predictions: A Tensor; or a Value, a list of Values, or lists of lists.
        targets: Numbers from 0 to 1 of the same shape.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        A node; with ``"none"`` nodes in the shape of the predictions.

    Raises:
        ArgumentValueError: if a target is another number; what is computed is taken as it is.
        ShapeError: if the shapes differ.

    >>> from minigrad import Value
    >>> round(bce_with_logits([Value(0.0), Value(1000.0)], [1, 1]).data, 6)
    0.346574
    """
    softplus = FUNCTIONS["softplus"]
    return _loss(
        "bce_with_logits", lambda x, y: softplus(x) - x * y, predictions, targets, reduction
    )


def hinge_loss(predictions: Any, targets: Any, *, reduction: str = "mean") -> Any:
    """Mean of max(0, 1 − prediction · target), for targets −1 and 1.

    Args:
        predictions: A Tensor; or a Value, a list of Values, or lists of lists.
        targets: −1 or 1, of the same shape.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        A node; with ``"none"`` nodes in the shape of the predictions.

    Raises:
        ArgumentValueError: if a target is another number; what is computed is taken as it is.
        ShapeError: if the shapes differ.

    >>> from minigrad import Value
    >>> hinge_loss([Value(0.5), Value(-3.0)], [1, -1]).data
    0.25
    """
    relu = FUNCTIONS["relu"]
    return _loss("hinge_loss", lambda x, y: relu(1.0 - x * y), predictions, targets, reduction)


def cross_entropy(predictions: Any, targets: Any, *, reduction: str = "mean") -> Any:
    """Mean of −log softmax(x)ₖ, for logits x and the index k of the right class.

    Args:
        predictions: A Tensor (N, C) or (C,); or a list of C Values, or a list of such lists.
        targets: Class indices, one per example; or probabilities in the shape of the predictions.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        A node; with ``"none"`` a node per example.

    Raises:
        ArgumentTypeError: if class indices are no whole numbers.
        ArgumentValueError: if a class index is out of range, or probabilities are negative or do
            not add up to 1; what is computed is taken as it is.
        ShapeError: if the shapes do not fit.

    >>> from minigrad import Value
    >>> round(cross_entropy([[Value(0.0), Value(0.0)]], [1]).data, 6)
    0.693147
    """
    if not _of_values("cross_entropy", predictions):
        from minigrad.ops.entropy import cross_entropy as of_arrays

        return of_arrays(predictions, targets, reduction=reduction)
    shape, other = shape_of(predictions), shape_of(targets)
    if shape is None or not shape or len(shape) > 2 or other not in (shape, shape[:-1]):
        raise ShapeError(
            f"cross_entropy: predictions of shape {shape} need class indices of shape "
            f"{shape[:-1] if shape else '(N,)'}, or probabilities of the same shape, not {other}"
        )
    targets = targets.tolist() if hasattr(targets, "tolist") else targets
    if len(shape) == 1:
        predictions, targets = [predictions], [targets]
    terms = [_cross_entropy(xs, y) for xs, y in zip(predictions, targets, strict=True)]
    return _reduced("cross_entropy", terms if len(shape) == 2 else terms[0], reduction)


def _cross_entropy(xs: list[Any], target: Any) -> Any:
    logs = log_softmax(xs)
    if shape_of(target):
        _check_probabilities(target)
        return -FUNCTIONS["sum"]([p * z for p, z in zip(target, logs, strict=True)])
    if isinstance(target, bool) or not hasattr(target, "__index__"):
        if as_number(target) is None and not isinstance(target, Node):
            raise no_number("cross_entropy", target)
        raise ArgumentTypeError(
            f"cross_entropy: class indices are ints, not {target!r}; int(y) converts"
        )
    if not 0 <= target < len(logs):
        raise ArgumentValueError(
            f"cross_entropy: there are {len(logs)} classes, counted from 0, but a target is "
            f"{target!r}"
        )
    return -logs[int(target)]


def _check_probabilities(targets: Any) -> None:
    numbers = [numbers_of(p) for p in targets]
    if None in numbers:
        return  # one of them is computed, or learned
    for number in numbers:
        if not_a_probability(number):
            raise no_probability(number)
    total = fsum(numbers)
    if abs(total - 1.0) > SLACK:
        whole = all(isinstance(number, int) for number in numbers)
        raise not_one(round(total, 6), "those of one example", "[p / sum(ps) for p in ps]", whole)


def _of_values(name: str, predictions: Any) -> bool:
    """Whether this is for the formulas of this file: a Value, or lists of Values."""
    if hasattr(predictions, "shape"):
        return False
    part = predictions
    while isinstance(part, list | tuple) and part:
        part = part[0]
    if not isinstance(part, Node) or hasattr(part, "shape"):
        raise ArgumentTypeError(
            f"{name}: the predictions are a Tensor, a Value or a list of Values, not "
            f"{predictions!r}"
        )
    return True


def _loss(
    name: str, term: Callable[[Any, Any], Any], predictions: Any, targets: Any, reduction: str
) -> Any:
    if not _of_values(name, predictions):
        from minigrad.ops import losses

        return getattr(losses, name)(predictions, targets, reduction=reduction)
    check_logits(name, first(predictions))
    shape, other = shape_of(predictions), shape_of(targets)
    if shape is None or shape != other:
        text = f"{name}: predictions have shape {shape}, targets {other}; they must be equal"
        if shape is not None and shape == (*(other or ()), 1):
            text += ". [p for (p,) in predictions] would fit"
        elif shape is not None and other == (*shape, 1):
            text += ". [y for (y,) in targets] would fit"
        raise ShapeError(text)
    targets = targets.tolist() if hasattr(targets, "tolist") else targets
    check_numbers(name, targets)
    return _reduced(name, _each(term, predictions, targets), reduction)


def _each(term: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    if isinstance(x, list | tuple):
        return [_each(term, a, b) for a, b in zip(x, y, strict=True)]
    return term(x, y)


def _reduced(name: str, terms: Any, reduction: str) -> Any:
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentValueError(f"reduction={reduction!r}: it is 'mean', 'sum' or 'none'")
    if reduction == "none" or not isinstance(terms, list):
        return terms
    flat = [t for part in terms for t in (part if isinstance(part, list) else [part])]
    total = FUNCTIONS["sum"](flat)
    return total if reduction == "sum" else total / len(flat)

"""What targets of losses may be, and what is said of those that may not.

A loss of wrong targets is a number like any other, and a training on it teaches something else
without a word. So targets are looked at, once for each loss; those that are computed, or learned
themselves, are taken as they are.

Read next: ``terms.py``, ``losses.py``.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from minigrad import source
from minigrad.errors import ArgumentTypeError, ArgumentValueError, LogitsWarning, ShapeError
from minigrad.graph import Node
from minigrad.ops.evaluate import as_number, brief

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "LABELS", "SLACK", "check_logits", "check_numbers", "first", "in_array", "no_number",
    "no_probability", "not_a_probability", "not_one", "numbers_of", "odd_one",
]  # fmt: skip

SLACK = 0.02  # probabilities are often written with two digits: 0.33 three times is meant as 1


def numbers_of(targets: Any) -> Any:
    """The numbers of targets that are to be checked; None if they are computed, or learned.

    A leaf of whole numbers is taken for labels, any other node for something with a gradient.
    """
    if not isinstance(targets, Node):
        return targets
    numbers: Any = targets._data
    if hasattr(numbers, "shape"):
        if numbers.dtype.kind != "f" or (targets.op is None and not (numbers % 1.0).any()):
            return numbers
        return None
    return numbers if targets.op is None and numbers % 1.0 == 0.0 else None


def in_array(name: str, predictions: Any, targets: Any) -> Any:
    """The targets of a loss of arrays: a list as an array, anything else as it is.

    Raises:
        ArgumentTypeError: for lists of nodes, in the predictions as well.
        ShapeError: if lists inside the list have different lengths.
    """
    if isinstance(predictions, list | tuple) and isinstance(first(predictions), Node):
        raise ArgumentTypeError(
            f"{name}: the predictions are {brief(predictions)}; mg.nn.{name} takes lists of "
            f"Values, and stack_values([...]) makes a Tensor of them"
        )
    if not isinstance(targets, list | tuple):
        return targets
    if isinstance(node := first(targets), Node):
        join = "stack" if hasattr(node, "shape") else "stack_values"
        raise ArgumentTypeError(
            f"{name}: the targets are {brief(targets)}; {join}([...]) makes a Tensor of them"
        )
    import numpy as np

    try:
        return np.asarray(targets)
    except ValueError:
        raise ShapeError(
            f"{name}: the lists in the targets have different lengths, so they make no array"
        ) from None


def first(data: Any) -> Any:
    """The first thing in nested lists."""
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return data


def odd_one(numbers: Any) -> Any:
    """What is no number in an array of anything; its first element if they all look like some."""
    return next((part for part in numbers.flat if as_number(part) is None), numbers.flat[0])


_SQUASHED = {"cross_entropy": "softmax", "bce_with_logits": "sigmoid"}


def check_logits(name: str, predictions: Any) -> None:
    """Warn where the function that a loss applies itself was applied already."""
    row = getattr(predictions, "_row", None)
    if row is not None and row.name == _SQUASHED.get(name):
        source.warn(
            LogitsWarning,
            f"{name} takes logits and applies {row.name} itself, but the predictions are a "
            f"{row.name} already; leave that one out",
        )


def check_numbers(name: str, targets: Any) -> None:
    """Look at the targets of a loss of Values: a number, a node, or nested lists of them.

    Raises:
        ArgumentTypeError: says the first that is no number.
        ArgumentValueError: says the first that the loss cannot use.
    """
    if isinstance(targets, list | tuple):
        for part in targets:
            check_numbers(name, part)
        return
    number = numbers_of(targets)
    if number is None and isinstance(targets, Node):
        return  # computed, or learned
    if as_number(number) is None:
        raise no_number(name, targets)
    if name in LABELS:
        fits, error = LABELS[name]
        if not fits(number):
            raise error(number)


def no_number(name: str, label: Any) -> ArgumentTypeError:
    """The error for a target that is no number."""
    if isinstance(label, str):
        label = str(label)  # NumPy's is shown as np.str_
    text = f"{name}: targets are numbers, but one is {label!r}"
    if isinstance(label, str):
        text += "; number the classes from 0, such as classes.index(label)"
    return ArgumentTypeError(text)


def _not_between(label: Any) -> ArgumentValueError:
    text = f"bce_with_logits: targets lie between 0 and 1, but one is {label!r}"
    if label == -1:
        text += "; (y + 1) / 2 makes 0 and 1 of labels -1 and 1"
    elif label > 1 and label % 1 == 0:
        text += "; for more than two classes there is cross_entropy"
    return ArgumentValueError(text)


def _not_a_sign(label: Any) -> ArgumentValueError:
    text = f"hinge_loss: targets are -1 or 1, but one is {label!r}"
    return ArgumentValueError(text + "; 2 * y - 1 makes them of labels 0 and 1" * (label == 0))


# What a loss asks of a number (or an array of them), and the error for one that is otherwise.
LABELS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], ArgumentValueError]]] = {
    "bce_with_logits": (lambda y: (y >= 0.0) & (y <= 1.0), _not_between),
    "hinge_loss": (lambda y: abs(y) == 1.0, _not_a_sign),
}


def not_a_probability(number: Any) -> bool:
    """Whether a number is negative, nan or infinite."""
    return not (isfinite(number) and number >= 0.0)


def no_probability(number: Any) -> ArgumentValueError:
    """The error for such a number."""
    return ArgumentValueError(
        f"cross_entropy: targets in the shape of the predictions are probabilities, but one is "
        f"{number!r}"
    )


def not_one(total: Any, place: str, fix: str, whole: bool) -> ArgumentValueError:
    """The error for probabilities that do not add up to 1.

    Args:
        total: What they add up to.
        place: Which ones.
        fix: What makes probabilities of them.
        whole: Whether they are ints, which may be meant as the indices of classes.
    """
    text = (
        f"cross_entropy: targets in the shape of the predictions are probabilities, which add up "
        f"to 1, but {place} add up to {total!r}"
    )
    if whole:
        return ArgumentValueError(
            f"{text}; class indices need predictions with an axis of classes, (N, C), and for two "
            f"classes with one number each there is bce_with_logits"
        )
    return ArgumentValueError(f"{text}; {fix} would")

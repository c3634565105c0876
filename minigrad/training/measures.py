"""Losses and metrics by name, and the shapes in which a model and its targets meet.

Read next: ``loop.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.graph import Node
from minigrad.nn import losses
from minigrad.nn.entries import shape_of
from minigrad.ops.evaluate import brief
from minigrad.training.history import History

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Measure = Callable[[Any, Any], Any]

__all__ = [
    "accuracy",
    "classifies",
    "flat",
    "loss_function",
    "metric_functions",
    "outputs_of",
    "plain",
]

_LOSSES = {
    "bce": losses.bce_with_logits, "bce_with_logits": losses.bce_with_logits,
    "cross_entropy": losses.cross_entropy, "hinge": losses.hinge_loss,
    "hinge_loss": losses.hinge_loss, "mse": losses.mse_loss, "mse_loss": losses.mse_loss,
}  # fmt: skip

_EMPTY = History("learning_rate", "seconds")  # the names that are taken


def loss_function(loss: Any) -> Measure:
    """A loss by name, or the function itself.

    Raises:
        ArgumentTypeError: if it is neither.
        ArgumentValueError: if the name is not known.
    """
    if isinstance(loss, str):
        if loss not in _LOSSES:
            raise ArgumentValueError(
                f"loss={loss!r}: it is a function (predictions, targets) → node, or one of "
                f"{', '.join(_LOSSES)}"
            )
        found = _LOSSES[loss]
        return found if loss == "cross_entropy" else _one_per_example(found)
    if not callable(loss):
        hint = ""
        if isinstance(loss, list | tuple) or hasattr(loss, "shape"):
            hint = (
                "; points and labels are one argument, a tuple: "
                "fit(model, (points, labels), loss, optimizer)"
            )
        elif hasattr(loss, "apply_gradients"):
            hint = "; the optimizer comes after the loss"
        raise ArgumentTypeError(f"loss={brief(loss)}: it is a function, or the name of one{hint}")
    return loss  # type: ignore[no-any-return]


def classifies(loss: Any) -> bool:
    """Whether a loss is one for classes, so that accuracy means something."""
    return isinstance(loss, str) and not loss.startswith("mse")


def _one_per_example(loss: Measure) -> Measure:
    """The loss, where outputs (N, 1) and targets (N,) mean one number per example."""

    def fitted(predictions: Any, targets: Any) -> Any:
        if hasattr(predictions, "shape"):
            if predictions.shape == (*targets.shape, 1):
                targets = targets[..., None]
        elif shape_of(predictions) == (len(targets), 1) and shape_of(targets) == (len(targets),):
            predictions = [p for (p,) in predictions]
        elif shape_of(predictions) == (len(targets),) and shape_of(targets) == (len(targets), 1):
            targets = [y for (y,) in targets]
        return loss(predictions, targets)

    return fitted


def outputs_of(model: Any, x: Any, scalar: bool) -> Any:
    """What a model makes of a batch; a scalar model takes the examples one by one."""
    return [model(example) for example in _rows(x)] if scalar else model(x)


def _rows(x: Any) -> Any:
    return x.tolist() if hasattr(x, "tolist") else x


def plain(x: Any) -> Any:
    """Predictions as numbers: an array, or nested lists of floats."""
    if isinstance(x, list | tuple):
        return [plain(part) for part in x]
    return x.data if isinstance(x, Node) else x  # type: ignore[attr-defined]


def flat(x: Any) -> Iterator[float]:
    """The numbers of an array, or of nested lists; what is no number is left out."""
    numbers = _rows(x)
    if isinstance(numbers, list | tuple):
        for part in numbers:
            yield from flat(part)
    elif isinstance(numbers, int | float):
        yield numbers


def metric_functions(metrics: Any, loss: Any) -> dict[str, Measure]:
    """Metrics by name; accuracy by default, if the loss is one for classes.

    Raises:
        ArgumentTypeError: if one of them is no function.
        ArgumentValueError: if a name is not known.
    """
    if metrics is None:
        return {"accuracy": accuracy} if classifies(loss) else {}
    if isinstance(metrics, str) or callable(metrics):
        metrics = [metrics]
    if not hasattr(metrics, "__iter__"):
        raise ArgumentTypeError(f"metrics={metrics!r}: they are a list of functions or names")
    found: dict[str, Measure] = {}
    pairs = metrics.items() if hasattr(metrics, "items") else ((None, m) for m in metrics)
    for name, metric in pairs:
        if metric == "accuracy":
            metric = accuracy
        elif isinstance(metric, str):
            raise ArgumentValueError(
                f"metrics: {metric!r} is not known; 'accuracy' is, or a function"
            )
        elif not callable(metric):
            raise ArgumentTypeError(f"metrics: {metric!r} is no function (predictions, targets)")
        word = str(name or getattr(metric, "__name__", type(metric).__name__))
        if word in found:
            raise ArgumentValueError(
                f"metrics: two of them are called {word!r}; a dict gives them names"
            )
        found[word] = metric
    for name in found:
        if hasattr(_EMPTY, name) or name.startswith("validation_"):
            raise ArgumentValueError(f"metrics: {name!r} is in every history; call it otherwise")
    return found


def accuracy(predictions: Any, targets: Any) -> float:
    """The fraction of examples whose class was predicted; no unit.

    Args:
        predictions: Plain numbers: (N, C), and the largest of an example is its class; or (N,) or
            (N, 1), where positive numbers mean the class 1.
        targets: Class indices (N,) or probabilities (N, C); 0 and 1, or −1 and 1, for two classes
            of one number.

    >>> accuracy([[0.1, 2.0], [3.0, -1.0]], [1, 1])
    0.5
    >>> accuracy([-0.3, 4.0, 1.0], [-1, 1, 1])
    1.0
    """
    xs, ys = _rows(predictions), _rows(targets)
    several = isinstance(xs[0], list) and len(xs[0]) > 1
    hits = [
        _class(x) == (y if several and not isinstance(y, list) else _class(y))
        for x, y in zip(xs, ys, strict=True)
    ]
    return sum(hits) / len(hits)


def _class(x: Any) -> int:
    """The class of a number, or the place of the largest of several."""
    if isinstance(x, list | tuple):
        return max(range(len(x)), key=x.__getitem__) if len(x) > 1 else int(x[0] > 0)
    return int(x > 0)

"""``fit``: forward, loss, ``zero_grad``, ``backward``, ``step``, again and again.

Read next: nothing; this is the top of training.
"""

from __future__ import annotations

import time
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from minigrad import modes, source
from minigrad.data import Batches, batches
from minigrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    NumericalError,
    NumericalWarning,
)
from minigrad.graph import Node
from minigrad.ops.evaluate import brief, kind_of
from minigrad.optim import Optimizer
from minigrad.optim.schedules import rate_of
from minigrad.training.history import History
from minigrad.training.measures import (
    flat,
    loss_function,
    metric_functions,
    outputs_of,
    plain,
)
from minigrad.training.phases import Phases
from minigrad.training.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Measure = Callable[[Any, Any], Any]

__all__ = ["fit"]

_GREW = 1.5  # times the loss of the first epoch: more than chance
_AT_ONCE = 256  # examples in a batch of the validation


def fit(
    model: Any,
    data: Any,
    loss: str | Measure,
    optimizer: Optimizer,
    epochs: int = 10,
    *,
    batch_size: int | None = 32,
    validation: Any = None,
    metrics: Iterable[str | Measure] | Mapping[str, Measure] | str | None = None,
    early_stop: int | None = None,
    rng: Any = None,
    seed: int | None = None,
    progress: bool | Callable[[str], Any] = True,
) -> History:
    """Train a model: for each batch θ ← θ − step(∂loss/∂θ), for each epoch all batches.

    A Ctrl-C, or the stop button of a notebook, ends it; what was learned stays in the model, and
    the history comes back. A loss that is nan or infinite ends it too, with a warning, before the
    parameters take part in it.

    Modules that were set to ``eval()``, of a model that is in training, stay so; afterwards every
    module has the mode that it had.

    Args:
        model: A module, in scalar or array mode; it is called with a batch, and in scalar mode with
            each example.
        data: A tuple (points, labels) of lists or arrays; or batches, as ``mg.data.batches`` makes
            them: something that gives such pairs, as often as it is asked.
        loss: ``"mse"``, ``"cross_entropy"``, ``"bce"``, ``"hinge"``; or a function of predictions
            and targets that gives a node of one number. With a name, outputs (N, 1) for targets
            (N,) are taken as one number per example.
        optimizer: One of ``mg.optim``; if it was made without parameters, it gets the model's.
        epochs: How many times every example is seen.
        batch_size: Examples per step; None for all at once. The last batch has what is left over;
            ``mg.data.batches(…, drop_last=True)`` has none that is shorter.
        validation: A tuple (points, labels) to measure after each epoch, without learning from it.
        metrics: ``"accuracy"``, functions of plain predictions and targets, or functions by name.
            By default accuracy, if the loss is a named one for classes.
        early_stop: Stop when the validation loss (without validation, the loss) was not below its
            smallest for so many epochs, and go back to the parameters of the best epoch.
        rng: Source of the random order of examples: a seed, a ``random.Random``, or a NumPy
            ``Generator``. Without one, Python's own ``random`` is used; batches have their own.
        seed: The same as ``rng``, for a whole number.
        progress: Whether to show how far it is; or a function that is given a line per epoch.

    Returns:
        The history: lists of numbers, one for each finished epoch.

    Raises:
        ArgumentTypeError: if an argument is of the wrong kind.
        ArgumentValueError: if a number is out of range, a name not known, or the data empty.
        NumericalError: under ``errstate("raise")``, for a loss that is not finite.

    >>> from minigrad.data import moons
    >>> from minigrad.nn import MLP
    >>> from minigrad.optim import Adam
    >>> model = MLP(2, [8], 1, mode="scalar", rng=1)
    >>> points, labels = moons(40, labels=(1, -1), seed=1)
    >>> history = fit(
    ...     model, (points, labels), "hinge", Adam(0.05), epochs=3, seed=1, progress=False
    ... )
    >>> len(history), history.loss[2] < history.loss[0], history.stopped
    (3, True, 'finished')
    """
    measure, metric = loss_function(loss), metric_functions(metrics, loss)
    epochs = _whole(epochs, "epochs")
    patience = inf if early_stop is None else _whole(early_stop, "early_stop")
    scalar = _prepare(model, optimizer)
    examples = _batches_of(data, batch_size, rng, seed)
    tests = None if validation is None else _batches_of(validation, _AT_ONCE, None, 0, False)
    names = ("loss", *metric, "learning_rate")
    names += tuple(f"validation_{name}" for name in ("loss", *metric) if tests is not None)
    history, line = History(*names, "seconds"), Progress(progress, epochs)
    best, best_state, phases = inf, None, Phases(model)
    try:
        for epoch in range(1, epochs + 1):
            start = time.perf_counter()
            phases.learn()
            numbers = _epoch(model, examples, measure, metric, optimizer, scalar, line, epoch)
            if tests is not None:
                phases.measure()
                with modes.no_grad():
                    found = _average(model, tests, measure, metric, scalar)
                numbers |= {f"validation_{name}": number for name, number in found.items()}
            numbers["seconds"] = time.perf_counter() - start
            history.add(epoch=epoch, **numbers)
            line.after(epoch, _text(epoch, epochs, numbers))
            watched = numbers.get("validation_loss", numbers["loss"])
            if watched < best:
                best, history.best_epoch = watched, epoch
                best_state = model.state_dict() if early_stop is not None else None
            elif epoch - (history.best_epoch or 0) >= patience:
                history.stopped = "early stop"
                break
        else:
            history.stopped = "finished"
        if best_state is not None:
            model.load_state_dict(best_state)
    except KeyboardInterrupt:
        history.even()
        history.stopped = "interrupted"
    except _NotFinite as reason:
        history.stopped = "loss not finite"
        _complain(str(reason))
    finally:
        phases.restore()
        line.end(_remark(history))
    return history


# -- an epoch --------------------------------------------------------------------------------------


class _NotFinite(Exception):
    """The loss of a batch is nan or infinite."""


class _Mean:
    """Means over examples, of batches that may differ in size."""

    def __init__(self) -> None:
        self.sums: dict[str, float] = {}
        self.count = 0

    def add(self, size: int, numbers: Mapping[str, float]) -> None:
        self.count += size
        for name, number in numbers.items():
            self.sums[name] = self.sums.get(name, 0.0) + size * number

    def now(self) -> dict[str, float]:
        return {name: total / self.count for name, total in self.sums.items()}


def _epoch(
    model: Any,
    examples: Any,
    measure: Measure,
    metric: Mapping[str, Measure],
    optimizer: Optimizer,
    scalar: bool,
    line: Progress,
    epoch: int,
) -> dict[str, Any]:
    mean, number = _Mean(), 0
    for number, batch in enumerate(examples, 1):
        x, y = _pair(batch, scalar)
        predictions = outputs_of(model, x, scalar)
        cost = _cost(measure, predictions, y)
        if not isfinite(value := cost.item()):
            raise _NotFinite(f"epoch {epoch}, batch {number}: the loss is {value}{_cause(x, y)}")
        optimizer.zero_grad()
        cost.backward()
        if number == 1:
            _check_reach(optimizer, model)
        optimizer.step()
        mean.add(len(y), {"loss": value, **_metrics(metric, predictions, y)})
        line.during(lambda n=number: f"epoch {epoch}, batch {n}  {_shown(mean.now())}")  # type: ignore[misc]
    if not number:
        raise ArgumentValueError("fit: the data gave no batches")
    rate = rate_of(optimizer.learning_rate, max(0, optimizer.iterations - 1))
    return {**mean.now(), "learning_rate": rate}


def _average(
    model: Any, tests: Any, measure: Measure, metric: Mapping[str, Measure], scalar: bool
) -> dict[str, float]:
    mean = _Mean()
    for batch in tests:
        x, y = _pair(batch, scalar)
        predictions = outputs_of(model, x, scalar)
        cost = _cost(measure, predictions, y)
        mean.add(len(y), {"loss": cost.item(), **_metrics(metric, predictions, y)})
    return mean.now()


def _cost(measure: Measure, predictions: Any, targets: Any) -> Any:
    cost = measure(predictions, targets)
    if not isinstance(cost, Node) or getattr(cost, "size", 1) != 1:
        shown = f"of shape {cost.shape}" if hasattr(cost, "shape") else repr(cost)
        raise ArgumentTypeError(f"fit: the loss must be a node of one number, but it is {shown}")
    return cost


def _metrics(metric: Mapping[str, Measure], predictions: Any, y: Any) -> dict[str, float]:
    if not metric:
        return {}
    numbers, found = plain(predictions), {}
    for name, function in metric.items():
        number = function(numbers, y)
        try:
            found[name] = float(number)
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"fit: the metric {name!r} gave {number!r}, no number"
            ) from None
    return found


# -- arguments -------------------------------------------------------------------------------------


def _prepare(model: Any, optimizer: Any) -> bool:
    """Whether the model is a scalar one; an optimizer without parameters gets the model's."""
    if not callable(model) or not hasattr(model, "parameters") or isinstance(model, type):
        hint = f"; call it: {model.__name__}(…)" if isinstance(model, type) else ""
        raise ArgumentTypeError(
            f"fit: {brief(model)} is no model; it is called, and has parameters(){hint}"
        )
    if not isinstance(optimizer, Optimizer):
        if isinstance(optimizer, type) and issubclass(optimizer, Optimizer):
            name = optimizer.__name__
            raise ArgumentTypeError(
                f"fit: the optimizer {name} is a class; call it: {name}(learning_rate=0.01)"
            )
        raise ArgumentTypeError(
            f"fit: the optimizer is one of mg.optim, such as Adam(0.01), not {brief(optimizer)}"
        )
    parameters = model.parameters()
    if not parameters:
        raise ArgumentValueError(f"fit: {type(model).__name__} has no parameters to learn")
    if optimizer.params is None:
        optimizer.params = parameters
    elif not {*map(id, optimizer.params)} & {*map(id, parameters)}:
        raise ArgumentValueError(
            f"fit: the optimizer has no parameter of this {type(model).__name__}; it was made for "
            f"another model. Make one without parameters, or with model.parameters()"
        )
    if not modes.recording_enabled():
        raise ArgumentValueError("fit: nothing is recorded inside no_grad(), so nothing is learned")
    return not hasattr(parameters[0], "shape")


def _batches_of(data: Any, size: Any, rng: Any, seed: Any, shuffle: bool = True) -> Any:
    if isinstance(data, tuple) and len(data) == 2:
        x, y = (_numbers(part) for part in data)
        whole = max(1, len(x)) if size is None else _whole(size, "batch_size")
        return batches(x, y, size=whole, shuffle=shuffle, rng=rng, seed=seed)
    if isinstance(data, Batches):
        return data
    if not hasattr(data, "__iter__") or iter(data) is data:
        raise ArgumentTypeError(
            f"fit: the data are a pair (points, labels), or batches that can be asked for again "
            f"in each epoch, not {kind_of(data)}; mg.data.batches(points, labels) makes some"
        )
    return data


def _numbers(part: Any) -> Any:
    """Points or labels that are a Tensor, as an array."""
    return getattr(part, "_data", part)


def _pair(batch: Any, scalar: bool) -> tuple[Any, Any]:
    """The examples and targets of a batch, as the model's mode has them."""
    try:
        x, y = batch
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"fit: a batch is a pair (points, labels), but {kind_of(batch)} was given; a set "
            f"that is no batches yet is a tuple: fit(model, (points, labels), …)"
        ) from None
    for name, part in (("points", x), ("labels", y)):
        if not hasattr(part, "__len__") or getattr(part, "shape", None) == ():
            raise ArgumentTypeError(
                f"fit: a batch is a pair (points, labels) of several examples, but the {name} are "
                f"{brief(part)}; of a list of single (point, label) pairs tuple(zip(*pairs)) makes "
                f"one"
            )
    if not scalar and not hasattr(y, "shape"):
        import numpy as np

        try:
            y = np.asarray(y)
        except ValueError:
            raise ArgumentValueError(
                f"fit: the labels have different lengths, so they make no array: {brief(y)}"
            ) from None
    return x, y


def _cause(x: Any, y: Any) -> str:
    """Why a loss is not finite, if it is for the data."""
    for name, part in (("points", x), ("labels", y)):
        for number in flat(part):
            if not isfinite(number):
                return f", for the {name} hold {number!r}"
    return "; a smaller learning rate, or clip_norm=, may help"


def _check_reach(optimizer: Optimizer, model: Any) -> None:
    """Refuse a loss that does not depend on anything that is learned.

    Raises:
        ArgumentValueError: if no parameter has got a gradient.
    """
    if all(p.grad is None for p in optimizer.params or ()):
        raise ArgumentValueError(
            f"fit: the loss does not depend on any parameter of this {type(model).__name__} that "
            f"the optimizer has, so nothing is learned; .data, .item() and float() leave the graph"
        )


def _whole(number: Any, name: str) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__") or number < 1:
        raise ArgumentValueError(f"{name}={number!r}: it is a whole number from 1 on")
    return int(number)


# -- words -----------------------------------------------------------------------------------------


def _complain(text: str) -> None:
    text += "; the training was stopped"
    action = modes.error_action()
    if action == "raise":
        raise NumericalError(text)
    if action == "warn":
        source.warn(NumericalWarning, text)


def _shown(numbers: Mapping[str, float]) -> str:
    words = []
    for name, number in numbers.items():
        if name in ("learning_rate", "seconds"):
            continue
        shown = f"{number:.1%}" if name.endswith("accuracy") else _four(number)
        words.append(f"{name.replace('_', ' ')} {shown}")
    return "  ".join(words)


def _four(number: float) -> str:
    """Four decimals, where these say something."""
    return f"{number:.4f}" if number == 0.0 or 1e-3 <= abs(number) < 1e6 else f"{number:.2g}"


def _text(epoch: int, epochs: int, numbers: Mapping[str, float]) -> str:
    return f"epoch {epoch:{len(str(epochs))}d} of {epochs}  {_shown(numbers)}"


def _remark(history: History) -> str:
    if history.stopped == "early stop":
        if history.best_epoch is None:
            return "stopped early; no loss was a number"
        return f"stopped early; the parameters are those of epoch {history.best_epoch}"
    if history.stopped == "interrupted":
        return f"interrupted after {len(history)} epochs; what was learned is kept"
    if len(history) > 1 and history.loss[-1] > _GREW * history.loss[0] > 0.0:
        first, last = _four(history.loss[0]), _four(history.loss[-1])
        return f"the loss grew from {first} to {last}; a smaller learning rate may help"
    return ""

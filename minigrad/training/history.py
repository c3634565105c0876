"""What happened in a training, epoch by epoch, as lists of plain numbers.

Read next: ``progress.py``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["History"]


class History:
    """The numbers of a training, one in each list for every epoch that was finished.

    A list for every metric is added under its name: ``history.accuracy``, and with validation data
    ``history.validation_loss`` and ``history.validation_accuracy``.

    Args:
        *names: Of the lists that there will be, beside those below.

    Attributes:
        epoch: 1, 2, …
        loss: The mean loss over the examples of the epoch, each before the step it was used for.
        learning_rate: That of the last step of the epoch.
        seconds: How long the epoch took, in seconds.
        stopped: Why it ended: ``"finished"``, ``"early stop"``, ``"interrupted"``, or
            ``"loss not finite"``.
        best_epoch: The epoch with the smallest (validation) loss; None if there is none.

    >>> history = History()
    >>> history.add(epoch=1, loss=0.5, accuracy=0.75)
    >>> history.accuracy, history.as_dict()
    ([0.75], {'epoch': [1], 'loss': [0.5], 'accuracy': [0.75]})
    """

    def __init__(self, *names: str) -> None:
        self.epoch: list[int] = []
        self.loss: list[float] = []
        for name in names:  # a training that ends before its first epoch has these lists as well
            vars(self).setdefault(name, [])
        self.stopped = "running"
        self.best_epoch: int | None = None

    def add(self, **numbers: Any) -> None:
        """Add the numbers of an epoch to the lists of their names."""
        for name, number in numbers.items():
            vars(self).setdefault(name, []).append(number)

    def even(self) -> None:
        """Cut all lists to the length of the shortest: an interrupt may come between two."""
        lists = [x for x in vars(self).values() if isinstance(x, list)]
        shortest = min(map(len, lists))
        for x in lists:
            del x[shortest:]

    def as_dict(self) -> dict[str, list[Any]]:
        """The lists by name, as ``pandas.DataFrame`` or a plot takes them."""
        return {name: list(x) for name, x in vars(self).items() if isinstance(x, list)}

    def __getattr__(
        self, name: str
    ) -> Any:  # for the type checker: metrics have names of their own
        known = ", ".join(n for n in vars(self) if not n.startswith("_"))
        raise AttributeError(f"this history has no {name!r}; it has {known}")

    def __len__(self) -> int:
        return len(self.epoch)

    def __repr__(self) -> str:
        last = f", loss={self.loss[-1]:.4g}" if self.loss else ""
        return f"History({len(self)} epochs{last}, {self.stopped})"

"""The mode of a model in the phases of a training, and afterwards.

Read next: ``measures.py``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Phases"]


class Phases:
    """Training, measuring, and back to the mode that every module had.

    A module that was outside training while the model as a whole was in it is frozen on purpose
    (``model.layers[1].eval()`` keeps the running means of a ``BatchNorm``): it stays as it is. A
    model that was outside training as a whole is trained with all its modules.

    Args:
        model: A module; or anything else, of which ``train(mode)`` is called if it is there.

    >>> from minigrad.nn import Dropout, Linear, Sequential
    >>> model = Sequential(Linear(2, 2), Dropout(0.5))
    >>> frozen = model.layers[1].eval()
    >>> Phases(model).learn()
    >>> model.training, frozen.training
    (True, False)
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._whole = getattr(model, "training", True)
        modules = getattr(model, "modules", None)
        self._found = [(m, m.training) for m in modules()] if callable(modules) else []

    def learn(self) -> None:
        """Training, for all modules but the frozen ones."""
        self._set(True)
        if self._whole:
            for module, training in self._found:
                if not training:
                    module.training = False

    def measure(self) -> None:
        """No training, for any module."""
        self._set(False)

    def restore(self) -> None:
        """The mode of each module as it was found."""
        self._set(self._whole)
        for module, training in self._found:
            module.training = training

    def _set(self, mode: bool) -> None:
        train = getattr(self._model, "train", None)
        if callable(train):
            train(mode)

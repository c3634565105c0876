"""``Scattered``: the gradient of an array that arrives element by element.

When an array is taken apart into n Values, each of them sends a gradient that is 0 everywhere but
in one place. Written out, these are n arrays of n numbers; here each is one entry of a list that
the array of the total is made of once, when somebody needs it.

Read next: ``indexing.py``, ``element``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import hooks
from minigrad.graph import Node
from minigrad.nothing import NOTHING
from minigrad.ops.row import OPS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Scattered"]


class Scattered:
    """A gradient as the list of what was added: (index, number) for an element, or a whole array.

    Adding to it gives another ``Scattered``, and leaves this one as it is. The two share the list,
    of which each knows how far it goes, so that n elements are added in n steps.
    """

    __slots__ = ("_count", "_entries", "_total", "dtype", "shape")
    __array_ufunc__ = None  # array + Scattered asks Scattered, not NumPy

    def __init__(self, x: Any, entries: list[Any]) -> None:
        """Args: x, an array or a node like the gradient; entries, which nobody else changes."""
        self.shape, self.dtype = x.shape, x.dtype
        self._entries, self._count = entries, len(entries)
        self._total: Any = None

    def __add__(self, other: Any) -> Scattered:
        if other is NOTHING:
            return self
        entries = self._entries
        if len(entries) > self._count:  # somebody else went on from here
            entries = entries[: self._count]
        entries.extend(other._entries[: other._count] if isinstance(other, Scattered) else [other])
        return Scattered(self, entries)

    def __radd__(self, other: Any) -> Scattered:
        if other is NOTHING:
            return self
        return Scattered(self, [other, *self._entries[: self._count]])

    @property
    def values(self) -> Any:
        """The gradient as an array; as a node, if there is a node among the numbers.

        The elements between two whole arrays are added up first, in their order.
        """
        if self._total is None:
            total: Any = None
            for part in _runs(self._entries[: self._count]):
                found = self._joined(part) if part.__class__ is list else _whole(part)
                total = found if total is None else total + found
            self._total = total if hasattr(total, "shape") else np.asarray(total)
        return self._total

    @property
    def nothing(self) -> Any:
        """Where nothing arrived: at elements that nobody used, or that ``where`` did not take."""
        nothing = np.ones(self.shape, dtype=bool)
        for entry in self._entries[: self._count]:
            if entry.__class__ is tuple:
                nothing[entry[0]] = False
            else:
                nothing &= getattr(entry, "nothing", False)
        return nothing if nothing.any() else None

    def _joined(self, run: Sequence[tuple[Any, Any]]) -> Any:
        if any(isinstance(number, Node) for _, number in run):
            return self._joined_nodes(run)
        total = np.zeros(self.shape)
        for index, number in run:
            total[index] += number
        return total.astype(self.dtype, copy=False)

    def _joined_nodes(self, run: Sequence[tuple[Any, Any]]) -> Any:
        """The elements as one node, which sends its gradient back to each of them."""
        cells = np.empty(self.shape, dtype=object)
        cells[...] = 0.0
        for index, number in run:
            before = cells[index]
            cells[index] = number if before.__class__ is float and not before else before + number
        row = OPS["stack_values"].cached(shape=self.shape)
        joined = hooks.tensor()._apply(row, tuple(cells.ravel().tolist()))
        return joined if joined.dtype == self.dtype else joined.astype(self.dtype)

    def __repr__(self) -> str:
        return f"Scattered({self.values!r})"


def _runs(entries: Sequence[Any]) -> Any:
    """The entries with those of elements that follow each other in one list."""
    run: list[Any] = []
    for entry in entries:
        if entry.__class__ is tuple:
            run.append(entry)
            continue
        if run:
            yield run
            run = []
        yield entry
    if run:
        yield run


def _whole(part: Any) -> Any:
    return getattr(part, "values", part)  # of an array of which a part is nothing

"""The edges of a trace: one for each step of the sweep.

They lie side by side in one list, without an object for each: of a large graph the garbage
collector would look at every one of them, several times. Whoever asks for an edge gets it made.

Read next: ``trace.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from minigrad.events.table import fields

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Edge", "Edges"]


class Edge(NamedTuple):
    """A step of the sweep: node → input, ``upstream × local = contribution``, before → after.

    ``reason`` says why there was no contribution; then the numbers may be None.
    """

    node: int
    slot: int
    input: int
    upstream: float | None
    local: float | None
    contribution: float | None
    before: float | None
    after: float | None
    reason: str

    def __repr__(self) -> str:
        return fields(self)


_WIDTH = len(Edge._fields)
_edge = partial(tuple.__new__, Edge)  # from a tuple of its fields


class Edges(Sequence[Edge]):
    """Edges in the order of the sweep.

    Args:
        cells: The fields of the first edge, then those of the second, and so on.

    >>> edges = Edges([2, 0, 1, 1.0, 0.5, 0.5, None, 0.5, ""])
    >>> len(edges), edges[0].contribution, edges[-1].node
    (1, 0.5, 2)
    """

    __slots__ = ("_cells",)

    def __init__(self, cells: list[Any]) -> None:
        self._cells = cells

    def __len__(self) -> int:
        return len(self._cells) // _WIDTH

    @overload
    def __getitem__(self, place: int) -> Edge: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Edge]: ...
    def __getitem__(self, place: int | slice) -> Edge | Sequence[Edge]:
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        first = range(len(self))[place] * _WIDTH
        return Edge(*self._cells[first : first + _WIDTH])

    def __iter__(self) -> Iterator[Edge]:
        cell = iter(self._cells)
        return map(_edge, zip(*[cell] * _WIDTH, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edges) and self._cells == other._cells

    def __repr__(self) -> str:
        return repr(tuple(self))

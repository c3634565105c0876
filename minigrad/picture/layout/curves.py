"""The line of each edge: level beside cards, one curve in each gap between layers.

A curve has its control points inside the gap, so it stays there and can touch no card; and two
edges cross in a gap only where their order differs, at most once.

Read next: `minigrad.picture.svg`, which writes the lines down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Route", "route"]

Point = tuple[int, int]


class Route(NamedTuple):
    """A line: where it starts, then per piece its end point or two control points and the end."""

    start: Point
    pieces: tuple[tuple[Point, ...], ...]

    @property
    def end(self) -> Point:
        """Where it ends."""
        return self.pieces[-1][-1] if self.pieces else self.start

    def turned(self) -> Route:
        """The line with its two axes exchanged."""
        pieces = tuple(tuple((y, x) for x, y in piece) for piece in self.pieces)
        return Route((self.start[1], self.start[0]), pieces)


def route(leave: int, bands: Sequence[tuple[int, int]], ys: Sequence[int],
          arrive: int) -> Route:  # fmt: skip
    """The line through a sequence of layers, from left to right.

    Args:
        leave: Where it leaves the source.
        bands: Start and end of every layer it touches, the source's first.
        ys: Its height in each of these layers.
        arrive: Where it meets the target.

    >>> route(10, [(0, 20), (60, 90)], [5, 5], 60)
    Route(start=(10, 5), pieces=(((60, 5),),))
    """
    pieces: list[tuple[Point, ...]] = []
    at: Point = (leave, ys[0])
    level_to = leave
    for index in range(1, len(bands)):
        left, right = bands[index - 1][1], bands[index][0]
        y, next_y = ys[index - 1], ys[index]
        if y == next_y:
            level_to = right
            continue
        if left > at[0]:
            pieces.append(((left, y),))
        middle = (left + right) // 2
        pieces.append(((middle, y), (middle, next_y), (right, next_y)))
        at, level_to = (right, next_y), right
    if arrive > at[0] or level_to > at[0]:
        pieces.append(((max(arrive, level_to), ys[-1]),))
    return Route((leave, ys[0]), tuple(pieces))

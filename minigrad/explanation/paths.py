"""The paths from an output to an input, counted, and the largest of them.

The gradient is the sum over all paths of the product of the local derivatives along each. There can
be more paths than atoms in the universe, so they are counted before anybody lists them.

Read next: ``explain.py``.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from minigrad.events import Edge, Trace

__all__ = ["Path", "count_paths", "largest_paths"]


_Trail = tuple["Edge", "_Trail"] | None  # a path under way; what it shares is not copied


class Path(NamedTuple):
    """The edges of a path, from the output to the input, and the product of their derivatives."""

    edges: tuple[Edge, ...]
    product: float


def count_paths(trace: Trace, target: int) -> int:
    """How many paths of the pass lead from the outputs to ``target``."""
    count = dict.fromkeys(range(len(trace.nodes)), 0)
    for output in trace.outputs:
        count[output] += 1
    for edge in trace.edges:  # in the order of the sweep: an output before what it needs
        if not edge.reason:
            count[edge.input] += count[edge.node]
    return count[target]


def largest_paths(trace: Trace, target: int, most: int) -> list[Path]:
    """Up to ``most`` paths to ``target``, the largest |product| first; ties in order of the sweep.

    A best-first search. What is still to come is known exactly from one pass backwards, so no path
    is begun that is not among the largest.
    """
    best: dict[int, float] = {target: 1.0}  # the largest |product| from a node down to the target
    below: dict[int, list[Edge]] = {}
    for edge in reversed(trace.edges):
        if edge.reason or edge.input not in best:
            continue
        below.setdefault(edge.node, []).append(edge)
        reach = _size(edge.local) * best[edge.input]
        if edge.node not in best or reach > best[edge.node]:
            best[edge.node] = reach

    found: list[Path] = []
    waiting: list[tuple[float, int, int, float, _Trail]] = []  # the number of a push breaks ties
    pushes = count()
    for output, seed in zip(trace.outputs, trace.seeds, strict=True):
        if output in best:
            waiting.append((-_size(seed) * best[output], next(pushes), output, seed, None))
    heapq.heapify(waiting)
    while waiting and len(found) < most:
        _, _, node, product, trail = heapq.heappop(waiting)
        if node == target:
            found.append(Path(_edges(trail), product))
            continue
        for edge in reversed(below.get(node, ())):
            longer = product * (edge.local if edge.local is not None else 0.0)
            bound = -_size(longer) * best[edge.input]
            heapq.heappush(waiting, (bound, next(pushes), edge.input, longer, (edge, trail)))
    return found


def _edges(trail: _Trail) -> tuple[Edge, ...]:
    """The edges of a trail, which is written from its end."""
    edges = []
    while trail is not None:
        edge, trail = trail
        edges.append(edge)
    return tuple(reversed(edges))


def _size(x: float | None) -> float:
    """|x| for comparing; nan counts as the largest, because it spoils every sum."""
    if x is None:
        return 0.0
    return abs(x) if x == x else float("inf")

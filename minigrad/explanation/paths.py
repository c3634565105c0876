"""The paths from an output to an input: counted, the largest of them, and one after the other.

The gradient is the sum over all paths of the product of the local derivatives along each. There can
be more paths than atoms in the universe, so they are counted before anybody lists them.

Read next: ``explain.py``.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from minigrad.events import Edge, Trace

__all__ = [
    "Path",
    "count_paths",
    "count_zeros",
    "edges_reaching",
    "largest_paths",
    "paths_in_order",
]


class Path(NamedTuple):
    """The edges of a path, from the output to the input, and the product of their derivatives."""

    edges: tuple[Edge, ...]
    product: float


def count_paths(trace: Trace, target: int) -> int:
    """How many paths of the pass lead from the outputs to ``target``."""
    return _count(trace, target, lambda local: True)


def count_zeros(trace: Trace, target: int) -> int:
    """How many of the paths meet a local derivative of 0, and so contribute 0.

    A path that meets nan or an infinity as well contributes nan.
    """
    return _count(trace, target, isfinite) - _count(
        trace, target, lambda local: local != 0.0 and isfinite(local)
    )


def _count(trace: Trace, target: int, counts: Callable[[float], bool]) -> int:
    """How many paths there are along the edges whose local derivative counts."""
    count = dict.fromkeys(range(len(trace.nodes)), 0)
    for output in trace.outputs:
        count[output] += 1
    for edge in trace.edges:  # in the order of the sweep: an output before what it needs
        if not edge.reason and counts(0.0 if edge.local is None else edge.local):
            count[edge.input] += count[edge.node]
    return count[target]


def largest_paths(trace: Trace, target: int, most: int) -> list[Path]:
    """Up to ``most`` paths to ``target``, the largest |product| first; ties in order of the sweep.

    Every node keeps the ``most`` largest ways down to the target, each as its first edge and which
    of the ways of that edge's input goes on. One walk over the edges fills all lists.
    """
    ways: dict[int, list[_Way]] = {target: [_Way(1.0, 0, None, 0)]}
    for place in range(
        len(trace.edges) - 1, -1, -1
    ):  # an input's ways are known before they are used
        edge = trace.edges[place]
        if edge.reason or edge.input not in ways:
            continue
        local = edge.local if edge.local is not None else 0.0
        found = ways.setdefault(edge.node, [])
        for rank, way in enumerate(ways[edge.input]):
            found.append(_Way(local * way.product, place, edge, rank))
        found.sort(key=_largest_first)
        del found[most:]

    paths = []
    for output, seed in zip(trace.outputs, trace.seeds, strict=True):
        for way in ways.get(output, ()):
            paths.append(Path(_edges(ways, way), seed * way.product))
    paths.sort(key=lambda path: -_size(path.product))
    return paths[:most]


class _Way(NamedTuple):
    """A way down to the target: its product, its first edge, and which way goes on from there."""

    product: float
    place: int
    edge: Edge | None
    rank: int


def _largest_first(way: _Way) -> tuple[float, int, int]:
    return -_size(way.product), way.place, way.rank


def _edges(ways: dict[int, list[_Way]], way: _Way) -> tuple[Edge, ...]:
    edges = []
    while way.edge is not None:
        edges.append(way.edge)
        way = ways[way.edge.input][way.rank]
    return tuple(edges)


def _size(x: float | None) -> float:
    """|x| for comparing; nan counts as the largest, because it spoils every sum."""
    if x is None:
        return 0.0
    return abs(x) if x == x else float("inf")


def paths_in_order(record: Trace, target: int) -> Iterator[tuple[Edge, ...]]:
    """The paths to ``target``, in the order of the pass; the walk keeps its own stack."""
    below: dict[int, list[Edge]] = {}
    for edge in reversed(edges_reaching(record, target)):
        below.setdefault(edge.node, []).append(edge)
    for output in record.outputs:
        if output == target:
            yield ()
        path: list[Edge] = []
        stack = [iter(below.get(output, ()))] if output != target else []
        while stack:
            for edge in stack[-1]:
                if edge.input == target:
                    yield (*path, edge)
                else:
                    path.append(edge)
                    stack.append(iter(below[edge.input]))
                    break
            else:
                stack.pop()
                del path[-1:]


def edges_reaching(record: Trace, target: int, blocked: bool = False) -> list[Edge]:
    """The edges on paths to ``target``, last first; on request those that carry nothing too."""
    reach, found = {target}, []
    for edge in reversed(record.edges):
        if edge.input in reach and (blocked or not edge.reason):
            reach.add(edge.node)
            found.append(edge)
    return found

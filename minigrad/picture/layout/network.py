"""The graph cut into layers, so that every hop leads to the next layer.

A long edge becomes a chain of *dummy* vertices, one per layer it passes. Where values are used
again and again in a long loop this would need very many; then all edges of one source share a
*trunk*.

Read next: `layout.ordering`, which sorts each layer; `layout.positions`, which places it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["Network"]


class Network:
    """Layers of vertices: the nodes ``0 … count-1`` and the dummies after them.

    Attributes:
        count: How many vertices are nodes of the graph.
        layers: Vertices of each layer, in the order they stand in it.
        paths: For each edge the vertices it goes through, from source to target.
        before: For each vertex its neighbours in the layer before, once per hop.
        after: The same hops from the other end.
        doors: For each vertex where its hops end: at the vertex after it, or at a *door* of it.
        doors_of: The doors of each node whose edges enter in a fixed order, by slots.
    """

    __slots__ = ("after", "before", "count", "doors", "doors_of", "layers", "paths")

    def __init__(
        self,
        rank: Sequence[int],
        edges: Sequence[tuple[int, int]],
        ordered: Sequence[bool] | None = None,
    ) -> None:
        self.count = len(rank)
        self.layers: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
        for node, layer in enumerate(rank):
            self.layers[layer].append(node)
        dummies = sum(rank[target] - rank[source] - 1 for source, target in edges)
        self.paths = self._trunks(rank, edges) if dummies > 4 * self.count else (
            self._chains(rank, edges))  # fmt: skip
        self.before: list[list[int]] = [[] for _ in range(self.size)]
        self.after: list[list[int]] = [[] for _ in range(self.size)]
        shared: set[tuple[int, int]] = set()  # hops of a trunk, which count once
        for path in self.paths:
            for left, right in pairwise(path):
                if right >= self.count:
                    if (left, right) in shared:
                        continue
                    shared.add((left, right))
                self.after[left].append(right)
                self.before[right].append(left)
        self.doors, self.doors_of = self.after, dict[int, list[int]]()
        if ordered and any(ordered):
            self._open_doors(ordered)

    def _open_doors(self, ordered: Sequence[bool]) -> None:
        """Give every edge into an ordered node a door of its own, in the order of the edges."""
        fresh = self.size
        self.doors = [
            [v for v in near if v >= self.count or not ordered[v]] for near in self.after
        ]  # fmt: skip
        for path in self.paths:
            target = path[-1]
            if ordered[target]:
                self.doors[path[-2]].append(fresh)
                self.doors_of.setdefault(target, []).append(fresh)
                fresh += 1

    @property
    def size(self) -> int:
        """How many vertices there are, dummies included."""
        return sum(map(len, self.layers))

    def _chains(self, rank: Sequence[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
        """A dummy per edge and layer."""
        paths, fresh = [], self.count
        for source, target in edges:
            passed = range(rank[source] + 1, rank[target])
            chain = list(range(fresh, fresh + len(passed)))
            fresh += len(chain)
            for layer, vertex in zip(passed, chain, strict=True):
                self.layers[layer].append(vertex)
            paths.append([source, *chain, target])
        return paths

    def _trunks(self, rank: Sequence[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
        """A dummy per source and layer, shared by all edges of that source."""
        trunks: dict[int, list[int]] = {}
        paths, fresh = [], self.count
        for source, target in edges:
            trunk = trunks.setdefault(source, [])
            length = rank[target] - rank[source] - 1
            while len(trunk) < length:
                self.layers[rank[source] + 1 + len(trunk)].append(fresh)
                trunk.append(fresh)
                fresh += 1
            paths.append([source, *trunk[:length], target])
        return paths

"""Spines: the paths that the eye follows, which are drawn on one level.

In a loop every step has one input that carries the whole past and others that are just brought in:
a constant, a weight, a new number. The first is the *deepest* input, and where its source in turn
leads on farthest to this node, the hop belongs to a spine. ``h = tanh(w*h + u*x + b)``, repeated,
has one spine from the first product to the last tanh. Where two inputs are equally deep, as in a
balanced sum, neither is preferred and the spine ends. Only long spines of narrow pictures
count: in a wide network they would stand in each other's way and make it tall.

Read next: `layout.positions`, which keeps spines level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from minigrad.picture.layout.network import Network

__all__ = ["Spines", "find_spines"]

SHORTEST = 3  # nodes; a pair needs no line of its own
SHARE = 0.5  # of all layers that a spine must reach through
NARROW = 5  # nodes per layer, on the average


class Spines(NamedTuple):
    """Vertices on one level, dummies included, and the edges that join them.

    Attributes:
        runs: The vertices of each spine, in the order of the layers.
        edges: Numbers of the edges within spines, for membership only.
    """

    runs: list[list[int]]
    edges: frozenset[int]


def find_spines(network: Network) -> Spines:
    """The spines of a narrow picture that reach through half of it.

    >>> find_spines(Network([0, 0, 1, 1, 2], [(0, 2), (1, 2), (2, 4), (3, 4)])).runs
    []
    >>> find_spines(Network([0, 1, 1, 2], [(0, 1), (1, 3), (2, 3)])).runs
    [[0, 1, 3]]
    """
    if network.count > NARROW * len(network.layers):
        return Spines([], frozenset())
    inputs: list[list[int]] = [[] for _ in range(network.count)]  # numbers of edges
    consumers: list[list[int]] = [[] for _ in range(network.count)]
    for number, path in enumerate(network.paths):
        inputs[path[-1]].append(number)
        consumers[path[0]].append(number)
    order = [v for layer in network.layers for v in layer if v < network.count]
    first = [path[0] for path in network.paths]
    last = [path[-1] for path in network.paths]
    heaviest_in = _heaviest(order, inputs, first)
    heaviest_out = _heaviest(order[::-1], consumers, last)

    follows = {
        first[number]: number
        for number in heaviest_in
        if number >= 0 and heaviest_out[first[number]] == number
    }
    runs: list[list[int]] = []
    edges: set[int] = set()
    begun = {last[number] for number in follows.values()}
    for node in order:
        if node in begun or node not in follows:
            continue
        run, numbers = [node], []
        while node in follows:
            numbers.append(follows[node])
            run += network.paths[follows[node]][1:]
            node = run[-1]
        if len(numbers) >= SHORTEST - 1 and len(run) >= SHARE * len(network.layers):
            runs.append(run)
            edges.update(numbers)
    return Spines(runs, frozenset(edges))


def _heaviest(order: Sequence[int], near: Sequence[Sequence[int]], end: Sequence[int]) -> list[int]:
    """For each node, the edge to the neighbour behind which the longest path lies; -1 in a tie."""
    steps = [0] * len(near)
    heaviest = [-1] * len(near)
    for node in order:
        best, most, tied = -1, -1, False
        for number in near[node]:
            behind = steps[end[number]]
            if behind > most:
                best, most, tied = number, behind, False
            elif behind == most and end[number] != end[best]:
                tied = True
        steps[node] = most + 1
        if not tied:
            heaviest[node] = best
    return heaviest

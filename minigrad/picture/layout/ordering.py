"""The order of the vertices within each layer, with as few crossings as a short search finds.

Several starting orders race: each is swept forwards and backwards, every vertex moving to the mean
place of its neighbours. The best are then polished by exchanging neighbours that cross less the
other way round. At last the picture is mirrored if that puts more first inputs above second ones.

Where the order of the inputs matters (a − b), each has its *door*: the place of a door lies between
the place of its node and the next, so edges that would enter in the wrong order count as crossing.

Read next: `layout.spines`, the paths to be level; `layout.positions`, which places all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from minigrad.picture.layout.network import Network

__all__ = ["count_crossings", "sort_layers"]

Layers = list[list[int]]


class Effort(NamedTuple):
    """How long to search: starting orders, sweeps for each, orders to polish, rounds of polish."""

    starts: int
    sweeps: int
    finalists: int
    polish: int


def _effort(size: int) -> Effort:
    """Measured: beyond these sizes more search costs more time than it removes crossings."""
    if size <= 60:
        return Effort(8, 8, 4, 8)
    if size <= 4000:
        return Effort(2, 4, 1, 2)
    return Effort(1, 4, 1, 1)


def sort_layers(network: Network) -> None:
    """Sort every layer of the network, in place."""
    if not network.layers:
        return
    effort = _effort(network.size)
    race = []
    for number in range(effort.starts):
        search = _Search(network, _start(network, number), follow=number in (0, 3, 4, 7))
        search.sweep_until_settled(effort.sweeps)
        race.append((search.best_count, number, search))
        if search.best_count == 0:
            break
    race.sort(key=lambda entry: entry[:2])
    finalists = [search for _, _, search in race[: effort.finalists]]
    for search in finalists:
        if finalists[0].best_count == 0:
            break
        search.polish(effort.polish)
    best = min(finalists, key=lambda search: search.best_count)
    network.layers = best.best
    mirrored = [layer[::-1] for layer in best.best]
    # only doors can make a difference between a picture and its mirror image
    count = _count_all(network, mirrored) if network.doors_of else best.best_count
    if count < best.best_count or (
        count == best.best_count and _first_inputs_below(network) > 0
    ):  # fmt: skip
        network.layers = mirrored


def count_crossings(network: Network) -> int:
    """How many pairs of hops cross; hops that share an end do not.

    >>> count_crossings(Network([0, 0, 1, 1], [(0, 3), (1, 2)]))
    1
    """
    return _count_all(network, network.layers)


def _count_all(network: Network, layers: Layers) -> int:
    places = _Places(network)
    for layer in layers:
        places.number(layer)
    return sum(_crossings_after(layer, network.doors, places.of) for layer in layers)


class _Places:
    """The place of every vertex in its layer, and of every door beside its node."""

    def __init__(self, network: Network) -> None:
        self.doors_of = network.doors_of
        doors = [len(near) for near in network.doors_of.values()]
        self.step = 1 + max(doors, default=0)
        self.of = [0] * (network.size + sum(doors))

    def number(self, layer: list[int]) -> None:
        of, step = self.of, self.step
        if step == 1:
            for index, vertex in enumerate(layer):
                of[vertex] = index
            return
        for index, vertex in enumerate(layer):
            of[vertex] = index * step
            for slot, door in enumerate(self.doors_of.get(vertex, ())):
                of[door] = index * step + slot


def _crossings_after(layer: list[int], after: Sequence[Sequence[int]], place: list[int]) -> int:
    """Crossings between one layer and the next: inversions of the order in which hops end."""
    total = 0
    ends: list[int] = []
    for vertex in layer:
        near = after[vertex]
        for end in [place[near[0]]] if len(near) == 1 else sorted([place[v] for v in near]):
            if ends and end < ends[-1]:
                index = bisect_right(ends, end)
                total += len(ends) - index
                ends.insert(index, end)
            else:
                ends.append(end)
    return total


def _start(network: Network, number: int) -> Layers:
    """A starting order: depth first from the outputs or the inputs, in natural or reverse order."""
    from_outputs, backwards = number in (0, 2, 4, 6), number >= 4
    near = network.before if from_outputs else network.after
    layer_of = {v: index for index, layer in enumerate(network.layers) for v in layer}
    roots = reversed(network.layers) if from_outputs else iter(network.layers)
    seen = [False] * network.size
    layers: Layers = [[] for _ in network.layers]
    for layer in roots:
        for root in reversed(layer) if backwards else layer:
            stack = [root]
            while stack:
                vertex = stack.pop()
                if seen[vertex]:
                    continue
                seen[vertex] = True
                layers[layer_of[vertex]].append(vertex)
                stack += near[vertex] if backwards else reversed(near[vertex])
    return layers


class _Search:
    """One order on its way to fewer crossings, and the best it has been."""

    def __init__(self, network: Network, layers: Layers, *, follow: bool) -> None:
        self.before, self.after = network.before, network.doors
        self.layers = layers
        places = _Places(network)
        self.place, self._renumber = places.of, places.number
        for layer in layers:
            self._renumber(layer)
        self.mates = _co_operands(network) if follow else {}
        self.best = [list(layer) for layer in layers]
        self.best_count = sum(self._count())

    def sweep_until_settled(self, rounds: int) -> None:
        """Sweep forwards and backwards until three rounds bring nothing."""
        stale = 0
        for number in range(rounds):
            if self.best_count == 0 or stale == 3:
                return
            self._sweep(number)
            stale = 0 if self._keep_if_better() else stale + 1

    def polish(self, rounds: int) -> None:
        """Sweep, then exchange neighbours, until two rounds bring nothing."""
        self.layers = [list(layer) for layer in self.best]
        for layer in self.layers:
            self._renumber(layer)
        stale = 0
        for number in range(rounds):
            if self.best_count == 0 or stale == 2:
                return
            if number:  # the first round polishes the best order as it is
                self._sweep(number - 1)
            self._exchange_neighbours()
            stale = 0 if self._keep_if_better() else stale + 1

    def _count(self) -> list[int]:
        """Crossings after each layer."""
        return [_crossings_after(layer, self.after, self.place) for layer in self.layers]

    def _keep_if_better(self) -> bool:
        count = sum(self._count())
        if count >= self.best_count:
            return False
        self.best_count, self.best = count, [list(layer) for layer in self.layers]
        return True

    def _sweep(self, number: int) -> None:
        """Forwards or backwards in turn; ties keep their order in one pair, turn in the next."""
        turn_ties = number % 4 >= 2
        if number % 2 == 0:
            for layer in self.layers[1:]:
                self._sort_by_mean(layer, self.before, turn_ties)
        else:
            for layer in reversed(self.layers[:-1]):
                self._sort_by_mean(layer, self.after, turn_ties)

    def _sort_by_mean(self, layer: list[int], near: Sequence[Sequence[int]], turn: bool) -> None:
        """Each vertex to the mean place of its neighbours.

        A vertex without neighbours on that side (a leaf) follows the vertex it is used together
        with, or keeps its place.
        """
        place = self.place
        mean: dict[int, float] = {}
        for vertex in layer:
            ends = near[vertex]
            if len(ends) == 1:
                mean[vertex] = place[ends[0]]
            elif ends:
                mean[vertex] = sum([place[end] for end in ends]) / len(ends)
        if not mean:
            return
        fixed: list[tuple[int, int]] = []
        if len(mean) < len(layer):
            for index, vertex in enumerate(layer):
                if vertex not in mean:
                    partner = next((m for m in self.mates.get(vertex, ()) if m in mean), None)
                    if partner is None:
                        fixed.append((index, vertex))
                    else:
                        mean[vertex] = mean[partner]
        movable = [vertex for vertex in layer if vertex in mean] if fixed else layer[:]
        if turn:
            movable.reverse()
        movable.sort(key=mean.__getitem__)
        for index, vertex in fixed:
            movable.insert(index, vertex)
        layer[:] = movable
        self._renumber(layer)

    def _exchange_neighbours(self) -> None:
        """Exchange adjacent vertices that cross less the other way round, while any do."""
        crossings = self._count()
        dirty = [crossings[index] + crossings[index - 1] > 0 for index in range(len(crossings))]
        while any(dirty):
            for index, layer in enumerate(self.layers):
                if dirty[index]:
                    dirty[index] = False
                    if self._exchange_in(layer):
                        for near in (index - 1, index, index + 1):
                            if 0 <= near < len(dirty):
                                dirty[near] = True

    def _exchange_in(self, layer: list[int]) -> bool:
        place = self.place
        ends = [(sorted([place[v] for v in self.before[vertex]]),
                 sorted([place[v] for v in self.after[vertex]])) for vertex in layer]  # fmt: skip
        changed = False
        for index in range(len(layer) - 1):
            upper, lower = ends[index], ends[index + 1]
            if _gain(upper[0], lower[0]) + _gain(upper[1], lower[1]) > 0:
                ends[index], ends[index + 1] = lower, upper
                layer[index], layer[index + 1] = layer[index + 1], layer[index]
                changed = True
        if changed:
            self._renumber(layer)
        return changed


def _gain(upper: Sequence[int], lower: Sequence[int]) -> int:
    """Crossings saved by putting the hops that end at `lower` above those that end at `upper`."""
    if not upper or not lower or upper[-1] < lower[0]:
        return -len(upper) * len(lower)
    gain = 0
    for one in upper:
        for other in lower:
            gain += (one > other) - (one < other)
    return gain


def _co_operands(network: Network) -> dict[int, list[int]]:
    """For each leaf the vertices of its layer that it is used together with."""
    mates: dict[int, list[int]] = {}
    for vertex in range(network.count):
        if not network.before[vertex]:
            mates[vertex] = [
                other for user in network.after[vertex] for other in network.before[user]
                if other != vertex
            ]  # fmt: skip
    return mates


def _first_inputs_below(network: Network) -> int:
    """Pairs of neighbouring slots in the wrong order, minus pairs in the right order."""
    place = {v: index for layer in network.layers for index, v in enumerate(layer)}
    last: dict[int, int] = {}
    balance = 0
    for path in network.paths:
        entry, target = place[path[-2]], path[-1]
        if target in last:
            balance += (last[target] > entry) - (last[target] < entry)
        last[target] = entry
    return balance

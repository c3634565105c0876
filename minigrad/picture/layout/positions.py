"""Where each vertex stands across the layers: near its neighbours, in order, never overlapping.

For one layer this has an exact answer: the least squares fit to the wished positions that keeps the
order and the gaps is found by pooling adjacent violators (isotonic regression). A few alternating
passes settle all layers. A spine has one position for all its vertices, which they are held to with
great force. At the end long edges are made straight, and small bends are taken out.

Read next: `layout.curves`, which draws the edges through these positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import floor
from typing import NamedTuple

from minigrad.picture.layout.network import Network
from minigrad.picture.layout.spines import Spines

__all__ = ["Ports", "place_across", "spread_ports"]

LEAF, CARD, DUMMY = 1.0, 2.0, 3.0  # how strongly a vertex pulls: long edges want to be straight
FORCE = 1e5  # what holds a spine on its level
PASSES = 6
LEVELLINGS = 12  # how often spines that are in each other's way may give way
WORTH = 1.1  # how much larger the picture may become for the sake of straight long edges
CLOSEST = 0.7  # of the wanted distance between two ports
SMALL_BEND = 12  # pixels that a card may be moved to make a line straight


class Ports(NamedTuple):
    """Where each edge leaves its source and enters its target, from the middle of the card."""

    out: list[int]
    into: list[int]


def spread_ports(
    network: Network,
    spines: Spines,
    breadth: Sequence[int],
    out_pitch: int,
    in_pitch: Sequence[int],
) -> Ports:
    """Spread the ends of the edges along their cards, in the order of where they lead.

    Edges into a node with doors stand in their own order. An edge of a spine stands in the middle
    of the card if the others find room beside it.

    Args:
        network: The sorted layers.
        spines: What is to be level.
        breadth: Size of each node across the layers.
        out_pitch: Distance between edges that leave one card.
        in_pitch: For each node, the distance between edges that enter it.
    """
    place = [0] * network.size
    for layer in network.layers:
        for index, vertex in enumerate(layer):
            place[vertex] = index
    out, into = [0] * len(network.paths), [0] * len(network.paths)
    leaving: list[list[int]] = [[] for _ in range(network.count)]
    entering: list[list[int]] = [[] for _ in range(network.count)]
    for edge, path in enumerate(network.paths):
        leaving[path[0]].append(edge)
        entering[path[-1]].append(edge)
    for node in range(network.count):
        room = breadth[node] - 14
        edges = entering[node]
        if node not in network.doors_of:
            edges.sort(key=lambda edge: place[network.paths[edge][-2]])
        middle = _middle(edges, spines, [network.paths[edge][0] for edge in edges])
        offsets = _spread(len(edges), middle, in_pitch[node], room)
        for edge, offset in zip(edges, offsets, strict=True):
            into[edge] = offset
        # Edges of a trunk leave together, so a port belongs to the first vertex, not to the edge.
        doors: list[tuple[int, int]] = []
        for edge in sorted(leaving[node], key=lambda edge: place[network.paths[edge][1]]):
            first = network.paths[edge][1]
            if not (doors and first >= network.count and doors[-1][0] == first):
                doors.append((first, edge))
            out[edge] = len(doors) - 1
        middle = _middle([edge for _, edge in doors], spines, [first for first, _ in doors])
        offsets = _spread(len(doors), middle, out_pitch, room)
        for edge in leaving[node]:
            out[edge] = offsets[out[edge]]
    return Ports(out, into)


def place_across(
    network: Network, spines: Spines, breadth: Sequence[int], ports: Ports, gap: int
) -> list[int]:
    """The middle of every vertex across the layers; the smallest edge of a card is at 0.

    Args:
        network, spines, breadth: As for `spread_ports`.
        ports: Where edges leave and enter.
        gap: Free space between two cards of one layer.
    """
    return _Fit(network, spines, breadth, ports, gap).solve()


def _middle(edges: Sequence[int], spines: Spines, ends: Sequence[int]) -> int | None:
    """The index of the edge that belongs to a spine, if it is the only one with this end."""
    found = (index for index, edge in enumerate(edges)
             if edge in spines.edges and ends.count(ends[index]) == 1)  # fmt: skip
    return next(found, None)


def _spread(count: int, middle: int | None, wanted: float, room: float) -> list[int]:
    """Offsets of `count` ports; the one at index `middle` at 0 if that leaves enough room."""
    if count == 1:
        return [0]
    if middle is not None:
        pitch = min(wanted, room / 2 / max(middle, count - 1 - middle))
        if pitch >= CLOSEST * wanted:
            return [round((index - middle) * pitch) for index in range(count)]
    pitch = min(wanted, room / max(1, count - 1))
    return [round((index - (count - 1) / 2) * pitch) for index in range(count)]


class _Fit:
    """Positions under way. A pull is (neighbour, shift, weight): be at its position plus shift."""

    def __init__(
        self,
        network: Network,
        spines: Spines,
        breadth: Sequence[int],
        ports: Ports,
        gap: int,
    ) -> None:
        self.layers, self.count = network.layers, network.count
        size = network.size
        strength = [
            (CARD if network.before[node] else LEAF) if node < network.count else DUMMY
            for node in range(size)
        ]
        self.pulls: tuple[list[list[tuple[int, int, float]]], ...] = (
            [[] for _ in range(size)],
            [[] for _ in range(size)],
        )
        seen: set[tuple[int, int]] = set()
        for path, out, into in zip(network.paths, *ports, strict=True):
            for left, right in pairwise(path):
                if right >= network.count:
                    if (left, right) in seen:  # a hop of a trunk counts once
                        continue
                    seen.add((left, right))
                shift = (out if left < network.count else 0) - (
                    into if right < network.count else 0
                )
                weight = strength[left] * strength[right]
                self.pulls[0][right].append((left, shift, weight))
                self.pulls[1][left].append((right, -shift, weight))
        self.gaps = [self._gaps(layer, breadth, gap) for layer in self.layers]
        self.spots = {
            vertex: (layer, gaps, index)
            for layer, gaps in zip(self.layers, self.gaps, strict=True)
            for index, vertex in enumerate(layer)
        }
        self.breadth = breadth
        self.position = [0.0] * size
        for layer, gaps in zip(self.layers, self.gaps, strict=True):
            reach = sum(gaps)
            at = -reach / 2
            for vertex, step in zip(layer, [*gaps, 0], strict=True):
                self.position[vertex] = at
                at += step
        self.spines = spines.runs
        self.spine_of = [-1] * size
        for number, run in enumerate(spines.runs):
            for vertex in run:
                self.spine_of[vertex] = number
        self.levels = [0.0] * len(spines.runs)
        for number in range(len(spines.runs)):
            self._settle(number)

    def _gaps(self, layer: list[int], breadth: Sequence[int], gap: int) -> list[float]:
        """Least distances between the middles of adjacent vertices."""
        halves = [breadth[v] / 2 if v < self.count else 0.0 for v in layer]
        free = [gap if v < self.count else gap * 0.6 for v in layer]
        return [
            halves[i] + halves[i + 1] + (free[i] + free[i + 1]) / 2 for i in range(len(layer) - 1)
        ]

    def solve(self) -> list[int]:
        rooms = list(zip(self.layers, self.gaps, strict=True))
        for number in range(PASSES):
            forwards = number % 2 == 0
            one_sided = number < PASSES // 2
            sides = (0,) if forwards else (1,)
            for layer, gaps in rooms if forwards else reversed(rooms):
                self._fit_layer(layer, gaps, sides if one_sided else (0, 1))
            for spine in range(len(self.spines)):
                self._settle(spine)
        runs = self._runs()
        if self.spines:
            before = list(self.position)
            self._level(rooms, self._uncrossed(runs))
            if self._extent() > WORTH * self._extent(before):
                self.position = before
                self._level(rooms, [])
        for run in runs:
            self._straighten(run)
        for layer in [*self.layers, *reversed(self.layers)]:
            self._take_out_bends(layer)
        for run in runs:
            self._straighten(run)
        # The one rounding. All shifts are whole numbers, and halves always go up (`round` would
        # send them to the even side), so what is straight stays straight.
        rounded = [floor(at + 0.5) for at in self.position]
        tops = [rounded[v] - self.breadth[v] // 2 for v in range(self.count)]
        top = min(tops + rounded[self.count :], default=0)
        return [at - top for at in rounded]

    def _fit_layer(self, layer: list[int], gaps: list[float], sides: Sequence[int]) -> None:
        position = self.position
        wished, weights = [], []
        for vertex in layer:
            if self.spine_of[vertex] >= 0:
                wished.append(self.levels[self.spine_of[vertex]])
                weights.append(FORCE)
                continue
            total = weight = 0.0
            for side in sides:
                for other, shift, strength in self.pulls[side][vertex]:
                    total += strength * (position[other] + shift)
                    weight += strength
            if weight:
                wished.append(total / weight)
                weights.append(weight)
            else:
                wished.append(position[vertex])
                weights.append(0.1)
        for vertex, at in zip(layer, _pool(wished, weights, gaps), strict=True):
            position[vertex] = at

    def _settle(self, number: int) -> None:
        """Find the level of a spine: the mean of where its vertices are and of what pulls at them.

        A leaf of its own pulls at nobody: it would draw the spine towards itself, and follow.
        """
        run = self.spines[number]
        total, weight = 0.0, 0.0
        for vertex in run:
            total += CARD * CARD * self.position[vertex]
            weight += CARD * CARD
            for side, back in ((0, 1), (1, 0)):
                for other, shift, strength in self.pulls[side][vertex]:
                    alone = other < self.count and len(self.pulls[back][other]) == 1
                    if self.spine_of[other] != number and not (
                        alone and not self.pulls[side][other]
                    ):
                        total += strength * (self.position[other] + shift)
                        weight += strength
        self.levels[number] = total / weight

    def _level(self, rooms: Sequence[tuple[list[int], list[float]]], runs: list[list[int]]) -> None:
        """Bring spines on exactly one level each, and long edges beside the first one too.

        A spine takes its mean level, a long edge its outermost one: those nearer push the others.
        """
        position = self.position
        axis = self.levels[0]
        held = [(FORCE, run) for run in self.spines]
        held += [(FORCE / 100, run) for run in runs]
        for _ in range(LEVELLINGS):
            wish = list(position)
            weight = [1.0] * len(position)
            for force, run in held:
                ends = [position[vertex] for vertex in run]
                level = sum(ends) / len(ends)
                if force < FORCE:
                    level = max(ends) if level > axis else min(ends)
                for vertex in run:
                    wish[vertex], weight[vertex] = floor(level + 0.5), force
            if wish == position:
                break
            for layer, gaps in rooms:
                fitted = _pool([wish[v] for v in layer], [weight[v] for v in layer], gaps)
                for vertex, at in zip(layer, fitted, strict=True):
                    position[vertex] = at

    def _uncrossed(self, runs: list[list[int]]) -> list[list[int]]:
        """The dummies of long edges, cut where two of these cross: there neither can be level."""
        run_of = {
            vertex: number for number, run in enumerate(runs) for vertex in run
            if self.spine_of[vertex] < 0
        }  # fmt: skip
        pieces: list[list[int]] = []
        current = [-1] * len(runs)  # the piece that is under way, for each run
        above: set[tuple[int, int]] = set()  # asked for membership only
        for layer in self.layers:
            passing = [run_of[vertex] for vertex in layer if vertex in run_of]
            crossed = [
                run for index, one in enumerate(passing) for other in passing[index + 1 :]
                if (current[other], current[one]) in above for run in (one, other)
            ]  # fmt: skip
            for run in crossed:
                current[run] = -1
            for vertex in layer:
                if vertex in run_of:
                    run = run_of[vertex]
                    if current[run] < 0:
                        current[run] = len(pieces)
                        pieces.append([])
                    pieces[current[run]].append(vertex)
            above.update(
                (current[one], current[other])
                for index, one in enumerate(passing) for other in passing[index + 1 :]
            )  # fmt: skip
        return pieces

    def _extent(self, position: Sequence[float] | None = None) -> float:
        position = position or self.position
        return max(position) - min(position)

    def _room(self, vertex: int) -> tuple[float, float]:
        """How far up and down the vertex could move with its neighbours standing still."""
        layer, gaps, index = self.spots[vertex]
        low, high = float("-inf"), float("inf")
        if index:
            low = self.position[layer[index - 1]] + gaps[index - 1]
        if index < len(gaps):
            high = self.position[layer[index + 1]] - gaps[index]
        return low, high

    def _runs(self) -> list[list[int]]:
        """The dummies of each long edge, in the order of the layers."""
        runs: dict[int, list[int]] = {}
        for vertex in range(self.count, len(self.position)):
            before = self.pulls[0][vertex][0][0]
            runs[vertex] = runs[before] if before >= self.count else []
            runs[vertex].append(vertex)
        return [run for vertex, run in runs.items() if vertex == run[0]]

    def _straighten(self, run: Sequence[int]) -> None:
        """Put the dummies of one edge on one line, level with one of its ends, if there is room."""
        rooms = [self._room(vertex) for vertex in run]
        low, high = max([room[0] for room in rooms]), min([room[1] for room in rooms])
        if low > high:
            return
        mean = sum([self.position[vertex] for vertex in run]) / len(run)
        ends = [self.position[other] + shift
                for side, vertex in ((0, run[0]), (1, run[-1]))
                for other, shift, _ in self.pulls[side][vertex]]  # fmt: skip
        level = [end for end in ends if low <= end <= high] or [min(max(mean, low), high)]
        line = min(level, key=lambda end: abs(end - mean))
        for vertex in run:
            self.position[vertex] = line

    def _take_out_bends(self, layer: list[int]) -> None:
        """Move a vertex a little where that makes more of its hops straight."""
        position = self.position
        for vertex in layer:
            hops = [(position[other] + shift, strength)
                    for side in self.pulls for other, shift, strength in side[vertex]]  # fmt: skip
            here = position[vertex]
            if self.spine_of[vertex] >= 0 or all(end == here for end, _ in hops):
                continue
            low, high = self._room(vertex)
            best, best_gain = here, _straight(hops, here)
            for at, _ in hops:
                if abs(at - here) <= SMALL_BEND and low <= at <= high:
                    gain = _straight(hops, at)
                    if gain > best_gain:
                        best, best_gain = at, gain
            position[vertex] = best


def _straight(hops: Sequence[tuple[float, float]], at: float) -> float:
    return sum([strength for end, strength in hops if abs(end - at) < 0.01])


def _pool(wished: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The weighted least squares fit to `wished` whose steps are at least `gaps`.

    >>> _pool([0.0, 0.0, 9.0], [1.0, 1.0, 1.0], [4.0, 4.0])
    [-2.0, 2.0, 9.0]
    """
    sums: list[float] = []
    masses: list[float] = []
    members: list[int] = []
    reach, offsets = 0.0, []
    for index, (wish, weight) in enumerate(zip(wished, weights, strict=True)):
        reach += gaps[index - 1] if index else 0.0
        offsets.append(reach)
        total, mass, count = weight * (wish - reach), weight, 1
        while sums and sums[-1] * mass >= total * masses[-1]:
            total += sums.pop()
            mass += masses.pop()
            count += members.pop()
        sums.append(total)
        masses.append(mass)
        members.append(count)
    fitted = [total / mass for total, mass, count in zip(sums, masses, members, strict=True)
              for _ in range(count)]  # fmt: skip
    return [at + offset for at, offset in zip(fitted, offsets, strict=True)]

"""Positions for boxes and lines: a layered layout in pure Python, the same in every process.

`arrange` takes sizes and edges and gives boxes and routes; it knows nothing of nodes or gradients.
Six steps, one module each, to be read in this order:

    ranks (with simplex)   which layer each node stands in
    network                long edges become chains through the layers they pass
    ordering               the order within each layer, with few crossings
    spines                 the paths to be drawn on one level
    positions              coordinates across the layers
    curves                 the line of each edge
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from minigrad.picture.layout.curves import Route, route
from minigrad.picture.layout.network import Network
from minigrad.picture.layout.ordering import count_crossings, sort_layers
from minigrad.picture.layout.positions import place_across, spread_ports
from minigrad.picture.layout.ranks import assign_ranks
from minigrad.picture.layout.spines import find_spines

__all__ = ["Box", "Layout", "Route", "Spacing", "arrange"]


class Box(NamedTuple):
    """Where a card stands: its upper left corner and its size."""

    x: int
    y: int
    width: int
    height: int


class Spacing(NamedTuple):
    """Free space, in pixels.

    Attributes:
        cards: Between two cards of one layer.
        layers: Between two layers, for the curves.
        out_pitch: Between edges that leave one card.
        in_pitch: Between edges that enter one card.
    """

    cards: int = 18
    layers: int = 40
    out_pitch: int = 14
    in_pitch: int = 14


class Layout(NamedTuple):
    """Boxes and routes in the order of the nodes and edges, and the size of the whole."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    crossings: int


def arrange(
    sizes: Sequence[tuple[int, int]],
    edges: Sequence[tuple[int, int]],
    *,
    direction: str = "LR",
    spacing: Spacing | None = None,
    stretch: Sequence[bool] | None = None,
    lanes: Sequence[int] | None = None,
    in_pitch: Sequence[int] | None = None,
    ordered: Sequence[bool] | None = None,
) -> Layout:
    """Place boxes in layers and lines between them.

    Args:
        sizes: Width and height of each box, in whole pixels: so are all results, for sharp lines.
        edges: (source, target) as indices into `sizes`; repeated edges are drawn side by side.
        direction: "LR", inputs to the left of what uses them, or "TB", inputs above.
        spacing: Free space between things.
        stretch: Boxes that grow to the full depth of their layer, so that columns align.
        lanes: For each edge, how long it must run level before its target (room for a label).
        in_pitch: For each box, the distance between edges that enter it.
        ordered: Boxes that edges enter in the order given, whatever crossings that costs.

    Returns:
        A layout in which no two boxes overlap and no line touches a box that is not its end.

    >>> for box in arrange([(40, 20), (40, 20)], [(0, 1)]).boxes:
    ...     print(box)
    Box(x=0, y=0, width=40, height=20)
    Box(x=80, y=0, width=40, height=20)
    """
    spacing = spacing or Spacing()
    along = 0 if direction == "LR" else 1
    depth = [size[along] for size in sizes]
    breadth = [size[1 - along] for size in sizes]
    inputs: list[list[int]] = [[] for _ in sizes]
    consumers: list[list[int]] = [[] for _ in sizes]
    for source, target in edges:
        inputs[target].append(source)
        consumers[source].append(target)

    rank = assign_ranks(inputs, consumers)
    network = Network(rank, edges, ordered)
    sort_layers(network)
    spines = find_spines(network)
    ports = spread_ports(network, spines, breadth, spacing.out_pitch,
                         in_pitch or [spacing.in_pitch] * len(sizes))  # fmt: skip
    across = place_across(network, spines, breadth, ports, spacing.cards)

    bands = _bands(rank, edges, depth, lanes or [0] * len(edges), spacing.layers)
    boxes = []
    for node, layer in enumerate(rank):
        start, end = bands[layer][1:]
        if stretch and stretch[node]:
            depth[node] = end - start
        x, y = start + (end - start - depth[node]) // 2, across[node] - breadth[node] // 2
        boxes.append(Box(x, y, depth[node], breadth[node]))
    routes = []
    for path, out, into in zip(network.paths, *ports, strict=True):
        source, target = path[0], path[-1]
        passed = [(entry, end) for entry, _, end in bands[rank[source] : rank[target] + 1]]
        ys = [across[vertex] for vertex in path]
        ys[0] += out
        ys[-1] += into
        routes.append(route(boxes[source].x + depth[source], passed, ys, boxes[target].x))

    reach = bands[-1][2] if bands else 0
    spread = max([box.y + box.height for box in boxes], default=0)
    spread = max([spread, *across[len(sizes) :]])
    crossings = count_crossings(network)
    if direction == "LR":
        return Layout(reach, spread, tuple(boxes), tuple(routes), crossings)
    turned = tuple(Box(box.y, box.x, box.height, box.width) for box in boxes)
    return Layout(spread, reach, turned, tuple(line.turned() for line in routes), crossings)


def _bands(
    rank: Sequence[int],
    edges: Sequence[tuple[int, int]],
    depth: Sequence[int],
    lanes: Sequence[int],
    gap: int,
) -> list[tuple[int, int, int]]:
    """For each layer: where its lane for labels starts, where its cards start, where they end."""
    count = max(rank, default=-1) + 1
    deepest, lane = [0] * count, [0] * count
    for node, layer in enumerate(rank):
        deepest[layer] = max(deepest[layer], depth[node])
    for (_, target), length in zip(edges, lanes, strict=True):
        lane[rank[target]] = max(lane[rank[target]], length)
    bands, at = [], 0
    for layer in range(count):
        entry = at
        at += lane[layer] + deepest[layer]
        bands.append((entry, entry + lane[layer], at))
        at += gap
    return bands

"""Laws of the layout: nothing overlaps, nothing is touched, and the picture stays small."""

from __future__ import annotations

import random
import re
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigrad.picture.diagram import Card, Diagram, Edge, separate_operations
from minigrad.picture.layout import Box, Layout, Route, arrange
from minigrad.picture.layout.positions import _pool
from minigrad.picture.layout.ranks import assign_ranks, topological_order
from minigrad.picture.svg import to_svg

from . import fakes

Edges = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[int, int]], Edges]:
    """Sizes and edges of an acyclic graph: repeated edges, loose nodes, several parts."""
    count = draw(st.integers(0, 24))
    sizes = draw(st.lists(st.tuples(st.integers(20, 160), st.integers(20, 90)),
                          min_size=count, max_size=count))  # fmt: skip
    edges = []
    for target in range(1, count):
        sources = draw(st.lists(st.integers(0, target - 1), max_size=4))
        edges += [(source, target) for source in sources]
    return sizes, edges


def points(line: Route) -> list[tuple[float, float]]:
    """The line as many points."""
    at, found = line.start, [(float(line.start[0]), float(line.start[1]))]
    for piece in line.pieces:
        nodes: list[tuple[float, float]] = [at, *piece]
        for step in range(1, 17):
            t = step / 16
            level: list[tuple[float, float]] = nodes
            while len(level) > 1:  # de Casteljau
                level = [(p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]))
                         for p, q in pairwise(level)]  # fmt: skip
            found.append(level[0])
        at = piece[-1]
    return found


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width and other.x < one.x + one.width
        and one.y < other.y + other.height and other.y < one.y + one.height
    )  # fmt: skip


def check(layout: Layout, edges: Edges) -> None:
    """No two boxes overlap, no line touches a box that is not its end, all is inside."""
    for one, other in combinations(layout.boxes, 2):
        assert not overlap(one, other)
    for box in layout.boxes:
        assert box.x >= 0
        assert box.x + box.width <= layout.width + 1
        assert box.y >= 0
        assert box.y + box.height <= layout.height + 1
    for (source, target), line in zip(edges, layout.routes, strict=True):
        for x, y in points(line):
            for number, box in enumerate(layout.boxes):
                if number not in (source, target):
                    inside = box.x < x < box.x + box.width and box.y < y < box.y + box.height
                    assert not inside, (source, target, number)


@given(graphs(), st.sampled_from(("LR", "TB")), st.booleans(), st.sampled_from((0, 37)))
def test_no_overlap_and_no_line_through_a_box(
    graph: tuple[list[tuple[int, int]], Edges], direction: str, stretch: bool, lane: int
) -> None:
    sizes, edges = graph
    layout = arrange(
        sizes, edges, direction=direction, stretch=[stretch] * len(sizes), lanes=[lane] * len(edges)
    )
    check(layout, edges)


def test_lines_of_a_long_loop_share_trunks_and_touch_nothing() -> None:
    edges = [(0, 1)]
    for node in range(2, 60):
        edges += [(node - 1, node), (0, node)]
    check(arrange([(60, 40)] * 60, edges), edges)


@given(graphs())
def test_ranks_lead_from_inputs_to_consumers(graph: tuple[list[tuple[int, int]], Edges]) -> None:
    sizes, edges = graph
    inputs, consumers = neighbours(len(sizes), edges)
    rank = assign_ranks(inputs, consumers)
    assert all(rank[source] < rank[target] for source, target in edges)
    assert sorted(set(rank)) == list(range(len(set(rank))))


def test_a_cycle_is_an_error() -> None:
    with pytest.raises(ValueError, match="cycle"):
        topological_order([[1], [0]], [[1], [0]])


def test_repeated_edges_are_two_lines() -> None:
    layout = arrange([(40, 40), (40, 40)], [(0, 1), (0, 1)])
    first, second = layout.routes
    assert first.start != second.start
    assert first.end != second.end


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=12))
def test_pooled_positions_keep_gaps_and_the_mean(wished: list[float]) -> None:
    fitted = _pool(wished, [1.0] * len(wished), [5.0] * (len(wished) - 1))
    steps = [b - a for a, b in pairwise(fitted)]
    assert all(step >= 5 - 1e-9 for step in steps)
    assert sum(fitted) == pytest.approx(sum(wished))


@given(graphs(), st.sampled_from(("LR", "TB")), st.data())
def test_ordered_boxes_are_entered_in_the_order_of_the_slots(
    graph: tuple[list[tuple[int, int]], Edges], direction: str, data: st.DataObject
) -> None:
    sizes, edges = graph
    ordered = data.draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    layout = arrange(sizes, edges, direction=direction, ordered=ordered)
    check(layout, edges)
    axis = 1 if direction == "LR" else 0
    ends: dict[int, list[int]] = {}
    for (_, target), line in zip(edges, layout.routes, strict=True):
        ends.setdefault(target, []).append(line.end[axis])
    for target, entered in ends.items():
        if ordered[target]:
            assert entered == sorted(entered)


def test_edges_in_the_wrong_order_count_as_crossing() -> None:
    swapped = [(0, 2), (1, 3), (3, 4), (2, 4), (0, 3), (1, 2)]
    straight = [(0, 2), (1, 3), (2, 4), (3, 4)]
    sizes = [(40, 40)] * 5
    assert arrange(sizes, swapped[2:4], ordered=[True] * 5).crossings == 0
    assert arrange(sizes, straight, ordered=[True] * 5).crossings == 0
    both_ways = [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (1, 4)]  # p - q and q - p
    assert arrange(sizes, both_ways).crossings == 1
    assert arrange(sizes, both_ways, ordered=[True] * 5).crossings == 2


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize(
    "op", ["sub", "div", "pow", "where", "matmul", "clip", "less", "softsign2"]
)
@pytest.mark.parametrize("swap", [False, True])
def test_operands_stand_in_the_order_of_the_expression(op: str, direction: str, swap: bool) -> None:
    inputs = (2, 1, 0) if swap else (0, 1, 2)
    inputs = inputs if op in ("where", "clip") else inputs[:2]
    cards = [Card(number, name, value=1.0) for number, name in enumerate("abc")]
    edges = tuple(Edge(source, 3, slot) for slot, source in enumerate(inputs))
    diagram = Diagram((*cards, Card(3, "y", op, "output", 1.0)), edges, (3,))
    for shown in (diagram, separate_operations(diagram)):
        svg = to_svg(shown, direction=direction)
        arrows = re.findall(
            r'class="mg-edge"[^>]*data-target="(\d+)".*?<path d="M(\d+) (\d+)l', svg
        )
        entered = [int(y if direction == "LR" else x) for target, x, y in arrows][: len(inputs)]
        assert entered == sorted(set(entered))
        seats = dict(re.findall(r'data-node="(\d+)" transform="translate\(([^)]*)\)"', svg))
        axis = 1 if direction == "LR" else 0
        stand = [int(seats[str(source)].split()[axis]) for source in inputs]
        assert stand == sorted(stand)  # and no line crosses another


def neighbours(count: int, edges: Edges) -> tuple[list[list[int]], list[list[int]]]:
    inputs: list[list[int]] = [[] for _ in range(count)]
    consumers: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        inputs[target].append(source)
        consumers[source].append(target)
    return inputs, consumers


def crossings(diagram: Diagram) -> int:
    edges = [(edge.source, edge.target) for edge in diagram.edges]
    return arrange([(90, 60)] * len(diagram.cards), edges).crossings


@pytest.mark.parametrize(
    ("diagram", "most"),
    [
        (fakes.diamond(), 0),
        (fakes.neuron(), 0),
        (fakes.softmax(), 2),
        (fakes.mlp(3, 4, 4, 1), 38),
        (fakes.mlp(3, 6, 6, 1), 150),
        (fakes.mlp(2, 16, 16, 1), 2950),
    ],
)
def test_crossings_stay_few(diagram: Diagram, most: int) -> None:
    assert crossings(diagram) <= most


@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_a_chain_with_constants_is_level(direction: str) -> None:
    edges, at = [], 0
    for step in range(25):  # sin, then times a constant that stands beside it
        sin, constant, product = 3 * step + 1, 3 * step + 2, 3 * step + 3
        edges += [(at, sin), (sin, product), (constant, product)]
        at = product
    layout = arrange([(90, 70)] * 76, edges, direction=direction)
    check(layout, edges)
    chain = [box for number, box in enumerate(layout.boxes) if number % 3 != 2]
    assert len({box.y if direction == "LR" else box.x for box in chain}) == 1
    assert (layout.height if direction == "LR" else layout.width) <= 2 * 90 + 18
    for (source, target), line in zip(edges, layout.routes, strict=True):
        assert len(line.pieces) == 1 or source % 3 == 2, (source, target)


def loop(kind: str, steps: int) -> Diagram:
    """A recurrent network, Horner's rule, or steps that add to what they had."""
    tape = fakes.Tape()
    h, w = tape.leaf("h", 0.1), tape.leaf("w", 0.5, "parameter")
    if kind == "recurrent":
        u, b = tape.leaf("u", 0.5, "parameter"), tape.leaf("b", 0.5, "parameter")
    for step in range(steps):
        if kind == "recurrent":
            inner = tape.op("mul", u, tape.leaf(f"x{step}", 0.2))
            h = tape.op("tanh", tape.op("add", tape.op("add", tape.op("mul", w, h), inner), b))
        elif kind == "horner":
            h = tape.op("add", tape.op("mul", h, w), tape.leaf("", float(step), "constant"))
        else:
            h = tape.op("add", h, tape.op("tanh", tape.op("mul", w, h)))
    return tape.diagram(h)


@pytest.mark.parametrize(
    ("kind", "steps", "highest"),
    [("recurrent", 6, 400), ("recurrent", 12, 600), ("horner", 8, 200), ("residual", 6, 240)],
)
def test_loops_run_level(kind: str, steps: int, highest: int) -> None:
    svg = to_svg(loop(kind, steps))
    (height,) = re.findall(r'^<svg [^>]* height="(\d+)"', svg)
    assert int(height) <= highest
    rows = re.findall(r'class="mg-node" data-node="\d+" transform="translate\(\d+ (\d+)\)"', svg)
    assert max(map(rows.count, rows)) >= 2 * steps  # on one level


@pytest.mark.parametrize("length", [1000])
def test_long_loops_are_laid_out_without_crossings(length: int) -> None:
    edges = [(0, 1)]
    for node in range(2, length):
        edges += [(node - 1, node), (0, node)]
    layout = arrange([(60, 40)] * length, edges)
    assert layout.crossings == 0


def test_the_same_graph_gives_the_same_layout() -> None:
    rng = random.Random(1)
    edges = [(rng.randrange(target), target) for target in range(1, 80) for _ in range(2)]
    sizes = [(rng.randrange(40, 120), 60) for _ in range(80)]
    assert arrange(sizes, edges) == arrange(list(sizes), list(edges))

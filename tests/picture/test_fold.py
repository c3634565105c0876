"""Folding: small enough, honest about what it hides, and still the same graph."""

from __future__ import annotations

import re
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigrad.picture import Card, Diagram, Drawing, Edge
from minigrad.picture.fold import fold
from minigrad.picture.layout.ranks import topological_order

from . import fakes


def hidden(diagram: Diagram) -> int:
    """How many nodes the folds say they hide."""
    return sum(int(what.split()[0]) for card in diagram.cards for what in card.hides)


def check_fold(diagram: Diagram, max_nodes: int) -> Diagram:
    small = fold(diagram, max_nodes)
    assert len(small.cards) <= max(max_nodes, 3)
    folds = [card for card in small.cards if card.role == "fold"]
    assert len(small.cards) - len(folds) + hidden(small) == len(diagram.cards)
    for card in folds:
        assert card.name == f"… {sum(int(what.split()[0]) for what in card.hides)} nodes"
    place = {card.id: number for number, card in enumerate(small.cards)}
    assert len(place) == len(small.cards)
    inputs: list[list[int]] = [[] for _ in place]
    consumers: list[list[int]] = [[] for _ in place]
    for edge in small.edges:
        inputs[place[edge.target]].append(place[edge.source])
        consumers[place[edge.source]].append(place[edge.target])
    topological_order(inputs, consumers)  # raises on a cycle
    return small


def test_a_small_diagram_is_left_alone() -> None:
    diagram = fakes.mlp(2, 3, 1)
    assert fold(diagram, 150) is diagram
    assert fold(diagram, None) is diagram


def test_a_chain_folds_to_its_ends_and_keeps_the_shared_weight() -> None:
    small = check_fold(fakes.chain(999), 150)
    assert [card.label for card in small.cards][:2] == ["x", "w"]
    roles = ["leaf", "parameter", "operation", "fold", "operation", "output"]
    assert [card.role for card in small.cards if card.role != "constant"] == roles
    (card,) = [card for card in small.cards if card.role == "fold"]
    assert card.hides == ("332 of add", "332 of tanh", "332 of mul", "332 constants")
    assert sorted(edge.uses for edge in small.edges) == [1, 1, 1, 1, 1, 1, 332]


def sum_of_products(count: int) -> Diagram:
    tape = fakes.Tape()
    total = tape.leaf("zero", 0.0)
    for number in range(count):
        x, w = tape.leaf(f"x{number}", 1.0), tape.leaf(f"w{number}", 2.0)
        total = tape.op("add", total, tape.op("mul", x, w))
    return tape.diagram(total)


def test_a_long_sum_keeps_its_first_and_last_term() -> None:
    small = check_fold(sum_of_products(400), 20)
    (card,) = [card for card in small.cards if card.role == "fold"]
    assert card.hides == ("398 of add", "398 of mul", "796 leaves")
    leaves = [card.name for card in small.cards if card.role == "leaf"]
    assert leaves == ["zero", "x0", "w0", "x399", "w399"]


def test_a_fold_says_whose_numbers_it_shows() -> None:
    small = check_fold(fakes.chain(999), 150)
    drawing = Drawing(fakes.chain(999))
    (card,) = [card for card in small.cards if card.role == "fold"]
    assert ">last value</text>" in drawing.svg
    assert ">last grad</text>" in drawing.svg
    assert f"last value {card.value!r}\n" in card.full_text()
    assert "numbers of the last" in drawing.html
    assert "last value" in drawing.dot
    assert card.notes == (*card.hides, "numbers of the last")


def test_an_operation_of_many_inputs_keeps_two_and_folds_the_rest() -> None:
    tape = fakes.Tape()
    leaves = [tape.leaf(f"x{number}", 1.0) for number in range(1000)]
    small = check_fold(tape.diagram(tape.op("dot", *leaves)), 150)
    assert [card.name for card in small.cards[:2]] == ["x0", "x1"]
    assert small.cards[2].hides == ("998 leaves",)
    assert small.edges[-1].uses == 998
    assert small.edges[-1].contribution == 998.0
    assert small.cards[2].value is None  # 998 values leave it


def test_four_cards_become_three() -> None:
    cards = tuple(Card(number, f"v{number}", value=1.0) for number in range(4))
    check_fold(Diagram(cards, (Edge(0, 2), Edge(0, 3)), (0, 1)), 3)


def test_a_fold_does_not_hide_a_warning() -> None:
    diagram = fakes.chain(99)
    cards = list(diagram.cards)
    cards[50] = cards[50]._replace(flags=("not finite",))
    small = check_fold(diagram._replace(cards=tuple(cards)), 10)
    assert [card.flags for card in small.cards if card.flags] == [("not finite",)]


@pytest.mark.parametrize("max_nodes", [1, 10, 40, 150, 500])
def test_a_large_network_gets_as_small_as_asked(max_nodes: int) -> None:
    check_fold(fakes.mlp(2, 16, 16, 1), max_nodes)


@given(st.data())
def test_any_graph_can_be_folded(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 60))
    cards, edges = [], []
    for node in range(count):
        near = data.draw(st.lists(st.integers(0, node - 1), max_size=3)) if node else []
        op = data.draw(st.sampled_from(("add", "tanh"))) if near else None
        cards.append(Card(node, f"v{node}", op, "operation" if near else "leaf", 1.0))
        edges += [Edge(source, node, slot) for slot, source in enumerate(near)]
    outputs = data.draw(st.lists(st.integers(0, count - 1), max_size=3, unique=True))
    diagram = Diagram(tuple(cards), tuple(edges), tuple(outputs))
    small = check_fold(diagram, data.draw(st.integers(1, 30)))
    kept = {card.id for card in small.cards if card.role != "fold"}
    expected = [(edge.source, edge.target) for edge in edges
                if edge.source in kept and edge.target in kept]  # fmt: skip
    found = [(edge.source, edge.target) for edge in small.edges
             if edge.source in kept and edge.target in kept]  # fmt: skip
    assert found == expected


def test_a_chain_of_a_hundred_thousand_nodes_is_drawn_in_time() -> None:
    diagram = fakes.chain(75_000)
    assert len(diagram.cards) > 100_000 - 100
    started = perf_counter()
    drawing = Drawing(diagram)
    forms = drawing.svg, drawing.html, str(drawing), drawing.dot
    assert perf_counter() - started < 8  # a second on an idle machine
    assert all(len(form) < 40_000 for form in forms)
    assert re.search(r"… 9999\d nodes", drawing.svg)

"""Folding: small enough, honest about what it hides, and still the same graph."""

from __future__ import annotations

import re

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
        if card.name.startswith("…") and card.name.endswith("nodes"):
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
    assert small.edges[-1].contribution is None  # to 998 leaves: their sum is no derivative
    assert small.cards[2].value is None  # 998 values leave it


def test_leaves_of_two_families_do_not_go_behind_one_card() -> None:
    tape = fakes.Tape()
    pixels = [tape.leaf(f"x{number}", 1.0) for number in range(8)]
    kernel = [tape.leaf(f"k{number}", 1.0) for number in range(8)]
    products = [tape.op("mul", x, k) for x in pixels for k in kernel]
    small = check_fold(tape.diagram(tape.op("dot", *products)), 20)
    hidden = [{name[0] for name in card.names} for card in small.cards if card.role == "fold"]
    assert {"x"} in hidden
    assert {"k"} in hidden
    assert {"x", "k"} not in hidden


def test_four_cards_become_three() -> None:
    cards = tuple(Card(number, f"v{number}", value=1.0) for number in range(4))
    check_fold(Diagram(cards, (Edge(0, 2), Edge(0, 3)), (0, 1)), 3)


def test_a_fold_does_not_hide_a_warning() -> None:
    diagram = fakes.chain(99)
    cards = list(diagram.cards)
    cards[50] = cards[50]._replace(flags=("not finite",))
    small = check_fold(diagram._replace(cards=tuple(cards)), 10)
    assert [card.flags for card in small.cards if card.flags] == [("not finite",)]


def test_a_name_in_a_chain_keeps_its_card_while_there_is_room() -> None:
    diagram = fakes.chain(999)
    middle = next(card for card in diagram.cards[600:] if card.op == "tanh")
    cards = [card._replace(name="h") if card is middle else card for card in diagram.cards]
    named = diagram._replace(cards=tuple(cards))
    small = check_fold(named, 150)
    assert "h" in [card.name for card in small.cards]
    assert len([card for card in small.cards if card.role == "fold"]) == 2  # before it and after it
    tiny = check_fold(named, 4)  # no room: then the fold says that it is in there
    (card,) = [card for card in tiny.cards if card.role == "fold"]
    assert "h" in card.names
    assert "among them" in card.full_text()


def test_names_that_differ_in_digits_only_do_not_keep_their_cards() -> None:
    diagram = fakes.chain(999)
    cards = [card._replace(name=f"h{card.id}") if card.op == "tanh" else card
             for card in diagram.cards]  # fmt: skip
    small = check_fold(diagram._replace(cards=tuple(cards)), 150)
    assert len(small.cards) < 10


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_named_sibling_stays(place: str) -> None:
    tape = fakes.Tape()
    x, y = tape.leaf("x", 1.0), tape.leaf("y", 2.0)
    which = {"first": 0, "middle": 30, "last": 59}[place]
    tops = [
        tape.op("tanh", tape.op("mul", x, tape.op("exp", y)), name="mine" if i == which else "")
        for i in range(60)
    ]
    small = check_fold(tape.diagram(tape.op("dot", *tops)), 50)
    assert "mine" in [card.name for card in small.cards]
    (card,) = [card for card in small.cards if card.role == "fold"]
    assert card.name.startswith("… 58 like v")
    assert card.hides == ("58 of tanh", "58 of mul", "58 of exp")


@pytest.mark.parametrize("sizes", [(2, 16, 16, 2), (3, 30, 30, 30, 2), (2, 64, 3)])
def test_of_the_neurons_of_each_layer_one_stays(sizes: tuple[int, ...]) -> None:
    small = check_fold(fakes.mlp(*sizes), 150)
    folds = [card.name for card in small.cards if card.role == "fold"]
    for layer, width in enumerate(sizes[1:-1]):
        assert any(name == f"… {width - 1} like h{layer}_0" for name in folds)
        assert f"h{layer}_0" in [card.name for card in small.cards]
    (height,) = re.findall(r'^<svg [^>]* height="(\d+)"', Drawing(fakes.mlp(*sizes)).svg)
    assert int(height) < 1600


def test_the_neurons_in_a_sum_are_folded_as_its_terms() -> None:
    small = check_fold(fakes.mlp(2, 64, 1), 150)
    kept = [card.name for card in small.cards if card.name.startswith("h0")]
    assert kept == ["h0_0", "h0_63"]


def test_scopes_are_folded_the_deepest_first_and_by_visits() -> None:
    cards, edges = [Card(0, "x", value=1.0)], []
    scopes = ["net/a"] * 6 + ["net/b"] * 6 + ["net/a"] * 6 + [""]
    for node, scope in enumerate(scopes, 1):  # two inputs each, all different: no chain, no kin
        cards.append(Card(node, f"v{node}", f"op{node}", "operation", 1.0, scope=scope))
        edges += [Edge(node - 1, node), Edge(max(0, node - 2), node, 1)]
    diagram = Diagram(tuple(cards), tuple(edges), (len(scopes),))
    small = check_fold(diagram, 12)
    assert [card.name for card in small.cards if card.role == "fold"] == ["net/a", "net/a"]
    small = check_fold(diagram, 5)
    assert [card.name for card in small.cards] == ["x", "net/a", "net/b", "net/a", "v19"]
    small = check_fold(diagram, 3)
    assert [card.name for card in small.cards] == ["net", "v19"]


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
        name = data.draw(st.sampled_from((f"v{node}", "h", "loss", "w[3]")))
        scope = data.draw(st.sampled_from(("", "net", "net/a", "net/b")))
        role = "operation" if near else "leaf"
        cards.append(Card(node, name, op, role, 1.0, scope=scope))
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


def test_a_chain_of_a_hundred_thousand_nodes_is_a_small_picture() -> None:
    diagram = fakes.chain(75_000)
    assert len(diagram.cards) > 100_000 - 100
    drawing = Drawing(diagram)
    forms = drawing.svg, drawing.html, str(drawing), drawing.dot
    assert all(len(form) < 40_000 for form in forms)
    assert re.search(r"… 9999\d nodes", drawing.svg)

"""The SVG: well formed, complete, inert, legible, and the same in every process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigrad.formatting import visible
from minigrad.picture.cards import text_width
from minigrad.picture.diagram import (
    GRADIENT_STARTS,
    STARTS,
    Card,
    Diagram,
    Edge,
    separate_operations,
)
from minigrad.picture.sketch import RecordedSketch
from minigrad.picture.svg import to_svg
from minigrad.picture.themes import THEMES

from . import fakes

SVG = "{http://www.w3.org/2000/svg}"
ALL = ("value", "gradient", "local", "contribution")


def groups(svg: str, kind: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == f"mg-{kind}"]


def texts(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def titles(svg: str) -> list[str]:
    return [title.text or "" for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("theme", sorted(THEMES))
@pytest.mark.parametrize(
    "diagram", [fakes.diamond(), fakes.neuron(), fakes.softmax(), fakes.mlp(2, 3, 1)]
)
def test_every_node_and_edge_is_drawn_exactly_once(
    diagram: Diagram, theme: str, direction: str
) -> None:
    for drawn in (diagram, separate_operations(diagram)):
        svg = to_svg(drawn, theme=theme, direction=direction, show=ALL)
        assert [int(g.get("data-node", "")) for g in groups(svg, "node")] == [
            card.id for card in drawn.cards
        ]
        ends = [(int(g.get("data-source", "")), int(g.get("data-target", "")))
                for g in groups(svg, "edge")]  # fmt: skip
        assert ends == [(edge.source, edge.target) for edge in drawn.edges]
        ids = re.findall(r' id="([^"]*)"', svg)
        assert len(ids) == len(set(ids)) == len(drawn.cards) + len(drawn.edges)


def test_equal_names_and_values_are_different_nodes() -> None:
    tape = fakes.Tape()
    a, b = tape.leaf("x", 2.0), tape.leaf("x", 2.0)
    diagram = tape.diagram(tape.op("add", tape.op("mul", a, b), a))
    assert len(groups(to_svg(diagram), "node")) == 4
    assert [edge.source for edge in diagram.edges].count(a) == 2


def test_a_square_shows_two_edges() -> None:
    edges = groups(to_svg(fakes.diamond()), "edge")
    assert [edge.get("data-source") for edge in edges].count("0") == 3


def test_numbers_are_short_on_the_card_and_exact_on_hover() -> None:
    svg = to_svg(Diagram((Card(0, "tiny", value=3e-6 / 7, gradient=-0.1 - 0.2),), (), (0,)))
    assert "4.286e-07" in texts(svg)
    assert "-0.3" in texts(svg)
    assert f"value {3e-6 / 7!r}" in titles(svg)[0]
    assert "gradient -0.30000000000000004" in titles(svg)[0]


def test_no_gradient_is_a_dot_and_never_zero() -> None:
    svg = to_svg(Diagram((Card(0, "x", value=2.0),), (), (0,)))
    assert texts(svg) == ["x", "value", "2", "grad", "·"]


def test_an_empty_diagram_is_a_picture() -> None:
    assert ElementTree.fromstring(to_svg(Diagram((), (), ()))).tag == f"{SVG}svg"


def test_what_is_not_finite_is_marked_in_words() -> None:
    nodes = [fakes.FakeNode(0, "x", "leaf", None, (), float("nan"))]
    svg = to_svg(RecordedSketch(nodes, [], {0: None}, []).diagram())
    assert "! not finite: starts here" in texts(svg)
    assert "! nan" in texts(svg)


def flagged(diagram: Diagram) -> list[str]:
    starts = {STARTS, GRADIENT_STARTS}
    return [card.name for card in diagram.cards if starts & set(card.flags)]


def test_only_where_nan_starts_is_it_said_in_words() -> None:
    tape = fakes.Tape()
    x, y = tape.leaf("x", 1e300), tape.leaf("y", 2.0)
    big = tape.op("mul", x, x, name="big")
    zero = tape.op("sub", big, big, name="zero")
    diagram = tape.diagram(tape.op("add", tape.op("tanh", zero), y, name="out"))
    assert flagged(diagram) == ["big"]
    svg = to_svg(diagram)
    assert texts(svg).count("! not finite: starts here") == 1
    assert texts(svg).count("! nan") >= 3  # a small sign on the others


def test_a_gradient_can_be_where_it_starts() -> None:
    nodes = [
        fakes.FakeNode(0, "w", "leaf", None, (), 2.0),
        fakes.FakeNode(1, "u", "operation", "mul", (0, 0), 0.0),
        fakes.FakeNode(2, "y", "output", "sqrt", (1,), 0.0),
    ]
    inf = float("inf")
    edges = [fakes.FakeEdge(2, 0, inf, inf), fakes.FakeEdge(1, 0, 2.0, inf),
             fakes.FakeEdge(1, 1, 2.0, inf)]  # fmt: skip
    assert flagged(RecordedSketch(nodes, [2], {0: inf, 1: inf, 2: 1.0}, edges).diagram()) == ["u"]
    summed = [fakes.FakeEdge(1, 0, 2.0, 1e308), fakes.FakeEdge(1, 1, 2.0, 1e308)]
    assert flagged(RecordedSketch(nodes, [2], {0: inf, 1: 1.0, 2: 1.0}, summed).diagram()) == ["w"]
    assert flagged(RecordedSketch(nodes, [2], {2: inf}, []).diagram()) == ["y"]  # the seed


def test_a_constant_used_once_stands_on_the_card_of_its_user() -> None:
    tape = fakes.Tape()
    x = tape.leaf("x", 3.0)
    less = tape.op("sub", x, tape.leaf("", 0.1 + 0.2, "constant"), name="less")
    turned = tape.op("div", tape.leaf("", 2.0, "constant"), less, name="turned")
    diagram = tape.diagram(turned)
    svg = to_svg(diagram)
    nodes, edges = groups(svg, "node"), groups(svg, "edge")
    assert [int(node.get("data-node", "")) for node in nodes] == [0, 1, 2, 3, 4]
    assert [len(edge) for edge in edges] == [3, 1, 1, 3]  # two without a line, with their titles
    assert {"0.3", "2"} <= set(texts(svg))
    assert any("value 0.30000000000000004" in title for title in titles(svg))
    assert [words for words in texts(svg) if words in ("−", "÷")] == ["−", "÷"]  # on cards only

    def place(node: ElementTree.Element) -> tuple[float, float]:
        x, y = re.findall(r"\d+", node.get("transform", ""))
        return float(x), float(y)

    for constant, user, sign in ((1, 2, "−"), (3, 4, "÷")):
        (left, top), (card_left, card_top) = place(nodes[constant]), place(nodes[user])
        assert card_left < left < card_left + 120
        assert card_top < top < card_top + 20
        (badge,) = [float(text.get("x", "")) for text in nodes[user].iter(f"{SVG}text")
                    if text.text == sign]  # fmt: skip
        assert (left < card_left + badge) == (sign == "÷")  # 2 ÷ less, but x − 0.3


def test_other_constants_keep_a_card() -> None:
    tape = fakes.Tape()
    x, shared = tape.leaf("x", 3.0), tape.leaf("", 2.0, "constant")
    both = tape.op("mul", tape.leaf("", 4.0, "constant"), tape.leaf("", 5.0, "constant"))
    long = tape.op("add", x, tape.leaf("a_constant_with_a_long_name", 7.0, "constant"))
    total = tape.op("add", tape.op("mul", tape.op("mul", both, shared), shared), long)
    svg = to_svg(tape.diagram(total))
    assert all(len(edge) == 3 for edge in groups(svg, "edge"))


def test_labels_of_edges_on_request() -> None:
    tape = fakes.Tape()
    quotient = tape.op("div", tape.leaf("a", 1.0), tape.leaf("b", 4.0))
    svg = to_svg(tape.diagram(quotient), show=ALL)
    assert "×0.25= 0.25" in texts(svg)
    assert "÷×(-0.0625)= -0.0625" in texts(svg)


def test_minus_and_division_mark_the_second_input() -> None:
    for op, sign, words in (("sub", "−", "subtracted"), ("div", "÷", "divisor")):
        tape = fakes.Tape()
        svg = to_svg(tape.diagram(tape.op(op, tape.leaf("a", 1.0), tape.leaf("b", 4.0))))
        first, second = groups(svg, "edge")
        assert [text.text for text in first.iter(f"{SVG}tspan")] == []
        assert [text.text for text in second.iter(f"{SVG}tspan")] == [sign]
        assert f"input 2 ({words})" in (second[0].text or "")


@pytest.mark.parametrize("name", fakes.HOSTILE)
@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_hostile_names_are_drawn_literally(name: str, direction: str) -> None:
    diagram = fakes.named(name, "plain", name)
    svg = to_svg(diagram, direction=direction, show=ALL)
    assert len(groups(svg, "node")) == 4
    assert len(groups(svg, "edge")) == 3
    svg.encode("utf-8")
    if name and "\n" not in name:
        assert any(title.startswith(visible(name)) for title in titles(svg))
    if name and len(name) < 14:
        assert visible(name) in texts(svg)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_any_name_gives_a_well_formed_picture(names: list[str]) -> None:
    for theme in THEMES:
        svg = to_svg(fakes.named(*names), theme=theme, show=ALL)
        assert len(groups(svg, "node")) == len(names) + 1


def test_long_names_are_shortened_with_the_whole_on_hover() -> None:
    name = "a_very_long_name_of_a_parameter_of_the_first_layer"
    svg = to_svg(Diagram((Card(0, name, value=1.0),), (), (0,)))
    assert texts(svg)[0].endswith("…")
    assert titles(svg)[0].startswith(name)


@pytest.mark.parametrize("name", ["mmmmWWWW@@@@%%%%mmmm", "损失函数损失函数损失", "x"])
def test_names_fit_on_their_card(name: str) -> None:
    svg = to_svg(Diagram((Card(0, name, "some_operation", "operation", -1.235e-100),), (), ()))
    (card,) = groups(svg, "node")
    width = max(float(part.get("width", "0")) for part in card)
    assert text_width(name, 13, bold=True) + 20 <= width


def test_looks_do_not_depend_on_styles_or_classes() -> None:
    svg = to_svg(fakes.neuron())
    assert "<style" not in svg
    assert "style=" not in svg
    for text in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        assert text.get("fill") or all(part.get("fill") for part in text)


def test_roles_differ_by_shape() -> None:
    def shape(role: str) -> list[str]:
        card = Card(0, "x", None, role, 1.0, 1.0)
        (node,) = groups(to_svg(Diagram((card,), (), ()), theme="print"), "node")
        return [f"{part.tag} {part.get('stroke-width')} {part.get('rx')}" for part in node
                if not part.tag.endswith(("title", "text"))]  # fmt: skip

    shapes = [shape(role) for role in ("leaf", "parameter", "constant", "operation", "output",
                                       "fold", "box")]  # fmt: skip
    assert len({str(one) for one in shapes}) == len(shapes)


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", sorted(THEMES))
def test_text_has_enough_contrast(theme: str) -> None:
    colours = THEMES[theme]
    for text in ("ink", "quiet", "value", "gradient", "local", "warning"):
        for ground in (colours.paper, colours.card):
            assert contrast(getattr(colours, text), ground) >= 4.5, text
    assert contrast(colours.ink, colours.badge) >= 4.5
    assert contrast(colours.line, colours.paper) >= 3
    assert contrast(colours.border, colours.paper) >= 3


def test_every_light_colour_has_one_dark_partner() -> None:
    """The theme "auto" exchanges colours, so no two parts may share one and differ in the dark."""
    partner: dict[str, str] = {}
    for light, dark in zip(THEMES["light"], THEMES["dark"], strict=True):
        assert partner.setdefault(light, dark) == dark


def test_auto_is_light_with_rules_beside_it() -> None:
    auto, light = (to_svg(fakes.neuron(), theme=theme) for theme in ("auto", "light"))
    assert re.sub("<style>.*</style>", "", auto) == light
    style = "".join(re.findall("<style>(.*)</style>", auto))
    for colour in set(re.findall(r'(?:fill|stroke)="(#\w+)"', auto)):
        assert f'="{colour}"]' in style


def test_the_picture_has_a_text_alternative() -> None:
    root = ElementTree.fromstring(to_svg(fakes.neuron()))
    assert root.get("role") == "img"
    assert "10 nodes and 9 edges. Output y = 0.707" in (root.get("aria-label") or "")


def test_prefixes_keep_ids_apart() -> None:
    one, other = (to_svg(fakes.diamond(), prefix=prefix) for prefix in ("a-", "b-"))
    assert not set(re.findall(r' id="([^"]*)"', one)) & set(re.findall(r' id="([^"]*)"', other))


def test_the_same_bytes_in_every_process() -> None:
    program = (
        "import sys; from tests.picture import fakes; from minigrad.picture import Drawing\n"
        "for d in (fakes.softmax(), fakes.mlp(3, 4, 4, 1), fakes.mlp(2, 16, 16, 1)):\n"
        "    p = Drawing(d, show=('value', 'gradient', 'local'), max_nodes=120)\n"
        "    sys.stdout.buffer.write((p.svg + p.html + str(p) + p.dot).encode())\n"
    )
    root = Path(__file__).parents[2]
    outputs = set()
    for seed in ("0", "1", "4242"):
        paths = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
        done = subprocess.run([sys.executable, "-c", program], env=environment, cwd=root,
                              capture_output=True, check=True)  # fmt: skip
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop()) > 100_000


def test_separate_operations_keep_slots() -> None:
    two = separate_operations(fakes.diamond())
    assert [card.role for card in two.cards].count("box") == 2
    assert len(two.edges) == 4 + 2
    assert two.edges[0] == Edge(0, 3, 0, "", 3.0, 3.0)

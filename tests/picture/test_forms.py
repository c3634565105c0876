"""The other forms: page and notebook output, terminal tree, DOT text, files."""

from __future__ import annotations

import re
import shutil
import subprocess
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad import Value, draw
from minigrad.errors import ArgumentTypeError, PictureError
from minigrad.formatting import clip_text, display_width, short, visible
from minigrad.picture import Card, Diagram, Drawing, Edge
from minigrad.picture.dot import to_dot
from minigrad.picture.html import to_fragment
from minigrad.picture.text import to_text

from . import fakes


class Elements(HTMLParser):
    """The start tags of a page, and the text outside of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.sources: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for key, value in attrs if key in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


# Numbers and widths


@given(st.floats(allow_nan=False))
def test_no_number_looks_like_zero_unless_it_is(number: float) -> None:
    shown = short(number)
    assert (float(shown) == 0) == (number == 0)
    assert len(shown) <= 11
    if abs(number) < 1e300:
        assert float(shown) == pytest.approx(number, rel=5.1e-4)


@pytest.mark.parametrize(
    ("number", "shown"),
    [(3e-6, "3e-06"), (1e20, "1e+20"), (-1e-9, "-1e-09"), (123456.789, "1.235e+05"),
     (0.1 + 0.2, "0.3"), (-0.0, "0"), (None, "·"), (float("nan"), "nan"), (100000.0, "100000"),
     (-999999.0, "-999999"), (1e6, "1e+06"), (float("inf"), "inf")],
)  # fmt: skip
def test_short_numbers(number: float | None, shown: str) -> None:
    assert short(number) == shown


@given(st.text(), st.integers(1, 30))
def test_clipped_text_fits(text: str, width: int) -> None:
    assert display_width(clip_text(text, width)) <= width


# Pages


@pytest.mark.parametrize("name", fakes.HOSTILE)
def test_names_are_inert_on_a_page(name: str) -> None:
    harmless = Elements(Drawing(fakes.named("a", "b", "c")).html)
    hostile_page = Drawing(fakes.named(name, "b", name)).html
    assert Elements(hostile_page).tags == harmless.tags
    if name and "\n" not in name:
        assert visible(name) in "".join(Elements(hostile_page).words)
    hostile_page.encode()


def test_a_page_needs_nothing_but_itself() -> None:
    drawing = Drawing(fakes.neuron(), show=("value", "gradient", "local", "contribution"))
    (source,) = Elements(drawing.html).sources
    head, data = source.split(",")
    assert head == "data:image/svg+xml;base64"
    image = b64decode(data).decode()
    assert re.sub("<style>.*</style>", "", image) == drawing.svg  # and rules for a dark page
    for word in ("eval(", "fetch(", "http://", "https://", "import(", "Function("):
        assert word not in drawing.html


def test_the_table_has_every_number_exactly() -> None:
    diagram = fakes.neuron()
    words = Elements(to_fragment(diagram, "<svg/>")).words
    for card in diagram.cards:
        assert repr(card.value) in words
        assert repr(card.gradient) in words


def test_the_table_has_the_signs_of_the_picture_and_is_aligned() -> None:
    fragment = to_fragment(fakes.neuron(), "<svg/>")
    words = Elements(fragment).words
    assert words.count("× mul") == 2
    assert words.count("+ add") == 2
    assert words.count("tanh") == 1
    assert '<td style="text-align:left">y</td>' in fragment
    assert '<td style="text-align:right">' in fragment


def test_a_notebook_gets_html_and_text_but_no_bare_svg() -> None:
    drawing = Drawing(fakes.diamond())
    one, other = drawing._repr_mimebundle_(), drawing._repr_mimebundle_()
    assert sorted(one) == ["text/html", "text/plain"]
    assert one["text/plain"] == str(drawing)
    ids = []
    for bundle in (one, other):
        (source,) = Elements(bundle["text/html"]).sources
        ids.append(set(re.findall(r' id="([^"]*)"', b64decode(source.split(",")[1]).decode())))
    assert ids[0]
    assert not ids[0] & ids[1]


# Text


def test_a_shared_node_is_printed_once() -> None:
    assert to_text(fakes.diamond()) == (
        "#  node              op  value  grad\n"
        "1  y                 +      12     1\n"
        "2  ├─ m              ×       9     1\n"
        "3  │  ├─ x                   3     7\n"
        "   │  └─ x (see #3)\n"
        "   └─ x (see #3)"
    )


@pytest.mark.parametrize("diagram", [fakes.mlp(3, 4, 4, 1), fakes.softmax(), fakes.chain(120)])
def test_text_fits_in_a_terminal_and_has_every_node_once(diagram: Diagram) -> None:
    lines = to_text(diagram).splitlines()
    assert max(map(display_width, lines)) <= 80
    numbers = [int(line.split()[0]) for line in lines[1:] if line.split()[0].isdigit()]
    assert numbers == list(range(1, len(diagram.cards) + 1))


@pytest.mark.parametrize("name", fakes.HOSTILE)
def test_names_cannot_break_lines_or_steer_a_terminal(name: str) -> None:
    harmless = to_text(fakes.named("a", "b", "c"))
    text = to_text(fakes.named(name, "b", name))
    assert text.count("\n") - harmless.count("\n") in (0, -1)  # an empty title has no line
    assert "\x1b" not in text
    assert "\0" not in text


# DOT


def statements(dot: str) -> tuple[int, int]:
    """Nodes and edges of DOT text, with every quoted string taken out first."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "S", dot)
    assert '"' not in bare
    nodes, edges = re.findall(r"^  n\d+ \[", bare, re.M), re.findall(r"^  n\d+ -> ", bare, re.M)
    return len(nodes), len(edges)


@pytest.mark.parametrize("name", fakes.HOSTILE)
def test_names_cannot_become_dot_syntax(name: str) -> None:
    dot = to_dot(fakes.named(name, "b", name))
    assert statements(dot) == (4, 3)
    assert dot.count("{") - dot.count("}") == 0 or "{" in name or "}" in name
    if shutil.which("dot") and "\ud800" not in name:
        command = ["dot", "-Tplain"]
        done = subprocess.run(command, input=dot.encode(), capture_output=True, timeout=60)
        assert done.returncode == 0
        assert len(re.findall(rb"^node ", done.stdout, re.M)) == 4


@given(st.text())
def test_any_name_stays_a_string_in_dot(name: str) -> None:
    assert statements(to_dot(fakes.named(name, name))) == (3, 2)


# Files


@pytest.mark.parametrize("ending", ["svg", "html", "txt", "dot", "SVG"])
def test_save_writes_exactly_one_file_and_returns_its_path(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.b.{ending}"
    drawing = Drawing(fakes.named("损失", "\ud800"))
    for _ in range(2):
        assert drawing.save(str(path)) == path
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert "损失" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["graph.bmp", "graph", "graph.svg.zip"])
def test_an_unknown_ending_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(PictureError, match=r"\.svg, \.html, \.txt, \.dot"):
        Drawing(fakes.diamond()).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_path_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    drawing = Drawing(fakes.diamond())
    with pytest.raises(PictureError, match="there is no folder"):
        drawing.save(tmp_path / "missing" / "x.svg")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(PictureError, match="is a folder"):
        drawing.save(tmp_path / "folder.svg")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.svg"]


def test_nothing_half_written_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.svg"
    path.write_text("before")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(PictureError, match="No space left"):
        Drawing(fakes.diamond()).save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["x.svg"]
    assert path.read_text() == "before"


@pytest.mark.parametrize(
    ("option", "given_value"),
    [("ops", "split"), ("direction", "RL"), ("theme", "solarized"), ("show", "grad"),
     ("max_nodes", 0)],
)  # fmt: skip
def test_unknown_options_list_what_there_is(option: str, given_value: object) -> None:
    with pytest.raises(PictureError, match=option):
        Drawing(fakes.diamond(), **{option: given_value})  # type: ignore[arg-type]


def test_a_drawing_of_one_leaf_and_of_several_outputs() -> None:
    leaf = Diagram((Card(0, "x", value=2.0),), (), (0,))
    assert "x" in str(Drawing(leaf))
    cards = (Card(0, "x"), Card(1, "u", "exp", "output"), Card(2, "v", "log", "output"))
    both = Diagram(cards, (Edge(0, 1), Edge(0, 2)), (1, 2))
    assert str(Drawing(both)).count("see #2") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"foo": 1}, "option='foo' is not known; there is 'ops'"),
        ({"max_nodes": "a"}, "max_nodes='a'"),
        ({"max_nodes": 2.5}, r"max_nodes=2\.5"),
        ({"show": 3}, "show=3"),
        ({"theme": None}, "theme=None"),
    ],
)
def test_an_option_that_does_not_exist_is_named(options, said):
    with pytest.raises(PictureError, match=said):
        mg.draw(mg.Value(1.0) * 2.0, **options)


def test_what_is_no_node_is_not_drawn():
    for wrong in (3.0, "x", [mg.Value(1.0), 2.0]):
        with pytest.raises(ArgumentTypeError, match="draw takes a node"):
            mg.draw(wrong)


def test_nothing_to_draw_and_nowhere_to_save():
    with pytest.raises(PictureError, match="no node"):
        mg.draw([])
    with pytest.raises(PictureError, match=r"x\.svg"):
        mg.draw(mg.Value(1.0) * 2.0).save(3)
    assert mg.draw(mg.Value(1.0) * 2.0, title=None).svg.startswith("<svg")


def test_a_changed_leaf_says_what_was_computed_with() -> None:
    w, x = Value(2.0, name="w"), Value(3.0, name="x")
    y = w * x
    w.data = 5.0
    again = y + w  # 5 is what the card shows
    cards = {card.name: card for card in draw(again).diagram.cards}
    assert cards["w"].flags == ("stale: 2 was used",)
    assert cards["w"].warnings == cards["w"].flags
    assert "! stale: 2 was used" in draw(again).svg
    assert cards["x"].flags == ()


def test_where_a_gradient_stops_being_finite_the_value_is_not_blamed() -> None:
    u = Value(0.0, name="u")
    with mg.errstate("ignore"):
        flags = {card.name: card.flags for card in draw(mg.sqrt(u)).diagram.cards}
        assert flags["u"] == ("not finite: gradient, from here",)
        y = mg.log(u)
        y.name = "y"
        assert draw(y).diagram.cards[-1].flags == ("not finite: starts here",)


def test_a_fold_that_is_called_like_a_scope_holds_all_of_it_or_says_that_it_does_not() -> None:
    model = mg.nn.MLP(3, [8, 8], 2, mode="scalar", rng=0)
    folds = [
        card for card in draw(model([1.0, 2.0, 3.0]), max_nodes=12).diagram.cards
        if card.role == "fold"
    ]  # fmt: skip
    dots = {card.name: card.hides[0] for card in folds if "of dot" in card.hides[0]}
    assert dots == {
        "part of MLP/layers.0": "1 of dot",  # the other seven are like it
        "part of MLP/layers.1": "1 of dot",
        "MLP/layers.2": "2 of dot",
    }

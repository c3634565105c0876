"""What is written on a card, and how large the card must be for it.

Text is measured by a table of the widest common sans-serif font, so it fits in every font that a
browser may choose; text outside the table is fitted by the browser itself (`Text.fitted`).

Read next: `minigrad.picture.layout`, which places the cards; `minigrad.picture.svg`, which draws.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple
from unicodedata import east_asian_width, normalize

from minigrad.formatting import clip_text, display_width, finite, gist, short, visible
from minigrad.picture.diagram import INFIX, SLOT_SIGNS, Card, Diagram, Edge

__all__ = ["Face", "Inset", "Row", "Text", "edge_words", "face_of", "insets", "text_width"]

NAME_SIZE, TEXT_SIZE, SMALL_SIZE = 13, 12, 10.5
ROW_HEIGHT = 17
PADDING = 10
NAME_COLUMNS = 22
OP_COLUMNS = 16
REMARK_COLUMNS = 30
KINDS = 4  # lines for what a fold hides
INSET_COLUMNS = 12


class Text(NamedTuple):
    """A piece of text that fits in `width` pixels.

    Attributes:
        text: What is written, shortened and without control characters.
        width: Pixels it may take.
        fitted: Whether the browser must be told the width because the glyphs are not known.
    """

    text: str
    width: int
    fitted: bool = False


class Row(NamedTuple):
    """One line of a card: a quiet word on the left and a number on the right, or one text."""

    label: str
    text: Text
    tone: str


class Inset(NamedTuple):
    """A constant that is written beside the operation of the card that uses it: ``× 1.1``.

    Attributes:
        constant: Index of the card of the constant.
        edge: Index of the edge that it saves.
        text: What is written.
        width: Pixels of its pill.
        first: Whether it is the first input, and so stands before the sign.
    """

    constant: int
    edge: int
    text: Text
    width: int
    first: bool


class Face(NamedTuple):
    """Everything a card shows, and its size in pixels."""

    name: Text
    symbol: Text
    rows: tuple[Row, ...]
    width: int
    height: int
    inset: Inset | None = None

    @property
    def badge(self) -> int:
        """The width of the pill in which the sign of the operation stands."""
        return max(20, self.symbol.width + 12) if self.symbol.text else 0


class Word(NamedTuple):
    """One part of the label of an edge, in the colour of `tone`."""

    text: str
    tone: str


def insets(diagram: Diagram, show: tuple[str, ...]) -> dict[int, Inset]:
    """For the index of a card, the constant that stands on it instead of on a card of its own.

    These are unnamed numbers, or names of a few letters, that are used once, by an operation that
    is written between its inputs, and together with something that is no such number.

    >>> x, two = Card(0, "x", value=3.0), Card(1, "", None, "constant", 2.0)
    >>> y = Card(2, "y", "mul", "output", 6.0)
    >>> found = insets(Diagram((x, two, y), (Edge(0, 2), Edge(1, 2, 1)), (2,)), ("value",))
    >>> found[2].constant, found[2].text.text, found[2].first
    (1, '2', False)
    """
    index = {card.id: number for number, card in enumerate(diagram.cards)}
    plain = {card.id for card in diagram.cards if card.role == "constant" and _is_plain(card)}
    if not plain:
        return {}
    uses: dict[int, int] = {}
    entering: dict[int, list[int]] = {}
    for number, edge in enumerate(diagram.edges):
        uses[edge.source] = uses.get(edge.source, 0) + edge.uses
        entering.setdefault(edge.target, []).append(number)
    found = {}
    for card in diagram.cards:
        near = entering.get(card.id, ())
        if card.op not in INFIX or card.role not in ("operation", "output") or len(near) != 2:
            continue
        edges = [number for number in near if diagram.edges[number].source in plain]
        if len(edges) != 1 or uses[diagram.edges[edges[0]].source] != 1:
            continue
        edge = diagram.edges[edges[0]]
        text = _pill(diagram.cards[index[edge.source]], show)
        if display_width(text.text) <= INSET_COLUMNS:
            width = max(20, _even(text.width + 10))
            found[index[card.id]] = Inset(index[edge.source], edges[0], text, width, edge.slot == 0)
    return found


def _is_plain(card: Card) -> bool:
    """Whether a pill can say everything about the constant."""
    return card.op is None and not card.flags and not card.shape


def _pill(card: Card, show: tuple[str, ...]) -> Text:
    """The words for a constant: its number, and its name if it has one."""
    name = visible(card.name)
    number = short(card.value) if "value" in show or not name else ""
    words = name if not number else number if name in ("", number) else f"{name} = {number}"
    return _text(clip_text(words, NAME_COLUMNS), TEXT_SIZE)


def face_of(
    card: Card,
    show: tuple[str, ...],
    inputs: int = 0,
    pitch: int = 0,
    inset: Inset | None = None,
) -> Face:
    """The face of a card.

    Args:
        card: What to show.
        show: Which numbers: "value", "gradient".
        inputs: How many edges enter, each of which needs room on the side of the card.
        pitch: Room that each entering edge needs.
        inset: A constant to be written beside the operation.

    >>> face_of(Card(0, "a", value=2.0), ("value", "gradient")).rows[0].text.text
    '2'
    """
    if card.role == "box":
        symbol = _text(clip_text(visible(card.symbol), OP_COLUMNS), TEXT_SIZE + 1)
        side = max(34, symbol.width + 20)
        return Face(_text("", NAME_SIZE), symbol, (), _even(side), 34)
    symbol = _text(clip_text(visible(card.symbol), OP_COLUMNS), TEXT_SIZE)
    if card.role == "constant" and card.op is None and not card.flags:
        pill = _pill(card, show)
        return Face(pill, symbol, (), _even(max(30, pill.width + 22)), 26)

    heading = _text(_clip_name(visible(card.name)), NAME_SIZE, bold=True)
    rows = tuple(_rows(card, show))
    badge = symbol.width + 20 if symbol.text else 0
    across = [heading.width + badge + (inset.width if inset else 0)]
    across += [_LABEL_WIDTH[row.label] + row.text.width for row in rows]
    width = max(72, max(across) + 2 * PADDING + (4 if card.role == "leaf" else 0))
    height = max(18 + ROW_HEIGHT * (1 + len(rows)), inputs * pitch + 10)
    if card.role == "fold":  # the edges of the cards behind it
        width, height = width + 6, height + 6
    return Face(heading, symbol, rows, _even(width), _even(height), inset)


def _clip_name(name: str) -> str:
    """The name in the width of a card; of a scope the end says more than the beginning.

    >>> _clip_name("Sequential/layers.0/conv2d"), _clip_name("a_name_that_goes_on_and_on")
    ('…/layers.0/conv2d', 'a_name_that_goes_on_a…')
    """
    short_name = name
    while display_width(short_name) > NAME_COLUMNS and "/" in short_name[2:]:
        short_name = "…/" + short_name[2:].partition("/")[2]
    return clip_text(name if short_name == "…/" else short_name, NAME_COLUMNS)


def _rows(card: Card, show: tuple[str, ...]) -> list[Row]:
    rows = []
    if card.role == "fold":
        kinds = [*card.hides] if len(card.hides) <= KINDS else [
            *card.hides[: KINDS - 1], f"and {len(card.hides) - KINDS + 1} more kinds"]  # fmt: skip
        kinds += [_ends(card.names)] if card.names else []
        rows += [Row("", _text(clip_text(visible(kind), REMARK_COLUMNS), TEXT_SIZE), "quiet")
                 for kind in kinds]  # fmt: skip
    if card.shape:
        dtype = str(getattr(card.value, "dtype", "float64"))
        shape = str(card.shape) if dtype == "float64" else f"{card.shape} {dtype}"
        rows.append(Row("shape", _text(clip_text(shape, REMARK_COLUMNS), TEXT_SIZE), "quiet"))
    value, gradient = card.number_words
    if "value" in show and card.has_value:
        rows.append(_number_row(value, card.value, "value"))
    if "gradient" in show and card.has_gradient:
        rows.append(_number_row(gradient, card.gradient, "gradient"))
    for flag, remark in zip(card.flags, card.remarks, strict=True):
        tone = "warning" if flag in card.warnings else "quiet"
        rows.append(Row("", _text(clip_text(visible(remark), REMARK_COLUMNS), TEXT_SIZE), tone))
    return rows


def _ends(names: tuple[str, ...]) -> str:
    """The first and the last name; of elements of one array the last index alone.

    >>> _ends(("w[0,2]", "w[0,3]", "w[0,9]")), _ends(("h", "loss")), _ends(("w",))
    ('w[0,2] … [0,9]', 'h, loss', 'w')
    """
    first, last = names[0], names[-1]
    stem, bracket, index = last.partition("[")
    if first.partition("[")[0] == stem and bracket and len(names) > 1:
        last = bracket + index
    if len(names) == 1:
        return first
    both = f"{first}{', ' if len(names) == 2 else ' … '}{last}"
    return both if display_width(both) <= REMARK_COLUMNS else f"{first} …"


def _number_row(label: str, number: float | None, tone: str) -> Row:
    """A number or what an array holds, with a sign of warning where it is not finite."""
    if not finite(number):
        return Row(label, _text(f"! {gist(number)}", TEXT_SIZE), "warning")
    return Row(label, _text(gist(number), TEXT_SIZE), tone)


def edge_words(edge: Edge, show: tuple[str, ...]) -> tuple[Word, ...]:
    """The label of an edge: its slot where the order matters, and what `show` asks for.

    >>> words = edge_words(Edge(0, 1, 1, "divisor", 0.5, 2.0), ("local", "contribution"))
    >>> [word.text for word in words]
    ['÷', '×0.5', '= 2']
    """
    sign = SLOT_SIGNS.get(edge.slot_name)  # a small mark beside a line: in strong ink
    name = sign or edge.slot_name
    words = [Word(name, "ink" if sign else "quiet")] if name else []
    if edge.uses > 1:
        words.append(Word(f"{edge.uses} edges", "quiet"))
        return tuple(words)
    factor = "local" in show and edge.local is not None
    if factor:
        number = short(edge.local)
        words.append(Word(f"×({number})" if number[:1] in "-−" else f"×{number}", "local"))
    if "contribution" in show and edge.contribution is not None:
        words.append(Word(f"{'=' if factor else 'adds'} {short(edge.contribution)}", "gradient"))
    return tuple(words)


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Pixels the text takes in the widest common sans-serif font.

    >>> text_width("il", 10) < text_width("mw", 10) < text_width("损失", 10)
    True
    """
    return sum(map(_EMS.__getitem__, text)) * size * (1.1 if bold else 1.0)


def _text(text: str, size: float, *, bold: bool = False) -> Text:
    fitted = not text.isascii() and any(map(_is_surprising, text))
    return Text(text, ceil(text_width(text, size, bold=bold)), fitted)


def _is_surprising(character: str) -> bool:
    """Whether the glyph may be wider than the table says: neither European nor East Asian."""
    if character <= "\u052f" or "\u2000" <= character <= "\u2bff":  # letters; signs, arrows
        return False
    return character not in _EMS and east_asian_width(character) not in "WF"


def _even(size: float) -> int:
    """The next even number: its half is whole, so the lines of a card are sharp."""
    return 2 * -int(-size // 2)


class _Widths(dict[str, float]):
    """Widths of characters in units of the font size; guesses, generously, what it has not."""

    def __missing__(self, character: str) -> float:
        if east_asian_width(character) in "WF":
            return 1.3 if character >= "\U0001f000" else 1.05
        letter = normalize("NFD", character)[0]  # ü is as wide as u
        return self.get(letter, 0.85)


_EMS = _Widths()
for _ems, _characters in (
    (0.30, "ijl"), (0.34, " ,.'|"), (0.40, "I:;!fr-()[]t/\\`"), (0.44, "₀₁₂₃₄₅₆₇₈₉⁰¹²³"),
    (0.51, '_"sczxJ?*vyk'), (0.55, "^"), (0.62, "aeghnopqdbuL$"), (0.64, "0123456789FTEPSYZ{}"),
    (0.70, "XVCBRKAU"), (0.79, "NHDGOQ&"), (0.84, "w+=<>~#×÷−·…→ΣM"), (1.0, "mW%@"),
    (0.80, "αβγδεθλμπρστφωʸ"),
):  # fmt: skip
    for _character in _characters:
        _EMS[_character] = _ems

_LABEL_WIDTH = {"": 0} | {
    label: ceil(text_width(label, TEXT_SIZE)) + 14
    for label in ("shape", "value", "grad", "last value", "last grad")
}

"""The one place where pictures are written as SVG.

Every look is a presentation attribute, so a sanitizer that removes `<style>` and `class=` does no
harm. All text is escaped here. Each card and each edge is one group with a `<title>` that holds the
exact numbers; ``data-`` attributes tell the script of a page what is joined to what. The groups
stand in the order of the nodes, so a card has a hole where it shows a constant drawn before it.

Read next: `minigrad.picture.html`, which puts the SVG on a page.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from minigrad.formatting import clip_text, exact
from minigrad.picture.cards import (
    NAME_SIZE,
    PADDING,
    ROW_HEIGHT,
    SMALL_SIZE,
    TEXT_SIZE,
    Face,
    Inset,
    Text,
    Word,
    edge_words,
    face_of,
    insets,
    text_width,
)
from minigrad.picture.diagram import SYMMETRIC, Card, Diagram, Edge
from minigrad.picture.layout import Box, Layout, Route, Spacing, arrange
from minigrad.picture.markup import attribute, escape
from minigrad.picture.themes import AUTO, AUTO_STYLE, THEMES, Theme

__all__ = ["DIRECTIONS", "to_svg"]

DIRECTIONS = ("LR", "TB")
FONTS = ("Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', 'Noto Sans CJK SC', "
         "'PingFang SC', 'Microsoft YaHei', 'Hiragino Sans', sans-serif")  # fmt: skip
MARGIN = 16
ARROW = 6


def to_svg(
    diagram: Diagram,
    *,
    direction: str = "LR",
    theme: str = "light",
    show: tuple[str, ...] = ("value", "gradient"),
    prefix: str = "",
) -> str:
    """The diagram as an SVG document.

    Args:
        diagram: What to draw.
        direction: "LR" or "TB".
        theme: "light", "dark", "print", or "auto": light, and dark where the page is.
        show: Of "value", "gradient", "local" and "contribution".
        prefix: Put before every id, so that several pictures can share a page.

    Returns:
        One `<svg>` element; the same bytes in every process.
    """
    colours = THEMES["light" if theme == AUTO else theme]
    style = f"<style>{AUTO_STYLE}</style>" if theme == AUTO else ""
    return _Writer(diagram, direction, colours, show, prefix).write(style)


class _Label(NamedTuple):
    """The words on an edge, and the room they take along it and across it."""

    words: tuple[Word, ...]
    along: int
    across: int


class _Writer:
    """One SVG under way."""

    def __init__(
        self,
        diagram: Diagram,
        direction: str,
        theme: Theme,
        show: tuple[str, ...],
        prefix: str,
    ) -> None:
        self.diagram, self.theme, self.prefix = diagram, theme, prefix
        self.tones: dict[str, str] = theme._asdict()
        self.direction, self.level = direction, direction == "LR"
        index = {card.id: number for number, card in enumerate(diagram.cards)}
        self.insets = insets(diagram, show)
        self.inset_in = {inset.constant: number for number, inset in self.insets.items()}
        saved = {inset.edge for inset in self.insets.values()}  # for membership only
        # beside a constant the sign says which input is which
        self.labels = [
            self._label(edge._replace(slot_name="") if index[edge.target] in self.insets else edge,
                        show) for edge in diagram.edges
        ]  # fmt: skip
        lines = [
            (index[edge.source], index[edge.target], label)
            for number, (edge, label) in enumerate(zip(diagram.edges, self.labels, strict=True))
            if number not in saved
        ]
        entering, pitch = [0] * len(index), [14] * len(index)
        for _, target, label in lines:
            entering[target] += 1
            pitch[target] = max(pitch[target], label.across)
        faces = [
            face_of(card, show, count, room if self.level else 0, self.insets.get(number))
            for number, (card, count, room) in enumerate(
                zip(diagram.cards, entering, pitch, strict=True)
            )
        ]
        if not self.level:  # labels stand to the right of their lines, above the card
            faces = [
                face._replace(width=max(face.width, 2 * ((count + 1) * room // 2) - 20))
                for face, count, room in zip(faces, entering, pitch, strict=True)
            ]
        self.faces = faces
        placed = [number for number in range(len(faces)) if number not in self.inset_in]
        seat = {number: order for order, number in enumerate(placed)}
        level = Spacing(cards=16, layers=44, out_pitch=max(pitch, default=14))
        self.layout: Layout = arrange(
            [(faces[number].width, faces[number].height) for number in placed],
            [(seat[source], seat[target]) for source, target, _ in lines],
            direction=direction,
            spacing=level if self.level else Spacing(cards=20, layers=48),
            stretch=[self.level and _grows(diagram.cards[number]) for number in placed],
            lanes=[label.along for _, _, label in lines],
            in_pitch=[pitch[number] for number in placed],
            ordered=[_has_order(diagram.cards[number]) for number in placed],
        )
        self.boxes = dict(zip(placed, self.layout.boxes, strict=True))
        drawn = (number for number in range(len(diagram.edges)) if number not in saved)
        self.routes = dict(zip(drawn, self.layout.routes, strict=True))

    def _label(self, edge: Edge, show: tuple[str, ...]) -> _Label:
        words = edge_words(edge, show)
        if not words:
            return _Label((), 0, 14)
        widths = [text_width(word.text, SMALL_SIZE) for word in words]
        if self.level:
            return _Label(words, int(sum(widths)) + 5 * len(words) + ARROW + 8, 16)
        return _Label(words, 12 * len(words) + ARROW + 6, int(max(widths)) + 15)

    def write(self, style: str) -> str:
        """The whole document, with a style sheet or none."""
        theme, title = self.theme, self.diagram.title
        top = MARGIN + (24 if title else 0)
        heading = clip_text(title, 120)
        inner = max(self.layout.width, ceil(text_width(heading, 15, bold=True)))
        width, height = inner + 2 * MARGIN, self.layout.height + top + MARGIN
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(self.diagram.summary())}" '
            f'class="minigrad-svg" data-direction="{self.direction}">{style}',
            f'<rect width="{width}" height="{height}" rx="8" fill="{theme.paper}"/>',
            f'<g font-family="{FONTS}" font-size="{TEXT_SIZE}">',
        ]
        if title:
            parts.append(f'<text x="{MARGIN}" y="{MARGIN + 10}" font-size="15" font-weight="700" '
                         f'fill="{theme.ink}">{escape(heading)}</text>')  # fmt: skip
        parts.append(f'<g transform="translate({MARGIN} {top})">')
        names = {card.id: card.label for card in self.diagram.cards}
        for number, edge in enumerate(self.diagram.edges):
            self._edge(parts, number, edge, names)
        for number, card in enumerate(self.diagram.cards):
            if number in self.inset_in:
                self._constant(parts, card, self.inset_in[number])
            else:
                self._card(parts, card, self.faces[number], self.boxes[number])
        parts.append("</g></g></svg>\n")
        return "\n".join(parts)

    # Edges

    def _edge(self, parts: list[str], number: int, edge: Edge, names: dict[int, str]) -> None:
        parts.append(
            f'<g id="{self.prefix}e{number}" class="mg-edge" data-source="{edge.source}" '
            f'data-target="{edge.target}"><title>{attribute(_edge_text(edge, names))}</title>'
        )
        if number in self.routes:
            line, colour = self.routes[number], self.theme.line
            dashes = ' stroke-dasharray="4 3"' if edge.reason else ""
            parts[-1] += (
                f'<path d="{_path(line)}" fill="none" stroke="{colour}" '
                f'stroke-width="1.5"{dashes}/>'
                f'<path d="{_arrow(line, self.level)}" fill="{colour}"/>'
            )
            if self.labels[number].words:
                self._edge_label(parts, self.labels[number], line)
        parts.append("</g>")

    def _edge_label(self, parts: list[str], label: _Label, line: Route) -> None:
        x, y = line.end
        if self.level:
            spans = "".join(
                f'<tspan dx="{5 if index else 0}"{_strength(word)} fill="{self.tones[word.tone]}">'
                f"{escape(word.text)}</tspan>"
                for index, word in enumerate(label.words)
            )
            parts.append(f'<text x="{x - ARROW - 4}" y="{y - 4}" text-anchor="end" '
                         f'font-size="{SMALL_SIZE}">{spans}</text>')  # fmt: skip
            return
        first = y - ARROW - 4 - 12 * (len(label.words) - 1)
        for index, word in enumerate(label.words):
            parts.append(
                f'<text x="{x + 5}" y="{first + 12 * index}" font-size="{SMALL_SIZE}"'
                f'{_strength(word)} fill="{self.tones[word.tone]}">{escape(word.text)}</text>'
            )

    # Cards

    def _open(self, parts: list[str], card: Card, x: int, y: int) -> None:
        parts.append(
            f'<g id="{self.prefix}n{card.id}" class="mg-node" data-node="{card.id}" '
            f'transform="translate({x} {y})">'
            f"<title>{attribute(card.full_text())}</title>"
        )

    def _constant(self, parts: list[str], card: Card, user: int) -> None:
        """A constant that shows through the hole in the card of its user."""
        theme, box, inset = self.theme, self.boxes[user], self.insets[user]
        x, y = _hole(self.faces[user], inset, box)
        self._open(parts, card, box.x + x, box.y + y)
        parts.append(_rect(0, 0, inset.width, 17, 8.5, theme.card, theme.border, 0.8))
        self._text(parts, inset.text, inset.width // 2, 13, theme.value, TEXT_SIZE, anchor="middle")
        parts.append("</g>")

    def _card(self, parts: list[str], card: Card, face: Face, box: Box) -> None:
        theme = self.theme
        self._open(parts, card, box.x, box.y)
        width, height = box.width, box.height
        if card.role == "box":
            parts.append(_rect(0, 0, width, height, height // 2, theme.badge, theme.border, 1.2))
            self._text(parts, face.symbol, width // 2, height // 2 + 5, theme.ink, TEXT_SIZE + 1,
                       anchor="middle")  # fmt: skip
        elif not _grows(card) and not face.rows:
            parts.append(_rect(0, 0, width, height, height // 2, theme.card, theme.border, 1))
            self._text(parts, face.name, width // 2, height // 2 + 4, theme.value, TEXT_SIZE,
                       anchor="middle")  # fmt: skip
        else:
            self._outline(parts, card, face, box)
            self._words(parts, card, face, width, height)
        parts.append("</g>")

    def _outline(self, parts: list[str], card: Card, face: Face, box: Box) -> None:
        """The shape says the role: bar, double line, heavy line, stack of cards."""
        theme, fill = self.theme, self.theme.card
        width, height = box.width, box.height
        if face.inset:
            x, y = _hole(face, face.inset, box)
            hole = _rounded(x - 0.5, y - 0.5, face.inset.width + 1, 18, 9)  # all of the outline
            parts.append(f'<path d="{_rounded(0, 0, width, height, 8)}{hole}" fill="{fill}" '
                         'fill-rule="evenodd"/>')  # fmt: skip
            fill = "none"
        border = theme.warning if card.warnings else theme.border
        stale = any(flag.startswith("stale") for flag in card.flags)
        dash = ' stroke-dasharray="5 3"' if stale else ""
        if card.role == "fold":
            for shift in (6, 3):
                parts.append(_rect(shift, shift, width - 6, height - 6, 8, fill, border, 1))
            parts.append(_rect(0, 0, width - 6, height - 6, 8, fill, border, 1.2, dash))
        elif card.role == "output":
            parts.append(_rect(1, 1, width - 2, height - 2, 8, fill, theme.ink, 2.6, dash))
        elif card.role == "parameter":
            parts.append(_rect(0, 0, width, height, 8, fill, border, 1.2, dash))
            parts.append(_rect(3, 3, width - 6, height - 6, 5.5, "none", border, 1))
        else:
            parts.append(_rect(0, 0, width, height, 8, fill, border, 1.2, dash))
            if card.role == "leaf":
                parts.append(f'<path d="M8 0H6V{height}H8A8 8 0 0 1 0 {height - 8}V8A8 8 0 '
                             f'0 1 8 0Z" fill="{theme.leaf}"/>')  # fmt: skip

    def _words(self, parts: list[str], card: Card, face: Face, width: int, height: int) -> None:
        theme, tones = self.theme, self.tones
        left = PADDING + (4 if card.role == "leaf" else 0)
        right = width - PADDING - (6 if card.role == "fold" else 0)
        line = _first_line(face, height, card.role == "fold")
        self._text(parts, face.name, left, line, theme.ink, NAME_SIZE, weight=' font-weight="700"')
        if face.symbol.text:
            badge = face.badge
            at = right - badge + 3
            if face.inset and not face.inset.first:
                at -= face.inset.width
            parts.append(_rect(at, line - 15, badge, 17, 8.5, theme.badge, theme.border, 0.8))
            self._text(parts, face.symbol, at + (badge + 1) // 2, line - 2, theme.ink, TEXT_SIZE,
                       anchor="middle")  # fmt: skip
        line += 2  # the heading stands a little apart
        for row in face.rows:
            line += ROW_HEIGHT
            colour = tones[row.tone] if row.text.text != "·" else theme.quiet
            if not row.label:
                self._text(parts, row.text, left, line, colour, TEXT_SIZE)
                continue
            parts.append(f'<text x="{left}" y="{line}" fill="{theme.quiet}">'
                         f"{row.label}</text>")  # fmt: skip
            self._text(parts, row.text, right, line, colour, TEXT_SIZE, anchor="end")

    def _text(self, parts: list[str], text: Text, x: int, y: int, colour: str, size: float,
              *, anchor: str = "", weight: str = "") -> None:  # fmt: skip
        if not text.text:
            return
        end = f' text-anchor="{anchor}"' if anchor else ""
        size_text = f' font-size="{size}"' if size != TEXT_SIZE else ""
        fit = (f' textLength="{text.width}" lengthAdjust="spacingAndGlyphs"'
               if text.fitted else "")  # fmt: skip
        parts.append(f'<text x="{x}" y="{y}"{end}{size_text}{weight} fill="{colour}"{fit}>'
                     f"{escape(text.text)}</text>")  # fmt: skip


def _strength(word: Word) -> str:
    """Bold for the signs of slots."""
    return ' font-weight="700"' if word.tone == "ink" else ""


def _first_line(face: Face, height: int, is_fold: bool) -> int:
    """The baseline of the heading; a card made tall by its inputs keeps its text central."""
    body = 18 + ROW_HEIGHT * (1 + len(face.rows)) + (6 if is_fold else 0)
    return (height - body) // 2 + 21


def _hole(face: Face, inset: Inset, box: Box) -> tuple[int, int]:
    """The upper left corner of the hole for a constant, on its card."""
    right = box.width - PADDING + 3 - (face.badge if inset.first else 0)
    return right - inset.width, _first_line(face, box.height, False) - 15


def _rounded(x: float, y: float, width: int, height: int, radius: float) -> str:
    """A rectangle with round corners, as path data."""
    across, down, arc = width - 2 * radius, height - 2 * radius, f"a{radius} {radius} 0 0 1 "
    return (f"M{x + radius} {y}h{across:g}{arc}{radius} {radius}v{down:g}{arc}-{radius} {radius}"
            f"h{-across:g}{arc}-{radius} -{radius}v{-down:g}{arc}{radius} -{radius}Z")  # fmt: skip


def _grows(card: Card) -> bool:
    """Whether a card may be made wider than its text; pills and boxes keep their shape."""
    return card.role not in ("constant", "box")


def _has_order(card: Card) -> bool:
    """Whether it matters which input is which."""
    return card.op is not None and card.role != "fold" and card.op not in SYMMETRIC


def _edge_text(edge: Edge, names: dict[int, str]) -> str:
    slot = f"input {edge.slot + 1}" + (f" ({edge.slot_name})" if edge.slot_name else "")
    where = slot if edge.uses == 1 else f"{edge.uses} edges"
    lines = [f"{names[edge.source]} → {names[edge.target]}, {where}"]
    if edge.local is not None:
        lines.append(f"local derivative {exact(edge.local)}")
    if edge.contribution is not None:
        lines.append(f"contribution {exact(edge.contribution)}")
    if edge.reason:
        lines.append(f"no gradient: {edge.reason}")
    return "\n".join(lines)


def _rect(x: int, y: int, width: int, height: int, radius: float, fill: str, stroke: str,
          line: float, more: str = "") -> str:  # fmt: skip
    place = f'x="{x}" y="{y}" ' if x or y else ""
    return (f'<rect {place}width="{width}" height="{height}" rx="{radius}" '
            f'fill="{fill}" stroke="{stroke}" stroke-width="{line}"{more}/>')  # fmt: skip


def _path(line: Route) -> str:
    """The line as path data."""
    out = [f"M{line.start[0]} {line.start[1]}"]
    for piece in line.pieces:
        out.append("L" if len(piece) == 1 else "C")
        out.append(" ".join(f"{x} {y}" for x, y in piece))
    return "".join(out)


def _arrow(line: Route, level: bool) -> str:
    x, y = line.end
    if level:
        return f"M{x} {y}l-{ARROW} -3.5v7Z"
    return f"M{x} {y}l-3.5 -{ARROW}h7Z"

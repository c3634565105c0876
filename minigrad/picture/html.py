"""The picture on a page: a notebook output, or a file that needs nothing but itself.

Both are built to survive: the SVG is an image in a data URL, which even an untrusted notebook
shows; below it the same numbers stand in a table; a script makes it live where scripts run.

Read next: `minigrad.picture.script`, that script.
"""

from __future__ import annotations

from base64 import b64encode

from minigrad.formatting import exact
from minigrad.picture.diagram import Card, Diagram, Edge
from minigrad.picture.markup import attribute, escape
from minigrad.picture.script import SCRIPT
from minigrad.picture.themes import AUTO, colour_of

__all__ = ["to_fragment", "to_page"]

_HEADS = ("node", "kind", "inputs", "value", "gradient", "notes")
_LEFT, _RIGHT = ' style="text-align:left"', ' style="text-align:right"'
_SIDES = (_LEFT, _LEFT, _LEFT, _RIGHT, _RIGHT, _LEFT)  # in the page: it outlives a sanitizer


def to_fragment(diagram: Diagram, svg: str) -> str:
    """The picture as a piece of HTML for the output of a notebook cell.

    Args:
        diagram: What the picture shows, for the table and the alternative text.
        svg: The picture, as `minigrad.picture.svg.to_svg` gives it.

    Returns:
        An image, a table and a script in one `<div>`. No ids, so copies do not disturb each other.
    """
    data = b64encode(svg.encode()).decode("ascii")
    return (
        '<div class="minigrad-picture">\n'
        f'<img alt="{escape(diagram.summary())}" style="max-width:100%" '
        f'src="data:image/svg+xml;base64,{data}">\n'
        f"{_table(diagram)}\n<script>{SCRIPT}</script>\n</div>\n"
    )


def to_page(diagram: Diagram, svg: str, theme: str = "light") -> str:
    """The picture as a whole HTML document, without reference to any other file.

    Args:
        diagram: What the picture shows.
        svg: The picture.
        theme: Colours of the page around it: "light", "dark", "print", or "auto", as the reader's
            browser has it.
    """
    scheme = "light dark" if theme == AUTO else "dark" if theme == "dark" else "light"
    ink, paper, border = (colour_of(theme, part) for part in ("ink", "paper", "border"))
    title = escape(diagram.title or "Computation graph")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n"
        f":root {{ color-scheme: {scheme}; }}\n"
        f"body {{ margin: 1rem; font: 14px/1.4 sans-serif; color: {ink}; background: {paper}; }}\n"
        f"th, td {{ padding: 2px 10px; border-bottom: 1px solid {border}; }}\n"
        "</style>\n</head>\n<body>\n"
        f"{to_fragment(diagram, svg)}</body>\n</html>\n"
    )


def _table(diagram: Diagram) -> str:
    """The same numbers as a table: a full equivalent, with exact values."""
    entering: dict[int, list[Edge]] = {}
    for edge in diagram.edges:
        entering.setdefault(edge.target, []).append(edge)
    names = {card.id: card.label for card in diagram.cards}
    rows = [_row(card, entering.get(card.id, []), names) for card in diagram.cards]
    count = f"{len(rows)} node{'' if len(rows) == 1 else 's'}"
    heads = "".join(
        f'<th scope="col"{side}>{head}</th>' for side, head in zip(_SIDES, _HEADS, strict=True)
    )
    return (
        f"<details><summary>Table of {count}</summary>\n<table>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n" + "\n".join(rows) +
        "\n</tbody>\n</table></details>"
    )  # fmt: skip


def _row(card: Card, entering: list[Edge], names: dict[int, str]) -> str:
    inputs = ", ".join(_input(edge, names[edge.source]) for edge in entering)
    cells = [
        "" if card.role == "box" else card.label,
        _kind(card),
        inputs,
        exact(card.value) if card.has_value else "",
        exact(card.gradient) if card.has_gradient else "",
        ", ".join(card.notes),
    ]
    return "<tr>" + "".join(
        f"<td{side}>{attribute(cell)}</td>" for side, cell in zip(_SIDES, cells, strict=True)
    ) + "</tr>"  # fmt: skip


def _kind(card: Card) -> str:
    """The operation with the sign that stands for it in the picture, or the role."""
    if card.op is None:
        return card.role
    return card.op if card.symbol == card.op else f"{card.symbol} {card.op}"


def _input(edge: Edge, name: str) -> str:
    slot = f" ({edge.slot_name})" if edge.slot_name else ""
    return f"{name}{slot}" if edge.uses == 1 else f"{name} ({edge.uses} edges)"

"""The diagram in the DOT language of Graphviz, as text; nothing is run and nothing is installed.

Node ids are made up (``n0``, ``n1``); names appear in labels only, so no name can become syntax.

Read next: `minigrad.picture.drawing`, which saves every form.
"""

from __future__ import annotations

from minigrad.formatting import clip_text, short, visible
from minigrad.picture.cards import NAME_COLUMNS, edge_words
from minigrad.picture.diagram import Card, Diagram
from minigrad.picture.themes import THEMES

__all__ = ["quote", "to_dot"]

_SHAPES = {
    "parameter": "peripheries=2", "constant": 'style="rounded,filled"', "output": "penwidth=2.5",
    "box": "shape=ellipse", "fold": "shape=box3d", "leaf": "shape=box",
    "operation": 'style="rounded,filled"',
}  # fmt: skip


def to_dot(
    diagram: Diagram,
    *,
    direction: str = "LR",
    theme: str = "light",
    show: tuple[str, ...] = ("value", "gradient"),
) -> str:
    """The diagram as DOT text.

    >>> from minigrad.picture.diagram import Edge
    >>> x, y = Card(0, "x", value=3.0), Card(1, "y", "square", "output", 9.0)
    >>> print(to_dot(Diagram((x, y), (Edge(0, 1),), (1,)), show=("value",)).splitlines()[-2])
      n0 -> n1;
    """
    colours = THEMES[theme]
    lines = [
        "digraph minigrad {",
        f"  rankdir={direction};",
        f'  bgcolor="{colours.paper}";',
        f'  node [shape=box, style=filled, fontname="Helvetica,sans-serif", fontsize=11, '
        f'fillcolor="{colours.card}", color="{colours.border}", fontcolor="{colours.ink}"];',
        f'  edge [color="{colours.line}", fontname="Helvetica,sans-serif", fontsize=9, '
        f'fontcolor="{colours.ink}", arrowsize=0.7];',
    ]
    if diagram.title:
        lines.append(f'  label={quote(diagram.title)}; labelloc=t; fontcolor="{colours.ink}";')
    number = {card.id: index for index, card in enumerate(diagram.cards)}
    for card in diagram.cards:
        lines.append(
            f"  n{number[card.id]} [label={quote(_label(card, show))}, "
            f"tooltip={quote(card.full_text())}, {_SHAPES.get(card.role, 'shape=box')}];"
        )
    for edge in diagram.edges:
        words = " ".join(word.text for word in edge_words(edge, show))
        label = f" [label={quote(words)}]" if words else ""
        lines.append(f"  n{number[edge.source]} -> n{number[edge.target]}{label};")
    lines.append("}")
    return "\n".join(lines) + "\n"


def quote(text: str) -> str:
    r"""The text as a DOT string that shows it literally; a line break becomes ``\n``.

    A backslash is doubled before quotes are escaped, so neither can end the string or become an
    escape such as ``\N``; an ampersand is written as an entity, since DOT reads entities.

    >>> print(quote('"]; evil [label="pwn \\'))
    "\"]; evil [label=\"pwn \\"
    """
    shown = [
        visible(line).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
        for line in text.split("\n")
    ]
    return '"' + "\\n".join(shown) + '"'


def _label(card: Card, show: tuple[str, ...]) -> str:
    if card.role == "box":
        return card.symbol
    name = clip_text(card.name if card.role == "constant" else card.label, NAME_COLUMNS)
    heading = "  ".join(part for part in (name, card.symbol) if part)
    lines = [heading, *card.hides] if heading else []
    value, gradient = card.number_words
    if "value" in show and card.has_value:
        lines.append(f"{value} {short(card.value)}")
    if "gradient" in show and card.has_gradient:
        lines.append(f"{gradient} {short(card.gradient)}")
    return "\n".join([*lines, *card.remarks])

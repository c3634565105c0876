"""The graph as a tree of text, for terminals, e-mails and tests.

The output stands first, its inputs below it. A node that is used again is printed once and then
referred to by its number; where the tree would grow too deep it goes on further down, in the same
way. Numbers stand in aligned columns.

Read next: `minigrad.picture.dot`, the other form in text.
"""

from __future__ import annotations

from typing import NamedTuple

from minigrad.formatting import clip_text, display_width, pad_text, short, visible
from minigrad.picture.cards import edge_words
from minigrad.picture.diagram import Card, Diagram, Edge

__all__ = ["to_text"]

DEEPEST = 9  # levels of indentation before the tree goes on further down
OP_COLUMNS = 10


class _Line(NamedTuple):
    """A line under way: the branch drawn before it, and the node or a reference to it."""

    branch: str
    card: Card
    edge: Edge | None
    full: bool


def to_text(
    diagram: Diagram, *, width: int = 80, show: tuple[str, ...] = ("value", "gradient")
) -> str:
    """The diagram as an indented tree.

    Args:
        diagram: What to print.
        width: Columns of the terminal.
        show: Of "value", "gradient", "local" and "contribution".

    >>> x, y = Card(0, "x", value=3.0, gradient=6.0), Card(1, "y", "mul", "output", 9.0, 1.0)
    >>> print(to_text(Diagram((x, y), (Edge(0, 1), Edge(0, 1, 1)), (1,))))
    #  node           op  value  grad
    1  y              ×       9     1
    2  ├─ x                   3     6
       └─ x (see #2)
    """
    lines = _walk(diagram)
    numbers: dict[int, int] = {}
    for line in lines:
        if line.full:
            numbers[line.card.id] = len(numbers) + 1
    rows = [_cells(line, numbers, show) for line in lines]
    heading = ["#", "node", "op"]
    heading += ["value"] if "value" in show else []
    heading += ["grad"] if "gradient" in show else []
    rows.insert(0, heading)
    columns = range(len(heading))
    widths = [max(display_width(row[column]) for row in rows) for column in columns]
    widths[1] = min(widths[1], width - sum(widths) + widths[1] - 2 * (len(widths) - 1))
    text = [diagram.title] if diagram.title else []
    for row in rows:
        cells = [pad_text(clip_text(row[column], widths[column]), widths[column],
                          right=column == 0 or column > 2) for column in columns]  # fmt: skip
        text.append("  ".join(cells).rstrip())
    return "\n".join(visible(line) for line in text)


def _walk(diagram: Diagram) -> list[_Line]:
    """The lines in the order of printing: depth first, without recursion."""
    cards = {card.id: card for card in diagram.cards}
    entering: dict[int, list[Edge]] = {card.id: [] for card in diagram.cards}
    used = set()
    for edge in diagram.edges:
        entering[edge.target].append(edge)
        used.add(edge.source)
    heads = [id for id in diagram.outputs if id in cards]
    # A node that leads to no output is still part of the picture.
    heads += [card.id for card in diagram.cards if card.id not in used and card.id not in heads]

    lines: list[_Line] = []
    printed: set[int] = set()
    later = list(heads)
    for head in later:  # grows while it is read
        if head in printed:
            continue
        # (node, its edge, what is drawn before it, what is drawn before its inputs, level)
        stack: list[tuple[int, Edge | None, str, str, int]] = [(head, None, "", "", 0)]
        while stack:
            node, via, branch, below, level = stack.pop()
            near = entering[node]
            postponed = level >= DEEPEST and bool(near) and node not in printed
            full = node not in printed and not postponed
            lines.append(_Line(branch, cards[node], via, full))
            if postponed:
                later.append(node)
            if not full:
                continue
            printed.add(node)
            for number, edge in reversed(list(enumerate(near))):
                last = number == len(near) - 1
                stack.append((edge.source, edge, below + ("└─ " if last else "├─ "),
                              below + ("   " if last else "│  "), level + 1))  # fmt: skip
    return lines


def _cells(line: _Line, numbers: dict[int, int], show: tuple[str, ...]) -> list[str]:
    card = line.card
    name = clip_text(visible(card.label), 24)
    words = " ".join(word.text for word in edge_words(line.edge, show)) if line.edge else ""
    label = f"{line.branch}{name}" + (f"  [{words}]" if words else "")
    if not line.full:
        return ["", f"{label} (see #{numbers[card.id]})", "", "", ""]
    if card.notes:
        label += f"  ({', '.join(map(visible, card.notes))})"
    cells = [str(numbers[card.id]), label, clip_text(visible(card.symbol), OP_COLUMNS)]
    if "value" in show:
        cells.append(short(card.value) if card.has_value else "")
    if "gradient" in show:
        cells.append(short(card.gradient) if card.has_gradient else "")
    return cells

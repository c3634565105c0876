"""What is to be drawn, as plain data: cards and the edges between them.

A `Diagram` holds numbers and text only. It knows no engine and no pixels, so one diagram can become
an SVG, a page, a terminal tree or DOT text, and a test can write one by hand.
`separate_operations` gives operations boxes of their own.

Read next: `minigrad.picture.sketch`, from the record of a run to a diagram.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from minigrad.formatting import exact, short

__all__ = ["Card", "Diagram", "Edge", "fold_card", "separate_operations", "warnings_in"]

SYMBOLS = {
    "add": "+", "sub": "−", "mul": "×", "div": "÷", "neg": "−", "pow": "**", "mod": "%",
    "floordiv": "//", "matmul": "@", "sum": "Σ", "reduce_sum": "Σ", "less": "<",
    "less_equal": "≤", "greater": ">", "equal": "==",
}  # fmt: skip
"""The sign that stands on a card for an operation; others are called by their name."""

INFIX = frozenset((
    "add", "sub", "mul", "div", "pow", "mod", "floordiv", "less", "less_equal", "greater", "equal",
))  # fmt: skip
"""The operations that are written between their two inputs."""

SYMMETRIC = frozenset((
    "add", "mul", "sum", "dot", "maximum", "minimum", "hypot", "logaddexp", "equal",
))  # fmt: skip
"""The operations whose inputs may be exchanged; of all others they are drawn in their order.

A dot product counts: its pairs belong together, but which side a pair stands on does not matter.
"""

_LEFT_RIGHT, _DIVISOR = ("left", "right"), ("", "divisor")
SLOT_NAMES: dict[str, tuple[str, ...]] = {
    "sub": ("", "subtracted"), "div": _DIVISOR, "mod": _DIVISOR, "floordiv": _DIVISOR,
    "less": _LEFT_RIGHT, "less_equal": _LEFT_RIGHT, "greater": _LEFT_RIGHT, "matmul": _LEFT_RIGHT,
    "pow": ("base", "exponent"), "atan2": ("y", "x"), "where": ("if", "then", "else"),
    "clip": ("x", "low", "high"),
}  # fmt: skip
"""What an input is called, for the operations where exchanging two inputs changes the result."""

SLOT_SIGNS = {"subtracted": "−", "divisor": "÷"}
"""What is written for it where there is little room."""

STARTS = "not finite: starts here"
"""The flag of a card whose value is the first that is not finite."""

GRADIENT_STARTS = "not finite: gradient, from here"
"""The flag of a card whose gradient is the first that is not finite."""


class Card(NamedTuple):
    """One node of the picture.

    Attributes:
        id: Number of the node, unique in its diagram.
        name: What the learner calls it; may be empty.
        op: Name of the operation that made it, or ``None`` for a leaf.
        role: leaf, parameter, constant, operation or output; "box" for a separate operation and
            "fold" for a card that stands for several nodes.
        value: The number it holds.
        gradient: Derivative of the output with respect to it; ``None`` before any pass.
        flags: Remarks: the warnings "not finite: …" and "stale: …", others such as "recorded
            branch".
        shape: Axes of an array, ``()`` for a number.
        hides: For a fold: what is hidden, for example ``("998 of add", "999 leaves")``.
        names: For a fold: the names in it that somebody gave; of many the first few and the last.
        scope: The scope in which the node was made.
    """

    id: int
    name: str
    op: str | None = None
    role: str = "leaf"
    value: float | None = None
    gradient: float | None = None
    flags: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    hides: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    scope: str = ""

    @property
    def symbol(self) -> str:
        """The sign of its operation, the name where it has no sign, or nothing.

        >>> Card(0, "e", "mul").symbol, Card(1, "y", "tanh").symbol, Card(2, "a").symbol
        ('×', 'tanh', '')
        """
        return "" if self.op is None else SYMBOLS.get(self.op, self.op)

    @property
    def has_value(self) -> bool:
        """Whether it stands for one number; a box and a fold with several exits do not."""
        return self.role != "box" and (self.role != "fold" or self.value is not None)

    @property
    def has_gradient(self) -> bool:
        """Whether it can have a gradient."""
        return self.role != "constant" and self.has_value

    @property
    def remarks(self) -> tuple[str, ...]:
        """Its flags, warnings with an exclamation mark."""
        return tuple(f"! {flag}" if flag in self.warnings else flag for flag in self.flags)

    @property
    def notes(self) -> tuple[str, ...]:
        """Everything a line of text has to say beside its numbers.

        >>> Card(0, "… 9 nodes", None, "fold", 1.0, hides=("9 of add",)).notes
        ('9 of add', 'numbers of the last')
        """
        whose = ("numbers of the last",) if self.role == "fold" and self.has_value else ()
        return (*self.hides, *whose, *self.remarks)

    @property
    def number_words(self) -> tuple[str, str]:
        """What its value and its gradient are called on a card: a fold shows its last node's."""
        return ("last value", "last grad") if self.role == "fold" else ("value", "grad")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of its flags that say the numbers cannot be trusted."""
        return warnings_in(self.flags)

    @property
    def label(self) -> str:
        """What to call it: its name, the number of a constant, or its id."""
        return self.name or (short(self.value) if self.role == "constant" else f"node {self.id}")

    def full_text(self) -> str:
        """Everything the card knows, with exact numbers: shown on hover and read aloud.

        >>> print(Card(3, "e", "mul", "operation", -6.0, 1.0).full_text())
        e
        operation mul
        value -6.0
        gradient 1.0
        """
        lines = [self.label]
        if self.op is not None:
            lines.append(f"{'output of' if self.role == 'output' else 'operation'} {self.op}")
        elif self.role != "fold":
            lines.append(self.role)
        lines += [f"hides {what}" for what in self.hides]
        if self.names:
            lines.append(f"among them {', '.join(self.names)}")
        if self.shape:
            lines.append(f"shape {self.shape}")
        last = "last " if self.role == "fold" else ""
        if self.has_value:
            lines.append(f"{last}value {exact(self.value)}")
        if self.has_gradient:
            known = self.gradient is not None
            lines.append(f"{last}gradient {exact(self.gradient) if known else 'not computed'}")
        return "\n".join([*lines, *self.flags])


class Edge(NamedTuple):
    """One use of a node as an input: ``x * x`` has two edges from x.

    Attributes:
        source: Id of the input.
        target: Id of the node computed from it.
        slot: Position among the inputs of the target, from 0.
        slot_name: What that position is called where the order matters ("divisor", "exponent").
        local: Local derivative of the target with respect to this input.
        contribution: What this edge adds to the gradient of the source.
        reason: Why nothing flows back along it, where nothing does.
        uses: How many uses this line stands for; more than one only at a fold.
    """

    source: int
    target: int
    slot: int = 0
    slot_name: str = ""
    local: float | None = None
    contribution: float | None = None
    reason: str | None = None
    uses: int = 1


class Diagram(NamedTuple):
    """Cards in creation order, and the edges between them in the order of their targets.

    Attributes:
        cards: One per node.
        edges: One per use of a node.
        outputs: Ids of the nodes the picture is about.
        title: A line of text above the picture, or nothing.
    """

    cards: tuple[Card, ...]
    edges: tuple[Edge, ...]
    outputs: tuple[int, ...]
    title: str = ""

    def summary(self) -> str:
        """One sentence for those who cannot see the picture.

        >>> x, y = Card(0, "x", value=3.0), Card(1, "y", "square", "output", 9.0, 1.0)
        >>> Diagram((x, y), (Edge(0, 1),), (1,)).summary()
        'Computation graph with 2 nodes and 1 edge. Output y = 9.0. Input x = 3.0.'
        """
        by_id = {card.id: card for card in self.cards}
        heads = [by_id[id] for id in self.outputs if id in by_id]
        leaves = [card for card in self.cards if card.role in ("leaf", "parameter")]
        edges = sum(edge.uses for edge in self.edges)
        parts = [f"Computation graph with {_many(len(self.cards), 'node')} and "
                 f"{_many(edges, 'edge')}."]  # fmt: skip
        if self.title:
            parts.insert(0, self.title + ".")
        parts += [f"Output {card.label} = {exact(card.value)}." for card in heads]
        for card in leaves[:6]:
            known = "" if card.gradient is None else f", gradient {exact(card.gradient)}"
            parts.append(f"Input {card.label} = {exact(card.value)}{known}.")
        if len(leaves) > 6:
            parts.append(f"And {_many(len(leaves) - 6, 'more input')}.")
        return " ".join(parts)


def warnings_in(flags: Iterable[str]) -> tuple[str, ...]:
    """Those of the flags that say the numbers cannot be trusted."""
    return tuple(flag for flag in flags if flag.startswith(("not finite", "stale")))


def fold_card(last: Card, counts: Mapping[str, int], name: str) -> Card:
    """The card in place of a group; its value and gradient are those of its last node."""
    ranked = sorted(counts.items(), key=lambda item: (not item[0].startswith("of "), -item[1]))
    hides = tuple(f"{count} {_plural(kind, count)}" for kind, count in ranked)
    operations = [kind[3:] for kind in counts if kind.startswith("of ")]
    return last._replace(
        name=name or f"… {sum(counts.values())} nodes",
        op=operations[0] if len(operations) == 1 else None,
        role="fold",
        hides=hides,
    )


def _plural(kind: str, count: int) -> str:
    if kind.startswith("of ") or count == 1:
        return kind
    return "leaves" if kind == "leaf" else kind + "s"


def separate_operations(diagram: Diagram) -> Diagram:
    """The two-box form of the lectures: every operation is a box of its own before its result.

    >>> x, y = Card(0, "x", value=3.0), Card(1, "y", "square", "output", 9.0)
    >>> two = separate_operations(Diagram((x, y), (Edge(0, 1),), (1,)))
    >>> [card.role for card in two.cards], [(edge.source, edge.target) for edge in two.edges]
    (['leaf', 'box', 'output'], [(0, 2), (2, 1)])
    """
    next_id = 1 + max((card.id for card in diagram.cards), default=-1)
    box_of: dict[int, int] = {}
    cards: list[Card] = []
    results: list[Edge] = []
    for card in diagram.cards:
        if card.op is not None and card.role != "fold":
            box_of[card.id] = next_id
            cards.append(Card(next_id, "", card.op, "box"))
            results.append(Edge(next_id, card.id))
            card = card._replace(op=None)
            next_id += 1
        cards.append(card)
    moved = [edge._replace(target=box_of.get(edge.target, edge.target)) for edge in diagram.edges]
    return diagram._replace(cards=tuple(cards), edges=(*moved, *results))


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"

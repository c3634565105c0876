"""From the record of a run to a diagram, by way of a sketch: a graph of which little is drawn.

A sketch knows how nodes are connected, and makes a card or an edge when it is asked for one. Of a
large graph only what is left after folding is: a hundred cards of a hundred thousand.

Read next: `minigrad.picture.fold` (fewer cards), `minigrad.picture.cards` (what a card says).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Protocol

from minigrad.formatting import finite
from minigrad.picture.diagram import GRADIENT_STARTS, SLOT_NAMES, STARTS, Card, Diagram, Edge

__all__ = ["RecordedSketch", "Sketch", "SketchNode", "inputs_of", "sketch_of"]


class SketchNode(Protocol):
    """What decides whether a node is seen; a card says it, and so does a recorded node."""

    @property
    def id(self) -> int:
        """Number of the node, unique in its graph."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def role(self) -> str:
        """Leaf, parameter, constant, operation or output."""

    @property
    def op(self) -> str | None:
        """Name of its operation."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Axes of an array, ``()`` for a number."""

    @property
    def scope(self) -> str:
        """The scope in which it was made."""


class TraceNode(SketchNode, Protocol):
    """What is read of a recorded node besides; its id is its place among all."""

    @property
    def inputs(self) -> Sequence[int]: ...
    @property
    def value(self) -> float: ...


class TraceEdge(Protocol):
    """What is read of a recorded edge."""

    @property
    def node(self) -> int: ...
    @property
    def slot(self) -> int: ...
    @property
    def local(self) -> float | None: ...
    @property
    def contribution(self) -> float | None: ...
    @property
    def reason(self) -> str | None: ...


class Sketch(ABC):
    """A graph to be drawn. Nodes and lines are counted from 0; a line is one use of a node.

    Attributes:
        nodes: In order of creation, inputs before what uses them.
        inputs: Of each node, the nodes that it uses, with multiplicity.
        sources: Of each line, the node that is used, and
        targets: the node that uses it.
        flagged: The nodes that have flags.
        outputs: Ids of the nodes the picture is about.
        title: A line of text above the picture, or nothing.
    """

    nodes: Sequence[SketchNode]
    inputs: Sequence[Sequence[int]]
    sources: Sequence[int]
    targets: Sequence[int]
    flagged: frozenset[int]  # asked for membership only, never walked
    outputs: tuple[int, ...]
    title: str

    @abstractmethod
    def card(self, node: int) -> Card:
        """The card of a node."""

    @abstractmethod
    def edge(self, line: int) -> Edge:
        """The edge of a line."""

    def diagram(self) -> Diagram:
        """All of it."""
        cards = tuple([self.card(node) for node in range(len(self.nodes))])
        edges = tuple([self.edge(line) for line in range(len(self.sources))])
        return Diagram(cards, edges, self.outputs, self.title)


class DiagramSketch(Sketch):
    """The sketch of a diagram, whose cards and edges are there already."""

    def __init__(self, diagram: Diagram) -> None:
        self._diagram = diagram
        self.nodes, self.outputs, self.title = diagram.cards, diagram.outputs, diagram.title
        place = {card.id: node for node, card in enumerate(diagram.cards)}
        self.sources = [place[edge.source] for edge in diagram.edges]
        self.targets = [place[edge.target] for edge in diagram.edges]
        self.inputs = inputs_of(len(place), self.sources, self.targets)
        self.flagged = frozenset(node for node, card in enumerate(diagram.cards) if card.flags)

    def card(self, node: int) -> Card:
        """The card of a node."""
        return self._diagram.cards[node]

    def edge(self, line: int) -> Edge:
        """The edge of a line."""
        return self._diagram.edges[line]

    def diagram(self) -> Diagram:
        """The diagram itself."""
        return self._diagram


class RecordedSketch(Sketch):
    """The sketch of a recorded run.

    Args:
        nodes: The recorded nodes, inputs before what is computed from them.
        outputs: Ids of the nodes the picture is about.
        gradients: Gradient of each node by id; a node that is missing has none.
        edges: Local derivative and contribution of each (node, slot) that a pass went through.
        flags: Extra warnings by node id, for example ``{3: ["stale: 2 was used"]}``.
        title: A line of text above the picture.
    """

    def __init__(
        self,
        nodes: Sequence[TraceNode],
        outputs: Sequence[int],
        gradients: Mapping[int, float | None],
        edges: Sequence[TraceEdge],
        *,
        flags: Mapping[int, Sequence[str]] | None = None,
        title: str = "",
    ) -> None:
        self.nodes: Sequence[TraceNode] = nodes
        self.inputs = [node.inputs for node in nodes]
        self.sources = [source for node in nodes for source in node.inputs]
        self.targets = [node.id for node in nodes for _ in node.inputs]
        self.outputs, self.title = tuple(outputs), title
        self._gradients = gradients
        self._first = list(accumulate(map(len, self.inputs), initial=0))  # of each node, its lines
        self._edges = edges
        self._passed: list[int | None] = [None] * len(self.sources)  # of each line, the edge
        for place, edge in enumerate(edges):
            self._passed[self._first[edge.node] + edge.slot] = place
        self._flags = {id: tuple(words) for id, words in (flags or {}).items()}
        for id, flag in self._starts():
            self._flags[id] = (flag, *self._flags.get(id, ()))
        self.flagged = frozenset(self._flags)

    def card(self, node: int) -> Card:
        """The card of a node."""
        known = self.nodes[node]
        role = "output" if node in self.outputs else known.role
        return Card(
            node, known.name, known.op, role, known.value, self._gradients.get(node),
            self._flags.get(node, ()), tuple(known.shape), scope=known.scope,
        )  # fmt: skip

    def edge(self, line: int) -> Edge:
        """The edge of a line."""
        source, target = self.sources[line], self.targets[line]
        slot = line - self._first[target]
        names = SLOT_NAMES.get(self.nodes[target].op or "", ())
        name = names[slot] if slot < len(names) else ""
        place = self._passed[line]
        if place is None:
            return Edge(source, target, slot, name)
        passed = self._edges[place]
        return Edge(source, target, slot, name, passed.local, passed.contribution, passed.reason)

    def _starts(self) -> Iterator[tuple[int, str]]:
        """The nodes at which numbers stop being finite, although what went in is, with the flag.

        A value starts where the values of the inputs are finite; a gradient where an edge brings
        the first contribution that is not finite along values and from a gradient that are, or
        where finite contributions add up to more than a float can hold.
        """
        bad = {node.id for node in self.nodes if not finite(node.value)}
        spoilt = {id for id, gradient in self._gradients.items() if not finite(gradient)}
        if not bad and not spoilt:
            return
        starts, explained = set(), set()  # explained: gradients that a contribution spoils
        line = iter(self._passed)
        for node in self.nodes:
            if node.id in bad and bad.isdisjoint(node.inputs):
                yield node.id, STARTS
            for source in node.inputs:
                edge = next(line)
                if source not in spoilt or edge is None:
                    continue
                if not finite(self._edges[edge].contribution):
                    explained.add(source)
                    if node.id not in spoilt and bad.isdisjoint((node.id, *node.inputs)):
                        starts.add(source)
        for id in sorted(starts | (spoilt - explained)):
            yield id, GRADIENT_STARTS


def inputs_of(count: int, sources: Sequence[int], targets: Sequence[int]) -> list[list[int]]:
    """For each of ``count`` nodes, the sources of its lines."""
    inputs: list[list[int]] = [[] for _ in range(count)]
    for source, target in zip(sources, targets, strict=True):
        inputs[target].append(source)
    return inputs


def sketch_of(graph: Diagram | Sketch) -> Sketch:
    """A diagram as a sketch; a sketch as it is."""
    return graph if isinstance(graph, Sketch) else DiagramSketch(graph)

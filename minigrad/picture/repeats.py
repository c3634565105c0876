"""What may go behind one card because it repeats or belongs together, and what had better stay.

`siblings` finds parts of a graph that are built alike and used alike: the neurons of a layer, the
samples of a batch. `scope_parts` finds what was made inside one `mg.scope`, as a layer does.
`own_names` says which names make a card worth seeing.

Read next: `minigrad.picture.fold`, which hides what is found here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple, Protocol

from minigrad.picture.diagram import Card
from minigrad.picture.sketch import SketchNode

__all__ = ["Part", "gives_name", "name_tiers", "runs_of", "scope_parts", "scopes_of", "siblings"]

FEW = 4  # names that differ in their digits only, up to which each is a name of its own
SIBLINGS = 3  # alike parts, from which all but the first are hidden

_EXPRESSION = re.compile(r"[()\[\]+*/@%<>=]|\w ?- ?\w").search
_ELEMENT = re.compile(r"\[[\w, ]*\]$")  # of a leaf that is called by its place: ``w[0, 3]``
_DIGITS = re.compile(r"[\d₀-₉]+")


class Graph(Protocol):
    """What is read here of a graph that is being folded; nodes are indices."""

    @property
    def nodes(self) -> Sequence[SketchNode]: ...
    @property
    def hidden(self) -> Mapping[int, Mapping[str, int]]: ...
    @property
    def scopes(self) -> Mapping[int, Set[str]]: ...
    @property
    def inputs(self) -> Sequence[Sequence[int]]: ...
    @property
    def users(self) -> Sequence[int]: ...
    def stays(self, node: int) -> bool: ...
    def card(self, node: int) -> Card: ...


class Part(NamedTuple):
    """Nodes to be hidden behind one card, and what that card is called; "" for their number."""

    nodes: list[int]
    name: str = ""


# Names


def gives_name(node: SketchNode) -> bool:
    """Whether the node has a name that somebody gave: no number, no ``v17``, no expression.

    >>> [gives_name(Card(7, name, "mul")) for name in ("loss", "h₂", "v7", "a*b", "MLP/dot")]
    [True, True, False, False, False]
    """
    name = node.name
    if not name or node.role in ("constant", "fold", "box") or name == f"v{node.id}":
        return False
    return not _EXPRESSION(_ELEMENT.sub("", name) if node.op is None else name)


def name_tiers(named: Sequence[SketchNode], most: int) -> list[frozenset[int]]:
    """Which cards to keep for the sake of their names: first as many as can be, at last none.

    Names that differ in their digits only (``h₁ … h₉₉``, ``w0_1``) count as one name for many
    cards, and are the first to go; then go the names of leaves.

    Args:
        named: The nodes for which `gives_name` holds.
        most: How many may be kept.
    """
    stems = [_DIGITS.sub("#", node.name) for node in named]
    times = Counter(stems)
    own = [node for node, stem in zip(named, stems, strict=True) if times[stem] <= FEW]
    tiers: list[frozenset[int]] = []
    for tier in (named, own, [node for node in own if node.op is not None], []):
        ids = frozenset(node.id for node in tier)  # for membership only
        if len(ids) <= most and ids not in tiers:
            tiers.append(ids)
    return tiers


# Siblings


def siblings(graph: Graph) -> list[Part]:
    """Parts that are built alike and used alike, but for the first; the largest first.

    A part is a node with all that only it uses. Two parts are alike if their operations, the shapes
    of their numbers, and the nodes that both use are the same, and if they go into the same parts:
    where in a long sum of these is of no account. Leaves are alike if their names are, too.
    """
    inputs, users = graph.inputs, graph.users
    consumers: list[list[int]] = [[] for _ in inputs]
    for node, near in enumerate(inputs):
        for source in near:
            consumers[source].append(node)
    kinds: dict[tuple[object, ...], int] = {}
    kind: list[int] = []
    families: dict[tuple[object, ...], list[int]] = {}
    owner = list(range(len(inputs)))  # the node at the head of the part
    for node in reversed(owner[:]):
        if users[node] == 1 and not graph.stays(node):
            owner[node] = owner[consumers[node][0]]
    for node, known in enumerate(graph.nodes):
        look: tuple[object, ...] = (node,)  # like nothing else
        if not graph.stays(node):
            parts = [kind[v] if users[v] == 1 else -1 - v for v in inputs[node]]
            what = (known.op, known.role) if known.op is None else (known.op,)
            hides = frozenset(graph.hidden[node].items()) if node in graph.hidden else None
            look = (*what, known.shape, hides, *parts)
        kind.append(kinds.setdefault(look, len(kinds)))
        if consumers[node]:
            uses = consumers[node]
            if users[node] > 1:
                uses = sorted({owner[user] for user in uses})
            # leaves of one family are called alike: no pixel stands for the weights of a kernel
            stem = _DIGITS.sub("#", known.name) if known.op is None else ""
            families.setdefault((kind[node], stem, *uses), []).append(node)
    found = []
    for family in families.values():
        if len(family) >= SIBLINGS:
            rest = family[1:]
            name = f"… {len(rest)} like {graph.card(family[0]).label}"
            found.append(Part(branches(graph, rest), name))
    return sorted(found, key=lambda part: -len(part.nodes))


def branches(graph: Graph, seeds: Sequence[int], *, leaves_only: bool = False) -> list[int]:
    """The seeds and all that only they use, or the leaves alone."""
    group = list(seeds)
    inside = set(seeds)  # asked for membership only, never walked
    uses: dict[int, int] = {}
    for node in group:  # grows while it is read
        for source in graph.inputs[node]:
            if source in inside or graph.stays(source):
                continue
            if leaves_only and (graph.inputs[source] or graph.nodes[source].scope):
                continue
            uses[source] = uses.get(source, 0) + 1
            if uses[source] == graph.users[source]:
                inside.add(source)
                group.append(source)
    return group


# Chains


def runs_of(graph: Graph, *, same_op: bool) -> list[list[int]]:
    """Chains of nodes, each used by the next one only, to the last, which may have any users.

    Args:
        same_op: Whether a node is followed along its first input of the same operation, or
            along its only input that is no leaf.
    """
    inputs, users, nodes = graph.inputs, graph.users, graph.nodes
    follows: dict[int, int] = {}
    for node, near in enumerate(inputs):
        if not near:
            continue
        inner = [v for v in near if inputs[v]]
        if same_op:
            inner = [v for v in inner if nodes[v].op == nodes[node].op][:1]
        if len(inner) == 1 and users[inner[0]] == 1 and not graph.stays(inner[0]):
            follows[inner[0]] = node
    ends = set(follows.values())
    found = []
    for start in follows:
        if start in ends:
            continue
        run, node = [start], start
        while node in follows:
            node = follows[node]
            run.append(node)
        found.append(run)
    return found


# Scopes


def scopes_of(nodes: Sequence[SketchNode]) -> list[str]:
    """Every scope and every scope around one, the deepest first.

    >>> scopes_of([Card(0, "x", scope="MLP/layers.0"), Card(1, "y", scope="MLP/layers.1")])
    ['MLP/layers.0', 'MLP/layers.1', 'MLP']
    """
    found: dict[str, None] = {}
    for scope in dict.fromkeys(node.scope for node in nodes if node.scope):
        steps = scope.split("/")
        for depth in range(len(steps), 0, -1):
            found["/".join(steps[:depth])] = None
    return sorted(found, key=lambda scope: -scope.count("/"))


def scope_parts(graph: Graph, scope: str) -> list[Part]:
    """What was made inside the scope, with the leaves that only it uses, one part for each visit.

    Where the way from one node of the scope to another leads outside (a layer that is called again
    on what came of its output), the second belongs to a new visit: no part may feed itself. Where
    some of the scope is behind other folds already, the name says that this is a part of it.
    """
    visit: list[int] = []  # of each node: how often the way to it came to the scope; 0 for never
    members: dict[int, list[int]] = {}
    inside = [
        not graph.stays(node) and _within(known.scope, scope)
        for node, known in enumerate(graph.nodes)
    ]  # fmt: skip
    for node, near in enumerate(graph.inputs):
        if inside[node]:
            visit.append(max([visit[v] + (not inside[v]) for v in near], default=1))
            members.setdefault(visit[node], []).append(node)
        else:
            visit.append(max([visit[v] for v in near], default=0))
    parts = [branches(graph, nodes, leaves_only=True) for nodes in members.values()]
    here = set().union(*parts)
    whole = not any(
        _within(inner, scope)
        for fold, scopes in graph.scopes.items() if fold not in here for inner in scopes
    )  # fmt: skip
    return [Part(nodes, scope if whole else f"part of {scope}") for nodes in parts]


def _within(inner: str, scope: str) -> bool:
    return inner == scope or inner.startswith(f"{scope}/")

"""Fewer cards: what is repeated is put behind one card that says what it hides.

Three rules, in this order, each only while there are too many cards:

1. of a node with many inputs of its own, all but the first two are folded;
2. a chain, in which each node feeds only the next one and has only leaves beside it, is folded
   but for its ends;
3. a chain of one operation (a long sum) is folded with what only it uses; inner chains first.

If that is not enough, what lies farthest from the output goes behind one card. A fold keeps the
edges that enter and leave it; those between the same two cards become one that says how many.

Read next: `minigrad.picture.cards`.
"""

from __future__ import annotations

from collections.abc import Iterable

from minigrad.picture.diagram import Card, Diagram, Edge

__all__ = ["fold"]

FEWEST = 3  # a fold that hides less than this is not worth its card
LONG = 6  # nodes, from which a chain keeps its first and its last two visible
MANY = 8  # inputs of its own, from which a node is called n-ary


def fold(diagram: Diagram, max_nodes: int | None) -> Diagram:
    """The diagram with at most `max_nodes` cards, as far as the rules above can.

    Args:
        diagram: Cards with inputs before what uses them.
        max_nodes: How many cards may be seen; ``None`` for any number.

    Returns:
        The same diagram where it is small enough; else one with cards of the role "fold".

    >>> chain = tuple(Card(i, f"v{i}", "tanh" if i else None, "operation") for i in range(1000))
    >>> small = fold(Diagram(chain, tuple(Edge(i, i + 1) for i in range(999)), (999,)), 150)
    >>> [card.name for card in small.cards], small.cards[2].hides
    (['v0', 'v1', '… 996 nodes', 'v998', 'v999'], ('996 of tanh',))
    """
    if max_nodes is None or len(diagram.cards) <= max_nodes:
        return diagram
    max_nodes = max(max_nodes, 3)
    folder = _Folder(diagram)
    for rule in (folder.many_inputs, folder.chains, folder.sums, folder.sums, folder.farthest):
        if len(folder.cards) > max_nodes:
            folder.contract(rule(max_nodes), max_nodes)
    return diagram._replace(cards=tuple(folder.cards), edges=tuple(folder.edges))


class _Folder:
    """A diagram that shrinks. Nodes are indices into `cards`; `hidden` counts kinds per card."""

    def __init__(self, diagram: Diagram) -> None:
        self.heads = frozenset(diagram.outputs)
        self.cards: list[Card] = list(diagram.cards)
        self.edges: list[Edge] = list(diagram.edges)
        self.hidden: list[dict[str, int]] = [{} for _ in self.cards]
        self._connect()

    def _connect(self) -> None:
        index = {card.id: number for number, card in enumerate(self.cards)}
        self.index = index
        self.inputs: list[list[int]] = [[] for _ in self.cards]
        self.users: list[list[int]] = [[] for _ in self.cards]
        for edge in self.edges:
            source, target = index[edge.source], index[edge.target]
            if source not in self.inputs[target]:
                self.inputs[target].append(source)
                self.users[source].append(target)

    # The rules: each gives groups of nodes to hide

    def many_inputs(self, _max_nodes: int) -> list[list[int]]:
        """For each n-ary node, its own inputs after the first two, with what only they use."""
        groups = []
        for node, near in enumerate(self.inputs):
            if len(near) >= MANY:
                own = [v for v in near if self.users[v] == [node] and not self._is_head(v)]
                if len(own) >= MANY:
                    groups.append(self._with_private(own[2:], whole_branches=True))
        return sorted(groups, key=len, reverse=True)

    def chains(self, _max_nodes: int) -> list[list[int]]:
        """Runs of nodes that have only leaves beside them, the longest first."""
        return sorted(self._runs(same_op=False), key=len, reverse=True)

    def sums(self, _max_nodes: int) -> list[list[int]]:
        """Runs of one operation with whatever only they use; a run inside another comes first."""
        return sorted(self._runs(same_op=True), key=len)

    def farthest(self, max_nodes: int) -> list[list[int]]:
        """All but some leaves, some ends (neither can close a cycle) and the nodes made last."""
        spare = max_nodes // 3
        leaves = [v for v in range(len(self.cards)) if not self.inputs[v] and self.users[v]][:spare]
        ends = [v for v in range(len(self.cards)) if self._is_head(v) and not self.users[v]]
        ends = ends[: max_nodes // 3]
        keep = {*leaves, *ends}
        node = len(self.cards) - 1
        while len(keep) < min(max_nodes - 1, len(self.cards) - FEWEST):
            keep.add(node)
            node -= 1
        return [[v for v in range(len(self.cards)) if v not in keep]]

    def _runs(self, *, same_op: bool) -> list[list[int]]:
        inputs, users, cards = self.inputs, self.users, self.cards
        follows: dict[int, int] = {}
        for node, near in enumerate(inputs):
            inner = [v for v in near if inputs[v]]
            if same_op:
                inner = [v for v in inner if cards[v].op == cards[node].op][:1]
            if len(inner) == 1 and len(users[inner[0]]) == 1 and not self._is_head(inner[0]):
                follows[inner[0]] = node
        groups = []
        ends = set(follows.values())
        for start in follows:
            if start in ends:
                continue
            run, node = [], start
            while node in follows:
                run.append(node)
                node = follows[node]
            if same_op:
                groups.append(self._with_private(run, whole_branches=True))
            elif len(run) < LONG:  # what enters at the start of a chain stays visible
                groups.append(run[:1] + self._with_private(run[1:], whole_branches=False))
            else:
                groups.append(self._with_private(run[1:-1], whole_branches=False))
        return groups

    def _is_head(self, node: int) -> bool:
        return self.cards[node].id in self.heads

    def _with_private(self, seeds: list[int], *, whole_branches: bool) -> list[int]:
        """The seeds and what only they use: leaves used once, or whole branches."""
        group = list(seeds)
        inside = set(seeds)
        uses: dict[int, int] = {}
        for node in group:  # grows while it is read
            for source in self.inputs[node]:
                uses[source] = uses.get(source, 0) + 1
                if source in inside or self._is_head(source):
                    continue
                is_leaf = not self.inputs[source]
                wanted = len(self.users[source]) == 1 if is_leaf else whole_branches
                if wanted and uses[source] == len(self.users[source]):
                    inside.add(source)
                    group.append(source)
        return group

    # Hiding

    def contract(self, groups: Iterable[list[int]], max_nodes: int) -> None:
        """Hide group after group until the rest is small enough."""
        visible = len(self.cards)
        home = list(range(visible))
        chosen: dict[int, list[int]] = {}
        taken = [False] * visible
        for group in groups:
            if visible <= max_nodes:
                break
            if len(group) < FEWEST or any(taken[node] for node in group):
                continue
            last = max(group)  # inputs stand before consumers, so this is the end of a chain
            chosen[last] = group
            for node in group:
                home[node], taken[node] = last, True
            visible -= len(group) - 1
        if chosen:
            self._rebuild(chosen, home)

    def _rebuild(self, groups: dict[int, list[int]], home: list[int]) -> None:
        """Replace each group by one card in the place of its last node."""
        edges = self._bundle(groups, home)
        for last, group in groups.items():
            counts: dict[str, int] = {}
            for node in group:
                for kind, count in (self.hidden[node] or {_kind(self.cards[node]): 1}).items():
                    counts[kind] = counts.get(kind, 0) + count
            exits = [node for node in group if any(home[user] != last for user in self.users[node])]
            card = _fold_card(self.cards[last], counts)
            if exits != [last]:  # several values leave it, so it has no value of its own
                card = card._replace(value=None, gradient=None)
            members = [self.cards[node] for node in group if self.cards[node].flags]
            flags = dict.fromkeys(flag for member in members for flag in member.warnings)
            card = card._replace(flags=tuple(flags))  # a fold does not hide a warning
            self.cards[last], self.hidden[last] = card, counts
        left = [node for node, place in enumerate(home) if node == place]
        self.cards = [self.cards[node] for node in left]
        self.hidden = [self.hidden[node] for node in left]
        self.edges = edges
        self._connect()

    def _bundle(self, groups: dict[int, list[int]], home: list[int]) -> list[Edge]:
        """The edges between what is left; those that meet a fold become one per pair of cards."""
        index = self.index
        bundles: dict[tuple[int, ...], list[Edge]] = {}
        for number, edge in enumerate(self.edges):
            source, target = home[index[edge.source]], home[index[edge.target]]
            if source == target:
                continue
            meets_fold = source in groups or target in groups
            key = (source, target) if meets_fold else (source, target, number)
            if key in bundles:
                bundles[key].append(edge)
            else:
                bundles[key] = [edge]
        return [
            _together(bundle, self.cards[key[0]].id, self.cards[key[1]].id, key[1] in groups)
            for key, bundle in bundles.items()
        ]


def _together(bundle: list[Edge], source: int, target: int, into_fold: bool) -> Edge:
    """One edge for all; what only a single use has (slot, local derivative) is left out."""
    first = bundle[0]
    if len(bundle) == 1 and not into_fold:
        return first._replace(source=source, target=target)
    contributions = [edge.contribution for edge in bundle if edge.contribution is not None]
    reasons = {edge.reason for edge in bundle}
    return Edge(
        source, target,
        contribution=sum(contributions) if len(contributions) == len(bundle) else None,
        reason=first.reason if len(reasons) == 1 else None,
        uses=sum(edge.uses for edge in bundle),
    )  # fmt: skip


def _kind(card: Card) -> str:
    return f"of {card.op}" if card.op is not None else card.role


def _fold_card(last: Card, counts: dict[str, int]) -> Card:
    """The card in place of a group; its value and gradient are those of its last node."""
    ranked = sorted(counts.items(), key=lambda item: (not item[0].startswith("of "), -item[1]))
    hides = tuple(f"{count} {_plural(kind, count)}" for kind, count in ranked)
    operations = [kind[3:] for kind in counts if kind.startswith("of ")]
    return last._replace(
        name=f"… {sum(counts.values())} nodes",
        op=operations[0] if len(operations) == 1 else None,
        role="fold",
        hides=hides,
    )


def _plural(kind: str, count: int) -> str:
    if kind.startswith("of ") or count == 1:
        return kind
    return "leaves" if kind == "leaf" else kind + "s"

"""Fewer cards: what is repeated is put behind one card that says what it hides.

Three rules, in this order, each only while there are too many cards:

1. of a node with many inputs of its own, all but the first two are folded;
2. a chain, in which each node feeds only the next one and has only leaves beside it, is folded
   but for its ends;
3. a chain of one operation (a long sum) is folded with what only it uses; inner chains first. If
   there are few such chains, each keeps its first terms and its last one, as in x₁ + x₂ + … + xₙ.

If that is not enough, what lies farthest from the output goes behind one card. A fold keeps the
edges that enter and leave it; those between the same two cards become one that says how many.

Read next: `minigrad.picture.cards`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from minigrad.picture.diagram import Card, Diagram, Edge

__all__ = ["fold"]

FEWEST = 3  # a fold that hides less than this is not worth its card
LONG = 6  # nodes, from which a chain keeps its first and its last two visible
TERMS = 12  # cards, about, that a long sum keeps visible where there is room for its ends
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
    """A diagram that shrinks. Nodes are indices into `cards`; `hidden` counts kinds per fold."""

    def __init__(self, diagram: Diagram) -> None:
        self.heads = frozenset(diagram.outputs)
        self.cards: list[Card] = list(diagram.cards)
        self.edges: list[Edge] = list(diagram.edges)
        self.hidden: dict[int, dict[str, int]] = {}
        self._connect()

    def _connect(self) -> None:
        index = {card.id: number for number, card in enumerate(self.cards)}
        self.sources = [index[edge.source] for edge in self.edges]
        self.targets = [index[edge.target] for edge in self.edges]
        nothing: list[int] = []  # shared, for speed; never changed
        self.inputs = inputs = [nothing] * len(index)
        self.users = users = [0] * len(index)  # how many different ones
        for source, target in zip(self.sources, self.targets, strict=True):
            near = inputs[target]
            if not near:
                inputs[target] = [source]
            elif source in near:
                continue
            else:
                near.append(source)
            users[source] += 1

    # The rules: each gives groups of nodes to hide

    def many_inputs(self, _max_nodes: int) -> list[list[int]]:
        """For each n-ary node, its own inputs after the first two, with what only they use."""
        groups = []
        for near in self.inputs:
            if len(near) >= MANY:
                own = [v for v in near if self.users[v] == 1 and not self._is_head(v)]
                if len(own) >= MANY:
                    groups.append(self._with_private(own[2:], whole_branches=True))
        return sorted(groups, key=len, reverse=True)

    def chains(self, _max_nodes: int) -> list[list[int]]:
        """Runs of nodes that have only leaves beside them, the longest first."""
        groups = []
        for run in self._runs(same_op=False):
            if len(run) <= LONG:  # what enters at the start of a chain stays visible
                groups.append(run[:1] + self._with_private(run[1:-1], whole_branches=False))
            else:
                groups.append(self._with_private(run[1:-2], whole_branches=False))
        return sorted(groups, key=len, reverse=True)

    def sums(self, max_nodes: int) -> list[list[int]]:
        """Runs of one operation with whatever only they use; a run inside another comes first."""
        runs = self._runs(same_op=True)
        roomy = len(runs) * TERMS <= max_nodes
        groups = []
        for run in runs:
            # The last node of a sum stays, with its last term: where there is room for it, the
            # first two terms stay too, lest that one looks like a special one.
            if roomy and len(run) >= LONG:
                groups.append(self._with_private(run[1:-1], whole_branches=True, keep=run[0]))
            else:
                groups.append(self._with_private(run[:-1], whole_branches=True))
        return sorted(groups, key=len)

    def farthest(self, max_nodes: int) -> list[list[int]]:
        """All but some leaves, some ends (neither can close a cycle) and the nodes made last."""
        count, spare = len(self.cards), max_nodes // 3
        room = min(max_nodes - 1, count - FEWEST)
        leaves = [v for v in range(count) if not self.inputs[v] and self.users[v]][:spare]
        ends = [v for v in range(count) if self._is_head(v) and not self.users[v]][:spare]
        keep = set([*ends, *leaves][:room])
        node = count - 1
        while len(keep) < room:
            keep.add(node)
            node -= 1
        return [[v for v in range(count) if v not in keep]]

    def _runs(self, *, same_op: bool) -> list[list[int]]:
        """Chains of nodes, each used by the next one only, to the last, which may have any users.

        Args:
            same_op: Whether a node is followed along its first input of the same operation, or
                along its only input that is no leaf.
        """
        inputs, users, cards, heads = self.inputs, self.users, self.cards, self.heads
        follows: dict[int, int] = {}
        for node, near in enumerate(inputs):
            if not near:
                continue
            inner = [v for v in near if inputs[v]]
            if same_op:
                inner = [v for v in inner if cards[v].op == cards[node].op][:1]
            if len(inner) == 1 and users[inner[0]] == 1 and cards[inner[0]].id not in heads:
                follows[inner[0]] = node
        ends = set(follows.values())
        runs = []
        for start in follows:
            if start in ends:
                continue
            run, node = [start], start
            while node in follows:
                node = follows[node]
                run.append(node)
            runs.append(run)
        return runs

    def _is_head(self, node: int) -> bool:
        return self.cards[node].id in self.heads

    def _with_private(self, seeds: list[int], *, whole_branches: bool, keep: int = -1) -> list[int]:
        """The seeds and what only they use, but for `keep`: leaves used once, or whole branches."""
        inputs, users = self.inputs, self.users
        group = list(seeds)
        inside = {*seeds, keep}  # asked for membership only, never walked
        uses: dict[int, int] = {}
        for node in group:  # grows while it is read
            for source in inputs[node]:
                if source in inside:
                    continue
                many = users[source]
                if (inputs[source] and not whole_branches) or self._is_head(source):
                    continue
                if many > 1:
                    uses[source] = uses.get(source, 0) + 1
                    if not whole_branches or not inputs[source] or uses[source] < many:
                        continue
                inside.add(source)
                group.append(source)
        return group

    # Hiding

    def contract(self, groups: Iterable[list[int]], max_nodes: int) -> None:
        """Hide group after group until the rest is small enough."""
        visible = len(self.cards)
        home = list(range(visible))
        chosen: dict[int, list[int]] = {}
        taken: set[int] = set()
        for group in groups:
            if visible <= max_nodes:
                break
            if len(group) < FEWEST or not taken.isdisjoint(group):
                continue
            last = max(group)  # inputs stand before consumers, so this is the end of a chain
            chosen[last] = group
            taken.update(group)
            for node in group:
                home[node] = last
            visible -= len(group) - 1
        if chosen:
            self._rebuild(chosen, home)

    def _rebuild(self, groups: dict[int, list[int]], home: list[int]) -> None:
        """Replace each group by one card in the place of its last node."""
        bundles = self._bundle(groups, home)
        leaving: set[int] = set()  # nodes of groups that are used outside
        for source, target in zip(self.sources, self.targets, strict=True):
            if home[source] != home[target]:
                leaving.add(source)
        for last, group in groups.items():
            card, counts = self.cards[last], self._count(group)
            exits = [node for node in group if node in leaving]
            folded = _fold_card(card, counts)
            if exits != [last]:  # several values leave it, so it has no value of its own
                folded = folded._replace(value=None, gradient=None)
            members = [self.cards[node] for node in group if self.cards[node].flags]
            flags = dict.fromkeys(flag for member in members for flag in member.warnings)
            self.cards[last] = folded._replace(flags=tuple(flags))  # no fold hides a warning
            self.hidden[last] = counts
        left = [node for node, place in enumerate(home) if node == place]
        self.edges = [
            _together(bundle, self.cards[source].id, self.cards[target].id, target in groups)
            for source, target, bundle in bundles
        ]
        self.cards = [self.cards[node] for node in left]
        self.hidden = {
            order: self.hidden[node] for order, node in enumerate(left) if node in self.hidden
        }
        self._connect()

    def _count(self, group: list[int]) -> dict[str, int]:
        """How many nodes of which kind are in the group, and in the folds in it."""
        counts: dict[str, int] = {}
        plain = [self.cards[node] for node in group if node not in self.hidden]
        for (op, role), count in Counter([(card.op, card.role) for card in plain]).items():
            kind = role if op is None else f"of {op}"
            counts[kind] = counts.get(kind, 0) + count
        for node in group:
            for kind, count in self.hidden.get(node, {}).items():
                counts[kind] = counts.get(kind, 0) + count
        return counts

    def _bundle(
        self, groups: dict[int, list[int]], home: list[int]
    ) -> list[tuple[int, int, list[Edge]]]:
        """The edges between what is left; those that meet a fold become one per pair of cards."""
        found: list[tuple[int, int, list[Edge]]] = []
        bundles: dict[tuple[int, int], list[Edge]] = {}
        for old_source, old_target, edge in zip(
            self.sources, self.targets, self.edges, strict=True
        ):
            source, target = home[old_source], home[old_target]
            if source == target:
                continue
            if source not in groups and target not in groups:
                found.append((source, target, [edge]))
            elif (source, target) in bundles:
                bundles[source, target].append(edge)
            else:
                bundles[source, target] = [edge]
                found.append((source, target, bundles[source, target]))
        return found


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

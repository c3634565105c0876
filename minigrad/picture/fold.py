"""Fewer cards: what is repeated is put behind one card that says what it hides.

These rules, in this order, each only while there are too many cards:

1. of a node with many leaves of its own, all but the first two are folded;
2. a long chain, in which each node feeds only the next one and has only leaves beside it, is folded
   but for its ends;
3. of parts that are built and used alike (the neurons of a layer), all but the first are folded;
4. a chain of one operation (a long sum) is folded with what only it uses, but for its first terms
   and its last one, as in x₁ + x₂ + … + xₙ; if that is not enough, but for its last one alone;
5. short chains, and of many inputs of any kind all but the first two;
6. what was made in a scope goes behind one card, deep scopes first.

If that is not enough, what lies farthest from the output goes behind one card. Cards with a name
that the learner gave stay as long as there is room for them: see `minigrad.picture.repeats`. A fold
keeps the edges that enter and leave it; those between the same two cards become one that says how
many.

Read next: `minigrad.picture.cards`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from heapq import heappop, heappush

from minigrad.picture.diagram import Card, Diagram, Edge, fold_card, warnings_in
from minigrad.picture.repeats import (
    Part,
    gives_name,
    name_tiers,
    runs_of,
    scope_parts,
    scopes_of,
    siblings,
)
from minigrad.picture.sketch import Sketch, SketchNode, inputs_of, sketch_of

__all__ = ["fold"]

FEWEST = 3  # a fold that hides less than this is not worth its card
LONG = 6  # nodes, from which a chain keeps its first and its last two visible
TERMS = 12  # cards, about, that a long sum keeps visible where there is room for its ends
NAMES = 9  # hidden names that a fold remembers
MANY = 8  # inputs of its own, from which a node is called n-ary


def fold(graph: Diagram | Sketch, max_nodes: int | None) -> Diagram:
    """The diagram with at most `max_nodes` cards, as far as the rules above can.

    Args:
        graph: A diagram or a sketch of one, with inputs before what uses them.
        max_nodes: How many cards may be seen; ``None`` for any number.

    Returns:
        All of it where it is small enough; else a diagram with cards of the role "fold".

    >>> chain = tuple(Card(i, f"v{i}", "tanh" if i else None, "operation") for i in range(1000))
    >>> small = fold(Diagram(chain, tuple(Edge(i, i + 1) for i in range(999)), (999,)), 150)
    >>> [card.name for card in small.cards], small.cards[2].hides
    (['v0', 'v1', '… 996 nodes', 'v998', 'v999'], ('996 of tanh',))
    """
    sketch = sketch_of(graph)
    if max_nodes is None or len(sketch.nodes) <= max_nodes:
        return sketch.diagram()
    max_nodes = max(max_nodes, 3)
    named = [node for node in sketch.nodes if gives_name(node)]
    for kept in name_tiers(named, max_nodes // 4):
        folder = _Folder(sketch, named, kept)
        folder.shrink(max_nodes)
        if len(folder.nodes) <= max_nodes:
            break
    else:
        folder.contract(folder.farthest(max_nodes), max_nodes)
    return folder.diagram()


class _Folder:
    """A graph that shrinks. Nodes are indices into `nodes`.

    Of each fold, `hidden` says how many nodes of which kind are in it, `scopes` where they were
    made.

    Args:
        sketch: What to fold.
        named: The nodes that somebody gave a name.
        kept: Ids of nodes that are not hidden, beside the outputs.
    """

    def __init__(self, sketch: Sketch, named: Iterable[SketchNode], kept: frozenset[int]) -> None:
        self.sketch = sketch
        self.named = frozenset(node.id for node in named)
        self.heads = frozenset(sketch.outputs) | kept
        self.nodes: list[SketchNode] = list(sketch.nodes)  # a fold is a card
        self.places: Sequence[int] = range(len(self.nodes))  # of each node, its place in the sketch
        self.flagged: Set[int] = sketch.flagged
        self.hidden: dict[int, dict[str, int]] = {}
        self.scopes: dict[int, set[str]] = {}
        self.bundles: list[list[int]] | None = None  # the lines of each edge; None: edges are lines
        self._connect(sketch.sources, sketch.targets, sketch.inputs)

    def card(self, node: int) -> Card:
        """The card of a node that may be a fold."""
        known = self.nodes[node]
        return known if isinstance(known, Card) else self.sketch.card(self.places[node])

    def diagram(self) -> Diagram:
        """What is left."""
        cards = [self.card(node) for node in range(len(self.nodes))]
        ends = zip(self.sources, self.targets, strict=True)
        edges = [
            self._edge(edge, cards[source], cards[target])
            for edge, (source, target) in enumerate(ends)
        ]
        return Diagram(tuple(cards), tuple(edges), self.sketch.outputs, self.sketch.title)

    def shrink(self, max_nodes: int) -> None:
        """Apply the rules, one after the other, until the diagram is small enough."""
        for rule in (self.many_leaves, self.long_chains, self.alike, self.long_sums,
                     self.sums, self.sums, self.alike, self.chains, self.many_inputs):  # fmt: skip
            if len(self.nodes) > max_nodes:
                parts = rule(max_nodes)
                # Of many neurons some folded and some not would look as if they were different.
                whole = rule == self.alike or (rule == self.sums and len(parts) > MANY)
                self.contract(parts, 0 if whole else max_nodes)
        for scope in scopes_of(self.nodes):
            if len(self.nodes) > max_nodes:
                self.contract(scope_parts(self, scope), 0)

    def _connect(
        self, sources: Sequence[int], targets: Sequence[int], inputs: Sequence[Sequence[int]]
    ) -> None:
        self.sources, self.targets = sources, targets
        self.inputs = [
            near if len(near) < 2 or len(set(near)) == len(near) else list(dict.fromkeys(near))
            for near in inputs
        ]
        self.users = users = [0] * len(inputs)  # how many different ones
        for near in self.inputs:
            for source in near:
                users[source] += 1

    # The rules: each gives groups of nodes to hide

    def many_leaves(self, _max_nodes: int) -> list[Part]:
        """For each n-ary node, its own leaves after the first two."""
        return self._own_inputs(leaves_only=True)

    def many_inputs(self, _max_nodes: int) -> list[Part]:
        """For each n-ary node, its own inputs after the first two, with what only they use."""
        return self._own_inputs(leaves_only=False)

    def _own_inputs(self, *, leaves_only: bool) -> list[Part]:
        parts = []
        for near in self.inputs:
            if len(near) >= MANY:
                own = [v for v in near if self.users[v] == 1 and not self.stays(v)
                       and not (leaves_only and self.inputs[v])]  # fmt: skip
                if len(own) >= MANY:
                    parts.append(Part(self._with_private(own[2:], whole_branches=True)))
        return _largest_first(parts)

    def long_chains(self, _max_nodes: int) -> list[Part]:
        """Runs of nodes that have only leaves beside them, but for their ends."""
        return _largest_first([
            Part(self._with_private(run[1:-2], whole_branches=False))
            for run in runs_of(self, same_op=False) if len(run) > LONG
        ])  # fmt: skip

    def chains(self, _max_nodes: int) -> list[Part]:
        """The other runs: what enters at the start of a short chain stays visible."""
        return _largest_first([
            Part(run[:1] + self._with_private(run[1:-1], whole_branches=False))
            for run in runs_of(self, same_op=False) if len(run) <= LONG
        ])  # fmt: skip

    def alike(self, _max_nodes: int) -> list[Part]:
        """Of parts that are built and used alike, all but the first."""
        return siblings(self)

    def long_sums(self, _max_nodes: int) -> list[Part]:
        """The middle of long runs of one operation, with whatever only it uses; largest first."""
        return _largest_first([
            Part(self._with_private(run[1:-1], whole_branches=True, keep=run[0]))
            for run in runs_of(self, same_op=True) if len(run) >= MANY
        ])  # fmt: skip

    def sums(self, max_nodes: int) -> list[Part]:
        """Runs of one operation with whatever only they use; a run inside another comes first."""
        runs = runs_of(self, same_op=True)
        roomy = len(runs) * TERMS <= max_nodes
        parts = []
        for run in runs:
            # The last node of a sum stays, with its last term: where there is room for it, the
            # first two terms stay too, lest that one looks like a special one.
            if roomy and len(run) >= LONG:
                nodes = self._with_private(run[1:-1], whole_branches=True, keep=run[0])
            else:
                nodes = self._with_private(run[:-1], whole_branches=True)
            parts.append(Part(nodes))
        return sorted(parts, key=lambda part: len(part.nodes))

    def farthest(self, max_nodes: int) -> list[Part]:
        """All but some leaves, some ends (neither can close a cycle) and the nodes made last."""
        count, spare = len(self.nodes), max_nodes // 3
        room = min(max_nodes - 1, count - FEWEST)
        leaves = [v for v in range(count) if not self.inputs[v] and self.users[v]][:spare]
        ends = [v for v in range(count) if self.stays(v) and not self.users[v]][:spare]
        keep = set([*ends, *leaves][:room])
        node = count - 1
        while len(keep) < room:
            keep.add(node)
            node -= 1
        return [Part([v for v in range(count) if v not in keep])]

    def stays(self, node: int) -> bool:
        """Whether it is an output, or has a name that is worth its card."""
        return self.nodes[node].id in self.heads

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
                if (inputs[source] and not whole_branches) or self.stays(source):
                    continue
                if many > 1:
                    uses[source] = uses.get(source, 0) + 1
                    if not whole_branches or not inputs[source] or uses[source] < many:
                        continue
                inside.add(source)
                group.append(source)
        return group

    # Hiding

    def contract(self, parts: Iterable[Part], max_nodes: int) -> None:
        """Hide part after part until the rest is small enough."""
        visible = len(self.nodes)
        home = list(range(visible))
        chosen: dict[int, Part] = {}
        taken: set[int] = set()
        for part in parts:
            group = part.nodes
            if visible <= max_nodes:
                break
            if len(group) < FEWEST or not taken.isdisjoint(group):
                continue
            last = max(group)  # inputs stand before consumers, so this is the end of a chain
            chosen[last] = part
            taken.update(group)
            for node in group:
                home[node] = last
            visible -= len(group) - 1
        if chosen:
            self._rebuild(chosen, home)

    def _rebuild(self, groups: dict[int, Part], home: list[int]) -> None:
        """Replace each group by one card in the place of its last node."""
        bundles = self._bundle(groups, home)
        leaving: set[int] = set()  # nodes of groups that are used outside
        for source, target in zip(self.sources, self.targets, strict=True):
            if home[source] != home[target]:
                leaving.add(source)
        flagged = set(self.flagged)
        for last, (group, name) in groups.items():
            counts = self._count(group)
            exits = [node for node in group if node in leaving]
            folded = fold_card(self.card(last), counts, name)._replace(names=self._names(group))
            if exits != [last]:  # several values leave it, so it has no value of its own
                folded = folded._replace(value=None, gradient=None)
            flags = [flag for node in group if node in flagged for flag in self.card(node).flags]
            warnings = tuple(dict.fromkeys(warnings_in(flags)))  # no fold hides a warning
            self.nodes[last] = folded._replace(flags=warnings)
            scopes = {self.nodes[node].scope for node in group if node not in self.hidden}
            self.scopes[last] = scopes.union(*[self.scopes.get(node, ()) for node in group])
            self.hidden[last] = counts
            if warnings:
                flagged.add(last)
        left = self._sorted([node for node, place in enumerate(home) if node == place], bundles)
        place = {node: order for order, node in enumerate(left)}
        self.nodes = [self.nodes[node] for node in left]
        self.places = [self.places[node] for node in left]
        self.flagged = {place[node] for node in flagged if node in place}
        self.hidden = {place[node]: counts for node, counts in self.hidden.items() if node in place}
        self.scopes = {place[node]: names for node, names in self.scopes.items() if node in place}
        self.bundles = [lines for _, _, lines in bundles]
        sources = [place[source] for source, _, _ in bundles]
        targets = [place[target] for _, target, _ in bundles]
        self._connect(sources, targets, inputs_of(len(left), sources, targets))

    def _names(self, group: list[int]) -> tuple[str, ...]:
        """The given names in a group and in the folds in it, in order; of many, not all."""
        found: list[str] = []
        for node in sorted(group):
            known = self.nodes[node]
            if node in self.hidden:
                found += self.card(node).names
            elif known.id in self.named:
                found.append(known.name)
        return tuple(found if len(found) <= NAMES else [*found[: NAMES - 1], found[-1]])

    def _count(self, group: list[int]) -> dict[str, int]:
        """How many nodes of which kind are in the group, and in the folds in it."""
        counts: dict[str, int] = {}
        plain = [self.nodes[node] for node in group if node not in self.hidden]
        for op, count in Counter([node.op for node in plain]).items():
            if op is not None:
                counts[f"of {op}"] = count
        counts.update(Counter([node.role for node in plain if node.op is None]))
        for node in group:
            for kind, count in self.hidden.get(node, {}).items():
                counts[kind] = counts.get(kind, 0) + count
        return counts

    def _sorted(self, left: list[int], bundles: list[tuple[int, int, list[int]]]) -> list[int]:
        """What is left, inputs before what uses them: a fold of a scope is where its last node was.

        Any other fold is used by later nodes alone, and then nothing moves.
        """
        if all(source < target for source, target, _ in bundles):
            return left
        waiting = dict.fromkeys(left, 0)
        users: dict[int, list[int]] = {node: [] for node in left}
        for source, target, _ in bundles:
            waiting[target] += 1
            users[source].append(target)
        ready = [node for node in left if not waiting[node]]  # a sorted list is a heap
        order = []
        while ready:
            node = heappop(ready)
            order.append(node)
            for user in users[node]:
                waiting[user] -= 1
                if not waiting[user]:
                    heappush(ready, user)
        return order

    def _bundle(self, groups: dict[int, Part], home: list[int]) -> list[tuple[int, int, list[int]]]:
        """The lines between what is left; those that meet a fold go together, per pair of cards."""
        found: list[tuple[int, int, list[int]]] = []
        bundles: dict[tuple[int, int], list[int]] = {}
        for edge, (old_source, old_target) in enumerate(
            zip(self.sources, self.targets, strict=True)
        ):
            source, target = home[old_source], home[old_target]
            if source == target:
                continue
            lines = self._lines(edge)
            if source not in groups and target not in groups:
                found.append((source, target, lines))
            elif (source, target) in bundles:
                bundles[source, target].extend(lines)
            else:
                bundles[source, target] = lines[:]
                found.append((source, target, bundles[source, target]))
        return found

    def _lines(self, edge: int) -> list[int]:
        return [edge] if self.bundles is None else self.bundles[edge]

    def _edge(self, edge: int, source: Card, target: Card) -> Edge:
        """One edge for all; what only a single use has (slot, local derivative) is left out."""
        whole = [self.sketch.edge(line) for line in self._lines(edge)]
        first = whole[0]
        if len(whole) == 1 and target.role != "fold":
            return first._replace(source=source.id, target=target.id)
        sent = [one.contribution for one in whole if one.contribution is not None]
        known = len(sent) == len(whole) and len({one.source for one in whole}) == 1
        return Edge(
            source.id, target.id, contribution=sum(sent) if known else None,
            reason=first.reason if len({one.reason for one in whole}) == 1 else None,
            uses=sum(one.uses for one in whole),
        )  # fmt: skip


def _largest_first(parts: list[Part]) -> list[Part]:
    return sorted(parts, key=lambda part: -len(part.nodes))

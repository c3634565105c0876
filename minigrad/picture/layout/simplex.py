"""Move groups of nodes together where moving single nodes gains nothing.

This is the network simplex method in small. Join the nodes by edges that span exactly one layer
until each connected part is a tree. A branch of the tree has an *excess*: edges that leave it minus
edges that enter it. Moving a branch one layer later shortens the first and lengthens the second, so
a branch with positive excess that hangs below its parent moves later, and one with negative excess
that hangs above moves earlier, as far as its tightest other edge allows; there it is tied again.

Read next: `layout.ranks`, which calls it.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["shorten_groups"]


def shorten_groups(
    rank: list[int],
    inputs: Sequence[Sequence[int]],
    consumers: Sequence[Sequence[int]],
    budget: int,
) -> None:
    """Shorten the total length of all edges, in place, until no branch gains or the budget ends.

    Args:
        rank: A layer per node such that every edge leads to a higher layer.
        inputs: Inputs of each node, once per edge.
        consumers: The same edges from the other end.
        budget: How many node visits may be spent on moving branches.

    >>> rank = [0, 1, 2, 3, 0, 1]          # 4 -> 5 -> 3, and 0 -> 1 -> 2 -> 3
    >>> shorten_groups(rank, [[], [0], [1], [2, 5], [], [4]], [[1], [2], [3], [], [5], [3]], 100)
    >>> rank
    [0, 1, 2, 3, 1, 2]
    """
    tree = _Tree(rank, inputs, consumers)
    for _ in range(8):  # later rounds find what earlier moves made possible
        moved = False
        for node in sorted(range(len(rank)), key=tree.size.__getitem__):
            cost = tree.try_branch(node)
            moved = moved or cost > 0
            budget -= cost
            if budget <= 0:
                return
        if not moved:
            return


class _Tree:
    """A spanning tree of tight edges, with the excess of every branch."""

    def __init__(
        self,
        rank: list[int],
        inputs: Sequence[Sequence[int]],
        consumers: Sequence[Sequence[int]],
    ) -> None:
        self.rank, self.inputs, self.consumers = rank, inputs, consumers
        count = len(rank)
        self.parent = [-1] * count
        self.branches: list[list[int]] = [[] for _ in range(count)]
        order = self._span()
        self.excess = [len(consumers[node]) - len(inputs[node]) for node in range(count)]
        self.size = [1] * count
        for node in reversed(order):
            if self.parent[node] >= 0:
                self.excess[self.parent[node]] += self.excess[node]
                self.size[self.parent[node]] += self.size[node]

    def _span(self) -> list[int]:
        """Grow the trees along tight edges; nodes in the order they were reached."""
        rank = self.rank
        seen = [False] * len(rank)
        order: list[int] = []
        for root in range(len(rank) - 1, -1, -1):  # consumers were made last: start with outputs
            if seen[root]:
                continue
            seen[root] = True
            stack = [root]
            while stack:
                node = stack.pop()
                order.append(node)
                for near, step in ((self.inputs[node], -1), (self.consumers[node], 1)):
                    for other in near:
                        if not seen[other] and rank[other] - rank[node] == step:
                            seen[other] = True
                            self.parent[other] = node
                            self.branches[node].append(other)
                            stack.append(other)
        return order

    def try_branch(self, top: int) -> int:
        """Move the branch under `top` if that shortens edges; the number of nodes visited."""
        excess, parent = self.excess[top], self.parent[top]
        if not excess or (parent >= 0 and (excess > 0) != (self.rank[top] > self.rank[parent])):
            return 0
        members = [top]
        for node in members:
            members += self.branches[node]
        inside = set(members)  # asked for membership only, never walked
        rank, far = self.rank, self.consumers if excess > 0 else self.inputs
        slack, inner, outer = 0, -1, -1
        for node in members:
            for other in far[node]:
                if other not in inside:
                    room = abs(rank[other] - rank[node]) - 1
                    if outer < 0 or room < slack:
                        slack, inner, outer = room, node, other
        if outer < 0:
            return 0
        step = slack if excess > 0 else -slack
        for node in members:
            rank[node] += step
        self._rehang(top, inner, outer)
        return len(members)

    def _rehang(self, top: int, inner: int, outer: int) -> None:
        """Cut the branch off its parent and tie its node `inner` to `outer`."""
        parent, excess, branches = self.parent, self.excess, self.branches
        total = excess[top]
        node = parent[top]
        if node >= 0:
            branches[node].remove(top)
        while node >= 0:
            excess[node] -= total
            node = parent[node]

        below, node, below_excess = outer, inner, 0
        while True:  # turn the path from `inner` up to `top` round
            above, own = parent[node], excess[node]
            parent[node] = below
            branches[below].append(node)
            excess[node] = total - below_excess
            if node == top:
                break
            branches[above].remove(node)
            below, node, below_excess = node, above, own
        node = outer
        while node >= 0:
            excess[node] += total
            node = parent[node]

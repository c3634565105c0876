"""Which layer each node stands in: inputs before consumers, edges as short as they can be.

Good layers matter more than anything else in a layered drawing. Every node starts as late as
possible; then single nodes move to where they shorten more edges than they lengthen, *ties
included*, first towards their inputs, then towards their consumers.

Read next: `layout.simplex`, which moves whole groups; `layout.network`, which builds the layers.
"""

from __future__ import annotations

from collections.abc import Sequence

from minigrad.picture.layout.simplex import shorten_groups

__all__ = ["Neighbours", "assign_ranks", "topological_order"]

Neighbours = Sequence[Sequence[int]]
"""For each node its neighbours on one side, once per edge."""


def assign_ranks(inputs: Neighbours, consumers: Neighbours) -> list[int]:
    """The layer of each node, counted from 0; every edge leads to a higher layer.

    Args:
        inputs: Inputs of each node, once per edge.
        consumers: The same edges from the other end.

    Raises:
        ValueError: If the edges form a cycle.

    >>> assign_ranks([[], [0], [0, 1]], [[1, 2], [2], []])
    [0, 1, 2]
    """
    order = topological_order(inputs, consumers)
    rank = [0] * len(order)
    for node in reversed(order):
        rank[node] = min([rank[user] for user in consumers[node]], default=1) - 1

    # A leaf used once always sits beside its consumer, so it holds nobody back.
    private = [not inputs[node] and len(set(consumers[node])) == 1 for node in range(len(order))]
    shared = [[node for node in near if not private[node]] for near in inputs]
    for node in order:
        if shared[node] and len(shared[node]) >= len(consumers[node]):
            rank[node] = 1 + max(rank[source] for source in shared[node])
    for node in reversed(order):
        if consumers[node] and len(consumers[node]) >= len(shared[node]):
            rank[node] = min(rank[user] for user in consumers[node]) - 1

    shorten_groups(rank, inputs, consumers, budget=(20 if len(order) < 2000 else 3) * len(order))
    number = {layer: index for index, layer in enumerate(sorted(set(rank)))}
    return [number[layer] for layer in rank]


def topological_order(inputs: Neighbours, consumers: Neighbours) -> list[int]:
    """All nodes, inputs first; among those that are ready, the one that became ready first.

    >>> topological_order([[1], []], [[], [0]])
    [1, 0]
    """
    waiting = [len(near) for near in inputs]
    order = [node for node, missing in enumerate(waiting) if not missing]
    for node in order:  # grows while it is read
        for user in consumers[node]:
            waiting[user] -= 1
            if not waiting[user]:
                order.append(user)
    if len(order) < len(waiting):
        raise ValueError("the edges form a cycle")
    return order

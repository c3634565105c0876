"""What a node is called in pictures and traces.

``name=`` comes first; otherwise a node is ``v`` and its number. Two nodes may carry the same name:
the ids tell them apart.

Read next: ``trace.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.formatting import short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from minigrad.events.trace import TraceNode
    from minigrad.graph import Node

__all__ = ["names_of", "number_name", "source_texts"]


def names_of(nodes: Sequence[Node]) -> dict[Node, str]:
    """A name for each node, given in order of creation."""
    return {node: node.name or f"v{index}" for index, node in enumerate(nodes)}


def number_name(number: float) -> str:
    """A plain number is called by its digits."""
    return short(number)


def source_texts(nodes: Sequence[TraceNode]) -> Mapping[str, str]:
    """The code that made the nodes, by file name, as far as it can be read."""
    return {}

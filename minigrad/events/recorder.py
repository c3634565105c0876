"""``with record() as made:`` remembers where nodes are made, and which.

Inside the block nodes keep the expression that made them, whatever ``options.sources`` says, so a
trace taken later can show the code. The block also lists the nodes, in order.

Read next: ``trace.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad import modes

if TYPE_CHECKING:
    from typing import Self

    from minigrad.graph import Node

__all__ = ["record"]


class record(modes.listen):
    """Record the operations inside the block.

    Attributes:
        nodes: The nodes that operations made inside the block, in order.

    >>> from minigrad import Value
    >>> x = Value(3.0)
    >>> with record() as made:
    ...     y = x * x + x
    >>> [node.op.name for node in made.nodes]
    ['mul', 'add']
    """

    __slots__ = ("_sources", "nodes")

    def __init__(self) -> None:
        super().__init__(self)
        self.nodes: list[Node] = []
        self._sources: list[bool] = []

    def node_made(self, node: Node) -> None:
        """Called by the engine for each new node."""
        self.nodes.append(node)

    def __enter__(self) -> Self:
        self._sources.append(modes.options.sources)
        modes.options.sources = True
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        modes.options.sources = self._sources.pop()

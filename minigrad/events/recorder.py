"""``with record() as made:`` remembers where nodes are made, and which.

Inside the block nodes keep the expression that made them, whatever ``options.sources`` says, so a
trace taken later can show the code. The block also lists the nodes, in order.

An optimizer that takes a step inside the block is recorded too (``updates``).

Read next: ``trace.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad import modes
from minigrad.events.trace import Trace, Update, trace_with_ids
from minigrad.ops.guarded import read_only

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from minigrad.graph import Node

__all__ = ["record"]


class record(modes.listen):
    """Record the operations inside the block.

    Attributes:
        nodes: The nodes that operations made inside the block, in order.
        updates: The steps of optimizers inside the block, one for each parameter, in order.

    >>> from minigrad import Value
    >>> x = Value(3.0)
    >>> with record() as made:
    ...     y = x * x + x
    >>> [node.op.name for node in made.nodes]
    ['mul', 'add']

    With an optimizer inside, the trace of a loss ends with what the optimizer did:

    >>> from minigrad.optim import SGD
    >>> with record() as made:
    ...     loss = x * x
    ...     loss.backward()
    ...     SGD(0.5, [x]).step()
    >>> made.trace(loss).updates
    (Update(node=0, before=3.0, gradient=6.0, learning_rate=0.5, after=0.0, rule='SGD'),)
    """

    __slots__ = ("_times", "nodes", "updates")

    def __init__(self) -> None:
        super().__init__(self)
        self.nodes: list[Node] = []
        self.updates: list[Update] = []
        self._times: list[int] = []  # serial numbers, by which updates come before or after nodes

    def node_made(self, node: Node) -> None:
        """Called by the engine for each new node."""
        self.nodes.append(node)

    def parameter_updated(
        self, p: Node, before: Any, gradient: Any, rate: float, after: Any, rule: str
    ) -> None:
        """Called by an optimizer for each parameter that it has changed."""
        if hasattr(gradient, "copy"):
            gradient = gradient.copy()  # it may be ``.grad`` itself
        self.updates.append(
            Update(p, read_only(before), read_only(gradient), rate, read_only(after), rule)
        )
        self._times.append(modes.new_serial())

    def updates_of(self, outputs: Sequence[Node], ids: Mapping[Node, int]) -> tuple[Update, ...]:
        """What was done to the leaves of a graph after it was computed: the first step of each.

        Args:
            outputs: The outputs of the graph.
            ids: Its nodes, with the ids that the updates are to have.
        """
        made = max(map(modes.serial_of, outputs))
        first: dict[Node, Update] = {}
        for update, time in zip(self.updates, self._times, strict=True):
            if time > made and update.node in ids:
                first.setdefault(update.node, update._replace(node=ids[update.node]))
        return tuple(first.values())

    def trace(self, *outputs: Node, seed: Any = None) -> Trace:
        """``mg.trace`` of outputs, with what optimizers then did to their leaves."""
        record, ids = trace_with_ids(outputs, seed)
        return record._replace(updates=self.updates_of(outputs, ids))

    def __enter__(self) -> Self:
        modes.options._record(+1)
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        modes.options._record(-1)

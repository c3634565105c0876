"""The graph: a node, the topological order, and the chain rule, written once.

A node is a number that remembers how it was computed: the operation, its inputs, and the numbers
that went in. Backpropagation visits the nodes in reverse topological order; each node multiplies
the gradient that arrived at it (upstream) by its local derivatives and sends the products
(contributions) to its inputs, where they add up. ``sweep`` is all of it. ``backward()``, the
pictures and the debugger run it on numbers, ``create_graph=True`` runs it on nodes.

Read next: ``ops/core.py``, the derivatives; then ``value.py``, the numbers.
"""

from __future__ import annotations

from collections import namedtuple

from minigrad import hooks
from minigrad.errors import ArgumentTypeError, GraphCycleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from minigrad.ops.row import Op

__all__ = ["Node", "Step", "numbers", "sources", "sweep", "topological_order"]

# An edge: upstream × local = contribution, the total of ``input`` before → after; or why not.
Step = namedtuple("Step", "node slot input upstream local contribution before after reason")


class Node:
    """A number in a graph. ``Value`` is its scalar form.

    Attributes:
        name: What pictures call it, or None.
    """

    # _row, _a, _b: the row and its inputs; a leaf has None. An input that was a plain number is
    #     None. A row of more than two inputs keeps them as a tuple in _a.
    # _x, _y, _out: the numbers that went in and the one that came out, at that moment.
    # _serial: its place in the order of making. _code, _offset, _scope: where that was, if noted.
    # _scratch: belongs to the pass that runs; None at all other times.
    # Flat in one object, because half of the time of a large graph is its garbage collection.
    __slots__ = (
        "__weakref__", "_a", "_b", "_code", "_data", "_grad", "_offset", "_out", "_row", "_scope",
        "_scratch", "_serial", "_x", "_y", "name",
    )  # fmt: skip

    if TYPE_CHECKING:
        name: str | None
        _row: Op | None
        _a: Any
        _b: Any
        _x: Any
        _y: Any
        _out: Any
        _data: Any
        _grad: Any
        _scratch: Any
        _serial: int

    @property
    def op(self) -> Op | None:
        """The operation that computed this node; None for a leaf."""
        return self._row

    @property
    def inputs(self) -> tuple[Node, ...]:
        """What it was computed from, in order, with multiplicity: ``x * x`` has two."""
        pairs = zip(sources(self), numbers(self), strict=True)
        return tuple(hooks.constant(x) if node is None else node for node, x in pairs)

    @property
    def local_derivatives(self) -> Callable[[int], Any]:
        """The closure ``i -> ∂out/∂inputᵢ`` over the numbers that went in (never over nodes)."""
        op, out, xs = self._row, self._out, numbers(self)

        def local_derivative(i: int) -> Any:
            slot = range(len(xs))[i]  # IndexError if there is no such input
            return op.local_derivative(slot, out, xs)  # type: ignore[union-attr]

        return local_derivative


def sources(node: Node) -> tuple[Node | None, ...]:
    """The inputs of a node that are nodes, slot by slot; None for a plain number."""
    arity = node._row.arity if node._row is not None else 0
    return (node._a, node._b)[:arity] if arity < 3 else node._a


def numbers(node: Node) -> tuple[Any, ...]:
    """The numbers that went into a node, slot by slot."""
    arity = node._row.arity if node._row is not None else 0
    return (node._x, node._y)[:arity] if arity < 3 else node._x


def topological_order(*outputs: Node) -> list[Node]:
    """List every node that ``outputs`` depend on, each once, inputs before node.

    A node may pass its gradient on only when all its consumers have sent theirs; the reverse of
    this list guarantees it. Plain recursion does not: it would visit a node once per path, with a
    gradient that is not complete, and no deeper than Python's call stack. Constants are not listed.

    Raises:
        ArgumentTypeError: if an output is no node.
        GraphCycleError: if a node is computed from itself.
    """
    if other := {type(y).__name__ for y in outputs if not isinstance(y, Node)}:
        raise ArgumentTypeError(f"topological_order(y1, y2) takes nodes, not {', '.join(other)}")
    order: list[Node] = []
    done: set[Node] = set()
    path: set[Node] = set()  # entered, but not all inputs are done
    stack: list[Node] = list(reversed(outputs))
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
        elif node in path:
            stack.pop()
            path.remove(node)
            done.add(node)
            order.append(node)
        else:
            path.add(node)
            for source in reversed(sources(node)):
                if source in path:
                    raise GraphCycleError(f"{source!r} is computed from itself, through {node!r}")
                if source is not None and source not in done:
                    stack.append(source)
    return order


def sweep(
    order: Sequence[Node],
    cotangents: dict[Node, Any],
    pull: Callable[[Node, Any], Sequence[tuple[Any, Any, str]]],
) -> Iterator[Step]:
    """Run the chain rule over ``order`` from its end, one step per edge.

    Args:
        order: The nodes, inputs before node.
        cotangents: ∂output/∂node of this pass alone: seeds at the start, everything at the end.
        pull: Gives for a node and its upstream gradient, per input: the local derivative, the
            contribution (upstream × local), and the reason if there is no contribution.
    """
    for node in reversed(order):
        upstream = cotangents.get(node)  # complete: every consumer came earlier
        if upstream is None or node._row is None:
            continue
        edges = zip(sources(node), pull(node, upstream), strict=True)
        for slot, (source, (local, contribution, reason)) in enumerate(edges):
            before = after = None
            if source is not None and contribution is not None:
                before = cotangents.get(source)
                after = contribution if before is None else before + contribution
                cotangents[source] = after
            yield Step(node, slot, source, upstream, local, contribution, before, after, reason)

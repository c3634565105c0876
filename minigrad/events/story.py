"""The events of a trace, spelled out one by one.

An edge of the sweep becomes up to three events (``LOCAL``, ``CONTRIB``, ``ACCUM``) or a ``SKIP``
that says why. Each carries enough to show it, to undo it and to check it: an ``ACCUM`` has before
and after, a ``VISIT`` the nodes that became ready.

Read next: ``trace.py``, where the edges come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad.ops import OPS
from minigrad.ops.row import MANY, Op
from minigrad.symbol import Symbol, bracketed, derivative_formula, edge_value, formula

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from minigrad.events.edges import Edge
    from minigrad.events.trace import Trace, TraceNode

__all__ = [
    "edge_note", "edge_of", "edge_words", "local_formula", "row_of", "same", "symbols_of", "tell",
    "written",
]  # fmt: skip

Event = dict[str, Any]


def tell(trace: Trace) -> Iterator[Event]:
    """Every event in order: the forward pass, the seeds, the sweep node by node, the updates."""
    for node in trace.nodes:
        if node.op is not None:
            yield {"kind": "FORWARD", "node": node.id, "value": node.value}
    for output, seed in zip(trace.outputs, trace.seeds, strict=True):
        yield {"kind": "SEED", "node": output, "gradient": seed}
    waiting = _count_edges(trace)
    received = dict.fromkeys(range(len(trace.nodes)), 0)
    expected = dict(waiting)
    rest = iter(trace.edges)
    edge = next(rest, None)
    for id in trace.order:
        edges = []
        while edge is not None and edge.node == id:
            edges.append(edge)
            edge = next(rest, None)
        if trace.error is not None and trace.error[0] == id:
            yield {"kind": "VISIT", "node": id, "popped": id, "pushed": [], "pending": {}}
            yield {"kind": "ERROR", "node": id, "message": trace.error[1]}
            return
        yield _visit(trace, id, waiting)
        for step in edges:
            if step.reason:
                yield {
                    "kind": "SKIP", "node": id, "to": step.input, "slot": step.slot,
                    "reason": step.reason,
                }  # fmt: skip
                continue
            received[step.input] += 1
            yield _local(trace, step)
            yield {
                "kind": "CONTRIB", "node": id, "to": step.input, "slot": step.slot,
                "upstream": step.upstream, "local": step.local, "product": step.contribution,
            }  # fmt: skip
            before = 0.0 if step.before is None else step.before
            yield {
                "kind": "ACCUM", "node": step.input, "before": before,
                "delta": step.contribution, "after": step.after, "nth": received[step.input],
                "of": expected[step.input],
            }  # fmt: skip
        yield {"kind": "DONE", "node": id, "gradient": trace.gradients[id]}
    used = {
        source: number
        for node in (trace.nodes if trace.updates else ())
        for source, number in zip(node.inputs, node.numbers, strict=True)
    }
    for update in trace.updates:
        event = {"kind": "UPDATE", **update._asdict()}
        if update.node in used and not same(used[update.node], update.before):
            event["changed"] = True  # by somebody, between the pass and the step
        yield event


def same(x: Any, y: Any) -> bool:
    """Whether two numbers or arrays are equal; nan is equal to nan."""
    if x is y:
        return True
    if hasattr(x, "shape") or hasattr(y, "shape"):
        return bool(((x == y) | ((x != x) & (y != y))).all())
    return bool(x == y or (x != x and y != y))


def _count_edges(trace: Trace) -> dict[int, int]:
    """For each node, how many contributions it will get."""
    count = dict.fromkeys(range(len(trace.nodes)), 0)
    for edge in trace.edges:
        if not edge.reason:
            count[edge.input] += 1
    return count


def _visit(trace: Trace, id: int, waiting: dict[int, int]) -> Event:
    """Take a node from the ready queue; its inputs wait for one contribution less each."""
    pushed, pending = [], {}
    for source in trace.nodes[id].inputs:
        if waiting[source]:
            waiting[source] -= 1
            pending[source] = waiting[source]
            if not waiting[source]:
                pushed.append(source)
    return {"kind": "VISIT", "node": id, "popped": id, "pushed": pushed, "pending": pending}


def _local(trace: Trace, edge: Edge) -> Event:
    node = trace.nodes[edge.node]
    symbols = symbols_of(trace, node)
    symbol = local_formula(node, edge.slot, symbols)
    event = {
        "kind": "LOCAL", "node": node.id, "slot": edge.slot, "formula": symbol.text,
        "latex": symbol.latex, "value": edge.local,
    }  # fmt: skip
    note = edge_note(node, edge.slot, symbols)
    if note:
        event["edge"] = note
    return event


def row_of(node: TraceNode) -> Op | None:
    """The row of a node's operation with its attributes; None if this process does not know it."""
    row: Op | None = OPS.get(node.op or "")
    return row.bind(**node.attrs) if row is not None and node.attrs else row


def symbols_of(trace: Trace, node: TraceNode) -> list[Symbol]:
    """The inputs of a node as symbols: a name, or the digits of a plain number."""
    inputs = [trace.nodes[i] for i in node.inputs]
    symbols = [
        Symbol.of(x.value) if x.role == "constant" and not x.shape else Symbol(x.name)
        for x in inputs
    ]
    first = inputs[0]
    if node.op == "where" and first.role == "constant" and not first.shape:
        symbols[0] = Symbol(str(bool(first.value)))  # the branch was chosen by a bool
    return symbols


def written(trace: Trace, node: TraceNode) -> str:
    """The operation of a node in the names of its inputs: ``tanh(a)``."""
    row = row_of(node)
    try:
        return formula(row, symbols_of(trace, node)).text if row else f"{node.op}(…)"
    except Exception:  # a learner's row may not work on symbols
        return f"{node.op}(…)"


def local_formula(node: TraceNode, slot: int, symbols: list[Symbol]) -> Symbol:
    """∂node/∂input, written with the given symbols for its inputs."""
    row = row_of(node)
    unknown = Symbol(f"∂{bracketed(node.name)}/∂{bracketed(str(symbols[slot]))}")
    if row is None or not (row.partials or row.arity is MANY) or hasattr(row, "vjp"):
        return unknown
    if row.arity is MANY:
        return Symbol.of(row.local_derivatives(symbols)[slot])
    try:
        return derivative_formula(row, slot, symbols)
    except Exception:  # a learner's formula may not work on symbols
        return unknown


def edge_note(node: TraceNode, slot: int, symbols: Sequence[Symbol]) -> str:
    """What rule gave the local derivative if not its formula: the domain, an edge, or a kink.

    Args:
        node: A node of a trace.
        slot: Which of its inputs.
        symbols: Its inputs, as ``symbols_of`` gives them.
    """
    row, xs = row_of(node), node.numbers
    if row is None or row.arity is MANY or any(hasattr(x, "shape") for x in xs):
        return ""
    if row.domain is not None and not row.domain(*xs):
        return "nan outside the domain"
    edge = edge_of(node, slot)
    if edge is not None:
        return " where ".join(edge_words(*edge, symbols))
    if row.kink is not None and row.kink(*xs):
        return f"{row.name} has a kink here; its slope is a convention"
    return ""


def edge_of(node: TraceNode, slot: int) -> tuple[Callable[..., Any], Any] | None:
    """The edge of a row of numbers that gave the local derivative: its condition and its value."""
    row, xs = row_of(node), node.numbers
    if row is None or row.arity is MANY or any(hasattr(x, "shape") for x in xs):
        return None
    return next((edge for edge in row.edges.get(slot, ()) if edge[0](*xs)), None)


def edge_words(
    condition: Callable[..., Any], value: Any, symbols: Sequence[Symbol]
) -> tuple[str, str]:
    """The value of an edge and its condition, in the names of the inputs of a node.

    A part of the condition that plain numbers decide is left out: ``hypot(p, 0)`` has its edge
    where ``p == 0``.
    """
    try:
        shown, holds = edge_value(value, None, symbols), Symbol.of(condition(*symbols))
        if holds.number is not None:  # plain numbers decide it all
            holds = Symbol.of(condition(*(Symbol(x.text) for x in symbols)))
    except Exception:  # a learner's condition may not work on symbols
        return "a value of its own", "the row has an edge"
    return shown, holds.text

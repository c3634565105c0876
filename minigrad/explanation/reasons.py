"""Why an input gets no gradient, or one of 0.

Read next: ``explain.py``, which says it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.events.story import edge_of, edge_words, local_formula, symbols_of, written
from minigrad.formatting import clip_text, short
from minigrad.graph import topological_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from minigrad.events import Trace, TraceNode
    from minigrad.explanation.paths import Path
    from minigrad.graph import Node
    from minigrad.symbol import Symbol

__all__ = ["why_absent", "why_blocked", "why_zero"]


def why_absent(record: Trace, output: Node, input: Node) -> list[str]:
    """Why ``output`` was not computed from ``input``."""
    top = record.nodes[record.outputs[0]].name
    name = input.name or "the input"
    if output in topological_order(input):
        return [f"it is the other way round: {name} was computed from {top}; swap the two"]
    if output.op is None:
        return [
            f"{top} is a leaf: it was not computed from nodes, or it was detached, or nothing was "
            f"recorded (no_grad), or it left the library as a plain number on its way"
        ]
    reasons = [f"{top} was not computed from {name}"]
    if any(node.name == input.name and node.op is None for node in record.nodes):
        reasons.append(f"another node in the graph is called {name}; is this an older one?")
    leaves = [node.name for node in record.nodes if node.role in ("leaf", "parameter")]
    listed = ", ".join(leaves[:8]) + (f" and {len(leaves) - 8} more" if len(leaves) > 8 else "")
    reasons.append(f"{top} was computed from {listed or 'plain numbers alone'}")
    return reasons


def why_blocked(record: Trace, target: int) -> list[str]:
    """Each edge out of the nodes that ``target`` flows into, where the gradient ends."""
    if record.error is not None:
        return [f"the pass ended early: {record.error[1]}"]
    node = record.nodes[target]
    if not node.dtype.startswith("float"):
        return [f"{node.name} holds {node.dtype}: whole numbers have no gradient"]
    reached = {target}
    reasons: dict[str, None] = {}
    for node in record.nodes[target:]:
        for slot, source in enumerate(node.inputs):
            if source not in reached:
                continue
            if record.gradients.get(node.id) is None:
                reached.add(node.id)
            else:
                name = record.nodes[source].name
                reasons[f"{node.op} is not differentiable in {name} (input {slot + 1})"] = None
    return list(reasons)


def why_zero(record: Trace, target: int, shown: Sequence[Path]) -> list[str]:
    """The branches that were not taken, and where the paths meet a local derivative of 0."""
    reasons: dict[str, None] = {}
    for edge in record.edges:
        if edge.reason == "other branch":
            node, source = record.nodes[edge.node], record.nodes[edge.input]
            if target in _ancestors(record, source.id):
                reasons[f"{_written(record, node)} took the other branch than {source.name}"] = None
    for path in shown:
        for edge in path.edges:
            if edge.local == 0.0:
                node = record.nodes[edge.node]
                reasons[
                    f"the path ends at {_written(record, node)}: its local derivative is 0"
                    f"{_where(record, node, edge.slot)}"
                ] = None
                break
    return list(reasons)


def _where(record: Trace, node: TraceNode, slot: int) -> str:
    """The condition that made a local derivative 0, or the numbers that its formula met."""
    symbols = symbols_of(record, node)
    edge = edge_of(node, slot)
    if edge is not None:
        return f" where {edge_words(*edge, symbols)[1]}"
    local = local_formula(node, slot, symbols)
    numbers = {x.text: number for x, number in zip(symbols, node.numbers, strict=True)}
    mentioned = _names_in(local)
    used = [name for name in numbers if name in mentioned]
    if not used and local.number is None:  # a formula that cannot be written
        used = [x.text for x in symbols if x.number is None]
    met = " and ".join(f"{name} = {short(numbers[name])}" for name in used)
    return f" where {met}" if met else ""


def _names_in(formula: Symbol) -> frozenset[str]:
    """The names that a formula mentions."""
    found = set()
    stack = [formula]
    while stack:
        symbol = stack.pop()
        stack.extend(symbol.inputs)
        if not symbol.inputs and symbol.number is None:
            found.add(symbol.text)
    return frozenset(found)


def _written(record: Trace, node: TraceNode) -> str:
    return f"{node.name} = {clip_text(written(record, node), 40)}"


def _ancestors(record: Trace, id: int) -> set[int]:
    """The node and everything it was computed from."""
    found, stack = {id}, [id]
    while stack:
        for source in record.nodes[stack.pop()].inputs:
            if source not in found:
                found.add(source)
                stack.append(source)
    return found

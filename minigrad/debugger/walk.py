"""The walk through a pass, as lines of text: forward, seed, and every edge of the sweep.

Read next: ``../events/story.py``, the events that are printed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.events.story import edge_note, local_formula, symbols_of, written
from minigrad.formatting import clip_text, pad_text, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from minigrad.events import Edge, Trace, TraceNode

__all__ = ["backward_lines", "forward_lines", "leaf_lines", "walk"]

_NAME = 16  # the widest name that is printed in full


def walk(trace: Trace) -> Iterator[str]:
    """Every line, from the forward pass to the gradients of the leaves."""
    yield from forward_lines(trace)
    yield ""
    yield from backward_lines(trace)
    yield ""
    yield from leaf_lines(trace)


def forward_lines(trace: Trace) -> Iterator[str]:
    """One line per operation: its formula and its value."""
    yield "forward"
    operations = [node for node in trace.nodes if node.op is not None]
    names = max((len(_name(node)) for node in operations), default=0)
    for node in operations:
        text = clip_text(written(trace, node), 50)
        yield f"  {pad_text(_name(node), names)} = {text} = {short(node.value)}"


def backward_lines(trace: Trace) -> Iterator[str]:
    """One line per edge: upstream × local = contribution, and the total before → after."""
    outputs = ", ".join(_name(trace.nodes[id]) for id in trace.outputs)
    yield f"backward from {outputs}, seed {short(trace.seeds[0])}"
    rows = [_columns(trace, edge, nth, of) for edge, nth, of in _counted(trace)]
    titles = ("edge", "upstream × local = contribution", "total before → after", "", "local")
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(4)]
    for row in (titles, *rows):
        cells = [pad_text(cell, width) for cell, width in zip(row, widths, strict=False)]
        yield f"  {'  '.join(cells)}  {row[4]}".rstrip()
    if trace.error is not None:
        yield f"  stopped at {_name(trace.nodes[trace.error[0]])}: {trace.error[1]}"


def _columns(trace: Trace, edge: Edge, nth: int, of: int) -> tuple[str, str, str, str, str]:
    node, source = trace.nodes[edge.node], trace.nodes[edge.input]
    where = f"{_name(node)} → {_name(source)}"
    if edge.reason:
        return where, f"({edge.reason})", "", "", ""
    product = f"{short(edge.upstream)} × {short(edge.local)} = {short(edge.contribution)}"
    total = f"{short(0.0 if edge.before is None else edge.before)} → {short(edge.after)}"
    local = local_formula(node, edge.slot, symbols_of(trace, node)).text
    note = edge_note(node, edge.slot)
    if " < " in local or " <= " in local:  # 1 or 0: it must not read as "= 0 < x"
        local = f"[{local}]"
    local = clip_text(local, 40) + (f"  [{note}]" if note else "")
    return where, product, total, f"({nth} of {of})", local


def _counted(trace: Trace) -> Iterator[tuple[Edge, int, int]]:
    """Each edge with its number among the contributions to the same node, and their number."""
    expected: dict[int, int] = {}
    for edge in trace.edges:
        if not edge.reason:
            expected[edge.input] = expected.get(edge.input, 0) + 1
    received: dict[int, int] = {}
    for edge in trace.edges:
        if not edge.reason:
            received[edge.input] = received.get(edge.input, 0) + 1
        yield edge, received.get(edge.input, 0), expected.get(edge.input, 0)


def leaf_lines(trace: Trace) -> Iterator[str]:
    """One line per leaf: its gradient."""
    yield "gradients of the leaves"
    leaves = [node for node in trace.nodes if node.role in ("leaf", "parameter")]
    names = max((len(_name(node)) for node in leaves), default=0)
    outputs = " + ".join(_name(trace.nodes[id]) for id in trace.outputs)
    outputs = f"({outputs})" if len(trace.outputs) > 1 else outputs
    for node in leaves:
        gradient = short(trace.gradients.get(node.id))
        yield f"  ∂{outputs}/∂{pad_text(_name(node), names)} = {gradient}"


def _name(node: TraceNode) -> str:
    return clip_text(node.name, _NAME)

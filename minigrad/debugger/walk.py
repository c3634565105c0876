"""The walk through a pass, as lines of text: forward, seed, and every edge of the sweep.

Read next: ``../events/story.py``, the events that are printed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from minigrad.events.story import edge_note, local_formula, symbols_of, written
from minigrad.formatting import clip_text, display_width, pad_text, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from minigrad.events import Edge, Trace, TraceNode

__all__ = ["backward_lines", "forward_lines", "leaf_lines", "walk"]

_NAME = 16  # the widest name that is printed in full
_WIDTH = 80  # columns of a terminal
_FORMULA = 16  # columns of a local derivative that are printed however wide the rest is


class _Row(NamedTuple):
    """A line of the backward pass, cell by cell."""

    edge: str
    product: str
    total: str = ""
    nth: str = ""
    local: str = ""
    note: str = ""


_TITLES = (
    _Row("", "upstream × local", "total"),
    _Row("edge", "= contribution", "before → after", "", "local"),
)


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
    names = max((display_width(_name(node)) for node in operations), default=0)
    for node in operations:
        text = clip_text(written(trace, node), 50)
        yield f"  {pad_text(_name(node), names)} = {text} = {short(node.value)}"


def backward_lines(trace: Trace) -> Iterator[str]:
    """One line per edge: upstream × local = contribution, and the total before → after."""
    outputs = ", ".join(_name(trace.nodes[id]) for id in trace.outputs)
    yield f"backward from {outputs}, seed {short(trace.seeds[0])}"
    rows = [_columns(trace, edge, nth, of) for edge, nth, of in _counted(trace)]
    numbered = [row for row in (*_TITLES, *rows) if row.nth]  # a reason is as long as it is
    names = max(display_width(row.edge) for row in (*_TITLES, *rows))
    widths = [max(display_width(row[i]) for row in (*_TITLES, *numbered)) for i in (1, 2, 3)]
    room = max(_FORMULA, _WIDTH - len("  ") * 5 - names - sum(widths))
    for row in (*_TITLES, *rows):
        cells = [pad_text(row.edge, names)]
        cells += [pad_text(row[i], width) for i, width in enumerate(widths, 1)]
        note = f"  [{row.note}]" if row.note else ""
        yield f"  {'  '.join(cells)}  {clip_text(row.local, room)}{note}".rstrip()
    if trace.error is not None:
        yield f"  stopped at {_name(trace.nodes[trace.error[0]])}: {trace.error[1]}"


def _columns(trace: Trace, edge: Edge, nth: int, of: int) -> _Row:
    node, source = trace.nodes[edge.node], trace.nodes[edge.input]
    where = f"{_name(node)} → {_name(source)}"
    if edge.reason:
        return _Row(where, f"({edge.reason})")
    product = f"{short(edge.upstream)} × {short(edge.local)} = {short(edge.contribution)}"
    total = f"{short(0.0 if edge.before is None else edge.before)} → {short(edge.after)}"
    symbols = symbols_of(trace, node)
    local = local_formula(node, edge.slot, symbols).text
    if " < " in local or " <= " in local:  # 1 or 0: it must not read as "= 0 < x"
        local = f"[{local}]"
    note = edge_note(node, edge.slot, symbols)
    return _Row(where, product, total, f"({nth} of {of})", local, note)


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
    names = max((display_width(_name(node)) for node in leaves), default=0)
    outputs = " + ".join(_name(trace.nodes[id]) for id in trace.outputs)
    outputs = f"({outputs})" if len(trace.outputs) > 1 else outputs
    for node in leaves:
        gradient = short(trace.gradients.get(node.id))
        yield f"  ∂{outputs}/∂{pad_text(_name(node), names)} = {gradient}"


def _name(node: TraceNode) -> str:
    return clip_text(node.name, _NAME)

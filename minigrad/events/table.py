"""A trace as a plain table: what ``print(mg.trace(y))`` shows.

The walk of the debugger says more of each step; this is what there is without it.

Read next: ``story.py``, the same as events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad.formatting import clip_text, display_width, gist, pad_text, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from minigrad.events.edges import Edge
    from minigrad.events.trace import Trace

__all__ = ["SMALL", "fields", "table"]

SMALL = 60  # nodes or edges that are written out; of more, the first ones
_NAME = 20  # columns of a name


def table(trace: Trace) -> str:
    """The nodes with their values and gradients, and the edges in the order of the pass."""
    return "\n".join([repr(trace), *_nodes(trace), *_edges(trace)])


def _nodes(trace: Trace) -> Iterator[str]:
    rows = [("node", "operation", "value", "gradient")]
    for node in trace.nodes[:SMALL]:
        inputs = ", ".join(_name(trace, id) for id in node.inputs)
        what = clip_text(f"{node.op}({inputs})", 2 * _NAME) if node.op else node.role
        gradient = trace.gradients.get(node.id)
        rows.append((_name(trace, node.id), what, _cell(node.value), _cell(gradient)))
    yield from _lines(rows, len(trace.nodes))


def _edges(trace: Trace) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("edge", "upstream", "× local", "= contribution", "total")]
    for place in range(min(SMALL, len(trace.edges))):
        edge: Edge = trace.edges[place]
        where = f"{_name(trace, edge.node)} → {_name(trace, edge.input)}"
        if edge.reason:
            rows.append((where, f"({edge.reason})", "", "", ""))
        else:
            numbers = edge.upstream, edge.local, edge.contribution, edge.after
            rows.append((where, *map(_cell, numbers)))
    yield from _lines(rows, len(trace.edges))
    if trace.error is not None:
        yield f"  stopped at {_name(trace, trace.error[0])}: {trace.error[1]}"


def _lines(rows: Sequence[tuple[str, ...]], count: int) -> Iterator[str]:
    """The rows below each other; of more than are shown, how many are left."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (pad_text(cell, width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
    if count > len(rows) - 1:
        yield f"  … {count - len(rows) + 1} more"


def _name(trace: Trace, id: int) -> str:
    return clip_text(trace.nodes[id].name, _NAME)


def _cell(x: Any) -> str:
    """A number, or what is in an array."""
    return f"{short(x)} {gist(x)}" if getattr(x, "size", 1) != 1 else short(x)


def fields(record: Any) -> str:
    """The repr of a named tuple that stays short: of arrays their shape and what is in them."""
    shown = (f"{name}={_field(x)}" for name, x in zip(record._fields, record, strict=True))
    return f"{type(record).__name__}({', '.join(shown)})"


def _field(x: Any) -> str:
    if isinstance(x, dict):
        return f"{{{', '.join(f'{key!r}: {_field(value)}' for key, value in x.items())}}}"
    if x.__class__ is tuple:
        inside = ", ".join(map(_field, x))
        return f"({inside},)" if len(x) == 1 else f"({inside})"
    if not getattr(x, "shape", ()):
        return repr(x)
    if hasattr(x, "_data"):  # a parameter
        name = f"{x.name!r}, " if x.name else ""
        return f"{type(x).__name__}({name}{_cell(x._data)})"
    return _cell(x)

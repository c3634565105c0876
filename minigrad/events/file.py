"""A trace as JSON: ``save``, ``load``.

The format is versioned; floats are written so that reading them back gives the same float, and
nan, inf, -inf as strings, because JSON has no such numbers.

Read next: ``verify.py``, which checks a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING, Any

from minigrad.errors import TraceError
from minigrad.events import story

if TYPE_CHECKING:
    from minigrad.events.trace import Trace, TraceNode

__all__ = ["FORMAT", "VERSION", "load", "save", "to_json"]

FORMAT = "minigrad-trace"
VERSION = 1


def to_json(trace: Trace, values: bool = False) -> dict[str, Any]:
    """The trace as plain lists, dictionaries, numbers and texts.

    Args:
        trace: The trace.
        values: Whether arrays are written with all their elements, not only as a summary.
    """
    strict: dict[str, Any] = _strict(_content(trace), values)
    return strict


def _content(trace: Trace) -> dict[str, Any]:
    """The parts of the file; their floats may still be nan, and their arrays arrays."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "source": dict(trace.source),
        "nodes": map(_node, trace.nodes),
        "events": story.tell(trace),
    }


def _node(node: TraceNode) -> dict[str, Any]:
    span = None
    if node.span is not None:
        where = node.span
        span = [where.file, where.line, where.column, where.end_line, where.end_column]
    entry: dict[str, Any] = {
        "id": node.id, "name": node.name, "role": node.role, "op": node.op,
        "attrs": {name: _attribute(x) for name, x in node.attrs.items()},
        "inputs": list(node.inputs), "value": node.value,
        "shape": list(node.shape), "dtype": node.dtype, "scope": node.scope,
        "span": span,
    }  # fmt: skip
    if node.op is not None:
        entry["numbers"] = list(node.numbers)
    if node.stale:
        entry["stale"] = True
    return entry


def _attribute(x: Any) -> Any:
    """An axis, an index, a type, …, so that ``verify`` can read it."""
    if isinstance(x, slice):
        return {"slice": [_attribute(part) for part in (x.start, x.stop, x.step)]}
    if x is Ellipsis:
        return {"slice": "..."}
    if isinstance(x, list | tuple):
        return [_attribute(part) for part in x]
    if isinstance(x, float):
        return float(x) if isfinite(x) else {"float": repr(float(x))}
    if x is None or isinstance(x, str | int):
        return x
    if hasattr(x, "shape") and hasattr(x, "tolist"):
        return {"shape": list(x.shape), "dtype": str(x.dtype), "values": x.tolist()}
    return {"dtype": str(x)} if hasattr(x, "itemsize") else {"text": repr(x)}


def _strict(x: Any, full: bool = False) -> Any:
    """``x`` with the floats that JSON cannot write as strings, and arrays as dictionaries."""
    if isinstance(x, float):
        return float(x) if isfinite(x) else repr(float(x))
    if isinstance(x, dict):
        return {str(key): _strict(value, full) for key, value in x.items()}
    if isinstance(x, list | tuple | Iterator):
        return [_strict(value, full) for value in x]
    if hasattr(x, "shape"):
        return _array(x, full)
    return x if x is None or isinstance(x, str | int) else repr(x)


def _array(x: Any, full: bool) -> dict[str, Any]:
    """An array: its shape, its type, and a few numbers that say what is in it."""
    finite = x[(x == x) & (abs(x) != float("inf"))]
    entry: dict[str, Any] = {
        "shape": list(x.shape), "dtype": str(x.dtype),
        "summary": {"not_finite": int(x.size - finite.size)},
    }  # fmt: skip
    if finite.size:
        mean = (finite / finite.size).sum()  # the sum of the elements may leave the floats
        for word, number in (("min", finite.min()), ("mean", mean), ("max", finite.max())):
            entry["summary"][word] = _strict(float(number))
    if full:
        entry["values"] = _elements(x.tolist())
    return entry


def _elements(x: Any) -> Any:
    """All numbers of an array; the digits of those that are wider than a float."""
    if isinstance(x, list):
        return [_elements(part) for part in x]
    return str(x) if hasattr(x, "dtype") else _strict(x)


def _lines(content: dict[str, Any], full: bool) -> Iterator[str]:
    """The file: a line for each node and each event, so that it can be read, and compared."""
    plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False)
    encode = plain.encode

    def write(part: Any) -> str:
        try:
            return encode(part)
        except (TypeError, ValueError):  # it holds an array, or a number that is not finite
            return encode(_strict(part, full))

    for place, (key, part) in enumerate(content.items()):
        yield f"{',' if place else '{'}\n{write(key)}: "
        if not isinstance(part, Iterator):
            yield write(part)
            continue
        yield "["
        for number, entry in enumerate(part):
            yield f"{',' if number else ''}\n {write(entry)}"
        yield "\n]"
    yield "\n}\n"


def save(trace: Trace, path: str | os.PathLike[str], values: bool = False) -> str:
    """Write the trace to a file and return its path; nothing half-written is left.

    Args:
        trace: The trace.
        path: The file.
        values: Whether arrays are written with all their elements, so that ``verify`` can compute
            with them; a summary otherwise, of shape, type, least, mean and largest.

    Raises:
        TraceError: if the file cannot be written.
    """
    target = os.fspath(path)
    unfinished = f"{target}.part"
    try:
        with open(  # half of a surrogate pair in a name is written as JSON has it, "\\ud800"
            unfinished, "w", encoding="utf-8", errors="backslashreplace", newline="\n"
        ) as file:
            file.writelines(_lines(_content(trace), values))
        os.replace(unfinished, target)
    except OSError as error:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise TraceError(f"the trace cannot be written to {target}: {error.strerror}") from error
    return target


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a trace file; its floats are floats again.

    Raises:
        TraceError: if there is no such file, or it is no trace of a version that is known.
    """
    name = os.fspath(path)
    try:
        with open(name, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        raise TraceError(f"{name} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{name} is no JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise TraceError(f'{name} is no trace: it does not say "format": "{FORMAT}"')
    if content.get("version") != VERSION:
        raise TraceError(
            f"{name} has version {content.get('version')!r}; this minigrad reads version {VERSION}"
        )
    return content

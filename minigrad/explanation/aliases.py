"""Short names for nodes that are called by what the learner wrote for them, and for constants.

``w1*x1+w2*x2+b`` is a good name on a card. In a chain of derivatives, where each name stands twice
and in every path again, it is not: there the node is ``v8``, and its whole text stands once.
A constant array has no name and too many numbers: it is called by its part, ``targets``.

Read next: ``explain.py``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from minigrad import source
from minigrad.events.story import row_of
from minigrad.formatting import display_width, gist
from minigrad.ops.row import MANY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from minigrad.events import Trace, TraceNode

__all__ = ["constants_mentioned", "mentioned", "with_named_constants", "with_short_names"]

_WIDEST = 8  # columns of a text that may stay a name
_NO_PART = "const"  # the name of a constant whose parameter is called only ``x``


def with_short_names(record: Trace, kept: Iterable[int]) -> tuple[Trace, dict[str, str]]:
    """The trace with ``v8`` for every long text, and the text of each such name.

    Args:
        record: A trace.
        kept: Ids of nodes that are called as they are.
    """
    kept = frozenset(kept)
    taken = frozenset(node.name for node in record.nodes)
    texts: dict[str, str] = {}
    nodes = []
    for node in record.nodes:
        alias = f"v{node.id}"
        if node.id not in kept and alias not in taken and _is_long_text(node):
            texts[alias] = node.name
            node = node._replace(name=alias)
        nodes.append(node)
    return (record._replace(nodes=tuple(nodes)), texts) if texts else (record, texts)


def _is_long_text(node: TraceNode) -> bool:
    """Whether it is called by its source, ``a*b + c`` or ``(a*b + c)₂``, which is not short."""
    if node.span is None or node.op is None or display_width(node.name) <= _WIDEST:
        return False
    text = source.text_of(node.span)
    return bool(text) and (node.name == text or node.name.startswith(f"({text})"))


def mentioned(texts: Mapping[str, str], words: Iterable[str]) -> tuple[str, ...]:
    """What the short names in the words stand for, in order of creation.

    >>> mentioned({"v4": "w*x + bias", "v5": "h + h + h"}, ["∂v5/∂x = 3 · w"])
    ('v5 is h + h + h',)
    """
    found = set(re.findall(r"\bv\d+\b", "\n".join(words)))  # for membership only
    return tuple(f"{alias} is {text}" for alias, text in texts.items() if alias in found)


def with_named_constants(record: Trace, users: Iterable[int]) -> tuple[Trace, tuple[int, ...]]:
    """The trace with a name for each constant array that one of ``users`` takes in; and their ids.

    The name is that of the parameter, such as ``targets``, or else ``const``; if several have the
    same one, they are numbered. Equal arrays share a name.

    Args:
        record: A trace.
        users: Ids of nodes; constants are numbered in this order.
    """
    wanted: dict[str, dict[Any, list[int]]] = {}  # name -> the arrays that want it -> their ids
    for user in dict.fromkeys(users):
        node = record.nodes[user]
        for slot, id in enumerate(node.inputs):
            constant = record.nodes[id]
            if constant.role == "constant" and getattr(constant.value, "size", 1) != 1:
                arrays = wanted.setdefault(_part(node, slot), {})
                arrays.setdefault(_identity(constant.value), []).append(id)
    taken = {node.name for node in record.nodes}
    nodes = list(record.nodes)
    for part, arrays in wanted.items():
        number = 0
        for ids in arrays.values():
            name = part if len(arrays) == 1 else ""
            while not name or name in taken:
                number += 1
                name = f"{part}{number}"
            taken.add(name)
            for id in ids:
                nodes[id] = nodes[id]._replace(name=name)
    named = tuple(id for arrays in wanted.values() for ids in arrays.values() for id in ids)
    return record._replace(nodes=tuple(nodes)), named


def _part(node: TraceNode, slot: int) -> str:
    """What an input is called in the row of ``node``, if that tells more than ``x``."""
    row = row_of(node)
    name = row.parameters[slot] if row is not None and row.arity is not MANY else ""
    return name if len(name) > 1 else _NO_PART


def _identity(array: Any) -> tuple[Any, ...]:
    return array.shape, array.dtype, array.tobytes()


def constants_mentioned(record: Trace, ids: Iterable[int], words: str) -> tuple[str, ...]:
    """Which arrays the names of constants in the words stand for."""
    constants = {record.nodes[id].name: record.nodes[id] for id in ids}
    return tuple(
        f"{name}: the array of shape {node.shape}, {gist(node.value)}"
        for name, node in constants.items()
        if re.search(rf"\b{name}\b", words)
    )

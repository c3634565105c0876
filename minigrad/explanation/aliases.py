"""Short names for nodes that are called by what the learner wrote for them.

``w1*x1+w2*x2+b`` is a good name on a card. In a chain of derivatives, where each name stands twice
and in every path again, it is not: there the node is ``v8``, and its whole text stands once.

Read next: ``explain.py``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from minigrad import source
from minigrad.formatting import display_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from minigrad.events import Trace, TraceNode

__all__ = ["mentioned", "with_short_names"]

_WIDEST = 8  # columns of a text that may stay a name


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

"""The few calls that go upward: what the graph needs from layers that import it.

An input may have been a plain number and wants to be shown as a node; a missing attribute may be
micrograd's name for one of ours, or a view that is loaded when it is first used. The layers that
can answer put their function here when they are imported, so the graph imports none of them.

Read next: ``graph.py``; the hooks are filled by ``value.py`` and ``minigrad/__init__.py``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

constant: Callable[[Any], Any]  # number -> the node that stands for it in ``inputs``

"""Stepping through backpropagation.

For now the whole walk as text, each edge as upstream × local = contribution with the total before
and after; it reads a trace, so it shows what the engine ran.

Read next: ``walk.py``.
"""

from minigrad.debugger.walk import walk

__all__ = ["walk"]

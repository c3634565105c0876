"""Training: ``mg.fit`` runs the loop of every lesson, with a progress line and a history.

Read next: ``loop.py``.
"""

from minigrad.training.history import History
from minigrad.training.loop import fit

__all__ = ["History", "fit"]

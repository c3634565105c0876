"""What ran, as a record: traces, their events, their file, and a check that they add up.

Read next: ``trace.py``.
"""

from minigrad.events.edges import Edge
from minigrad.events.file import load, save
from minigrad.events.recorder import record
from minigrad.events.trace import Trace, TraceNode, Update, trace
from minigrad.events.verify import Report, verify

__all__ = [
    "Edge", "Report", "Trace", "TraceNode", "Update", "load", "record", "save", "trace", "verify",
]  # fmt: skip

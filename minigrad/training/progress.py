"""The line that says how far a training is: one that changes, or a few that stay.

On a terminal and in a notebook one line is written over; in a file, or where the output is
collected, every n-th epoch gets a line, about ten in all.

Read next: ``loop.py``.
"""

from __future__ import annotations

import sys
import time
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError
from minigrad.formatting import clip_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Progress"]

_LINES = 10  # in a file
_PAUSE = 0.1  # seconds between two changes of the line


class Progress:
    """Shows how far a training is.

    Args:
        wanted: True; False for silence; or a function that is given each line.
        epochs: How many there will be.
        stream: Where to write, standard output by default.

    Raises:
        ArgumentTypeError: if ``wanted`` is something else.
    """

    def __init__(self, wanted: Any, epochs: int, stream: Any = None) -> None:
        if not (isinstance(wanted, bool) or callable(wanted)):
            raise ArgumentTypeError(
                f"progress={wanted!r}: it is True, False, or a function of text"
            )
        self._stream = sys.stdout if stream is None else stream
        self._every = max(1, epochs // _LINES)
        self._width, self._shown_at = 0, 0.0
        self._handle: Any = None
        self._write: Callable[[str, bool], None]
        if callable(wanted):
            self._write = lambda text, last: wanted(text) if last else None
        elif not wanted:
            self._write = lambda text, last: None
        elif stream is None and _in_notebook():
            self._write = self._to_notebook
        elif getattr(self._stream, "isatty", lambda: False)():
            self._write = self._to_terminal
        else:
            self._write = self._to_file
        self._lines = self._write == self._to_file
        self._pending: str | None = None

    def during(self, text: Callable[[], str]) -> None:
        """Show where in an epoch the training is, if a line can change and it is time."""
        if not self._lines and time.monotonic() - self._shown_at >= _PAUSE:
            self._shown_at = time.monotonic()
            self._write(text(), False)

    def after(self, epoch: int, text: str) -> None:
        """Show the numbers of a finished epoch."""
        if self._lines and epoch % self._every and epoch != 1:
            self._pending = text  # shown if it turns out to be the last
            return
        self._pending = None
        self._write(text, True)

    def end(self, remark: str = "") -> None:
        """Leave the last line where it is, and say why the training ended, if that is news."""
        if self._pending is not None:
            self._write(self._pending, True)
        if self._write == self._to_terminal and self._width:
            print(file=self._stream, flush=True)
        if remark:
            self._width = 0
            self._handle = None
            self._write(remark, True)
            if self._write == self._to_terminal:
                print(file=self._stream, flush=True)

    def _to_terminal(self, text: str, last: bool) -> None:
        text = clip_text(
            text, get_terminal_size().columns - 1
        )  # a wrapped line is not written over
        print(f"\r{text.ljust(self._width)}", end="", file=self._stream, flush=True)
        self._width = len(text)

    def _to_file(self, text: str, last: bool) -> None:
        print(text, file=self._stream, flush=True)

    def _to_notebook(self, text: str, last: bool) -> None:
        from IPython import display as ipython

        display: Any = ipython.display
        bundle = {"text/plain": text}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this, and not the IPython terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")

"""Where a node was made, in the learner's own code.

``learner_frame()`` finds the innermost frame that does not belong to minigrad; ``warn`` reports
there, once per place. When sources are on, a node keeps of that frame its code object and the
offset of the instruction, which cost little to store; ``span`` resolves them later to the exact
sub-expression (Python >= 3.11 keeps its columns).

Read next: ``modes.py`` (when sources are recorded), ``graph.py`` (the node that keeps them).
"""

from __future__ import annotations

import warnings
from sys import _getframe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType

__all__ = ["Span", "is_ours", "learner_frame", "place", "span", "warn"]

_PACKAGE = __file__[: -len("source.py")]
_inside: dict[str, bool] = {}  # file name -> does it belong to minigrad?


def learner_frame(skip: int = 1) -> FrameType:
    """The innermost frame outside minigrad (the outermost frame if there is none).

    Args:
        skip: How many frames above this function the search starts.
    """
    frame = _getframe(skip)
    while _inside.get(frame.f_code.co_filename, True):
        if not is_ours(frame) or frame.f_back is None:
            return frame
        frame = frame.f_back
    return frame


def is_ours(frame: FrameType) -> bool:
    """Whether ``frame`` runs code of minigrad."""
    name = frame.f_code.co_filename
    ours = _inside.get(name)
    if ours is None:
        ours = _inside[name] = name.startswith((_PACKAGE, "<frozen"))
    return ours


class Span:
    """A stretch of source text: file, first and last line (from 1), columns (UTF-8 bytes, from 0).

    ``line`` is 0 when the code object has no position, and the columns are None when Python was
    started with ``-X no_debug_ranges``.
    """

    __slots__ = ("column", "end_column", "end_line", "file", "function", "line")

    def __init__(
        self,
        file: str,
        line: int,
        column: int | None,
        end_line: int,
        end_column: int | None,
        function: str,
    ) -> None:
        self.file = file
        self.line = line
        self.column = column
        self.end_line = end_line
        self.end_column = end_column
        self.function = function

    def __repr__(self) -> str:
        return f"Span({self.file!r}, {self.line}:{self.column}-{self.end_line}:{self.end_column})"


def span(code: CodeType, offset: int) -> Span:
    """Resolve a code object and an offset to the expression that they stand for."""
    for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
        if index == offset // 2:  # one entry per code unit of two bytes
            first = line or 0
            return Span(
                code.co_filename, first, column, end_line or first, end_column, code.co_name
            )
    return Span(code.co_filename, 0, None, 0, None, code.co_name)


def place(where: Span) -> str:
    """``'train.py:12'``: the file without its folders, and the line."""
    return f"{where.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{where.line}"


class _OncePerPlace(str):
    """A warning's text that equals every other one of its class.

    Python shows a warning once per (text, category, line). Ours carry numbers, so the text differs
    in each iteration of a loop; this makes the rule "once per (category, line)" and leaves all
    filters ("always", "error", ``catch_warnings``) to work as usual.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OncePerPlace)

    def __hash__(self) -> int:
        return 0


def warn(category: type[Warning], text: str) -> None:
    """Warn at the learner's line, once per place.

    Args:
        category: The class of the warning.
        text: What happened, why, and what to do.
    """
    frame = learner_frame()
    warnings.warn_explicit(
        _OncePerPlace(text),
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__", "<unknown>"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


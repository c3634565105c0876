"""Where a node was made, in the learner's own code.

``learner_frame()`` finds the innermost frame of the learner's own code: not minigrad, not the
standard library, not an installed package. ``warn`` reports there, once per place. When sources
are on, a node keeps of that frame its code object and the offset of the instruction, which cost
little to store (``stamp``); later ``span`` resolves them to the exact sub-expression.

``text_of`` reads it where Python 3.11 still has the text: in files, IPython cells and doctests,
which ``linecache`` knows, and with ``python -c``, whose text is among the arguments of the process.
The plain interactive interpreter forgets what was typed, and code given to ``exec`` has no text
either: there a node has its line and its columns, but nobody can read them.

Read next: ``modes.py`` (when sources are recorded), ``graph.py`` (the node that keeps them).
"""

from __future__ import annotations

import sys
import warnings
from itertools import pairwise
from sys import _getframe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, FrameType
    from typing import Any

__all__ = [
    "Span", "is_ours", "learner_frame", "line_text", "lines_of", "place", "span", "mark",
    "text_of", "warn",
]  # fmt: skip

_PACKAGE = __file__[: -len("source.py")]
_STANDARD_LIBRARY = warnings.__file__.rpartition("warnings")[0]
_COMMAND = "<string>"  # what Python calls the text of ``python -c``, but also much that is exec'd

_inside: dict[str, bool] = {}  # file name -> does it belong to minigrad?
_learners: set[str] = set()  # names of files that the learner wrote

bridge: CodeType | None = None  # code that records and is only called by functions of ours


def learner_frame(skip: int = 1) -> FrameType:
    """The innermost frame of the learner's code.

    If only libraries run, it is the innermost frame outside minigrad, or the outermost of all. The
    search starts ``skip`` frames above this function.
    """
    frame: FrameType | None = _getframe(skip)
    outside = outermost = None
    while frame is not None:
        name = frame.f_code.co_filename
        if name in _learners:
            return frame
        if not _inside.get(name) and not is_ours(frame):
            if _is_learners(name):
                return frame
            outside = outside or frame
        outermost = frame
        frame = frame.f_back
    return outside or outermost or _getframe()


def is_ours(frame: FrameType) -> bool:
    """Whether ``frame`` runs code of minigrad."""
    name = frame.f_code.co_filename
    ours = _inside.get(name)
    if ours is None:
        ours = _inside[name] = name.startswith((_PACKAGE, "<frozen"))
    return ours


def _is_learners(name: str) -> bool:
    """Whether a file that is not ours is the learner's, and not a library's."""
    if name.startswith(_STANDARD_LIBRARY) or "site-packages" in name or "dist-packages" in name:
        return False
    _learners.add(name)
    return True


def mark(
    node: Any,
    _getframe: Callable[[int], FrameType] = _getframe,
    _learners: set[str] = _learners,
) -> None:
    """Note on a new node where the learner's code is: code object and instruction offset.

    It runs for every node, and a step from frame to frame costs as much as all the rest. So it
    guesses where the learner is: two up for an operator, four for a function (over the `bridge`).
    """
    try:
        frame = _getframe(2)
        code = frame.f_code
        if code is bridge:
            frame = _getframe(4)
            code = frame.f_code
    except ValueError:  # a thread that runs nothing but our function
        frame = _getframe(1)
        code = frame.f_code
    if code.co_filename not in _learners:
        frame = learner_frame(2)
        code = frame.f_code
    node._code = code
    node._offset = frame.f_lasti


class Span:
    """A stretch of source text: file, first and last line (from 1), columns (UTF-8 bytes, from 0).

    ``line`` is 0 when the code object has no position, and the columns are None when Python was
    started with ``-X no_debug_ranges``.
    ``file`` has no folders, and a cell is ``In[3]``; ``function`` is the one that the expression
    stands in. ``path`` says where this process can read the text (``""`` if it is lost); it is for
    this process only and is never written to a file.
    """

    __slots__ = ("column", "end_column", "end_line", "file", "function", "line", "path")

    def __init__(
        self,
        file: str,
        line: int,
        column: int | None,
        end_line: int,
        end_column: int | None,
        function: str,
        path: str = "",
    ) -> None:
        self.file, self.function, self.path = file, function, path
        self.line, self.column = line, column
        self.end_line, self.end_column = end_line, end_column

    def __repr__(self) -> str:
        return f"Span({self.file!r}, {self.line}:{self.column}-{self.end_line}:{self.end_column})"


_Positions = tuple[tuple[int | None, int | None, int | None, int | None], ...]

# id of a code object -> the object (so that the id stays its own), label, path, table of positions
# (read once: that takes longer than the code took to run) and the spans that were asked for.
_resolved: dict[int, tuple[CodeType, str, str, _Positions, dict[int, Span]]] = {}
_MOST_CODE_OBJECTS = 4096  # a long session makes new ones with every cell


def span(code: CodeType, offset: int) -> Span:
    """Resolve a code object and an offset to the expression that they stand for.

    The same arguments give the same object.

    >>> code = compile("y = (a *\\n     b)", "lesson.py", "exec")
    >>> [span(code, 2 * unit) for unit, _ in enumerate(code.co_code[::2])][4]
    Span('lesson.py', 1:5-2:6)
    """
    known = _resolved.get(id(code))
    if known is None:
        while len(_resolved) >= _MOST_CODE_OBJECTS:
            del _resolved[next(iter(_resolved))]
        name = code.co_filename
        path = "" if name == _COMMAND and not _is_command(code) else name
        known = code, _label(name), path, tuple(code.co_positions()), {}
        _resolved[id(code)] = known
    _, file, path, positions, spans = known
    found = spans.get(offset)
    if found is None:
        unit = offset // 2  # one entry per code unit of two bytes
        nowhere = (None, None, None, None)
        line, last, column, end = positions[unit] if 0 <= unit < len(positions) else nowhere
        first = line or 0
        found = Span(file, first, column, last or first, end, code.co_name, path)
        spans[offset] = found
    return found


_labels: dict[str, str] = {}  # label -> the path that has it


def _label(path: str) -> str:
    """A file's name without folders (``model.py (2)`` for the second one); a cell is ``In[3]``."""
    name = _cell(path) or path.replace("\\", "/").rsplit("/", 1)[-1]
    label, number = name, 1
    while _labels.setdefault(label, path) != path:
        number += 1
        label = f"{name} ({number})"
    return label


def _cell(path: str) -> str:
    """``In[3]``; ``cell`` when nobody knows its number; ``""`` when it is no cell of IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    try:
        return str(shell.compile.format_code_name(path)[1])  # type: ignore[union-attr]
    except Exception:  # no shell, an old one, or not one of its cells
        if path.startswith("<ipython-input-"):
            number = path.split("-")[2]
            return f"In[{number}]" if number.isdecimal() else "cell"
        return "cell" if "ipykernel_" in path else ""


def place(where: Span) -> str:
    """``'train.py:12'``: the file without its folders, and the line."""
    return f"{where.file}:{where.line}"


def lines_of(path: str) -> Sequence[str]:
    """The lines of a file, a cell or ``python -c``, each with its end; empty if they are lost."""
    if path == _COMMAND:
        text = _command().replace("\r\n", "\n").replace("\r", "\n")
        return [f"{line}\n" for line in text.split("\n")] if text else []
    import linecache

    try:
        return linecache.getlines(path) if path else []
    except Exception:  # a name that no file can have
        return []


def line_text(where: Span) -> str | None:
    """The whole first line of ``where``, as it is written, without its end; None if it is lost."""
    lines = lines_of(where.path)
    return lines[where.line - 1].rstrip("\r\n") if 0 < where.line <= len(lines) else None


def text_of(where: Span) -> str | None:
    """The source text of the expression, of several lines if it has them; None if it is lost."""
    first, start, last, end = where.line, where.column, where.end_line, where.end_column
    lines = lines_of(where.path)
    if start is None or end is None or not 0 < first <= last <= len(lines):
        return None
    try:
        encoded = [line.encode() for line in lines[first - 1 : last]]  # columns count bytes
        encoded[-1] = encoded[-1][:end]
        encoded[0] = encoded[0][start:]
        return b"".join(encoded).decode() or None
    except UnicodeError:  # these are not the lines that were compiled
        return None


def _command() -> str:
    """The text after ``python -c``; ``""`` if this process was started in another way."""
    for word, text in pairwise(sys.orig_argv):
        if word[:1] == "-" and word[1:2] != "-" and word.endswith("c"):  # also -Ic
            return text  # or what some other -c takes; `_is_command` notices
    return ""


_command_codes: list[tuple[str, bytes, bytes]] = []


def _is_command(code: CodeType) -> bool:
    """Whether ``code`` was compiled from the text of ``python -c``: compile it again, compare."""
    if not _command_codes:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python gave them when it compiled this
                todo = [compile(_command() + "\n", _COMMAND, "exec", dont_inherit=True)]
        except Exception:  # not what Python ran, then
            return False
        while todo:
            one = todo.pop()
            _command_codes.append(_fingerprint(one))
            todo += [part for part in one.co_consts if part.__class__ is one.__class__]
    return _fingerprint(code) in _command_codes


def _fingerprint(code: CodeType) -> tuple[str, bytes, bytes]:
    return code.co_qualname, code.co_linetable, code.co_code


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
    """Warn at the learner's line, once per place, of what happened, why, and what to do."""
    frame = learner_frame()
    warnings.warn_explicit(
        _OncePerPlace(text),
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__", "<unknown>"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )

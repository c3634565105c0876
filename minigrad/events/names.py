"""What a node is called in pictures and traces.

The first of these that there is:

1. its ``name=``;
2. the variable that it was assigned to, when the learner's own code made it and it is the outermost
   expression of the right-hand side: ``e = a*b + c`` names the sum, not ``a*b``;
3. a variable of the code that asks for the picture or trace, or an element of a list, tuple or
   dictionary there, that is this very node;
4. its scope and operation;
5. what the learner wrote for it, if that is short;
6. ``v`` and its id in the trace.

A name that comes again, as in a loop, is ``x``, ``x₂``, ``x₃`` in order of creation. Only ``name=``
may be the same for two nodes. Rules 2 and 5 need the source (``mg.options.sources``); rule 3 always
works. These names live in traces and pictures, never in ``node.name``.

Read next: ``assignments.py`` (rule 2), ``trace.py``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from minigrad import modes, source
from minigrad.events.assignments import OPERATOR, Expression, read
from minigrad.formatting import display_width, short
from minigrad.graph import sources
from minigrad.symbol import bracketed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

    from minigrad.events.trace import TraceNode
    from minigrad.graph import Node
    from minigrad.ops.row import Op

__all__ = ["names_of", "number_name", "source_texts"]

_WIDEST_TEXT = 24
_LONGEST_LIST = 100_000  # a longer one is data, and to look at all of it takes time
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def names_of(nodes: Sequence[Node], frame: FrameType | None = None) -> dict[Node, str]:
    """A name for each node, given in order of creation; no two automatic names are the same.

    Args:
        nodes: The nodes of a graph.
        frame: The frame whose variables may give names; by default, the learner's that called.

    >>> from minigrad import Value
    >>> x = Value(3.0)
    >>> y = 2 * x
    >>> list(names_of([x, y]).values())
    ['x', 'y']
    """
    variables = _variables(frame or source.learner_frame(), nodes)
    expressions = _Expressions(nodes)
    unused = _Unused(str(node.name) for node in nodes if node.name)
    names: dict[Node, str] = {}
    number = -1  # the id that the node has in a trace, where plain numbers have one as well
    for node in nodes:
        number += 1
        row = node._row
        if row is not None and row.arity > 1:
            number += [x is None for x in sources(node)].count(True)
        if node.name:
            names[node] = str(node.name)
            unused.count(str(node.name))
            continue
        element = ""
        if row is not None and row.name == "element":
            element = _element_name(node, row, names)
        known = (
            element or id(node) in variables or hasattr(node, "_code") or hasattr(node, "_scope")
        )
        plain = f"v{number}"
        if not known and unused.take(plain):  # as most nodes of a large graph
            names[node] = plain
            continue
        target, text = ("", "") if element else expressions.of(node)
        variable = variables.get(id(node), "")
        if variable.startswith(f"{target}["):
            target = ""  # the variable holds a list of them
        name = target or variable or element or _scope_name(node)
        names[node] = unused.name(name or text or plain, quoted=not name and bool(text))
    return names


def number_name(number: float) -> str:
    """A plain number is called by its digits."""
    return short(number)


def source_texts(nodes: Sequence[TraceNode]) -> Mapping[str, str]:
    """The code that made the nodes, by file name, as far as it can be read."""
    paths = {node.span.file: node.span.path for node in nodes if node.span is not None}
    texts = {file: "".join(source.lines_of(path)) for file, path in paths.items()}
    return {file: text for file, text in texts.items() if text}


class _Unused:
    """Gives names that nobody has yet: ``x``, ``x₂``, ``x₃``; for a text, ``a*b``, ``(a*b)₂``."""

    def __init__(self, taken: Iterator[str]) -> None:
        self._taken = set(taken)
        self._times: Counter[str] = Counter()

    def take(self, name: str) -> bool:
        """Give ``name`` as it stands, if nobody is called it yet."""
        if name in self._taken or name in self._times:
            return False
        self._taken.add(name)
        return True

    def count(self, name: str) -> None:
        """A node that the learner called ``name`` comes here in the order."""
        self._times[name] += 1

    def name(self, name: str, quoted: bool) -> str:
        while True:
            self._times[name] += 1
            times = self._times[name]
            number = str(times).translate(_SUBSCRIPTS) if times > 1 else ""
            unused = f"({name}){number}" if quoted and number else f"{name}{number}"
            if unused not in self._taken:
                self._taken.add(unused)
                return unused


class _Expressions:
    """What the learner wrote for each node: the variable that it went to, and the text.

    One expression may make many nodes: ``s = sum(xs)`` makes one per addition, and only the last is
    called ``s``. An operator makes one each time it runs, as does a function of minigrad that is
    called like its operation; of the nodes of any other call it is the one that no other of them
    was computed from.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        noted = [node for node in nodes if hasattr(node, "_code")]
        self._spans = {node: modes.span_of(node) for node in noted}
        self._parts: set[Node] = set()
        self._leaves: Counter[int] = Counter()  # by the id of the span, which all share
        self._known: dict[int, tuple[Expression, str]] = {}
        for node, where in self._spans.items():
            if where is not None:
                inputs = sources(node)
                self._parts.update(
                    x for x in inputs if x is not None and self._spans.get(x) is where
                )
                self._leaves[id(where)] += not inputs

    def of(self, node: Node) -> tuple[str, str]:
        """(variable, text), each ``""`` if there is none."""
        where = self._spans.get(node)
        if where is None:
            return "", ""
        known = self._known.get(id(where))
        if known is None:
            known = self._known[id(where)] = read(where), _short_text(where)
        expression, text = known
        return (expression.target, text) if self._is_value(node, expression) else ("", "")

    def _is_value(self, node: Node, expression: Expression) -> bool:
        """Whether ``node`` is the value of its expression, and not a step on the way."""
        if expression.maker == OPERATOR:
            return True
        if node.op is None:
            alone = self._leaves[id(self._spans[node])] == 1
            return expression.maker == type(node).__name__ or alone
        return expression.maker == node.op.name or node not in self._parts


def _short_text(where: source.Span) -> str:
    text = source.text_of(where) or ""
    return text if text.isprintable() and display_width(text) <= _WIDEST_TEXT else ""


def _element_name(node: Node, row: Op, names: Mapping[Node, str]) -> str:
    """``x[0, 1]`` for an element of an array: what made it made many, and is about all of them."""
    [array] = sources(node)
    index = ", ".join(map(str, row.attrs["index"])) or "()"
    return f"{bracketed(names[array])}[{index}]" if array is not None else ""


def _scope_name(node: Node) -> str:
    scope = modes.scope_of(node)
    return f"{scope}/{node.op.name}" if scope and node.op is not None else ""


def _variables(frame: FrameType, nodes: Sequence[Node]) -> dict[int, str]:
    """The id of each node that a variable of ``frame`` is bound to, and the first such variable."""
    wanted = {id(node) for node in nodes}
    try:
        visible: dict[Any, Any] = dict(frame.f_locals)
    except Exception:  # `exec` takes any mapping
        visible = {}
    for name, value in frame.f_globals.copy().items():
        visible.setdefault(name, value)
    public = [(name, x) for name, x in visible.items() if str(name)[:1] not in ("_", ".", "")]
    found: dict[int, str] = {}
    for name, value in public:
        if id(value) in wanted:
            found.setdefault(id(value), name)
    for name, value in public:  # a variable of its own is the better name
        if type(value) in (list, tuple, dict) and len(value) <= _LONGEST_LIST:
            for key, item in value.items() if type(value) is dict else enumerate(value):
                if id(item) in wanted and type(key) in (int, str):
                    found.setdefault(id(item), f"{name}[{key!r}]")
    return found

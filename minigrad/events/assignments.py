"""What the learner wrote around an expression: the variable it goes to, and what computes it.

``read(span)`` looks a span up among the expressions of its file or cell. The syntax tree of a file
is walked once; afterwards each expression is one look-up.

Read next: ``names.py``, which decides what a node is called.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from minigrad.source import lines_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping, Sequence

    from minigrad.source import Span

__all__ = ["OPERATOR", "Expression", "read", "read_text"]

OPERATOR = "operator"
_Key = tuple[int, int | None, int, int | None]


class Expression(NamedTuple):
    """An expression in its statement.

    Attributes:
        target: The variable that its value is assigned to, as in ``x``, ``self.w`` or ``ws[0]``;
            ``""`` if it is only a part of a longer expression, or not assigned.
        maker: `OPERATOR`, whose every run makes one node; the last word of the function that is
            called, which may make many; ``""`` for anything else.
    """

    target: str
    maker: str


_UNKNOWN = Expression("", "")
_read: dict[str, tuple[Sequence[str], Mapping[_Key, Expression]]] = {}  # by path
_MOST_FILES = 256  # a long session has a cell more with every step


def read(where: Span) -> Expression:
    """The expression at ``where``; one without target and maker if nobody can tell."""
    lines = lines_of(where.path)
    if not lines or where.column is None:
        return _UNKNOWN
    known = _read.get(where.path)
    if known is None or (known[0] is not lines and known[0] != lines):
        while len(_read) >= _MOST_FILES:
            del _read[next(iter(_read))]
        known = _read[where.path] = lines, read_text("".join(lines))
    key = (where.line, where.column, where.end_line, where.end_column)
    return known[1].get(key, _UNKNOWN)


def read_text(text: str) -> Mapping[_Key, Expression]:
    """Every expression of a program that an operation may come from, by its position.

    >>> for (_, start, _, end), expression in read_text("e = tanh(a*b) + c").items():
    ...     print(start, end, expression)
    4 17 Expression(target='e', maker='operator')
    4 13 Expression(target='', maker='tanh')
    9 12 Expression(target='', maker='operator')
    """
    import ast

    try:
        tree = ast.parse(text)
    except Exception:  # half a file, another version of Python, nested too deep
        return {}
    targets: dict[ast.AST, str] = {}
    found: dict[_Key, Expression] = {}
    for node in ast.walk(tree):  # outer before inner: a statement comes before its expressions
        for target, value in _assignments(node):
            for name, expression in _pairs(target, value):
                targets.setdefault(expression, name)
        maker = _maker(node)
        if maker:
            for key in _keys(node):
                found.setdefault(key, Expression(targets.get(node, ""), maker))
    return found


# The syntax tree is taken apart by attributes of its nodes, whose classes have no common type.


def _assignments(node: Any) -> Iterator[tuple[Any, Any]]:
    """The (target, value) pairs of a statement, or of a walrus."""
    match type(node).__name__:
        case "Assign":
            for target in node.targets:
                yield target, node.value
        case "AnnAssign" | "NamedExpr" if node.value is not None:
            yield node.target, node.value
        case "AugAssign":
            yield node.target, node  # the operation has the position of the whole statement


def _pairs(target: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """The names that an assignment gives, each with the outermost expression that it names."""
    if type(target).__name__ in ("Tuple", "List"):
        if type(value).__name__ in ("Tuple", "List"):
            for one, other in _aligned(target.elts, value.elts):
                yield from _pairs(one, other)
    else:
        name = _name(target)
        if name:
            yield from _parts(name, value)


def _aligned(targets: Sequence[Any], values: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """``a, *rest, z = v, …, w``: what stands before the first star, and after the last."""

    def starless(pair: tuple[Any, Any]) -> bool:
        return "Starred" not in (type(pair[0]).__name__, type(pair[1]).__name__)

    front = list(takewhile(starless, zip(targets, values, strict=False)))
    yield from front
    if len(front) < len(targets):
        back = zip(reversed(targets), reversed(values), strict=False)
        yield from takewhile(starless, back)


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What ``name = value`` names: the value, or the elements of a list that is written out."""
    match type(value).__name__:
        case "List" | "Tuple":
            for index, element in enumerate(value.elts):
                if type(element).__name__ == "Starred":
                    return  # nobody knows how many it stands for
                yield from _parts(f"{name}[{index}]", element)
        case "Dict":
            for key, element in zip(value.keys, value.values, strict=True):
                if type(key).__name__ == "Constant":
                    yield from _parts(f"{name}[{key.value!r}]", element)
        case "IfExp":
            yield from _parts(name, value.body)
            yield from _parts(name, value.orelse)
        case "BoolOp":
            for operand in value.values:
                yield from _parts(name, operand)
        case "NamedExpr":
            yield from _parts(name, value.value)
        case _:
            yield name, value


def _name(target: Any) -> str:
    """How a target reads: ``x``, ``self.w``, ``w[0]``; ``""`` if that changes from run to run."""
    match type(target).__name__:
        case "Name":
            return str(target.id)
        case "Attribute":
            owner = _name(target.value)
            return owner and f"{owner}.{target.attr}"
        case "Subscript" if type(target.slice).__name__ == "Constant":
            owner = _name(target.value)
            return owner and f"{owner}[{target.slice.value!r}]"
    return ""


def _maker(node: Any) -> str:
    """See `Expression.maker`."""
    match type(node).__name__:
        case "BinOp" | "UnaryOp" | "AugAssign" | "Subscript" | "Attribute":
            return OPERATOR
        case "Call":
            return getattr(node.func, "attr", "") or getattr(node.func, "id", "") or "call"
    return ""


def _keys(node: Any) -> Iterator[_Key]:
    """The positions under which Python may know an expression."""
    yield node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
    function: Any = getattr(node, "func", None)
    if type(function).__name__ == "Attribute":
        # a call of a method that stands on a line of its own starts at the method's name
        start = function.end_col_offset - len(function.attr)
        yield function.end_lineno, start, node.end_lineno, node.end_col_offset

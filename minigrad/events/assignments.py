"""What the learner wrote around an expression: the variable it goes to, and what computes it.

``read(span)`` looks a span up among the expressions of its file or cell. The syntax tree of a file
is walked once; afterwards each expression is one look-up.

Read next: ``names.py``, which decides what a node is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from minigrad.source import lines_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping, Sequence

    from minigrad.source import Span

__all__ = ["OPERATOR", "Expression", "read", "read_text"]

OPERATOR = "operator"
_ALWAYS_ONE = ("BinOp", "UnaryOp", "Subscript", "Attribute")

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
    if known is None or known[0] is not lines and known[0] != lines:
        while len(_read) >= _MOST_FILES:
            del _read[next(iter(_read))]
        known = _read[where.path] = lines, read_text("".join(lines))
    key = (where.line, where.column, where.end_line, where.end_column)
    return known[1].get(key, _UNKNOWN)


def read_text(text: str) -> Mapping[_Key, Expression]:
    """Every expression of a program that an operation may come from, by its position.

    >>> for (line, start, _, end), expression in read_text("e = tanh(a*b) + c").items():
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
            for expression, name in _pairs(target, value):
                targets.setdefault(expression, name)
        maker = _maker(node)
        if maker:
            expression = Expression(targets.get(node, ""), maker)
            for key in _keys(node):
                found.setdefault(key, expression)
    return found


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.AST]]:
    """The (target, value) pairs of a node of the syntax tree."""
    match type(node).__name__:
        case "Assign":
            for target in node.targets:  # type: ignore[attr-defined]
                yield target, node.value  # type: ignore[attr-defined]
        case "AnnAssign" | "NamedExpr":
            if node.value is not None:  # type: ignore[attr-defined]
                yield node.target, node.value  # type: ignore[attr-defined]
        case "AugAssign":
            yield node.target, node  # type: ignore[attr-defined]

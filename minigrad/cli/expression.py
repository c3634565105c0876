"""An expression as text becomes a graph: ``build("x*y + 1", ["x=2", "y=3"])``.

The text is parsed by Python's own ``ast`` and walked against a list of what is allowed: numbers,
names, arithmetic, comparisons and the functions of the table. Nothing is ever run as code.

Read next: ``../ops/__init__.py``, the functions.
"""

from __future__ import annotations

import ast
import math
import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from minigrad.errors import ExpressionError, MinigradError
from minigrad.ops import FUNCTIONS, OPS
from minigrad.ops.evaluate import apply
from minigrad.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["build", "evaluate"]

_LONGEST = 10_000  # characters
_DEEPEST = 200  # operations inside each other
_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}
_ALSO_CALLED = {"ln": "log", "lg": "log10", "ld": "log2", "σ": "sigmoid", "logistic": "sigmoid"}
_INSTEAD: dict[type, str] = {  # what is written here for a form of Python that is not allowed
    ast.IfExp: "where(condition, x, y) chooses between two numbers",
    ast.Tuple: "a number has a decimal point, 1.5",
    ast.BoolOp: "where(condition, x, y) takes one condition",
}
_ROWS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
    ast.Eq: "equal",
}  # fmt: skip


def build(text: str, assignments: Sequence[str]) -> Value:
    """The graph of an expression.

    Args:
        text: The expression.
        assignments: ``name=number`` for each name in it.

    Raises:
        ExpressionError: if something is not allowed, missing, or too large.

    >>> build("x*x + 1", ["x=3"]).data
    10.0
    """
    names: dict[str, Any] = {}
    for assignment in assignments:
        name, sign, number = assignment.partition("=")
        if not sign or not name.isidentifier() or name in FUNCTIONS:
            raise ExpressionError(f"{assignment!r} is not of the form name=number, such as x=2")
        if name in names:
            raise ExpressionError(f"{name} is given twice")
        try:
            names[name] = Value(float(number), name=name)
        except ValueError:
            raise ExpressionError(f"{assignment}: {number!r} is not a number") from None
    used: set[str] = set()
    result = evaluate(text, names, used)
    unused = [name for name in names if name not in used]
    if unused:
        raise ExpressionError(f"{', '.join(unused)}: given, but not in the expression")
    if not isinstance(result, Value):
        raise ExpressionError(
            f"{text!r} is the number {result!r}: there is no name to differentiate by"
        )
    return result


def evaluate(text: str, names: Mapping[str, Any], used: set[str] | None = None) -> Any:
    """The value of an expression, with ``names`` for its names; adds to ``used`` those it met.

    Raises:
        ExpressionError: if something is not allowed, missing, or too large.
    """
    if len(text) > _LONGEST:
        raise ExpressionError(f"the expression has {len(text)} characters; {_LONGEST} are allowed")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's parser, such as "2 is not callable"
            tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        at = f" at {text.strip()[error.offset - 1 :][:12]!r}" if error.offset else ""
        raise ExpressionError(f"{_shown(text)} cannot be read{at}: {error.msg}") from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise ExpressionError(
            f"{_shown(text)} cannot be read: {str(error) or 'it is too deep'}"
        ) from None
    return _Reader(names, used if used is not None else set()).read(tree, 0)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


class _Reader:
    """Walks the tree; each kind of node that is allowed has a method here."""

    def __init__(self, names: Mapping[str, Any], used: set[str]) -> None:
        self.names = names
        self.used = used

    def read(self, tree: ast.AST, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ExpressionError(f"more than {_DEEPEST} operations inside each other")
        method = getattr(self, f"_{type(tree).__name__.lower()}", None)
        if method is None:
            instead = _INSTEAD.get(
                type(tree),
                "allowed are numbers, names, + - * / // % **, comparisons, and functions such as "
                "tanh(x)",
            )
            raise ExpressionError(f"{_shown(ast.unparse(tree))} is not allowed; {instead}")
        return method(tree, depth + 1)

    def _constant(self, tree: ast.Constant, depth: int) -> float:
        if isinstance(tree.value, bool) or not isinstance(tree.value, int | float):
            raise ExpressionError(f"{tree.value!r} is not a real number")
        try:
            return float(tree.value)
        except OverflowError:
            return math.inf

    def _name(self, tree: ast.Name, depth: int) -> Any:
        name = tree.id
        if name in self.names:
            self.used.add(name)
            return self.names[name]
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in FUNCTIONS:
            raise ExpressionError(f"{name} is a function: write {name}(…)")
        product = "; a product is written *" if "·" in name else ""
        raise ExpressionError(f"{name} has no value: add {name}=number{product}")

    def _unaryop(self, tree: ast.UnaryOp, depth: int) -> Any:
        x = self.read(tree.operand, depth)
        if isinstance(tree.op, ast.USub):
            return FUNCTIONS["neg"](x)
        if isinstance(tree.op, ast.UAdd):
            return x
        raise ExpressionError(f"{_shown(ast.unparse(tree))} is not allowed; + and - are")

    def _binop(self, tree: ast.BinOp, depth: int) -> Any:
        if type(tree.op) not in _ROWS:
            hint = "; a power is written **" if isinstance(tree.op, ast.BitXor) else ""
            raise ExpressionError(
                f"{_shown(ast.unparse(tree))}: this operator is not allowed{hint}"
            )
        return self._row(tree.op, tree.left, tree.right, depth)

    def _compare(self, tree: ast.Compare, depth: int) -> Any:
        if len(tree.ops) != 1 or type(tree.ops[0]) not in _ROWS:
            if len(tree.ops) == 1 and isinstance(tree.ops[0], ast.GtE):
                return self._row(ast.LtE(), tree.comparators[0], tree.left, depth)
            raise ExpressionError(f"{_shown(ast.unparse(tree))}: write one of < <= > >= ==")
        return self._row(tree.ops[0], tree.left, tree.comparators[0], depth)

    def _row(self, sign: ast.AST, left: ast.AST, right: ast.AST, depth: int) -> Any:
        op, x, y = OPS[_ROWS[type(sign)]], self.read(left, depth), self.read(right, depth)
        result = apply(op, (x, y))
        if type(result) is float and not math.isfinite(result) and math.isfinite(x + y):
            raise ExpressionError(f"{op.describe((x, y))} is {result}, which is beyond the floats")
        return result

    def _list(self, tree: ast.List, depth: int) -> list[Any]:
        return [self.read(part, depth) for part in tree.elts]

    def _call(self, tree: ast.Call, depth: int) -> Any:
        name = tree.func.id if isinstance(tree.func, ast.Name) else None
        function = FUNCTIONS.get(name or "")
        if function is None or not function.op.public:
            public = sorted(n for n, f in FUNCTIONS.items() if f.op.public)
            word = ast.unparse(tree.func).rpartition(".")[2]
            other = _ALSO_CALLED.get(word)
            near = [other] if other else get_close_matches(word, public, cutoff=0.5)
            hint = (
                f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(public)}"
            )
            raise ExpressionError(
                f"{_shown(ast.unparse(tree.func))} is not a function here; {hint}"
            )
        inputs = [self.read(argument, depth) for argument in tree.args]
        attrs = {}
        for keyword in tree.keywords:
            if keyword.arg is None:
                raise ExpressionError(f"{_shown(ast.unparse(tree))}: ** is not allowed in a call")
            attrs[keyword.arg] = self.read(keyword.value, depth)
        try:
            return function(*inputs, **attrs)
        except MinigradError:
            raise
        except TypeError as error:
            raise ExpressionError(f"{_shown(ast.unparse(tree))}: {error}") from None

"""Reads a printed formula back: ``ast``, an allow-list, and the closed forms for its functions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from math import inf, nan
from typing import Any

from tests.engine.closed_forms import FORMS

_BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip

_COMPARE = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.Eq: operator.eq,
}  # fmt: skip

_FUNCTIONS: dict[str, Any] = {form.row: form for form in reversed(FORMS) if not form.settings}


def evaluate(text: str, names: Mapping[str, float]) -> float:
    """The number that ``text`` stands for; a KeyError or ValueError for what is no formula."""
    return float(_evaluate(ast.parse(text, mode="eval").body, {"inf": inf, "nan": nan, **names}))


def _evaluate(tree: ast.expr, names: Mapping[str, float]) -> Any:
    match tree:
        case ast.Constant(value=float() | int() as number):
            return float(number)
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, names)
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_evaluate(left, names), _evaluate(right, names))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return float(_COMPARE[type(op)](_evaluate(left, names), _evaluate(right, names)))
        case ast.List(elts=parts):
            return [_evaluate(part, names) for part in parts]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            form = _FUNCTIONS[name]
            settings = {k.arg: ast.literal_eval(k.value) for k in keywords}
            if settings:
                form = next(f for f in FORMS if f.row == name and f.settings == settings)
            flat = []
            for arg in args:
                x = _evaluate(arg, names)
                flat.extend(x if isinstance(x, list) else [x])
            return form.value(*flat)
    raise ValueError(f"{ast.unparse(tree)} has no place in a formula")

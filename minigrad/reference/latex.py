"""The lines of a manual as LaTeX: an ``einsum`` is a sum with indices, ``x.T`` a transpose.

The rows of numbers are run on symbols to be printed. The lines of a manual are texts of Python:
they are parsed, not run, and written with the same symbols.

Read next: ``../symbol.py``.
"""

from __future__ import annotations

import ast
from typing import Any

from minigrad.ops import FUNCTIONS
from minigrad.ops.row import MANY, OPS
from minigrad.symbol import Symbol, formula

__all__ = ["computes", "latex"]

_OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow",
    ast.FloorDiv: "floordiv", ast.MatMult: "matmul", ast.Lt: "less", ast.Eq: "equal",
}  # fmt: skip
_LARGE = {"sum": r"\sum", "mean": r"\operatorname{{mean}}"}  # with the axis below


def latex(text: str) -> str:
    """An expression of Python in LaTeX.

    >>> print(latex("x.T @ g"))
    x^{\\top} g
    >>> print(latex("g * x / sum(x ** 2, axis)"))
    \\frac{g \\cdot x}{\\sum_{\\mathrm{axis}} {x}^{2}}
    >>> print(latex("einsum('ij,jk->ik', x, y)"))
    \\sum_{j} x_{ij} y_{jk}
    """
    return _symbol(ast.parse(text, mode="eval").body).latex


def computes(text: str) -> bool:
    """Whether an expression has anything that LaTeX writes better than Python.

    >>> computes("x.T @ g"), computes("flip(g, axis)"), computes("sum(g, axis)")
    (True, False, True)
    """
    return any(
        isinstance(part, ast.BinOp | ast.Compare)
        or (isinstance(part, ast.Name) and part.id in ("einsum", *_LARGE))
        for part in ast.walk(ast.parse(text))
    )


def _symbol(tree: ast.expr) -> Symbol:
    match tree:
        case ast.Name(id=name):
            return Symbol(name)
        case ast.Constant(value=value):
            return _constant(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_symbol(operand)
        case ast.BinOp(left=left, op=op, right=right):
            return formula(OPS[_OPERATORS[type(op)]], [_symbol(left), _symbol(right)])
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return formula(OPS[_OPERATORS[type(op)]], [_symbol(left), _symbol(right)])
        case ast.Starred(value=value):
            return _symbol(value)
        case ast.Tuple(elts=parts):
            inside = ", ".join(f"{{{i}}}" for i in range(len(parts)))
            return _made(rf"\left({inside}\right)", [_symbol(part) for part in parts])
        case ast.Attribute(value=value, attr="T"):
            return _made(r"{0:5}^{{\top}}", [_symbol(value)], binds=4)
        case ast.Attribute(value=ast.Name(id="np"), attr=name):
            return Symbol(name)
        case ast.Attribute(value=value, attr=name):
            return _called(name, [value], [])
        case ast.Subscript(value=value, slice=index):
            return _made(rf"{{0:5}}_{{{{{_escaped(_index(index))}}}}}", [_symbol(value)])
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            return _called(name, args, keywords)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name), args=args):
            return _called(name, args, [])
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args):
            return _called(name, [value, *args], [])
    raise ValueError(f"{ast.unparse(tree)} has no place in a manual")


def _constant(value: Any) -> Symbol:
    if value is None or value is Ellipsis or isinstance(value, str):
        return Symbol(repr(value), _WORDS.get(value, rf"\text{{{value}}}"))
    return Symbol.of(value)


_WORDS: dict[Any, str] = {None: r"\cdot", Ellipsis: r"\ldots"}  # in an index, None is a new axis


def _index(tree: ast.expr) -> str:
    parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    return ", ".join(
        ast.unparse(part) if isinstance(part, ast.Slice) else _symbol(part).latex for part in parts
    )


def _called(name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> Symbol:
    match name, args:
        case "einsum", [ast.Constant(value=str(subscripts)), *operands]:
            return _einstein(subscripts, [_symbol(x) for x in operands])
        case _, [x, *axes] if name in _LARGE:
            return _made(rf"{_LARGE[name]}{_below(axes)} {{0:2}}", [_symbol(x)], binds=2)
    inputs = [_symbol(x) for x in args]
    function = FUNCTIONS.get(name)
    if function is not None and function.op.arity is not MANY and not function.op.attrs:
        return formula(function.op, inputs)
    shown = [f"{{{i}}}" for i in range(len(inputs))]
    for keyword in keywords:
        if keyword.arg != "keepdims":
            shown.append(rf"\mathrm{{{{{keyword.arg}}}}} = {{{len(inputs)}}}")
            inputs.append(_symbol(keyword.value))
    word = name.replace("_", "")
    return _made(rf"\operatorname{{{{{word}}}}}\left({', '.join(shown)}\right)", inputs)


def _below(axes: list[ast.expr]) -> str:
    """The axis below a large sign, in a template."""
    if not axes:
        return ""
    return f"_{{{{{_escaped(_symbol(axes[0]).latex)}}}}}"


def _escaped(text: str) -> str:
    """LaTeX as a part of a template, in which braces are doubled."""
    return text.replace("{", "{{").replace("}", "}}")


def _einstein(subscripts: str, operands: list[Symbol]) -> Symbol:
    """``ij,jk->ik`` as a sum over j of products with indices."""
    left, _, result = subscripts.partition("->")
    words = left.split(",")
    summed = "".join(dict.fromkeys(c for c in left if c.isalpha() and c not in result))
    factors = " ".join(f"{{{i}:5}}_{{{{{word}}}}}" for i, word in enumerate(words))
    return _made((rf"\sum_{{{{{summed}}}}} " if summed else "") + factors, operands, binds=2)


def _made(template: str, inputs: list[Symbol], binds: int = 5) -> Symbol:
    """A symbol that is written by a template of its own."""
    symbol = Symbol("")
    symbol.op, symbol.inputs = OPS["matmul"].bind(), tuple(inputs)
    symbol.op.text = symbol.op.latex = template
    symbol.op.precedence = binds
    return symbol

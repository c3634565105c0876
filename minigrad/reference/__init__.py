"""The reference: the docstring of every function of the table, and the page ``docs/operations.md``.

Nothing is said here about one operation: name, formula, derivatives, edges and example come from
its row, and the row is run on symbols to be printed. So the words cannot differ from the code.
The functions of arrays have their docstrings from ``ops/manual.py``.

``python3 -m minigrad.reference`` writes the page anew.

Read next: ``page.py``, the page; ``../symbol.py``, which prints the formulas.
"""

from __future__ import annotations

from minigrad.graph import Node
from minigrad.ops import FUNCTIONS
from minigrad.ops.evaluate import compute
from minigrad.ops.row import MANY, row_of
from minigrad.symbol import Symbol, derivative_formula, edge_value, formula

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    from minigrad.ops.row import Op

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "call_of_row", "derivative", "docstring", "document", "document_all", "footnotes", "in_words",
]  # fmt: skip


# -- docstrings ----------------------------------------------------------------------------------


def document_all() -> None:
    """Write the docstrings of all functions of ``minigrad``, and of the methods that they are."""
    for function in FUNCTIONS.values():
        if function.op.public:
            document(function)


def document(function: F) -> F:
    """Write the docstring of a function of the table from its row, and return the function.

    A function of any number of inputs has its docstring in ``ops/nary.py``; it is kept.
    """
    op = row_of(function)
    if op.arity is not MANY:
        function.__doc__ = docstring(op)
        if FUNCTIONS.get(op.name) is function and op.public:
            for kind in _kinds_of_nodes(Node):
                if op.name in vars(kind):
                    vars(kind)[op.name].__doc__ = function.__doc__
    return function


def _kinds_of_nodes(kind: type[Node]) -> Iterator[type[Node]]:
    """The classes that are loaded: ``Value``, and ``Tensor`` once it was touched."""
    for below in kind.__subclasses__():
        yield below
        yield from _kinds_of_nodes(below)


def docstring(op: Op) -> str:
    """What ``help(mg.sin)`` shows.

    >>> from minigrad.ops import OPS
    >>> print(docstring(OPS["cos"]).partition("Args:")[0].strip())
    cos(x): Cosine of an angle in radians.
    """
    unit_in, unit_out = _units(op)
    lines = [
        f"{call_of_row(op)}: {op.sentence}" if op.sentence else f"{call_of_row(op)}.",
        "",
        "Args:",
    ]
    lines += [f"    {name}: {_INPUT}; {unit_in}." for name in op.parameters]
    for name, value in op.attrs.items():
        lines.append(f"    {name}: A number, {value!r} by default; no unit.")
    lines += ["", "Returns:", f"    {_OUTPUT}; {unit_out}."]
    lines += [
        "",
        "Raises:",
        "    ArgumentTypeError: if an input is no real number, such as text, None or a list.",
    ]
    if op.arity > 1:
        lines.append("    ShapeError: if the shapes of arrays do not broadcast.")
    if any(partial is not None for partial in op.partials):
        lines.append('    NumericalError: inside ``errstate("raise")``, if nan or inf arises.')
    lines += ["", "Derivative:", *(f"    {line}" for line in _derivative_lines(op))]
    if op.example:
        *xs, out = op.example
        shown = ", ".join(_argument(x) for x in xs)
        lines += ["", ">>> import minigrad as mg", f">>> mg.{op.name}({shown})", repr(out)]
    if op.source:
        lines += ["", "Source:", f"    {op.source}"]
    return "\n".join(lines) + "\n"


_INPUT = "A number, an array, a node (Value or Tensor) or a symbol"
_OUTPUT = "A number for numbers, an array for arrays, else a node or a symbol"


def _units(op: Op) -> tuple[str, str]:
    """The units of inputs and output; the sentence of the row says where there is an angle."""
    return (
        "radians" if "angle in radians" in op.sentence else "no unit",
        "radians" if ", in radians" in op.sentence else "no unit",
    )


def _argument(x: Any) -> str:
    return repr(x) if x == x else 'float("nan")'


def call_of_row(op: Op) -> str:
    """How the operation is written: ``x < y``, ``leaky_relu(x, negative_slope=0.01)``."""
    attrs = "".join(f", {name}={value!r}" for name, value in op.attrs.items())
    names = [Symbol(name) for name in op.parameters]
    return f"{op.name}({', '.join(op.parameters)}{attrs})" if attrs else formula(op, names).text


def _derivative_lines(op: Op) -> Iterator[str]:
    out = op.name if op.text.startswith(op.name) else "out"
    compares = False
    for i, name in enumerate(op.parameters):
        local = derivative(op, i)
        if local is None:
            yield f"∂{out}/∂{name}: none, no gradient flows to {name}"
            continue
        compares |= _compares(local)
        yield f"∂{out}/∂{name} = {local}"
    if compares:
        yield _COMPARISONS
    yield from footnotes(op)


_COMPARISONS = "A comparison is 1 where it holds, else 0."


# -- a row on symbols ----------------------------------------------------------------------------


def derivative(op: Op, i: int) -> Symbol | None:
    """The formula of ∂out/∂xᵢ, with attributes by name; None if it is not differentiable."""
    if op.partials[i] is None:
        return None
    if op.attrs:
        text, latex = op.text, op.latex
        op = op.bind(**{name: Symbol(name) for name in op.attrs})
        op.text, op.latex = text, latex
    return derivative_formula(op, i, [Symbol(name) for name in op.parameters])


def _compares(symbol: Symbol) -> bool:
    """Whether there is a comparison in a formula."""
    if symbol.op is None:
        return False
    return symbol.op.name in _COMPARED or any(map(_compares, symbol.inputs))


def footnotes(op: Op) -> Iterator[str]:
    """Edges, kinks and the domain, in words."""
    names = [Symbol(name) for name in op.parameters]
    edges: dict[str, list[str]] = {}  # what the row says -> the inputs for which it says so
    for i, cases in op.edges.items():
        for condition, value in cases:
            shown = edge_value(value, formula(op, names), names)
            what = f"{shown} where {in_words(condition(*names))}"
            edges.setdefault(what, []).append(f"∂/∂{op.parameters[i]}")
    for what, inputs in edges.items():
        yield f"Edge: {' = '.join(inputs)} = {what}."
    if op.kink is not None:
        condition = op.kink(*names)
        slopes = _slopes_at(op, condition)
        yield f"Kink: where {in_words(condition)} the slope is a convention{slopes}."
    if op.domain is not None:
        yield f"Domain: {in_words(op.domain(*names))}; outside it value and derivative are nan."


def _slopes_at(op: Op, condition: Symbol) -> str:
    """``', 0 at 0 and 1 at 6'``: the slopes of a function of one input at its kinks."""
    if op.arity != 1 or condition.op is None:
        return ""
    parts = condition.inputs if condition.op.name == "add" else (condition,)
    slopes = []
    for kink in (part.inputs[1].number for part in parts):
        if kink is None:
            return ""
        slope = Symbol.of(op.local_derivative(0, compute(op, (kink,)), (kink,)))
        slopes.append(f"{slope} at {Symbol.of(kink)}")
    return ", " + " and ".join(slopes)


def in_words(condition: Symbol) -> str:
    """A condition as a reader would say it.

    >>> x, y, equal = Symbol("x"), Symbol("y"), FUNCTIONS["equal"]
    >>> in_words(equal(x, 0.0) * equal(y, 0.0)), in_words(0.0 <= x), in_words(1.0 - equal(x, y))
    ('x = 0 and y = 0', 'x ≥ 0', 'x ≠ y')
    """
    name = condition.op.name if condition.op is not None else ""
    if name in _JOINED:
        left, right = map(in_words, condition.inputs)
        return f"{left} {_JOINED[name]} {right}"
    if name == "sub" and condition.inputs[0].number == 1.0:
        opposite = in_words(condition.inputs[1])
        return opposite.replace(" = ", " ≠ ") if opposite.count(" = ") == 1 else f"not ({opposite})"
    if name not in _COMPARED:
        return condition.text
    first, second = condition.inputs
    sign, turned = _COMPARED[name]
    return f"{second} {turned} {first}" if first.number is not None else f"{first} {sign} {second}"


_JOINED = {"mul": "and", "add": "or"}  # of conditions, which are 1 or 0
_COMPARED = {
    "equal": ("=", "="), "less": ("<", ">"), "less_equal": ("≤", "≥"), "greater": (">", "<"),
}  # fmt: skip

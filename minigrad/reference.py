"""The reference: the docstring of every function of the table, and the page ``docs/operations.md``.

Nothing is said here about one operation: name, formula, derivatives, edges and example come from
its row, and the row is run on symbols to be printed. So the words cannot differ from the code.

``python3 -m minigrad.reference`` writes the page anew.

Read next: ``symbol.py``, which prints the formulas.
"""

from __future__ import annotations

from minigrad.ops import FUNCTIONS, core, nary, scalar
from minigrad.ops.evaluate import compute
from minigrad.ops.row import MANY
from minigrad.symbol import Symbol, derivative_formula, edge_value, formula
from minigrad.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any, TypeVar

    from minigrad.ops.row import Op

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["docstring", "document", "document_all", "operations_page"]


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
    op: Op = function.op  # type: ignore[attr-defined]
    if op.arity is not MANY:
        function.__doc__ = docstring(op)
        if FUNCTIONS.get(op.name) is function and op.public:
            getattr(Value, op.name).__doc__ = function.__doc__
    return function


def docstring(op: Op) -> str:
    """What ``help(mg.sin)`` shows.

    >>> from minigrad.ops import OPS
    >>> print(docstring(OPS["cos"]).partition("Args:")[0].strip())
    cos(x): Cosine of an angle in radians.
    """
    unit_in, unit_out = _units(op)
    lines = [f"{_call(op)}: {op.sentence}" if op.sentence else f"{_call(op)}.", "", "Args:"]
    lines += [f"    {name}: A number, a node or a symbol; {unit_in}." for name in op.parameters]
    for name, value in op.attrs.items():
        lines.append(f"    {name}: A number, {value!r} by default; no unit.")
    lines += ["", "Returns:", f"    A number for numbers, else a node or a symbol; {unit_out}."]
    lines += [
        "",
        "Raises:",
        "    ArgumentTypeError: if an input is no real number, such as text, None or a list.",
    ]
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


def _units(op: Op) -> tuple[str, str]:
    """The units of inputs and output; the sentence of the row says where there is an angle."""
    return (
        "radians" if "angle in radians" in op.sentence else "no unit",
        "radians" if ", in radians" in op.sentence else "no unit",
    )


def _argument(x: Any) -> str:
    return repr(x) if x == x else 'float("nan")'


def _call(op: Op) -> str:
    """How the operation is written: ``x < y``, ``leaky_relu(x, negative_slope=0.01)``."""
    attrs = "".join(f", {name}={value!r}" for name, value in op.attrs.items())
    names = [Symbol(name) for name in op.parameters]
    return f"{op.name}({', '.join(op.parameters)}{attrs})" if attrs else formula(op, names).text


def _derivative_lines(op: Op) -> Iterator[str]:
    out = op.name if op.text.startswith(op.name) else "out"
    compares = False
    for i, name in enumerate(op.parameters):
        local = _derivative(op, i)
        if local is None:
            yield f"∂{out}/∂{name}: none, no gradient flows to {name}"
            continue
        compares |= _compares(local)
        yield f"∂{out}/∂{name} = {local}"
    if compares:
        yield _COMPARISONS
    yield from _footnotes(op)


_COMPARISONS = "A comparison is 1 where it holds, else 0."


# -- a row on symbols ----------------------------------------------------------------------------


def _derivative(op: Op, i: int) -> Symbol | None:
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


def _footnotes(op: Op) -> Iterator[str]:
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


# -- the page ------------------------------------------------------------------------------------

_HEAD = """\
# Operations

The whole table, in the order of the files that hold it. This page is written from the rows by
`python3 -m minigrad.reference`; do not edit it. How a row works in the code:
[reading-order.md](reading-order.md). All edges and kinks on one page, with examples:
[kinks-and-edges.md](kinks-and-edges.md).

- A row with a name `mg.…` is a function of numbers, nodes and symbols, and also a method of
  `Value`, unless it takes lists. The other rows are written as operators.
- ∂/∂x is the local derivative with respect to the input x. "None" means that the operation is not
  differentiable in that input: it sends no gradient, and `.grad` stays as it is.
- A comparison inside a formula is 1 where it holds, else 0; LaTeX writes it in square brackets.
- An edge is a point where the formula has no value or the wrong one, so that the row states the
  value apart from it. A kink is a point without a derivative, where the formula gives the slope
  that is used by convention.
- Domain is named where the row states one. Other functions give nan outside their domain by
  themselves, such as `mg.sqrt(-1.0)`.
"""

_TITLES = {core: "The rows of the lecture", nary: "Sums of any number of terms"}


def operations_page() -> str:
    """The text of ``docs/operations.md``."""
    parts = [_HEAD]
    for module in (core, scalar, nary):
        file = module.__name__.rpartition(".")[2]
        for heading, functions in _groups(module):
            title = heading[:1].upper() + heading[1:] or _TITLES[module]
            parts.append(f"## {title} (`minigrad/ops/{file}.py`)\n")
            parts += map(_entry, functions)
    return "\n".join(parts)


def _groups(module: ModuleType) -> Iterator[tuple[str, list[Callable[..., Any]]]]:
    """The functions of a file under the headings of its comments, ``# ---- arithmetic ----``."""
    heading = ""
    group: list[Callable[..., Any]] = []
    with open(str(module.__file__), encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# ---- "):
                if group:
                    yield heading, group
                heading, group = line.strip("#- \n"), []
            name, _, rest = line.partition(" ")
            if name in FUNCTIONS and rest.startswith("= "):
                group.append(FUNCTIONS[name])
            elif line.startswith("def ") and line[4:].partition("(")[0] in FUNCTIONS:
                group.append(FUNCTIONS[line[4:].partition("(")[0]])
    yield heading, group


def _entry(function: Callable[..., Any]) -> str:
    op: Op = function.op  # type: ignore[attr-defined]
    if op.arity is MANY:
        return _list_entry(op)
    names = [Symbol(name) for name in op.parameters]
    written = formula(op, names)
    lines = [_title(op), "", op.sentence, "", f"- value: `{_call(op)}`, ${written.latex}$"]
    for i, name in enumerate(op.parameters):
        local = _derivative(op, i)
        shown = f"`{local}`, ${local.latex}$" if local is not None else "none"
        lines.append(f"- ∂/∂{name}: {shown}")
    for footnote in _footnotes(op):
        lines.append(f"- {footnote[0].lower()}{footnote[1:]}")
    if op.source:
        lines.append(f"- source: {op.source}")
    return "\n".join(lines) + "\n"


def _title(op: Op) -> str:
    return f"### `{'mg.' * op.public}{op.name}`"


def _list_entry(op: Op) -> str:
    """A row of any number of inputs, shown with lists of two."""
    names = [Symbol(f"{letter}{i}") for letter in _letters(op) for i in (1, 2)]
    written = formula(op, names)
    lines = [_title(op), "", op.sentence, "", f"- value of two: `{written}`, ${written.latex}$"]
    for i, name in enumerate(names):
        local = derivative_formula(op, i, names)
        lines.append(f"- ∂/∂{name}: `{local}`, ${local.latex}$")
    return "\n".join(lines) + "\n"


def _letters(op: Op) -> str:
    """A letter for each list that the function takes: the example has the lists and the result."""
    return "wxyz"[: len(op.example) - 1] if len(op.example) > 2 else "x"


def main() -> None:
    """Write ``docs/operations.md``, in the folder above the package."""
    folder = __file__.replace("\\", "/").rpartition("/minigrad/")[0]
    with open(f"{folder}/docs/operations.md", "w", encoding="utf-8", newline="\n") as page:
        page.write(operations_page())


if __name__ == "__main__":
    main()

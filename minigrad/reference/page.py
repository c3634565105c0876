"""The page ``docs/operations.md``: every row of the table, and every function made of several rows.

Read next: ``latex.py``, the lines of the rows of arrays as LaTeX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad.ops import FUNCTIONS, convolution, core, entropy, losses, nary, scalar, softmaxes
from minigrad.ops.array_rows import ARRAY_ROWS
from minigrad.ops.kinds import General
from minigrad.ops.manual import Manual, call_of, derivatives, hints
from minigrad.ops.row import MANY, Op, row_of
from minigrad.reference import call_of_row, derivative, footnotes
from minigrad.reference.latex import computes, latex
from minigrad.symbol import Symbol, derivative_formula, formula

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

__all__ = ["main", "operations_page"]

_HEAD = """\
# Operations

The whole table, in the order of the files that hold it: first the rows of single numbers, which
arrays use element by element, then those [of arrays](#rows-of-arrays). This page is written from
the rows by `python3 -m minigrad.reference`; do not edit it. How a row works in the code:
[reading-order.md](reading-order.md). All edges and kinks on one page, with examples:
[kinks-and-edges.md](kinks-and-edges.md).

- A row with a name `mg.…` is a function of numbers, nodes and symbols, and also a method of
  `Value`, unless it takes lists. The other rows are written as operators: `+ - * / // % **`, and
  `<=`, which makes a row of symbols alone. Between `Value`s `<`, `<=`, `>`, `>=` give a plain
  `bool`, between `Tensor`s an array of them; `mg.less`, `mg.greater` and `mg.equal` give nodes.
- ∂/∂x is the local derivative with respect to the input x. "None" means that the operation is not
  differentiable in that input: it sends no gradient, and `.grad` stays as it is.
- A comparison inside a formula is 1 where it holds, else 0; LaTeX writes it in square brackets.
- An edge is a point where the formula has no value or the wrong one, so that the row states the
  value apart from it. A kink is a point without a derivative, where the formula gives the slope
  that is used by convention.
- Domain is named where the row states one. Other functions give nan outside their domain by
  themselves, such as `mg.sqrt(-1.0)`.
"""


_ARRAYS_HEAD = """\
## Rows of arrays

These rows are no functions of single numbers: sums, shapes, products, choices of elements. They
have no local derivative per element, but a rule that carries a gradient back at once.

- ∂L/∂x is the gradient that the input x gets; g is the upstream gradient ∂L/∂out, where L is the
  output that `backward()` starts from. Every such line is evaluated by the tests, and compared with
  the rule of the row.
- The lines are Python: the functions are those of `minigrad` or rows of this page, `np` is NumPy.
- A row with a name `mg.…` is a function of arrays, numbers and nodes, and also a method of
  `Tensor`, unless it takes lists. A row with a name `x.…` is a method of `Tensor` alone.
- The other rows are no names of `mg`; something else makes them. `reduce_sum` is
  `mg.sum(x, axis=…)`; `linear` is what a layer computes (`mg.nn.Linear`); `element` is a number
  that `mg.to_values` or `mg.expand` takes out of an array; `sum_of_squares` is there for a weight
  decay, in `minigrad.ops.reduce`. `put`, `put_diagonal`, `fold` and `unfold` are the ways back of
  other rows, and appear in a graph where gradients are nodes (`create_graph=True`).
- LaTeX stands beside a line that computes, and not only moves elements. A sum or mean has its axis
  below it, and `keepdims` is left out.
"""

_TITLES = {  # of what stands above the first heading of a file
    core: "The rows of the lecture",
    nary: "Sums of any number of terms",
    convolution: "Windows of images",
    losses: "Losses",
    entropy: "Cross entropy",
    softmaxes: "Softmax and its relatives",
}


def operations_page() -> str:
    """The text of ``docs/operations.md``."""
    parts = [_HEAD]
    for module in (core, scalar, nary):
        for heading, functions in _groups(module, FUNCTIONS):
            parts.append(_heading(2, heading or _TITLES[module], module))
            parts += map(_entry, functions)
    parts.append(_ARRAYS_HEAD)
    for module in ARRAY_ROWS:
        for heading, found in _groups(module, _array_rows(module)):
            parts.append(_heading(3, heading.partition(":")[0] or _TITLES[module], module))
            parts += map(_array_entry, found)
    return "\n".join(parts)


def _heading(level: int, text: str, module: ModuleType) -> str:
    file = module.__name__.rpartition(".")[2]
    return f"{'#' * level} {text[:1].upper()}{text[1:]} (`minigrad/ops/{file}.py`)\n"


def _groups(module: ModuleType, named: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """What a file defines under the headings of its comments, ``# ---- arithmetic ----``.

    Args:
        module: The file.
        named: What is looked for, by name.
    """
    heading = ""
    group: list[Any] = []
    with open(str(module.__file__), encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# --"):
                if group:
                    yield heading, group
                heading, group = line.strip("#- \n"), []
            name, _, rest = line.removeprefix("def ").partition("(" if line[:4] == "def " else " ")
            if name in named and (line.startswith("def ") or rest.startswith("= ")):
                group.append(named[name])
    if group:
        yield heading, group


# -- rows of numbers -----------------------------------------------------------------------------


def _entry(function: Callable[..., Any]) -> str:
    op = row_of(function)
    if op.arity is MANY:
        return _list_entry(op)
    names = [Symbol(name) for name in op.parameters]
    written = formula(op, names)
    lines = [_title(op), "", op.sentence, "", f"- value: `{call_of_row(op)}`, ${written.latex}$"]
    for i, name in enumerate(op.parameters):
        local = derivative(op, i)
        shown = f"`{local}`, ${local.latex}$" if local is not None else "none"
        lines.append(f"- ∂/∂{name}: {shown}")
    for footnote in footnotes(op):
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


# -- rows of arrays ------------------------------------------------------------------------------


def _array_rows(module: ModuleType) -> dict[str, Any]:
    """The functions of a file that have a manual, and the rows that have no function."""
    found = {
        name: thing
        for name, thing in vars(module).items()
        if getattr(thing, "manual", None) is not None and name[:1] != "_"
    }
    known = [getattr(thing, "op", None) for thing in found.values()]
    for name, thing in vars(module).items():
        if isinstance(thing, General) and thing not in known:
            found[name] = thing
    return found


def _array_entry(thing: Any) -> str:
    op: Op | None = thing if isinstance(thing, General) else getattr(thing, "op", None)
    manual: Manual = thing.manual
    sentence = op.sentence if op is not None else manual.sentence
    lines = [_array_title(thing, op), "", sentence.replace("``", "`"), ""]
    if not isinstance(thing, General):
        lines.append(f"- call: `{call_of(thing)}`")
    if manual.formula:
        lines.append(f"- value: {_shown(manual.formula)}")
    for name, text in derivatives(op, manual).items():
        lines.append(f"- ∂L/∂{name}: {'none' if text is None else _shown(text)}")
    if manual.returns:
        lines.append(f"- result: {_lowered(manual.returns)}.")
    lines += [f"- {_lowered(hint)}" for hint in hints(op, manual)]
    source = manual.source or (op.source if op is not None else "")
    if source:
        lines.append(f"- source: {source}")
    return "\n".join(lines) + "\n"


def _array_title(thing: Any, op: Op | None) -> str:
    name = op.name if op is not None else thing.__name__
    if thing.manual.method:
        return f"#### `x.{name}`"
    return f"#### `{'mg.' * (op is None or op.public)}{name}`"


def _shown(text: str) -> str:
    return f"`{text}`, ${latex(text)}$" if computes(text) else f"`{text}`"


def _lowered(text: str) -> str:
    return f"{text[0].lower()}{text[1:]}"


def main() -> None:
    """Write ``docs/operations.md``, in the folder above the package."""
    folder = __file__.replace("\\", "/").rpartition("/minigrad/")[0]
    text = operations_page()
    with open(f"{folder}/docs/operations.md", "w", encoding="utf-8", newline="\n") as page:
        page.write(text)

"""What an operation on arrays does to the gradient on its way back, in words and in LaTeX.

For a scalar row that is a product with its local derivative, whose formula is the row's own. A row
of arrays has a rule instead, such as ``upstream @ w.T``, and here is how it is said.

Read next: ``arrays.py``.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from minigrad.events.story import edge_words, local_formula, row_of, symbols_of
from minigrad.formatting import clip_text
from minigrad.ops.row import MANY
from minigrad.symbol import Symbol, bracketed

if TYPE_CHECKING:
    from minigrad.events import Trace, TraceNode

__all__ = ["UPSTREAM", "array_note", "barred", "rule_of"]

UPSTREAM = "upstream"
_WIDEST = 60

# Per input; a single text is for all. {g} is the upstream gradient, {0} {1} the inputs, {out} the
# output, {shape} the shape of the input, {n} how many elements make one of the output, {mean} is
# "/ n" for a loss that is a mean. Of the axis that a row works along, {along} is the argument,
# {summed} those of a sum that keeps it, {there} the words; {g} and {out} get it back in a formula.
_WORDS: dict[str, str | list[str]] = {
    "reduce_sum": "{g} repeated to shape {shape}",
    "mean": "{g} / {n}, repeated to shape {shape}",
    "prod": "{g} * the product of the other elements{there}",
    "sum_of_squares": "{g} * 2 * {0}",
    "cumsum": "{g} added up from the end{there}",
    "cumprod": "{g} * the products without this element, added up from the end{there}",
    "max": "{g} at the largest elements{there} (ties share it equally), 0 elsewhere",
    "min": "{g} at the smallest elements{there} (ties share it equally), 0 elsewhere",
    "var": "{g} * 2 * ({0} - mean({0}{summed})) / {degrees}",
    "std": "{g} * ({0} - mean({0}{summed})) / ({degrees} * {out})",
    "norm": "{g} * {0} / {out}",
    "logsumexp": "{g} * softmax({0}{along})",
    "softmax": "{out} * ({g} - sum({g} * {out}{summed}))",
    "log_softmax": "{g} - softmax({0}{along}) * sum({g}{summed})",
    "conv2d": [
        "{g} * {1} into each window; windows that overlap add up",
        "the windows of {0}, weighted with {g} and added up",
    ],
    "max_pool2d": "{g} at the largest element of each window (ties share it equally)",
    "avg_pool2d": "{g} / {n} at each element of the window",
    "unfold": "the windows of {g}, added up where they overlap",
    "fold": "the windows of {g}",
    "getitem": "{g} put back where the elements came from, 0 elsewhere",
    "put": "the elements of {g} at the index",
    "element": "{g} at {index}, 0 elsewhere",
    "stack_values": "the element of {g} at its place",
    "at_set": ["{g}, but 0 where {1} was put", "{g} at the places where it was put"],
    "sort": "{g} put back into the order of {0}",
    "concatenate": "its part of {g}",
    "stack": "its part of {g}",
    "reshape": "{g} in the shape {shape}",
    "squeeze": "{g} in the shape {shape}",
    "expand_dims": "{g} in the shape {shape}",
    "transpose": "{g} with its axes back in place",
    "swapaxes": "{g} with its axes back in place",
    "moveaxis": "{g} with its axes back in place",
    "broadcast_to": "{g} added up over the copies, to shape {shape}",
    "astype": "{g} in the type of {0}",
    "flip": "{g} turned back",
    "roll": "{g} shifted back",
    "tril": "the lower triangle of {g}",
    "triu": "the upper triangle of {g}",
    "diagonal": "{g} on the diagonal, 0 elsewhere",
    "put_diagonal": "the diagonal of {g}",
    "pad": "{g} without the margin",
    "mse_loss": ["{g} * 2 * ({0} - {1}){mean}", "{g} * 2 * ({1} - {0}){mean}"],
    "bce_with_logits": ["{g} * (sigmoid({0}) - {1}){mean}", "-{g} * {0}{mean}"],
    "hinge_loss": [
        "-{g} * {1}{mean} where {0} * {1} < 1, else 0",
        "-{g} * {0}{mean} where {0} * {1} < 1, else 0",
    ],
    "cross_entropy": [
        "{g} * (softmax({0}{along}) - {hot}){mean}", "-{g} * log_softmax({0}{along}){mean}",
    ],
}  # fmt: skip
# Reductions whose words are a formula: there the gradient gets its axes back before it broadcasts.
_COMPUTES = ("cross_entropy", "logsumexp", "norm", "std", "var")
_LATEX: dict[str, str | list[str]] = {
    "reduce_sum": r"{g} \cdot \mathbf{{1}}",
    "mean": r"\frac{{{g}}}{{{n}}} \cdot \mathbf{{1}}",
    "sum_of_squares": r"2 \, {g} \cdot {0}",
    "var": r"\frac{{2}}{{{degrees}}} \, {g} \odot \left({0} - {average} {0}\right)",
    "std": r"{g} \odot \frac{{{0} - {average} {0}}}{{{degrees} \, {out}}}",
    "norm": r"{g} \cdot \frac{{{0}}}{{{out}}}",
    "logsumexp": r"{g} \cdot \operatorname{{softmax}}{below}({0})",
    "softmax": r"{out} \odot \left({g} - \sum{below} {g} \odot {out}\right)",
    "log_softmax": r"{g} - \operatorname{{softmax}}{below}({0}) \sum{below} {g}",
    "mse_loss": [
        r"{twice} {g} \odot \left({0} - {1}\right)",
        r"{twice} {g} \odot \left({1} - {0}\right)",
    ],
    "bce_with_logits": [
        r"{over} {g} \odot \left(\sigma\left({0}\right) - {1}\right)", r"- {over} {g} \odot {0}",
    ],
    "hinge_loss": [
        r"- {over} {g} \odot {1} \odot \left[{0} \odot {1} < 1\right]",
        r"- {over} {g} \odot {0} \odot \left[{0} \odot {1} < 1\right]",
    ],
    "cross_entropy": [
        r"{over} {g} \odot \left(\operatorname{{softmax}}{below}({0}) - {hot}\right)",
        r"- {over} {g} \odot \operatorname{{logsoftmax}}{below}({0})",
    ],
}  # fmt: skip


def rule_of(trace: Trace, node: TraceNode, slot: int, g: Symbol) -> tuple[str, str]:
    """What goes to an input, from the gradient ``g`` of the node: a text, and LaTeX."""
    source = trace.nodes[node.inputs[slot]]
    row: Any = row_of(node)
    if row is None or not (row.partials or row.arity is MANY) or hasattr(row, "vjp"):
        return _in_words(trace, node, slot, g)
    symbols = symbols_of(trace, node)
    if row.selects:
        condition, holds = bracketed(symbols[0].text), "holds" if slot == 1 else "does not hold"
        text = f"{g.text} where {condition} {holds}, nothing elsewhere"
        latex = rf"{g.latex} \text{{ where }} {symbols[0].latex} \text{{ {holds}}}"
        return text + _summed(node, source), latex
    local = local_formula(node, slot, symbols)
    product = -g if local.number == -1.0 else g * local
    text = clip_text(product.text, _WIDEST)
    return text + _summed(node, source), product.latex.replace(r"\cdot", r"\odot", 1)


def _summed(node: TraceNode, source: TraceNode) -> str:
    """What broadcasting adds: an input that was repeated gets the sum."""
    if source.shape == node.shape:
        return ""
    return f", added up to shape {source.shape}" if source.shape else ", added up to a number"


def _in_words(trace: Trace, node: TraceNode, slot: int, g: Symbol) -> tuple[str, str]:
    inputs = [trace.nodes[i] for i in node.inputs]
    source = inputs[slot]
    if node.op in ("matmul", "linear") and slot < 2:
        text, latex = _of_product(g, _named(inputs[0]), _named(inputs[1]), slot)
        repeated = len(node.shape) > 2 and source.shape[:-2] != node.shape[:-2]
        return text + (f", added up to shape {source.shape}" if repeated else ""), latex
    if node.op == "linear":
        return f"{g.text}{_summed(node, source)}", g.latex
    if node.op == "einsum":
        return _of_einsum(node, [Symbol(bracketed(x.name)) for x in inputs], slot, g)
    words = _WORDS.get(node.op or "")
    if words is None:
        row = row_of(node)
        said = f": {row.sentence}" if row is not None and row.sentence else ""
        return f"{g.text} through {node.op}{said}", rf"{_upright(str(node.op))}^\top {g.latex}"
    names = [clip_text(bracketed(x.name), 20) for x in inputs]
    out = bracketed(node.name)
    known = _known(node, source, inputs)
    with_axis = _axis_back(node, inputs)
    computes = node.op in _COMPUTES and with_axis
    both = [with_axis.format(x) if computes else x for x in (g.text, out)]
    hot = names[1] if _is_weighted(inputs) else "1 at the target"
    text = _for(words, slot).format(*names, g=both[0], out=both[1], hot=hot, **known)
    template = _LATEX.get(node.op or "")
    if template is None:
        return text, _upright(text, g)
    marks = [Symbol(bracketed(x.name)).latex for x in inputs]
    hot = marks[1] if _is_weighted(inputs) else r"\mathbf{1}_{\text{target}}"
    filled = _for(template, slot).format(*marks, g=g.latex, out=Symbol(out).latex, hot=hot, **known)
    return text, " ".join(filled.split())


def _for(words: str | list[str], slot: int) -> str:
    return words if isinstance(words, str) else words[slot]


def _is_weighted(inputs: list[TraceNode]) -> bool:
    """Whether the targets of a choice among classes are probabilities, not indices."""
    return len(inputs) > 1 and inputs[1].shape == inputs[0].shape


def _known(node: TraceNode, source: TraceNode, inputs: list[TraceNode]) -> dict[str, Any]:
    """What the words may mention: shapes, counts and axes."""
    count = prod(source.shape) // max(1, prod(node.shape))
    if "kernel_size" in node.attrs:
        count = prod(node.attrs["kernel_size"])
    losses = count if node.op != "cross_entropy" else count // max(1, source.shape[-1])
    if node.op == "cross_entropy" and len(inputs[0].shape) > 1:
        losses = prod(inputs[0].shape) // inputs[0].shape[1]
    averaged = node.attrs.get("reduction") == "mean" and losses > 1
    return {
        "shape": source.shape,
        "n": count,
        "degrees": count - node.attrs.get("ddof", 0),
        "mean": f" / {losses}" if averaged else "",
        "over": rf"\frac{{1}}{{{losses}}} \," if averaged else "",
        "twice": rf"\frac{{2}}{{{losses}}} \," if averaged else r"2 \,",
        "index": list(node.attrs.get("index", ())) if node.op == "element" else "",
        **_axis_words(node, inputs),
    }


# -- the axis that a row works along -------------------------------------------------------------


def _axes(node: TraceNode, inputs: list[TraceNode]) -> tuple[int, ...] | None:
    """The axes that a row works along, counted from 0; None for all there are."""
    ndim = len(inputs[0].shape)
    axis = 1 if node.op == "cross_entropy" else node.attrs.get("axis")
    if axis is None or ndim < 2:
        return None
    found = tuple(sorted(n % ndim for n in (axis if isinstance(axis, tuple) else (axis,))))
    return None if len(found) == ndim else found


def _axis_words(node: TraceNode, inputs: list[TraceNode]) -> dict[str, str]:
    """The axis as arguments of a function, in words, and below a sign in LaTeX."""
    axes = _axes(node, inputs)
    if axes is None:
        along = ", axis=None" if len(inputs[0].shape) > 1 else ""
        empty = {"summed": "", "there": "", "below": "", "average": r"\operatorname{mean}"}
        return {"along": along, **empty}
    listed, word = ", ".join(map(str, axes)), "axis" if len(axes) == 1 else "axes"
    below = rf"_{{\text{{{word} }}{listed}}}"
    return {
        "along": f", axis={_argument(axes)}",
        "summed": f", axis={_argument(axes)}, keepdims=True",
        "there": f" along {word} {listed}",
        "below": below,
        "average": rf"\operatorname{{mean}}{below}",
    }


def _argument(axes: tuple[int, ...]) -> str:
    return str(axes[0] if len(axes) == 1 else axes)


def _axis_back(node: TraceNode, inputs: list[TraceNode]) -> str:
    """How the gradient gets the axes back that the row took away, as a template; "" for none."""
    axes = _axes(node, inputs)
    if axes is None or len(node.shape) != len(inputs[0].shape) - len(axes):
        return ""
    return f"expand_dims({{}}, {_argument(axes)})"


def _named(x: TraceNode) -> tuple[str, str, int]:
    name = bracketed(x.name)
    return name, Symbol(name).latex, len(x.shape)


def _of_product(g: Symbol, left: Any, right: Any, slot: int) -> tuple[str, str]:
    """The rules of a matrix product, for matrices and vectors."""
    (x, x_latex, m), (y, y_latex, n) = left, right
    if m == n == 1:
        other, latex = ((y, y_latex), (x, x_latex))[slot]
        return f"{g.text} * {other}", rf"{g.latex} \, {latex}"
    turned = ".T" if m <= 2 and n <= 2 else ".swapaxes(-1, -2)"
    if slot == 0:
        if n == 1:
            return f"outer({g.text}, {y})", rf"{g.latex} \, {y_latex}^\top"
        return f"{g.text} @ {y}{turned}", rf"{g.latex} \, {y_latex}^\top"
    if m == 1:
        return f"outer({x}, {g.text})", rf"{x_latex} \, {g.latex}^\top"
    return f"{x}{turned} @ {g.text}", rf"{x_latex}^\top {g.latex}"


def _of_einsum(node: TraceNode, names: list[Symbol], slot: int, g: Symbol) -> tuple[str, str]:
    left, _, result = str(node.attrs["subscripts"]).partition("->")
    words = left.split(",")
    others = [i for i in range(len(names)) if i != slot]
    letters = ",".join([result, *(words[i] for i in others)])
    own = dict.fromkeys(words[slot])
    known = "".join(c for c in own if c in letters)
    text = f'einsum("{letters}->{known}", {", ".join([g.text, *(names[i].text for i in others)])})'
    if len(known) < len(own):  # it was summed alone
        text += f", repeated along {', '.join(c for c in own if c not in known)}"
    diagonal = ", put on the diagonal" if len(own) < len(words[slot]) else ""
    factors = [(g, result), *((names[i], words[i]) for i in others)]
    product = r" \, ".join(_with_index(symbol, index) for symbol, index in factors)
    summed = "".join(c for c in dict.fromkeys(letters) if c.isalpha() and c not in own)
    latex = (rf"\sum_{{{summed}}} " if summed else "") + product
    return text + diagonal, latex + (_upright(diagonal) if diagonal else "")


def _with_index(symbol: Symbol, index: str) -> str:
    letters = index.replace("...", r"\ldots ")
    return rf"{{{symbol.latex}}}_{{{letters}}}" if letters else symbol.latex


def _upright(text: str, g: Symbol | None = None) -> str:
    """Words in LaTeX, with the symbol of the gradient and what it is multiplied with among them."""
    escaped = "".join(rf"\{c}" if c in "{}$#%&_" else c for c in text if c not in "\\^~")
    if g is None:
        return rf"\text{{{escaped}}}"
    parts = [_factors(part) if part else "" for part in escaped.split(g.text)]
    return f" {g.latex} ".join(parts).strip()


def _factors(text: str) -> str:
    """Words between signs of a product: ``" * the others"`` is a dot and words."""
    head, sign, tail = text.partition(" * ")
    if not sign:
        head, sign, tail = text.partition(" / ")
    words = [rf"\text{{{part}}}" if part else "" for part in (head, tail)]
    return {" * ": r" \cdot ", " / ": " / ", "": ""}[sign].join(words) if sign else words[0]


def barred(name: str) -> str:
    """The gradient of a node in LaTeX: its name with a bar over all of it."""
    latex = Symbol(bracketed(name)).latex
    return rf"\bar{{{latex}}}" if len(name) == 1 else rf"\overline{{{latex}}}"


def array_note(trace: Trace, node: TraceNode, slot: int) -> str:
    """At how many elements a local derivative is not that of the formula: an edge, a kink."""
    row: Any = row_of(node)
    if row is None or row.arity is MANY or hasattr(row, "vjp"):
        return ""
    import numpy as np

    size = prod(node.shape)

    def count(condition: Any) -> int:
        return int(np.count_nonzero(np.broadcast_to(condition(*node.numbers), node.shape)))

    if row.domain is not None and count(row.domain) < size:
        return f"nan at {size - count(row.domain)} of {size} elements, outside the domain"
    for condition, value in row.edges.get(slot, ()):
        if count(condition):
            words = " where ".join(edge_words(condition, value, symbols_of(trace, node)))
            return f"{words}, at {count(condition)} of {size} elements"
    if row.kink is not None and count(row.kink):
        return (
            f"{row.name} has a kink at {count(row.kink)} of {size} elements; its slope there is a "
            f"convention"
        )
    return ""

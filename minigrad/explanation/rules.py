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

__all__ = ["UPSTREAM", "array_note", "rule_of"]

UPSTREAM = "upstream"
_WIDEST = 60

# Per input; a single text is for all. {g} is the upstream gradient, {0} {1} the inputs, {out} the
# output, {shape} the shape of the input, {n} how many elements make one of the output, {mean} is
# "/ n" for a loss that is a mean.
_WORDS: dict[str, str | list[str]] = {
    "reduce_sum": "{g} repeated to shape {shape}",
    "mean": "{g} / {n}, repeated to shape {shape}",
    "prod": "{g} * the product of the other elements",
    "sum_of_squares": "{g} * 2 * {0}",
    "cumsum": "{g} added up from the end",
    "cumprod": "{g} * the products without this element, added up from the end",
    "max": "{g} at the largest elements (ties share it equally), 0 elsewhere",
    "min": "{g} at the smallest elements (ties share it equally), 0 elsewhere",
    "var": "{g} * 2 * ({0} - its mean) / {degrees}",
    "std": "{g} * ({0} - its mean) / ({degrees} * {out})",
    "norm": "{g} * {0} / {out}",
    "logsumexp": "{g} * softmax({0})",
    "softmax": "{out} * ({g} - sum({g} * {out}))",
    "log_softmax": "{g} - softmax({0}) * sum({g})",
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
        "{g} * (softmax({0}) - 1 at the target){mean}", "-{g} * log_softmax({0}){mean}",
    ],
}  # fmt: skip
_LATEX = {
    "reduce_sum": r"{g} \cdot \mathbf{{1}}",
    "mean": r"\frac{{{g}}}{{{n}}} \cdot \mathbf{{1}}",
    "sum_of_squares": r"2 \, {g} \cdot {0}",
    "norm": r"{g} \cdot \frac{{{0}}}{{{out}}}",
    "logsumexp": r"{g} \cdot \operatorname{{softmax}}({0})",
    "softmax": r"{out} \odot \left({g} - \sum {g} \odot {out}\right)",
    "log_softmax": r"{g} - \operatorname{{softmax}}({0}) \sum {g}",
}


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
        latex = _upright(f" where {condition} {holds}")
        return text + _summed(node, source), f"{g.latex} {latex}"
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
        return _of_einsum(node, [bracketed(x.name) for x in inputs], slot, g)
    words = _WORDS.get(node.op or "")
    if words is None:
        row = row_of(node)
        said = f": {row.sentence}" if row is not None and row.sentence else ""
        return f"{g.text} through {node.op}{said}", rf"{_upright(str(node.op))}^\top {g.latex}"
    pattern = words if isinstance(words, str) else words[slot]
    known = _known(node, source, inputs)
    names = [clip_text(bracketed(x.name), 20) for x in inputs]
    text = pattern.format(*names, g=g.text, out=bracketed(node.name), **known)
    formula = _LATEX.get(node.op or "")
    if formula is None:
        return text, _upright(text, g)
    marks = [Symbol(bracketed(x.name)).latex for x in inputs]
    return text, formula.format(*marks, g=g.latex, out=Symbol(bracketed(node.name)).latex, **known)


def _known(node: TraceNode, source: TraceNode, inputs: list[TraceNode]) -> dict[str, Any]:
    """What the words may mention: shapes and counts."""
    count = prod(source.shape) // max(1, prod(node.shape))
    if "kernel_size" in node.attrs:
        count = prod(node.attrs["kernel_size"])
    losses = count if node.op != "cross_entropy" else count // max(1, source.shape[-1])
    if node.op == "cross_entropy" and len(inputs[0].shape) > 1:
        losses = prod(inputs[0].shape) // inputs[0].shape[1]
    return {
        "shape": source.shape,
        "n": count,
        "degrees": count - node.attrs.get("ddof", 0),
        "mean": f" / {max(1, losses)}" if node.attrs.get("reduction") == "mean" else "",
        "index": list(node.attrs.get("index", ())) if node.op == "element" else "",
    }


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


def _of_einsum(node: TraceNode, names: list[str], slot: int, g: Symbol) -> tuple[str, str]:
    left, _, result = str(node.attrs["subscripts"]).partition("->")
    words = left.split(",")
    others = [i for i in range(len(names)) if i != slot]
    letters = ",".join([result, *(words[i] for i in others)])
    own = dict.fromkeys(words[slot])
    known = "".join(c for c in own if c in letters)
    text = f'einsum("{letters}->{known}", {", ".join([g.text, *(names[i] for i in others)])})'
    if len(known) < len(own):  # it was summed alone
        text += f", repeated along {', '.join(c for c in own if c not in known)}"
    if len(own) < len(words[slot]):
        text += ", put on the diagonal"
    return text, _upright(text, g)


def _upright(text: str, g: Symbol | None = None) -> str:
    """Words in LaTeX, with the symbol of the gradient among them."""
    escaped = "".join(rf"\{c}" if c in "{}$#%&_" else c for c in text if c not in "\\^~")
    parts = escaped.split(g.text) if g is not None else [escaped]
    words = [rf"\text{{{part}}}" if part else "" for part in parts]
    return f" {g.latex} ".join(words).strip() if g is not None else words[0]


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

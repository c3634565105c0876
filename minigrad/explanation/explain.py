"""``explain(L, a)``: why the gradient of ``L`` with respect to ``a`` is what it is.

It reads a trace of its own pass, so it explains what the engine computed: the paths, the product of
the local derivatives along each, and their sum. Where no gradient arrives, it says why.

Read next: ``paths.py``; ``arrays.py``, the same for arrays.
"""

from __future__ import annotations

from functools import partial, reduce
from math import prod
from operator import add, mul
from typing import TYPE_CHECKING, Any, NamedTuple

from minigrad.errors import ArgumentTypeError, GradientError
from minigrad.events.story import edge_note, local_formula, symbols_of
from minigrad.events.trace import trace_with_ids
from minigrad.explanation.aliases import mentioned, with_short_names
from minigrad.explanation.arrays import ArrayExplanation, explain_arrays
from minigrad.explanation.paths import Path, count_paths, count_zeros, largest_paths
from minigrad.explanation.reasons import why_absent, why_blocked, why_zero
from minigrad.formatting import clip_text, in_sum, short
from minigrad.graph import Node, topological_order
from minigrad.symbol import Symbol, bracketed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from minigrad.events import Trace

__all__ = ["Explanation", "explain"]

_MOST = 6  # paths that are written out
_WRITTEN = 200  # edges of all paths together, beyond which no formula is written
_WIDEST = 160  # characters of LaTeX that fit beside the result
_STEP = "δ"  # a letter that few programs use, and h is the name of many a hidden layer
_LONGEST = 8  # nodes of a path that are written out


class Explanation(NamedTuple):
    """The chain rule for one input.

    Attributes:
        output: The name of what is differentiated.
        input: The name of what it is differentiated by.
        gradient: ∂output/∂input of this pass; None if no gradient arrives.
        paths: How many paths lead from the output to the input.
        shown: The largest of them; those that contribute 0 only if there is room for all.
        symbols: ``∂output/∂input`` as products of ∂node/∂input along the paths, per path.
        formula: The shown paths in the names of the nodes, as Python would write it.
        latex: The same in LaTeX, with the result.
        reasons: Why there is no gradient, or why it is 0.
        notes: Footnotes: edges and kinks that applied.
        words: One sentence per path.
        texts: What the short names stand for, of nodes that are called by a long text.
        zeros: How many paths contribute 0 and are left out.
    """

    output: str
    input: str
    gradient: float | None
    paths: int
    shown: tuple[Path, ...]
    symbols: tuple[str, ...]
    formula: str
    latex: str
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    words: tuple[str, ...]
    texts: tuple[str, ...] = ()
    zeros: int = 0

    @property
    def text(self) -> str:
        """The explanation as plain text."""
        head = f"∂{bracketed(self.output)}/∂{bracketed(self.input)}"
        lines = [self._head()]
        lines += [f"  {reason}" for reason in self.reasons]
        if self.shown:
            lines += ["", self._count_words()]
            for sentence, symbols, path in zip(self.words, self.symbols, self.shown, strict=True):
                lines += [f"  {sentence}", f"    {symbols} = {_numbers(path)}"]
            lines += ["", *self.texts] if self.texts else []
            lines += [
                "",
                f"in symbols  {head} = {clip_text(self.formula, 400) or '… (too long to write)'}",
                f"in numbers  {head} = {self._sum()}",
            ]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _count_words(self) -> str:
        head = f"{self.output} depends on {self.input} along"
        if self.paths == 1:
            return f"{head} one path; the local derivatives multiply"
        head = f"{head} {self.paths} paths; the gradient is the sum over them"
        shown = len(self.shown)
        if self.paths == shown:
            return head
        rest = self.paths - shown - self.zeros
        which = (
            f"the largest {shown} are"
            if rest
            else "the others are"
            if shown > 1
            else "the other one is"
        )
        if not self.zeros:
            return f"{head}; {which}"
        zeros = f"{self.zeros} paths contribute 0" if self.zeros > 1 else "one path contributes 0"
        return f"{head}; {zeros}, {which}"

    def _sum(self) -> str:
        rest = self.paths - len(self.shown) - self.zeros
        if len(self.shown) == 1 and not rest:
            return _numbers(self.shown[0])
        terms = " + ".join(in_sum(path.product) for path in self.shown)
        if rest:
            terms += f" + … ({rest} more paths)"
        return f"{terms} = {short(self.gradient)}"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What a notebook shows: the formula, then words and numbers path by path."""
        parts = [f"$$ {self.latex} $$"] if self.shown else [f"**{_plain(self._head())}**"]
        parts += [_plain(reason) for reason in self.reasons]
        if self.shown:
            parts.append(_plain(self._count_words()))
            parts.append("\n".join(self._path_items()))
        if self.texts:
            parts.append("  \n".join(map(_plain, self.texts)))
        if len(self.shown) > 1:
            parts.append(_plain(f"in numbers: {self._sum()}"))
        parts += [f"*{_plain(note)}*" for note in self.notes]
        return {"text/markdown": "\n\n".join(parts), "text/plain": self.text}

    def _head(self) -> str:
        value = "no gradient" if self.gradient is None else short(self.gradient)
        return f"∂{bracketed(self.output)}/∂{bracketed(self.input)} = {value}"

    def _path_items(self) -> Iterator[str]:
        """A list item for each path: words, and below them the product."""
        for sentence, symbols, path in zip(self.words, self.symbols, self.shown, strict=True):
            yield f"- {_plain(sentence)}  "  # two spaces: a line break
            yield f"  {_plain(f'{symbols} = {_numbers(path)}')}"


def explain(
    output: Node, input: Node | None = None, *, index: Any = None, seed: Any = None
) -> Explanation | ArrayExplanation:
    """Explain ∂output/∂input by the chain rule.

    Args:
        output: The node to differentiate.
        input: The node to differentiate by; a leaf or a node in between.
        index: Of an array, the element to explain, such as ``(0, 1)``; all by default.
        seed: What the pass starts with at the output, 1.0 by default; needed for an output of
            several elements, as in ``backward``.

    Returns:
        The explanation; it shows itself in a terminal and in a notebook. If there is no gradient,
        it says why. Where there are arrays, it follows the gradient back operation by operation.

    Raises:
        ArgumentTypeError: if one of them is no node, or there is an index, but no array.
        ArgumentValueError: if there is no such element.
        GradientError: for an output of several elements without a seed.

    >>> from minigrad import Value
    >>> x = Value(3.0, name="x")
    >>> y = x * x
    >>> y.name = "y"
    >>> explain(y, x)
    ∂y/∂x = 6
    <BLANKLINE>
    y depends on x along 2 paths; the gradient is the sum over them
      if x grows by δ, along this path y (input 1) by 3 δ
        ∂y/∂x = 3
      if x grows by δ, along this path y (input 2) by 3 δ
        ∂y/∂x = 3
    <BLANKLINE>
    in symbols  ∂y/∂x = x + x
    in numbers  ∂y/∂x = 3 + 3 = 6
    """
    if input is None and isinstance(output, Node):
        leaves = [node.name for node in topological_order(output) if not node.inputs and node.name]
        raise ArgumentTypeError(
            "explain(output, input): by which input? This output was computed from "
            f"{', '.join(leaves[:8]) or 'leaves without a name'}{', …' * (len(leaves) > 8)}"
        )
    for node in (output, input):
        if not isinstance(node, Node):
            raise ArgumentTypeError(
                f"explain(output, input) takes two nodes; {node!r} is a plain "
                f"{type(node).__name__}, which no gradient reaches"
            )
    if index is not None and not hasattr(input, "shape"):
        raise ArgumentTypeError(f"explain(index={index!r}): {input!r} is no array with elements")
    shape = getattr(output, "shape", ())
    if seed is None and prod(shape) != 1:
        raise GradientError(
            f"{output.name or 'the output'} has shape {shape}: a gradient is that of one number; "
            f"explain y.sum(), or give explain(y, x, seed=…)"
        )
    record, ids = trace_with_ids([output], seed)
    top = record.nodes[record.outputs[0]].name
    if input not in ids:
        return _nothing(top, input.name or "the input", why_absent(record, output, input))
    target = ids[input]
    name, gradient = record.nodes[target].name, record.gradients[target]
    if gradient is None:
        return _nothing(top, name, why_blocked(record, target))
    if any(hasattr(entry.value, "shape") for entry in record.nodes):
        return explain_arrays(record, target, index)
    reasons = partial(why_zero, record, target)  # in whole names, for they stand alone
    record, texts = with_short_names(record, [*record.outputs, target])
    shown = tuple(largest_paths(record, target, _MOST))
    paths, zeros = count_paths(record, target), 0
    if paths > len(shown) and shown[0].product != 0.0:  # no room for those that add nothing
        shown = tuple(path for path in shown if path.product != 0.0)
        zeros = count_zeros(record, target)
    short_enough = sum(len(path.edges) for path in shown) <= _WRITTEN
    products = [_product(record, path) for path in shown] if short_enough else []
    symbol = reduce(add, products) if products else Symbol.of(gradient)
    words = tuple(_words(record, path, target) for path in shown)
    symbols = tuple(_chain(record, path) for path in shown)
    formula, notes = symbol.text if products else "", _notes(record, shown)
    return Explanation(
        output=top, input=name, gradient=gradient, paths=paths, zeros=zeros, shown=shown,
        words=words, symbols=symbols, formula=formula, latex=_latex(top, name, symbol, gradient),
        reasons=tuple(reasons(shown)) if gradient == 0.0 else (), notes=tuple(notes),
        texts=mentioned(texts, [*words, *symbols, formula, *notes]),
    )  # fmt: skip


def _nothing(output: str, input: str, reasons: Sequence[str]) -> Explanation:
    return Explanation(
        output=output, input=input, gradient=None, paths=0, shown=(), words=(), symbols=(),
        formula="", latex="", reasons=tuple(reasons), notes=(),
    )  # fmt: skip


# -- the chain rule along a path ------------------------------------------------------------------


def _words(record: Trace, path: Path, target: int) -> str:
    """What a small step δ in the input does to each node on the way to the output."""
    grown, moves = 1.0, []
    for edge in reversed(path.edges):
        grown *= edge.local or 0.0
        node = record.nodes[edge.node]
        which = f" (input {edge.slot + 1})" if node.inputs.count(edge.input) > 1 else ""
        moves.append(f"{node.name}{which} by {_times_step(grown)}")
    moves = _middle_left_out(moves)
    name = record.nodes[target].name
    if not moves:
        return f"{name} is the output itself, so its gradient is the seed"
    return f"if {name} grows by {_STEP}, along this path {', '.join(moves)}"


def _times_step(factor: float) -> str:
    number = short(factor)
    return {"0": "0", "1": _STEP, "-1": f"-{_STEP}"}.get(number, f"{number} {_STEP}")


def _chain(record: Trace, path: Path) -> str:
    """``∂L/∂c · ∂c/∂a``: the product along the path, in symbols."""
    nodes = record.nodes
    names = {edge.node: bracketed(nodes[edge.node].name) for edge in path.edges}
    names |= {edge.input: bracketed(nodes[edge.input].name) for edge in path.edges}
    factors = [f"∂{names[edge.node]}/∂{names[edge.input]}" for edge in path.edges]
    return _shortened(factors) or "seed"


def _numbers(path: Path) -> str:
    factors = [in_sum(edge.local or 0.0) for edge in path.edges]
    if len(factors) < 2:
        return short(path.product)
    return f"{_shortened(factors)} = {short(path.product)}"


def _shortened(factors: list[str]) -> str:
    return " · ".join(_middle_left_out(factors))


def _middle_left_out(parts: list[str]) -> list[str]:
    """The parts of a long path: its beginning, how many are left out, its end."""
    if len(parts) <= _LONGEST:
        return parts
    return [*parts[: _LONGEST - 2], f"… {len(parts) - _LONGEST + 1} more", parts[-1]]


def _product(record: Trace, path: Path) -> Symbol:
    """The local derivatives along the path as one formula; a number where an edge applied."""
    factors = []
    for edge in path.edges:
        node = record.nodes[edge.node]
        symbols = symbols_of(record, node)
        if edge_note(node, edge.slot, symbols):
            factors.append(Symbol.of(edge.local))
        else:
            factors.append(local_formula(node, edge.slot, symbols))
    if record.seeds[0] != 1.0 or not factors:
        factors.insert(0, Symbol.of(record.seeds[0]))
    return reduce(mul, factors)


def _latex(output: str, input: str, symbol: Symbol, gradient: float) -> str:
    top, bottom = Symbol(bracketed(output)).latex, Symbol(bracketed(input)).latex
    fraction = rf"\frac{{\partial {top}}}{{\partial {bottom}}}"
    number = Symbol.of(float(short(gradient))).latex
    formula = symbol.latex
    if len(formula) > _WIDEST:  # it would push the result out of sight
        return f"{fraction} = {number}"
    return " = ".join(dict.fromkeys([fraction, formula, number]))  # each side once


def _notes(record: Trace, shown: Sequence[Path]) -> list[str]:
    notes: dict[str, None] = {}  # in order, each once
    for node in record.nodes:
        if node.stale:
            notes[f"{node.name} has changed since; the numbers are those of the time"] = None
    for path in shown:
        for edge in path.edges:
            node = record.nodes[edge.node]
            note = edge_note(node, edge.slot, symbols_of(record, node))
            if note:
                source = bracketed(record.nodes[edge.input].name)
                notes[f"∂{bracketed(node.name)}/∂{source} = {short(edge.local)}: {note}"] = None
    return list(notes)


# -- small words ----------------------------------------------------------------------------------


def _plain(text: str) -> str:
    """Text as Markdown shows it: what would be markup, or mathematics, is written as an entity."""
    return "".join(f"&#{ord(c)};" if c in "\\`*_{}[]<>()#+-.!|$&~" else c for c in text)

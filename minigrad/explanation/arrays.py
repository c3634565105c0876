"""The chain rule for an array: along each path, what every operation makes of the gradient.

Between arrays the local derivative is a matrix that nobody wants to see. What can be seen is the
gradient on its way back: each operation takes the gradient of its output (upstream) and makes the
gradient of its input, by a rule that has a formula or words. What arrives along all paths adds up.

Read next: ``rules.py``, the words.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from minigrad import hooks, modes
from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.events.story import row_of, written
from minigrad.explanation.aliases import (
    constants_mentioned,
    mentioned,
    with_named_constants,
    with_short_names,
)
from minigrad.explanation.paths import count_paths, edges_reaching, paths_in_order
from minigrad.explanation.rules import UPSTREAM, array_note, barred, rule_of
from minigrad.formatting import clip_text, display_width, in_sum, pad_text, short, visible
from minigrad.ops.evaluate import compute
from minigrad.symbol import Symbol, bracketed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from minigrad.events import Edge, Trace, TraceNode

__all__ = ["ArrayExplanation", "ArrayPath", "ArrayStep", "explain_arrays"]

_MOST = 6  # paths that are written out
_LONGEST = 8  # steps of a path that are written out
_IN_FULL = 20  # elements of an array that are written out
_MOST_TERMS = 1000  # elements that may depend on one
_WIDEST = 100  # columns of a sum on one line


class ArrayStep(NamedTuple):
    """One edge of a path: from a node to its input, by which rule, and what arrives."""

    node: str
    input: str
    shape: tuple[int, ...]
    rule: str
    latex: str
    sent: Any


class ArrayPath(NamedTuple):
    """A path from the output to the input: the operations, the steps, and what arrives."""

    chain: str
    steps: tuple[ArrayStep, ...]
    contribution: Any
    terms: tuple[tuple[float, float], ...]  # of one element: (upstream, local) of the last step


class ArrayExplanation(NamedTuple):
    """The chain rule for an input of a program on arrays.

    Attributes:
        output: The name of what is differentiated.
        input: The name of what it is differentiated by.
        shape: The shape of the input, and of the gradient.
        gradient: ∂output/∂input of this pass, an array; one number if an element was asked for.
        paths: How many paths lead from the output to the input.
        shown: The first of them in the order of the pass.
        latex: The steps in LaTeX; a bar marks the gradient of a node.
        reasons: Why the gradient is 0.
        notes: Footnotes: edges and kinks that applied, a seed.
        index: The element that was asked for.
        texts: What short names stand for, and which arrays the names of constants.
    """

    output: str
    input: str
    shape: tuple[int, ...]
    gradient: Any
    paths: int
    shown: tuple[ArrayPath, ...]
    latex: str
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    index: Any
    texts: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The explanation as plain text."""
        lines = [self._head(), *(f"  {reason}" for reason in self.reasons)]
        if self.shown:
            lines += ["", *self._paths()]
        if self.texts:
            lines += ["", *self.texts]
        if self.paths > 1:
            lines += ["", *self._sum()]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(map(visible, lines))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What a notebook shows: the steps in LaTeX, then words and numbers."""
        inert = self.text.replace("`", "\N{MODIFIER LETTER GRAVE ACCENT}")
        parts = [f"$$ {self.latex} $$"] if self.latex else []
        parts.append(f"```text\n{inert}\n```")
        return {"text/markdown": "\n\n".join(parts), "text/plain": self.text}

    def _symbol(self) -> str:
        return f"∂{bracketed(self.output)}/∂{bracketed(self.input)}"

    def _head(self) -> str:
        shape = f", of shape {self.shape} as {self.input}" if self.shape else ""
        return f"{self._symbol()} = {_numbers(self.gradient)}{shape if self.index is None else ''}"

    def _paths(self) -> Iterator[str]:
        many = f"{self.paths} paths" if self.paths > 1 else "one path"
        some = self.paths > len(self.shown)
        first = f", of which the first {len(self.shown)} are shown" if some else ""
        yield (
            f"{self.output} depends on {self.input} along {many}{first}; each step turns the "
            f"gradient of a node ({UPSTREAM}) into that of its input"
        )
        for path in self.shown:
            yield f"  {path.chain}"
            rows = [
                (f"{step.node} → {step.input} {step.shape or ''}".rstrip(), step.rule, step.sent)
                for step in path.steps
            ]
            if len(rows) > _LONGEST:
                left_out = (f"… {len(rows) - _LONGEST + 1} more", "", None)
                rows = [*rows[: _LONGEST - 2], left_out, rows[-1]]
            widths = [max(display_width(row[k]) for row in rows) for k in (0, 1)] if rows else []
            for where, rule, sent in rows:
                shown = "" if sent is None else f"  {_numbers(sent)}"
                cells = f"{pad_text(where, widths[0])}  {pad_text(rule, widths[1])}"
                yield f"    {cells}{shown}".rstrip()
            if path.terms:
                products = [" · ".join(map(in_sum, term)) for term in path.terms]
                if len(products) > _LONGEST:
                    products[_LONGEST - 1 :] = [f"… ({len(products) - _LONGEST + 1} more)"]
                total = _numbers(self._at(path.contribution))
                yield f"    {self.input} gets {' + '.join(products)} = {total}"

    def _sum(self) -> list[str]:
        terms = [_numbers(self._at(path.contribution)) for path in self.shown]
        rest = self.paths - len(self.shown)
        if rest:
            terms.append(f"… ({rest} more paths)")
        head = f"in numbers  {self._symbol()} = "
        line = f"{head}{' + '.join(terms)} = {_numbers(self.gradient)}"
        if len(line) <= _WIDEST:
            return [line]
        margin = " " * (display_width(head) - 2)
        rest_of_terms = [f"{margin}+ {term}" for term in terms[1:]]
        return [f"{head}{terms[0]}", *rest_of_terms, f"{margin}= {_numbers(self.gradient)}"]

    def _at(self, x: Any) -> Any:
        return x if self.index is None or not hasattr(x, "shape") else x[self.index]


def explain_arrays(record: Trace, target: int, index: Any) -> ArrayExplanation:
    """Explain the gradient of a node of a trace.

    Args:
        record: The trace of a pass.
        target: The id of the node; a gradient arrives at it.
        index: An element of it, or None for all.

    Raises:
        ArgumentTypeError: if the index is no int or tuple of ints.
        ArgumentValueError: if there is no such element.
    """
    hooks.load_arrays()
    node = record.nodes[target]
    value: Any = node.value
    gradient: Any = record.gradients[target]
    if hasattr(value, "shape") and getattr(gradient, "shape", None) != node.shape:
        every, gradient = gradient, value.copy()  # nothing arrived, or a number
        gradient[...] = every
    index = _checked(index, node)
    if index is not None:
        gradient = gradient[index]
    shown: list[ArrayPath] = []
    paths = count_paths(record, target)
    found = list(islice(paths_in_order(record, target), _MOST))
    reaching = [edge.node for edge in edges_reaching(record, target)]
    record, texts = with_short_names(record, [*record.outputs, target])
    record, constants = with_named_constants(
        record, [*(edge.node for path in found for edge in path), *reaching]
    )
    with modes.errstate("ignore"):
        for edges in found:
            mark = f"^{{({len(shown) + 1})}}" if paths > 1 else ""
            shown.append(_path(record, edges, target, mark, index))
    top, name = record.nodes[record.outputs[0]].name, node.name
    if index:
        name = f"{bracketed(name)}[{', '.join(map(str, index))}]"
    said = ArrayExplanation(
        output=top, input=name, shape=node.shape, gradient=gradient,
        paths=paths, shown=tuple(shown), index=index, latex=_latex(top, node.name, shown, paths),
        reasons=tuple(_why_zero(record, target, shown)) if not _any(gradient) else (),
        notes=tuple(_notes(record, target)),
    )  # fmt: skip
    words = said.text
    named = constants_mentioned(record, constants, words)
    return said._replace(texts=(*mentioned(texts, [words]), *named))


def _checked(index: Any, node: TraceNode) -> Any:
    if index is None:
        return None
    found = index if isinstance(index, tuple) else (index,)
    if not all(hasattr(i, "__index__") and not isinstance(i, bool) for i in found):
        raise ArgumentTypeError(f"explain(index={index!r}): it is an int, or a tuple of ints")
    fits = len(found) == len(node.shape) and all(
        -n <= i < n for i, n in zip(found, node.shape, strict=True)
    )
    if not fits:
        raise ArgumentValueError(
            f"explain(index={index!r}): {node.name} has shape {node.shape}, so there is no such "
            f"element"
        )
    return tuple(int(i) % n for i, n in zip(found, node.shape, strict=True))


# -- one path --------------------------------------------------------------------------------------


def _path(record: Trace, edges: Sequence[Edge], target: int, mark: str, index: Any) -> ArrayPath:
    """The steps of a path, with what the seed alone sends along it."""
    upstream: Any = record.seeds[0]
    steps = []
    terms: tuple[tuple[float, float], ...] = ()
    for k, edge in enumerate(edges):
        node, source = record.nodes[edge.node], record.nodes[edge.input]
        if index is not None and k == len(edges) - 1:
            terms = _terms(node, edge.slot, _plain(upstream), index)
        upstream = _sent(node, edge.slot, upstream)
        g = Symbol(UPSTREAM, barred(node.name) + (mark if k else ""))
        shown = k < _LONGEST or k == len(edges) - 1
        text, latex = rule_of(record, node, edge.slot, g) if shown else ("", "")
        which = f" (input {edge.slot + 1})" if node.inputs.count(edge.input) > 1 else ""
        steps.append(
            ArrayStep(
                clip_text(node.name, 24), clip_text(source.name, 24) + which, source.shape, text,
                latex, _plain(upstream),
            )
        )  # fmt: skip
    return ArrayPath(_chain(record, edges, target), tuple(steps), _plain(upstream), terms)


def _terms(
    node: TraceNode, slot: int, upstream: Any, index: tuple[int, ...]
) -> tuple[tuple[float, float], ...]:
    """upstream × local for each element of ``node`` that depends on one of its input.

    The local derivative by one element is what it gets of a 1 at that element of ``node``.
    """
    if not hasattr(upstream, "shape") or upstream.size > _MOST_TERMS:
        return ()
    found = []
    for place, number in enumerate(upstream.flat):
        unit = upstream.copy()
        unit[...] = 0.0
        unit.flat[place] = 1.0
        local = float(_plain(_sent(node, slot, unit))[index])
        if local != 0.0:
            found.append((float(number), local))
    return tuple(found)


def _sent(node: TraceNode, slot: int, upstream: Any) -> Any:
    """The contribution to one input, by the row's own rule on the recorded numbers."""
    row: Any = row_of(node)
    inputs = [x if i == slot else None for i, x in enumerate(node.numbers)]
    out: Any = node.value
    if node.stale:
        from minigrad.ops.arrays import compute_array

        xs = node.numbers
        out = compute_array(row, xs) if hasattr(out, "shape") else compute(row, xs)
    return row.pull(upstream, out, node.numbers, inputs)[slot][1]


def _plain(x: Any) -> Any:
    """Numbers: nothing is 0."""
    values = getattr(x, "values", x)
    return values if hasattr(values, "shape") or isinstance(values, float) else 0.0


def _chain(record: Trace, edges: Sequence[Edge], target: int) -> str:
    """``L = sum(y) ← y = tanh(h) ← h = x @ w ← w``."""
    parts = []
    for edge in edges:
        node = record.nodes[edge.node]
        name, text = clip_text(node.name, 24), clip_text(written(record, node), 40)
        parts.append(name if name.split() == text.split() else f"{name} = {text}")
    if len(parts) > _LONGEST:
        parts = [*parts[: _LONGEST - 2], "…", parts[-1]]
    if not parts:
        return f"{record.nodes[target].name} is the output itself, so its gradient is the seed"
    return " ← ".join([*parts, record.nodes[target].name])


# -- what is said besides ------------------------------------------------------------------------


def _notes(record: Trace, target: int) -> Iterator[str]:
    for node in record.nodes:
        if node.stale:
            yield f"{node.name} has changed since; the numbers are those of the time"
    top = record.nodes[record.outputs[0]]
    if top.shape and len(record.seeds) == 1:
        yield f"{top.name} has shape {top.shape}; the seed is {_numbers(record.seeds[0])}"
    said: dict[str, None] = {}
    for edge in reversed(edges_reaching(record, target)):
        node = record.nodes[edge.node]
        note = array_note(record, node, edge.slot)
        if note:
            source = bracketed(record.nodes[edge.input].name)
            said[f"∂{bracketed(node.name)}/∂{source}: {note}"] = None
    yield from said


def _why_zero(record: Trace, target: int, shown: Sequence[ArrayPath]) -> Iterator[str]:
    for edge in edges_reaching(record, target, blocked=True):
        if edge.reason == "other branch":
            node, source = record.nodes[edge.node], record.nodes[edge.input]
            yield f"{node.name} = {written(record, node)} took nothing from {source.name}"
    for path in shown:
        for step in path.steps:
            if not _any(step.sent):
                yield f"the path ends at {step.node}: all that it sends to {step.input} is 0"
                break


def _any(x: Any) -> bool:
    return bool(x.any()) if hasattr(x, "any") else x != 0.0


def _latex(output: str, input: str, shown: Sequence[ArrayPath], paths: int) -> str:
    """The steps as equations; the paths are numbered, if there are several."""
    if not shown or any(len(path.steps) > _LONGEST for path in shown) or paths > len(shown):
        return ""
    top, bottom = (Symbol(bracketed(name)).latex for name in (output, input))
    rows = []
    for k, path in enumerate(shown, 1):
        mark = f"^{{({k})}}" if paths > 1 else ""
        for step in path.steps:
            name = step.input.partition(" (input")[0]
            rows.append(f"{barred(name)}{mark} &= {step.latex}")
    total = " + ".join(
        f"{barred(input)}^{{({k})}}" if paths > 1 else barred(input)
        for k in range(1, len(shown) + 1)
    )
    rows.append(rf"\frac{{\partial {top}}}{{\partial {bottom}}} &= {total}")
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def _numbers(x: Any) -> str:
    """A number, a small array in full, or what there is in a large one."""
    if not hasattr(x, "shape") or not x.shape:
        return short(float(x))
    if x.size <= _IN_FULL:
        return _nested(x.tolist())
    shape = "×".join(map(str, x.shape))
    return f"[{shape}: {short(x.min())} to {short(x.max())}, mean {short(x.mean())}]"


def _nested(x: Any) -> str:
    if isinstance(x, list):
        return f"[{', '.join(map(_nested, x))}]"
    return short(x)

"""The trace: what ran, as numbers and text. Everything that is shown comes from here.

``trace(L)`` runs a private pass (it writes no ``.grad``) with the engine's own sweep and keeps a
record that holds no node: the table of nodes, and one edge per step of the sweep. The events of a
debugger (``FORWARD``, ``SEED``, ``VISIT``, ``LOCAL``, ``CONTRIB``, ``ACCUM``, ``DONE``, ``SKIP``,
``UPDATE``, ``ERROR``) are spelled out from the edges when somebody asks for them.

Read next: ``story.py`` (the events), ``file.py`` (JSON), ``verify.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from minigrad import modes
from minigrad.errors import ArgumentTypeError, OperationError, ShapeError
from minigrad.events import file, names, story, table
from minigrad.events.edges import Edge, Edges
from minigrad.graph import Node, numbers, sources, sweep, topological_order
from minigrad.nothing import NOTHING
from minigrad.ops.evaluate import as_number
from minigrad.ops.guarded import read_only
from minigrad.pull import pull
from minigrad.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Trace", "TraceNode", "Update", "trace", "trace_with_ids"]


class TraceNode(NamedTuple):
    """A node as it was recorded.

    Attributes:
        id: Counts from 0 in the order of creation.
        name: What it is called; never empty.
        role: ``leaf``, ``parameter``, ``constant``, ``operation`` or ``output``.
        op: The name of its operation, None for a leaf.
        attrs: The attributes of the operation.
        inputs: The ids of its inputs, in slots.
        value: Its number (a leaf that was changed shows the one that it has now).
        numbers: What went in, slot by slot; for a node of a changed leaf not the inputs' values.
        shape: ``()`` for a scalar.
        dtype: ``float64``.
        scope: The path of scopes in which it was made.
        span: Where it was made, if sources were on.
        stale: Whether its number changed after it was used.
        grad: What an earlier pass left in ``.grad``.
    """

    id: int
    name: str
    role: str
    op: str | None
    attrs: Mapping[str, Any]
    inputs: tuple[int, ...]
    value: float
    numbers: tuple[float, ...]
    shape: tuple[int, ...]
    dtype: str
    scope: str
    span: Span | None
    stale: bool
    grad: float | None

    def __repr__(self) -> str:
        return table.fields(self)


class Update(NamedTuple):
    """A step of an optimizer: ``after = before - learning_rate · gradient``, if the rule is SGD.

    Attributes:
        node: The id of the parameter; in a recorder the parameter itself.
        before: Its numbers before the step.
        gradient: What the rule got: ``.grad``, clipped and with weight decay where these are on.
        learning_rate: The rate of this step.
        after: Its numbers after the step.
        rule: The class of the optimizer. Other rules than ``SGD`` have a memory of earlier steps.
    """

    node: Any
    before: Any
    gradient: Any
    learning_rate: float
    after: Any
    rule: str

    def __repr__(self) -> str:
        return table.fields(self)


class Trace(NamedTuple):
    """An immutable record of a graph and of one backward pass over it.

    Attributes:
        nodes: In order of creation; ``nodes[i].id == i``.
        outputs: The ids of the nodes that were differentiated, and
        seeds: what they started with.
        order: The ids in the order in which the sweep visits them.
        edges: The steps of the sweep, in order.
        gradients: id → ∂output/∂node, None where no gradient arrived.
        error: (id, message) if a formula raised; the pass ends there.
        source: File name → text, of the code that made the nodes.
        updates: What an optimizer did to the leaves afterwards, if that was recorded.
    """

    nodes: tuple[TraceNode, ...]
    outputs: tuple[int, ...]
    seeds: tuple[float, ...]
    order: tuple[int, ...]
    edges: Sequence[Edge]
    gradients: Mapping[int, float | None]
    error: tuple[int, str] | None
    source: Mapping[str, str]
    updates: tuple[Update, ...] = ()

    @property
    def events(self) -> Iterator[dict[str, Any]]:
        """Every event, from the first FORWARD to the last DONE or UPDATE, as the file has them."""
        return story.tell(self)

    def save(self, path: Any, values: bool = False) -> str:
        """Write the trace to a JSON file, arrays as a summary or with all their ``values``."""
        return file.save(self, path, values)

    def __repr__(self) -> str:
        return f"<Trace of {len(self.nodes)} nodes, {len(self.edges)} edges>"

    def __str__(self) -> str:
        """The nodes and the pass as a table; of a large trace the beginning."""
        return table.table(self)


def trace(*outputs: Node, seed: Any = None) -> Trace:
    """Record the graph of ``outputs`` and one private backward pass over it.

    Args:
        *outputs: The nodes to differentiate; their gradients add up.
        seed: What the outputs start with, 1.0 by default; for arrays a number for every element,
            or an array.

    Raises:
        ArgumentTypeError: if an output is no node, or there is none.
        ShapeError: if the seed is an array of another shape than the output.

    Inside ``mg.record()`` the trace has the steps of optimizers as well.

    >>> from minigrad import Value
    >>> x = Value(3.0, name="x")
    >>> t = trace(x * x)
    >>> [(edge.contribution, edge.before, edge.after) for edge in t.edges]
    [(3.0, None, 3.0), (3.0, 3.0, 6.0)]
    """
    record, ids = trace_with_ids(outputs, seed)
    for listener in modes.listeners():
        if hasattr(listener, "updates_of"):
            record = record._replace(updates=listener.updates_of(outputs, ids))
    return record


def trace_with_ids(outputs: Sequence[Node], seed: Any = None) -> tuple[Trace, dict[Node, int]]:
    """``trace``, and the id of each node in it."""
    wrong: list[object] = [x for x in outputs if not isinstance(x, Node)]
    if wrong or not outputs:
        raise ArgumentTypeError(
            f"trace takes nodes (Values), not {wrong[0] if wrong else 'nothing'!r}"
        )
    start: Any = 1.0 if seed is None else as_number(seed)
    if start is None and hasattr(seed, "shape"):
        start = getattr(seed, "_data", seed)
    if start is None:
        raise ArgumentTypeError(
            f"trace(seed={seed!r}): the seed is a number, or an array of the shape of the output"
        )
    order = topological_order(*outputs)
    table = _Table(order, outputs)
    cotangents: dict[Node, Any] = {}
    seeds = [_spread(start, output) for output in outputs]
    for output, first in zip(outputs, seeds, strict=True):
        cotangents[output] = first + cotangents[output] if output in cotangents else first
    edges: list[Any] = []  # their fields, one after the other
    error = None
    with modes.errstate("ignore"):  # the pass that counts has its own warnings
        try:
            for step in sweep(order, cotangents, pull):
                edges += table.edge(step)
        except OperationError as failure:
            error = (table.next_visited(Edges(edges)), str(failure))
    ids = table.ids
    record = Trace(
        nodes=tuple(table.nodes),
        outputs=tuple(ids[output] for output in outputs),
        seeds=tuple(map(read_only, seeds)),
        order=tuple(ids[node] for node in reversed(order)),
        edges=Edges(edges),
        gradients={
            ids[node]: x if x.__class__ is float else _plain(x)
            for node, x in zip(order, map(cotangents.get, order), strict=True)
        },
        error=error,
        source=names.source_texts(table.nodes),
    )
    return record, ids


_new: Any = tuple.__new__  # for a million entries: their own way in takes twice as long
_NO_ATTRS: Mapping[str, Any] = {}
_SCALAR: tuple[tuple[int, ...], str] = (), "float64"


def _plain(x: Any) -> Any:
    """A number of the pass as a trace has it: nothing is 0, an array a copy that stays as it is."""
    if x.__class__ is float or x is None:
        return x
    if x is NOTHING:
        return 0.0
    x = getattr(x, "values", x)  # of an array that is nothing in part
    return read_only(x.copy()) if hasattr(x, "__array_finalize__") else x


def _fixed(x: Any) -> Any:
    """An attribute of an operation; the arrays of an index are those of the graph."""
    return x.__class__(map(_fixed, x)) if x.__class__ in (tuple, list) else read_only(x)


def _spread(start: Any, output: Any) -> Any:
    """The seed of an output: for an array one in every element, or an array of its shape."""
    given = getattr(start, "shape", ())
    if given and given != getattr(output, "shape", ()):
        raise ShapeError(
            f"trace(seed=…): the seed has shape {given}, the output {getattr(output, 'shape', ())}"
        )
    if not hasattr(output, "shape"):
        return start
    seed = output._data.copy()
    seed[...] = start
    return seed


class _Table:
    """The nodes of a graph in order of creation, with an entry for every plain number."""

    def __init__(self, order: Sequence[Node], outputs: Sequence[Node]) -> None:
        self.order = order
        self.nodes: list[TraceNode] = []
        self.ids: dict[Node, int] = {}
        self.digits: dict[float, str] = {}
        self.views: dict[int, Any] = {}  # id of an array of the graph -> what the trace has of it
        made = sorted(order, key=modes.serial_of)
        roots = set(outputs)
        called = names.names_of(made)
        ids, entries = self.ids, self.nodes
        for node in made:
            went_in = numbers(node)
            inputs: tuple[int, ...] = ()
            if went_in:
                inputs = tuple([
                    ids[source] if source is not None else self._constant(number)
                    for source, number in zip(sources(node), went_in, strict=True)
                ])  # fmt: skip
            ids[node] = len(entries)
            entries.append(self._entry(node, inputs, went_in, called[node], node in roots))

    def _entry(
        self, node: Node, inputs: tuple[int, ...], went_in: Any, name: str, is_output: bool
    ) -> TraceNode:
        op, value, entries = node._row, node._data, self.nodes
        grad = getattr(node._grad, "_data", node._grad)
        if op is None:
            role, word, attrs, stale = "leaf", None, _NO_ATTRS, False
        else:
            role, word = "output" if is_output else "operation", op.name
            attrs = dict(op.attrs) if op.attrs else _NO_ATTRS
            stale = value is not node._out and not story.same(value, node._out)
            shared = False
            for source, number in zip(inputs, went_in, strict=True):
                known = entries[source].value
                if known is not number:  # another number, or an array, of which there is a view
                    number, shared = self._view(number), True
                    if known is not number and not story.same(known, number):
                        entries[source] = entries[source]._replace(stale=True)
            if shared:
                went_in = tuple(map(self._view, went_in))
        shape, dtype = _SCALAR
        if value.__class__ is not float:
            shape, dtype = _kind(value)
            value, grad = self._view(value), _plain(grad)
            attrs = {key: _fixed(x) for key, x in attrs.items()}
        entry: TraceNode = _new(TraceNode, (
            len(entries), name, role, word, attrs, inputs, value, went_in, shape, dtype,
            getattr(node, "_scope", ""), modes.span_of(node) if hasattr(node, "_code") else None,
            stale, grad,
        ))  # fmt: skip
        return entry

    def _constant(self, number: float) -> int:
        id = len(self.nodes)
        shape, dtype = _SCALAR
        if number.__class__ is not float:
            shape, dtype = _kind(number)
            number = self._view(number)
        self.nodes.append(_new(TraceNode, (
            id, self._digits(number), "constant", None, _NO_ATTRS, (), number, (), shape, dtype,
            "", None, False, None,
        )))  # fmt: skip
        return id

    def _view(self, number: Any) -> Any:
        """An array of the graph without the right to write; the same one each time it is met."""
        if not hasattr(number, "__array_finalize__"):
            return number
        view = self.views.get(id(number))
        if view is None:
            view = self.views[id(number)] = read_only(number)
        return view

    def _digits(self, number: float) -> str:
        """What a plain number is called; a long loop has the same few numbers again and again."""
        if number.__class__ is not float and hasattr(number, "shape"):
            return names.number_name(number)
        name = self.digits.get(number)
        if name is None:
            name = self.digits[number] = names.number_name(number)
        return name

    def edge(self, step: Any) -> tuple[Any, ...]:
        """The fields of the edge that a step of the sweep is."""
        node, slot, _, upstream, local, contribution, before, after, reason = step
        id = self.ids[node]
        if (
            contribution.__class__ is not float
            or upstream.__class__ is not float
            or before is NOTHING
        ):
            upstream, local, contribution = _plain(upstream), _plain(local), _plain(contribution)
            before, after = _plain(before), _plain(after)
        return (
            id, slot, self.nodes[id].inputs[slot], upstream, local, contribution, before, after,
            reason,
        )  # fmt: skip

    def next_visited(self, edges: Edges) -> int:
        """The id of the node whose turn came after that of the last edge."""
        visited = [self.ids[node] for node in reversed(self.order) if node._row is not None]
        return visited[visited.index(edges[-1].node) + 1] if edges else visited[0]


def _kind(data: Any) -> tuple[tuple[int, ...], str]:
    """Shape and type of what a node holds."""
    return getattr(data, "shape", ()), str(getattr(data, "dtype", "float64"))

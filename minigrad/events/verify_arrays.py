"""The check of a trace with arrays: every element computed again, where the file has them.

The contributions are those of the rows themselves (``Op.pull``), so that what ``where`` leaves out
and what broadcasting sums up is the same as in the pass. Numbers must be equal to the last bit.
Only a result that NumPy may have added up in another order, for its array lay differently in
memory, may differ by rounding; how many did is reported.

Read next: ``../cli/``.
"""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import numpy as np

from minigrad import hooks
from minigrad.errors import TraceError
from minigrad.events.verify import Checker
from minigrad.nothing import NOTHING
from minigrad.ops.arrays import compute_array, real_type
from minigrad.ops.broadcasting import Masked, parts
from minigrad.ops.evaluate import compute
from minigrad.ops.kinds import General

__all__ = ["ArrayChecker", "array_of"]

_SUMMARY: Any = object()  # an array of which the file has no elements
_NOTHING_SENT = "other branch", "nothing arrived"  # reasons of a skip after which a pass goes on
_FLOAT = np.dtype(float).itemsize
_LARGEST = 1e8  # elements of an array that is computed here


def array_of(x: dict[str, Any]) -> Any:
    """The array that a file has all elements of.

    Raises:
        TraceError: if they do not fit its shape and type.
    """
    shape, dtype = tuple(x["shape"]), real_type(x["dtype"])
    flat: list[Any] = [x["values"]]
    for n in shape:
        if not all(isinstance(part, list) and len(part) == n for part in flat):
            raise TraceError(f"the values of an array do not have its shape {shape}")
        flat = [element for part in flat for element in part]
    kind: Any = float if dtype.kind == "f" else int
    if dtype.kind == "f" and dtype.itemsize > _FLOAT:
        kind = dtype.type  # which reads its own digits
    return np.array([kind(element) for element in flat], dtype=dtype).reshape(shape)


def _plain(x: Any) -> Any:
    """A number of a pass as a trace shows it."""
    return 0.0 if x is NOTHING else parts(x)[0]


class ArrayChecker(Checker):
    """The check of a trace with arrays, or with summaries of them, which it counts."""

    def __init__(self, content: dict[str, Any]) -> None:
        super().__init__(content)
        hooks.tensor()  # loads the rows of arrays, which nothing else may have asked for yet
        self.edges: Any = None  # of the node that is visited, if they can be computed
        self.left_out = 0  # numbers that are in the file as a summary
        self.rounded = 0

    def unchecked(self) -> tuple[str, ...]:
        """What could not be computed again, and why."""
        said = list(super().unchecked())
        if self.left_out:
            said.append(
                f"{self.left_out} arrays of which the file has a summary; "
                f"trace.save(path, values=True) writes all elements"
            )
        if self.rounded:
            said.append(
                f"the last bits of {self.rounded} elements, which NumPy may round otherwise for an "
                f"array that lies otherwise in memory"
            )
        return tuple(said)

    def number(self, x: Any) -> Any:
        """A number or an array of the file."""
        if isinstance(x, dict):
            return array_of(x) if "values" in x else _SUMMARY
        if isinstance(x, int | float) or not isinstance(x, str):
            return x
        return float(x)

    def expect(self, where: object, what: str, found: Any, right: Any, scale: float = 0.0) -> Any:
        """Compare; ``scale`` is the size of the numbers that were added up, 0 to allow nothing."""
        found = self.number(found)
        if found is _SUMMARY or right is _SUMMARY:
            self.left_out += 1
            return right if found is _SUMMARY else found
        x, y = np.asarray(found), np.asarray(right)
        self.checked += x.size
        if x.shape != y.shape or (x.ndim and x.dtype != y.dtype):
            self.faults.append(
                f"{where}: {what} is {x.dtype}{list(x.shape)}, but should be "
                f"{y.dtype}{list(y.shape)}"
            )
            return right
        wrong = ~((x == y) | ((x != x) & (y != y)))
        if wrong.any() and scale:
            right = x
            allowed = scale * float(np.finfo(y.dtype).eps if y.dtype.kind == "f" else 0.0)
            near = wrong & (np.abs(x - y) <= allowed)
            self.rounded += int(near.sum())
            wrong &= ~near
        if wrong.any():
            place = tuple(map(int, np.argwhere(wrong)[0]))
            at = f" at {list(place)}" if place else ""
            self.faults.append(
                f"{where}: {what}{at} is {x[place].item()!r}, but should be {y[place].item()!r}"
            )
        return right

    def node(self, id: int, node: dict[str, Any]) -> None:
        """Check what went into a node, and what came out."""
        xs = [self.number(x) for x in node["numbers"]]
        self.went_in(id, node, xs)
        row = self.row(node)
        if row is None or node.get("stale"):
            return
        if any(x is _SUMMARY for x in xs):
            self.left_out += 1
            return
        _check_sizes(id, node, xs)
        where, value = f"node {id} ({node['op']})", self.number(node["value"])
        scalar = not isinstance(row, General) and not any(isinstance(x, np.ndarray) for x in xs)
        if scalar and not isinstance(value, np.ndarray):
            right = compute(row, tuple(map(float, xs)))
        else:
            right = compute_array(row, xs)
        self.expect(where, "the value", node["value"], right, _scale(row, right, xs))

    def _seed(self, where: object, event: dict[str, Any]) -> None:
        value, seed = self.nodes[event["node"]]["value"], self.number(event["gradient"])
        if isinstance(value, dict) and seed is not _SUMMARY:  # an array without axes, as a number
            seed = np.asarray(seed, real_type(value["dtype"]))
        super()._seed(where, {**event, "gradient": seed})

    def _visit(self, where: object, event: dict[str, Any]) -> None:
        super()._visit(where, event)
        self.edges = self._pulled(event["node"])

    def _pulled(self, id: int) -> Any:
        """The edges of a node, as the pass computes them; None if something is missing."""
        node, upstream = self.nodes[id], self.totals.get(id)
        if node["op"] is None or upstream is None or upstream is _SUMMARY or node.get("stale"):
            return None
        row, out = self.row(node), self.number(node["value"])
        xs = [self.number(x) for x in node["numbers"]]
        if row is None or any(x is _SUMMARY for x in (out, *xs)):
            return None
        constant = [self.nodes[i]["role"] == "constant" for i in node["inputs"]]
        inputs = [None if c else x for c, x in zip(constant, xs, strict=True)]
        return row.pull(upstream, out, xs, inputs)

    def _local(self, where: object, event: dict[str, Any]) -> None:
        local = self._edge(event)[0]
        if local is None or event["value"] is None:
            if self.edges is not None and (local is None) != (event["value"] is None):
                self.faults.append(f"{where}: the local derivative is missing, or there is none")
            return
        self.expect(where, "the local derivative", event["value"], _plain(local))

    def _edge(self, event: dict[str, Any]) -> Any:
        """The edge that an event is about; summaries, if it could not be computed."""
        return (_SUMMARY, _SUMMARY, "") if self.edges is None else self.edges[event["slot"]]

    def _contrib(self, where: object, event: dict[str, Any]) -> None:
        id = event["node"]
        local, contribution, reason = self._edge(event)
        self.expect(where, "the upstream gradient", event["upstream"], _plain(self.totals[id]))
        if local is not None and event["local"] is not None:
            self.expect(where, "the local derivative", event["local"], _plain(local))
        if reason or contribution is None:
            self.faults.append(f"{where}: there is no contribution, for the reason {reason!r}")
            contribution = self.number(event["product"])
        right = contribution if contribution is _SUMMARY else _plain(contribution)
        scale = self._scale_of_edge(id, right)
        found = self.expect(where, "the product", event["product"], right, scale)
        if found is not right:  # equal but for rounding: go on with the bits of the file
            nothing = parts(contribution)[1]
            contribution = found if nothing is None else Masked(found, nothing)
        self.send(where, event, contribution)

    def _scale_of_edge(self, id: int, right: Any) -> float:
        node = self.nodes[id]
        if right is _SUMMARY or self.edges is None:
            return 0.0
        xs = [self.number(x) for x in node["numbers"]]
        upstream = _plain(self.totals[id])
        plain = np.shape(right) == np.shape(upstream)
        row = self.row(node)
        if plain and not isinstance(row, General):
            return 0.0
        return _scale(row, right, [upstream, *xs], always=True)

    def _accum(self, where: object, event: dict[str, Any]) -> None:
        id = event["node"]
        self.count(where, event)
        sent, self.sent = self.sent[1] if self.sent else float("nan"), None
        total = self.totals.get(id)
        shown = sent if sent is _SUMMARY else _plain(sent)
        self.expect(where, "what is added", event["delta"], shown)
        self.expect(where, "the total before", event["before"], _shown_total(total))
        after = self._added(total, sent)
        self.expect(where, "the total after", event["after"], _shown_total(after))
        self.totals[id] = self.number(event["after"]) if after is _SUMMARY else after

    def _added(self, total: Any, sent: Any) -> Any:
        if sent is _SUMMARY or total is _SUMMARY:
            return _SUMMARY
        return sent if total is None else total + sent

    def _skip(self, where: object, event: dict[str, Any]) -> None:
        super()._skip(where, event)
        if self.edges is None:
            self._skip_unseen(event)
            return
        _, contribution, reason = self.edges[event["slot"]]
        if reason != event["reason"]:
            self.faults.append(f"{where}: the reason is {event['reason']!r}, not {reason!r}")
        if contribution is not None:  # nothing, or an array of it: it adds 0, and stays nothing
            self.totals[event["to"]] = self._added(self.totals.get(event["to"]), contribution)

    def _skip_unseen(self, event: dict[str, Any]) -> None:
        """What a skip does to the total of its input where the edge could not be computed.

        Nothing may have arrived there, in some elements or in all: then the pass goes on from it.
        """
        to = event["to"]
        if event["reason"] in _NOTHING_SENT:
            if isinstance(self.nodes[to]["value"], dict):
                self.totals[to] = _SUMMARY
            else:
                self.totals.setdefault(to, NOTHING)

    def _done(self, where: object, event: dict[str, Any]) -> None:
        total = self.totals.get(event["node"])
        if event["gradient"] is not None:
            self.expect(where, "the gradient", event["gradient"], _shown_total(total))
        elif total is not None and total is not _SUMMARY:
            self.faults.append(f"{where}: the gradient is missing")


def _shown_total(total: Any) -> Any:
    return 0.0 if total is None else total if total is _SUMMARY else _plain(total)


def _scale(row: Any, right: Any, xs: Any, always: bool = False) -> float:
    """The size of what may be rounded otherwise: of what was added up, or of the result."""
    if not always and not isinstance(row, General):
        return _largest(right)  # NumPy has loops of its own for some layouts, of arctan2 and others
    sizes = [max(1.0, _largest(x)) for x in xs]
    longest = max((np.size(x) for x in xs), default=1)
    return 64.0 * prod(sizes) * sqrt(max(1, longest))


def _largest(x: Any) -> float:
    x = np.asarray(x)
    return float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0)) if x.dtype.kind == "f" else 0.0


def _check_sizes(id: int, node: dict[str, Any], xs: Any) -> None:
    """Refuse attributes that would make an array much larger than the file says.

    Raises:
        TraceError: naming the node.
    """
    shape = node["attrs"].get("shape")
    margin = max(_ints([node["attrs"].get(name) for name in ("padding", "pad_width")]), default=0)
    grown = prod(float(n + 2 * margin) for n in np.shape(xs[0]))
    wrong = isinstance(shape, list) and -1 not in shape and prod(shape) != prod(node["shape"])
    if wrong or (margin and grown > _LARGEST):
        raise TraceError(f"node {id} ({node['op']}): its attributes do not fit its shape")


def _ints(x: Any) -> list[int]:
    if isinstance(x, list):
        return [n for part in x for n in _ints(part)]
    return [abs(x)] if isinstance(x, int) else []

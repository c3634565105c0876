"""Check a trace: recompute every value, local derivative, product and sum in it.

Each number of a trace must follow from numbers before it. ``verify`` works from the file alone: it
asks the table for the value and the local derivatives of each operation, multiplies, adds, and
compares to the last bit.

Read next: ``../cli/``, whose ``minigrad verify`` calls this.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from minigrad import modes
from minigrad.errors import MinigradError, TraceError
from minigrad.ops import OPS
from minigrad.ops.evaluate import compute

__all__ = ["Report", "verify"]


class Report(NamedTuple):
    """What was checked.

    Attributes:
        checked: How many numbers were computed again.
        unknown: The operations that are not in the table of this process.
        faults: One sentence for each number that does not follow.
    """

    checked: int
    unknown: tuple[str, ...]
    faults: tuple[str, ...]


def verify(content: dict[str, Any]) -> Report:
    """Recompute the numbers of a trace that was read by ``load``.

    Raises:
        TraceError: if a part is missing or of a wrong kind, so that there is nothing to check.
    """
    try:
        with modes.errstate("ignore"):
            return _Checker(content).run()
    except MinigradError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise TraceError(f"the trace is damaged: {type(error).__name__}: {error}") from error


def _is_array(x: Any) -> bool:
    return isinstance(x, dict) and "shape" in x


class _Checker:
    def __init__(self, content: dict[str, Any]) -> None:
        self.nodes = content["nodes"]
        self.events = content["events"]
        self.checked = 0
        self.unknown: set[str] = set()
        self.faults: list[str] = []
        self.totals: dict[int, float] = {}
        self.locals: dict[tuple[int, int], float] = {}
        self.slots: dict[int, list[int]] = {}  # node -> the slots that were dealt with
        self.sent: tuple[int, float | None] | None = None  # a contribution that is not yet added
        self.received: dict[int, int] = {}
        self.expected: dict[int, int] = {}
        self.visited: set[int] = set()
        self.forwarded: set[int] = set()
        self.partial = False  # the pass ended early, or arrays were left out

    def run(self) -> Report:
        for id, node in enumerate(self.nodes):
            self._node(id, node)
        for place, event in enumerate(self.events):
            if self._has_arrays(event):
                self.partial = True
                self.sent = (event["to"], None) if event["kind"] == "CONTRIB" else None
                continue
            handler = getattr(self, f"_{str(event['kind']).lower()}", None)
            if handler is None:
                raise TraceError(f"event {place} is of an unknown kind, {event['kind']!r}")
            handler(f"event {place} ({event['kind']})", event)
        if not self.partial:
            self._complete()
        return Report(self.checked, tuple(sorted(self.unknown)), tuple(self.faults))

    def _complete(self) -> None:
        """Nothing may be missing: every operation computed, every edge of the pass dealt with."""
        for id, node in enumerate(self.nodes):
            if node["op"] is not None and id not in self.forwarded:
                self.faults.append(f"node {id}: it has no FORWARD")
            if id not in self.totals:
                continue
            if id not in self.visited:
                self.faults.append(f"node {id}: it has a gradient, but no VISIT")
            slots = sorted(self.slots.get(id, ()))
            if slots != list(range(len(node["inputs"]))):
                self.faults.append(
                    f"node {id}: its edges are {slots} of {len(node['inputs'])} inputs"
                )
        if not any(node["role"] == "output" or not self.nodes[1:] for node in self.nodes):
            self.faults.append("no node is an output")
        if not self.totals:
            self.faults.append("the pass has no SEED")
        for id, count in self.received.items():
            if count != self.expected[id]:
                self.faults.append(
                    f"node {id}: {count} contributions, but {self.expected[id]} said"
                )

    def _expect(self, where: str, what: str, found: Any, right: float) -> None:
        self.checked += 1
        number = float(found)
        if not (number == right or (number != number and right != right)):
            self.faults.append(f"{where}: {what} is {number!r}, but should be {right!r}")

    def _has_arrays(self, event: dict[str, Any]) -> bool:
        """Whether an event is about arrays, of which the file has a summary."""
        if event["kind"] == "VISIT" or "node" not in event:
            return False
        node = self.nodes[event["node"]]
        return any(map(_is_array, [*event.values(), node["value"], *node.get("numbers", ())]))

    def _row(self, node: dict[str, Any]) -> Any:
        row = OPS.get(node["op"])
        if row is None:
            self.unknown.add(node["op"])
        return row.bind(**node["attrs"]) if row is not None and node["attrs"] else row

    def _node(self, id: int, node: dict[str, Any]) -> None:
        if node["id"] != id or not all(0 <= i < id for i in node["inputs"]):
            raise TraceError(f"node {id}: ids count from 0, and inputs come before their node")
        if node["op"] is None:
            return
        if _is_array(node["value"]) or any(map(_is_array, node["numbers"])):
            return  # a summary, from which nothing can be computed again
        xs = tuple(map(float, node["numbers"]))
        for x, source in zip(xs, node["inputs"], strict=True):
            if not self.nodes[source].get("stale"):
                self._expect(
                    f"node {id}",
                    f"the number from node {source}",
                    x,
                    float(self.nodes[source]["value"]),
                )
        row = self._row(node)
        if row is not None and not node.get("stale"):
            self._expect(f"node {id} ({node['op']})", "the value", node["value"], compute(row, xs))

    def _forward(self, where: str, event: dict[str, Any]) -> None:
        self.forwarded.add(event["node"])
        self._expect(where, "the value", event["value"], float(self.nodes[event["node"]]["value"]))

    def _seed(self, where: str, event: dict[str, Any]) -> None:
        id = event["node"]
        self.totals[id] = self.totals.get(id, 0.0) + float(event["gradient"])

    def _visit(self, where: str, event: dict[str, Any]) -> None:
        if event["popped"] != event["node"] or event["node"] in self.visited:
            self.faults.append(f"{where}: node {event['node']} is not the one, or comes twice")
        self.visited.add(event["node"])

    def _local(self, where: str, event: dict[str, Any]) -> None:
        id, slot = event["node"], event["slot"]
        node = self.nodes[id]
        self.locals[id, slot] = float(event["value"])
        row = self._row(node)
        if row is not None and not node.get("stale"):
            xs = tuple(map(float, node["numbers"]))
            right = row.local_derivative(slot, float(node["value"]), xs)
            self._expect(where, "the local derivative", event["value"], right)

    def _contrib(self, where: str, event: dict[str, Any]) -> None:
        id, slot = event["node"], event["slot"]
        upstream, local = float(event["upstream"]), float(event["local"])
        self._expect(where, "the upstream gradient", upstream, self.totals[id])
        self._expect(where, "the local derivative", local, self.locals[id, slot])
        self._expect(where, "the product", event["product"], upstream * local)
        self.slots.setdefault(id, []).append(slot)
        self.sent = event["to"], float(event["product"])
        if self.nodes[id]["inputs"][slot] != event["to"]:
            self.faults.append(f"{where}: slot {slot} of node {id} is not node {event['to']}")

    def _accum(self, where: str, event: dict[str, Any]) -> None:
        id = event["node"]
        before, delta = float(event["before"]), float(event["delta"])
        to, product = self.sent or (None, float("nan"))
        if product is None:  # it came from an array, of which there is a summary
            product = delta
        self.sent = None
        self._expect(where, "what is added", delta, product)
        count = self.received[id] = self.received.get(id, 0) + 1
        self.expected[id] = event["of"]
        if to != id or event["nth"] != count or id in self.visited:
            self.faults.append(f"{where}: contribution {event['nth']} to node {id} is out of place")
        self._expect(where, "the total before", before, self.totals.get(id, 0.0))
        self._expect(where, "the total after", event["after"], before + delta)
        self.totals[id] = float(event["after"])

    def _done(self, where: str, event: dict[str, Any]) -> None:
        if event["gradient"] is not None:
            self._expect(
                where, "the gradient", event["gradient"], self.totals.get(event["node"], 0.0)
            )

    def _skip(self, where: str, event: dict[str, Any]) -> None:
        self.slots.setdefault(event["node"], []).append(event["slot"])
        constant = self.nodes[event["to"]]["role"] == "constant"
        if not event["reason"] or constant != (event["reason"] == "constant"):
            self.faults.append(f"{where}: the reason {event['reason']!r} does not fit")

    def _update(self, where: str, event: dict[str, Any]) -> None:
        right = float(event["before"]) - float(event["learning_rate"]) * float(event["gradient"])
        self._expect(where, "the value after", event["after"], right)

    def _error(self, where: str, event: dict[str, Any]) -> None:
        self.partial = True  # what came before is checked all the same

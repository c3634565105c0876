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
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise TraceError(f"the trace is damaged: {type(error).__name__}: {error}") from error


class _Checker:
    def __init__(self, content: dict[str, Any]) -> None:
        self.nodes = content["nodes"]
        self.events = content["events"]
        self.checked = 0
        self.unknown: set[str] = set()
        self.faults: list[str] = []
        self.totals: dict[int, float] = {}
        self.sent: dict[tuple[int, int], float] = {}
        self.locals: dict[tuple[int, int], float] = {}

    def run(self) -> Report:
        for id, node in enumerate(self.nodes):
            self._node(id, node)
        for place, event in enumerate(self.events):
            handler = getattr(self, f"_{str(event['kind']).lower()}", None)
            if handler is None:
                raise TraceError(f"event {place} is of an unknown kind, {event['kind']!r}")
            handler(f"event {place} ({event['kind']})", event)
        return Report(self.checked, tuple(sorted(self.unknown)), tuple(self.faults))

    def _expect(self, where: str, what: str, found: Any, right: float) -> None:
        self.checked += 1
        number = float(found)
        if not (number == right or (number != number and right != right)):
            self.faults.append(f"{where}: {what} is {number!r}, but should be {right!r}")

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
        self._expect(where, "the value", event["value"], float(self.nodes[event["node"]]["value"]))

    def _seed(self, where: str, event: dict[str, Any]) -> None:
        id = event["node"]
        self.totals[id] = self.totals.get(id, 0.0) + float(event["gradient"])

    def _visit(self, where: str, event: dict[str, Any]) -> None:
        """Nothing but the order, which has no numbers."""

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
        self.sent[id, slot] = float(event["product"])
        if self.nodes[id]["inputs"][slot] != event["to"]:
            self.faults.append(f"{where}: slot {slot} of node {id} is not node {event['to']}")

    def _accum(self, where: str, event: dict[str, Any]) -> None:
        id = event["node"]
        before, delta = float(event["before"]), float(event["delta"])
        self._expect(where, "the total before", before, self.totals.get(id, 0.0))
        self._expect(where, "the total after", event["after"], before + delta)
        self.totals[id] = float(event["after"])

    def _done(self, where: str, event: dict[str, Any]) -> None:
        if event["gradient"] is not None:
            self._expect(
                where, "the gradient", event["gradient"], self.totals.get(event["node"], 0.0)
            )

    def _skip(self, where: str, event: dict[str, Any]) -> None:
        if not event["reason"]:
            self.faults.append(f"{where}: an edge was skipped without a reason")

    def _update(self, where: str, event: dict[str, Any]) -> None:
        right = float(event["before"]) - float(event["learning_rate"]) * float(event["gradient"])
        self._expect(where, "the value after", event["after"], right)

    def _error(self, where: str, event: dict[str, Any]) -> None:
        """The pass ended there; what came before is checked all the same."""

"""Check a trace: recompute every value, local derivative, product and sum in it.

Each number of a trace must follow from numbers before it. ``verify`` works from the file alone: it
asks the table for the value and the local derivatives of each operation, multiplies, adds, and
compares to the last bit. Arrays are computed again where the file has all their elements.

Read next: ``verify_arrays.py``; ``../cli/``, whose ``minigrad verify`` calls this.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from minigrad import modes
from minigrad.errors import MinigradError, TraceError
from minigrad.formatting import clip_text, visible
from minigrad.ops import OPS
from minigrad.ops.evaluate import compute, kind_of

__all__ = ["Checker", "Report", "verify"]

DAMAGED = (
    MinigradError, KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError,
    MemoryError, RecursionError,
)  # fmt: skip


class Report(NamedTuple):
    """What was checked.

    Attributes:
        checked: How many numbers were computed again.
        unknown: The operations that are not in the table of this process.
        faults: One sentence for each number that does not follow.
        unchecked: What the file does not say enough of, one sentence for each kind.
    """

    checked: int
    unknown: tuple[str, ...]
    faults: tuple[str, ...]
    unchecked: tuple[str, ...] = ()


def verify(content: dict[str, Any]) -> Report:
    """Recompute the numbers of a trace that was read by ``load``.

    Raises:
        TraceError: if a part is missing or of a wrong kind, so that there is nothing to check.
    """
    if not isinstance(content, dict):
        raise TraceError(
            f"verify takes the content of a trace file, not {kind_of(content)}; to_json(t) gives "
            f"that of a trace t, t.save(path) writes it to a file and load(path) reads it"
        )
    try:
        with modes.errstate("ignore"):
            return _checker(content).run()
    except TraceError:
        raise
    except DAMAGED as error:
        raise TraceError(f"the trace is damaged: {type(error).__name__}: {error}") from error


def _checker(content: dict[str, Any]) -> Checker:
    values = [x for node in content["nodes"] for x in (node["value"], *node.get("numbers", ()))]
    if not any(isinstance(x, dict) for x in values):
        return Checker(content)
    from minigrad.events.verify_arrays import ArrayChecker  # which needs NumPy

    return ArrayChecker(content)


class _Place:
    """An event as a fault names it: written out only where there is one."""

    __slots__ = ("_event", "_nodes", "_place")

    def __init__(self, nodes: list[Any], place: int, event: dict[str, Any]) -> None:
        self._nodes, self._place, self._event = nodes, place, event

    def __str__(self) -> str:
        """Its number, its kind, its node by name, and the input that it sends to."""
        ids = (self._event.get("node"), self._event.get("to"))
        known = (self._nodes[i] for i in ids if isinstance(i, int) and 0 <= i < len(self._nodes))
        edge = " → ".join(clip_text(visible(str(node["name"])), 20) for node in known)
        return f"event {self._place} ({' '.join([self._event['kind'], edge]).rstrip()})"


class Checker:
    """The check of a trace of numbers; ``run`` goes through its nodes, then its events."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.nodes = content["nodes"]
        self.events = content["events"]
        self.checked = 0
        self.unknown: set[str] = set()
        self.faults: list[str] = []
        self.totals: dict[int, Any] = {}
        self.locals: dict[tuple[int, int], float] = {}
        self.slots: dict[int, list[int]] = {}  # node -> the slots that were dealt with
        self.sent: tuple[int, Any] | None = None  # a contribution that is not yet added
        self.received: dict[int, int] = {}
        self.expected: dict[int, int] = {}
        self.visited: set[int] = set()
        self.forwarded: set[int] = set()
        self.rules: dict[str, int] = {}  # rules of optimizers that cannot be computed again
        self.changed = 0  # parameters that are not updated from what the pass knew
        self.partial = False  # the pass ended early

    def run(self) -> Report:
        """Check everything."""
        for id, node in enumerate(self.nodes):
            if node["id"] != id or not all(0 <= i < id for i in node["inputs"]):
                raise TraceError(f"node {id}: ids count from 0, and inputs come before their node")
            if node["op"] is not None:
                self.node(id, node)
        for place, event in enumerate(self.events):
            handler = getattr(self, f"_{str(event['kind']).lower()}", None)
            if handler is None or event["kind"] not in _KINDS:
                raise TraceError(f"event {place} is of an unknown kind, {event['kind']!r}")
            handler(_Place(self.nodes, place, event), event)
        if not self.partial:
            self._complete()
        unchecked = self.unchecked()
        return Report(self.checked, tuple(sorted(self.unknown)), tuple(self.faults), unchecked)

    def unchecked(self) -> tuple[str, ...]:
        """What could not be computed again, and why."""
        said = [
            f"{count} update{'s' * (count > 1)} by {rule}, which depend{'s' * (count == 1)} on "
            f"earlier steps"
            for rule, count in sorted(self.rules.items())
        ]
        if self.changed:
            said.append(f"{self.changed} of the parameters changed between the pass and its update")
        return tuple(said)

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
        if not any(node["role"] == "output" or len(self.nodes) == 1 for node in self.nodes):
            self.faults.append("no node is an output")
        if not self.totals:
            self.faults.append("the pass has no SEED")
        for id, count in self.received.items():
            if count != self.expected[id]:
                self.faults.append(
                    f"node {id}: {count} contributions, but {self.expected[id]} said"
                )

    def expect(self, where: object, what: str, found: Any, right: Any) -> Any:
        """Compare a number of the file with what it should be, and return the one to go on with."""
        self.checked += 1
        number = float(found)
        if not (number == right or (number != number and right != right)):
            self.faults.append(f"{where}: {what} is {number!r}, but should be {right!r}")
        return number

    def number(self, x: Any) -> Any:
        """A number of the file."""
        return float(x)

    def row(self, node: dict[str, Any]) -> Any:
        """The row of a node with its attributes; None if this process does not know it."""
        row = OPS.get(node["op"])
        if row is None:
            self.unknown.add(node["op"])
        elif not set(node["attrs"]) <= set(row.attrs):
            raise TraceError(f"{node['op']} has no attributes {sorted(node['attrs'])}")
        return row.bind(**attributes(node)) if row is not None and node["attrs"] else row

    def node(self, id: int, node: dict[str, Any]) -> None:
        """Check what went into a node, and what came out."""
        xs = tuple(map(float, node["numbers"]))
        self.went_in(id, node, xs)
        row = self.row(node)
        if row is not None and not node.get("stale"):
            self.expect(f"node {id} ({node['op']})", "the value", node["value"], compute(row, xs))

    def went_in(self, id: int, node: dict[str, Any], xs: Any) -> None:
        """Check that the numbers of a node are the values of its inputs."""
        for x, source in zip(xs, node["inputs"], strict=True):
            if not self.nodes[source].get("stale"):
                right = self.number(self.nodes[source]["value"])
                self.expect(f"node {id}", f"the number from node {source}", x, right)

    def _forward(self, where: object, event: dict[str, Any]) -> None:
        self.forwarded.add(event["node"])
        right = self.number(self.nodes[event["node"]]["value"])
        self.expect(where, "the value", event["value"], right)

    def _seed(self, where: object, event: dict[str, Any]) -> None:
        id, seed = event["node"], self.number(event["gradient"])
        self.totals[id] = seed + self.totals[id] if id in self.totals else seed

    def _visit(self, where: object, event: dict[str, Any]) -> None:
        if event["popped"] != event["node"] or event["node"] in self.visited:
            self.faults.append(f"{where}: node {event['node']} is not the one, or comes twice")
        self.visited.add(event["node"])

    def _local(self, where: object, event: dict[str, Any]) -> None:
        id, slot = event["node"], event["slot"]
        node = self.nodes[id]
        self.locals[id, slot] = float(event["value"])
        row = self.row(node)
        if row is not None and not node.get("stale"):
            xs = tuple(map(float, node["numbers"]))
            right = row.local_derivative(slot, float(node["value"]), xs)
            self.expect(where, "the local derivative", event["value"], right)

    def _contrib(self, where: object, event: dict[str, Any]) -> None:
        id, slot = event["node"], event["slot"]
        upstream, local = float(event["upstream"]), float(event["local"])
        self.expect(where, "the upstream gradient", upstream, self.totals[id])
        self.expect(where, "the local derivative", local, self.locals[id, slot])
        self.expect(where, "the product", event["product"], upstream * local)
        self.send(where, event, float(event["product"]))

    def send(self, where: object, event: dict[str, Any], contribution: Any) -> None:
        """Note a contribution, which the next event adds."""
        id, slot = event["node"], event["slot"]
        self.slots.setdefault(id, []).append(slot)
        self.sent = event["to"], contribution
        if self.nodes[id]["inputs"][slot] != event["to"]:
            self.faults.append(f"{where}: slot {slot} of node {id} is not node {event['to']}")

    def _accum(self, where: object, event: dict[str, Any]) -> None:
        id = event["node"]
        self.count(where, event)
        before, delta = float(event["before"]), float(event["delta"])
        self.expect(where, "what is added", delta, self.sent[1] if self.sent else float("nan"))
        self.sent = None
        self.expect(where, "the total before", before, self.totals.get(id, 0.0))
        self.totals[id] = self.expect(where, "the total after", event["after"], before + delta)

    def count(self, where: object, event: dict[str, Any]) -> None:
        """Check that a contribution comes in its place."""
        id = event["node"]
        count = self.received[id] = self.received.get(id, 0) + 1
        self.expected[id] = event["of"]
        to = self.sent[0] if self.sent else None
        if to != id or event["nth"] != count or id in self.visited:
            self.faults.append(f"{where}: contribution {event['nth']} to node {id} is out of place")

    def _done(self, where: object, event: dict[str, Any]) -> None:
        if event["gradient"] is not None:
            self.expect(
                where, "the gradient", event["gradient"], self.totals.get(event["node"], 0.0)
            )

    def _skip(self, where: object, event: dict[str, Any]) -> None:
        self.slots.setdefault(event["node"], []).append(event["slot"])
        constant = self.nodes[event["to"]]["role"] == "constant"
        if not event["reason"] or constant != (event["reason"] == "constant"):
            self.faults.append(f"{where}: the reason {event['reason']!r} does not fit")

    def _update(self, where: object, event: dict[str, Any]) -> None:
        before = self.number(event["before"])
        found = len(self.faults)
        for node in self.nodes:
            for slot, source in enumerate(node["inputs"]):
                if source == event["node"] and node["op"] is not None:
                    right = self.number(node["numbers"][slot])
                    self.expect(where, "the value before", event["before"], right)
        if self.faults[found:] and event.get("changed") is True:
            del self.faults[found:]
            self.changed += 1
        rule = str(event.get("rule", "SGD"))
        if rule != "SGD":
            self.rules[rule] = self.rules.get(rule, 0) + 1
            return
        step = float(event["learning_rate"]) * self.number(event["gradient"])
        self.expect(where, "the value after", event["after"], before - step)

    def _error(self, where: object, event: dict[str, Any]) -> None:
        self.partial = True  # what came before is checked all the same


_KINDS = {
    name[1:].upper() for name in vars(Checker) if name[0] == "_" and name[1] != "_"
} - {"COMPLETE"}  # fmt: skip


def attributes(node: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a node as its row takes them."""
    return {name: _attribute(x) for name, x in node["attrs"].items()}


def _attribute(x: Any) -> Any:
    if isinstance(x, list):
        return tuple(map(_attribute, x))
    if not isinstance(x, dict):
        return x
    if "slice" in x:
        return ... if x["slice"] == "..." else slice(*map(_attribute, x["slice"]))
    if "float" in x:
        return float(x["float"])
    if "values" in x:
        from minigrad.events.verify_arrays import array_of

        return array_of(x)
    return x["dtype"]

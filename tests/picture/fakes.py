"""Graphs to draw, recorded by a tape of thirty lines: the tests need no engine."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from minigrad.picture.diagram import Card, Diagram, Edge
from minigrad.picture.sketch import RecordedSketch


class FakeNode(NamedTuple):
    """A recorded node."""

    id: int
    name: str
    role: str
    op: str | None
    inputs: tuple[int, ...]
    value: float
    shape: tuple[int, ...] = ()
    scope: str = ""


class FakeEdge(NamedTuple):
    """A recorded edge."""

    node: int
    slot: int
    local: float | None
    contribution: float | None
    reason: str | None = None


class Tape:
    """Records nodes and local derivatives; `diagram` runs the chain rule over them."""

    def __init__(self) -> None:
        self.nodes: list[FakeNode] = []
        self.locals: list[Sequence[float]] = []

    def leaf(self, name: str, value: float, role: str = "leaf") -> int:
        return self._add(name, role, None, (), value, ())

    def op(self, op: str, *inputs: int, name: str = "") -> int:
        values = [self.nodes[source].value for source in inputs]
        value, slopes = RULES[op](*values)
        return self._add(name or f"v{len(self.nodes)}", "operation", op, inputs, value, slopes)

    def _add(self, name: str, role: str, op: str | None, inputs: tuple[int, ...], value: float,
             slopes: Sequence[float]) -> int:  # fmt: skip
        self.nodes.append(FakeNode(len(self.nodes), name, role, op, inputs, float(value)))
        self.locals.append(slopes)
        return len(self.nodes) - 1

    def diagram(self, *outputs: int, title: str = "") -> Diagram:
        gradients: dict[int, float | None] = {
            node.id: None if node.role == "constant" else 0.0 for node in self.nodes
        }
        for output in outputs:
            gradients[output] = 1.0
        edges = []
        for node in reversed(self.nodes):
            for slot, source in enumerate(node.inputs):
                if self.nodes[source].role == "constant":
                    edges.append(FakeEdge(node.id, slot, None, None, "constant"))
                    continue
                slope = float(self.locals[node.id][slot])
                contribution = (gradients[node.id] or 0.0) * slope
                gradients[source] = (gradients[source] or 0.0) + contribution
                edges.append(FakeEdge(node.id, slot, slope, contribution))
        return RecordedSketch(self.nodes, outputs, gradients, edges, title=title).diagram()


RULES: dict[str, Callable[..., tuple[float, Sequence[float]]]] = {
    "add": lambda a, b: (a + b, (1, 1)),
    "sub": lambda a, b: (a - b, (1, -1)),
    "mul": lambda a, b: (a * b, (b, a)),
    "div": lambda a, b: (a / b, (1 / b, -a / b / b)),
    "pow": lambda a, b: (a**b, (b * a ** (b - 1), 0.0)),
    "tanh": lambda a: (math.tanh(a), (1 - math.tanh(a) ** 2,)),
    "exp": lambda a: (math.exp(a), (math.exp(a),)),
    "log": lambda a: (math.log(a), (1 / a,)),
    "neg": lambda a: (-a, (-1,)),
    "dot": lambda *a: (sum(a), (1,) * len(a)),
}


def diamond() -> Diagram:
    """y = x*x + x at 3."""
    tape = Tape()
    x = tape.leaf("x", 3.0)
    return tape.diagram(tape.op("add", tape.op("mul", x, x, name="m"), x, name="y"))


def neuron() -> Diagram:
    """y = tanh(x1*w1 + x2*w2 + b)."""
    tape = Tape()
    x1, x2 = tape.leaf("x1", 2.0), tape.leaf("x2", 0.0)
    w1, w2 = tape.leaf("w1", -3.0, "parameter"), tape.leaf("w2", 1.0, "parameter")
    b = tape.leaf("b", 6.8813735870195432, "parameter")
    products = tape.op("mul", x1, w1), tape.op("mul", x2, w2)
    n = tape.op("add", tape.op("add", *products), b, name="n")
    return tape.diagram(tape.op("tanh", n, name="y"), title="a neuron")


def softmax() -> Diagram:
    """Softmax of three numbers and the negative log of the second."""
    tape = Tape()
    exps = [tape.op("exp", tape.leaf(f"z{i}", z)) for i, z in enumerate((1.0, 2.0, 0.5))]
    total = tape.op("add", tape.op("add", exps[0], exps[1]), exps[2], name="total")
    shares = [tape.op("div", e, total, name=f"p{i}") for i, e in enumerate(exps)]
    return tape.diagram(tape.op("neg", tape.op("log", shares[1]), name="loss"))


def mlp(*sizes: int) -> Diagram:
    """A multilayer perceptron of scalar operations, for one sample."""
    rng = random.Random(0)
    tape = Tape()
    xs = [tape.leaf(f"x{i}", rng.uniform(-1, 1)) for i in range(sizes[0])]
    for layer, width in enumerate(sizes[1:]):
        ys = []
        for j in range(width):
            total = tape.leaf(f"b{layer}_{j}", 0.0, "parameter")
            for i, x in enumerate(xs):
                w = tape.leaf(f"w{layer}_{j}{i}", rng.uniform(-1, 1), "parameter")
                total = tape.op("add", total, tape.op("mul", w, x))
            ys.append(tape.op("tanh", total, name=f"h{layer}_{j}"))
        xs = ys
    return tape.diagram(*xs)


def chain(length: int) -> Diagram:
    """x → tanh(w·x + 0.1) → …, `length` operations and as many constants as sums."""
    tape = Tape()
    at, w = tape.leaf("x", 0.5), tape.leaf("w", 0.9, "parameter")
    for number in range(length):
        step = number % 3
        if step == 0:
            at = tape.op("mul", at, w)
        elif step == 1:
            at = tape.op("add", at, tape.leaf("", 0.1, "constant"))
        else:
            at = tape.op("tanh", at)
    return tape.diagram(at)


def named(*names: str) -> Diagram:
    """One leaf per name, and an operation with the last name that uses them all."""
    cards = [Card(i, name, value=float(i), gradient=1.0) for i, name in enumerate(names)]
    last = Card(len(names), names[-1], names[0] or "op", "output", 1.0, 1.0)
    edges = tuple(Edge(i, len(names), i, names[i]) for i in range(len(names)))
    return Diagram((*cards, last), edges, (len(names),), names[0])


HOSTILE = (
    '</script><b>"x\\', '"]; evil [label="pwn', "NUL\0here", "]]>", "<!--", "-->", "\u2028", "a\nb",
    "<img src=x onerror=alert(1)>", "'", "`", "&amp;", "{a|b}<c>", "x:1", "::", "}; subgraph{",
    "\ud800", "\x1b[31mred", "损失函数", "🎉", "", "\\N", "${alert(1)}", "\ufffe", "é" * 300,
)  # fmt: skip

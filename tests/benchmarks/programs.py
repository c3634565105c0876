"""The programs that are measured: a random graph, micrograd's own demo, and a long chain."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import minigrad as mg

ADD, MUL, TANH, EXP, RELU, SQUARE = range(6)
OPS = (ADD, MUL, TANH, EXP, RELU, SQUARE)
SHARES = (35, 35, 9, 6, 7, 8)  # per cent of the operations
LEAVES = 0.20  # of the nodes
BOUND = 4.0  # on every value, so that millions of operations stay finite

FLOATS: dict[int, Callable[[float, float], float]] = {
    ADD: lambda x, y: x + y,
    MUL: lambda x, y: x * y,
    TANH: lambda x, _: math.tanh(x),
    EXP: lambda x, _: math.exp(x),
    RELU: lambda x, _: max(x, 0.0),
    SQUARE: lambda x, _: x * x,
}


class Program(NamedTuple):
    """Leaf values, then operations `(op, i, j)` on values before them; the last is the output."""

    leaves: list[float]
    operations: list[tuple[int, int, int]]

    def __len__(self) -> int:
        return len(self.leaves) + len(self.operations)


def random_program(size: int, seed: int = 0) -> Program:
    """A graph of about `size` nodes in which every node reaches the output.

    Each operation takes the oldest value that nothing has used yet; this keeps the graph shallow
    (under a hundred levels at 10⁶ nodes), which micrograd's recursive backward needs. The second
    operand of a binary one is, as often as it takes to end with one value, unused too, else any of
    the most recent tenth: a node that is used again.
    """
    rng = random.Random(seed)
    values = [rng.uniform(-1.0, 1.0) for _ in range(round(size * LEAVES))]
    leaves = list(values)
    operations: list[tuple[int, int, int]] = []
    unused = list(range(len(values)))
    first = 0  # position of the oldest unused value
    binary = size * (1 - LEAVES) * (SHARES[ADD] + SHARES[MUL]) / 100
    closing = len(leaves) / binary  # share of binary operations that join two unused values

    def record(op: int, i: int, j: int, value: float) -> None:
        operations.append((op, i, j))
        unused.append(len(values))
        values.append(value)

    while len(values) < size and first < len(unused):
        i = unused[first]
        first += 1
        [op] = rng.choices(OPS, SHARES)
        joins = rng.random() < closing and first < len(unused)
        j = unused[first] if joins else len(values) - 1 - int(rng.random() * (len(values) / 10))
        value = FLOATS[op](values[i], values[j])
        if abs(value) > BOUND:  # fall back on what is bounded
            op, value = TANH, math.tanh(values[i])
        first += joins and op in (ADD, MUL)
        record(op, i, j, value)
    while first < len(unused) - 1:  # add up the few that are left
        i, j = unused[first], unused[first + 1]
        first += 2
        record(ADD, i, j, values[i] + values[j])
    return Program(leaves, operations)


def run(program: Program, leaf: Callable[[float], Any]) -> tuple[list[Any], Any]:
    """The leaves and the output of `program`, in the engine that `leaf` makes nodes of."""
    values = [leaf(number) for number in program.leaves]
    leaves = list(values)
    append = values.append
    for op, i, j in program.operations:
        if op == ADD:
            append(values[i] + values[j])
        elif op == MUL:
            append(values[i] * values[j])
        elif op == TANH:
            append(values[i].tanh())
        elif op == EXP:
            append(values[i].exp())
        elif op == RELU:
            append(values[i].relu())
        else:
            append(values[i] ** 2)
    return leaves, values[-1]


def chain(length: int, leaf: Callable[[float], Any]) -> Any:
    """`length` additions, each on the one before: the deepest graph there is."""
    value = leaf(1.0)
    for _ in range(length):
        value = value + 1.0
    return value


# --- micrograd's demo: 100 points of two moons, 2-16-16-1, max-margin loss and L2 -----------------

POINTS, LAYERS, ALPHA, LEARNING_RATE = 100, (2, 16, 16, 1), 1e-4, 0.05


def moons(seed: int = 0) -> list[tuple[float, float, int]]:
    """Points (x, y) on two interleaved half circles with noise 0.1, and their label, 1 or -1."""
    rng = random.Random(seed)
    points = []
    for k in range(POINTS):
        label = 1 if k % 2 else -1
        angle = math.pi * rng.random()
        x, y = math.cos(angle), math.sin(angle)
        x, y = (1.0 - x, 0.5 - y) if label == 1 else (x, y)
        points.append((x + rng.gauss(0.0, 0.1), y + rng.gauss(0.0, 0.1), label))
    return points


class Moons:
    """The demo's network and its training step, from scalars of one engine.

    Args:
        leaf: makes a leaf node of a number.
        nary: write sums of products as `mg.dot` and `mg.sum`, one node each.
    """

    def __init__(self, leaf: Callable[[float], Any], nary: bool = False) -> None:
        rng = random.Random(1337)
        self.leaf = leaf
        self.nary = nary
        self.points = moons()
        self.layers = [
            [([leaf(rng.uniform(-1.0, 1.0)) for _ in range(n)], leaf(0.0)) for _ in range(m)]
            for n, m in pairwise(LAYERS)
        ]
        self.parameters = [p for layer in self.layers for ws, b in layer for p in (*ws, b)]

    def scores(self, x: list[Any]) -> list[Any]:
        """The network's outputs for one point; every layer but the last ends in relu."""
        for layer in self.layers:
            if self.nary:
                x = [mg.dot(ws, x) + b for ws, b in layer]
            else:
                x = [sum((w * v for w, v in zip(ws, x, strict=True)), b) for ws, b in layer]
            if layer is not self.layers[-1]:
                x = [v.relu() for v in x]
        return x

    def loss(self) -> Any:
        """Mean of max(0, 1 - label × score), plus ALPHA × sum of squared parameters."""
        points = [([self.leaf(x), self.leaf(y)], label) for x, y, label in self.points]
        scores = [(self.scores(point)[0], label) for point, label in points]
        losses = [(1 + -label * score).relu() for score, label in scores]
        if self.nary:
            penalty = mg.dot(self.parameters, self.parameters)
            return mg.sum(losses) * (1.0 / len(losses)) + ALPHA * penalty
        return sum(losses) * (1.0 / len(losses)) + ALPHA * sum(p * p for p in self.parameters)

    def step(self) -> float:
        """Forward, backward, update; returns the loss."""
        loss = self.loss()
        for p in self.parameters:
            p.grad = 0.0
        loss.backward()
        for p in self.parameters:
            p.data -= LEARNING_RATE * p.grad
        return float(loss.data)

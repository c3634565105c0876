"""``minigrad demo``: one neuron looked at closely, then a network of the same kind in training.

It needs the standard library alone; where NumPy is installed, the network runs once more on arrays.
The pictures are written to the current folder.

Read next: ``../value.py``; the moons and the network are written out here, as a learner would.
"""

from __future__ import annotations

import os
import random
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from math import cos, pi, sin
from typing import TYPE_CHECKING

from minigrad.debugger.walk import backward_lines, leaf_lines
from minigrad.errors import PictureError
from minigrad.events import trace
from minigrad.ops import FUNCTIONS
from minigrad.picture import draw
from minigrad.value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["run"]

dot, total = FUNCTIONS["dot"], FUNCTIONS["sum"]

Point = tuple[float, float]
LAYERS = (2, 16, 16, 1)
STEPS = 60


def run() -> int:
    """Print the demo; returns the exit code."""
    neuron()
    print()
    train()
    return 0


def neuron() -> None:
    """tanh(x1·w1 + x2·w2 + b), with the gradient at every node."""
    x1, x2 = Value(2.0, name="x1"), Value(0.0, name="x2")
    w1, w2 = Value(-3.0, name="w1"), Value(1.0, name="w2")
    b = Value(6.8813735870195432, name="b")
    out = (x1 * w1 + x2 * w2 + b).tanh()
    out.name = "out"
    out.backward()

    print("A neuron, out = tanh(x1*w1 + x2*w2 + b): value and gradient at every node\n")
    drawing = draw(out)
    print(drawing)
    print("\nThe walk backwards, edge by edge\n")
    record = trace(out)
    print(*backward_lines(record), "", *leaf_lines(record), sep="\n")
    try:
        paths = [os.path.relpath(drawing.save(name)) for name in ("graph.svg", "graph.html")]
        print(f"\nThe picture is in {paths[0]} and {paths[1]}")
    except PictureError as error:  # a folder that cannot be written is no reason to stop
        print(f"\nNo picture: {error}")


def train() -> None:
    """A network of Values learns to tell two moons apart."""
    rng = random.Random(2)
    points, labels = moons(100, rng)
    layers = [layer(n, m, rng) for n, m in pairwise(LAYERS)]
    parameters = [p for ws_and_b in layers for ws, b in ws_and_b for p in (*ws, b)]
    print(
        f"A {'-'.join(map(str, LAYERS))} network of {len(parameters)} parameters learns two moons"
    )
    weights = [
        ([[w.data for w in ws] for ws, _ in neurons], [b.data for _, b in neurons])
        for neurons in layers
    ]
    rates = [1.0 - 0.9 * step / STEPS for step in range(1, STEPS + 1)]
    losses = []
    start = time.perf_counter()
    for step, rate in enumerate(rates, start=1):
        scores = [score(layers, point) for point in points]
        loss = total([(1.0 - y * s).relu() for s, y in zip(scores, labels, strict=True)])
        loss = loss * (1.0 / len(points)) + 1e-4 * dot(parameters, parameters)
        for p in parameters:
            p.zero_grad()
        loss.backward()
        for p in parameters:
            p.data -= rate * p.grad
        right = sum((s.data > 0) == (y > 0) for s, y in zip(scores, labels, strict=True))
        losses.append(loss.data)
        _progress(step, loss.data, right / len(points))
    seconds = time.perf_counter() - start
    print(f"in {seconds:.1f} s, one Value at a time")
    if find_spec("numpy"):
        arrays = import_module("minigrad.cli.demo_arrays")
        same, faster = arrays.train(weights, points, labels, rates)
        difference = max(abs(a - b) for a, b in zip(losses, same, strict=True))
        print(
            f"in {faster:.2f} s with arrays, {seconds / faster:.0f} times faster: a layer is one "
            f"product of matrices\nthe losses differ by at most {difference:.0e}"
        )
    else:
        print("(with NumPy installed, the same network would run here once more, on arrays)")


def moons(count: int, rng: random.Random) -> tuple[list[Point], list[float]]:
    """Two half circles that reach into each other, with noise; labels 1 and -1."""
    points, labels = [], []
    for i in range(count):
        angle, upper = rng.uniform(0.0, pi), i % 2 == 0
        x, y = (cos(angle), sin(angle)) if upper else (1.0 - cos(angle), 0.5 - sin(angle))
        points.append((x + rng.gauss(0.0, 0.1), y + rng.gauss(0.0, 0.1)))
        labels.append(1.0 if upper else -1.0)
    return points, labels


Layer = list[tuple[list[Value], Value]]


def layer(inputs: int, outputs: int, rng: random.Random) -> Layer:
    """Weights and a bias for each neuron."""
    scale = (2.0 / inputs) ** 0.5
    return [
        ([Value(rng.gauss(0.0, scale)) for _ in range(inputs)], Value(0.0)) for _ in range(outputs)
    ]


def score(layers: Sequence[Layer], point: Point) -> Value:
    """The output of the network: positive for the upper moon."""
    x: list[Value] | Point = point
    for neurons in layers[:-1]:
        x = [(dot(ws, x) + b).relu() for ws, b in neurons]
    ((ws, b),) = layers[-1]
    out: Value = dot(ws, x) + b
    return out


def _progress(step: int, loss: float, accuracy: float) -> None:
    """On a terminal one line that changes; in a file a line for every tenth step."""
    text = f"step {step:3d} of {STEPS}   loss {loss:.4f}   accuracy {accuracy:.0%}"
    if sys.stdout.isatty():
        print(f"\r{text}", end="\n" if step == STEPS else "", flush=True)
    elif step % 10 == 0:
        print(text)

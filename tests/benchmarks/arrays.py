"""Prints speed and memory of `Tensor` beside hand-written NumPy, with the target of each figure.

    .venv/bin/python -m tests.benchmarks.arrays [--quick]

The jobs take turns, and each figure is the median of the ratios of neighbours, in CPU time of this
process on one thread: the machine may be busy with other work. Nothing is asserted about time. That
both sides compute the same gradients is checked first.
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import minigrad as mg
from minigrad.ops.products import linear
from minigrad.ops.reduce import sum_of_squares
from minigrad.tensor import ARRAY_FUNCTIONS, Tensor

Job = Callable[[], Any]


class Pair(NamedTuple):
    """The same work by hand and by us."""

    name: str
    hand: Job
    ours: Job
    calls: int
    target: str


def compare(pair: Pair, rounds: int) -> tuple[float, float, float]:
    """Seconds of a call by hand and by us, and the median of their ratios."""
    pair.hand(), pair.ours()
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        taken = []
        for job in (pair.hand, pair.ours):
            start = time.process_time()
            for _ in range(pair.calls):
                job()
            taken.append((time.process_time() - start) / pair.calls)
        times.append((taken[0], taken[1]))
    ratios = [b / a for a, b in times]
    return median(a for a, _ in times), median(b for _, b in times), median(ratios)


# -- single operations ---------------------------------------------------------------------------

LENGTH = 20  # operations in a row, so that the seed and the leaves do not count


def operations(size: int, calls: int, targets: tuple[str, str]) -> list[Pair]:
    """Chains of one operation, forwards and backwards, with and without checks."""
    rng = np.random.default_rng(0)
    a, b, g = rng.normal(size=size), rng.normal(size=size) + 3.0, np.ones(size)
    x, y = Tensor(a), Tensor(b)

    def products_by_hand() -> Any:
        out, kept = a, []
        for _ in range(LENGTH):
            kept.append(out)
            out = out * b
        back, total = g, None
        for z in reversed(kept):
            step = back * z
            total = step if total is None else total + step
            back = back * b
        return back, total

    def tanh_by_hand() -> Any:
        out, kept = a, []
        for _ in range(LENGTH):
            out = np.tanh(out)
            kept.append(out)
        back = g
        for z in reversed(kept):
            back = back * (1.0 - z * z)
        return back

    def relu_by_hand() -> Any:
        out, kept = a, []
        for _ in range(LENGTH):
            kept.append(out)
            out = np.maximum(out, 0.0)
        back = g
        for z in reversed(kept):
            back = back * (z > 0.0)
        return back

    def ours(step: Callable[[Tensor], Any]) -> Job:
        def run() -> None:
            out: Any = x
            for _ in range(LENGTH):
                out = step(out)
            x.zero_grad()
            y.zero_grad()
            out.backward(g)

        return run

    def silent(job: Job) -> Job:
        def run() -> None:
            with mg.errstate("ignore"):
                job()

        return run

    def quiet(job: Job) -> Job:
        def run() -> None:
            with np.errstate(all="ignore"):
                job()

        return run

    pairs = []
    for name, hand, step in (
        ("x * y", products_by_hand, lambda z: z * y),
        ("tanh(x)", tanh_by_hand, lambda z: z.tanh()),
        ("relu(x)", relu_by_hand, lambda z: z.relu()),
    ):
        job = ours(step)
        label = f"{LENGTH} × {name}, size {size}"
        pairs.append(Pair(label, quiet(hand), job, calls, targets[1]))
        pairs.append(Pair(f"{label}, ignore", quiet(hand), silent(job), calls, targets[0]))
    return pairs


# -- networks ------------------------------------------------------------------------------------


def parameters(sizes: Sequence[int], dtype: Any) -> list[Any]:
    """Weights and biases, layer by layer."""
    rng = np.random.default_rng(1)
    made: list[Any] = []
    for m, n in pairwise(sizes):
        made += [(rng.normal(size=(m, n)) / np.sqrt(m)).astype(dtype), np.zeros(n, dtype)]
    return made


class Network:
    """A network of relu layers, once by hand and once as Tensors; `step` trains it."""

    rate: Any
    decay: float = 0.0

    def __init__(self, sizes: Sequence[int], x: Any, y: Any) -> None:
        self.x, self.y = x, y
        self.arrays = parameters(sizes, x.dtype)
        self.tensors = [Tensor(p) for p in self.arrays]
        self.rate = x.dtype.type(1e-3)
        for data in (x, y):
            data.flags.writeable = False  # what cannot change needs no copy in the record

    def loss_by_hand(self, scores: Any) -> tuple[Any, Any]:
        """The loss, and its derivative by the scores."""
        raise NotImplementedError

    def loss(self, scores: Any) -> Any:
        """The same with Tensors."""
        raise NotImplementedError

    def gradients_by_hand(self) -> Any:
        """The loss, the gradients of all parameters, and the activations, which a step keeps."""
        kept, out = [], self.x
        p = self.arrays
        last = len(p) - 2
        for k in range(0, len(p), 2):
            kept.append(out)
            out = out @ p[k] + p[k + 1]
            if k < last:
                out = np.maximum(out, 0.0)
        loss, g = self.loss_by_hand(out)
        gradients = [None] * len(p)
        for k in range(last, -1, -2):
            gradients[k] = kept[k // 2].T @ g
            gradients[k + 1] = g.sum(axis=0)
            if k:
                g = (g @ p[k].T) * (kept[k // 2] > 0.0)
        if self.decay:
            for k, w in enumerate(p):
                loss = loss + self.decay * (w * w).sum()
                gradients[k] = gradients[k] + 2.0 * self.decay * w
        return loss, gradients, kept

    def step_by_hand(self) -> Any:
        """One step of gradient descent."""
        loss, gradients, _activations = self.gradients_by_hand()
        for p, g in zip(self.arrays, gradients, strict=True):
            p -= self.rate * g
        return loss

    def output(self, fused: bool) -> Any:
        """The scores of the network."""
        out: Any = self.x
        p = self.tensors
        for k in range(0, len(p), 2):
            out = linear(out, p[k], p[k + 1]) if fused else out @ p[k] + p[k + 1]
            if k < len(p) - 2:
                out = out.relu()
        return out

    def step(self, fused: bool = False) -> Any:
        """One step of gradient descent."""
        loss = self.loss(self.output(fused))
        for p in self.tensors:
            p.grad = None
        loss.backward()
        for p in self.tensors:
            p.data -= self.rate * p.grad
        return loss

    def check(self) -> None:
        """Both sides have the same loss and gradients."""
        by_hand, gradients, _ = self.gradients_by_hand()
        loss = self.loss(self.output(False))
        loss.backward()
        np.testing.assert_allclose(loss.item(), by_hand, rtol=1e-5)
        for p, g in zip(self.tensors, gradients, strict=True):
            np.testing.assert_allclose(p.grad, g, rtol=1e-4, atol=1e-7)


class Moons(Network):
    """2-16-16-1, hinge loss with weight decay, 100 points, float64."""

    decay = 1e-4

    def __init__(self) -> None:
        rng = np.random.default_rng(2)
        x = rng.normal(size=(100, 2))
        super().__init__([2, 16, 16, 1], x, np.sign(x[:, :1] + 0.1))

    def loss_by_hand(self, scores: Any) -> tuple[Any, Any]:
        margin = 1.0 - self.y * scores
        return np.maximum(margin, 0.0).mean(), (margin > 0.0) * -self.y / len(self.y)

    def loss(self, scores: Any) -> Any:
        total = ARRAY_FUNCTIONS["hinge_loss"](scores, self.y)
        decay = mg.sum([sum_of_squares(w) for w in self.tensors])
        return total + self.decay * decay


class Digits(Network):
    """784-256-128-10, softmax cross entropy, float32."""

    def __init__(self, batch: int) -> None:
        rng = np.random.default_rng(3)
        x = rng.normal(size=(batch, 784)).astype(np.float32)
        super().__init__([784, 256, 128, 10], x, rng.integers(0, 10, batch))

    def loss_by_hand(self, scores: Any) -> tuple[Any, Any]:
        n = np.arange(len(scores))
        low = scores - scores.max(axis=1, keepdims=True)
        weights = np.exp(low)
        whole = weights.sum(axis=1, keepdims=True)
        loss = (np.log(whole[:, 0]) - low[n, self.y]).mean()
        weights /= whole
        weights[n, self.y] -= 1.0
        weights /= len(scores)
        return loss, weights

    def loss(self, scores: Any) -> Any:
        return ARRAY_FUNCTIONS["cross_entropy"](scores, self.y)


def networks(quick: bool) -> list[Pair]:
    """One training step of each network."""
    moons, pairs = Moons(), []
    moons.check()
    calls = 20 if quick else 100
    target = "≤ 2.0x (stretch 1.4x)"
    pairs.append(Pair("moons, batch 100", moons.step_by_hand, moons.step, calls, target))
    pairs.append(
        Pair("moons, fused layers", moons.step_by_hand, lambda: moons.step(True), calls, target)
    )
    for batch in (8, 128):
        net = Digits(batch)
        net.check()
        label = f"784-256-128-10, batch {batch}"
        pairs.append(Pair(label, net.step_by_hand, net.step, 5, "≤ 1.10x"))
        fused = Pair(f"{label}, fused", net.step_by_hand, lambda n=net: n.step(True), 5, "≤ 1.10x")  # type: ignore[misc]
        pairs.append(fused)
    return pairs


def peak(job: Job) -> int:
    """The most bytes that a job holds at once."""
    job()
    tracemalloc.start()
    job()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def microseconds(t: float) -> str:
    """A time in a unit that suits it."""
    return f"{t * 1e6:.1f} µs" if t < 1e-3 else f"{t * 1e3:.2f} ms"


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick = parser.parse_args().quick
    rounds = 7 if quick else 41
    print(f"{'measurement':<40}{'NumPy':>12}{'minigrad':>12}{'ratio':>8}  target")
    small = operations(1, 50 if quick else 200, ("≤ 2.2x", "≤ 2.7x"))
    large = operations(1_000_000, 1, ("≤ 1.1x", "≤ 1.2x"))
    for pairs, turns in ((small, rounds), (large, max(3, rounds // 5)), (networks(quick), rounds)):
        for pair in pairs:
            hand, ours, ratio = compare(pair, turns)
            times = f"{microseconds(hand):>12}{microseconds(ours):>12}{ratio:>7.2f}x"
            print(f"{pair.name:<40}{times}  {pair.target}", flush=True)
    net = Digits(128)
    hand_bytes, our_bytes = peak(net.step_by_hand), peak(net.step)
    label = "784-256-128-10, peak memory of a step"
    sizes = f"{hand_bytes / 1e6:>9.2f} MB{our_bytes / 1e6:>9.2f} MB"
    print(f"{label:<40}{sizes}{our_bytes / hand_bytes:>7.2f}x  ≤ 1.3x", flush=True)


if __name__ == "__main__":
    main()

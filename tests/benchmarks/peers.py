"""Prints how fast the array mode trains beside other libraries, each against hand-written NumPy.

    .venv/bin/python -m tests.benchmarks.peers [--quick] [--only minigrad autograd …]

One process per library, so that none slows another down. In each the library's training step and
the same step in NumPy take turns, on one thread, and the figure is the median ratio of neighbours:
ratios can be compared between processes, times on a busy machine cannot. Libraries that are not
installed are left out. That the first loss is the same is checked before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

from .arrays import Digits, Job, Moons, Network, Pair, compare

Step = Callable[[Network], Job]


def scores(x: Any, parameters: Any, multiply: Any, maximum: Any) -> Any:
    """The output of the network, with the functions of a library that is called like NumPy."""
    out = x
    for k in range(0, len(parameters), 2):
        out = multiply(out, parameters[k]) + parameters[k + 1]
        if k < len(parameters) - 2:
            out = maximum(out, 0.0)
    return out


def minigrad(net: Network) -> Job:
    """Ours, with the fused layers that `mg.nn` uses."""
    return lambda: net.step(fused=True).item()


def autograd(net: Network) -> Job:
    """The gradient of a function of a list of arrays."""
    library, np = import_module("autograd"), import_module("autograd.numpy")

    parameters = [p.copy() for p in net.arrays]

    def loss(p: Any) -> Any:
        out = scores(net.x, p, np.dot, np.maximum)
        if isinstance(net, Moons):
            total = np.mean(np.maximum(1.0 - net.y * out, 0.0))
            return total + net.decay * sum(np.sum(w * w) for w in p)
        low = out - np.max(out, axis=1, keepdims=True)
        low = low - np.log(np.sum(np.exp(low), axis=1, keepdims=True))
        return -np.mean(low[np.arange(len(net.y)), net.y])

    both = library.value_and_grad(loss)

    def step() -> Any:
        value, gradients = both(parameters)
        for p, g in zip(parameters, gradients, strict=True):
            p -= net.rate * g
        return float(value)

    return step


def mygrad(net: Network) -> Job:
    """Tensors that record."""
    library, losses = import_module("mygrad"), import_module("mygrad.nnet.losses")

    parameters = [library.tensor(p.copy()) for p in net.arrays]

    def step() -> Any:
        out = scores(net.x, parameters, library.matmul, library.maximum)
        if isinstance(net, Moons):
            loss = library.maximum(1.0 - net.y * out, 0.0).mean()
            loss = loss + net.decay * sum((w * w).sum() for w in parameters)
        else:
            loss = losses.softmax_crossentropy(out, net.y)
        loss.backward()
        for p in parameters:
            p.data -= net.rate * p.grad
        return float(loss.item())

    return step


def torch(net: Network) -> Job:
    """Eager mode."""
    library = import_module("torch")
    library.set_num_threads(1)
    parameters = [library.tensor(p.copy(), requires_grad=True) for p in net.arrays]
    x, y = library.tensor(net.x.copy()), library.tensor(net.y.copy())
    rate = float(net.rate)

    def step() -> Any:
        out = x
        for k in range(0, len(parameters), 2):
            out = library.addmm(parameters[k + 1], out, parameters[k])
            if k < len(parameters) - 2:
                out = out.relu()
        if isinstance(net, Moons):
            loss = (1.0 - y * out).relu().mean()
            loss = loss + net.decay * sum((w * w).sum() for w in parameters)
        else:
            loss = library.nn.functional.cross_entropy(out, y)
        for p in parameters:
            p.grad = None
        loss.backward()
        with library.no_grad():
            for p in parameters:
                p -= rate * p.grad
        return loss.item()

    return step


def jax(net: Network) -> Job:
    """Compiled by `jit`: not the same as running step by step, and the fastest of its modes."""
    library, np = import_module("jax"), import_module("jax.numpy")
    library.config.update("jax_enable_x64", net.x.dtype == "float64")
    parameters = [np.array(p) for p in net.arrays]
    x, y = np.array(net.x), np.array(net.y)

    def loss(p: Any) -> Any:
        out = scores(x, p, np.matmul, np.maximum)
        if isinstance(net, Moons):
            total = np.maximum(1.0 - y * out, 0.0).mean()
            return total + net.decay * sum((w * w).sum() for w in p)
        low = library.nn.log_softmax(out, axis=1)
        return -low[np.arange(len(y)), y].mean()

    def descend(p: Any) -> Any:
        value, gradients = library.value_and_grad(loss)(p)
        return value, [w - net.rate * g for w, g in zip(p, gradients, strict=True)]

    update = library.jit(descend)

    def step() -> Any:
        nonlocal parameters
        value, parameters = update(parameters)
        return float(value)

    return step


LIBRARIES: dict[str, Step] = {
    function.__name__: function for function in (minigrad, torch, jax, mygrad, autograd)
}
NETWORKS: dict[str, tuple[Callable[[], Network], int]] = {
    "moons 2-16-16-1, batch 100, float64": (Moons, 20),
    "784-256-128-10, batch 8, float32": (lambda: Digits(8), 5),
    "784-256-128-10, batch 32, float32": (lambda: Digits(32), 5),
    "784-256-128-10, batch 128, float32": (lambda: Digits(128), 3),
}


def measure(library: str, rounds: int) -> dict[str, float]:
    """For each network the time of a step of ``library``, as a multiple of NumPy's."""
    ratios = {}
    for name, (make, calls) in NETWORKS.items():
        net = make()
        step = LIBRARIES[library](net)
        theirs, ours = step(), net.step_by_hand()
        if abs(theirs - ours) > 1e-4 * abs(ours):
            raise SystemExit(f"{library}: the first loss of {name} is {theirs}, by hand {ours}")
        pair = Pair(name, net.step_by_hand, step, calls, "")
        ratios[name] = compare(pair, rounds)[2]
    return ratios


def main() -> None:
    """Run each library in a process of its own, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.peers", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--only", nargs="+", choices=LIBRARIES, default=[*LIBRARIES])
    parser.add_argument("--measure", choices=LIBRARIES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    rounds = 5 if options.quick else 31
    if options.measure:
        print(json.dumps(measure(options.measure, rounds)))
        return
    installed = [name for name in options.only if find_spec(name)]
    columns: dict[str, dict[str, float]] = {}
    for name in installed:
        command = [sys.executable, "-m", __spec__.name, "--measure", name]
        done = subprocess.run(
            [*command, *["--quick"] * options.quick], capture_output=True, text=True, check=False
        )
        if done.returncode:
            reason = (done.stderr.splitlines() or [f"it ended with {done.returncode}"])[-1]
            print(f"{name} failed: {reason}")
        else:
            columns[name] = json.loads(done.stdout.splitlines()[-1])
    print("a training step, as a multiple of hand-written NumPy (smaller is faster)\n")
    print(f"{'network':<38}" + "".join(f"{name:>10}" for name in columns))
    for network in NETWORKS:
        print(f"{network:<38}" + "".join(f"{c[network]:>9.2f}x" for c in columns.values()))
    missing = [name for name in options.only if name not in installed]
    if missing:
        print(f"\nnot installed: {', '.join(missing)}")


if __name__ == "__main__":
    main()

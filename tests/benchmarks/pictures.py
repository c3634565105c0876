"""Prints how long pictures take, with the target of each figure; nothing is asserted.

    .venv/bin/python -m tests.benchmarks.pictures [--quick]

Times are medians of CPU seconds, with the default garbage collector. Other renderers need `dot`,
whose time is measured in the same run where it is installed: it draws the same cards.
"""

from __future__ import annotations

import argparse
import gc
import platform
import shutil
import subprocess
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import minigrad as mg
from minigrad import Value

DOT = shutil.which("dot")
COLUMNS = "picture", "cards", "minigrad", "target", "dot"


def network(inputs: int, hidden: int) -> Any:
    """A neuron for each of ``hidden``, of products and sums, and their sum: about 4·i·h nodes."""
    xs = [Value(0.1 * i) for i in range(inputs)]
    total: Any = 0.0
    for j in range(hidden):
        neuron: Any = Value(0.01 * j)
        for x in xs:
            neuron = neuron + Value(0.3) * x
        total = neuron.tanh() + total
    return total


def chain(length: int, step: Callable[[Any], Any]) -> Any:
    """``step`` applied ``length`` times."""
    y = Value(1.0)
    for _ in range(length):
        y = step(y)
    return y


def seconds(job: Callable[[], object], repeats: int) -> float:
    """The median CPU time of ``job``."""
    times = []
    for turn in range(repeats + 1):  # the interpreter specialises code in its first calls
        gc.collect()
        start = time.process_time()
        job()
        if turn:
            times.append(time.process_time() - start)
    return median(times)


def dot_seconds(text: str) -> float:
    """The time in which ``dot`` makes an SVG of the same cards."""
    start = time.perf_counter()
    subprocess.run([str(DOT), "-Tsvg"], input=text.encode(), capture_output=True, check=True)
    return time.perf_counter() - start


def report(what: str, output: Any, target: str, repeats: int, **look: Any) -> None:
    """One row: from the recorded graph to the SVG, with the pass and the trace in between."""
    drawing = mg.draw(output, **look)
    cards = len(drawing.diagram.cards)
    ours = seconds(lambda: mg.draw(output, **look).svg, repeats)
    theirs = f"{1e3 * dot_seconds(drawing.dot):.0f} ms" if DOT and cards <= 200 else ""
    print(f"{what:<44}{cards:>6}{1e3 * ours:>12.1f} ms  {target:<12}{theirs:>9}", flush=True)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.pictures")
    parser.add_argument("--quick", action="store_true", help="shorter chains, fewer repeats")
    quick = parser.parse_args().quick
    repeats, length = (3, 10_000) if quick else (11, 100_000)
    print(f"Python {platform.python_version()}, {platform.machine()}; medians of CPU time\n")
    print(f"{COLUMNS[0]:<44}{COLUMNS[1]:>6}{COLUMNS[2]:>15}  {COLUMNS[3]:<12}{COLUMNS[4]:>9}")
    report("network, all cards", network(4, 6), "<= 10 ms", repeats)
    report("network, all cards", network(8, 30), "<= 150 ms", repeats, max_nodes=None)
    goal = "" if quick else "<= 2000 ms"
    report(f"chain of {length} sines, folded", chain(length, mg.sin), goal, repeats)
    scale = chain(length, lambda y: y * 1.0001)
    report(f"chain of {length} products with a number", scale, goal, repeats)


if __name__ == "__main__":
    main()

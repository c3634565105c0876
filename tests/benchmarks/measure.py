"""How things are measured: interleaved, each on a clean heap, and the median of the repeats.

Times are CPU seconds of this process: the machine may be busy with other work. The garbage
collector keeps its default settings, since its work is a cost that the learner pays.
"""

from __future__ import annotations

import copy
import gc
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from .engines import Engine
from .programs import Moons, Program, chain, run

ROOT = Path(__file__).resolve().parents[2]
Timings = dict[str, float]


def interleaved(
    jobs: Mapping[str, Callable[[], Timings]], repeats: int, warm_up: int = 1
) -> dict[str, Timings]:
    """The median of each timing of each job; the jobs take turns, so that a slow spell hits all.

    The interpreter specialises code in its first calls, so the first `warm_up` rounds do not count.
    """
    rounds: dict[str, list[Timings]] = {name: [] for name in jobs}
    for turn in range(warm_up + repeats):
        for name, job in jobs.items():
            gc.collect()  # what the one before left, and micrograd leaves its whole graph
            timings = job()
            if turn >= warm_up:
                rounds[name].append(timings)
    return {
        name: {key: median(t[key] for t in timings) for key in timings[0]}
        for name, timings in rounds.items()
    }


def dag(engine: Engine, program: Program) -> Timings:
    """Seconds of a forward and a backward pass."""
    with engine.active():
        start = time.process_time()
        _, output = run(program, engine.Value)
        middle = time.process_time()
        output.backward()
        end = time.process_time()
    return {"forward": middle - start, "backward": end - middle, "both": end - start}


def gradients(engine: Engine, program: Program) -> list[float]:
    """The gradient of every leaf."""
    with engine.active():
        leaves, output = run(program, engine.Value)
        output.backward()
    return [float(leaf.grad) for leaf in leaves]


def training_step(engine: Engine, model: Moons) -> Timings:
    """Seconds of a step."""
    with engine.active():
        start = time.process_time()
        model.step()
        return {"step": time.process_time() - start}


def memory(engine: Engine, program: Program) -> dict[str, float]:
    """Bytes a node held after backward, and gc-tracked objects left when the collector is off."""
    with engine.active():
        gc.collect()
        tracemalloc.start()
        output = run(program, engine.Value)[1]
        output.backward()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del output

        left = {}
        for key, backward in (("forward", False), ("backward", True)):
            gc.collect()
            gc.disable()
            try:
                before = len(gc.get_objects())
                output = run(program, engine.Value)[1]
                if backward:
                    output.backward()
                del output
                left[key] = float(len(gc.get_objects()) - before)
            finally:
                gc.enable()
    return {"bytes": held / len(program), **left}


def deep_chain(engine: Engine, length: int) -> dict[str, float | str]:
    """Seconds of what a deep graph is asked to do, or the name of the error it raises."""
    with engine.active():
        nodes = [chain(length, engine.Value)]
        copies: list[object] = []
        jobs: dict[str, Callable[[], object]] = {
            "backward": lambda: nodes[0].backward(),
            "repr": lambda: repr(nodes[0]),
            "deepcopy": lambda: copies.append(copy.deepcopy(nodes[0])),
            "delete": nodes.clear,
        }
        times: dict[str, float | str] = {}
        for name, job in jobs.items():
            if name == "delete":
                copies.clear()
            start = time.process_time()
            try:
                job()
                times[name] = time.process_time() - start
            except RecursionError as error:
                times[name] = type(error).__name__
    gc.collect()
    return times


def import_time(statements: Sequence[str], repeats: int) -> dict[str, float]:
    """Median wall seconds of a process that runs each statement and ends."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # the learner's second import is compiled

    def process(statement: str) -> Timings:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
        return {"wall": time.perf_counter() - start}

    jobs = {statement: partial(process, statement) for statement in statements}
    return {name: timing["wall"] for name, timing in interleaved(jobs, repeats).items()}

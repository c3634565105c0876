"""Prints speed and memory of minigrad beside micrograd, with the target of each figure.

    .venv/bin/pip install -e '.[bench]'
    .venv/bin/python -m tests.benchmarks [--quick] [--sources on|off|both] [--only dag moons …]

Nothing is asserted about time. That both engines compute the same gradients is checked first.
"""

from __future__ import annotations

import argparse
import math
import platform
from functools import partial

from .engines import MICROGRAD, SPANS_OFF, SPANS_ON, Engine
from .measure import (
    dag,
    deep_chain,
    gradients,
    import_time,
    interleaved,
    memory,
    training_step,
)
from .programs import Moons, Program, random_program

COLUMNS = ("measurement", "micrograd", "minigrad", "ratio", "target")
WIDTHS = (46, 16, 16, 8, 30)


def line(*cells: str) -> None:
    """One row of the report."""
    first, *rest = zip(cells, WIDTHS, strict=True)
    target = rest.pop()
    numbers = "  ".join(f"{cell:>{width}}" for cell, width in rest)
    print(f"{first[0]:<{first[1]}}  {numbers}  {target[0]}".rstrip(), flush=True)


def seconds(time: float | str) -> str:
    """A time with the unit that suits it; the name of an error as it is."""
    if isinstance(time, str):
        return time
    scale, unit = (1.0, "s") if time >= 1.0 else (1e3, "ms") if time >= 1e-3 else (1e6, "µs")
    return f"{time * scale:.3g} {unit}"


def times(micrograd: float, ours: float) -> str:
    """How many times faster (or smaller) ours is."""
    return f"{micrograd / ours:.2f}x"


def report_dag(engines: list[Engine], sizes: dict[int, int]) -> None:
    """Random graphs: time a node, forward and backward."""
    for size, repeats in sizes.items():
        program = random_program(size)
        check_same_gradients(program)
        jobs = {e.name: partial(dag, e, program) for e in (MICROGRAD, *engines)}
        medians = interleaved(jobs, repeats)
        for engine in engines:
            for phase in ("forward", "backward", "both"):
                theirs, ours = (medians[e.name][phase] for e in (MICROGRAD, engine))
                target = ""
                if size == 100_000 and phase == "both":
                    target = ">= 2.5x" if engine.sources else ">= 3x (stretch 3.5x)"
                line(
                    f"DAG 10^{math.log10(size):.0f}, {engine.name}, {phase}, per node",
                    seconds(theirs / len(program)),
                    seconds(ours / len(program)),
                    times(theirs, ours),
                    target,
                )


def check_same_gradients(program: Program) -> None:
    """The comparison is worth something only if both compute the same."""
    theirs, ours = gradients(MICROGRAD, program), gradients(SPANS_OFF, program)
    if not all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(theirs, ours, strict=True)):
        raise SystemExit("micrograd and minigrad disagree about a gradient of the random graph")


def report_moons(engines: list[Engine], repeats: int) -> None:
    """micrograd's demo: time a training step, with the same program and with n-ary nodes."""
    models = {MICROGRAD.name: (MICROGRAD, Moons(MICROGRAD.Value))}
    for engine in engines:
        models[engine.name] = engine, Moons(engine.Value)
        models[f"{engine.name}, n-ary"] = engine, Moons(engine.Value, nary=True)
    first = {name: model.step() for name, (_, model) in models.items()}
    if not all(math.isclose(loss, first[MICROGRAD.name], rel_tol=1e-9) for loss in first.values()):
        raise SystemExit(f"the losses of the first step differ: {first}")
    medians = interleaved(
        {name: partial(training_step, *pair) for name, pair in models.items()}, repeats
    )
    theirs = medians.pop(MICROGRAD.name)["step"]
    for name, timing in medians.items():
        if "n-ary" in name:
            target = ">= 30x (stretch 45x)"
        else:
            target = ">= 5.5x" if models[name][0].sources else ">= 6.5x (stretch 8x)"
        ours = timing["step"]
        line(f"moons step, {name}", seconds(theirs), seconds(ours), times(theirs, ours), target)


def report_memory(engines: list[Engine], size: int) -> None:
    """What a graph holds after backward, and what is left of it without the garbage collector."""
    program = random_program(size)
    theirs = memory(MICROGRAD, program)
    for engine in engines:
        ours = memory(engine, program)
        line(
            f"memory 10^{math.log10(size):.0f}, {engine.name}, bytes a node",
            f"{theirs['bytes']:.0f} B",
            f"{ours['bytes']:.0f} B",
            times(theirs["bytes"], ours["bytes"]),
            "" if engine.sources else "<= 225 B",
        )
        for phase in ("forward", "backward"):
            line(
                f"objects left after {phase} and del, {engine.name}",
                f"{theirs[phase]:.0f}",
                f"{ours[phase]:.0f}",
                "",
                "0, collector off",
            )


def report_chain(engines: list[Engine], length: int) -> None:
    """A chain of additions, on which every recursion fails."""
    theirs = deep_chain(MICROGRAD, length)
    for engine in engines:
        for what, time in deep_chain(engine, length).items():
            name = f"chain 10^{math.log10(length):.0f}, {engine.name}, {what}"
            line(name, seconds(theirs[what]), seconds(time), "", "no recursion")


def report_import(repeats: int) -> None:
    """What `import minigrad` adds to the start of the interpreter."""
    empty, theirs, ours = import_time(
        ("pass", "import micrograd.engine", "import minigrad"), repeats
    ).values()
    added = f"{1e3 * (theirs - empty):.1f} ms", f"{1e3 * (ours - empty):.1f} ms"
    line(f"import, added to {1e3 * empty:.0f} ms of `pass`", *added, "", "<= 20 ms")


def main() -> None:
    """Run what the command line asks for."""
    parts = ("dag", "moons", "memory", "chain", "import")
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, metavar="PART")
    parser.add_argument("--quick", action="store_true", help="smaller graphs, under half a minute")
    parser.add_argument("--sources", choices=("on", "off", "both"), default="both")
    options = parser.parse_args()
    wanted = options.only
    engines = {"on": [SPANS_ON], "off": [SPANS_OFF], "both": [SPANS_OFF, SPANS_ON]}[options.sources]
    quick = options.quick
    sizes = {10**3: 51, 10**4: 15} if quick else {10**3: 101, 10**4: 31, 10**5: 9, 10**6: 3}

    print(
        f"Python {platform.python_version()}, {platform.machine()}; medians of interleaved repeats,"
        " CPU time, default garbage collector; ratio = micrograd / minigrad\n"
    )
    line(*COLUMNS)
    if "dag" in wanted:
        report_dag(engines, sizes)
    if "moons" in wanted:
        report_moons(engines, repeats=5 if quick else 15)
    if "memory" in wanted:
        report_memory(engines, 10**4 if quick else 10**5)
    if "chain" in wanted:
        report_chain(engines, 10**5 if quick else 10**6)
    if "import" in wanted:
        report_import(repeats=15 if quick else 31)


if __name__ == "__main__":
    main()

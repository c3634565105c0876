"""Lessons as data: their cells, and a run of them in this process.

A run needs nothing but Python, so that a failing cell shows a real traceback. What a notebook adds
(its kernel, its displays) is tested apart, where it is installed.
"""

import ast
import contextlib
import importlib.util
import io
import json
import linecache
import os
import sys
import warnings
from collections import namedtuple
from pathlib import Path

import minigrad as mg
from minigrad.ops import OPS

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = sorted(path.stem for path in NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))

Run = namedtuple("Run", "printed shown names")  # text, results of cells, variables at the end


def load(name):
    """The module ``notebooks/name.py``, or the package of that name, under a name of its own."""
    path = NOTEBOOKS / name / "__init__.py"
    path = path if path.exists() else NOTEBOOKS / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"lessons_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # the parts of a package look for it there
    spec.loader.exec_module(module)
    return module


def cells(path, kind="code"):
    """The texts of the cells of a notebook."""
    book = json.loads(path.read_text("utf-8"))
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == kind]


def run(texts, title):
    """Run cells as a notebook does: one after the other, and the last expression is shown."""
    names = {"__name__": "__main__"}
    shown = []
    with _session(), contextlib.redirect_stdout(io.StringIO()) as printed:
        for number, text in enumerate(texts, 1):
            file = f"<{title}, cell {number}>"
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
            body = ast.parse(text, file).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            exec(compile(ast.Module(body, []), file, "exec"), names)
            if last is not None:
                shown.append(eval(compile(ast.Expression(last.value), file, "eval"), names))
    return Run(printed.getvalue(), shown, names)


@contextlib.contextmanager
def _session():
    """What is different in a notebook: its folder can be imported from, sources are on.

    Plots are drawn, but no window opens, and they are closed at the end.
    """
    operations, sources, path = dict(OPS), mg.options.sources, list(sys.path)
    other_checks = {name: sys.modules.pop(name) for name in _checks()}
    sys.path.insert(0, str(NOTEBOOKS))
    mg.options.sources = True
    backend = os.environ.get("MPLBACKEND")
    os.environ["MPLBACKEND"] = "agg"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mg_warning())
            yield
    finally:
        mg.options.sources, sys.path[:] = sources, path
        os.environ.pop("MPLBACKEND")
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
        if plots := sys.modules.get("matplotlib.pyplot"):
            plots.close("all")
        for name in _checks():
            del sys.modules[name]
        sys.modules.update(other_checks)
        for name in set(OPS) - set(operations):
            del OPS[name]


def _checks():
    """The names under which the checks of the lessons are imported."""
    return [name for name in sys.modules if name.partition(".")[0] == "checks"]


def mg_warning():
    """The warning that lesson 2 shows on purpose."""
    from minigrad.errors import NumericalWarning

    return NumericalWarning

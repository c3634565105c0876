"""A broken engine must not pass: the engine is broken on purpose, and a check must fail.

Each mutation edits the syntax tree of one function in a copy of the package; ``battery.py`` then
runs on that copy in a process of its own. The rows are broken in this process, one slope at a time.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import minigrad
from minigrad.ops import OPS
from tests.engine import test_rows
from tests.engine.battery import failures
from tests.engine.closed_forms import FORMS, Form

PACKAGE = Path(minigrad.__file__).parent
BATTERY = Path(__file__).with_name("battery.py")

Mutation = Callable[[ast.FunctionDef], None]


# ---- mutations of the engine ---------------------------------------------------------------------


def _function(module: str, name: str) -> tuple[Path, ast.Module, ast.FunctionDef]:
    path = PACKAGE / module
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    assert len(found) == 1, f"{module} has no single function {name}: update this mutation"
    return path, tree, found[0]


def _replace(node: ast.AST, kind: type, change: Callable[[Any], ast.AST | None]) -> int:
    """Replace sub-trees of a kind where ``change`` gives another one; how many were replaced."""

    class Replacing(ast.NodeTransformer):
        count = 0

        def generic_visit(self, node: ast.AST) -> ast.AST:
            super().generic_visit(node)
            if isinstance(node, kind) and (new := change(node)) is not None:
                self.count += 1
                return ast.copy_location(new, node)
            return node

    replacing = Replacing()
    replacing.visit(node)
    return replacing.count


def _sum_of(left: str, right: str) -> Callable[[ast.BinOp], ast.AST | None]:
    """``left + right`` becomes ``right``: ``=`` for ``+=``."""

    def change(node: ast.BinOp) -> ast.AST | None:
        same = (ast.unparse(node.left), ast.unparse(node.right)) == (left, right)
        return node.right if same and isinstance(node.op, ast.Add) else None

    return change


def assign_in_the_sweep(function: ast.FunctionDef) -> None:
    assert _replace(function, ast.BinOp, _sum_of("before", "contribution")) == 1


def do_not_accumulate_at_leaves(function: ast.FunctionDef) -> None:
    assert _replace(function, ast.BinOp, _sum_of("node._grad", "gradient")) == 1


def accumulate_at_inner_nodes(function: ast.FunctionDef) -> None:
    def change(node: ast.Compare) -> ast.AST | None:
        return ast.Constant(True) if ast.unparse(node) == "node._row is None" else None

    tests = [n for n in ast.walk(function) if isinstance(n, ast.If) and "_grad" in ast.unparse(n)]
    assert sum(_replace(test, ast.Compare, change) for test in tests) >= 1


def go_forwards(function: ast.FunctionDef) -> None:
    def change(node: ast.Call) -> ast.AST | None:
        return node.args[0] if ast.unparse(node) == "reversed(order)" else None

    assert _replace(function, ast.Call, change) == 1


def body(text: str) -> Mutation:
    """Another body for the function."""

    def mutate(function: ast.FunctionDef) -> None:
        function.body = ast.parse(text).body

    return mutate


PREORDER = """
from minigrad.graph import sources as _sources
order, seen, stack = [], set(), list(outputs)
while stack:
    node = stack.pop()
    if node not in seen:
        seen.add(node)
        order.append(node)
        stack.extend(x for x in reversed(_sources(node)) if x is not None)
return order[::-1]
"""

PREORDER_BY_MARKS = """
from minigrad.graph import sources as _sources
found = []
while stack:
    node = stack.pop()
    if node._scratch is None:
        node._scratch = _DONE
        found.append(node)
        stack.extend(x for x in reversed(_sources(node)) if x is not None)
order.extend(reversed(found))
"""

MUTATIONS: dict[str, tuple[str, str, Mutation]] = {
    "= for += in the sweep": ("graph.py", "sweep", assign_in_the_sweep),
    "the sweep goes forwards": ("graph.py", "sweep", go_forwards),
    "no topological order": ("graph.py", "topological_order", body(PREORDER)),
    "no topological order in the fused pass": ("fast.py", "_fill_order", body(PREORDER_BY_MARKS)),
    "the fused pass goes forwards": ("fast.py", "_pass_gradients", go_forwards),
    "leaves do not accumulate": ("publish.py", "publish", do_not_accumulate_at_leaves),
    "fused: leaves do not accumulate": ("fast.py", "_publish", do_not_accumulate_at_leaves),
    "inner nodes accumulate": ("publish.py", "publish", accumulate_at_inner_nodes),
    "fused: inner nodes accumulate": ("fast.py", "_publish", accumulate_at_inner_nodes),
    "stale numbers are not noticed": ("pull.py", "_fresh", body("return source")),
    "current numbers instead of recorded ones": (
        "graph.py",
        "numbers",
        body("return tuple(None if x is None else x._data for x in sources(node))"),
    ),
}


def _augmented() -> list[int]:
    _, _, function = _function("fast.py", "_pass_gradients")
    return [i for i, n in enumerate(ast.walk(function)) if isinstance(n, ast.AugAssign)]


def assign_at(position: int) -> Mutation:
    """``=`` for one ``+=`` of the fused pass."""

    def mutate(function: ast.FunctionDef) -> None:
        target = list(ast.walk(function))[position]

        def change(node: ast.AugAssign) -> ast.AST | None:
            return ast.Assign([node.target], node.value) if node is target else None

        assert _replace(function, ast.AugAssign, change) == 1

    return mutate


for _n, _position in enumerate(_augmented()):
    MUTATIONS[f"= for += number {_n} in the fused pass"] = (
        "fast.py", "_pass_gradients", assign_at(_position),
    )  # fmt: skip


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("broken")
    core = root / "minigrad"
    shutil.copytree(PACKAGE, core, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    return core


def run_battery(package: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", str(BATTERY)],
        env={**os.environ, "PYTHONPATH": str(package.parent), "PYTHONUTF8": "1"},
        cwd=package.parent, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip


def test_the_battery_passes_on_the_engine_as_it_is(copied: Path) -> None:
    assert failures() == []
    done = run_battery(copied)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_engine_fails_the_battery(name: str, copied: Path) -> None:
    module, function_name, mutate = MUTATIONS[name]
    path, tree, function = _function(module, function_name)
    mutate(function)
    broken = copied / path.relative_to(PACKAGE)
    try:
        broken.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
        done = run_battery(copied)
    finally:
        shutil.copyfile(path, broken)
    assert "Traceback" not in done.stderr, "the mutation itself is broken:\n" + done.stderr
    assert done.returncode == 1, f"nobody noticed: {name}"


# ---- mutations of the rows -----------------------------------------------------------------------


def _negated(formula: Any) -> Any:
    if callable(formula):
        return lambda *xs, **settings: -formula(*xs, **settings)
    return -formula


def _test_first_derivatives(form: Form) -> None:
    for xs in form.points:
        test_rows.test_first_derivative(form, xs)


def _is_step(form: Form, i: int) -> bool:
    return all(not form.slope(i, xs) for xs in form.points)


SLOPES = [
    pytest.param(form, i, id=f"{form.label}-{i}")
    for form in FORMS
    for i in range(max(map(len, form.points)))
    if not callable(form.slopes) and not _is_step(form, i)
]


@pytest.mark.parametrize(("form", "i"), SLOPES)
def test_a_wrong_sign_in_a_row_fails_the_test_of_the_row(
    form: Form, i: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = OPS[form.row]
    for kind in ("partials", "slopes"):
        formulas = list(getattr(row, kind))
        formulas[i] = _negated(formulas[i])
        monkeypatch.setattr(row, kind, tuple(formulas))
    with pytest.raises(AssertionError):
        _test_first_derivatives(form)


@pytest.mark.parametrize("name", ["sum", "dot"])
def test_a_wrong_sign_in_a_row_of_many_inputs_fails_its_test(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = next(form for form in FORMS if form.row == name)
    kind = type(OPS[name])
    right = kind.local_derivatives
    monkeypatch.setattr(kind, "local_derivatives", lambda self, xs: [-x for x in right(self, xs)])
    with pytest.raises(AssertionError):
        _test_first_derivatives(form)


def test_only_steps_are_left_out() -> None:
    covered = {parameter.values[0].row for parameter in SLOPES} | {"sum", "dot"}  # type: ignore[attr-defined]
    assert set(OPS) >= covered
    assert {form.row for form in FORMS} - covered == {
        "less", "less_equal", "greater", "equal", "isnan", "sign", "floor", "ceil", "round",
        "floordiv",
    }  # fmt: skip

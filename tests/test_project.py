"""The promises of the package as a whole: layers, names, imports, and how much there is to read."""

import ast
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from importlinter.cli import lint_imports

import minigrad

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "minigrad"
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = sorted(module.name for module in pkgutil.iter_modules([str(PACKAGE)]))

TEN_MINUTE_READ = ("graph.py", "ops/core.py", "value.py")  # in the order of reading
OPTIONAL = {"numpy", "graphviz", "matplotlib", "IPython", "anywidget"}
SLOW_TO_IMPORT = {"dataclasses", "inspect", "typing"}

each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))


def bare_python(code: str) -> str:
    """What `code` prints in a fresh interpreter that has minigrad and the standard library only."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"
    command = [sys.executable, "-I", "-S", "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- Layers ---------------------------------------------------------------------------------------


def test_modules_import_only_what_is_below_them(capsys):
    """The contract stands in pyproject.toml; a module that no layer names is refused as well."""
    status = lint_imports(str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert status == 0, capsys.readouterr().out


@each_file
def test_no_module_goes_around_its_layer(file):
    """`minigrad` itself, and an import by name, would reach any layer unseen by the contract."""
    above_all_layers = {"__init__.py", "__main__.py", "cli.py", "cli", "jupyter.py", "jupyter"}
    if file.relative_to(PACKAGE).parts[0] in above_all_layers:
        pytest.skip("stands above all layers")
    around = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            around += [node.lineno for alias in node.names if alias.name == "minigrad"]
        elif isinstance(node, ast.ImportFrom) and absolute_name(node, file) == "minigrad":
            around += [node.lineno for alias in node.names if alias.name not in MODULES]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            around += (
                [node.lineno] if re.search(r"""["'](minigrad|\.)""", ast.unparse(node)) else []
            )
    assert not around, f"lines {around} reach for the package instead of a module below"


def absolute_name(node: ast.ImportFrom, file: Path) -> str:
    """The module that `from … import` names, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    package = file.relative_to(ROOT).parts[: -node.level]
    return ".".join((*package, *filter(None, [node.module])))


# --- Names ----------------------------------------------------------------------------------------


def test_public_names_are_sorted():
    assert list(minigrad.__all__) == sorted(set(minigrad.__all__))


@pytest.mark.parametrize("name", minigrad.__all__)
def test_public_name_exists_and_is_documented(name):
    thing = getattr(minigrad, name)
    documented = thing if callable(thing) or isinstance(thing, ModuleType) else type(thing)
    assert (inspect.getdoc(documented) or "").strip(), f"mg.{name} has no docstring"


def test_no_module_is_named_like_a_public_function():
    """Else `import minigrad.draw` would replace the function `mg.draw` by a module."""
    functions = bare_python(
        "import minigrad as mg\n"
        "print(*(name for name in mg.__all__ if not isinstance(getattr(mg, name), type(sys))))\n"
    )
    assert set(functions.split()) & set(MODULES) == set()


def test_star_import_gives_the_public_names():
    """In a process without NumPy these are the names that do not need it."""
    names = bare_python(
        "import minigrad\nfrom minigrad import *\nprint(set(minigrad.__all__) - set(dir()))"
    )
    assert names.strip() == "set()"
    listed = bare_python("import minigrad as mg\nprint(*mg.__all__)").split()
    assert {"Value", "sin", "draw"} <= set(listed)


# --- Imports --------------------------------------------------------------------------------------


def test_import_is_light():
    loaded = bare_python("import json, minigrad; print(json.dumps(sorted(sys.modules)))")
    loaded = {name.partition(".")[0] for name in json.loads(loaded)}
    assert loaded & (OPTIONAL | SLOW_TO_IMPORT) == set()


def test_public_names_need_the_standard_library_alone():
    missing = bare_python(
        "import minigrad as mg\n"
        "for name in mg.__all__:\n"
        "    try: getattr(mg, name)\n"
        "    except ImportError: print(name)\n"
    )
    assert missing.split() == []


def test_the_engine_runs_on_the_standard_library_alone():
    printed = bare_python(
        "import minigrad as mg\n"
        "a, b = mg.Value(2.0, name='a'), mg.Value(-3.0, name='b')\n"
        "y = mg.tanh(a * b + 6) ** 2 + mg.dot([a, b], [b, a])\n"
        "y.backward()\n"
        "print(y.data, a.grad, b.grad)\n"
    )
    assert [float(number) for number in printed.split()] == [-12.0, -6.0, 4.0]


# --- What there is to read ------------------------------------------------------------------------


def test_the_engine_is_read_in_ten_minutes():
    lines = {
        name: len((PACKAGE / name).read_text("utf-8").splitlines()) for name in TEN_MINUTE_READ
    }
    assert sum(lines.values()) <= 350, lines


@each_file
def test_file_fits_in_a_sitting(file):
    assert len(file.read_text("utf-8").splitlines()) <= 420


@each_file
def test_module_says_what_it_is_for(file):
    assert ast.get_docstring(ast.parse(file.read_text("utf-8")))


@each_file
def test_no_text_is_run_as_code(file):
    calls = [n for n in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(n, ast.Call)]
    named = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    assert named & {"eval", "exec", "__import__"} == set()


@each_file
def test_no_absolute_path(file):
    """A path of one machine would break every other."""
    path = re.compile(r"""(?:^|[\s"'(=])(/(?:[\w.-]+/)+[\w.-]+|[A-Za-z]:\\\w+)""")
    assert not path.findall(file.read_text("utf-8"))


def test_readme_and_ci_run_the_same_command():
    command = "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' "
    command += "&& .venv/bin/python -m pytest -q"
    for page in ("README.md", "CONTRIBUTING.md", ".ci/run"):
        assert command in (ROOT / page).read_text("utf-8"), page

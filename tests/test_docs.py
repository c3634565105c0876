"""The pages in ``docs/`` and README: links lead somewhere, names exist, pages are in step."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad as mg
from minigrad import errors
from minigrad.cli import main
from minigrad.ops import FUNCTIONS, OPS
from minigrad.ops.kinds import General
from minigrad.reference.page import operations_page
from minigrad.tensor import ARRAY_FUNCTIONS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAME = re.compile(r"`mg\.([A-Za-z_]\w*)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def targets(page: Path) -> list[str]:
    """What the relative links of a page point to; formulas and code have no links."""
    text = re.sub(r"\$[^$\n]*\$|`[^`\n]*`", "", FENCED.sub("", page.read_text("utf-8")))
    links = [link.partition("#")[0] for link in LINK.findall(text)]
    return [link for link in links if link and not re.match(r"[a-z]+:", link)]


@each_page
def test_relative_links_lead_to_files(page):
    missing = [link for link in targets(page) if not (page.parent / link).exists()]
    assert not missing, f"{page.name} points to {missing}"


@pytest.mark.parametrize("page", [PAGES[0], *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name)
def test_names_in_backticks_exist(page):
    text = re.sub(r"`mg\.…`", "", page.read_text("utf-8"))
    unknown = sorted({name for name in NAME.findall(text) if not hasattr(mg, name)})
    assert not unknown, f"{page.name} names {unknown}, which minigrad does not have"


@each_page
def test_code_block_ends(page):
    assert page.read_text("utf-8").count("\n```") % 2 == 0


def test_operations_page_is_in_step_with_the_table():
    written = (DOCS / "operations.md").read_text("utf-8")
    assert written == operations_page(), "run python3 -m minigrad.reference"


def test_operations_page_holds_every_row_once():
    titles = re.findall(r"^### `(?:mg\.)?(\w+)`$", operations_page(), re.MULTILINE)
    assert titles == list(FUNCTIONS)


def test_operations_page_holds_every_row_and_function_of_arrays_once():
    titles = re.findall(r"^#### `(?:mg\.|x\.)?(\w+)`$", operations_page(), re.MULTILINE)
    rows = {name for name, op in OPS.items() if isinstance(op, General)}
    assert len(titles) == len(set(titles))
    assert set(titles) == rows | set(ARRAY_FUNCTIONS) - set(FUNCTIONS)


def test_operations_page_says_what_is_a_function_and_what_a_method():
    titles = re.findall(r"^#### `(mg\.|x\.|)(\w+)`$", operations_page(), re.MULTILINE)
    for owner, name in titles:
        assert (name in mg.__all__ and name != "trace") == (owner == "mg."), name
        assert owner != "x." or hasattr(mg.Tensor, name)


def test_operations_page_says_where_every_row_without_a_public_name_comes_from():
    page = operations_page()
    private = re.findall(r"^#### `(\w+)`$", page, re.MULTILINE)
    head = page.partition("## Rows of arrays")[2].partition("\n### ")[0]
    assert private
    assert [name for name in private if f"`{name}`" not in head] == []


def test_errors_page_has_the_tree_of_the_code():
    page = (DOCS / "errors.md").read_text("utf-8")
    lines = [line[4:] for line in (errors.__doc__ or "").splitlines() if line.startswith("    ")]
    assert len(lines) == len(errors.__all__)
    assert [line for line in lines if line not in page.splitlines()] == []


@pytest.mark.parametrize("name", errors.__all__)
def test_errors_page_shows_every_class(name):
    page = (DOCS / "errors.md").read_text("utf-8")
    section = page.partition(f"### {name}\n")[2].partition("\n##")[0]
    assert ">>>" in section or name == "MinigradWarning", f"{name} has no example"


@pytest.mark.parametrize("package", [mg.nn, mg.optim, mg.data], ids=lambda p: p.__name__)
def test_networks_page_names_everything_that_networks_are_made_of(package):
    page = (DOCS / "networks.md").read_text("utf-8")
    assert [name for name in package.__all__ if not re.search(rf"\b{name}\b", page)] == []


def test_networks_page_has_the_formulas_of_the_docstrings():
    page = (DOCS / "networks.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)(?:\([^)]*\))?` \| (.*(?:←|η\(t\)).*?) \|", page, re.MULTILINE)
    assert len(rows) == len(set(rows)) == 6 + 5
    for name, cell in rows:
        text = " ".join((getattr(mg.optim, name).__doc__ or "").split())
        for part in re.split(r"; (?=θ)|, T is", cell):
            assert part in text or "as in `Adam`" in part or "`decay_steps`" in part, name


def test_traces_page_has_every_event_with_its_fields():
    page = (DOCS / "traces.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([A-Z]+)` \| [^|]* \| ([^|]*) \|$", page, re.MULTILINE))
    bad = mg.operation("bad_on_traces_page", lambda m, x: x, [lambda out, x: {}["no"]])
    x = mg.Value(0.0, name="x")
    with mg.record() as made:
        loss = mg.relu(x) * 2.0
        loss.backward()
        mg.optim.SGD(0.1, [x]).step()
    told = {}
    for event in [*made.trace(loss).events, *mg.trace(bad(x)).events]:
        told.setdefault(event.pop("kind"), set()).update(event)
    said = {kind: set(re.findall(r"`(\w+)`", fields)) for kind, fields in rows.items()}
    assert said == told


def test_reading_order_names_every_file_that_is_in_use():
    code = (
        "import sys, minigrad as mg, minigrad.cli, minigrad.reference.page\n"
        "for name in mg.__all__: getattr(mg, name)\n"
        "files = [m.__file__ for n, m in sys.modules.items() if n.startswith('minigrad.')]\n"
        "print(*files, sep='\\n')"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    used = {Path(line).resolve() for line in done.stdout.splitlines()}
    named = {(DOCS / link).resolve() for link in targets(DOCS / "reading-order.md")}
    missing = sorted(path.name for path in used - named if path.name != "__init__.py")
    assert not missing, f"docs/reading-order.md does not name {missing}"


def test_index_names_every_page():
    named = {(DOCS / link).resolve() for link in targets(DOCS / "index.md")}
    pages = set(DOCS.glob("*.md")) - {DOCS / "index.md"}
    assert not pages - named


def test_picture_of_the_readme_is_in_step(tmp_path: Path) -> None:
    """Made by: minigrad draw "tanh(x1*w1 + x2*w2 + b)" … -o docs/neuron.svg (see README)."""
    values = ["x1=2", "x2=0", "w1=-3", "w2=1", "b=6.8813735870195432"]
    target = tmp_path / "neuron.svg"
    main(["draw", "tanh(x1*w1 + x2*w2 + b)", *values, "-o", str(target)])
    assert target.read_bytes() == (ROOT / "docs" / "neuron.svg").read_bytes()

"""Pictures and explanations in a real JupyterLab, run there and reopened where nobody trusts them.

Skipped where JupyterLab, Playwright or Chromium is missing. One notebook is run in one server; its
file is then opened in a second one, which did not sign the outputs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import minigrad as mg

from . import lab

if not lab.BROWSER:
    pytest.skip("no Chromium", allow_module_level=True)
pytest.importorskip("jupyterlab")
playwright = pytest.importorskip("playwright.sync_api")

HOSTILE = '</script><b>"x\\'
EAGER = "<img src=missing onerror=alert(1)>"  # would raise a dialog and ask for a file
CELLS = (
    "import minigrad as mg\nprint(mg.__file__)",
    'a, b, c = mg.Value(2.0, name="a"), mg.Value(-3.0, name="b"), mg.Value(6.8, name="c")\n'
    "L = mg.tanh(a * b + c) ** 2\n"
    "mg.draw(L)",
    'picture = mg.draw(a * b + a, direction="TB", show=["value", "gradient", "contribution"])\n'
    "display(picture, picture)",
    "mg.explain(L, a)",
    "L",
    f"hostile = mg.Value(1.5, name={HOSTILE!r}) * mg.Value(2.0, name={EAGER!r})\nmg.draw(hostile)",
    "mg.explain(hostile, hostile.inputs[0])",
    "mg.explain(a, L)",
)
DRAWN, COPIES, EXPLAINED, SHOWN, ATTACK, ATTACK_EXPLAINED, NO_GRADIENT = range(1, len(CELLS))
NODES = {DRAWN: 8, COPIES: 4, SHOWN: 8, ATTACK: 3}
PICTURES = 5

LIVE = ".minigrad-picture[data-live]"
CHOSEN = "box => box.querySelector('div').shadowRoot.activeElement?.dataset.node"
IDS = "box => [...box.querySelector('div').shadowRoot.querySelectorAll('[id]')].map(e => e.id)"
# the text of an output, without the table that belongs to it
STRAY = """output => {
  const copy = output.cloneNode(true);
  for (const known of copy.querySelectorAll("table, summary, script")) known.remove();
  return copy.textContent.trim();
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=lab.BROWSER, args=list(lab.FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("author") / "lesson.ipynb"
    lab.write_notebook(path, CELLS)
    return path


@pytest.fixture(scope="module")
def trusted(
    browser: Any, notebook: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """The notebook in the server that ran it."""
    with lab.jupyterlab(notebook.parent, tmp_path_factory.mktemp("server") / "own") as address:
        visit = lab.Visit(browser)
        try:
            visit.open_notebook(address.format(notebook.name))
            visit.command("notebook:run-all-cells")
            playwright.expect(visit.page.locator(LIVE)).to_have_count(PICTURES, timeout=30_000)
            wait_for_formulas(visit)
            visit.command("docmanager:save")
            yield visit
        finally:
            visit.close()


@pytest.fixture(scope="module")
def saved(trusted: Any, notebook: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file as somebody else gets it."""
    path = tmp_path_factory.mktemp("reader") / notebook.name
    shutil.copyfile(notebook, path)
    return path


@pytest.fixture(scope="module")
def untrusted(browser: Any, saved: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The file in a server that has never seen it, before any cell is run."""
    with lab.jupyterlab(saved.parent, tmp_path_factory.mktemp("server") / "other") as address:
        visit = lab.Visit(browser)
        try:
            visit.open_notebook(address.format(saved.name))
            wait_for_formulas(visit)
            yield visit
        finally:
            visit.close()


def wait_for_formulas(visit: Any) -> None:
    for cell in EXPLAINED, ATTACK_EXPLAINED:
        visit.output(cell).locator("mjx-container").first.wait_for()


def picture(visit: Any, cell: int, copy: int = 0) -> Any:
    return visit.output(cell).nth(copy).locator(".minigrad-picture")


def trust(visit: Any) -> set[bool]:
    return set(visit.ask("[...current.content.model.cells].map(cell => cell.trusted)"))


def outside(visit: Any) -> list[str]:
    """What was asked for at another place than the server of the page."""
    origin = visit.page.url.split("/lab/")[0]
    home = (origin + "/", origin.replace("http:", "ws:") + "/", "data:", f"blob:{origin}/")
    return [request for request in visit.requests if not request.startswith(home)]


# --- Run here, so trusted -------------------------------------------------------------------------


def test_the_kernel_runs_this_source(trusted: Any) -> None:
    assert trust(trusted) == {True}
    assert trusted.output(0).inner_text().strip() == mg.__file__


@pytest.mark.parametrize("cell", NODES)
def test_each_picture_is_live(trusted: Any, cell: int) -> None:
    box = picture(trusted, cell)
    assert box.locator("img").is_hidden()
    assert box.locator("svg").is_visible()
    assert box.locator(".mg-node:visible").count() == NODES[cell]
    assert box.locator("tbody tr").count() == NODES[cell]
    assert box.locator(".scroll").evaluate("box => box.scrollWidth <= box.clientWidth")
    assert trusted.output(cell).first.evaluate(STRAY) == ""


def test_the_mouse_finds_the_exact_numbers(trusted: Any) -> None:
    box = picture(trusted, DRAWN)
    titles = box.locator(".mg-node > title")
    assert titles.count() == NODES[DRAWN]
    assert repr(mg.tanh(2.0 * -3.0 + 6.8) ** 2) in titles.last.text_content()
    box.locator(".mg-node").first.hover()
    assert box.locator(".says").inner_text().startswith("a, ")
    trusted.page.mouse.move(5, 5)
    assert box.locator(".says").inner_text() == ""


def test_the_keyboard_walks_the_graph_and_leaves_the_notebook_alone(trusted: Any) -> None:
    box, press = picture(trusted, DRAWN), trusted.page.keyboard.press
    cells = "[...current.content.model.cells].map(cell => cell.type + cell.id)"
    before = trusted.ask(cells)
    box.locator("summary").focus()
    press("Shift+Tab")  # from what follows the picture
    output = box.evaluate(CHOSEN)
    names = [box.locator(".says").inner_text().split(",")[0]]
    for key in "ArrowLeft", "ArrowRight", "Home", "ArrowRight", "End":
        press(key)
        names.append(box.locator(".says").inner_text().split(",")[0])
    assert names[0] == names[2] == names[5] == "L"
    assert names[3] == "a"
    assert len(set(names)) == 4  # one step from L and one from a lead to two others

    # in a notebook these insert, cut, delete, merge, convert, run, and move to another cell
    for key in "a", "b", "x", "d", "d", "Shift+M", "m", "Enter", "j", "k", "ArrowDown", "ArrowUp":
        press(key)
        assert box.evaluate(CHOSEN) is not None
    assert trusted.ask(cells) == before
    assert trusted.ask("current.content.mode") == "command"
    press("End")
    assert box.evaluate(CHOSEN) == output
    press("Escape")
    assert box.evaluate(CHOSEN) is None


def test_copies_work_side_by_side(trusted: Any) -> None:
    assert trusted.output(COPIES).count() == 2
    pair = [picture(trusted, COPIES, copy) for copy in (0, 1)]
    for one, other in (pair, pair[::-1]):
        assert one.locator(".mg-node").count() == NODES[COPIES]
        one.locator('.mg-node[tabindex="0"]').focus()
        assert one.locator("svg.chosen").count() == 1
        assert other.locator("svg.chosen").count() == 0
        assert one.locator(".mg-near").count() > 1
        trusted.page.keyboard.press("Escape")
    first, second = (set(one.evaluate(IDS)) for one in pair)
    assert first
    assert first.isdisjoint(second)


def test_a_picture_follows_the_theme_of_the_notebook(trusted: Any) -> None:
    sheet = picture(trusted, DRAWN).locator("svg > rect").first
    colours = []
    for theme in "JupyterLab Dark", "JupyterLab Light":
        trusted.page.evaluate(
            "theme => jupyterapp.commands.execute('apputils:change-theme', { theme })"
            ".then(() => null)",
            theme,
        )
        says = f"body[data-jp-theme-light={'false' if 'Dark' in theme else 'true'}]"
        trusted.page.locator(says).wait_for(state="attached")
        colours.append(sheet.evaluate("sheet => getComputedStyle(sheet).fill"))
    assert colours == ["rgb(18, 23, 30)", "rgb(255, 255, 255)"]


def test_an_explanation_is_set_as_mathematics(trusted: Any) -> None:
    output = trusted.output(EXPLAINED)
    assert output.locator("mjx-container").count() >= 1
    assert "if a grows by δ" in output.inner_text()
    assert "$" not in output.inner_text()
    assert "no gradient" in trusted.output(NO_GRADIENT).inner_text()


def test_hostile_names_are_text(trusted: Any) -> None:
    box = picture(trusted, ATTACK)
    assert HOSTILE in box.locator(".mg-node").first.text_content()
    assert EAGER in box.locator(".mg-node > title").nth(1).text_content()
    assert HOSTILE in trusted.output(ATTACK_EXPLAINED).inner_text()
    assert trusted.output(ATTACK).locator("b").count() == 0
    assert trusted.output(ATTACK_EXPLAINED).locator("b, img").count() == 0


def test_nothing_left_the_server_and_nothing_went_wrong(trusted: Any) -> None:
    assert trusted.requests
    assert outside(trusted) == []
    assert not [request for request in trusted.requests if request.endswith("missing")]
    assert trusted.alarms == []


# --- Reopened elsewhere, so untrusted -------------------------------------------------------------


def test_a_file_from_elsewhere_is_not_trusted(untrusted: Any) -> None:
    assert trust(untrusted) == {False}
    assert untrusted.page.locator(LIVE).count() == 0


@pytest.mark.parametrize("cell", NODES)
def test_image_and_table_are_left(untrusted: Any, cell: int) -> None:
    output = untrusted.output(cell).first
    image = output.locator("img")
    assert image.is_visible()
    assert image.get_attribute("src").startswith("data:image/svg+xml;base64,")
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    assert "nodes and" in image.get_attribute("alt")
    assert output.evaluate(STRAY) == ""  # no text of tags that were taken away

    assert output.locator("table").is_hidden()
    output.locator("summary").click()
    assert output.locator("table").is_visible()
    assert output.locator("tbody tr").count() == NODES[cell]
    output.locator("summary").click()


def test_the_table_is_literal(untrusted: Any) -> None:
    cells = untrusted.output(ATTACK).locator("td").all_text_contents()
    assert HOSTILE in cells
    assert EAGER in cells


def test_an_explanation_is_still_readable(untrusted: Any, trusted: Any) -> None:
    for cell in EXPLAINED, ATTACK_EXPLAINED, NO_GRADIENT:
        assert untrusted.output(cell).inner_text() == trusted.output(cell).inner_text()
    assert untrusted.output(EXPLAINED).locator("mjx-container").count() >= 1


def test_nothing_left_the_second_server_and_nothing_went_wrong(untrusted: Any) -> None:
    assert outside(untrusted) == []
    assert not [request for request in untrusted.requests if request.endswith("missing")]
    assert untrusted.alarms == []


# --- As a page ------------------------------------------------------------------------------------


def test_the_page_of_nbconvert_shows_the_pictures(
    browser: Any, saved: Path, tmp_path: Path
) -> None:
    pytest.importorskip("nbconvert")
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--output-dir", str(tmp_path)]
    done = subprocess.run([*command, str(saved)], env=lab.environment(tmp_path / "nbconvert"),
                          capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = tmp_path / f"{saved.stem}.html"
    for scripts in True, False:
        visit = lab.Visit(browser, java_script_enabled=scripts)
        try:
            visit.page.goto(page.as_uri())
            images = visit.page.locator(".minigrad-picture img:visible").count()
            live = visit.page.locator(".minigrad-picture svg:visible").count()
            assert (live, images) == ((PICTURES, 0) if scripts else (0, PICTURES))
            words = visit.page.locator(".jp-RenderedMarkdown").all_inner_texts()
            assert any(HOSTILE in text for text in words)
            assert not [alarm for alarm in visit.alarms if "dialog" in alarm]
        finally:
            visit.close()


def test_the_saved_file_holds_image_table_and_text(saved: Path) -> None:
    cells = json.loads(saved.read_text("utf-8"))["cells"]
    for cell in NODES:
        data = cells[cell]["outputs"][0]["data"]
        assert set(data) == {"text/html", "text/plain"}
    assert set(cells[EXPLAINED]["outputs"][0]["data"]) == {"text/markdown", "text/plain"}

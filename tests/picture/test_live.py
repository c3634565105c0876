"""The page in a browser: the picture comes to life and the keyboard finds every node.

Skipped where there is no Chromium.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from minigrad.picture import Drawing

from . import fakes

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or ""
pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium")

PROBE = """
<pre id="found"></pre>
<script>
addEventListener("load", () => {
  const found = {};
  const boxes = [...document.querySelectorAll(".minigrad-picture")];
  const roots = boxes.map((box) => box.querySelector("div").shadowRoot);
  found.nodes = roots.map((root) => root.querySelectorAll(".mg-node").length);
  found.hidden = boxes.map((box) => box.querySelector("img").hidden);
  found.attacked = Boolean(window.attacked);
  const root = roots[0], nodes = [...root.querySelectorAll(".mg-node")];
  const stops = nodes.filter((node) => node.getAttribute("tabindex") === "0");
  found.stops = stops.length;
  stops[0].focus();
  found.walk = ["ArrowLeft", "ArrowLeft", "ArrowRight", "Home", "End"].map((key) => {
    root.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    return root.activeElement.dataset.node;
  });
  found.near = [...root.querySelectorAll(".mg-edge.mg-near")].length;
  found.says = root.querySelector(".says").textContent;
  const hint = () => getComputedStyle(root.querySelector(".hint")).visibility;
  const press = (key) => root.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true }));
  found.hints = [hint()];
  press("Escape");
  found.held = root.activeElement.tagName;
  found.silent = root.querySelector(".says").textContent;
  press("ArrowLeft");
  found.back = root.activeElement.dataset.node;
  root.activeElement.blur();
  found.hints.push(hint());
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script>
"""


def visit(page: str, folder: Path, probe: str = PROBE, system: str = "light") -> Any:
    """What the probe finds on a page, in a system that is light or dark."""
    path = folder / "page.html"
    path.write_text(page + probe, encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if system == 'dark' else 1}"
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", scheme,
               "--virtual-time-budget=2000", f"--user-data-dir={folder / 'profile'}",
               path.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    (found,) = re.findall(r'<pre id="found">(.*?)</pre>', done.stdout.decode(), re.S)
    return json.loads(found.replace("&amp;", "&").replace("&gt;", ">").replace("&lt;", "<"))


def test_the_picture_comes_to_life_and_the_keyboard_finds_its_way(tmp_path: Path) -> None:
    found = visit(Drawing(fakes.diamond()).html, tmp_path)
    assert found["nodes"] == [3]
    assert found["hidden"] == [True]
    assert found["stops"] == 1  # one stop for Tab, arrows from there
    assert found["walk"] == ["1", "0", "1", "0", "2"]
    assert found["near"] == 2
    assert found["says"] == "y, output of add, value 12.0, gradient 1.0"


COLOURS = """
<pre id="found"></pre>
<script>
addEventListener("load", () => setTimeout(() => {
  const colour = (element) => getComputedStyle(element).fill;
  const found = [...document.querySelectorAll(".minigrad-picture")].map((box) => {
    const image = box.querySelector("img");
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 20;
    const pen = canvas.getContext("2d");
    const copy = new Image();  // the image as it is where no script may run
    copy.src = image.src;
    return copy.decode().then(() => {
      pen.drawImage(copy, 0, 0, copy.width, copy.height);
      const live = box.querySelector("div").shadowRoot.querySelector("svg > rect");
      const [red, green, blue] = pen.getImageData(10, 10, 1, 1).data;
      return [colour(live), `rgb(${red}, ${green}, ${blue})`];
    });
  });
  Promise.all(found).then((all) => {
    document.getElementById("found").textContent = JSON.stringify(all);
  });
}));
</script>
"""
WHITE, NIGHT = "rgb(255, 255, 255)", "rgb(18, 23, 30)"


@pytest.mark.parametrize(
    ("body", "theme", "system", "live", "image"),
    [
        ("<body>", "auto", "light", WHITE, WHITE),
        ("<body data-jp-theme-light=true>", "auto", "light", WHITE, WHITE),
        ("<body data-jp-theme-light=true>", "auto", "dark", WHITE, NIGHT),
        ("<body data-jp-theme-light=false>", "auto", "light", NIGHT, WHITE),
        ("<body class=vscode-dark>", "auto", "light", NIGHT, WHITE),
        ("<body class='vscode-high-contrast vscode-high-contrast-light'>", "auto", "light",
         WHITE, WHITE),
        ("<body style='color-scheme: dark'>", "auto", "light", NIGHT, WHITE),
        ("<body data-jp-theme-light=false>", "light", "dark", WHITE, WHITE),
        ("<body data-jp-theme-light=true>", "dark", "light", NIGHT, NIGHT),
        ("page", "auto", "light", WHITE, WHITE),
        ("page", "auto", "dark", NIGHT, NIGHT),
        ("page", "light", "dark", WHITE, WHITE),
    ],
)  # fmt: skip
def test_a_picture_is_as_dark_as_the_page_unless_it_was_told_otherwise(
    body: str, theme: str, system: str, live: str, image: str, tmp_path: Path
) -> None:
    drawing = Drawing(fakes.diamond(), theme=theme)
    output = drawing._repr_mimebundle_()["text/html"]
    page = drawing.html if body == "page" else f"<!DOCTYPE html><meta charset=utf-8>{body}{output}"
    assert visit(page, tmp_path, COLOURS, system) == [[live, image]]


def test_the_hint_is_there_while_the_picture_has_the_focus(tmp_path: Path) -> None:
    found = visit(Drawing(fakes.diamond()).html, tmp_path)
    assert found["hints"] == ["visible", "hidden"]
    assert found["held"] == "svg"  # after Escape
    assert found["silent"] == ""
    assert found["back"] == "2"  # where it was


def test_a_constant_on_a_card_is_a_node_for_the_keyboard(tmp_path: Path) -> None:
    tape = fakes.Tape()
    doubled = tape.op("mul", tape.leaf("x", 3.0), tape.leaf("", 2.0, "constant"), name="y")
    found = visit(Drawing(tape.diagram(doubled)).html, tmp_path)
    assert found["nodes"] == [3]
    assert found["walk"] == ["0", "0", "2", "0", "2"]
    assert found["near"] == 2


def test_copies_of_an_output_work_side_by_side_and_names_stay_inert(tmp_path: Path) -> None:
    attack = "<img src=x onerror=attacked=1><script>attacked=1</script>"
    diamond = Drawing(fakes.diamond())._repr_mimebundle_()["text/html"]
    hostile = Drawing(fakes.named(attack, *fakes.HOSTILE))._repr_mimebundle_()["text/html"]
    found = visit(f"<!DOCTYPE html><meta charset=utf-8>{diamond}{diamond}{hostile}", tmp_path)
    assert found["nodes"] == [3, 3, len(fakes.HOSTILE) + 2]
    assert found["hidden"] == [True, True, True]
    assert not found["attacked"]

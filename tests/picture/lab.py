"""A JupyterLab of its own and a browser that looks at it: what `test_jupyterlab` drives.

Server, kernel and browser are cut off: folders of their own, a token, no request to other hosts.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import minigrad

HOST = "127.0.0.1"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or ""
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HOST}",
)
QUIET = (  # the server asks nobody for news, updates or extensions
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
)


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """A notebook of code cells that has never been run."""
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "cells": [
            {"cell_type": "code", "id": f"cell-{index}", "metadata": {}, "source": source,
             "execution_count": None, "outputs": []}
            for index, source in enumerate(cells)
        ],
    }  # fmt: skip
    path.write_text(json.dumps(notebook), encoding="utf-8")


def environment(folder: Path) -> dict[str, str]:
    """This environment, where all that Jupyter and IPython know is in `folder`.

    A notebook that was run elsewhere is untrusted there: the key that signs outputs is new.
    """
    known = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    source = str(Path(minigrad.__file__).parents[1])
    paths = os.pathsep.join(filter(None, [source, known.get("PYTHONPATH")]))
    return known | {name: str(folder / place) for name, place in places.items()} | {
        "PYTHONPATH": paths
    }  # fmt: skip


@contextmanager
def jupyterlab(root: Path, folder: Path) -> Iterator[str]:
    """A running server.

    Args:
        root: Where the notebooks are.
        folder: A new one, for all that belongs to the server.

    Yields:
        The address of a notebook, with ``{}`` for its file name.
    """
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    news = settings / "notification.jupyterlab-settings"
    news.write_text('{"fetchNews": "false"}', encoding="utf-8")  # else a question covers the page
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
        "--expose-app-in-browser", f"--ip={HOST}", f"--port={port}",
        "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={root}", *QUIET,
    ]  # fmt: skip
    log = folder / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, env=environment(folder), cwd=root, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            _wait_until_it_answers(server, port, log)
            yield f"http://{HOST}:{port}/lab/tree/{{}}?reset&token={token}"
        finally:
            server.terminate()  # it ends its kernels itself
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait_until_it_answers(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        connection = HTTPConnection(HOST, port, timeout=5)
        try:
            connection.request("GET", "/api")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.1)
        finally:
            connection.close()
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text('utf-8', 'replace')}")


class Visit:
    """One page of its own in the browser, and what happened on it.

    Attributes:
        page: The page, as Playwright drives it.
        requests: Every address that was asked for.
        alarms: Dialogs, errors nobody caught, and what our script complains of; never any.
    """

    def __init__(self, browser: Any, **options: Any) -> None:
        # so tall that no cell is left out of the page for being out of sight
        self.context = browser.new_context(viewport={"width": 1200, "height": 4000}, **options)
        self.context.set_default_timeout(30_000)
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.alarms: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("dialog", self._refuse)
        self.page.on("pageerror", lambda error: self.alarms.append(f"error: {error}"))
        self.page.on("console", self._listen)

    def close(self) -> None:
        """Close the page."""
        self.context.close()

    def open_notebook(self, address: str) -> None:
        """Open a notebook and wait until it and its kernel are there."""
        self.page.goto(address)
        self.page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.isReady")
        self.ask("current.sessionContext.ready.then(() => null)")

    def ask(self, expression: str) -> Any:
        """The value of an expression about the notebook, which it calls `current`."""
        return self.page.evaluate(
            f"() => {{ const current = jupyterapp.shell.currentWidget; return {expression}; }}"
        )

    def command(self, name: str) -> None:
        """Run a command of JupyterLab and wait for its end."""
        self.page.evaluate("name => jupyterapp.commands.execute(name).then(() => null)", name)

    def output(self, cell: int) -> Any:
        """Where a cell of code shows its result; several if it shows several."""
        cells = self.page.locator(".jp-Notebook .jp-CodeCell")
        return cells.nth(cell).locator(".jp-OutputArea-output")

    def _refuse(self, dialog: Any) -> None:
        self.alarms.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _listen(self, message: Any) -> None:
        if "minigrad" in message.text:
            self.alarms.append(f"console: {message.text}")

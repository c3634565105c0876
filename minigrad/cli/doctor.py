"""``minigrad doctor``: which minigrad is imported, whether it is ours, and what else is there.

Several packages install a module called ``minigrad``; the one found first on the path wins.

Read next: ``__init__.py``.
"""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from minigrad import modes

__all__ = ["run"]

_PARTS = {  # import name -> (what it is for, the extra that installs it)
    "numpy": ("arrays", ""),
    "graphviz": ("renders the DOT text of a drawing", "graphviz"),
    "matplotlib": ("plots", "plot"),
    "IPython": ("notebooks", "lessons"),
    "sklearn": ("data sets", "data"),
}


def run() -> int:
    """Print the report; returns 0 if this is our minigrad and it stands first, else 1."""
    folder = Path(__file__).resolve().parent.parent
    print(f"Python {sys.version.split()[0]} on {sys.platform}")
    print(f"minigrad is imported from {folder}")
    others = [
        name for name in packages_distributions().get("minigrad", []) if name != "minigrad-edu"
    ]
    try:
        print(f"minigrad-edu {version('minigrad-edu')} is installed")
    except PackageNotFoundError:
        print("minigrad-edu is not installed; this is a source folder, which works as well")
    for other in others:
        print(
            f"! {other} {version(other)} installs a module of the same name; uninstall one of them"
        )
    print(f"sources are {'on' if modes.options.sources else 'off'} (mg.options.sources)")
    print("optional parts")
    for name, (purpose, extra) in _PARTS.items():
        print(f"  {name:<11} {_found(name, extra):<44} {purpose}")
    where = shutil.which("dot")
    print(f"  {'dot':<11} {where or 'not found; not needed':<44} the layout program of Graphviz")
    return 1 if others else 0


def _found(name: str, extra: str) -> str:
    distribution = {"sklearn": "scikit-learn", "IPython": "ipython"}.get(name, name)
    try:
        return version(distribution)
    except PackageNotFoundError:
        package = f"minigrad-edu[{extra}]" if extra else name
        return f"not found; pip install '{package}'"

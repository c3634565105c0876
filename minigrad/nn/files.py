"""A state in a file: JSON, which people can read and the standard library can, or NumPy's npz.

Both say what they are and of which version. A file is read and checked as a whole before anything
is done with it, and written beside the old one before it takes its place.

Read next: ``layers.py``.
"""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentValueError, MissingDependencyError
from minigrad.nn.entries import shape_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_state", "write_state"]

_FORMAT, _VERSION = "minigrad-state", 1
_HEADER = "minigrad"  # the name of the header in an npz file; no attribute is called like a format


def write_state(path: Any, state: Mapping[str, Any], module: str) -> str:
    """Write a state; the ending of the name decides how.

    Args:
        path: Ends in ``.json`` or ``.npz``.
        state: Names and numbers.
        module: The class that it is the state of; for people, and for error messages.

    Returns:
        The path as text.

    Raises:
        ArgumentValueError: if the name ends otherwise.
        MissingDependencyError: for ``.npz``, if NumPy is not installed.
    """
    path = os.fspath(path)
    head = {"format": _FORMAT, "version": _VERSION, "module": module}
    beside = f"{path}.part"
    if _ending(path) == ".json":
        body = {name: _entry(data) for name, data in state.items()}
        with open(beside, "w", encoding="utf-8") as file:
            json.dump({**head, "entries": body}, file, indent=1, allow_nan=False)
            file.write("\n")
    else:
        np = _numpy()
        arrays = {name: np.asarray(data) for name, data in state.items()}
        header = json.dumps({**head, "names": list(arrays)})
        with open(beside, "wb") as file:
            np.savez(file, **{_HEADER: np.array(header)}, **arrays)
    os.replace(beside, path)
    return path


def read_state(path: Any) -> dict[str, Any]:
    """Read a state that ``write_state`` wrote.

    Returns:
        Names and numbers: arrays of an npz file, nested lists of a JSON file.

    Raises:
        ArgumentValueError: if it is damaged, of another kind, or of another version.
        OSError: if it cannot be read.
    """
    path = os.fspath(path)
    state = _read_json(path) if _ending(path) == ".json" else _read_npz(path)
    return state


def _ending(path: str) -> str:
    ending = os.path.splitext(path)[1].lower()
    if ending not in (".json", ".npz"):
        raise ArgumentValueError(f"{path!r}: the name of a state file ends in .json or .npz")
    return ending


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise MissingDependencyError(
            "an npz file needs NumPy: pip install numpy; a .json file does not"
        ) from None
    return numpy


def _damaged(path: str, why: str) -> ArgumentValueError:
    return ArgumentValueError(f"{os.path.basename(path)}: {why}; nothing was loaded")


def _check_head(path: str, head: Any) -> None:
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise _damaged(path, f"this is not a state file (no format {_FORMAT!r} in it)")
    if head.get("version") != _VERSION:
        raise _damaged(
            path,
            f"it has version {head.get('version')!r} of the format, but this minigrad reads "
            f"version {_VERSION}",
        )


# -- JSON ------------------------------------------------------------------------------------------


def _entry(data: Any) -> dict[str, Any]:
    dtype = str(getattr(data, "dtype", "float64"))
    nested = data.tolist() if hasattr(data, "tolist") else data
    shape = shape_of(data)
    return {"shape": list(shape or ()), "dtype": dtype, "data": _spelled(nested)}


def _spelled(data: Any) -> Any:
    """Numbers as JSON has them; nan and infinities, which it has not, as text."""
    if isinstance(data, list | tuple):
        return [_spelled(part) for part in data]
    if isinstance(data, float) and not math.isfinite(data):
        return repr(data)
    return data


_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def _read(data: Any) -> Any:
    if isinstance(data, list):
        return [_read(part) for part in data]
    if isinstance(data, str):
        return _NOT_FINITE[data]
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise KeyError(data)
    return data


def _read_json(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        text = file.read()
    try:
        content = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"it is damaged or cut off ({error})") from None
    _check_head(path, content)
    body = content.get("entries")
    if not isinstance(body, dict):
        raise _damaged(path, "it has no entries")
    state = {}
    for name, entry in body.items():
        try:
            numbers, shape = _read(entry["data"]), tuple(entry["shape"])
        except (KeyError, TypeError) as error:
            raise _damaged(path, f"entry {name!r} is damaged: {error}") from None
        if shape_of(numbers) != shape and 0 not in shape:
            raise _damaged(path, f"entry {name!r} says shape {shape} and has {shape_of(numbers)}")
        if 0 in shape or entry.get("dtype", "float64") != "float64":
            np = _numpy()
            numbers = np.array(numbers, dtype=entry.get("dtype", "float64")).reshape(shape)
        state[name] = numbers
    return state


# -- npz -------------------------------------------------------------------------------------------


def _read_npz(path: str) -> dict[str, Any]:
    from zipfile import BadZipFile
    from zlib import error as zlib_error

    np = _numpy()
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
            head = json.loads(str(arrays.pop(_HEADER))) if _HEADER in arrays else None
    except (BadZipFile, ValueError, EOFError, KeyError, AttributeError, zlib_error) as error:
        raise _damaged(path, f"it is damaged or cut off ({error})") from None
    _check_head(path, head)
    names = head.get("names")
    if sorted(arrays) != sorted(names or ()):
        raise _damaged(path, f"its header names {names}, but it holds {sorted(arrays)}")
    return {name: arrays[name] for name in names}

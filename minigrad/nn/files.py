"""A state in a file: JSON, which people can read and the standard library can, or NumPy's npz.

Both say what they are and of which version. A file is read and checked as a whole before anything
is done with it, and written beside the old one before it takes its place.

Read next: ``layers.py``.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from minigrad.errors import ArgumentTypeError, ArgumentValueError, MissingDependencyError
from minigrad.nn.entries import shape_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_state", "write_state"]

_FORMAT, _VERSION = "minigrad-state", 1
_HEADER = _FORMAT  # its name in an npz file; with the hyphen it is nobody's attribute


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
        OSError: if it cannot be written.
    """
    file = _name(path)
    head = {"format": _FORMAT, "version": _VERSION, "module": module}
    write = _write_json if _ending(file) == ".json" else _write_npz
    folder = os.path.dirname(file)
    if folder and not os.path.isdir(folder):
        raise FileNotFoundError(f"{file!r}: there is no folder {folder!r}; os.makedirs makes it")
    beside = f"{file}.part"
    try:
        write(beside, head, state)
        os.replace(beside, file)
    finally:
        if os.path.exists(beside):
            os.remove(beside)
    return file


def read_state(path: Any) -> dict[str, Any]:
    """Read a state that ``write_state`` wrote.

    Returns:
        Names and numbers: arrays of an npz file, nested lists of a JSON file.

    Raises:
        ArgumentValueError: if it is damaged, of another kind, or of another version.
        OSError: if it cannot be read.
    """
    path = _name(path)
    return _read_json(path) if _ending(path) == ".json" else _read_npz(path)


def _name(path: Any) -> str:
    try:
        return os.fsdecode(path)
    except TypeError:
        raise ArgumentTypeError(
            f"{path!r} is no name of a file; a text such as 'model.json' is"
        ) from None


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


def _check_head(path: str, head: Any) -> dict[str, Any]:
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise _damaged(path, f"this is not a state file (no format {_FORMAT!r} in it)")
    if head.get("version") != _VERSION:
        raise _damaged(
            path,
            f"it has version {head.get('version')!r} of the format, but this minigrad reads "
            f"version {_VERSION}",
        )
    return head


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


def _write_json(path: str, head: dict[str, Any], state: Mapping[str, Any]) -> None:
    body = {name: _entry(data) for name, data in state.items()}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**head, "entries": body}, file, indent=1, allow_nan=False)
        file.write("\n")


_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def _read(data: Any) -> Any:
    if isinstance(data, list):
        return [_read(part) for part in data]
    if isinstance(data, str):
        return _NOT_FINITE[data]
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise KeyError(data)
    try:
        finite = math.isfinite(data)
    except OverflowError:  # an integer of hundreds of digits
        finite = False
    if not finite:  # infinities are written as text
        raise ValueError("a number in it is beyond the floats")
    return data


def _read_json(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        text = file.read()
    try:
        content = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"it is damaged or cut off ({error})") from None
    body = _check_head(path, content).get("entries")
    if not isinstance(body, dict):
        raise _damaged(path, "it has no entries")
    state = {}
    for name, entry in body.items():
        try:
            numbers, shape = _read(entry["data"]), tuple(entry["shape"])
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path, f"entry {name!r} is damaged: {error}") from None
        if shape_of(numbers) != shape and 0 not in shape:
            raise _damaged(path, f"entry {name!r} says shape {shape} and has {shape_of(numbers)}")
        if 0 in shape or entry.get("dtype", "float64") != "float64":
            numbers = _as_array(path, name, numbers, entry.get("dtype", "float64"), shape)
        state[name] = numbers
    return state


def _as_array(path: str, name: str, numbers: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    np = _numpy()
    try:
        kind = np.dtype(dtype)
        if kind.kind not in "fiub":
            raise TypeError(f"{dtype!r} is no type of numbers")
        with np.errstate(over="ignore"):
            array = np.array(numbers, dtype=kind)
        if not _kept(np, array, numbers):
            raise ValueError(f"its numbers are none of {kind}")
        return array.reshape(shape)
    except (TypeError, ValueError, OverflowError) as error:
        raise _damaged(path, f"entry {name!r} is damaged: {error}") from None


def _kept(np: Any, array: Any, numbers: Any) -> bool:
    """Whether an array has the numbers that it was made of, up to the rounding of floats."""
    if array.dtype.kind == "f":
        return bool((np.isfinite(array) == np.isfinite(np.array(numbers, dtype=float))).all())
    return bool(array.tolist() == numbers)


# -- npz -------------------------------------------------------------------------------------------


def _write_npz(path: str, head: dict[str, Any], state: Mapping[str, Any]) -> None:
    np = _numpy()  # np.savez would take some names of entries for its own arguments
    arrays = {name: np.asarray(data) for name, data in state.items()}
    header = np.array(json.dumps({**head, "names": list(arrays)}))
    with ZipFile(path, "w") as archive:
        for name, array in {_HEADER: header, **arrays}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


_DAMAGE = (  # what NumPy, zipfile and zlib raise, each for another place that was hit
    BadZipFile, ValueError, EOFError, KeyError, AttributeError, NotImplementedError, OSError,
    MemoryError, zlib.error,
)  # fmt: skip


def _read_npz(path: str) -> dict[str, Any]:
    np = _numpy()
    with open(path, "rb") as file:
        try:
            if file.read(2) != b"PK":  # NumPy would take it for a pickle, and advise to trust it
                raise ValueError("this is no npz file")
            file.seek(0)
            content = np.load(file, allow_pickle=False)
            arrays = {name: content[name] for name in content.files}
            head = json.loads(str(arrays.pop(_HEADER))) if _HEADER in arrays else None
        except _DAMAGE as error:
            raise _damaged(path, f"it is damaged or cut off ({error})") from None
    names = _check_head(path, head).get("names")
    if (
        not isinstance(names, list)
        or not all(isinstance(name, str) for name in names)
        or sorted(arrays) != sorted(names)
    ):
        raise _damaged(path, f"its header names {names}, but it holds {sorted(arrays)}")
    return {name: arrays[name] for name in names}

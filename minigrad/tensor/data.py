"""What ``x.data`` gives: the array of a ``Tensor``, which cannot be written to element by element.

A recorded graph keeps the arrays that went into it, so none of them may change. ``p.data -= step``
makes a new array and gives it to ``p``; ``p.data[0] = 1`` says what to write instead.

Read next: ``tensor.py``.
"""

from __future__ import annotations

import sys
from sys import getrefcount
from typing import Any

import numpy as np

from minigrad.errors import ArgumentTypeError

__all__ = ["ReadOnlyArray", "shown"]

_HOW = (
    "the data of a Tensor is read-only, because graphs were recorded with it; write "
    "x.data = new_array or x.data -= step (both rebind), or mg.at_set(x, index, values)"
)


class ReadOnlyArray(np.ndarray):
    """An array that computes like any other, gives plain arrays, and is not written to."""

    def __array_ufunc__(self, ufunc: Any, method: str, *xs: Any, **options: Any) -> Any:
        for out in options.get("out", ()):
            if isinstance(out, ReadOnlyArray) and not out.flags.writeable:
                raise ArgumentTypeError(f"np.{ufunc.__name__}(…, out=x.data): {_HOW}")
        if method == "at" and isinstance(xs[0], ReadOnlyArray) and not xs[0].flags.writeable:
            raise ArgumentTypeError(f"np.{ufunc.__name__}.at(x.data, …): {_HOW}")
        if "out" in options:
            options["out"] = tuple(map(_plain, options["out"]))
        return getattr(ufunc, method)(*map(_plain, xs), **options)

    def var(self, *args: Any, **kwargs: Any) -> Any:
        """NumPy's, which computes with ``out=`` and takes no class but its own without axes."""
        return _plain(self).var(*args, **kwargs)

    def std(self, *args: Any, **kwargs: Any) -> Any:
        """NumPy's; see ``var``."""
        return _plain(self).std(*args, **kwargs)

    def __setitem__(self, index: Any, values: Any) -> None:
        if not self.flags.writeable:
            raise ArgumentTypeError(f"x.data[…] = …: {_HOW}")
        super().__setitem__(index, values)

    def __repr__(self) -> str:
        return repr(_plain(self))

    def __str__(self) -> str:
        return str(_plain(self))

    def __reduce__(self) -> Any:
        return _plain(self).copy().__reduce__()


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, ReadOnlyArray) else x


class _Probe:
    def __isub__(self, other: Any) -> int:
        return getrefcount(other)


def _references_to_a_temporary() -> Any:
    probe: Any = _Probe()
    probe -= np.zeros(1) + 1.0
    return probe


# How many references a result has that is still without a name. From Python 3.14 on a variable on
# the stack may have as few, so there nothing is taken for a temporary.
_TEMPORARY = _references_to_a_temporary() if sys.version_info < (3, 14) else 0
_FUNCTIONS = {
    "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
    "pow": "power",
}  # fmt: skip


def _rebinding(word: str) -> Any:
    """``data -= step``: a new array, which nobody can write to, so that its owner may keep it."""
    function = getattr(np, _FUNCTIONS.get(word, word))
    compute, in_place = getattr(np.ndarray, f"__{word}__"), getattr(np.ndarray, f"__i{word}__")

    def method(self: ReadOnlyArray, other: Any) -> Any:
        plain = self.view(np.ndarray)
        if self.flags.writeable:
            in_place(plain, _plain(other))
            return self
        if (
            other.__class__ is np.ndarray
            and getrefcount(other) <= _TEMPORARY
            and other.base is None
            and other.dtype is plain.dtype
            and other.shape == plain.shape
        ):  # rate * p.grad, which nobody will see again: the result may take its place
            out = function(plain, other, out=other)
        else:
            out = compute(plain, _plain(other))
        if out.__class__ is not np.ndarray or out.dtype is not plain.dtype:
            if out is NotImplemented:
                return out
            out = np.asarray(out).astype(plain.dtype, copy=False)
        out.setflags(False)
        return out.view(ReadOnlyArray)

    return method


for _word in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(ReadOnlyArray, f"__i{_word}__", _rebinding(_word))


def _refuse(name: str) -> Any:
    in_place = getattr(np.ndarray, name)

    def method(self: ReadOnlyArray, *args: Any, **kwargs: Any) -> Any:
        if not self.flags.writeable:
            raise ArgumentTypeError(f"x.data.{name}(…): {_HOW}")
        return in_place(self, *args, **kwargs)

    return method


for _name in ("fill", "sort", "partition", "put", "itemset"):
    if hasattr(np.ndarray, _name):
        setattr(ReadOnlyArray, _name, _refuse(_name))


def shown(array: Any) -> Any:
    """``array`` as ``.data`` shows it: the same memory, without the right to write."""
    view = array.view(ReadOnlyArray)
    view.setflags(False)
    return view

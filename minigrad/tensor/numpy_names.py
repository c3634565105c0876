"""NumPy's functions on a ``Tensor``: ``np.exp(x)`` and ``np.sum(x, axis=0)`` record our rows.

A function is known by its name. One without a row here is refused, and the error names the nearest
of ours: an array that comes out of it would have lost its history in silence.

Read next: ``functions.py``.
"""

from __future__ import annotations

from difflib import get_close_matches
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.elsewhere import wrong_call
from minigrad.errors import ArgumentTypeError
from minigrad.graph import Node
from minigrad.ops import FUNCTIONS
from minigrad.ops.calls import misfit
from minigrad.ops.evaluate import apply, brief, shown
from minigrad.ops.row import OPS
from minigrad.ops.shapes import shaped
from minigrad.ops.ufuncs import COMPARISONS, OURS
from minigrad.tensor.functions import ARRAY_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["function", "ufunc"]

_ROWS = {  # NumPy's ufuncs that are rows of the table
    name: OPS[OURS.get(name, name)]
    for name, thing in vars(np).items()
    if isinstance(thing, np.ufunc) and OURS.get(name, name) in OPS and name not in COMPARISONS
}
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}


def ufunc(name: str, method: str, xs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What the ufunc called ``name`` gives when a ``Tensor`` is among ``xs``.

    Raises:
        ArgumentTypeError: for a ufunc without a row, and for ``out=``, ``where=`` and the like.
    """
    if method == "__call__" and not options:
        row = _ROWS.get(name)
        if row is not None:
            return apply(row, xs)
    if method in ("reduce", "accumulate"):
        table = _REDUCTIONS if method == "reduce" else _RUNNING
        options = {k: v for k, v in options.items() if v is not None and v is not np._NoValue}
        if name in table and set(options) <= {"axis", "keepdims"}:
            options.setdefault("axis", 0)
            return ARRAY_FUNCTIONS[table[name]](*xs, **options)
    if method != "__call__" or options:
        called = f"np.{name}" if method == "__call__" else f"np.{name}.{method}"
        raise ArgumentTypeError(
            f"{called} with {sorted(options)} is not recorded; use minigrad's functions, and "
            f"x.data -= step to change data"
        )
    if name in COMPARISONS:
        return COMPARISONS[name](*(x._data if isinstance(x, Node) else x for x in xs))
    raise _unknown(name)


def _matrix(name: str) -> Callable[..., Any]:
    return lambda *args, **kwargs: ARRAY_FUNCTIONS[name](*args, **kwargs)


def _round(x: Any, decimals: int = 0) -> Any:
    if decimals != 0:
        scale = f"10**{brief(decimals)}"
        raise ArgumentTypeError(
            f"np.round(x, {brief(decimals)}): a node is rounded to whole numbers; write "
            f"mg.round(x * {scale}) / {scale}, or np.round(x.data, {brief(decimals)}) for plain "
            f"numbers"
        )
    return FUNCTIONS["round"](x)


def _pad(x: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0.0) -> Any:
    if mode != "constant":
        raise ArgumentTypeError(
            f"np.pad(x, …, mode={brief(mode)}): the margin of a node is a constant, "
            f"mg.pad(x, pad_width, constant_values); for margins made of x itself, choose its "
            f"elements again, such as mg.take(x, [0, *range(n), n - 1], axis) for mode='edge'"
        )
    return ARRAY_FUNCTIONS["pad"](x, pad_width, constant_values)


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a if a is not None else b for a, b in ((a_min, min), (a_max, max)))
    if low is None and high is None:
        raise ArgumentTypeError("np.clip(x): the call is np.clip(x, low, high), and one is needed")
    return FUNCTIONS["clip"](x, -np.inf if low is None else low, np.inf if high is None else high)


_SPECIAL: dict[str, Callable[..., Any]] = {
    "round": _round, "around": _round, "pad": _pad, "clip": _clip,
    "amax": _matrix("max"), "amin": _matrix("min"), "linalg.norm": _matrix("norm"),
    "where": lambda *args: FUNCTIONS["where"](*args),
    "shape": lambda x: x.shape, "ndim": lambda x: x.ndim, "size": lambda x: x.size,
    "copy": lambda x: apply(OPS["identity"], (x,)) if "identity" in OPS else x + 0.0,
    "ravel": lambda x: x.reshape(-1), "permute_dims": lambda x, axes=None: x.transpose(axes),
    "vstack": lambda tup: ARRAY_FUNCTIONS["concatenate"]([_rows(x) for x in tup]),
    "hstack": lambda tup: ARRAY_FUNCTIONS["concatenate"](
        tup, axis=min(1, len(shaped(tup[0], "np.hstack").shape) - 1)),
    "square": lambda x: FUNCTIONS["square"](x),
    "array_repr": repr, "array_str": repr, "array2string": repr,
}  # fmt: skip


def _rows(x: Any) -> Any:
    x = shaped(x, "np.vstack")
    return x.reshape(1, -1) if len(x.shape) < 2 else x


def function(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """What a function of NumPy gives when a ``Tensor`` is among its arguments.

    Raises:
        ArgumentTypeError: for one without a counterpart, or with options that ours does not take.
    """
    module = function.__module__.removeprefix("numpy").lstrip(".")
    name = f"{module}.{function.__name__}" if module else function.__name__
    ours = _SPECIAL.get(name) or (None if module else _known(name))
    if ours is None:
        raise _unknown(name)
    args, kwargs = _by_name(function, args, kwargs)
    kwargs = {key: value for key, value in kwargs.items() if value is not np._NoValue}
    for key, value in kwargs.items():
        if key in _REFUSED and value is not None:
            raise ArgumentTypeError(
                f"np.{name}(…, {key}=…) is not recorded; minigrad has no {key}="
            )
    kwargs = {k: v for k, v in kwargs.items() if k not in _REFUSED}
    kwargs = {_KEYWORDS.get(name, {}).get(k, k): v for k, v in kwargs.items()}
    try:
        return ours(*args, **kwargs)
    except TypeError as error:
        if isinstance(error, ArgumentTypeError):
            raise
        if not misfit(error):
            raise ArgumentTypeError(f"np.{name}: {error}") from None
        known = signature(ours)
        call = f"np.{name}{known}" if name in _SPECIAL else f"mg.{ours.__name__}{known}"
        given = shown(args, kwargs)
        raise wrong_call(f"np.{name}", given, call, known.parameters, kwargs) from None


_REFUSED = ("out", "dtype", "where", "initial", "order", "casting", "ord")


def _by_name(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Options that were given by position, which are not the same here, as keywords."""
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):
        return args, kwargs
    for place, name in enumerate(list(parameters)[: len(args)]):
        if parameters[name].kind is Parameter.VAR_POSITIONAL:
            break
        if name in _REFUSED or (place and name in ("axis", "keepdims", "ddof")):
            named = dict(zip(list(parameters)[place:], args[place:], strict=False))
            return args[:place], {**named, **kwargs}
    return args, kwargs


_KEYWORDS = {"roll": {"shift": "shift"}, "stack": {"arrays": "arrays"}, "sum": {"a": "values"}}


def _known(name: str) -> Any:
    if name in ARRAY_FUNCTIONS:
        return ARRAY_FUNCTIONS[name]
    return FUNCTIONS.get(OURS.get(name, name))


def _unknown(name: str) -> ArgumentTypeError:
    word = name.rpartition(".")[2]
    near = get_close_matches(word, [*ARRAY_FUNCTIONS, *FUNCTIONS], n=2, cutoff=0.7)
    hint = f"; near to it is {' and '.join(f'mg.{n}' for n in near)}" if near else ""
    return ArgumentTypeError(
        f"np.{name} has no counterpart here, so it would lose the gradient{hint}; "
        f"np.{name}(x.data) computes with the plain numbers"
    )

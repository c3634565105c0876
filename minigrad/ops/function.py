"""From a row to the function that a learner calls: ``mg.sin``.

Read next: ``row.py``, what a row is; ``evaluate.py``, how it is evaluated.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType

from minigrad.ops.evaluate import LEAVES_FLOATS, apply
from minigrad.ops.floats import FLOATS
from minigrad.ops.row import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["by_position", "elementwise", "operator", "public_function"]


def public_function(op: Op) -> Callable[..., Any]:
    """The function that a learner calls: ``mg.sin``. It knows its row as ``.op``."""
    forward = op.forward

    def unary(x: Any) -> Any:
        if x.__class__ is float:
            try:
                out = forward(FLOATS, x)
                if out.__class__ is float and out - out == 0.0:
                    return out
            except LEAVES_FLOATS:
                pass
        return apply(op, (x,))

    def binary(x: Any, y: Any) -> Any:
        if x.__class__ is float and y.__class__ is float:
            try:
                out = forward(FLOATS, x, y)
                if out.__class__ is float and out - out == 0.0:
                    return out
            except LEAVES_FLOATS:
                pass
        return apply(op, (x, y))

    def general(*xs: Any, **attrs: Any) -> Any:
        return apply(*op.arrange(xs, attrs))

    function: Any
    if op.attrs or op.arity > 2:
        function = general
        function.__wrapped__ = partial(by_position(forward), FLOATS)  # the signature, for help()
    else:
        function = unary if op.arity == 1 else binary
        names = op.parameters  # the row's own names for x and y: atan2(y, x)
        code = function.__code__
        function.__code__ = code.replace(co_varnames=names + code.co_varnames[len(names) :])
    function.__name__ = function.__qualname__ = op.name
    function.__module__ = "minigrad"
    function.__doc__ = op.sentence  # ``reference/`` writes the whole of it
    function.op = op
    return function  # type: ignore[no-any-return]


def by_position(forward: Callable[..., Any]) -> Callable[..., Any]:
    """``forward`` with attributes that may also be given by position, as a call takes them."""
    forward = getattr(forward, "func", forward)  # without the partial of a row that is bound
    code, attrs = forward.__code__, forward.__kwdefaults__ or {}
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults = tuple([attrs.get(name) for name in names[code.co_argcount :]])
    code = code.replace(co_argcount=len(names), co_kwonlyargcount=0)
    return FunctionType(code, forward.__globals__, forward.__name__, defaults, forward.__closure__)


def elementwise(
    name: str,
    forward: Callable[..., Any],
    partials: Sequence[Callable[..., Any] | float | None],
    **about: Any,
) -> Callable[..., Any]:
    """Add a row to the table and return its function; ``Op`` explains the arguments."""
    return public_function(Op(name, forward, partials, **about).bind().register())


def operator(*row: Any, **about: Any) -> Callable[..., Any]:
    """A row that has no function of its own in ``minigrad``, such as ``+``."""
    return elementwise(*row, **about, public=False)

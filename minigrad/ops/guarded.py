"""A learner's formulas at arm's length: they see the arrays of the graph, and cannot change them.

The formulas of the table never write to what they are given, and give a new array. Those that come
in through ``mg.operation`` may do either: they get read-only views, and what they give is copied,
because they may keep it. Numbers, nodes and symbols pass as they are.

Read next: ``__init__.py``, where the formulas come in.
"""

from __future__ import annotations

from functools import partial, update_wrapper

from minigrad.errors import OperationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from minigrad.ops.row import Op

__all__ = ["behind_guard", "guard", "guarded", "read_only"]


def read_only(x: Any) -> Any:
    """A view of an array without the right to write to it; anything else as it is."""
    if not hasattr(x, "__array_finalize__"):
        return x
    view = x.view()
    view.setflags(write=False)
    return view


def guard(op: Op) -> None:
    """Put the guard before every formula of a row that may meet an array.

    ``op.slopes``, the derivatives on floats, need none.
    """
    put = partial(guarded, op.name)
    op.forward, op.domain, op.kink = put(op.forward), put(op.domain), put(op.kink)
    op.partials = tuple(map(put, op.partials))
    op.edges = {
        i: [(put(condition), put(value)) for condition, value in edges]
        for i, edges in op.edges.items()
    }


def guarded(name: str, formula: Any) -> Any:
    """``formula``, one of the operation ``name``, behind the guard; a number or None as it is.

    Raises:
        OperationError: when it is called, and writes to an array that it was given.
    """
    if not callable(formula):
        return formula

    def call(*xs: Any, **attrs: Any) -> Any:
        try:
            out = formula(*map(read_only, xs), **attrs)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise OperationError(
                f"a formula of {name!r} writes to an array that it was given ({error}): the graph "
                f"keeps that array, so change a copy, x = x.copy()"
            ) from error
        return out.copy() if hasattr(out, "__array_finalize__") else out

    update_wrapper(call, formula)
    vars(call)["behind_guard"] = name, formula
    return call


def behind_guard(formula: Any) -> tuple[str, Any] | None:
    """The name and the formula that were given to ``guarded``; None for any other function."""
    return getattr(formula, "behind_guard", None)

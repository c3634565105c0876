"""The derivatives of the scalar rows, compiled for arrays.

``lambda out, x: less(0.0, x)`` calls the function ``less``, which first looks at what it was given:
on small arrays that takes longer than the comparison. Here the same code object gets other
globals, in which ``less`` is NumPy's at once. Nothing is written twice: it is the row's formula.

Read next: ``../tensor/passes.py``, which uses them.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.ops import FUNCTIONS
from minigrad.ops.arrays import ARRAYS
from minigrad.ops.row import FIRST, MANY, SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from minigrad.ops.row import Op

__all__ = ["array_slopes"]

_globals: dict[int, dict[str, Any]] = {}  # by the id of a module's globals, which live on
_slopes: dict[int, tuple[Op, Sequence[Any] | None]] = {}  # by the id of a row, which is kept alive
_MOST_ROWS = 4096


def array_slopes(op: Op) -> Sequence[Any] | None:
    """The local derivatives of ``op`` on arrays; None for a row that selects, or of any number."""
    known = _slopes.get(id(op))
    if known is None:
        while len(_slopes) >= _MOST_ROWS:
            del _slopes[next(iter(_slopes))]
        one_by_one = not op.selects and op.arity is not MANY
        slopes = tuple(_slope(op, i) for i in range(op.arity)) if one_by_one else None
        known = _slopes[id(op)] = op, slopes
    return known[1]


def _slope(op: Op, i: int) -> Any:
    """The derivative for input ``i``, with the domain and the edges around it, as in ``Op``."""
    formula = _compiled(op.partials[i])
    edges = [(_compiled(condition), _compiled(value)) for condition, value in op.edges.get(i, ())]
    edges.reverse()
    domain = _compiled(op.domain)
    if formula is None or (domain is None and not edges):
        return formula

    def guarded(out: Any, *xs: Any) -> Any:
        local = formula(out, *xs) if callable(formula) else formula
        for condition, value in edges:
            holds = condition(*xs)
            if np.any(holds):
                local = np.where(holds, value(out, *xs) if callable(value) else value, local)
        if domain is not None:
            inside = domain(*xs)
            if not np.all(inside):
                local = np.where(inside, local, np.nan)
        return local

    return guarded


def _on_arrays(name: str, thing: Any) -> Any:
    """A function of the table without its look at the arguments; anything else as it is."""
    function: Any = FUNCTIONS.get(name)
    ours = function is thing and function is not None and not function.op.attrs
    return partial(function.op.forward, ARRAYS) if ours else thing


def _compiled(formula: Any) -> Any:
    if isinstance(formula, partial):
        return partial(_compiled(formula.func), **formula.keywords)
    if formula is FIRST or formula is SECOND or not isinstance(formula, FunctionType):
        return formula
    theirs = formula.__globals__
    ours = _globals.get(id(theirs))
    if ours is None:
        ours = _globals[id(theirs)] = {
            name: _on_arrays(name, thing) for name, thing in theirs.items()
        }
    twin = FunctionType(
        formula.__code__, ours, formula.__name__, formula.__defaults__, formula.__closure__
    )
    twin.__kwdefaults__ = formula.__kwdefaults__
    return twin

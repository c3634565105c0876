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
from minigrad.ops.guarded import behind_guard, guarded
from minigrad.ops.row import FIRST, MANY, SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from minigrad.ops.row import Op

__all__ = ["array_slopes", "compiled", "known_slopes"]

_globals: dict[int, dict[str, Any]] = {}  # by the id of a module's globals, which live on
known_slopes: dict[Op, Sequence[Any] | None] = {}  # what ``array_slopes`` gave
_MOST_ROWS = 4096


def array_slopes(op: Op) -> Sequence[Any] | None:
    """The local derivatives of ``op`` on arrays; None for a row that selects, or of any number."""
    while len(known_slopes) >= _MOST_ROWS:
        del known_slopes[next(iter(known_slopes))]
    one_by_one = not op.selects and op.arity is not MANY
    slopes = tuple(_slope(op, i) for i in range(op.arity)) if one_by_one else None
    known_slopes[op] = slopes
    return slopes


def _slope(op: Op, i: int) -> Any:
    """The derivative for input ``i``, with the domain and the edges around it, as in ``Op``."""
    formula = compiled(op.partials[i])
    edges = [(compiled(condition), compiled(value)) for condition, value in op.edges.get(i, ())]
    edges.reverse()
    domain = compiled(op.domain)
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


# In formulas of the table comparisons are factors and conditions, never summands: bools do.
_COMPARISONS = {"less": np.less, "less_equal": np.less_equal, "equal": np.equal}


def _on_arrays(name: str, thing: Any, in_table: bool) -> Any:
    """A function of the table without its look at the arguments; anything else as it is."""
    function: Any = FUNCTIONS.get(name)
    if in_table and name in _COMPARISONS:
        return _COMPARISONS[name]
    ours = function is thing and function is not None and not function.op.attrs
    return partial(function.op.forward, ARRAYS) if ours else thing


def compiled(formula: Any) -> Any:
    """``formula`` for arrays alone: the functions of the table that it names are NumPy's."""
    if isinstance(formula, partial):
        return partial(compiled(formula.func), **formula.keywords)
    own = behind_guard(formula)
    if own is not None:
        return guarded(own[0], compiled(own[1]))
    if formula is FIRST or formula is SECOND or not isinstance(formula, FunctionType):
        return formula
    theirs = formula.__globals__
    ours = _globals.get(id(theirs))
    if ours is None:
        in_table = str(theirs.get("__name__", "")).startswith(f"{__package__}.")
        ours = _globals[id(theirs)] = {
            name: _on_arrays(name, thing, in_table) for name, thing in theirs.items()
        }
    twin = FunctionType(
        formula.__code__, ours, formula.__name__, formula.__defaults__, formula.__closure__
    )
    twin.__kwdefaults__ = formula.__kwdefaults__
    return twin

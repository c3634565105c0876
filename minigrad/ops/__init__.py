"""The table of operations. ``core.py`` has the rows of the lecture, the other files the rest.

Read next: ``core.py``.
"""

from __future__ import annotations

from minigrad.ops import core, nary, scalar
from minigrad.ops.guarded import guard
from minigrad.ops.row import OPS, find, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["FUNCTIONS", "OPS", "find", "operation"]

# name -> the function of the row, in the order of the table
FUNCTIONS = {
    name: function
    for module in (core, scalar, nary)
    for name, function in vars(module).items()
    if hasattr(function, "op")
}


_OWN: set[str] = set()  # the rows that ``operation`` made


def operation(
    name: str,
    forward: Callable[..., Any],
    partials: Sequence[Callable[..., Any] | float | None],
    **about: Any,
) -> Callable[..., Any]:
    """Define an operation of your own: one row, like those of the table.

    Args:
        name: A new word; the row is found under it. Your own may be defined again.
        forward: ``(m, *xs) -> out``; take functions from ``m`` (``m.exp(x)``), or use operators.
            The arrays that it gets cannot be written to.
        partials: Per input ``(out, *xs) -> ∂out/∂xᵢ``, a number, or None (not differentiable).
        **about: How it is written, its domain and edges; see ``ops/row.py``.

    Returns:
        The function. It works on numbers, nodes and symbols.

    Raises:
        DefinitionError: if the parts do not fit together, naming the operation.

    >>> cube = operation("cube", lambda m, x: x * x * x, [lambda out, x: 3.0 * x * x])
    >>> from minigrad import Value
    >>> x = Value(2.0)
    >>> cube(x).backward()
    >>> cube(2.0), x.grad
    (8.0, 12.0)
    """
    earlier = OPS.pop(name, None) if name in _OWN else None  # a learner corrects a first try;
    try:  # the graphs that have it keep their row
        function = core.elementwise(name, forward, partials, **{"public": False, **about})
    except Exception:
        if earlier is not None:
            OPS[name] = earlier
        raise
    guard(row_of(function))
    _OWN.add(name)
    return function

"""The few calls that go upward: what the graph needs from layers that import it.

An input may have been a plain number and wants to be shown as a node; an argument may be an array,
and the array mode is not loaded yet. The layers that can answer put their function here when they
are imported, so the graph imports none of them.

Read next: ``graph.py``; the hooks are filled by ``value.py`` and ``minigrad/__init__.py``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

constant: Callable[[Any], Any]  # number -> the node that stands for it in ``inputs``


# The calls below are made when an array is met. NumPy is there then, but perhaps not yet our array
# mode: until it is imported, and puts its own functions here, they import it.
def load_arrays() -> Any:
    """Import ``minigrad.tensor``; ``minigrad/__init__`` puts the function here that can."""
    raise TypeError("an array met a node before the array mode was loaded: import minigrad.tensor")


def arrays(op: Any, xs: tuple[Any, ...], kinds: set[type]) -> Any:
    """Evaluate a row on arguments of which one is an ndarray."""
    load_arrays()
    return arrays(op, xs, kinds)


def reduce_sum(values: Any, *args: Any, **attrs: Any) -> Any:
    """``mg.sum`` of an array."""
    load_arrays()
    return reduce_sum(values, *args, **attrs)


def product(x: Any, y: Any) -> Any:
    """``mg.dot`` of arrays."""
    load_arrays()
    return product(x, y)


def tensor() -> Any:
    """The class ``Tensor``."""
    load_arrays()
    return tensor()


# These are asked only of nodes that hold arrays.
pull_array: Callable[..., Any]  # ``Op.pull`` of an elementwise row on arrays
local_array: Callable[..., Any]  # ``Op.local_derivative`` of one
check_array: Callable[..., None]  # reports its contributions that are not finite
as_value: Callable[..., Any]  # a Tensor and an index, () by default -> the Value that it is there

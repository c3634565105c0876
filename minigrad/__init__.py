"""minigrad: a teaching engine for automatic differentiation.

    >>> import minigrad as mg
    >>> a, b, c = mg.Value(2.0, name="a"), mg.Value(-3.0, name="b"), mg.Value(10.0, name="c")
    >>> L = (a * b + c) ** 2
    >>> L.backward()
    >>> L.data, a.grad, b.grad, c.grad
    (16.0, -24.0, 16.0, 8.0)

The ten-minute read is ``graph.py``, ``ops/core.py``, ``value.py``; ``docs/reading-order.md`` goes
on from there.
"""

from __future__ import annotations

from importlib import import_module

from minigrad import hooks
from minigrad.graph import topological_order as topological_order
from minigrad.modes import errstate as errstate
from minigrad.modes import no_grad as no_grad
from minigrad.modes import options as options
from minigrad.modes import pause_gc as pause_gc
from minigrad.modes import recording_enabled as recording_enabled
from minigrad.modes import scope as scope
from minigrad.ops import FUNCTIONS
from minigrad.ops import operation as operation
from minigrad.value import Value as Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

# Loaded when first used: `import minigrad` stays fast, and needs the standard library alone.
_LATER = {
    "draw": "picture",
    "explain": "explanation",
    "grad": "transforms",
    "record": "events",
    "trace": "events",
    "value_and_grad": "transforms",
}

_functions = {name: function for name, function in FUNCTIONS.items() if function.op.public}

__all__ = [
    *sorted(
        {
            *_LATER, *_functions, "Value", "errstate", "no_grad", "operation", "options",
            "pause_gc", "recording_enabled", "scope", "topological_order",
        }
    )
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LATER:
        value = globals()[name] = getattr(import_module(f"minigrad.{_LATER[name]}"), name)
        return value
    if name in _functions:  # its docstring is written when somebody first asks for it
        document = import_module("minigrad.reference").document
        value = globals()[name] = document(_functions[name])
        return value
    raise AttributeError(f"module 'minigrad' has no attribute {name!r}")


def _view(name: str) -> Any:
    """What ``node.draw(...)`` calls; the module is imported when it is called."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return __getattr__(name)(self, *args, **kwargs)

    method.__name__, method.__doc__ = name, f"``mg.{name}`` of this node."
    return method


def _shown(node: Any, include: object = None, exclude: object = None) -> dict[str, str]:
    """What a notebook shows of a node: its graph, or a leaf as it is written."""
    if node.op is None:
        return {"text/plain": repr(node)}
    bundle: dict[str, str] = __getattr__("draw")(node)._repr_mimebundle_()
    return bundle


for _name in ("draw", "explain", "trace"):
    setattr(Value, _name, _view(_name))
Value._repr_mimebundle_ = _shown
hooks.load_arrays = lambda: import_module("minigrad.tensor")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

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
from importlib.util import find_spec

from minigrad import elsewhere, hooks
from minigrad.graph import Node
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
    "Tensor": "tensor",
    "draw": "picture",
    "expand": "tensor",
    "explain": "explanation",
    "fit": "training",
    "grad": "transforms",
    "record": "events",
    "stack_values": "tensor",
    "to_values": "tensor",
    "trace": "events",
    "value_and_grad": "transforms",
}
_MODULES = ("data", "nn", "optim")
# The functions of arrays; those of the table above them (sin, sum, dot, …) take arrays as well.
_ARRAYS = (
    "argmax", "argsort", "at_set", "avg_pool2d", "bce_with_logits", "broadcast_to", "concatenate",
    "conv2d", "cross_entropy", "cumprod", "cumsum", "diagonal", "einsum", "expand_dims", "flip",
    "getitem", "hinge_loss", "log_softmax", "logsumexp", "matmul", "max", "max_pool2d", "mean",
    "min", "moveaxis", "mse_loss", "norm", "ones_like", "outer", "pad", "prod", "reshape", "roll",
    "softmax", "sort", "split", "squeeze", "stack", "std", "swapaxes", "take", "tensordot",
    "transpose", "tril", "triu", "var", "zeros_like",
)  # fmt: skip

_functions = {name: function for name, function in FUNCTIONS.items() if function.op.public}

_NEED_NUMPY = {*_ARRAYS, *(name for name, module in _LATER.items() if module == "tensor")}


def _public() -> list[str]:
    """The public names, sorted; without NumPy, those that do not need it."""
    names = {
        *_ARRAYS, *_LATER, *_MODULES, *_functions, "Value", "errstate", "no_grad", "operation",
        "options", "pause_gc", "recording_enabled", "scope", "topological_order",
    }  # fmt: skip
    return sorted(names if find_spec("numpy") else names - _NEED_NUMPY)


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _public()
    if name in _LATER:
        value = globals()[name] = getattr(import_module(f"minigrad.{_LATER[name]}"), name)
        return value
    if name in _functions:  # its docstring is written when somebody first asks for it
        document = import_module("minigrad.reference").document
        value = globals()[name] = document(_functions[name])
        return value
    if name in _MODULES:
        return import_module(f"minigrad.{name}")
    if name in _ARRAYS:
        functions = import_module("minigrad.tensor").ARRAY_FUNCTIONS
        value = globals()[name] = functions[name]
        return value
    raise elsewhere.missing("minigrad", name, elsewhere.FUNCTIONS)


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
    setattr(Node, _name, _view(_name))
for _name, _method in {"_repr_mimebundle_": _shown}.items():
    setattr(Node, _name, _method)
hooks.load_arrays = lambda: import_module("minigrad.tensor")


def __dir__() -> list[str]:
    return [*_public(), "__version__"]

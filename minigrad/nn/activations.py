"""Activations by name or by function, on a node, an array, or the list of a scalar layer.

Read next: ``layers.py``.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.graph import Node
from minigrad.ops import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["activate", "check_activation", "gain_of", "log_softmax", "softmax"]

_OF_NUMBERS = (
    "elu", "exp", "gelu", "identity", "leaky_relu", "log_sigmoid", "relu", "relu6", "sigmoid",
    "silu", "sin", "softplus", "square", "tanh",
)  # fmt: skip
_OF_VECTORS = ("log_softmax", "softmax")
_RECTIFIERS = ("relu", "relu6", "leaky_relu", "elu", "gelu", "silu", "softplus")


def check_activation(activation: Any) -> Any:
    """``activation``, if it is a function, a known name, or None.

    Raises:
        ArgumentTypeError: if it is of another kind.
        ArgumentValueError: if the name is not known.
    """
    if isinstance(activation, str):
        known = (*_OF_NUMBERS, *_OF_VECTORS)
        if activation not in known:
            near = get_close_matches(activation.lower(), known, 1)  # the classes are called ReLU
            hint = f"; {near[0]!r} is near" if near else ""
            raise ArgumentValueError(
                f"activation={activation!r}: it is a function, or one of {', '.join(known)}{hint}"
            )
    elif activation is not None and not callable(activation):
        raise ArgumentTypeError(f"activation={activation!r}: it is a function or its name")
    return activation


def activate(activation: Any, x: Any) -> Any:
    """``activation`` of a node or an array, or of every Value of a list."""
    if activation is None or activation == "identity":
        return x
    if isinstance(x, Node) and isinstance(activation, str):
        return getattr(x, activation)()  # the method is the shortest way
    if activation in _OF_VECTORS:
        if isinstance(x, list):
            return softmax(x) if activation == "softmax" else log_softmax(x)
        from minigrad.tensor import ARRAY_FUNCTIONS

        return ARRAY_FUNCTIONS[activation](x)
    function = FUNCTIONS[activation] if isinstance(activation, str) else activation
    return [function(z) for z in x] if isinstance(x, list) else function(x)


def gain_of(activation: Any) -> str:
    """The initializer for weights in front of an activation."""
    name = activation if isinstance(activation, str) else getattr(activation, "__name__", "")
    return "he_normal" if name in _RECTIFIERS else "xavier_normal"


def _shifted(xs: Sequence[Any]) -> tuple[list[Any], Any]:
    """The numbers less the largest, which is a constant, and the sum of their exponentials."""
    peak = max((getattr(x, "_data", x) for x in xs), default=0.0)
    low = [x - peak for x in xs]
    exp: Callable[[Any], Any] = FUNCTIONS["exp"]
    return low, FUNCTIONS["sum"]([exp(x) for x in low])


def softmax(xs: Sequence[Any]) -> list[Any]:
    """exp(xᵢ) / Σ exp(xⱼ) of a list of Values, without overflow."""
    low, whole = _shifted(xs)
    exp: Callable[[Any], Any] = FUNCTIONS["exp"]
    return [exp(x) / whole for x in low]


def log_softmax(xs: Sequence[Any]) -> list[Any]:
    """xᵢ − log Σ exp(xⱼ) of a list of Values, without overflow."""
    if not xs:
        return []
    low, whole = _shifted(xs)
    log = FUNCTIONS["log"](whole)
    return [x - log for x in low]

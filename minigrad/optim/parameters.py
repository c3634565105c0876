"""Parameters and their gradients, checked: each parameter once, each gradient of its shape.

Read next: ``optimizer.py``.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.graph import Node, sweep
from minigrad.nothing import NOTHING
from minigrad.ops.evaluate import kind_of
from minigrad.pull import pull

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "as_gradient", "called", "check_arguments", "gradients_of", "not_finite", "parameters_of",
    "raising", "size_of",
]  # fmt: skip

_OURS = {  # of what other libraries call otherwise, or have elsewhere
    "alpha": "RMSProp has rho=", "beta1": "Adam has beta_1=", "beta2": "Adam has beta_2=",
    "betas": "Adam has beta_1= and beta_2=", "eps": "it is called epsilon=",
    "lr": "it is called learning_rate=", "momentum": "mg.optim.Momentum has momentum=",
    "nesterov": "there is mg.optim.Nesterov", "parameters": "they are called params=",
    "var_list": "they are called params=", "vars": "they are called params=",
}  # fmt: skip


def check_arguments(kind: str, learning_rate: Any, unknown: dict[str, Any]) -> None:
    """Refuse arguments in the order and with the names of other libraries.

    Raises:
        ArgumentTypeError: says what they are here.
    """
    if isinstance(learning_rate, list | tuple | Node) or hasattr(learning_rate, "parameters"):
        raise ArgumentTypeError(
            f"{kind}(learning_rate, params): the learning rate comes first, but "
            f"{kind_of(learning_rate)} was given; write {kind}(0.01, params), or "
            f"{kind}(learning_rate=0.01, params=params)"
        )
    for word in unknown:
        hint = _OURS.get(
            word, "there are learning_rate, params, weight_decay, clip_value, clip_norm"
        )
        raise ArgumentTypeError(f"{kind} has no argument {word}=; {hint}")


def parameters_of(params: Any, what: str) -> list[Any]:
    """The parameters, each once, in order."""
    if isinstance(params, type) and hasattr(params, "parameters"):
        raise ArgumentTypeError(f"{what}: {params.__name__} is a class; call it to make a model")
    given = getattr(params, "parameters", None)
    if callable(given):
        params = given()
    elif isinstance(params, Node):
        params = [params]
    try:
        found = list(dict.fromkeys(params))
    except TypeError:
        raise ArgumentTypeError(
            f"{what}: {params!r} was given; it is a list of Values or Tensors, or a model"
        ) from None
    for p in found:
        if not isinstance(p, Node):
            raise ArgumentTypeError(f"{what}: {p!r} is not a Value or Tensor")
        if p.op is not None:
            raise ArgumentTypeError(
                f"{what}: {called(p)} was computed by {p.op.name}; only a leaf can be updated"
            )
        if hasattr(p._data, "dtype") and p._data.dtype.kind != "f":
            raise ArgumentTypeError(
                f"{what}: {called(p)} holds {p._data.dtype}, which has no gradient; "
                f".astype(float) makes floats"
            )
    if not found:
        raise ArgumentValueError(f"{what}: there are no parameters in it")
    return found


def gradients_of(loss: Any, order: Sequence[Node], seed: Any) -> dict[Node, Any]:
    """The gradients of a private pass."""
    number = loss._data
    if seed is None:
        seed = 1.0
    seed = getattr(seed, "_data", seed)
    if hasattr(number, "shape"):
        import numpy as np

        seed = np.array(np.broadcast_to(seed, number.shape), dtype=number.dtype)
    cotangents: dict[Node, Any] = {loss: seed}
    for _step in sweep(order, cotangents, pull):
        pass
    return cotangents


def as_gradient(gradient: Any, p: Any) -> Any:
    """A gradient as a float, or as an array of the shape and type of its parameter."""
    if gradient is None:
        return None
    if hasattr(p._data, "shape"):
        from minigrad.ops.broadcasting import parts
        from minigrad.tensor.arguments import array_with_shape

        numbers = 0.0 if gradient is NOTHING else parts(gradient)[0]
        numbers = getattr(numbers, "_data", numbers)
        return array_with_shape(numbers, p._data, f"the gradient of {called(p)}", spread=True)
    if gradient is NOTHING:
        return 0.0
    try:
        return float(getattr(gradient, "_data", gradient))
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"the gradient of {called(p)} is {gradient!r}") from None


def called(p: Any) -> str:
    """What a message calls a parameter."""
    shape = getattr(p._data, "shape", None)
    if p.name:
        return str(p.name)
    what = f"of {p.data!r}" if shape is None else f"of shape {shape}"
    return f"a {type(p).__name__} {what}"


def raising(gradients: Sequence[Any]) -> Any:
    """A block in which NumPy raises a ``FloatingPointError`` where it would only warn.

    Args:
        gradients: What is computed with; for floats alone nothing is set, NumPy may be missing.
    """
    if any(hasattr(gradient, "shape") for gradient in gradients):
        import numpy as np

        return np.errstate(divide="raise", over="raise", invalid="raise")
    return nullcontext()


def size_of(gradient: Any) -> float:
    """The largest absolute number of a gradient."""
    if not hasattr(gradient, "shape"):
        return abs(float(gradient))
    return float(abs(gradient).max())


def not_finite(gradient: Any) -> str:
    """What is wrong with a gradient that is not finite."""
    if not hasattr(gradient, "shape"):
        return repr(float(gradient))
    import numpy as np

    wrong = int((~np.isfinite(gradient)).sum())
    kind = "nan" if np.isnan(gradient).any() else "inf"
    return f"{kind} at {wrong} of {gradient.size} places"

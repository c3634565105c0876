"""Functions of functions: ``grad(f)`` is the derivative of ``f``, as a function.

It runs ``f`` on a node, sweeps the graph that came out, and returns the gradient; given a node it
returns a node, so ``grad(grad(f))`` is the second derivative.

Read next: ``graph.py``, the sweep.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from minigrad import hooks, source
from minigrad.errors import ArgumentTypeError, MissingGradientWarning
from minigrad.graph import Node, sweep, topological_order
from minigrad.modes import recording, serial_of
from minigrad.nothing import NOTHING
from minigrad.ops.function import operator
from minigrad.ops.row import ONE
from minigrad.pull import pull, pull_graph
from minigrad.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["grad", "value_and_grad"]

_same = operator("identity", lambda m, x: x, [ONE], sentence="The same number as a new node.")


def value_and_grad(function: Callable[..., Any], argnum: int = 0) -> Callable[..., tuple[Any, Any]]:
    """Return a function that gives f(x) and ∂f/∂x.

    Args:
        function: A function of numbers that gives one number.
        argnum: Which argument to differentiate by, counted from 0.

    Returns:
        A function with the same arguments. It gives numbers; but nodes, which can be
        differentiated again, where the result depends on a node that was there before the call
        (an argument, or one that ``function`` reads from around it). A result that does not
        depend on the argument has the gradient 0.0.

    Raises:
        ArgumentTypeError: if ``function`` cannot be called or gives no number, or ``argnum`` is no
            position of an argument.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    if not callable(function):
        raise ArgumentTypeError(f"grad takes a function, not {function!r}; grad(f)(x) is f'(x)")
    if not isinstance(argnum, int):
        raise ArgumentTypeError(f"grad(f, argnum={argnum!r}): the number of one argument, from 0")

    @wraps(function)
    def both(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if not -len(args) <= argnum < len(args):
            raise ArgumentTypeError(f"grad(f, argnum={argnum}) was given {len(args)} arguments")
        given = args[argnum]
        x = _same(given) if isinstance(given, Node) else _leaf(given)  # a node of this call alone
        if getattr(getattr(x._data, "dtype", None), "kind", "f") != "f":
            source.warn(
                MissingGradientWarning,
                f"grad by an array of {x._data.dtype}: whole numbers have no gradient; "
                f"x.astype(float) makes floats",
            )
        arguments = list(args)
        arguments[argnum] = x
        with recording():
            out = function(*arguments, **kwargs)
        if not isinstance(out, Node):
            return Value(out).data, _zero(x)
        if getattr(out, "shape", ()):
            raise ArgumentTypeError(
                f"grad is for functions that give one number; this one gave the shape "
                f"{out.shape}: sum it, or take its mean"  # type: ignore[attr-defined]
            )
        order = topological_order(out)
        # A node that was there before this call may be differentiated by somebody else: the
        # argument itself, another argument, or one that the function reads from around it.
        as_node = any(serial_of(node) < serial_of(x) for node in order)
        with recording():
            gradient = _gradient(out, x, order, as_node)
        return (out, gradient) if as_node else (out.item(), gradient)  # type: ignore[attr-defined]

    return both


def grad(function: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return the function ∂f/∂x; see ``value_and_grad``.

    >>> f = lambda x: x ** 3
    >>> grad(f)(2.0), grad(grad(f))(2.0), grad(grad(grad(f)))(2.0)
    (12.0, 12.0, 6.0)
    """
    both = value_and_grad(function, argnum)

    @wraps(function)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return derivative


def _leaf(given: Any) -> Node:
    """A leaf for an argument: a Tensor for an array, else a Value.

    Whole numbers become floats: who differentiates by them means the function of real numbers.
    """
    if hasattr(given, "shape") and hasattr(given, "__setitem__"):  # and no scalar of NumPy
        whole = given.dtype.kind in "iub"
        leaf: Node = hooks.tensor()(given.astype(float) if whole else given)
        return leaf
    return Value(given)


def _gradient(out: Node, x: Node, order: list[Node], as_node: bool) -> Any:
    """∂out/∂x by a private pass: no ``.grad`` is written."""
    cotangents: dict[Node, Any] = {out: out._data**0}  # 1 of its own type
    if x not in set(order):
        return _zero(x)
    below = order[order.index(x) :]  # what x was computed from is not asked for
    for _step in sweep(below, cotangents, pull_graph if as_node else pull):
        pass
    gradient = cotangents.get(x)
    gradient = getattr(gradient, "values", gradient)  # an array of which a part is nothing
    return _zero(x) if gradient is None or gradient is NOTHING else gradient


def _zero(x: Node) -> Any:
    """The gradient of what does not depend on ``x``, in its shape."""
    if not hasattr(x, "shape"):
        return 0.0
    zeros = x._data.astype(x._data.dtype if x._data.dtype.kind == "f" else float)
    zeros[...] = 0.0
    return zeros

"""``backward()`` of a ``Tensor`` in one loop: the sweep of ``graph.py``, fused.

It adds the contributions in the order of the readable sweep, so the numbers are the same bit for
bit, and leaves out what costs: no gradient for constants, no zeros to add the first contribution
to, no array that is kept once its node has sent it on, one setting of NumPy's error flags for the
whole pass. Whatever is out of the ordinary (a flag of NumPy, a formula that raises, a gradient that
is a node or partly nothing) makes it give up before anything is published; the readable sweep then
does the work, and says what is wrong.

Read next: ``../graph.py``, whose order and arithmetic this file must keep.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import modes
from minigrad.errors import GraphCycleError
from minigrad.ops.arrays import errors, loud, ndarray, quiet
from minigrad.ops.broadcasting import fit
from minigrad.ops.kinds import General
from minigrad.ops.row import FIRST, ONE, SECOND, Op
from minigrad.publish import publishing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from minigrad.graph import Node

__all__ = ["backward", "own"]


def backward(root: Any, seed: Any, watched: bool) -> bool:
    """Run the pass and publish the gradients; False if this is a case for the readable sweep.

    Args:
        root: The node to differentiate.
        seed: Its gradient at the start, an array of its shape and type.
        watched: Whether inner nodes keep their gradients too.
    """
    order = _order(root)
    silent = modes.special and modes.error_action() == "ignore"
    token = errors.set(quiet if silent else loud)
    try:
        gradients = _pass_gradients(order, root, seed, watched)
    except Exception:
        return False  # the readable sweep says whose formula it was
    finally:
        errors.reset(token)
    if gradients is None:
        return False
    _publish(gradients)
    return True


def _order(root: Node) -> list[Any]:
    """``topological_order``, with as few calls as possible."""
    order: list[Any] = []
    done: set[Any] = set()
    path: set[Any] = set()
    stack: list[Any] = [root]
    push, pop, finish, close = stack.append, stack.pop, order.append, done.add
    while stack:
        node = stack[-1]
        if node in done:
            pop()
            continue
        op = node._row
        if op is None:
            pop()
            close(node)
            finish(node)
            continue
        if node in path:
            pop()
            path.remove(node)
            close(node)
            finish(node)
            continue
        path.add(node)
        sources: Sequence[Any] = (node._b, node._a) if op.arity < 3 else node._a[::-1]
        for source in sources:
            if source is not None and source not in done:
                if source in path:
                    raise GraphCycleError(f"{source!r} is computed from itself, through {node!r}")
                push(source)
    return order


def _pass_gradients(
    order: list[Any], root: Any, seed: Any, watched: bool
) -> list[tuple[Any, Any]] | None:
    """The chain rule; the gradients to publish, or None to give up."""
    cotangents: dict[Any, Any] = {root: seed}
    take = cotangents.pop
    published: list[tuple[Any, Any]] = []
    one, first, second, elementwise = ONE, FIRST, SECOND, Op
    while order:
        node = order.pop()
        upstream = take(node, None)
        if upstream is None:
            continue
        op = node._row
        if op is None:
            if node._grad.__class__ is not ndarray and node._grad.__class__ is not float:
                if node._grad is not None:
                    return None  # a node of an earlier pass
            published.append((node, upstream))
            continue
        if watched or node.name is not None or node._out.__class__ is float:
            published.append((node, upstream))
        if op.__class__ is elementwise and not op.edges and op.domain is None and not op.selects:
            partials = op.partials
            if op.arity == 1:
                slope = partials[0]
                if slope is not None:
                    x = node._x
                    if slope.__class__ is float:
                        sent = upstream if slope is one else upstream * slope
                    else:
                        sent = upstream * slope(node._out, x)
                    if x.__class__ is not ndarray or sent.dtype is not x.dtype or sent.shape != x.shape:
                        sent = _fitted(sent, x)
                    if sent is not None:
                        source = node._a
                        before = take(source, None)
                        cotangents[source] = sent if before is None else before + sent
                continue
            if op.arity == 2:
                x, y = node._x, node._y
                source, slope = node._a, partials[0]
                if source is not None and slope is not None:
                    if slope is one:
                        sent = upstream
                    elif slope is second:
                        sent = upstream * y
                    elif slope.__class__ is float:
                        sent = upstream * slope
                    else:
                        sent = upstream * slope(node._out, x, y)
                    if x.__class__ is not ndarray or sent.dtype is not x.dtype or sent.shape != x.shape:
                        sent = _fitted(sent, x)
                    if sent is not None:
                        before = take(source, None)
                        cotangents[source] = sent if before is None else before + sent
                source, slope = node._b, partials[1]
                if source is not None and slope is not None:
                    if slope is one:
                        sent = upstream
                    elif slope is first:
                        sent = upstream * x
                    elif slope.__class__ is float:
                        sent = upstream * slope
                    else:
                        sent = upstream * slope(node._out, x, y)
                    if y.__class__ is not ndarray or sent.dtype is not y.dtype or sent.shape != y.shape:
                        sent = _fitted(sent, y)
                    if sent is not None:
                        before = take(source, None)
                        cotangents[source] = sent if before is None else before + sent
                continue
        for source, sent in _general(op, node, upstream):
            if sent is not None:
                if sent.__class__ is not ndarray and sent.__class__ is not float:
                    return None  # nothing, or partly so
                before = take(source, None)
                cotangents[source] = sent if before is None else before + sent
    return published


def _fitted(sent: Any, x: Any) -> Any:
    """``fit``, or None where whole numbers went in."""
    if x.__class__ is ndarray and x.dtype.kind != "f":
        return None
    return fit(sent, x)


def _general(op: Any, node: Any, upstream: Any) -> Sequence[tuple[Any, Any]]:
    """The contributions of a row that is not quite elementwise."""
    if op.arity > 2:
        sources, xs = node._a, node._x
    elif op.arity == 2:
        sources, xs = (node._a, node._b), (node._x, node._y)
    else:
        sources, xs = (node._a,), (node._x,)
    if isinstance(op, General):
        sent = op.contributions_to(sources, upstream, node._out, xs)
        return [
            (source, None if c is None else fit(c, x))
            for source, c, x in zip(sources, sent, xs, strict=True)
        ]
    return [
        (source, contribution)
        for source, (_, contribution, _) in zip(
            sources, op.pull(upstream, node._out, xs, sources), strict=True
        )
    ]


def _publish(gradients: list[tuple[Any, Any]]) -> None:
    gradients.reverse()
    ready = []
    with publishing:
        while gradients:
            node, gradient = gradients.pop()
            if hasattr(node, "shape"):
                gradient = own(gradient, node._data)
            if node._row is None and node._grad is not None:
                gradient = node._grad + gradient
            ready.append((node, gradient))
        for node, gradient in ready:
            node._grad = gradient


def own(gradient: Any, data: Any) -> Any:
    """``gradient`` as an array of the shape and type of ``data`` that shares memory with nothing.

    An array that only the caller and this function refer to is taken as it is: copying the
    gradients of the weights would cost a twentieth of a training step.
    """
    if (
        gradient.__class__ is ndarray
        and gradient.base is None
        and getrefcount(gradient) <= _ALONE
        and gradient.shape == data.shape
        and gradient.dtype == data.dtype
        and gradient.flags.writeable
    ):
        return gradient
    return np.array(np.broadcast_to(gradient, data.shape), dtype=data.dtype)


def _references(gradient: Any) -> int:
    return getrefcount(gradient)


def _references_when_alone() -> int:
    gradient = np.zeros(1)
    return _references(gradient)


_ALONE = _references_when_alone()  # differs between versions of Python

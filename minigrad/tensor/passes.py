"""``backward()`` of a ``Tensor`` in one loop: the sweep of ``graph.py``, fused.

It adds the contributions in the order of the readable sweep, so the numbers are the same bit for
bit, and leaves out what costs: no gradient for constants, no zeros to add the first contribution
to, no array that is kept once its node has sent it on, one setting of NumPy's error flags for the
whole pass. Whatever is out of the ordinary (a flag of NumPy, a formula that raises, a gradient that
is a node) makes it give up before anything is published; the readable sweep then
does the work, and says what is wrong.

Read next: ``../graph.py``, whose order and arithmetic this file must keep.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import modes
from minigrad.errors import GraphCycleError
from minigrad.graph import numbers, sources
from minigrad.nothing import NOTHING
from minigrad.ops.arrays import errors, loud, ndarray, quiet
from minigrad.ops.broadcasting import Masked, fit, parts
from minigrad.ops.formulas import array_slopes, known_slopes
from minigrad.ops.halves import added
from minigrad.ops.kinds import General
from minigrad.ops.row import FIRST, MANY, ONE, SECOND, Op
from minigrad.ops.scattered import Scattered
from minigrad.publish import publishing, write
from minigrad.pull import quits

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
    token = errors.set(quiet if modes.error_action() == "ignore" else loud)
    cotangents: dict[Any, Any] = {root: seed}
    try:
        kept = _pass_gradients(order, cotangents, watched)
    except Exception as error:
        if quits(error):
            raise
        return False  # the readable sweep says whose formula it was
    finally:
        errors.reset(token)
    for leaf in cotangents:
        if leaf._grad is not None and leaf._grad.__class__ not in (ndarray, float):
            return False  # a node of an earlier pass
    _publish(kept, cotangents)
    return True


def _order(root: Node) -> list[Any]:
    """``topological_order`` with as few calls as possible, and without the leaves."""
    order: list[Any] = []
    if root._row is None:
        return order
    opened: dict[Any, bool] = {}  # node -> whether the walk is still below it
    known, finish = opened.get, order.append
    stack: list[Any] = [root]
    push, pop = stack.append, stack.pop
    while stack:
        node = stack[-1]
        state = known(node)
        if state is None:
            opened[node] = True
            op = node._row
            if op.arity < 3:
                source = node._b
                if source is not None and source._row is not None:
                    state = known(source)
                    if state is None:
                        push(source)
                    elif state:
                        raise GraphCycleError(
                            f"{source!r} is computed from itself, through {node!r}"
                        )
                source = node._a
                if source is not None and source._row is not None:
                    state = known(source)
                    if state is None:
                        push(source)
                    elif state:
                        raise GraphCycleError(
                            f"{source!r} is computed from itself, through {node!r}"
                        )
                continue
            for source in node._a[::-1]:
                if source is not None and source._row is not None:
                    state = known(source)
                    if state is None:
                        push(source)
                    elif state:
                        raise GraphCycleError(
                            f"{source!r} is computed from itself, through {node!r}"
                        )
            continue
        pop()
        if state:
            opened[node] = False
            finish(node)
    return order


def _pass_gradients(
    order: list[Any], cotangents: dict[Any, Any], watched: bool
) -> list[tuple[Any, Any]]:
    """The chain rule; leaves those of the leaves in ``cotangents``.

    Returns:
        The gradients that inner nodes keep.
    """
    take, known = cotangents.pop, cotangents.get
    kept: list[tuple[Any, Any]] = []
    inputs: Sequence[Any]
    xs: Sequence[Any]
    one, first, second, elementwise = ONE, FIRST, SECOND, Op
    recall, unknown = known_slopes.get, ()
    while order:
        node = order.pop()
        upstream = take(node, None)
        if upstream is None:
            continue
        if watched or node.name is not None or node._out.__class__ is float:
            kept.append((node, upstream))
        op = node._row
        if upstream.__class__ is Scattered:
            values, nothing = parts(upstream)
            upstream = values if nothing is None else Masked(values, nothing)
        if upstream.__class__ is Masked or upstream is NOTHING:
            slopes = None
        elif op.__class__ is elementwise:
            slopes = recall(op, unknown)
            if slopes is unknown:
                slopes = array_slopes(op)
        else:
            slopes = None
            rules = getattr(op, "vjp", None)
            if rules.__class__ is tuple:  # a sum, a slice, a matrix product
                out = node._out
                if op.arity == 1:
                    inputs, xs = (node._a,), (node._x,)
                elif op.arity == 2:
                    inputs, xs = (node._a, node._b), (node._x, node._y)
                else:
                    inputs, xs = node._a, node._x
                for source, rule, z in zip(inputs, rules, xs, strict=True):
                    if source is not None and rule is not None:
                        sent = rule(upstream, out, *xs)
                        if (
                            sent.__class__ is not ndarray
                            or z.__class__ is not ndarray
                            or sent.dtype is not z.dtype
                            or sent.shape != z.shape
                        ):
                            sent = _fitted(sent, z)
                        if sent is not None:
                            before = known(source)
                            cotangents[source] = sent if before is None else before + sent
                continue
        if slopes is None or op.arity > 2:
            for source, sent in _general(op, node, upstream):
                if sent is not None:
                    before = known(source)
                    cotangents[source] = sent if before is None else before + sent
            continue
        x = node._x
        source, slope = node._a, slopes[0]
        if op.arity == 1:
            if slope is None:
                continue
            if slope.__class__ is float:
                sent = upstream if slope is one else upstream * slope
            else:
                sent = _times(upstream, slope(node._out, x))
            if x.__class__ is not ndarray or sent.dtype is not x.dtype or sent.shape != x.shape:
                sent = _fitted(sent, x)
            if sent is not None:
                before = known(source)
                cotangents[source] = sent if before is None else before + sent
            continue
        y = node._y
        if source is not None and slope is not None:
            if slope is one:
                sent = upstream
            elif slope is second:
                sent = upstream * y
            elif slope.__class__ is float:
                sent = upstream * slope
            else:
                sent = _times(upstream, slope(node._out, x, y))
            if x.__class__ is not ndarray or sent.dtype is not x.dtype or sent.shape != x.shape:
                sent = _fitted(sent, x)
            if sent is not None:
                before = known(source)
                cotangents[source] = sent if before is None else before + sent
        source, slope = node._b, slopes[1]
        if source is not None and slope is not None:
            if slope is one:
                sent = upstream
            elif slope is first:
                sent = upstream * x
            elif slope.__class__ is float:
                sent = upstream * slope
            else:
                sent = _times(upstream, slope(node._out, x, y))
            if y.__class__ is not ndarray or sent.dtype is not y.dtype or sent.shape != y.shape:
                sent = _fitted(sent, y)
            if sent is not None:
                before = known(source)
                cotangents[source] = sent if before is None else before + sent
    return kept


def _times(upstream: Any, local: Any) -> Any:
    """upstream × local, in the memory of a large ``local`` that nobody else refers to."""
    if (
        upstream.size > _LARGE
        and local.__class__ is ndarray
        and getrefcount(local) <= _PASSED
        and local.base is None
        and local.dtype is upstream.dtype
        and local.shape == upstream.shape
    ):
        return np.multiply(upstream, local, out=local)
    return upstream * local


def _fitted(sent: Any, x: Any) -> Any:
    """``fit``, or None where whole numbers went in; in short for a bias."""
    if x.__class__ is ndarray:
        if x.dtype.kind != "f":
            return None
        if sent.__class__ is Scattered:
            return sent
        if sent.dtype is x.dtype and sent.ndim == 2 and sent.shape[1:] == x.shape:
            return added(sent, 0)
    return fit(sent, x)


def _sent(upstream: Any, local: Any, x: Any) -> Any:
    """What goes to a term of a sum or product of whole arrays."""
    sent = upstream if local.__class__ is float and local == 1.0 else upstream * local
    if x.__class__ is ndarray and sent.dtype is x.dtype and sent.shape == x.shape:
        return sent
    return _fitted(sent, x)


def _general(op: Any, node: Any, upstream: Any) -> Sequence[tuple[Any, Any]]:
    """The contributions of a row that is not quite elementwise."""
    inputs, xs = sources(node), numbers(node)
    if upstream.__class__ is Masked or upstream is NOTHING:
        pass  # the row knows what to do with nothing
    elif op.arity is MANY and not isinstance(op, General):  # a sum of whole arrays
        slopes = op.local_derivatives(xs)
        return [
            (source, None if source is None else _sent(upstream, local, x))
            for source, local, x in zip(inputs, slopes, xs, strict=True)
        ]
    elif isinstance(op, General):  # one rule for all inputs
        sent = op.contributions_to(inputs, upstream, node._out, xs)
        return [
            (source, None if c is None else _fitted(c, x))
            for source, c, x in zip(inputs, sent, xs, strict=True)
        ]
    return [
        (source, contribution)
        for source, (_, contribution, _) in zip(
            inputs, op.pull(upstream, node._out, xs, inputs), strict=True
        )
    ]


def _publish(kept: list[tuple[Any, Any]], leaves: dict[Any, Any]) -> None:
    """Write the gradients. Each list lets go of an array first, so that ``own`` may take it."""
    ready = []
    with publishing:
        while leaves:
            node, gradient = leaves.popitem()
            if node._data.__class__ is ndarray:
                gradient = own(gradient, node._data)
            if gradient is NOTHING:
                gradient = 0.0
            if node._row is None and node._grad is not None:
                gradient = node._grad + gradient
                if gradient.__class__ is not ndarray and hasattr(node, "shape"):
                    gradient = np.array(gradient)  # NumPy's sum of arrays without axes is a scalar
            ready.append((node, gradient))
        while kept:
            node, gradient = kept.pop()
            if hasattr(node, "shape"):
                gradient = own(gradient, node._data)
            ready.append((node, 0.0 if gradient is NOTHING else gradient))
        write(ready)


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
        and (gradient.dtype is data.dtype or gradient.dtype == data.dtype)
        and gradient.flags.writeable
    ):
        return gradient
    if gradient is NOTHING:
        return np.zeros(data.shape, data.dtype)
    return np.array(np.broadcast_to(parts(gradient)[0], data.shape), dtype=data.dtype)


def _references(gradient: Any) -> int:
    return getrefcount(gradient)


def _references_when_alone() -> Any:
    gradient: Any = np.zeros(1)
    for _ in range(1):
        gradient = _references(gradient)  # as in `_publish`: what is on the stack counts as well
    return gradient


_ALONE = _references_when_alone()  # differs between versions of Python
_PASSED = _references(np.zeros(1) + 1.0)  # of a result that is passed on without a name
_LARGE = 4096

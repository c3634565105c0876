"""``backward()`` in one loop: the sweep of ``graph.py``, fused, bit for bit the same numbers.

It keeps each cotangent in a slot of its node instead of a dictionary, asks a row for its slopes
without a call in between, and looks at nothing else. Whatever is out of the ordinary (a nan, a
formula that raises, a gradient that is a node, another pass that is running) makes it give up
before anything is published; the readable sweep then does the work, and says what is wrong.
A test compares the two on random programs.

Read next: ``graph.py``, whose order and arithmetic this file must keep.
"""

from __future__ import annotations

from _thread import allocate_lock

from minigrad.errors import GraphCycleError
from minigrad.graph import Node, sources
from minigrad.nothing import NOTHING, UNTOUCHED
from minigrad.ops.row import FIRST, MANY, ONE, SECOND
from minigrad.publish import publishing, restore
from minigrad.pull import failed, of_learner

__all__ = ["backward"]

_slots = allocate_lock()  # the scratch slots belong to one pass at a time

# What a scratch slot holds before a gradient arrives. The neutral element lets the first
# contribution be added like all others; that nothing was added is seen by its identity.
_OPEN = object()  # the walk is below this node
_DONE = UNTOUCHED  # all its inputs are in the order


def backward(root: Node, seed: float) -> bool:
    """Run the pass and publish the gradients; False if this is a case for the readable sweep."""
    if not _slots.acquire(blocking=False):
        return False
    order: list[Node] = []
    try:
        _fill_order(order, root)
        root._scratch = seed
        finished = _pass_gradients(order)
        if finished:
            with publishing:
                _publish(order)
        for node in order:
            node._scratch = None
        return finished
    except BaseException:  # of a formula, or of somebody who presses Ctrl-C
        _clear(root)
        raise
    finally:
        _slots.release()


def _clear(root: Node) -> None:
    """Take the marks from all nodes below, of which a pass that was interrupted knows only some."""
    root._scratch = None
    seen = {root}
    stack = [root]
    while stack:
        for source in sources(stack.pop()):
            if source is not None and source not in seen:
                source._scratch = None
                seen.add(source)
                stack.append(source)


def _fill_order(order: list[Node], node: Node) -> None:
    """``topological_order`` by marks in the nodes.

    It walks down to the first input that is not done, and comes back when that is. Leaves are
    listed when they are met; they send nothing, so their place does not matter. A row of any number
    of inputs keeps in its slot how far it has come.
    """
    path: list[Node] = []
    push, pop, finish, opened, done = path.append, path.pop, order.append, _OPEN, _DONE
    while True:
        below = None
        op = node._row
        if op is not None and op.arity > 2:
            if node._scratch is None:
                node._scratch = iter(node._a)
            for source in node._scratch:
                if source is not None and source._scratch is not done:
                    if source._row is not None:
                        below = source
                        break
                    source._scratch = done
                    finish(source)
        else:
            source = node._a
            if source is not None and source._scratch is not done:
                if source._row is not None:
                    below = source
                else:
                    source._scratch = done
                    finish(source)
            source = node._b
            if below is None and source is not None and source._scratch is not done:
                if source._row is not None:
                    below = source
                else:
                    source._scratch = done
                    finish(source)
        if below is None:
            node._scratch = done
            finish(node)
            if not path:
                return
            node = pop()
            continue
        push(node)
        if node._scratch is None:
            node._scratch = opened
        if below._scratch is not None:
            raise GraphCycleError(f"{below!r} is computed from itself, through {node!r}")
        node = below


def _pass_gradients(order: list[Node]) -> bool:
    """The chain rule; afterwards each scratch slot holds the cotangent of its node.

    Raises:
        OperationError: if a formula of the learner's raises.
    """
    done, one, first, second = _DONE, ONE, FIRST, SECOND
    try:
        for node in reversed(order):
            upstream = node._scratch
            op = node._row
            if upstream is done:  # no consumer was differentiable
                continue
            if op is None:
                if upstream.__class__ is not float:
                    if upstream is not NOTHING:
                        return False  # complex, or what a learner's formula gave
                elif upstream - upstream != 0.0:
                    return False  # inf or nan: it came from somewhere above
                if node._grad is not None and node._grad.__class__ is not float:
                    return False  # a node of an earlier pass
            elif op.arity == 2:
                left, right = op.slopes
                a = node._a
                if a is not None and left is not None:
                    if left is one:
                        a._scratch += upstream
                    elif left is second:
                        a._scratch += upstream * node._y
                    elif left.__class__ is float:
                        a._scratch += upstream * left
                    else:
                        a._scratch += upstream * left(node._out, node._x, node._y)
                b = node._b
                if b is not None and right is not None:
                    if right is one:
                        b._scratch += upstream
                    elif right is first:
                        b._scratch += upstream * node._x
                    elif right.__class__ is float:
                        b._scratch += upstream * right
                    else:
                        b._scratch += upstream * right(node._out, node._x, node._y)
            elif op.arity == 1:
                slope = op.slopes[0]
                if slope is not None:
                    local = slope if slope.__class__ is float else slope(node._out, node._x)
                    node._a._scratch += upstream * local
            elif op.arity is MANY:
                for source, local in zip(node._a, op.local_derivatives(node._x), strict=True):
                    if source is not None:
                        source._scratch += upstream * local
            else:
                sendings = op.contributions(upstream, node._out, node._x)
                for source, sent in zip(node._a, sendings, strict=True):
                    if source is not None and sent is not None:
                        source._scratch += sent
    except Exception as error:
        if not of_learner(error):
            return False
        raise failed(node, error) from error
    return True


def _publish(order: list[Node]) -> None:
    done = _DONE
    before = [node._grad for node in order]
    try:
        for node in order:
            gradient = node._scratch
            node._scratch = None
            if gradient is done:
                continue
            if gradient is NOTHING:
                gradient = 0.0
            if node._row is None and node._grad is not None:
                gradient = node._grad + gradient
            node._grad = gradient
    except BaseException:
        restore(order, before)
        raise
    order.clear()

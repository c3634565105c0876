"""The operators and methods of ``Tensor``: every one a row of the table, recorded.

It is ``operators.py`` for arrays: the same node, filled in the same way. What an operation adds to
NumPy's own time is what decides about small networks, so the two common cases, a node with a node
and a node with a Python float, are written out.

Read next: ``passes.py``, the sweep in one loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import modes, ops
from minigrad.errors import ArgumentTypeError
from minigrad.graph import Node
from minigrad.operators import add_arithmetic, start_sums_at_zero
from minigrad.ops.arrays import (
    ARRAYS,
    FLOAT_VALUED,
    as_floats,
    as_operand,
    compute_array,
    errors,
    loud,
    ndarray,
)  # fmt: skip
from minigrad.ops.evaluate import beside_node, refuse
from minigrad.ops.kinds import General
from minigrad.ops.row import OPS
from minigrad.tensor.data import ReadOnlyArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from minigrad.ops.row import Op

__all__ = ["complete"]

_new_serial: Callable[[], Any]
_enter: Callable[[Any], None] | None


def _follow_modes() -> None:
    """Keep what the hot path asks of ``modes`` in two globals of this module."""
    global _new_serial, _enter
    _new_serial = modes.new_serial
    _enter = modes.visitor()


modes.follow(_follow_modes)


def complete(kind: Any, array_functions: dict[str, Any]) -> None:
    """Give ``kind`` (the class ``Tensor``) its operators and methods, one for each row.

    Args:
        kind: The class.
        array_functions: The functions of the array set by name.
    """
    kind._apply = staticmethod(_recorder(kind))
    record_one = _recorder_of_one(kind)
    kind._record_one = staticmethod(record_one)
    add_arithmetic(kind, lambda op, reflected: _binary(kind, op, reflected))
    kind.__matmul__ = _binary(kind, OPS["matmul"], reflected=False)
    kind.__rmatmul__ = _binary(kind, OPS["matmul"], reflected=True)
    for name, function in ops.FUNCTIONS.items():
        op = function.op
        if op.public and name not in array_functions:
            simple = op.arity == 1 and not op.attrs
            setattr(kind, name, _unary(record_one, function) if simple else function)
    for name, function in array_functions.items():
        if name not in vars(kind):
            setattr(kind, name, function)
        vars(kind)[name].__doc__ = function.__doc__
    kind.__neg__, kind.__abs__ = kind.neg, kind.abs
    start_sums_at_zero(kind)


def _recorder(kind: Any) -> Callable[..., Any]:
    """The function that records any operation of the table on any arguments."""
    new, set_errors, reset = kind.__new__, errors.set, errors.reset

    def operand(op: Op, x: Any, xs: Sequence[Any]) -> tuple[Any, Any]:
        if x.__class__ is ndarray:
            return None, _kept(x, as_operand(x, op.name))
        if isinstance(x, Node):
            node, number = x._operand()  # type: ignore[attr-defined]
            if node is not None and isinstance(op, General) and op.name != "stack_values":
                node = record(OPS["stack_values"].cached(shape=()), (x,))  # an array without axes
                kind_beside = _float_beside(xs)
                if kind_beside is not None:
                    node = record(OPS["astype"].cached(dtype=kind_beside), (node,))
                number = node._data
            return node, number
        whole = all(z._data.dtype.kind in "iub" for z in xs if z.__class__ is kind)
        return None, _kept(x, as_operand(x, op.name, whole))

    def record(op: Op, xs: Sequence[Any], kinds: set[type] | None = None) -> Any:
        nodes, numbers = [], []
        for x in xs:
            if x.__class__ is kind:
                nodes.append(x)
                numbers.append(x._data)
            else:
                node, number = operand(op, x, xs)
                nodes.append(node)
                numbers.append(number)
        token = set_errors(loud)
        try:
            out = op.forward(ARRAYS, *numbers) if op.name not in FLOAT_VALUED else None
        except Exception:
            out = None
        reset(token)
        if out.__class__ is not ndarray:  # no axes, whole numbers, infinite, or wrong
            out = compute_array(op, numbers, nodes) if out is None else np.asarray(out)
        if out.dtype.kind not in "fiub":
            raise refuse(out, f"{op.name}, whose forward must give real numbers")
        node = new(kind)
        node._data = node._out = out
        node._grad = node._scratch = node.name = None
        node._row = op
        if op.arity > 2:
            node._a, node._x = tuple(nodes), tuple(numbers)
            node._b = node._y = None
        else:
            node._a, node._b = (*nodes, None)[:2]
            node._x, node._y = (*numbers, None)[:2]
        node._serial = _new_serial()
        if _enter is not None:
            _enter(node)
        return node

    return record


def _recorder_of_one(kind: Any) -> Callable[[Any, Any], Any]:
    """The same for operations of one input, in the shortest way."""
    new, set_errors, reset = kind.__new__, errors.set, errors.reset

    def record_one(op: Any, self: Any) -> Any:
        given = x = self._data
        if x.dtype.kind != "f" and op.name in FLOAT_VALUED:
            x = as_floats(x)
        token = set_errors(loud)
        try:
            out = op.forward(ARRAYS, x)
        except Exception:
            out = None
        reset(token)
        if out.__class__ is not ndarray:  # no axes, infinite, or wrong
            out = compute_array(op, (x,), (self,)) if out is None else np.asarray(out)
        if out.dtype.kind not in "fiub":
            raise refuse(out, f"{op.name}, whose forward must give real numbers")
        node = new(kind)
        node._data = node._out = out
        node._grad = node._scratch = node.name = node._b = node._y = None
        node._row = op
        node._a = self
        node._x = given  # whole numbers stay so in the record, and get no gradient
        node._serial = _new_serial()
        if _enter is not None:
            _enter(node)
        return node

    return record_one


def _float_beside(xs: Sequence[Any]) -> Any:
    """The type of the arrays that a number must not widen; None if it would not."""
    kinds = [
        x.dtype
        for x in xs
        if (isinstance(x, Node) and hasattr(x, "dtype")) or (x.__class__ is ndarray and x.ndim)
    ]
    kind = np.result_type(*kinds, 1.0) if kinds else None
    return kind if kind != np.float64 else None


def _kept(given: Any, number: Any) -> Any:
    """An operand for the record: what the learner does with an array later does not change it.

    A read-only array may be a view of one that can be written to; our own views are not.
    """
    if number.__class__ is not ndarray or given.__class__ is ReadOnlyArray:
        return number
    return number.copy() if given.flags.writeable or given.base is not None else number


def _unary(record_one: Any, function: Any) -> Callable[[Any], Any]:
    """The method of a function of one input."""
    op: Op = function.op

    def method(self: Any) -> Any:
        return record_one(op, self)

    method.__name__ = method.__qualname__ = op.name
    method.__doc__ = function.__doc__
    return method


def _binary(kind: Any, op: Op, reflected: bool) -> Callable[[Any, Any], Any]:
    """The operator of a row of two inputs; ``reflected`` for a node on the right."""
    forward, new, set_errors, reset = op.forward, kind.__new__, errors.set, errors.reset

    def operator(self: Any, other: Any) -> Any:
        a, x = self, self._data
        if other.__class__ is kind:
            b, y = other, other._data
        else:
            b, y = None, other
            if other.__class__ is not float or x.dtype.kind != "f":
                b, y = _other(op, other, x)
                if y is None:
                    return NotImplemented
            if reflected:
                a, b, x, y = b, a, y, x
        token = set_errors(loud)
        try:
            out = forward(ARRAYS, x, y)
        except Exception:
            out = None
        reset(token)
        if out.__class__ is not ndarray:  # no axes, infinite, or wrong
            out = compute_array(op, (x, y), (a, b)) if out is None else np.asarray(out)
        node = new(kind)
        node._data = node._out = out
        node._grad = node._scratch = node.name = None
        node._row = op
        node._a = a
        node._b = b
        node._x = x
        node._y = y
        node._serial = _new_serial()
        if _enter is not None:
            _enter(node)
        return node

    return operator


def _other(op: Op, x: Any, beside: Any) -> tuple[Any, Any]:
    """The other operand: its node and number, or no number if its class may know more."""
    if isinstance(x, Node):
        return x._operand()  # type: ignore[attr-defined, no-any-return]
    if isinstance(x, ndarray):
        if op.name == "matmul" and not x.ndim:
            raise ArgumentTypeError("@ multiplies arrays; x * y multiplies by a number")
        return None, _kept(x, as_operand(x, op.name))
    if beside.dtype.kind in "iub" and isinstance(x, int | np.integer):
        return None, int(x)
    return None, beside_node(x, op.name)

"""The operators of ``Value``: every one a row of the table, recorded in the shortest way.

``a * b`` computes ``x * y`` on floats and makes the node. It is the hot path of the engine, so the
node is made here by hand, in the words of ``record``: a call in between would cost a fifth of the
operation. ``complete(Value)`` hangs the operators and methods on the class.

Read next: ``ops/core.py``, the rows.
"""

from __future__ import annotations

from minigrad import modes, ops
from minigrad.ops.evaluate import apply, as_number, beside_node, compute, refuse
from minigrad.ops.floats import FLOATS
from minigrad.ops.row import MANY, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from minigrad.ops.row import Op

__all__ = ["add_arithmetic", "complete", "complete_constant", "start_sums_at_zero"]

_new_serial: Callable[[], Any]
_enter: Callable[[Any], None] | None


def _follow_modes() -> None:
    """Keep what the hot path asks of ``modes`` in two globals of this module."""
    global _new_serial, _enter
    _new_serial = modes.new_serial
    _enter = modes.visitor()


modes.follow(_follow_modes)


def complete(kind: Any) -> None:
    """Give ``kind`` (the class ``Value``) its operators and methods, one for each row."""
    add_arithmetic(kind, lambda op, reflected: _binary(kind, op, reflected))
    for name, function in ops.FUNCTIONS.items():
        if function.op.public and function.op.arity is not MANY:
            plain = function.op.arity == 1 and not function.op.attrs
            method = _unary(kind, function) if plain else function
            setattr(kind, name, method)
    kind.__neg__, kind.__abs__ = kind.neg, kind.abs
    kind._apply = _recorder(kind)
    kind._record_alike = _alike_recorder(kind)
    start_sums_at_zero(kind)


def complete_constant(kind: Any) -> None:
    """Give ``kind`` (the class ``Constant``) operators that take it for the number that it is."""
    add_arithmetic(kind, _as_number)
    for name, function in ops.FUNCTIONS.items():
        if function.op.public and function.op.arity == 1:
            setattr(kind, name, function)
    kind.__neg__, kind.__abs__ = kind.neg, kind.abs


def add_arithmetic(kind: Any, operator: Callable[[Op, bool], Any]) -> None:
    """Hang Python's arithmetic on a class; ``operator(op, reflected)`` makes each method."""
    for name in ("add", "sub", "mul", "div", "floordiv", "mod", "pow"):
        word = "truediv" if name == "div" else name
        setattr(kind, f"__{word}__", operator(ops.OPS[name], False))
        setattr(kind, f"__r{word}__", operator(ops.OPS[name], True))


def start_sums_at_zero(kind: Any) -> None:
    """Let builtin ``sum`` add nodes of a class without a node for the 0 that it starts with."""
    add = kind.__radd__

    def add_to(self: Any, other: Any) -> Any:
        """``other + self``; the 0 that builtin ``sum`` starts with adds nothing."""
        return self if other.__class__ is int and other == 0 else add(self, other)

    kind.__radd__ = add_to


def _as_number(op: Op, reflected: bool) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return apply(op, (other, self) if reflected else (self, other))

    return method


def _recorder(kind: Any) -> Callable[..., Any]:
    """The function that records any operation of the table on any arguments."""

    def record(op: Op, xs: Sequence[Any], kinds: set[type]) -> Any:
        if kinds == {kind}:
            nodes, numbers = tuple(xs), tuple([x._data for x in xs])
        elif kinds == {kind, float}:
            nodes = tuple([None if x.__class__ is float else x for x in xs])
            numbers = tuple([x if x.__class__ is float else x._data for x in xs])
        else:
            nodes, numbers = zip(*[_required(kind, op, x) for x in xs], strict=True)
        node = kind.__new__(kind)
        node._data = node._out = compute(op, numbers)
        node._grad = node._scratch = node.name = None
        node._row = op
        if op.arity > 2:
            node._a, node._x = nodes, numbers
            node._b = node._y = None
        else:
            node._a, node._b = (*nodes, None)[:2]
            node._x, node._y = (*numbers, None)[:2]
        node._serial = _new_serial()
        if _enter is not None:
            _enter(node)
        return node

    return staticmethod(record)


def _alike_recorder(kind: Any) -> Any:
    """The same for a row of any number of inputs, if all of them are of this class."""
    new = kind.__new__

    def record_alike(op: Any, ws: Sequence[Any], xs: Sequence[Any] = ()) -> Any:
        left = [w._data for w in ws if w.__class__ is kind]
        right = [x._data for x in xs if x.__class__ is kind]
        if len(left) + len(right) != len(ws) + len(xs):
            return None
        out = op.total(left, right)
        if out - out != 0.0:  # inf or nan
            out = compute(op, (*left, *right))
        node = new(kind)
        node._data = node._out = out
        node._grad = node._scratch = node.name = node._b = node._y = None
        node._row = op
        node._a = (*ws, *xs)
        node._x = (*left, *right)
        node._serial = _new_serial()
        if _enter is not None:
            _enter(node)
        return node

    return staticmethod(record_alike)


def _unary(kind: Any, function: Callable[..., Any]) -> Callable[[Any], Any]:
    """The method of a function of one input."""
    op = row_of(function)
    forward, new = op.forward, kind.__new__

    def method(self: Any) -> Any:
        x = self._data
        try:
            out = forward(FLOATS, x)
            if out - out != 0.0:  # inf or nan
                out = compute(op, (x,))
        except (ArithmeticError, ValueError):
            out = compute(op, (x,))
        node = new(kind)
        node._data = node._out = out
        node._grad = node._scratch = node.name = node._b = node._y = None
        node._row = op
        node._a = self
        node._x = x
        node._serial = _new_serial()
        if _enter is not None:
            _enter(node)
        return node

    method.__name__ = method.__qualname__ = op.name
    method.__doc__ = function.__doc__
    return method


def _binary(kind: Any, op: Op, reflected: bool) -> Callable[[Any, Any], Any]:
    """The operator of a row of two inputs; ``reflected`` for a number on the left."""
    forward, new = op.forward, kind.__new__

    def operator(self: Any, other: Any) -> Any:
        a, x = self, self._data
        if other.__class__ is kind:
            b, y = other, other._data
        else:
            b = None
            if other.__class__ is float:
                y = other
            elif other.__class__ is int:
                y = as_number(other)
            else:
                b, y = _other(kind, op, other)
                if y is None:
                    return NotImplemented
            if reflected:
                a, b, x, y = b, a, y, x
        try:
            out = forward(FLOATS, x, y)
            if out - out != 0.0:  # inf or nan
                out = compute(op, (x, y))
        except (ArithmeticError, ValueError):
            out = compute(op, (x, y))
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


def _other(kind: Any, op: Op, x: Any) -> tuple[Any, float | None]:
    """The other operand; without a number if its class may know itself what to do with a node."""
    if isinstance(x, kind):
        return x._operand()  # type: ignore[no-any-return]
    return None, beside_node(x, op.name)


def _required(kind: Any, op: Op, x: Any) -> tuple[Any, float]:
    node, number = _other(kind, op, x)
    if number is None:
        raise refuse(x, op.name)
    return node, number

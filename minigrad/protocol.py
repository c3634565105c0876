"""A node as a Python number: comparing, converting, copying, pickling, and NumPy's questions.

Nothing here computes a gradient. What leaves the graph says so (``DetachedWarning``), what cannot
work says what to write instead.

Read next: ``value.py``, which adds data, operators and ``backward()``.
"""

from __future__ import annotations

from minigrad import modes, source
from minigrad.elsewhere import NODES, rename
from minigrad.errors import (
    ArgumentTypeError,
    ComparisonWarning,
    DetachedWarning,
    PicklingError,
)  # fmt: skip
from minigrad.graph import Node, topological_order
from minigrad.ops import ufuncs
from minigrad.ops.evaluate import as_number, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, Self

__all__ = ["NodeProtocol", "NumberProtocol", "to_float"]


def to_float(x: Any, what: str) -> float:
    """``x`` as a float.

    Raises:
        ArgumentTypeError: if it is no real number; the message starts with ``what``.
    """
    if isinstance(x, Node):
        raise ArgumentTypeError(f"{what}: {x!r} is a node; use it as it is, or take its .data")
    number = as_number(x)
    if number is None:
        raise refuse(x, what)
    return number


class NodeProtocol(Node):
    """What is the same for a number and for an array."""

    __slots__ = ()

    def __pos__(self) -> Self:
        return self

    def __divmod__(self: Any, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self: Any, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def _short(self) -> str:
        """What an error calls this node."""
        return repr(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return deep_copied(self, memo)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._row is not None:
            raise PicklingError(
                f"{self._short()} cannot be pickled with its history: detach() it first"
            )
        if isinstance(self._grad, Node):
            raise PicklingError(
                f"{self._short()} cannot be pickled with a gradient that is a node: zero_grad() it "
                f"first"
            )
        return restore, (type(self), self._data, self.name, self._grad)


class NumberProtocol(NodeProtocol):
    """What Python and NumPy may ask of a number that is a node."""

    __slots__ = ()

    if TYPE_CHECKING:  # what ``operators.py`` hangs on the class, for those who check types

        def __init__(self, data: Any, name: str | None = None) -> None: ...
        def __getattr__(self, name: str) -> Any: ...
        def _operator(self, other: Any) -> Self: ...

        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _operator
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _operator
        __rpow__ = _operator

        def __neg__(self) -> Self: ...
        def __abs__(self) -> Self: ...

    def item(self) -> float:
        """The number as a float, without a warning."""
        number: float = self._data
        return number

    # -- the operators that are no rows of the table ---------------------------------------------

    def __matmul__(self, other: object) -> Any:
        if _number_of(other) is None:
            return NotImplemented
        raise ArgumentTypeError("@ multiplies arrays; write a * b, or mg.dot(ws, xs)")

    __rmatmul__ = __matmul__

    # -- comparing: bools, so that `if` works; mg.less and mg.equal stay on the graph ------------

    def __lt__(self, other: Any) -> bool:
        return NotImplemented if (number := _number_of(other)) is None else self._data < number

    def __le__(self, other: Any) -> bool:
        return NotImplemented if (number := _number_of(other)) is None else self._data <= number

    def __gt__(self, other: Any) -> bool:
        return NotImplemented if (number := _number_of(other)) is None else self._data > number

    def __ge__(self, other: Any) -> bool:
        return NotImplemented if (number := _number_of(other)) is None else self._data >= number

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Node):
            return self is other
        if as_number(other) is None:
            return NotImplemented
        source.warn(
            ComparisonWarning,
            f"== asks whether two nodes are the same object, so this is False; to compare numbers "
            f"write x.data == {other!r}, or mg.equal(x, {other!r}) for a node",
        )
        return False

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self._data != 0.0  # type: ignore[no-any-return]

    # -- leaving the graph -----------------------------------------------------------------------

    def __float__(self) -> float:
        return self._left("float(v), or a function of math,", "v.data", "mg.sin(v) for math.sin(v)")

    def __int__(self) -> int:
        return int(self._left("int(v)", "int(v.data)", "mg.floor(v) for a node"))

    def __round__(self, digits: int | None = None) -> float:
        more = "" if digits is None else f", {digits}"
        number = self._left(f"round(v{more})", f"round(v.data{more})", "mg.round(v) for a node")
        return round(number, digits)

    def _left(self, call: str, plain: str, node: str) -> float:
        """The number, with a warning that it has left the graph by ``call``."""
        if modes.formula_runs():
            raise TypeError(
                f"{call} made a plain number of a node, so the result could not be differentiated "
                f"again; write {node}"
            )
        source.warn(
            DetachedWarning,
            f"{call} made a plain number of a node, through which no gradient flows; write {plain} "
            f"if that is meant, or {node}",
        )
        return self._data  # type: ignore[no-any-return]

    def __index__(self) -> int:
        raise ArgumentTypeError(f"{self!r} cannot be an index; int(v) can, and leaves the graph")

    def __format__(self, spec: str) -> str:
        return format(self._data, spec) if spec else repr(self)

    def __repr__(self) -> str:
        name = f"name={self.name!r}, " if self.name is not None else ""
        grad = "·" if self._grad is None else repr(getattr(self._grad, "_data", self._grad))
        return f"{type(self).__name__}({self._data!r}, {name}grad={grad})"

    # -- copies ----------------------------------------------------------------------------------

    def __copy__(self) -> Self:
        twin = type(self)(self._data, self.name)
        twin._row, twin._a, twin._b = self._row, self._a, self._b
        twin._x, twin._y, twin._out = self._x, self._y, self._out
        twin._grad = self._grad
        return twin

    # -- NumPy -----------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *xs: Any, **options: Any) -> Any:
        return ufuncs.answer(ufunc.__name__, method, xs, options)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise ArgumentTypeError(
            "a Value is no NumPy array: stack_values([v, w]) joins Values, int(v) is an index"
        )


rename(NumberProtocol, NODES)


def _number_of(x: Any) -> float | None:
    return x._data if isinstance(x, NumberProtocol) else as_number(x)


def restore(kind: type[Any], data: Any, name: str | None, grad: Any) -> Any:
    """A leaf as it was pickled."""
    node = kind(data, name)
    node._grad = grad
    return node


def deep_copied(node: Node, memo: dict[int, Any]) -> Any:
    """The twin of a node, of all that it was computed from, and of gradients that are nodes."""
    roots, waiting = [node], []
    each: Any
    while roots:  # no recursion: a graph may be deep
        for each in topological_order(roots.pop()):
            if id(each) not in memo:
                twin = memo[id(each)] = each.__copy__()
                twin._a, twin._b = copied(each._a, memo), copied(each._b, memo)
                if isinstance(each._grad, Node):
                    roots.append(each._grad)
                    waiting.append((twin, each._grad))
    for twin, gradient in waiting:
        twin._grad = memo[id(gradient)]
    return memo[id(node)]


def copied(source: Any, memo: dict[int, Any]) -> Any:
    """The twin of what a node was computed from: of a node, of several, or None for a number."""
    if isinstance(source, tuple):
        return tuple(copied(part, memo) for part in source)
    return None if source is None else memo[id(source)]

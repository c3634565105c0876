"""A node as an array: comparing, converting, copying, pickling, and NumPy's questions.

Nothing here computes a gradient. NumPy's functions on a ``Tensor`` are answered with the row of the
same meaning, or refused with the name of ours: never with an array that has lost its history.

Read next: ``numpy_names.py``, how NumPy calls the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import source
from minigrad.elsewhere import NODES, TENSORS, rename
from minigrad.errors import (
    ArgumentTypeError,
    ComparisonWarning,
    DetachedWarning,
)  # fmt: skip
from minigrad.graph import Node
from minigrad.ops.evaluate import as_number
from minigrad.protocol import NodeProtocol
from minigrad.tensor import numpy_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

__all__ = ["ArrayProtocol"]


class ArrayProtocol(NodeProtocol):
    """What Python and NumPy may ask of an array that is a node."""

    __slots__ = ()

    def item(self) -> Any:
        """The number of a node of one element, without a warning."""
        if self._data.size != 1:
            raise ArgumentTypeError(
                f"{self._short()} has {self._data.size} elements; .item() takes the only one, "
                f".tolist() all of them"
            )
        return self._data.item()

    def numpy(self) -> Any:
        """The numbers as an array of their own, without a warning."""
        return self._data.copy()

    def tolist(self) -> Any:
        """The numbers as nested lists, without a warning."""
        return self._data.tolist()

    # -- comparing: bool arrays; mg.less and mg.equal stay on the graph -------------------------

    def __lt__(self, other: Any) -> Any:
        return _compared(np.less, self, other)

    def __le__(self, other: Any) -> Any:
        return _compared(np.less_equal, self, other)

    def __gt__(self, other: Any) -> Any:
        return _compared(np.greater, self, other)

    def __ge__(self, other: Any) -> Any:
        return _compared(np.greater_equal, self, other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Node):
            return self is other
        if not isinstance(other, np.ndarray | list) and as_number(other) is None:
            return NotImplemented
        source.warn(
            ComparisonWarning,
            "== asks whether two nodes are the same object, so this is False; to compare numbers "
            "write x.data == y, or mg.equal(x, y) for a node",
        )
        return False

    __hash__ = object.__hash__

    def __contains__(self, x: Any) -> bool:
        return bool((self._data == _numbers_of(x)).any())

    def __bool__(self) -> bool:
        if self._data.size != 1:
            raise ArgumentTypeError(
                f"whether {self._short()} of shape {self._data.shape} holds is not one answer; "
                f"write (x.data > 0).all(), or mg.where(condition, x, y) to choose by element"
            )
        return bool(self._data.item())

    # -- leaving the graph -----------------------------------------------------------------------

    def __float__(self) -> float:
        return self._left(
            "float(x), or a function of math,", "x.item()", "mg.sin(x) for math.sin(x)"
        )

    def __int__(self) -> int:
        if self._data.dtype.kind != "f":
            return int(self.item())
        return int(self._left("int(x)", "int(x.item())", "mg.floor(x) for a node"))

    def __round__(self, digits: int | None = None) -> Any:
        more = "" if digits is None else f", {digits}"
        number = self._left(f"round(x{more})", f"round(x.item(){more})", "mg.round(x) for a node")
        return round(number, digits)

    def _left(self, call: str, plain: str, node: str) -> float:
        """The number, with a warning that it has left the graph by ``call``."""
        number = self.item()
        source.warn(
            DetachedWarning,
            f"{call} made a plain number of a node, through which no gradient flows; write {plain} "
            f"if that is meant, or {node}",
        )
        return float(number)

    def __index__(self) -> int:
        if self._data.size == 1 and self._data.dtype.kind in "iu":
            return int(self.item())
        raise ArgumentTypeError(
            f"{self._short()} cannot be an index; int(x) can, and leaves the graph"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        source.warn(
            DetachedWarning,
            "a Tensor became a plain array, through which no gradient flows; write x.data or "
            "x.numpy() if that is meant, and mg.stack([...]) to join Tensors",
        )
        return np.array(self._data, dtype=dtype)

    # -- text ------------------------------------------------------------------------------------

    def _short(self) -> str:
        """What an error calls this node: its name, or what it is."""
        return self.name or f"a {type(self).__name__}"

    def __format__(self, spec: str) -> str:
        if spec:
            return format(self.item(), spec)
        return repr(self)

    def __repr__(self) -> str:
        kind = type(self).__name__
        text = np.array2string(self._data, separator=", ", prefix=f"{kind}(", threshold=100)
        dtype = "" if self._data.dtype == np.float64 else f", dtype={self._data.dtype}"
        name = f", name={self.name!r}" if self.name is not None else ""
        return f"{kind}({text}{dtype}{name}, grad={'·' if self._grad is None else '…'})"

    # -- copies ----------------------------------------------------------------------------------

    def __copy__(self) -> Self:
        twin = type(self).__new__(type(self))
        for slot in Node.__slots__:
            if slot != "__weakref__" and hasattr(self, slot):  # its place may not be noted
                setattr(twin, slot, getattr(self, slot))
        twin._grad = self._grad.copy() if isinstance(self._grad, np.ndarray) else self._grad
        twin._scratch = None
        return twin

    # -- NumPy -----------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *xs: Any, **options: Any) -> Any:
        names = _OPERATORS.get(ufunc) if method == "__call__" and not options else None
        if names is not None:  # array * x comes here; it is as common as x * array
            x, y = xs
            if isinstance(x, ArrayProtocol):
                return getattr(x, names[0])(y)
            return getattr(y, names[1])(x)
        return numpy_names.ufunc(ufunc.__name__, method, xs, options)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        return numpy_names.function(function, args, kwargs)


_OPERATORS = {
    getattr(np, name): (f"__{word}__", f"__r{word}__")
    for name, word in {
        "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "power": "pow",
        "matmul": "matmul", "floor_divide": "floordiv", "remainder": "mod",
    }.items()
}  # fmt: skip


def _numbers_of(x: Any) -> Any:
    return x._data if isinstance(x, Node) else x


def _compared(compare: Any, x: ArrayProtocol, y: Any) -> Any:
    y = _numbers_of(y)
    if not isinstance(y, np.ndarray) and as_number(y) is None:
        return NotImplemented
    return compare(x._data, y)


rename(ArrayProtocol, {**NODES, **TENSORS})

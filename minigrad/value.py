"""``Value``: the scalar engine. Numbers that remember, operators that record, ``backward()``.

An operation computes with plain floats and makes a node that holds its row, its inputs and the
numbers that went in. ``backward()`` is the sweep of ``graph.py`` over these nodes.

Read next: ``ops/scalar.py`` for the other operations, ``fast.py`` for the same sweep in one loop.
"""

from __future__ import annotations

from minigrad import fast, hooks, modes, operators, source
from minigrad.elsewhere import unknown_argument
from minigrad.graph import Node, sweep, topological_order
from minigrad.protocol import NumberProtocol, to_float
from minigrad.publish import publish
from minigrad.pull import pull, pull_graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Constant", "Value"]


class Value(NumberProtocol):
    """A real number that can be differentiated.

    Args:
        data: An int, float, bool, ``Fraction``, ``Decimal`` or NumPy scalar; stored as a float.
        name: What pictures and explanations call it.

    Raises:
        ArgumentTypeError: for text, None, complex numbers, lists, arrays and nodes.

    >>> a, b = Value(2.0, name="a"), Value(-3.0, name="b")
    >>> y = a * b + a
    >>> y.backward()
    >>> a.grad, b.grad
    (-2.0, 2.0)
    """

    __slots__ = ()
    _rank = 1  # among the arguments of an operation, the highest rank decides who records it

    def __init__(self, data: Any, name: str | None = None, **unknown: Any) -> None:
        if unknown or not (name is None or isinstance(name, str)):
            word = next(iter(unknown), "name")
            raise unknown_argument("Value", word, "data and name='a text'")
        self._data = to_float(data, "Value(…)")
        self.name = name
        self._row = self._a = self._b = self._x = self._y = self._out = None
        self._grad = self._scratch = None
        self._serial = modes.new_serial()
        if modes.options.sources:
            source.mark(self)

    @property
    def data(self) -> float:
        """The number. A new one changes no graph that was recorded with the old one."""
        return self._data  # type: ignore[no-any-return]

    @data.setter
    def data(self, data: Any) -> None:
        self._data = to_float(data, ".data")

    @property
    def grad(self) -> Any:
        """∂output/∂self of the last pass; at a leaf, summed over all passes; None before any."""
        return self._grad

    @grad.setter
    def grad(self, grad: Any) -> None:
        self._grad = grad if grad is None or isinstance(grad, Value) else to_float(grad, ".grad")

    def zero_grad(self) -> None:
        """Set ``.grad`` to None."""
        self._grad = None

    def detach(self) -> Value:
        """A leaf with the same number and no history."""
        return Value(self._data)

    def backward(self, seed: Any = None, create_graph: bool = False) -> None:
        """Compute the gradient of this node with respect to every node it depends on.

        Writes ``.grad``: at leaves it is added to what is there, at inner nodes it replaces it.
        An exception leaves every ``.grad`` as it was.

        Args:
            seed: ∂output/∂self at the start, 1.0 by default.
            create_graph: Make the gradients nodes, which can be differentiated again.

        Raises:
            OperationError: when a formula of an operation raises.
            StaleError: with ``create_graph``, when a number of the graph changed since.
            GradientError: when a leaf holds a node gradient of an earlier pass.
        """
        if seed is None:
            seed = 1.0
        elif not (create_graph and isinstance(seed, Value)):
            seed = to_float(seed, "backward(seed=…)")
        if not create_graph and fast.backward(self, seed):
            return
        order = topological_order(self)
        cotangents: dict[Node, Any] = {self: seed}
        for _step in sweep(order, cotangents, pull_graph if create_graph else pull):
            pass
        publish(order, cotangents, create_graph)

    def _operand(self) -> tuple[Value | None, float]:
        """The node and the number that a record keeps of this one."""
        return self, self._data


class Constant(Value):
    """A plain number of an expression, as ``inputs`` shows it; it takes part in no gradient."""

    __slots__ = ()

    def _operand(self) -> tuple[Value | None, float]:
        return None, self._data


operators.complete(Value)
operators.complete_constant(Constant)
hooks.constant = Constant

"""``Tensor``: the vectorised mode. The same nodes, rows and sweep, with NumPy arrays on the nodes.

A learner who knows ``Value`` knows ``Tensor``: an operation computes with arrays and makes a node
that holds its row, its inputs and the arrays that went in; ``backward()`` is the sweep of
``graph.py``, which here also undoes broadcasting.

Read next: ``record.py`` (the operators), ``../ops/broadcasting.py`` (scalar rows on arrays).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import hooks, modes, source
from minigrad.elsewhere import unknown_argument
from minigrad.errors import (
    ArgumentTypeError,
    GradientError,
    MissingGradientWarning,
    ShapeError,
)  # fmt: skip
from minigrad.graph import Node, sweep, topological_order
from minigrad.nothing import NOTHING
from minigrad.ops.broadcasting import parts
from minigrad.ops.indexing import getitem
from minigrad.ops.reduce import reduce_sum
from minigrad.publish import publish
from minigrad.pull import pull, pull_graph
from minigrad.tensor import passes, record
from minigrad.tensor.arguments import array_of, array_with_shape
from minigrad.tensor.data import ReadOnlyArray, shown
from minigrad.tensor.functions import ARRAY_FUNCTIONS, reshaped, transposed
from minigrad.tensor.protocol import ArrayProtocol

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ArrayConstant", "Tensor"]


class Tensor(ArrayProtocol):
    """An array of real numbers that can be differentiated.

    Args:
        data: A number, a list of numbers (nested for more axes) or a NumPy array; copied. Python
            numbers become float64; integer and bool arrays stay what they are and get no gradient.
        name: What pictures and explanations call it.
        dtype: The type of the numbers, if another one is wanted.

    Raises:
        ArgumentTypeError: for text, None, complex numbers, objects and nodes.

    >>> w = Tensor([[1.0, 2.0], [3.0, 4.0]], name="w")
    >>> (w * w).sum().backward()
    >>> w.grad
    array([[2., 4.],
           [6., 8.]])
    """

    __slots__ = ()
    _rank = 2  # above Value: an operation on both is recorded as one on arrays

    def __init__(
        self, data: Any, name: str | None = None, *, dtype: Any = None, **unknown: Any
    ) -> None:
        if unknown or not (name is None or isinstance(name, str)):
            word = next(iter(unknown), "name")
            raise unknown_argument("Tensor", word, "data, name='a text' and dtype=…")
        self._data = array_of(data, "Tensor(…)", dtype)
        self.name = name
        self._row = self._a = self._b = self._x = self._y = self._out = None
        self._grad = self._scratch = None
        self._serial = modes.new_serial()

    # -- data and gradient -----------------------------------------------------------------------

    @property
    def data(self) -> Any:
        """The array, read-only. A new one changes no graph that was recorded with the old one."""
        return shown(self._data)

    @data.setter
    def data(self, data: Any) -> None:
        mine = self._data
        if (
            data.__class__ is ReadOnlyArray
            and not data.flags.writeable
            and data.shape == mine.shape
            and (data.dtype is mine.dtype or data.dtype == mine.dtype)
        ):
            self._data = data.view(np.ndarray)  # nobody can write to it: no copy is needed
            return
        self._data = array_with_shape(data, mine, ".data")

    @property
    def grad(self) -> Any:
        """∂output/∂self, an array of the same shape; at a leaf, summed over all passes.

        None before any. An inner node keeps it if it has a name, or inside ``mg.record()``.
        """
        if self._grad is None and self._data.dtype.kind != "f":
            source.warn(
                MissingGradientWarning,
                f"an array of {self._data.dtype} has no gradient; x.astype(float) makes floats",
            )
        return self._grad

    @grad.setter
    def grad(self, grad: Any) -> None:
        if grad is None or isinstance(grad, Tensor):
            if grad is not None and grad.shape != self.shape:
                raise ShapeError(
                    f".grad has shape {grad.shape}, but {self._short()} has {self.shape}"
                )
            self._grad = grad
            return
        self._grad = array_with_shape(grad, self._data, ".grad", spread=True)

    def zero_grad(self) -> None:
        """Set ``.grad`` to None."""
        self._grad = None

    def detach(self) -> Tensor:
        """A leaf with the same numbers and no history."""
        return _leaf(self._data)

    # -- shape -----------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._data.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        return self._data.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._data.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._data.size  # type: ignore[no-any-return]

    @property
    def T(self) -> Any:
        """The axes in reverse order."""
        return transposed(self)

    def reshape(self, *shape: Any, **attrs: Any) -> Any:
        """The same elements in another shape: ``x.reshape(2, -1)``."""
        return reshaped(self, *shape, **attrs)

    def transpose(self, *axes: Any, **attrs: Any) -> Any:
        """The axes in another order, reversed by default: ``x.transpose(0, 2, 1)``."""
        return transposed(self, *axes, **attrs)

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentTypeError(f"{self._short()} has no axes, so it has no length")
        return len(self._data)

    def __getitem__(self, index: Any) -> Any:
        return getitem(self, index)

    def __setitem__(self, index: Any, values: Any) -> None:
        raise ArgumentTypeError(
            "x[…] = …: a node never changes, a graph was recorded with it; write "
            "x = mg.at_set(x, index, values)"
        )

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    # -- backward --------------------------------------------------------------------------------

    def backward(self, seed: Any = None, create_graph: bool = False) -> None:
        """Compute the gradient of this node with respect to every node it depends on.

        Writes ``.grad``: at leaves it is added to what is there. Inner nodes keep theirs if they
        have a name, or inside ``mg.record()``. An exception leaves every ``.grad`` as it was.

        Args:
            seed: ∂output/∂self at the start, of the shape of this node; 1.0 by default, for a node
                of one element.
            create_graph: Make the gradients nodes, which can be differentiated again.

        Raises:
            GradientError: for a node of several elements without a seed; when a leaf holds a node
                gradient of an earlier pass.
            OperationError: when a formula of an operation raises.
            StaleError: with ``create_graph``, when the data of the graph changed since.
        """
        start = self._seed(seed, create_graph)
        if start is None:
            return
        watched = bool(modes.special) and modes.watched()
        if not create_graph and passes.backward(self, start, watched):
            return
        order = topological_order(self)
        cotangents: dict[Node, Any] = {self: start}
        for _step in sweep(order, cotangents, pull_graph if create_graph else pull):
            pass
        publish(order, cotangents, create_graph)

    def _seed(self, seed: Any, create_graph: bool) -> Any:
        mine = self._data
        if mine.dtype.kind != "f":
            source.warn(
                MissingGradientWarning,
                f"backward() of an array of {mine.dtype}: whole numbers have no gradient; "
                f"x.astype(float) makes floats",
            )
            return None
        if seed is None:
            if mine.size != 1:
                raise GradientError(
                    f"{self._short()} has shape {mine.shape}: backward() starts from one number; "
                    f"write y.sum().backward(), or give ∂output/∂y as seed, such as "
                    f"y.backward(np.ones({mine.shape}))"
                )
            return np.ones(mine.shape, mine.dtype)
        if create_graph and isinstance(seed, Node):
            if getattr(seed, "shape", ()) != mine.shape:
                shape = getattr(seed, "shape", ())
                raise ShapeError(f"backward(seed=…): the seed has shape {shape}, y {mine.shape}")
            return seed
        return array_with_shape(seed, mine, "backward(seed=…)", spread=True)

    def _settled(self, gradient: Any, as_nodes: bool) -> Any:
        """What ``publish`` writes for this node; None if it keeps nothing."""
        if self._row is not None and self.name is None and not (modes.special and modes.watched()):
            return None
        if self._data.dtype.kind != "f":
            return None
        if gradient is NOTHING:
            gradient = np.zeros(self.shape, self.dtype)
        gradient = parts(gradient)[0]
        if as_nodes:
            if isinstance(gradient, Tensor):
                return gradient
            return _leaf(np.array(np.broadcast_to(gradient, self.shape), dtype=self.dtype))
        return passes.own(gradient, self._data)

    def _operand(self) -> tuple[Any, Any]:
        """The node and the array that a record keeps of this one."""
        return self, self._data


class ArrayConstant(Tensor):
    """A plain array of an expression, as ``inputs`` shows it; it takes part in no gradient."""

    __slots__ = ()

    def _operand(self) -> tuple[Any, Any]:
        return None, self._data


def _leaf(data: Any, kind: type[Tensor] = Tensor) -> Tensor:
    """A leaf around an array that nobody else can write to."""
    node = kind.__new__(kind)
    node._data = data
    node.name = None
    node._row = node._a = node._b = node._x = node._y = node._out = None
    node._grad = node._scratch = None
    node._serial = modes.new_serial()
    return node


_constant_number = hooks.constant


def _constant(x: Any) -> Node:
    """The node that ``inputs`` shows for a plain number or array."""
    if isinstance(x, np.ndarray):
        return _leaf(x, ArrayConstant)
    return _constant_number(x)  # type: ignore[no-any-return]


record.complete(Tensor, {**ARRAY_FUNCTIONS, "sum": reduce_sum})
hooks.constant = _constant
hooks.tensor = lambda: Tensor

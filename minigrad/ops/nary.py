"""Sums of many terms as one node: ``mg.sum(values)`` and ``mg.dot(ws, xs)``.

A neuron is one ``dot`` node instead of a chain of products and sums. The value is that of the
chain to the last bit: terms are added from left to right.

Read next: ``../value.py``.
"""

from __future__ import annotations

from _operator import mul

from minigrad import hooks
from minigrad.elsewhere import wrong_call
from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.ops.evaluate import apply, kind_of, refuse, shown
from minigrad.ops.manual import of_row
from minigrad.ops.row import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

__all__ = ["dot", "sum"]


class Sum(Op):
    """x₁ + x₂ + …: passes the gradient on to every term."""

    __slots__ = ()

    @staticmethod
    def total(xs: Sequence[Any], _: Sequence[Any] = (), /) -> Any:
        """x₁ + x₂ + …, from left to right."""
        total = xs[0]
        for x in xs[1:]:
            total = total + x
        return total

    def local_derivatives(self, xs: Sequence[Any]) -> Sequence[Any]:
        """∂out/∂xᵢ for every i at once."""
        return (1.0,) * len(xs)

    def local_derivative(self, i: int, out: Any, xs: Sequence[Any]) -> Any:
        if hasattr(out, "shape"):
            return hooks.local_array(self, i, out, xs)
        return self.local_derivatives(xs)[i]


class Dot(Sum):
    """w₁·x₁ + w₂·x₂ + …; the inputs are all w, then all x, and each has its partner as slope."""

    __slots__ = ()

    @staticmethod
    def total(ws: Sequence[Any], xs: Sequence[Any] = (), /) -> Any:
        """w₁·x₁ + w₂·x₂ + …, from left to right."""
        products = map(mul, ws, xs)
        total = next(products)
        for product in products:
            total = total + product
        return total

    def local_derivatives(self, xs: Sequence[Any]) -> Sequence[Any]:
        half = len(xs) // 2
        return (*xs[half:], *xs[:half])


def _add_products(m: Any, *xs: Any) -> Any:
    half = len(xs) // 2
    return Dot.total(xs[:half], xs[half:])


_SUM = Sum(
    "sum",
    lambda m, *xs: Sum.total(xs),
    [],
    latex=r"\sum",
    sentence="Sum of any number of terms as one node.",
    example=([1.0, 2.0, 3.0], 6.0),
).register()
_DOT = Dot(
    "dot",
    _add_products,
    [],
    sentence="Dot product Σ wᵢ·xᵢ as one node: a neuron without its bias.",
    example=([1.0, 2.0], [3.0, 4.0], 11.0),
).register()


@of_row(_SUM)
def sum(values: Any, axis: Any = None, keepdims: bool = False, **unknown: Any) -> Any:
    """Sum of ``values`` as one node, added from left to right; 0.0 for none.

    Args:
        values: Numbers and nodes. No unit of its own. Or an array, whose elements are added.
        axis: Of an array, the axis or axes to sum over; None, the default, for all.
        keepdims: Of an array, whether these axes stay, with length 1; False by default.

    Returns:
        A number for numbers, else a node. Of an array, the shape without the axes summed over.

    Raises:
        ArgumentTypeError: if ``values`` is no sequence, or a term is no number.
        ArgumentValueError: if an array has no such axis.

    Derivative:
        ∂sum/∂xᵢ = 1 for every term; of an array, every element gets the gradient of its sum.

    >>> from minigrad import Value
    >>> x = Value(2.0)
    >>> y = sum([x, x, 5.0])
    >>> y.backward()
    >>> y.data, x.grad
    (9.0, 2.0)

    Of an array, over an axis:

    >>> from minigrad import Tensor
    >>> t = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> sum(t).item(), sum(t, axis=0).tolist(), sum(t, axis=1, keepdims=True).tolist()
    (10.0, [4.0, 6.0], [[3.0], [7.0]])
    """
    if unknown:
        names = ("values", "axis", "keepdims")
        call = "sum(values, axis=None, keepdims=False)"
        raise wrong_call("sum", shown([values], unknown), call, names, unknown)
    if axis.__class__ is not int and (hasattr(axis, "_apply") or hasattr(axis, "shape")):
        raise ArgumentTypeError(
            "sum(values, axis): the second argument is an axis; write sum([a, b, c]), or a + b"
        )
    if values.__class__ not in _LISTS and hasattr(values, "shape"):
        if axis is None and not keepdims:
            return hooks.reduce_sum(values)
        return hooks.reduce_sum(values, axis=axis, keepdims=keepdims)
    if axis is not None or keepdims:
        raise ArgumentTypeError("sum(…, axis=…) is for arrays; these are numbers and nodes")
    terms = tuple(_sequence(values, "sum"))
    if not terms:
        return 0.0
    record = getattr(terms[0].__class__, "_record_alike", None)
    node = None if record is None else record(_SUM, terms)
    return apply(_SUM, terms) if node is None else node


@of_row(_DOT)
def dot(ws: Any, xs: Any, **unknown: Any) -> Any:
    """Dot product Σ wᵢ·xᵢ as one node; 0.0 for empty sequences.

    Args:
        ws: Numbers and nodes, n of them, no unit; or an array, and the product is that of NumPy's
            ``dot``: of shapes (m, k) and (k, n) the matrix product.
        xs: Numbers and nodes, n of them, no unit; or an array.

    Returns:
        A number for numbers, else a node. Of arrays, the shape that NumPy's ``dot`` gives.

    Raises:
        ArgumentTypeError: if one of them is no sequence, or a term is no number.
        ArgumentValueError: if their lengths differ.
        ShapeError: if arrays do not fit together.

    Derivative:
        ∂dot/∂wᵢ = xᵢ and ∂dot/∂xᵢ = wᵢ; of arrays as for ``matmul``.

    >>> from minigrad import Value
    >>> w = [Value(1.0), Value(-2.0)]
    >>> y = dot(w, [3.0, 4.0])
    >>> y.backward()
    >>> y.data, w[0].grad, w[1].grad
    (-5.0, 3.0, 4.0)

    Of arrays:

    >>> from minigrad import Tensor
    >>> t = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> y = dot(t, Tensor([1.0, -1.0]))
    >>> y.sum().backward()
    >>> y.tolist(), t.grad.tolist()
    ([-1.0, -1.0], [[1.0, -1.0], [1.0, -1.0]])
    """
    if unknown:
        raise wrong_call("dot", shown([ws, xs], unknown), "dot(ws, xs)", ("ws", "xs"), unknown)
    if ws.__class__ not in _LISTS or xs.__class__ not in _LISTS:
        ws, xs = _beside_a_list(ws, xs), _beside_a_list(xs, ws)
        if hasattr(ws, "shape") or hasattr(xs, "shape"):
            for x in (ws, xs):
                if isinstance(x, _LISTS):
                    raise refuse(x, "dot of an array")
            return hooks.product(ws, xs)
        ws, xs = _sequence(ws, "dot"), _sequence(xs, "dot")
    if len(ws) != len(xs):
        raise ArgumentValueError(
            f"dot: {len(ws)} and {len(xs)} terms cannot be paired; the lengths must be equal"
        )
    if not ws:
        return 0.0
    record = getattr(ws[0].__class__, "_record_alike", None)
    node = None if record is None else record(_DOT, ws, xs)
    return apply(_DOT, (*ws, *xs)) if node is None else node


_LISTS = (list, tuple)


def _beside_a_list(values: Any, other: Any) -> Any:
    """A plain array of inputs beside a list of weights is a list of numbers."""
    plain = hasattr(values, "tolist") and not hasattr(values, "_rank")
    return values.tolist() if plain and isinstance(other, _LISTS) else values


def _sequence(values: Iterable[Any], what: str) -> Sequence[Any]:
    if isinstance(values, _LISTS):
        return values
    try:
        return tuple(values)
    except TypeError:
        raise ArgumentTypeError(
            f"{what} takes a sequence such as [a, b, c], not {kind_of(values)}"
        ) from None

"""``grad``: a function of a function, nested in every way that a learner may nest it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad import Value
from minigrad.errors import ArgumentTypeError, OperationError

small = st.floats(-2.0, 2.0)


@given(small, small)
def test_mixed_second_derivatives_in_either_order(x: float, y: float) -> None:
    def f(x: Any, y: Any) -> Any:
        return x * x * y + mg.sin(x * y)

    expected = 2 * x + math.cos(x * y) - x * y * math.sin(x * y)
    for first, second in ((0, 1), (1, 0)):
        assert mg.grad(mg.grad(f, first), second)(x, y) == pytest.approx(expected, abs=1e-12)


@given(small)
def test_a_derivative_inside_a_function_sees_what_is_around_it(x: float) -> None:
    """d/dx (x · d/dy (x y)) = d/dx x² = 2 x: the inner derivative depends on the outer x."""
    outer = mg.grad(lambda x: x * mg.grad(lambda y: x * y)(2.0))
    assert outer(x) == pytest.approx(2 * x)


def test_levels_are_not_confused() -> None:
    """The same function at both levels (B105): d/dx (x · d/dy (x + y)) = 1."""
    assert mg.grad(lambda x: x * mg.grad(lambda y: x + y)(1.0))(3.0) == 1.0

    def f(x: Any, depth: int) -> Any:
        return x if depth == 0 else x * mg.grad(lambda y: f(y, depth - 1) + 0.0 * x)(x)

    assert mg.grad(lambda x: f(x, 1))(3.0) == 1.0


def test_higher_derivatives() -> None:
    f = lambda x: mg.exp(-(x**2))  # noqa: E731
    values = []
    for _ in range(5):
        values.append(float(f(0.0)))
        f = mg.grad(f)
    assert values == [1.0, 0.0, -2.0, 0.0, 12.0]
    assert mg.grad(mg.grad(lambda x: 0.0**x))(2.0) == 0.0


def test_a_node_that_was_there_makes_the_gradient_a_node() -> None:
    w = Value(3.0)
    g = mg.grad(lambda x: w * x * x)(2.0)
    assert isinstance(g, Value)
    g.backward()
    assert w.grad == 4.0
    assert isinstance(mg.grad(lambda x: Value(3.0) * x)(2.0), float)


def test_no_grad_is_written_and_unconnected_is_zero() -> None:
    w = Value(3.0)
    mg.grad(lambda x: w * x)(2.0)
    assert w.grad is None
    assert mg.grad(lambda x: 5.0)(2.0) == 0.0
    assert mg.grad(lambda x, y: x * 2.0, 1)(2.0, 1.0) == 0.0
    assert mg.value_and_grad(lambda x: x * x)(3.0) == (9.0, 6.0)


def test_branches_are_those_that_were_taken() -> None:
    def f(x: Any) -> Any:
        return 1.0 / x if x > 1.0 else x * 0.0

    assert (mg.grad(f)(0.0), mg.grad(f)(2.0)) == (0.0, -0.25)


def test_a_rule_that_leaves_the_nodes_is_an_error_and_no_silent_zero() -> None:
    sine = mg.operation("sine_by_math", lambda m, x: math.sin(x), [lambda out, x: math.cos(x)])
    assert mg.grad(sine)(1.0) == math.cos(1.0)
    with pytest.raises(OperationError, match=r"sine_by_math.*mg\.sin"):
        mg.grad(mg.grad(sine))(1.0)


def test_a_constant_divided_by_zero_is_an_infinity_in_second_order_too() -> None:
    x = Value(1.0)
    with mg.errstate("ignore"):
        (x / 0.0).backward(create_graph=True)
    assert x.grad.data == math.inf


@pytest.mark.parametrize("argnum", [(0, 1), "x", None])
def test_argnum_is_one_number(argnum: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="argnum"):
        mg.grad(lambda x: x, argnum)


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="function"):
        mg.grad(3.0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="arguments"):
        mg.grad(lambda x: x, 3)(1.0)


def test_no_dependence_on_infinite_numbers_is_a_gradient_of_zeros():
    np = pytest.importorskip("numpy")
    for x in (np.array([np.inf, np.nan, 1.0]), np.array(np.inf), np.array([1, 2])):
        gradient = mg.grad(lambda x: (mg.Tensor([1.0]) * 2.0).sum())(x)
        np.testing.assert_array_equal(gradient, np.zeros(x.shape))

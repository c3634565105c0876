"""What is not finite, kinks, and the branches of ``where``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.errors import (
    NumericalError,
    NumericalWarning,
)
from minigrad.tensor import Tensor, passes


def leaf(*shape: int, name: str | None = None) -> Tensor:
    return Tensor(np.random.default_rng(5).normal(size=shape), name=name)


# ---- out of range -------------------------------------------------------------------------------


def test_what_is_not_finite_is_reported_where_it_arises() -> None:
    x = Tensor([0.0, 1.0])
    with pytest.warns(NumericalWarning, match=r"log.*1 of 2.*-inf") as seen:
        y = mg.log(x) * 2.0 + 1.0
    assert len(seen) == 1
    assert y.tolist() == [-np.inf, 1.0]
    with mg.errstate("raise"), pytest.raises(NumericalError, match="test_range"):
        1.0 / x
    with warnings.catch_warnings(), mg.errstate("ignore"):
        warnings.simplefilter("error")
        assert (1.0 / x).tolist() == [np.inf, 1.0]
        assert np.isnan(mg.log(x - 1.0).tolist()[0])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda x: mg.exp(x * 1e3), r"^exp\(x of shape \(2, 1\)\) has 1 of 2 elements .* inf$"),
        (lambda x: x / np.zeros((2, 1)), r"^div\(scores of shape \(2, 1\), y of .*\) has"),
        (lambda x: x[0, 0] ** -1e9, r"^pow\(x=0\.5, y=-1000000000\.0\) is inf$"),
        (lambda x: mg.mse_loss(x * 1e200, np.ones((2, 1))),
            r"^mse_loss\(predictions of shape \(2, 1\), targets of shape \(2, 1\)\) is inf$"),
        (lambda x: mg.log(np.zeros(3)), r"^log\(x of shape \(3,\)\) has 3 of 3"),
    ],
)  # fmt: skip
def test_a_warning_names_the_nodes_and_their_shapes(make: Any, says: str) -> None:
    x = Tensor([[0.5], [2.0]], name="scores")
    with pytest.warns(NumericalWarning, match=says):
        make(x)


def test_an_honest_nan_names_its_two_factors() -> None:
    x = Tensor([1000.0])
    with mg.errstate("ignore"):
        y = mg.log(1.0 + mg.exp(x)).sum()
    with pytest.warns(NumericalWarning, match=r"upstream 0\.0 × local inf is nan"):
        y.backward()
    assert np.isnan(x.grad).all()


def test_outside_the_domain_the_gradient_is_nan_too() -> None:
    x = Tensor([-1.0, 1.0])
    with mg.errstate("ignore"):
        mg.log(x).sum().backward()
    assert np.isnan(x.grad[0])
    assert x.grad[1] == 1.0


def test_large_arguments_do_not_overflow() -> None:
    x = Tensor([1000.0, -1000.0])
    for y in (x.sigmoid(), x.softplus(), x.tanh(), x.logsumexp(), x.softmax(), x.log_softmax(),
              x.cross_entropy(1), x.bce_with_logits(np.array([0.0, 1.0])), x.norm(), x.silu(),
    ):  # fmt: skip
        assert np.isfinite(y.data).all()
        y.sum().backward()
    assert np.isfinite(x.grad).all()
    assert Tensor([1e200, 1e200]).norm().item() == pytest.approx(2**0.5 * 1e200)
    assert Tensor([1e-200, 1e-200]).norm().item() == pytest.approx(2**0.5 * 1e-200)


def test_conventions_at_kinks() -> None:
    def slope(function: Any, *data: float) -> Any:
        x = Tensor(list(data))
        function(x).sum().backward()
        return x.grad.tolist()

    assert slope(lambda x: x.relu(), 0.0) == [0.0]
    assert slope(abs, 0.0) == [0.0]
    assert slope(lambda x: x.std(), 2.0, 2.0) == [0.0, 0.0]
    assert slope(lambda x: x.norm(), 0.0) == [0.0]
    assert slope(lambda x: x.max(), 1.0, 3.0, 3.0) == [0.0, 0.5, 0.5]
    assert slope(lambda x: x.clip(0.0, 1.0), 0.0, 1.0) == [1.0, 1.0]
    assert slope(lambda x: x.prod(), 0.0, 0.0, 3.0) == [0.0, 0.0, 0.0]
    assert slope(lambda x: x.prod(), 0.0, 2.0, 3.0) == [6.0, 0.0, 0.0]
    assert slope(lambda x: mg.maximum(x, 1.0), 1.0) == [0.5]
    assert slope(lambda x: x**0, 0.0) == [0.0]
    window = Tensor(np.ones((1, 1, 2, 2)))
    window.max_pool2d(2).sum().backward()
    assert window.grad.ravel().tolist() == [0.25] * 4


# ---- where --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "expected", "second"),
    [
        (lambda x: mg.where(x > 0, mg.log(x), 0.0), [0.0, 0.5], [0.0, -0.25]),
        (lambda x: mg.where(x > 0, mg.sqrt(x), x), [1.0, 2.0**-0.5 / 2], [0.0, -(2.0**-1.5) / 4]),
        (lambda x: mg.where(x > 0, mg.log(x.reshape(1, 2))[0], 0.0), [0.0, 0.5], [0.0, -0.25]),
        (lambda x: mg.where(x > 0, mg.log(x * 1.0) + mg.log(x[:]), 0.0), [0.0, 1.0], [0.0, -0.5]),
        (lambda x: mg.where(x > 0, mg.where(x > 0, 1.0 / x, 1.0), 5.0), [0.0, -0.25], [0.0, 0.25]),
    ],
)  # fmt: skip
def test_nothing_stays_nothing_element_by_element(
    function: Any, expected: Any, second: Any
) -> None:
    x = Tensor([0.0, 2.0])
    with mg.errstate("ignore"):
        y = function(x).sum()
    y.backward()
    np.testing.assert_allclose(x.grad, expected)
    x.zero_grad()
    y.backward(create_graph=True)
    slopes = x.grad
    np.testing.assert_allclose(slopes.data, expected)
    x.zero_grad()
    slopes.sum().backward()
    np.testing.assert_allclose(x.grad, second, atol=1e-15)


def test_where_broadcasts_and_reaches_both_branches() -> None:
    a, b = Tensor([[1.0], [2.0]]), Tensor([10.0, 20.0, 30.0])
    mg.where(np.array([[True, False, True], [False, False, True]]), a, b).sum().backward()
    assert a.grad.tolist() == [[2.0], [1.0]]
    assert b.grad.tolist() == [1.0, 2.0, 0.0]
    a.zero_grad()
    mg.where(False, a, b).sum().backward()
    assert a.grad.tolist() == [[0.0], [0.0]]


# ---- more ------------------------------------------------------------------------------------


def test_the_fused_pass_runs_without_giving_up() -> None:
    x = leaf(3, 4)
    y = mg.where(x > 0, mg.sqrt(abs(x) + 1.0) ** 2, x.leaky_relu()).mean()
    assert passes.backward(y, np.ones(()), False)


def test_nan_is_the_largest_element_and_gets_the_gradient() -> None:
    x = Tensor([1.0, np.nan, 3.0])
    x.max().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_nan_in_a_window_gets_the_gradient_of_the_window(create_graph: bool) -> None:
    image = np.array([[np.nan, 1.0, 2.0, 3.0], [0.0, np.nan, 5.0, 4.0]])[None, None]
    x = Tensor(image)
    with mg.errstate("ignore"):
        y = x.max_pool2d(2)
        y.backward(np.array([[[[8.0, 2.0]]]]), create_graph=create_graph)
    assert np.isnan(y.data.ravel()[0])
    assert x.grad.tolist() == [[[[4.0, 0.0, 0.0, 0.0], [0.0, 4.0, 2.0, 0.0]]]]
    tangent = np.arange(8.0).reshape(image.shape)
    assert y.op.push([tangent], y._out, [image]).tolist() == [[[[2.5, 6.0]]]]


@pytest.mark.parametrize("dtype", ["uint8", "int64", "bool", "float32"])
def test_the_padding_of_a_pool_is_smaller_than_every_number_and_changes_no_type(dtype: str) -> None:
    image = np.zeros((1, 1, 2, 2), dtype)
    y = mg.max_pool2d(image, 2, stride=1, padding=1)
    assert y.dtype == image.dtype
    assert not y.any()


def test_impossible_classes_cost_nothing() -> None:
    x = Tensor([[-np.inf, 0.0, 1.0]])
    y = x.cross_entropy(np.array([[0.0, 0.5, 0.5]]))
    assert np.isfinite(y.item())
    y.backward()
    assert np.isfinite(x.grad).all()


def test_integers_beyond_the_floats_are_infinite() -> None:
    assert Tensor([10**400, 1]).tolist() == [np.inf, 1.0]


def test_an_operation_of_ones_own_works_on_arrays() -> None:
    cube = mg.operation("cube_of_arrays", lambda m, x: x * x * x, [lambda out, x: 3.0 * x * x])
    x = Tensor([1.0, 2.0])
    cube(x).sum().backward(create_graph=True)
    slope = x.grad
    assert slope.tolist() == [3.0, 12.0]
    x.zero_grad()
    slope.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]
    count = mg.operation(
        "count_below",
        lambda m, x: m.less(x, 1.5) + m.less(x, 2.5),
        [lambda out, x: mg.less(x, 9.0)],
    )
    assert count(x).tolist() == [2.0, 1.0]

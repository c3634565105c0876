"""Half precision: counts and sums of many terms leave float16, means of them do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor

MANY = 70000  # more than the largest float16, 65504
ROUNDED = 6e-3  # half precision has 11 bits, and log_softmax(x) near -11 is rounded to 0.004
NUMBERS = np.random.default_rng(5).normal(size=MANY).astype(np.float16)
SIGNS = np.where(NUMBERS > 0, 1.0, -1.0)

FUNCTIONS: dict[str, Any] = {
    "mean": mg.mean,
    "var": mg.var,
    "std": mg.std,
    "norm": mg.norm,
    "logsumexp": mg.logsumexp,
    "log_softmax": lambda x: mg.log_softmax(x)[:3].sum(),
    "mse_loss": lambda x: mg.mse_loss(x, SIGNS),
    "hinge_loss": lambda x: mg.hinge_loss(x, SIGNS),
    "bce_with_logits": lambda x: mg.bce_with_logits(x, (SIGNS + 1) / 2),
    "cross_entropy": lambda x: mg.cross_entropy(
        x[:, None] * np.array([1.0, -1.0], x.dtype), np.ones(MANY, int)
    ),
    "avg_pool2d": lambda x: mg.avg_pool2d(x[: 257 * 257].reshape(1, 1, 257, 257), 257).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_half_precision_has_the_rounded_value_and_gradient(name: str) -> None:
    """As in double precision, up to rounding; and the second order is finite."""
    half, double = Tensor(NUMBERS), Tensor(NUMBERS.astype(float))
    y, exact = FUNCTIONS[name](half), FUNCTIONS[name](double)
    y.backward()
    exact.backward()
    assert y.dtype == half.grad.dtype == np.float16
    assert y.item() == pytest.approx(exact.item(), rel=ROUNDED, abs=1e-6)
    smallest = 2.0**-24  # the spacing of the smallest numbers
    np.testing.assert_allclose(half.grad, double.grad, rtol=ROUNDED, atol=2 * smallest)
    half.zero_grad()
    FUNCTIONS[name](half).backward(create_graph=True)
    assert half.grad.dtype == np.float16
    np.testing.assert_allclose(half.grad.data, double.grad, rtol=ROUNDED, atol=2 * smallest)
    ((half.grad * half.grad) * 1024.0)[:10].sum().backward(create_graph=True)
    assert np.isfinite(half.grad.data).all()


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_mean_is_that_of_numpy(axis: Any) -> None:
    x = np.full((10, 3), 60000.0, np.float16)
    np.testing.assert_array_equal(mg.mean(Tensor(x), axis=axis).data, np.mean(x, axis=axis))
    np.testing.assert_array_equal(mg.mean(x, axis=axis), np.mean(x, axis=axis))


def test_a_bias_gets_the_sum_of_many_small_gradients() -> None:
    bias = Tensor(np.zeros(2, np.float16))
    (np.ones((MANY, 2), np.float16) + bias).mean().backward()
    assert bias.grad == pytest.approx(np.array([0.5, 0.5]), rel=ROUNDED)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wider_types_are_computed_in_themselves(dtype: Any) -> None:
    x = NUMBERS.astype(dtype)
    total = np.add.reduce(x)
    assert mg.mean(Tensor(x)).item() == (total / MANY).item()
    assert mg.mean(Tensor(x)).dtype == dtype

"""Whole numbers and truth values in arrays: what has no whole value is computed in float64."""

from __future__ import annotations

from math import inf, isnan
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, Value
from minigrad.errors import ArgumentValueError, NumericalWarning
from minigrad.ops.arrays import FLOAT_VALUED
from minigrad.tensor import ARRAY_FUNCTIONS

UNARY = sorted(FLOAT_VALUED - {"atan2", "hypot", "logaddexp"})


@pytest.mark.parametrize("kind", ["u1", "i1", "i2", "i8", "b"])
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_whole_numbers_are_those_of_the_same_floats(name: str, kind: str) -> None:
    """NumPy would compute 8-bit numbers, the type of images, in half precision."""
    function = getattr(mg, name)
    whole = np.array([1, 0, 1] if kind == "b" else [1, 0, 90], kind)
    with mg.errstate("ignore"):
        expected = np.asarray(function(whole.astype(float)))
        on_array, on_tensor = np.asarray(function(whole)), function(Tensor(whole)).data
    for found in (on_array, on_tensor):
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, expected)


def test_whole_numbers_divided_by_zero_are_as_floats() -> None:
    x = Tensor(np.array([1, -3, 0]))
    with pytest.warns(NumericalWarning):
        assert (x // 0).data[:2].tolist() == [inf, -inf]
    with mg.errstate("ignore"):
        assert all(isnan(z) for z in (x % np.array([0, 0, 0])).data.tolist())
        assert (Tensor(np.array([1, 2])) ** -1).data.tolist() == [1.0, 0.5]


def test_a_value_on_the_branch_not_taken_has_the_gradient_zero() -> None:
    for make in (
        lambda v: mg.where(np.array([True, True]), Tensor([1.0, 2.0]), v).sum(),
        lambda v: (mg.where(True, 1.0, v) * Tensor([1.0, 2.0])).sum(),
        lambda v: mg.where(np.array([True, False]), 0.0, mg.stack_values([v, v])).sum() * 0.0,
    ):
        v = Value(2.0)
        make(v).backward()
        assert type(v.grad) is float
        assert v.grad == 0.0


@pytest.mark.parametrize("wrap", [np.array, Tensor])
def test_transforms_give_plain_arrays_of_the_arguments_shape(wrap: Any) -> None:
    x = wrap([1.0, -1.0])
    slopes = mg.grad(lambda x: mg.where(x > 0, x, 0.0).sum())(x)
    assert np.asarray(getattr(slopes, "data", slopes)).tolist() == [1.0, 0.0]
    for f in (lambda x: 3.0, lambda x: mg.floor(x).sum()):
        slopes = mg.grad(f)(x)
        assert np.asarray(getattr(slopes, "data", slopes)).tolist() == [0.0, 0.0]
    assert mg.grad(mg.exp)(np.array(0.0)) == 1.0


def test_a_transform_records_inside_no_grad_too() -> None:
    with mg.no_grad():
        assert mg.grad(lambda a: a * a)(3.0) == 6.0
        assert not mg.recording_enabled()


def test_fit_refuses_what_would_learn_nothing() -> None:
    data = mg.data.moons(8, seed=1)
    model, other = (mg.nn.MLP(2, [2], 1, rng=seed) for seed in (1, 2))
    sgd = mg.optim.SGD(0.1, other.parameters())
    with pytest.raises(ArgumentValueError, match="another model"):
        mg.fit(model, data, "bce", sgd, epochs=1, progress=False)
    with pytest.raises(ArgumentValueError, match=r"-1 or 1.*2 \* y - 1"):
        mg.fit(model, data, "hinge", mg.optim.SGD(0.1), epochs=1, progress=False)
    with mg.no_grad(), pytest.raises(ArgumentValueError, match="no_grad"):
        mg.fit(model, data, "bce", mg.optim.SGD(0.1), epochs=1, progress=False)


def test_every_float_valued_row_is_a_function() -> None:
    assert set(mg.__all__) >= FLOAT_VALUED
    assert "softmax" in ARRAY_FUNCTIONS

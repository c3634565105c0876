"""float32 stays float32, and float16 float16: numbers beside an array do not widen it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, Value

NUMBERS = {
    "float": 2.0,
    "int": 2,
    "float64": np.float64(2.0),
    "int64": np.int64(2),
    "without axes": np.array(2.0),
    "Value": Value,
}
ONLY_NUMBERS = {"einsum", "einsum, number first"}  # these take no Values
MASK = np.array([True, False])

FUNCTIONS: dict[str, Any] = {
    "stack": lambda t, s: mg.stack([t[0], s]),
    "stack, number first": lambda t, s: mg.stack([s, t[0], np.float64(1.0)]),
    "concatenate": lambda t, s: mg.concatenate([t, mg.stack([t[1], s])]),
    "einsum": lambda t, s: mg.einsum("i,", t, s),
    "einsum, number first": lambda t, s: mg.einsum(",i->i", s, t),
    "outer": mg.outer,
    "outer, number first": lambda t, s: mg.outer(s, t),
    "dot": mg.dot,
    "at_set": lambda t, s: mg.at_set(t, 0, s),
    "where": lambda t, s: mg.where(MASK, t, s),
    "where, number first": lambda t, s: mg.where(MASK, s, t),
    "where, condition alone": lambda t, s: mg.where(mg.greater(t, 1.0), s, 0.0),
    "clip": lambda t, s: mg.clip(t, 0.0, s),
    "maximum": mg.maximum,
    "hypot": mg.hypot,
    "logaddexp": mg.logaddexp,
    "mse_loss": mg.mse_loss,
    "+": lambda t, s: t + s,
    "reflected -": lambda t, s: s - t,
    "/": lambda t, s: t / s,
    "**": lambda t, s: t**s,
}


CALLS = [
    (name, number)
    for name in FUNCTIONS
    for number in NUMBERS
    if not (name in ONLY_NUMBERS and number == "Value")
]


@pytest.mark.parametrize(("name", "number"), CALLS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_number_does_not_widen_an_array(name: str, number: str, dtype: Any) -> None:
    function = FUNCTIONS[name]
    t, s = Tensor(np.array([1.0, 3.0], dtype)), NUMBERS[number]
    s = s(2.0) if s is Value else s
    wide = Tensor(np.array([1.0, 3.0]))
    y, expected = function(t, s), function(wide, s)
    assert y.dtype == dtype
    np.testing.assert_allclose(y.data, expected.data, rtol=2e-3)
    for create_graph in (False, True):
        t.zero_grad()
        wide.zero_grad()
        function(wide, s).sum().backward()
        if isinstance(s, Value):
            s.zero_grad()  # a node gradient is not added to numbers
        function(t, s).sum().backward(create_graph=create_graph)
        if wide.grad is None:  # a condition
            assert t.grad is None
            continue
        assert t.grad.dtype == dtype
        got = t.grad.data if create_graph else t.grad
        if isinstance(s, Value):
            s.zero_grad()
        np.testing.assert_allclose(got, wide.grad, rtol=2e-3)


@pytest.mark.parametrize("name", ["stack", "outer"])
def test_a_value_beside_a_narrow_array_keeps_its_gradient(name: str) -> None:
    v = Value(2.0)
    FUNCTIONS[name](Tensor(np.array([1.0, 3.0], np.float32)), v).sum().backward()
    assert v.grad == {"stack": 1.0, "outer": 4.0}[name]
    assert type(v.grad) is float


PLAIN: dict[str, Any] = {
    "einsum": FUNCTIONS["einsum"],
    "outer": mg.outer,
    "clip": lambda x, s: mg.clip(x, 0.0, s),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_arrays_stay_narrow_too(name: str) -> None:
    narrow, whole = np.array([1.0, 3.0], np.float32), np.array([1, 3])
    assert PLAIN[name](narrow, 2.0).dtype == np.float32
    np.testing.assert_array_equal(PLAIN[name](whole, 2.5), PLAIN[name](whole * 1.0, 2.5))

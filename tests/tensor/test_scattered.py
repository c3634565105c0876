"""Gradients that arrive element by element: linear in time, and the numbers of whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad.graph import sweep, topological_order
from minigrad.nothing import NOTHING
from minigrad.ops.broadcasting import Masked, parts
from minigrad.ops.scattered import Scattered
from minigrad.pull import pull
from minigrad.tensor import Tensor, passes, stack_values, to_values

# Each way to use x: by its elements, as a whole, by a `where`, and by a slice.
USES = [
    lambda x: mg.sum([v * v for v in to_values(x)]),
    lambda x: (x * 3.0).sum(),
    lambda x: to_values(x)[1] * 2.0,
    lambda x: mg.where(x.data > 0.0, x * x, 0.0).sum(),
    lambda x: mg.where(1.0, 2.0, to_values(x)[0]),
    lambda x: x[1:].sum(),
    lambda x: stack_values([to_values(x)[2], to_values(x)[2]]).prod(),
    lambda x: mg.relu(to_values(x)[0]),
]
uses = st.lists(st.integers(0, len(USES) - 1), min_size=1, max_size=6)


def total(x: Tensor, chosen: list[int]) -> Any:
    """A number that depends on ``x`` in the chosen ways, in this order."""
    return (Tensor(0.0) + mg.sum([USES[i](x) * (i + 1.5) for i in chosen])).sum()


def by_whole_arrays(chosen: list[int], data: Any) -> Any:
    """The gradient with each element sent as an array of zeros and itself, as NumPy adds them."""
    x, d = np.asarray(data), np.zeros(len(data))
    for i in chosen:
        one = np.zeros(len(d))
        one[1] = 2.0
        d += (i + 1.5) * {
            0: 2.0 * x, 1: np.full(len(d), 3.0), 2: one,
            3: np.where(x > 0.0, 2.0 * x, 0.0), 4: 0.0 * x,
            5: np.r_[0.0, np.ones(len(d) - 1)], 6: np.r_[0.0, 0.0, 2.0 * x[2]],
            7: np.r_[float(x[0] > 0.0), np.zeros(len(d) - 1)],
        }[i]  # fmt: skip
    return d


DATA = [-1.0, 0.5, 2.0]


@given(uses)
def test_elements_and_whole_arrays_add_up(chosen: list[int]) -> None:
    x = Tensor(DATA)
    total(x, chosen).backward()
    np.testing.assert_allclose(x.grad, by_whole_arrays(chosen, DATA), rtol=1e-13, atol=1e-13)


@given(uses)
def test_the_fused_pass_is_the_readable_sweep_to_the_bit(chosen: list[int]) -> None:
    x = Tensor(DATA)
    inner = x * 1.0
    root = total(inner, chosen)
    assert passes.backward(root, np.ones(()), False) == (7 not in chosen)
    if 7 in chosen:  # the slope of a scalar row on a float is a case for the readable sweep
        root.backward()
    cotangents: Any = {root: np.ones(())}
    steps = list(sweep(topological_order(root), cotangents, pull))
    readable = parts(cotangents[x])[0]
    assert np.array_equal(x.grad, np.zeros(3) if readable is NOTHING else readable)
    for step in steps:  # what was there before is still there, though much was added since
        if step.before is not None and step.contribution is not NOTHING:
            before, sent = parts(step.before)[0], parts(step.contribution)[0]
            if before is not NOTHING:
                np.testing.assert_allclose(parts(step.after)[0], before + sent, rtol=1e-15)


@given(uses)
def test_gradients_as_nodes_can_be_differentiated(chosen: list[int]) -> None:
    x = Tensor(DATA)
    total(x, chosen).backward(create_graph=True)
    gradient = x.grad
    np.testing.assert_allclose(gradient.data, by_whole_arrays(chosen, DATA), rtol=1e-13, atol=1e-13)
    x.zero_grad()
    if gradient.op is None:
        return
    (gradient * np.array([1.0, 10.0, 100.0])).sum().backward()
    h, difference = 1e-6, np.zeros(3)
    for k in range(3):
        up, down = list(DATA), list(DATA)
        up[k] += h
        down[k] -= h
        change = by_whole_arrays(chosen, up) - by_whole_arrays(chosen, down)
        difference[k] = change @ [1.0, 10.0, 100.0] / (2.0 * h)
    found = np.zeros(3) if x.grad is None else x.grad
    np.testing.assert_allclose(found, difference, rtol=1e-6, atol=1e-6)


def test_what_was_added_to_a_total_leaves_the_total_before_as_it_was() -> None:
    x = np.zeros(2)
    first = Scattered(x, [((0,), 1.0)])
    second = first + Scattered(x, [((1,), 2.0)])
    third = first + Scattered(x, [((1,), 5.0)])
    fourth = second + np.array([10.0, 10.0])
    fifth = np.array([10.0, 10.0]) + second
    found = [z.values.tolist() for z in (first, second, third, fourth, fifth)]
    assert found == [[1.0, 0.0], [1.0, 2.0], [1.0, 5.0], [11.0, 12.0], [11.0, 12.0]]


def test_nothing_and_arrays_that_are_nothing_in_part() -> None:
    one = Scattered(np.zeros(2), [((0,), 1.0)])
    masked = Masked(np.array([0.0, 3.0]), np.array([True, False]))
    assert (one + NOTHING) is one
    assert (NOTHING + one) is one
    assert (one + masked).values.tolist() == [1.0, 3.0]
    assert (masked + one).values.tolist() == [1.0, 3.0]


def test_float32_and_no_axes() -> None:
    x = Tensor([1.0, 2.0], dtype="float32")
    mg.sum([v * v for v in to_values(x)]).backward()
    assert x.grad.dtype == np.float32
    y = Tensor(3.0)
    v = to_values(y)
    (v * v * v).backward(create_graph=True)
    first = y.grad
    y.zero_grad()
    first.backward()
    assert (first.item(), y.grad.item()) == (27.0, 18.0)


def test_whole_numbers_get_no_gradient() -> None:
    x, w = Tensor(np.array([1, 2])), mg.Value(3.0)
    (to_values(x)[0] * w).backward()
    with pytest.warns(mg.errors.MissingGradientWarning):
        assert x.grad is None
    assert w.grad == 1.0


def test_an_exception_leaves_every_gradient_as_it_was() -> None:
    bad = mg.operation("bad_after_elements", lambda m, x: x * 1.0, [lambda out, x: [][0]])
    x = Tensor([1.0, 2.0])
    x.grad = [5.0, 5.0]
    a, b = to_values(x)
    with pytest.raises(mg.errors.OperationError, match="bad_after_elements"):
        (b * a + bad(a)).backward()
    assert x.grad.tolist() == [5.0, 5.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_pass_makes_no_array_of_all_elements_for_each_of_them(
    create_graph: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    zeros = np.zeros
    monkeypatch.setattr(np, "zeros", lambda *args, **how: made.append(1) or zeros(*args, **how))
    n = 300
    x = Tensor(np.ones(n))
    root = mg.sum([v * v for v in to_values(x)])
    root.backward(create_graph=create_graph)
    assert len(made) < 10
    assert len(x.grad if create_graph else x.grad.tolist()) == n

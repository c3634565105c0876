"""Schedules and clipping against their formulas."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.optim import (
    clip_by_global_norm,
    clip_by_value,
    constant,
    cosine_decay,
    exponential_decay,
    global_norm,
    step_decay,
    warm_up,
)

steps = st.integers(0, 10_000)


@given(step=steps, every=st.integers(1, 500))
def test_schedules_are_their_formulas(step, every):
    assert constant(0.3)(step) == 0.3
    assert step_decay(0.3, every, 0.5)(step) == 0.3 * 0.5 ** (step // every)
    assert exponential_decay(0.3, every, 0.9)(step) == pytest.approx(0.3 * 0.9 ** (step / every))
    wave = cosine_decay(0.3, every, alpha=0.1)(step)
    if step >= every:
        assert wave == pytest.approx(0.03)
    else:  # 1 + cos(2x) = 2 cos²(x)
        half = math.cos(math.pi * step / every / 2) ** 2
        assert wave == pytest.approx(0.3 * (0.1 + 0.9 * half))


@given(steps=st.integers(1, 100))
def test_warm_up_rises_evenly_and_then_hands_over(steps):
    rate = warm_up(step_decay(1.0, 10, 0.5), steps)
    assert [rate(t) for t in range(steps)] == pytest.approx([(t + 1) / steps for t in range(steps)])
    assert (rate(steps), rate(steps + 9), rate(steps + 10)) == (1.0, 1.0, 0.5)


def test_schedules_refuse_what_makes_no_sense():
    for make in (
        lambda: constant(-1.0), lambda: step_decay(1.0, 0), lambda: step_decay(1.0, 1.5),
        lambda: exponential_decay(1.0, 10, 0.0), lambda: cosine_decay(1.0, True),
        lambda: cosine_decay(1.0, 10, -1.0), lambda: warm_up(0.1, 0),
    ):  # fmt: skip
        with pytest.raises(ArgumentValueError):
            make()
    with pytest.raises(ArgumentTypeError):
        constant("0.1")


gradients = st.lists(
    st.one_of(
        st.none(), st.floats(-1e6, 1e6), st.lists(st.floats(-1e6, 1e6), max_size=5).map(np.array)
    ),
    max_size=6,
)


@given(gradients=gradients, limit=st.floats(1e-3, 1e3))
def test_clipped_gradients_are_within_their_limit(gradients, limit):
    flat = [x for g in gradients if g is not None for x in np.ravel(g).tolist()]
    clipped = clip_by_value(gradients, limit)
    assert [g is None for g in clipped] == [g is None for g in gradients]
    for g, c in zip(gradients, clipped, strict=True):
        if g is not None:
            assert np.array_equal(c, np.clip(g, -limit, limit))
    scaled, length = clip_by_global_norm(gradients, limit)
    assert length == pytest.approx(math.sqrt(math.fsum(x * x for x in flat)), rel=1e-9, abs=1e-150)
    assert global_norm(scaled) <= limit * (1 + 1e-12)
    for g, c in zip(gradients, scaled, strict=True):
        if g is not None:
            factor = 1.0 if length <= limit else limit / length
            np.testing.assert_allclose(c, np.asarray(g) * factor, rtol=1e-12)


def test_the_norm_does_not_overflow_or_underflow():
    assert global_norm([3e200, np.array([4e200])]) == pytest.approx(5e200)
    assert global_norm([3e-200, np.array([4e-200])]) == pytest.approx(5e-200)
    assert global_norm([np.array([3e38, 3e38], np.float32)]) == pytest.approx(3e38 * 2**0.5)
    assert global_norm([]) == 0.0
    assert math.isnan(global_norm([np.array([1.0, math.nan])]))


def test_clipping_makes_new_gradients():
    g = np.array([5.0])
    clip_by_value([g], 1.0)
    clip_by_global_norm([g], 1.0)
    assert g.tolist() == [5.0]

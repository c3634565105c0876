"""Initializers have the mean and spread of their formula."""

import math
import random
import statistics

import pytest

from minigrad.errors import ArgumentValueError
from minigrad.nn import (
    MLP,
    Linear,
    he_normal,
    he_uniform,
    normal,
    uniform,
    xavier_normal,
    xavier_uniform,
)

N, M = 30, 10


@pytest.mark.parametrize(
    ("init", "deviation", "limit"),
    [
        (uniform(-0.5, 0.5), 1 / math.sqrt(12), 0.5), (normal(0.0, 0.3), 0.3, None),
        (xavier_uniform(), math.sqrt(2 / (N + M)), math.sqrt(6 / (N + M))),
        (xavier_normal(), math.sqrt(2 / (N + M)), None),
        (he_uniform(), math.sqrt(2 / N), math.sqrt(6 / N)), (he_normal(), math.sqrt(2 / N), None),
    ],
)  # fmt: skip
def test_spread(init, deviation, limit):
    rng = random.Random(1)
    drawn = [init(rng, N, M) for _ in range(20_000)]
    assert statistics.fmean(drawn) == pytest.approx(0.0, abs=0.01)
    assert statistics.pstdev(drawn) == pytest.approx(deviation, rel=0.02)
    if limit:
        assert max(map(abs, drawn)) <= limit


def test_an_initializer_may_be_a_function():
    layer = Linear(2, 3, init=lambda rng, fan_in, fan_out: 10.0 * fan_in + fan_out)
    assert layer.weight.data.tolist() == [[23.0] * 3] * 2
    assert layer.bias.data.tolist() == [0.0] * 3


def test_a_network_chooses_by_its_activation():
    for activation, variance in (("relu", 2 / 400), ("tanh", 2 / 500)):
        weights = MLP(400, [100], 1, activation=activation, rng=1).layers[0].weight.data
        assert weights.var() == pytest.approx(variance, rel=0.03)


def test_bad_numbers_are_refused():
    for make in (lambda: uniform(1.0, 0.0), lambda: normal(0.0, -1.0), lambda: normal(math.nan)):
        with pytest.raises(ArgumentValueError):
            make()

"""``fit`` trains what is in training, leaves frozen modules alone, and restores every mode."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as mg
from minigrad.nn import BatchNorm, Dropout, Linear, Sequential

RNG = np.random.default_rng(3)
POINTS = RNG.normal(size=(20, 2)) + 5.0, RNG.normal(size=20)


def network() -> Sequential:
    return Sequential(Linear(2, 4, rng=1), BatchNorm(4), "relu", Dropout(0.5), Linear(4, 1, rng=2))


def train(model: Sequential, **options: object) -> None:
    mg.fit(model, POINTS, "mse", mg.optim.SGD(1e-3), 2, seed=1, progress=False, **options)


@pytest.mark.parametrize("validation", [None, POINTS])
def test_a_frozen_module_stays_as_it_is(validation: object) -> None:
    model = network()
    frozen = model.layers[1].eval()
    before = frozen.running_mean.copy(), frozen.running_var.copy()
    train(model, validation=validation)
    np.testing.assert_array_equal(frozen.running_mean, before[0])
    np.testing.assert_array_equal(frozen.running_var, before[1])
    assert [m.training for m in model.modules()] == [m is not frozen for m in model.modules()]


def test_a_model_in_evaluation_is_trained_as_a_whole_and_goes_back_to_it() -> None:
    model = network().eval()
    before = model.layers[1].running_mean.copy()
    train(model)
    assert not np.array_equal(model.layers[1].running_mean, before)
    assert not any(m.training for m in model.modules())


def test_a_part_in_training_of_a_model_in_evaluation_is_found_so_again() -> None:
    model = network().eval()
    model.layers[1].train()
    modes = [m.training for m in model.modules()]
    train(model)
    assert [m.training for m in model.modules()] == modes


def test_the_modes_are_restored_when_the_training_fails() -> None:
    model = network()
    model.layers[1].eval()
    modes = [m.training for m in model.modules()]

    def broken(predictions: object, targets: object) -> object:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        mg.fit(model, POINTS, broken, mg.optim.SGD(0.1), 1, progress=False)
    assert [m.training for m in model.modules()] == modes

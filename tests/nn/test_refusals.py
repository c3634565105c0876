"""What layers refuse, when they are made and when they are called, and what they say."""

import numpy as np
import pytest

from minigrad import Value
from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.nn import (
    MLP,
    BatchNorm,
    Conv2d,
    Dropout,
    Embedding,
    Linear,
    MaxPool2d,
    Module,
    Sequential,
)
from minigrad.tensor import Tensor


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Linear(0, 1), "inputs"), (lambda: Linear(1, 1.5), "outputs"),
        (lambda: Linear(1, 1, mode="vector"), "mode='vector'"),
        (lambda: Linear(1, 1, init="xavier"), "xavier_"), (lambda: MLP(1, [0], 1), "hidden"),
        (lambda: MLP(1, [1], 1, activation="rellu"), "'relu' is near"), (Sequential, "layers"),
        (lambda: Dropout(1.0), "p="), (lambda: BatchNorm(2, momentum=0.0), "momentum"),
        (lambda: Conv2d(1, 1, 0), "kernel_size"),
        (lambda: Conv2d(1, 1, 3, mode="scalar"), "arrays"),
        (lambda: MaxPool2d(2, mode="scalar"), "arrays"), (lambda: MaxPool2d(0), "kernel_size"),
        (lambda: BatchNorm(2, mode="scalar"), "arrays"),
        (lambda: Embedding(2, 2, mode="scalar"), "arrays"),
    ],
)  # fmt: skip
def test_a_layer_that_makes_no_sense_is_refused(make, words):
    with pytest.raises(ArgumentValueError, match=words):
        make()


@pytest.mark.parametrize(
    "make",
    [lambda: Sequential([Linear(1, 1)]), lambda: Sequential(3), lambda: Linear(1, 1, rng="a")],
)
def test_a_layer_of_the_wrong_kind_is_refused(make):
    with pytest.raises(ArgumentTypeError):
        make()


def test_inputs_of_a_scalar_layer_are_checked():
    layer = Linear(2, 1, mode="scalar")
    with pytest.raises(ShapeError, match="takes 2 numbers, but 3"):
        layer([1.0, 2.0, 3.0])
    with pytest.raises(ShapeError, match="one example"):
        layer([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ArgumentTypeError, match="to_values"):
        layer(Tensor([1.0, 2.0]))
    for x in (3.0, "ab", Value(1.0)):
        with pytest.raises(ArgumentTypeError, match="list"):
            layer(x)
    assert layer(np.array([1.0, 2.0]))[0].data == layer((1.0, 2.0))[0].data


def test_inputs_of_an_array_layer_are_checked():
    layer = Linear(4, 1)
    with pytest.raises(ShapeError, match=r"Flatten\(\) before it gives shape \(3, 4\)"):
        layer(np.zeros((3, 2, 2)))
    with pytest.raises(ShapeError, match=r"\(…, 4\)"):
        layer(np.zeros(3))
    with pytest.raises(ArgumentTypeError, match="stack_values"):
        layer([Value(1.0)] * 4)
    with pytest.raises(ArgumentTypeError):
        layer("abcd")


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match="forward"):
        Module()(1.0)

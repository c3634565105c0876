"""What layers refuse, when they are made and when they are called, and what they say."""

import re

import numpy as np
import pytest

import minigrad as mg
from minigrad import Value, elsewhere, nn
from minigrad.errors import ArgumentTypeError, ArgumentValueError, RenamedError, ShapeError
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
    ("name", "meant"),
    [
        ("Relu", "relu"), ("ReLU", "relu"), ("TANH", "tanh"), ("LeakyReLU", "leaky_relu"),
        ("Sigmoid", "sigmoid"), ("ELU", "elu"), ("LogSoftmax", "log_softmax"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_a_near_name_of_an_activation_is_found_without_case(name, meant, mode):
    with pytest.raises(ArgumentValueError, match=f"; '{meant}' is near$"):
        MLP(1, [1], 1, activation=name, mode=mode)


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


# -- parameters and numbers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "thing"),
    [
        (Linear(2, 4), np.ones((2, 4))), (Linear(2, 4), Value(1.0)), (Linear(2, 4), 1.0),
        (Linear(2, 4), [[Value(1.0)] * 4] * 2), (Conv2d(1, 1, 2), np.ones((1, 1, 2, 2))),
        (Embedding(2, 3), np.ones((2, 3))),
    ],
)  # fmt: skip
def test_numbers_in_the_place_of_a_parameter_are_refused(layer, thing):
    """They would be used, or fail somewhere inside, and never be learned."""
    before = layer.weight
    with pytest.raises(ArgumentTypeError, match=r"weight is a parameter, a Tensor.*weight\.data ="):
        layer.weight = thing
    assert layer.weight is before
    layer.weight = Tensor(np.ones(before.shape))
    assert layer.weight in layer.parameters()
    if hasattr(layer, "bias"):
        layer.bias = None
        assert len(layer.parameters()) == 1


def test_numbers_in_the_place_of_values_are_refused():
    layer = Linear(2, 1, mode="scalar")
    for thing in (np.ones((2, 1)), [[1.0], [1.0]], Tensor(np.ones((2, 1)))):
        with pytest.raises(ArgumentTypeError, match=r'a list of Values.*\{"weight": numbers\}'):
            layer.weight = thing
    layer.weight = [[Value(1.0)], [Value(2.0)]]
    assert layer([1.0, 1.0])[0].data == 3.0
    neuron = Module()
    neuron.b = Value(0.0)
    with pytest.raises(ArgumentTypeError, match=r"a Value.*b\.data = numbers"):
        neuron.b = 0.5
    neuron.b = Value(1.0) * 2.0  # computed: no parameter, and anything may take its place
    neuron.b = 0.5


@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_an_example_is_one_argument(mode):
    with pytest.raises(ArgumentTypeError, match=r"one argument, a list.*2 were.*\[1\.0, 2\.0\]"):
        MLP(2, [3], 1, mode=mode)(1.0, 2.0)

    class Pair(Module):
        def forward(self, x, y=1.0):
            return x + y

    assert Pair()(1.0, 2.0) == 3.0


# -- names of micrograd and PyTorch ----------------------------------------------------------------


@pytest.mark.parametrize("theirs", ["Neuron", "Layer", "ReLU", "CrossEntropyLoss", "MSELoss"])
def test_names_of_other_libraries_say_ours(theirs):
    with pytest.raises(RenamedError, match=rf"^{theirs} is (micrograd|PyTorch)'s name; here it is"):
        getattr(nn, theirs)
    assert not hasattr(nn, theirs)
    misspelt = "Linaer"
    with pytest.raises(AttributeError, match=r"'minigrad\.nn' has no attribute 'Linaer'"):
        getattr(nn, misspelt)


def test_every_name_that_an_error_says_is_there():
    words = [ours for _, ours in elsewhere.PARTS.values()]
    for name in re.findall(r"mg\.([\w.]+)", " ".join(words)):
        found = mg
        for part in name.split("."):
            found = getattr(found, part)
    for owner, table in ((Value(1.0), elsewhere.NODES), (Tensor([1.0]), elsewhere.TENSORS)):
        for _, ours in table.values():
            name = re.match(r"\.(\w+)", ours)
            assert name is None or hasattr(owner, name[1])


@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_a_model_as_micrograd_makes_it(mode):
    with pytest.raises(ArgumentTypeError, match=r"such as MLP\(2, \[16, 16\], 1\)$"):
        MLP(2, [16, 16, 1], mode=mode)
    with pytest.raises(RenamedError, match=r"micrograd's name; here it is \.weight and \.bias"):
        _ = Linear(2, 3, mode=mode).neurons


def test_arguments_of_other_libraries_say_ours():
    with pytest.raises(
        ArgumentTypeError, match=r"MLP\(…, seed=…\).*mode, rng.*; seed is rng= here"
    ):
        MLP(2, [3], 1, seed=1)
    with pytest.raises(ArgumentTypeError, match=r"in_features is inputs here"):
        Linear(in_features=2, out_features=3)
    with pytest.raises(TypeError, match="inptus"):
        Linear(2, 3, inptus=4)

    class Seeded(Module):
        def __init__(self, seed):
            self.seed = seed

    class Open(Module):
        def __init__(self, **options):
            self.options = options

    assert Seeded(seed=3).seed == Open(seed=3).options["seed"] == 3

"""Modules: parameters by name, shared ones once, both modes equal, scopes, errors, copies."""

import copy
import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad as mg
from minigrad import Value
from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.modes import scope_of
from minigrad.nn import (
    MLP,
    BatchNorm,
    Conv2d,
    Dropout,
    Flatten,
    LayerNorm,
    Linear,
    MaxPool2d,
    Module,
    Sequential,
)
from minigrad.tensor import Tensor

ACTIVATIONS = [
    "elu", "gelu", "identity", "leaky_relu", "log_sigmoid", "relu", "relu6", "sigmoid", "silu",
    "softplus", "tanh", "log_softmax", "softmax", None, mg.tanh,
]  # fmt: skip


def numbers(out):
    return [x.data for x in out] if isinstance(out, list) else [out.data]


def gradients(model):
    """All gradients of a model in one list, in the order of the entries of the array mode."""
    flat = []
    for p in model.parameters():
        flat.extend(p.grad.ravel().tolist() if hasattr(p, "shape") else [p.grad])
    return flat


# -- both modes ------------------------------------------------------------------------------------


@given(seed=st.integers(0, 1000), activation=st.sampled_from(ACTIVATIONS))
@settings(max_examples=60)
def test_scalar_and_array_networks_are_equal(seed, activation):
    rng = random.Random(seed)
    widths = [rng.randint(1, 4) for _ in range(rng.randint(0, 3))]
    n, m = rng.randint(1, 4), rng.randint(2, 4)
    models = [
        MLP(n, widths, m, activation=activation, output_activation="tanh", mode=mode, rng=seed)
        for mode in ("scalar", "array")
    ]
    xs = [[rng.gauss(0.0, 1.0) for _ in range(n)] for _ in range(3)]
    scalar, array = models
    of_values = [scalar(x) for x in xs]
    of_arrays = array(xs)
    for out, row in zip(of_values, of_arrays.data.tolist(), strict=True):
        assert numbers(out) == pytest.approx(row, rel=1e-12, abs=1e-12)
    mg.sum([y * y for out in of_values for y in out]).backward()
    (of_arrays * of_arrays).sum().backward()
    assert gradients(scalar) == pytest.approx(gradients(array), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda mode: Linear(3, 2, mode=mode, rng=1),
        lambda mode: Linear(3, 2, bias=False, mode=mode, rng=1),
        lambda mode: LayerNorm(3, mode=mode),
        lambda mode: Dropout(0.5, mode=mode).eval(),
        lambda mode: Sequential(
            Linear(3, 4, mode=mode, rng=1), "tanh", LayerNorm(4, mode=mode), mg.sin,
            Linear(4, 2, mode=mode, rng=2), "softmax",
        ),
    ],
)  # fmt: skip
def test_layers_of_both_modes_are_equal(make):
    scalar, array = make("scalar"), make("array")
    a = [Value(x) for x in (1.0, -2.0, 0.5)]
    b = Tensor([[1.0, -2.0, 0.5]])
    out, outs = scalar(a), array(b)
    assert numbers(out) == pytest.approx(outs.data[0].tolist(), rel=1e-12)
    mg.dot(out, [1.0, 2.0, 3.0][: len(out)]).backward()
    (outs * np.arange(1.0, len(out) + 1)).sum().backward()
    assert [x.grad for x in a] == pytest.approx(b.grad[0].tolist(), rel=1e-12, abs=1e-12)
    assert gradients(scalar) == pytest.approx(gradients(array), rel=1e-12, abs=1e-12)


def test_flatten_in_both_modes():
    assert Flatten()(np.arange(12.0).reshape(2, 3, 2)).tolist()[1] == [
        6.0,
        7.0,
        8.0,
        9.0,
        10.0,
        11.0,
    ]
    assert Flatten()(Tensor(np.zeros((0, 3, 2)))).shape == (0, 6)
    assert Flatten(mode="scalar")([[1.0], [[2.0, 3.0]]]) == [1.0, 2.0, 3.0]
    with pytest.raises(ShapeError):
        Flatten()(3.0)


def test_a_scalar_network_of_one_output_gives_a_value():
    model = MLP(2, [3], 1, mode="scalar", rng=1)
    out = model([1.0, 2.0])
    assert isinstance(out, Value)
    assert MLP(2, [3], 1, rng=1)([[1.0, 2.0]]).data.tolist() == [[pytest.approx(out.data)]]


def test_a_neuron_is_one_dot_node_and_its_bias():
    (y,) = Linear(3, 1, mode="scalar", rng=1)([1.0, 2.0, 3.0])
    assert y.op.name == "add"
    assert [node.op and node.op.name for node in y.inputs] == ["dot", None]


def test_the_same_seed_gives_the_same_weights_in_both_modes():
    for init in ("uniform", "normal", "xavier_uniform", "xavier_normal", "he_uniform", "he_normal"):
        a = Linear(3, 4, mode="scalar", init=init, rng=3).state_dict()
        b = Linear(3, 4, mode="array", init=init, rng=random.Random(3)).state_dict()
        assert a["weight"] == b["weight"].tolist()
    random.seed(1)
    first = Linear(3, 4, mode="scalar").state_dict()
    random.seed(1)
    assert Linear(3, 4, mode="scalar").state_dict() == first


def test_layers_of_a_network_start_differently():
    one, two = MLP(3, [3], 3, rng=1).layers
    assert not np.array_equal(one.weight.data, two.weight.data)


def test_float32_stays_float32():
    model = MLP(4, [8], 3, dtype="float32", rng=1)
    out = model(np.ones((2, 4)))
    assert out.dtype == np.float32
    out.sum().backward()
    assert all(p.grad.dtype == np.float32 for p in model.parameters())
    for layer, x in (
        (Conv2d(1, 2, 3, dtype="float32"), np.ones((1, 1, 4, 4))),
        (BatchNorm(3, dtype="float32"), np.ones((2, 3))),
        (LayerNorm(3, dtype="float32"), np.ones(3)),
        (Dropout(0.5), np.ones(3, np.float32)),
    ):  # fmt: skip
        assert layer(x).dtype == np.float32


# -- parameters and state --------------------------------------------------------------------------


def test_parameters_have_names_in_order():
    model = MLP(2, [3], 1)
    assert [name for name, _ in model.named_parameters()] == [
        "layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias",
    ]  # fmt: skip
    names = [name for name, _ in MLP(1, [], 2, mode="scalar").named_parameters()]
    assert names == [f"layers.0.{p}" for p in ("weight[0,0]", "weight[0,1]", "bias[0]", "bias[1]")]


@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_shared_parameters_are_named_once(mode):
    class Tied(Module):
        def __init__(self):
            self.first = Linear(2, 2, mode=mode)
            self.again = self.first
            self.third = Linear(2, 2, mode=mode)
            self.third.weight = self.first.weight

    model = Tied()
    assert list(model.state_dict()) == ["first.weight", "first.bias", "third.bias"]
    parameters = model.parameters()
    assert len(set(parameters)) == len(parameters)


def test_a_value_in_two_lists_has_its_first_name():
    class Chained(Module):
        def __init__(self):
            v, w, u = (Value(float(i)) for i in range(3))
            self.a, self.b = [v, w], [w, u]

    model = Chained()
    assert [name for name, _ in model.named_parameters()] == ["a[0]", "a[1]", "b[1]"]
    assert model.state_dict() == {"a": [0.0, 1.0], "b": [1.0, 2.0]}


def test_any_attribute_that_holds_leaves_is_found():
    class Odd(Module):
        def __init__(self):
            self.single = Value(1.0)
            self.pairs = [[Value(2.0)], [Value(3.0), Value(4.0)]]  # uneven
            self.named = {"a": Tensor([5.0]), "b": (Linear(1, 1, init="ones"),)}
            self.counts = Tensor(np.arange(3))
            self.computed = self.single * 2.0
            self._private = Value(6.0)
            self.text, self.loop = "text", self

    model = Odd()
    assert list(model.state_dict()) == [
        "single", "pairs.0", "pairs.1", "named.a", "named.b.0.weight", "named.b.0.bias",
    ]  # fmt: skip
    assert len(model.parameters()) == 7
    assert [type(m) for m in model.modules()] == [Odd, Linear]


def test_a_state_fits_the_other_mode():
    scalar, array = (MLP(2, [3], 2, mode=mode) for mode in ("scalar", "array"))
    scalar.load_state_dict(array.state_dict())
    assert numbers(scalar([1.0, 2.0])) == pytest.approx(array([1.0, 2.0]).data.tolist(), rel=1e-12)
    before = array.state_dict()
    array.load_state_dict(scalar.state_dict())
    assert all(np.array_equal(before[k], v) for k, v in array.state_dict().items())


def test_a_state_is_a_copy():
    model = Linear(1, 1)
    state = model.state_dict()
    state["weight"][:] = 7.0
    assert model.weight.data.item() != 7.0
    model.load_state_dict(state)
    state["weight"][:] = 8.0
    assert model.weight.data.item() == 7.0


@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_a_wrong_state_loads_nothing_and_says_what_differs(mode):
    model = MLP(2, [3], 1, mode=mode)
    before = copy.deepcopy(model.state_dict())
    state = model.state_dict()
    state["layers.0.weight"] = [[1.0, 2.0], [3.0]]
    state["layers.0.bias"] = [9.0, 9.0]
    del state["layers.1.bias"]
    state["extra"] = 1.0
    with pytest.raises(ArgumentValueError) as caught:
        model.load_state_dict(state)
    text = str(caught.value)
    for part in (
        "layers.0.weight has lists of different lengths, but (2, 3) is needed",
        "layers.0.bias has shape (2,), but (3,) is needed", "layers.1.bias is missing",
        "extra is not known here", "nothing was loaded",
    ):  # fmt: skip
        assert part in text
    words = dict(before, **{"layers.1.bias": ["x"]})
    with pytest.raises(ArgumentTypeError):
        model.load_state_dict(words)
    with pytest.raises(ArgumentTypeError, match="load"):
        model.load_state_dict("model.json")
    after = model.state_dict()
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_copies_and_pickles_learn_on_their_own(mode):
    model = Sequential(Linear(2, 2, mode=mode), Dropout(0.2, mode=mode), "tanh", mg.sin)
    model([1.0, 2.0])
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        state = twin.state_dict()
        for p in twin.parameters():
            p.data = p.data * 0.0
        assert model.state_dict().keys() == state.keys()
        assert all(np.array_equal(state[k], v) for k, v in model.state_dict().items())


def test_train_and_eval_reach_every_module():
    model = Sequential(Sequential(Dropout(0.5), "relu"), Dropout(0.1))
    assert model.eval() is model
    assert [m.training for m in model.modules()] == [False] * 4
    model.train()
    assert [m.training for m in model.modules()] == [True] * 4


def test_zero_grad():
    model = Linear(1, 1, mode="scalar")
    model([1.0])[0].backward()
    model.zero_grad()
    assert [p.grad for p in model.parameters()] == [None, None]


# -- scopes and names ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_nodes_carry_the_layers_as_scopes(mode):
    model = MLP(2, [2], 2, mode=mode, name="net")
    out = model([1.0, 2.0])
    out = out[0] if isinstance(out, list) else out
    scopes = [scope_of(n) for n in mg.topological_order(out) if n.op is not None]
    assert set(scopes) == {"net/layers.0", "net", "net/layers.1"}
    inner = Sequential(Sequential(Linear(1, 1, mode="scalar")))
    assert scope_of(inner([1.0])[0]) == "Sequential/layers.0/layers.0"


def test_parameters_are_named_when_the_model_is_first_called():
    model = MLP(1, [1], 1)
    mine = model.layers[0].bias
    mine.name = "mine"
    model([1.0])
    assert [p.name for p in model.parameters()] == [
        "layers.0.weight", "mine", "layers.1.weight", "layers.1.bias",
    ]  # fmt: skip


def test_repr_shows_the_layers():
    model = Sequential(Linear(2, 3), "tanh", Conv2d(1, 2, 3), MaxPool2d(2), BatchNorm(3))
    assert repr(Linear(2, 3, mode="scalar")) == "Linear(2, 3, mode='scalar')"
    assert "  layers.0: Linear(2, 3)\n  layers.1: 'tanh'\n" in repr(model)
    assert repr(MLP(1, [], 1)) == "MLP(\n  activation='relu'\n  layers.0: Linear(1, 1)\n)"
    assert "Conv2d(1, 2, (3, 3), stride=1, padding=0)" in repr(model)

"""Layers of arrays against formulas written out in NumPy."""

import random

import numpy as np
import pytest

from minigrad.data import batches, moons
from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.nn import (
    BatchNorm,
    Conv2d,
    Dropout,
    Embedding,
    LayerNorm,
    Linear,
    MaxPool2d,
    Sequential,
)
from minigrad.optim import SGD
from minigrad.tensor import Tensor
from minigrad.training import fit

draw = np.random.default_rng(1)


@pytest.mark.parametrize(("stride", "padding"), [(1, 0), (2, 1), ((2, 1), (0, 2))])
def test_convolution_is_the_sum_over_windows(stride, padding):
    layer = Conv2d(2, 3, (3, 2), stride, padding, rng=1)
    layer.bias.data = [1.0, 2.0, 3.0]
    x = draw.normal(size=(2, 2, 6, 5))
    (sh, sw), (ph, pw) = (np.broadcast_to(z, 2) for z in (stride, padding))
    wide = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    out = layer(x).data
    assert out.shape == (2, 3, (6 + 2 * ph - 3) // sh + 1, (5 + 2 * pw - 2) // sw + 1)
    for n, o, i, j in np.ndindex(out.shape):
        window = wide[n, :, i * sh : i * sh + 3, j * sw : j * sw + 2]
        expected = (window * layer.weight.data[o]).sum() + o + 1.0
        assert out[n, o, i, j] == pytest.approx(expected)


def test_pooling_takes_the_largest():
    x = draw.normal(size=(2, 3, 6, 4))
    expected = x.reshape(2, 3, 3, 2, 2, 2).max(axis=(3, 5))
    assert np.array_equal(MaxPool2d(2)(x), expected)
    assert MaxPool2d(3, stride=1, padding=1)(Tensor(x)).shape == x.shape


@pytest.mark.parametrize("shape", [(7, 3), (4, 3, 2, 5)])
def test_batch_normalization_in_training_and_outside(shape):
    layer = BatchNorm(3, momentum=0.3, epsilon=1e-3)
    layer.weight.data, layer.bias.data = [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]
    axes = tuple(i for i in range(len(shape)) if i != 1)
    wide = (1, 3) + (1,) * (len(shape) - 2)
    w, b = (p.data.reshape(wide) for p in (layer.weight, layer.bias))
    mean, var = np.zeros(3), np.ones(3)
    for _ in range(3):
        x = draw.normal(2.0, 3.0, size=shape)
        m, v = x.mean(axis=axes), x.var(axis=axes)
        expected = (x - m.reshape(wide)) / np.sqrt(v.reshape(wide) + 1e-3) * w + b
        np.testing.assert_allclose(layer(Tensor(x)).data, expected, rtol=1e-12, atol=1e-12)
        mean = 0.7 * mean + 0.3 * m
        var = 0.7 * var + 0.3 * x.var(axis=axes, ddof=1)
    np.testing.assert_allclose(layer.running_mean, mean)
    np.testing.assert_allclose(layer.running_var, var)
    layer.eval()
    expected = (x - mean.reshape(wide)) / np.sqrt(var.reshape(wide) + 1e-3) * w + b
    np.testing.assert_allclose(layer(x).data, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(layer.running_mean, mean)


def test_batch_normalization_gives_a_gradient_through_mean_and_variance():
    layer, x = BatchNorm(2), draw.normal(size=(5, 2))
    weights, h = draw.normal(size=(5, 2)), 1e-6
    t = Tensor(x)
    (layer(t) * weights).sum().backward()
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = h
        slope = ((layer(x + step).data - layer(x - step).data) * weights).sum() / (2 * h)
        assert t.grad[index] == pytest.approx(slope, abs=1e-6)


def test_batch_normalization_is_part_of_the_state():
    layer, twin = BatchNorm(2), BatchNorm(2)
    layer(draw.normal(size=(5, 2)))
    twin.load_state_dict(layer.state_dict())
    assert list(layer.state_dict()) == ["weight", "bias", "running_mean", "running_var"]
    assert np.array_equal(twin.running_var, layer.running_var)
    assert not np.shares_memory(twin.running_var, layer.running_var)
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]


def test_layer_normalization_is_per_example():
    layer = LayerNorm(4, epsilon=1e-3)
    layer.weight.data = [1.0, 2.0, 3.0, 4.0]
    x = draw.normal(size=(2, 3, 4))
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    expected = (x - mean) / np.sqrt(var + 1e-3) * layer.weight.data
    np.testing.assert_allclose(layer(x).data, expected, rtol=1e-12)


@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_dropout_keeps_the_mean_and_is_fixed_by_its_seed(mode):
    layers = [Dropout(0.25, mode=mode, rng=rng) for rng in (1, random.Random(1))]
    x = [1.0] * 4000
    first, second = (np.array(layer(x)) for layer in layers)
    assert np.array_equal(first, second)
    assert set(first.tolist()) == {0.0, 1.0 / 0.75}
    assert first.mean() == pytest.approx(1.0, abs=0.05)
    assert not np.array_equal(layers[0](x), first)
    assert np.array_equal(layers[0].eval()(x), x)


def test_dropout_sends_gradient_where_it_let_numbers_through():
    x = Tensor(np.full(50, 3.0))
    y = Dropout(0.5, rng=1)(x)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad * 3.0, y.data)


def test_embedding_adds_the_gradients_of_what_was_looked_up_twice():
    layer = Embedding(4, 2, rng=1)
    y = layer(Tensor(np.array([[1, 3], [1, 1]])))
    assert np.array_equal(y.data, layer.weight.data[[[1, 3], [1, 1]]])
    y.sum().backward()
    assert layer.weight.grad.tolist() == [[0, 0], [3, 3], [0, 0], [1, 1]]


def test_inputs_are_checked():
    with pytest.raises(ArgumentTypeError, match="whole numbers"):
        Embedding(3, 2)([0.5])
    for index in (-1, 3):
        with pytest.raises(ArgumentValueError, match=r"0 to 2"):
            Embedding(3, 2)([index])
    with pytest.raises(ShapeError, match="channels"):
        Conv2d(3, 1, 2)(np.zeros((1, 2, 4, 4)))
    with pytest.raises(ShapeError, match=r"\(N, 3, …\)"):
        BatchNorm(3)(np.zeros((5, 4)))
    with pytest.raises(ArgumentValueError, match="larger batch"):
        BatchNorm(3)(np.zeros((1, 3)))
    with pytest.raises(ShapeError, match=r"\(…, 3\)"):
        LayerNorm(3)(np.zeros((5, 4)))


def test_a_batch_of_one_example_has_no_variance_and_the_error_says_what_to_do():
    layer = BatchNorm(3)
    before = layer.state_dict()
    for shape, what in (((1, 3), "only one number"), ((0, 3), "no number"), ((1, 3, 1, 1), "only")):
        with pytest.raises(ArgumentValueError, match=rf"training: x of .* {what}.*drop_last=True"):
            layer(np.zeros(shape))
    for name, numbers in layer.state_dict().items():
        np.testing.assert_array_equal(numbers, before[name])
    assert layer(np.zeros((1, 3, 2, 1))).shape == (1, 3, 2, 1)  # two pixels will do
    layer.eval()
    assert layer(np.zeros((1, 3))).shape == (1, 3)


def test_drop_last_keeps_a_short_last_batch_from_a_training_with_batch_norm():
    points, labels = moons(9, rng=1, as_array=True)
    model = Sequential(Linear(2, 4, rng=1), BatchNorm(4), "tanh", Linear(4, 1, rng=2))
    with pytest.raises(ArgumentValueError, match=r"\(1, 4\).*drop_last=True"):
        fit(model, (points, labels), "bce", SGD(0.1), 1, batch_size=4, progress=False)
    data = batches(points, labels, size=4, drop_last=True, rng=1)
    assert len(fit(model, data, "bce", SGD(0.1), 2, progress=False)) == 2

"""Each optimizer against its published formula, computed apart, on floats and on arrays."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad import Value
from minigrad.errors import ArgumentTypeError, ArgumentValueError, NumericalError, NumericalWarning
from minigrad.optim import SGD, Adam, AdamW, Momentum, Nesterov, Optimizer, RMSProp
from minigrad.tensor import Tensor

RATE, DECAY = 0.1, 0.3


# The closed forms: generators that are sent gradients and give positions, in plain Python, with
# sums written out where the class has a recursion.


def sgd(x, gradients, decay):
    for g in gradients:
        x = x - RATE * (g + decay * x)
        yield x


def momentum(x, gradients, decay, mu=0.9, ahead=False):
    seen = []
    for g in gradients:
        seen.append(g + decay * x)
        v = math.fsum(mu ** (len(seen) - 1 - i) * s for i, s in enumerate(seen))
        x = x - RATE * ((seen[-1] + mu * v) if ahead else v)
        yield x


def nesterov(x, gradients, decay):
    yield from momentum(x, gradients, decay, ahead=True)


def rmsprop(x, gradients, decay, rho=0.9, eps=1e-8):
    seen = []
    for g in gradients:
        seen.append(g + decay * x)
        v = math.fsum((1 - rho) * rho ** (len(seen) - 1 - i) * s * s for i, s in enumerate(seen))
        x = x - RATE * seen[-1] / (math.sqrt(v) + eps)
        yield x


def adam(x, gradients, decay, b1=0.9, b2=0.999, eps=1e-8, decoupled=False):
    seen = []
    for g in gradients:
        seen.append(g if decoupled else g + decay * x)
        n = len(seen)
        w1 = [b1 ** (n - 1 - i) for i in range(n)]  # 1 − β₁ⁿ = (1 − β₁) Σ β₁ⁱ: weighted means
        w2 = [b2 ** (n - 1 - i) for i in range(n)]
        m = math.fsum(w * s for w, s in zip(w1, seen, strict=True)) / math.fsum(w1)
        v = math.fsum(w * s * s for w, s in zip(w2, seen, strict=True)) / math.fsum(w2)
        x = x - RATE * m / (math.sqrt(v) + eps) - (RATE * decay * x if decoupled else 0.0)
        yield x


def adamw(x, gradients, decay):
    yield from adam(x, gradients, decay, decoupled=True)


FORMS = [
    (SGD, sgd), (Momentum, momentum), (Nesterov, nesterov), (RMSProp, rmsprop), (Adam, adam),
    (AdamW, adamw),
]  # fmt: skip
each = pytest.mark.parametrize(("kind", "form"), FORMS, ids=[k.__name__ for k, _ in FORMS])
numbers = st.floats(-10, 10).filter(lambda g: g == 0 or abs(g) > 1e-3)


@each
@given(start=numbers, gradients=st.lists(numbers, min_size=1, max_size=12), decay=st.booleans())
def test_every_step_is_the_published_formula(kind, form, start, gradients, decay):
    decay = DECAY if decay else 0.0
    w, ws = Value(start), Tensor([start, 1.0])
    optimizer = kind(RATE, [w], weight_decay=decay)
    of_arrays = kind(RATE, [ws], weight_decay=decay)
    for g, expected in zip(gradients, form(start, gradients, decay), strict=True):
        w.grad = g
        ws.grad = [g, 2.0]
        optimizer.step()
        of_arrays.step()
        assert w.data == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert ws.data[0] == pytest.approx(w.data, rel=1e-12, abs=1e-12)


@each
def test_float32_stays_float32(kind, form):
    w = Tensor(np.ones((2, 3), np.float32))
    optimizer = kind(RATE, [w], weight_decay=DECAY, clip_norm=1.0, clip_value=1.0)
    for _ in range(3):
        w.grad = np.full((2, 3), 0.5, np.float32)
        optimizer.step()
    assert w.data.dtype == np.float32
    kept = [x for s in optimizer._states.values() for x in s.values() if hasattr(x, "dtype")]
    assert all(x.dtype == np.float32 for x in kept)


@each
def test_gradients_and_recorded_graphs_are_left_as_they_are(kind, form):
    w = Tensor([1.0, 2.0])
    loss = (w * w).sum()
    optimizer = kind(RATE, [w])
    before = w._data
    for _ in range(3):
        w.zero_grad()
        loss.backward()
        gradient = w.grad.copy()
        optimizer.step()
        assert w.grad.tolist() == gradient.tolist() == [2.0, 4.0]
    assert before.tolist() == [1.0, 2.0]
    assert not np.shares_memory(w._data, w.grad)


@each
def test_a_tensor_without_axes_is_a_parameter(kind, form):
    w, v = Tensor(2.0), Value(2.0)
    a, b = kind(RATE, [w]), kind(RATE, [v])
    for _ in range(4):
        for p, optimizer in ((w, a), (v, b)):
            optimizer.zero_grad()
            (p * p * p).backward()
            optimizer.step()
    assert w.item() == pytest.approx(v.data, rel=1e-12)
    assert w.shape == ()


def test_adam_divides_by_its_bias_correction():
    """B123: ε is added after the corrected root."""
    theta = Value(0.0)
    optimizer = Adam(0.1, [theta])
    (theta * 2.0).backward()
    optimizer.step()
    assert theta.data == pytest.approx(-0.0999999995, abs=1e-12)


@pytest.mark.parametrize(("kind", "expected"), [(AdamW, 0.99), (Adam, 0.9), (SGD, 0.99)])
def test_weight_decay_is_in_the_gradient_or_beside_it(kind, expected):
    """B125."""
    w = Value(1.0)
    w.grad = 0.0
    kind(0.1, [w], weight_decay=0.1).step()
    assert w.data == pytest.approx(expected, abs=1e-8)


def test_momentum_and_adam_as_tensorflow_measured_them():
    for kind, steps, tolerance in (
        (Momentum, (0.8, 0.46, 0.062), 1e-12),
        (Adam, (0.9, 0.8004126, 0.7015873), 1e-5),
    ):
        a = Value(1.0)
        optimizer = kind(0.1)
        for expected in steps:
            optimizer.minimize(lambda a=a: a * a, [a])
            assert a.data == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (SGD, {"learning_rate": -1.0}), (SGD, {"learning_rate": math.nan}),
        (SGD, {"weight_decay": -0.1}), (SGD, {"clip_value": 0.0}), (SGD, {"clip_norm": -1.0}),
        (Momentum, {"momentum": 1.0}), (Nesterov, {"momentum": -0.1}), (RMSProp, {"rho": 1.5}),
        (RMSProp, {"epsilon": 0.0}), (Adam, {"beta_1": 1.0}), (Adam, {"beta_2": -1.0}),
        (AdamW, {"weight_decay": math.inf}),
    ],
)  # fmt: skip
def test_a_setting_that_makes_no_sense_is_refused_by_name(kind, options):
    (name,) = options
    with pytest.raises(ArgumentValueError, match=name):
        kind(**options)


def test_a_learning_rate_that_is_no_number_is_refused():
    with pytest.raises(ArgumentTypeError, match="learning_rate"):
        SGD(learning_rate="fast")


def test_the_base_class_has_no_formula():
    w = Value(1.0)
    w.grad = 1.0
    with pytest.raises(NotImplementedError, match="change"):
        Optimizer(0.1, [w]).step()


SCALED = pytest.mark.parametrize("kind", [RMSProp, Adam, AdamW])


def parameters(dtype):
    """A parameter whose step leaves the floats, and one with an ordinary gradient."""
    if dtype is float:
        return Value(1.0, name="big"), Value(1.0, name="other")
    return (Tensor(np.ones(2, dtype), name=name) for name in ("big", "other"))


@SCALED
@pytest.mark.parametrize(
    ("dtype", "gradient"),
    [(float, 1e200), (np.float64, -1e200), (np.float32, 1e30), (np.float16, 1e3),
        (np.float16, 1e-5)],
)  # fmt: skip
def test_a_square_that_leaves_the_floats_is_told_and_does_not_stop_the_learning(
    kind, dtype, gradient
):
    big, other = parameters(dtype)
    optimizer = kind(RATE, [big, other])
    big.grad, other.grad = gradient, 0.5
    with pytest.warns(NumericalWarning, match=rf"^{kind.__name__} has no step for big, .* reaches"):
        optimizer.step()
    assert np.all(np.asarray(big.data) == 1.0)
    assert np.all(np.asarray(other.data) < 1.0)
    big.grad = 0.5
    optimizer.step()
    assert np.all(np.asarray(big.data) < 1.0)  # its state is as before
    assert np.isfinite(np.asarray(big.data)).all()


@SCALED
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_under_raise_no_parameter_is_changed(kind, dtype):
    other, big = parameters(dtype)
    optimizer = kind(RATE, [other, big])
    other.grad, big.grad = 0.5, 1e30 if dtype is np.float32 else 1e200
    with mg.errstate("raise"), pytest.raises(NumericalError, match=kind.__name__):
        optimizer.step()
    assert np.all(np.asarray(other.data) == 1.0)
    with mg.errstate("ignore"):
        optimizer.step()
    assert np.all(np.asarray(big.data) == 1.0)
    assert np.all(np.asarray(other.data) < 1.0)

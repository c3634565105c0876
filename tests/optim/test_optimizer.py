"""What all optimizers do around their formula: which parameters, which gradients, how much."""

import copy
import math
import warnings

import numpy as np
import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    MissingGradientWarning,
    NumericalError,
    NumericalWarning,
    ShapeError,
)
from minigrad.optim import SGD, Adam, AdamW, Momentum, Nesterov, RMSProp
from minigrad.tensor import Tensor

KINDS = [SGD, Momentum, Nesterov, RMSProp, Adam, AdamW]
each = pytest.mark.parametrize("kind", KINDS)
MAKE = {"scalar": Value, "array": lambda x: Tensor([x, x])}
both_modes = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)


def total(x):
    return x.sum() if hasattr(x, "shape") else x


# -- which parameters ------------------------------------------------------------------------------


@each
def test_a_parameter_listed_twice_is_updated_once(kind):
    """B121."""
    w, alone = Value(1.0), Value(1.0)
    for p, params in ((w, [w, w]), (alone, [alone])):
        optimizer = kind(0.1, params)
        for _ in range(3):
            optimizer.zero_grad()
            (p * 2.0).backward()
            optimizer.step()
    assert w.data == alone.data


@each
@both_modes
def test_no_gradient_means_no_step_and_no_state(kind, make):
    """B127: a parameter without gradient is left alone, and catches up from where it was."""
    w, unused, alone = make(1.0), make(1.0), make(1.0)
    optimizer = kind(0.1, [w, unused])
    optimizer.zero_grad()
    with pytest.warns(MissingGradientWarning, match=r"zero_grad\(\), loss\.backward\(\), step\(\)"):
        optimizer.step()
    for _ in range(5):
        optimizer.zero_grad()
        total(w * w).backward()
        optimizer.step()
    assert np.all(unused.data == 1.0)
    assert optimizer.iterations == 5
    optimizer.zero_grad()
    total(unused * unused).backward()
    optimizer.step()
    first = kind(0.1, [alone])
    total(alone * alone).backward()
    first.step()
    assert np.all(unused.data == alone.data)


@each
@both_modes
def test_a_step_without_any_gradient_is_said_once_for_a_line(kind, make):
    w, unused = make(1.0), make(1.0)
    optimizer = kind(0.1, [w, unused])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            total(w * w).backward()
            optimizer.zero_grad()  # after backward(): the step finds nothing
            optimizer.step()
    assert [c.category for c in caught] == [MissingGradientWarning]
    assert np.all(w.data == 1.0)
    assert optimizer.iterations == 0
    total(w * w).backward()
    optimizer.step()  # one of them has a gradient: nothing to say of the other
    assert optimizer.iterations == 1


def test_params_may_be_a_model_a_node_or_a_generator():
    w = Value(1.0)

    class Model:
        def parameters(self):
            return [w]

    for params in (Model(), w, (p for p in [w])):
        assert SGD(0.1, params).params == [w]


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ([], ArgumentValueError, "no parameters"),
        (3.0, ArgumentTypeError, "list of Values"),
        ([1.0], ArgumentTypeError, "not a Value"),
        ([Value(1.0) * 2.0], ArgumentTypeError, "computed by mul"),
        ([Tensor(np.arange(3))], ArgumentTypeError, "int64"),
    ],
)
def test_what_cannot_be_updated_is_refused(params, error, words):
    with pytest.raises(error, match=words):
        SGD(0.1, params)


def test_step_without_parameters_says_how_to_give_some():
    for method in ("step", "zero_grad"):
        with pytest.raises(ArgumentValueError, match=r"params=model\.parameters\(\)"):
            getattr(SGD(0.1), method)()


# -- nan -------------------------------------------------------------------------------------------


@each
@both_modes
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_is_named_and_not_used(kind, make, bad):
    w, good = make(1.0), make(1.0)
    w.name = "layers.0.weight"
    optimizer = kind(0.1, [w, good])
    w.grad, good.grad = bad, 1.0
    with pytest.warns(NumericalWarning, match=r"layers\.0\.weight is (nan|-?inf)"):
        optimizer.step()
    assert np.all(w.data == 1.0)
    assert np.all(good.data != 1.0)
    assert w not in optimizer._states


def test_errstate_decides_about_nan():
    w, good = Value(1.0, name="w"), Value(1.0)
    optimizer = SGD(0.1, [good, w])
    w.grad, good.grad = math.nan, 1.0
    with mg.errstate("raise"), pytest.raises(NumericalError, match="w is nan"):
        optimizer.step()
    assert (w.data, good.data, optimizer.iterations) == (1.0, 1.0, 0)
    with mg.errstate("ignore"):
        optimizer.step()
    assert (w.data, good.data) == (1.0, 0.9)


def test_huge_gradients_are_finite():
    w = Tensor([1.0, 1.0])
    w.grad = [1e200, -1e200]
    SGD(1e-200, [w]).step()
    assert w.data.tolist() == [0.0, 2.0]


# -- clipping and schedules ------------------------------------------------------------------------


def test_clipping_by_value_and_by_norm():
    a, b = Value(0.0), Tensor([0.0, 0.0])
    for options, expected in (
        ({"clip_value": 1.0}, (-1.0, [-1.0, 1.0])),
        ({"clip_norm": 1.0}, (-12 / 13, [-4 / 13, 3 / 13])),
        ({"clip_norm": 100.0}, (-12.0, [-4.0, 3.0])),
        ({"clip_value": 3.0, "clip_norm": 3.0}, (-9 / 27**0.5, [-9 / 27**0.5, 9 / 27**0.5])),
    ):
        a.data, b.data = 0.0, [0.0, 0.0]
        a.grad, b.grad = 12.0, [4.0, -3.0]
        SGD(1.0, [a, b], **options).step()
        assert a.data == pytest.approx(expected[0])
        assert b.data.tolist() == pytest.approx(expected[1])


def test_a_nan_does_not_spread_through_the_norm():
    w, good = Value(1.0), Value(0.0)
    w.grad, good.grad = math.nan, 3.0
    with pytest.warns(NumericalWarning):
        SGD(1.0, [w, good], clip_norm=1.0).step()
    assert good.data == -1.0


@pytest.mark.parametrize(
    "rate", [lambda step: 0.5**step, lambda step, scale=1.0: scale * 0.5**step]
)
def test_a_learning_rate_may_be_a_function_of_the_step(rate):
    w = Value(0.0)
    optimizer = SGD(rate, [w])
    for expected in (-1.0, -1.5, -1.75):
        w.grad = 1.0
        optimizer.step()
        assert w.data == expected


def test_a_learning_rate_may_be_a_function_of_nothing_or_be_changed():
    a = Value(1.0)
    optimizer = SGD(lambda: 0.25)
    optimizer.minimize(lambda: a * a, [a])
    assert a.data == 0.5
    optimizer.learning_rate = 0.5
    optimizer.minimize(a * a, [a])
    assert a.data == 0.0


def test_a_schedule_that_goes_wrong_is_named():
    w = Value(0.0)
    w.grad = 1.0
    with pytest.raises(ArgumentValueError, match=r"learning_rate\(0\)"):
        SGD(lambda step: -1.0, [w]).step()
    with pytest.raises(ArgumentTypeError, match="learning_rate"):
        SGD(lambda a, b: 1.0, [w]).step()


# -- minimize --------------------------------------------------------------------------------------


def test_one_sgd_step_of_two_variables_with_a_counter():
    v, w, counter = Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), Value(0)
    loss = (5.0 * v + 3.0 * w).sum()
    SGD(3.0).minimize(loss, [v, w], global_step=counter)
    assert (v.data.tolist(), w.data.tolist()) == ([-14.0, -13.0], [-6.0, -5.0])
    assert counter.data == 1.0


def test_linear_regression_from_an_exact_start():
    x = Tensor([-1.0, 0.0, 1.0, 2.0])
    y = 3.0 * x.data + 2.0
    w, b = Tensor(5.0), Tensor(10.0)

    def loss():
        return ((w * x + b - y) ** 2).mean()

    optimizer = SGD(0.1)
    assert [g.item() for g, _ in optimizer.compute_gradients(loss, [w, b])] == [14.0, 18.0]
    for expected in ((3.6, 8.2, 42.7), (2.8, 6.9, 23.09), (2.37, 5.94, 13.63675)):
        optimizer.minimize(loss, [w, b])
        assert (w.item(), b.item(), loss().item()) == pytest.approx(expected, abs=1e-4)


def test_a_loss_of_several_elements_is_summed():
    a = Tensor([1.0, 2.0])
    SGD(0.1).minimize(a * a, [a])
    assert a.data.tolist() == pytest.approx([0.8, 1.6])


def test_some_gradients_may_be_missing():
    a, b = Tensor([1.0, 2.0]), Tensor([1.0])
    loss = 5.0 * a
    (g, _), (none, _) = SGD(1.0).compute_gradients(loss, [a, b])
    assert (g.tolist(), none) == ([5.0, 5.0], None)
    SGD(1.0).minimize(loss, [a, b])
    assert (a.data.tolist(), b.data.tolist()) == ([-4.0, -3.0], [1.0])


@both_modes
def test_minimize_reads_and_writes_no_grad(make):
    w, unused = make(1.0), make(2.0)
    w.grad = unused.grad = 7.0
    loss = SGD(0.1, [w, unused]).minimize(total(w * w * unused), [w])
    assert np.all(w.grad == 7.0)
    assert np.all(unused.grad == 7.0)
    assert np.all(unused.data == 2.0)
    assert w.data == pytest.approx(0.6)
    assert loss.grad is None


def test_grad_loss_is_the_start_of_the_pass():
    a = Tensor([1.0, 2.0])
    ((g, _),) = SGD().compute_gradients(a * a, [a], grad_loss=[10.0, 0.0])
    assert g.tolist() == [20.0, 0.0]


def test_minimize_without_variables_or_gradients_is_an_error():
    a, b = Value(1.0), Value(1.0)
    with pytest.raises(ArgumentValueError, match="no variables"):
        SGD().minimize(a * a)
    with pytest.raises(ArgumentValueError, match="no gradients"):
        SGD().minimize(a * a, [b])
    with pytest.raises(ArgumentTypeError, match=r"3\.0"):
        SGD().minimize(3.0, [a])


def test_apply_gradients():
    a, b = Value(1.0, name="a"), Tensor([1.0, 1.0])
    SGD(0.5).apply_gradients((g, p) for g, p in [(4.0, a), (None, b)])
    assert (a.data, b.data.tolist()) == (-1.0, [1.0, 1.0])
    SGD(0.5).apply_gradients([(4.0, b), (None, a)])
    assert b.data.tolist() == [-1.0, -1.0]
    with pytest.raises(ArgumentValueError, match="no gradients"):
        SGD().apply_gradients([])
    with pytest.raises(ArgumentValueError, match=r"no gradients .*a"):
        SGD().apply_gradients([(None, a)])
    with pytest.raises(ArgumentValueError, match="a has two gradients"):
        SGD().apply_gradients([(1.0, a), (2.0, a)])
    with pytest.raises(ShapeError, match=r"\(3,\)"):
        SGD().apply_gradients([([1.0, 2.0, 3.0], b)])
    with pytest.raises(ArgumentTypeError):
        SGD().apply_gradients([("x", a)])
    with pytest.raises(ArgumentTypeError, match="global_step"):
        SGD().apply_gradients([(1.0, a)], 3)
    assert a.data == -1.0


def test_a_gradient_that_is_a_node_counts_as_its_numbers():
    w = Value(1.0)
    (w**3).backward(create_graph=True)
    SGD(0.1, [w]).step()
    assert w.data == pytest.approx(0.7)


@each
def test_a_copy_goes_on_where_the_original_was(kind):
    w = Value(1.0)
    optimizer = kind(0.1, [w])
    for _ in range(3):
        optimizer.zero_grad()
        (w * w).backward()
        optimizer.step()
    twin = copy.deepcopy(optimizer)
    (p,) = twin.params
    for q, o in ((w, optimizer), (p, twin)):
        o.zero_grad()
        (q * q).backward()
        o.step()
    assert p is not w
    assert p.data == w.data


@each
def test_descent_reaches_the_minimum(kind):
    a, b = Value(2.0), Tensor([-1.0, 3.0])
    optimizer = kind(0.05, [a, b])
    for _ in range(400):
        loss = (b - a).square().sum() + 0.1 * (a - 1.0) ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-2


def test_no_warning_in_the_ordinary_case():
    w = Tensor([0.0, 1e-320, 1e150])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in KINDS:
            w.grad = [0.0, 1e-300, 1e140]
            kind(0.1, [w]).step()


def test_repr():
    assert repr(Adam(0.1, [Value(1.0)])) == "Adam(learning_rate=0.1, 1 parameters)"


def test_a_formula_of_another_shape_does_not_change_the_parameter():
    class Wrong(SGD):
        def change(self, x, gradient, state, rate):
            return np.ones((3, 2))

    w = Tensor([1.0, 2.0])
    w.grad = [1.0, 1.0]
    with pytest.raises(ShapeError):
        Wrong(0.1, [w]).step()
    assert w.data.tolist() == [1.0, 2.0]


# -- as other libraries have it --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda w: SGD([w], 0.1), "the learning rate comes first"),
        (lambda w: SGD(w, 0.1), "the learning rate comes first"),
        (lambda w: SGD(mg.nn.Linear(1, 1, mode="scalar")), "the learning rate comes first"),
        (lambda w: SGD(lr=0.1, params=[w]), r"no argument lr=; it is called learning_rate="),
        (lambda w: SGD(0.1, [w], momentum=0.9), r"mg\.optim\.Momentum"),
        (lambda w: Adam(0.1, [w], betas=(0.9, 0.999)), "beta_1= and beta_2="),
        (lambda w: SGD(0.1, [w], dampening=0.1), "there are learning_rate, params"),
        (lambda w: SGD(True, [w]), "True is not a number"),
        (lambda w: SGD(0.1, mg.nn.MLP), "MLP is a class; call it"),
        (lambda w: SGD(0.1).apply_gradients([1.0, w]), "takes pairs"),
        (lambda w: SGD(0.1).apply_gradients(None), "takes pairs"),
    ],
)  # fmt: skip
def test_arguments_as_other_libraries_have_them_are_refused_with_ours(make, words):
    with pytest.raises(ArgumentTypeError, match=words):
        make(Value(1.0))


def test_a_rule_that_returns_nothing_says_what_it_returns():
    class Forgetful(mg.optim.Optimizer):
        def change(self, x, gradient, state, rate):
            rate * gradient

    w = mg.Value(1.0)
    (w * 2.0).backward()
    with pytest.raises(ArgumentTypeError, match=r"Forgetful\.change returned None"):
        Forgetful(0.1, [w]).step()
    assert w.data == 1.0

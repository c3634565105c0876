"""Faults that trials with hostile input found, each with the law that it broke."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, Value
from minigrad.errors import (
    ArgumentTypeError,
    MissingGradientWarning,
    NumericalError,
    OperationError,
    PicklingError,
    ShapeError,
)
from minigrad.events import load, verify

TABLE = np.array([[1.0, -2.0], [3.0, 4.0]])


# -- whole numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [np.int64(3), np.array(3), np.uint8(3), np.float32(3.0)])
def test_grad_by_a_whole_number_is_that_of_the_real_function(x):
    assert mg.grad(lambda x: x**2)(x) == 6.0
    assert mg.value_and_grad(lambda x: x * x)(x) == (9.0, 6.0)


def test_grad_by_an_array_of_whole_numbers():
    gradient = mg.grad(lambda x: (x**2).sum())(np.array([1, 2]))
    assert gradient.tolist() == [2.0, 4.0]
    with pytest.warns(MissingGradientWarning, match="int64"):
        mg.grad(lambda x: (x**2.0).sum())(Tensor(np.array([1, 2])))


@pytest.mark.parametrize("function", [mg.norm, mg.logsumexp, mg.tanh, mg.exp])
def test_whole_numbers_get_no_gradient_from_any_function(function):
    x = Tensor(np.array([1, 2]))
    mg.sum(function(x) * 10.0).backward()
    assert x._grad is None
    assert mg.trace(function(x)).nodes[0].value.dtype == np.int64


# -- warnings in second order ----------------------------------------------------------------------


def test_a_nan_that_arises_is_reported_when_gradients_are_nodes_too():
    def steep(x):
        return mg.sqrt(x * x).sum()

    for as_nodes in (False, True):
        with pytest.raises(NumericalError, match="sqrt"), mg.errstate("raise"):
            steep(Tensor([0.0, 1.0])).backward(create_graph=as_nodes)


# -- Values in functions of arrays -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda v: mg.mean(v), 1.0),
        (lambda v: mg.max(v), 1.0),
        (lambda v: mg.norm(v), 1.0),
        (lambda v: mg.prod(v), 1.0),
        (lambda v: mg.var(v), 0.0),
        (lambda v: mg.logsumexp(v), 1.0),
        (lambda v: mg.cumsum(v).sum(), 1.0),
        (lambda v: mg.reshape(v, (1, 1)).sum(), 1.0),
        (lambda v: mg.broadcast_to(v, (2, 3)).sum(), 6.0),
        (lambda v: mg.expand_dims(v, 0).sum(), 1.0),
        (lambda v: mg.outer(v, v).sum(), 6.0),
        (lambda v: mg.stack([v, v * v]).sum(), 7.0),
        (lambda v: mg.at_set(Tensor([1.0, 2.0]), 0, v).sum(), 1.0),
    ],
)
def test_the_gradient_of_an_array_function_reaches_a_value(function, slope):
    v = Value(3.0)
    function(v).backward()
    assert v.grad == pytest.approx(slope)


def test_a_product_of_values_is_refused_in_our_words():
    with pytest.raises(ShapeError, match="cannot multiply x of shape"):
        np.matmul(Value(0.5), Value(0.5))


# -- digits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1.0, 1e3, 1e8, 1e16])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_gradient_of_logsumexp_adds_up_to_1(size, dtype):
    x = Tensor(np.full(2, size, dtype))
    mg.logsumexp(x).backward()
    assert x.grad.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("numbers", "slopes"),
    [
        ([1e-200, 1e-200, 1e200], [1.0, 1.0, 0.0]),
        ([1e-200, 1e-200], [1e-200, 1e-200]),
        ([1e200, 1e200, 1e-300], [1e-100, 1e-100, np.inf]),
        ([np.inf, 2.0], [2.0, np.inf]),
    ],
)
def test_a_product_that_leaves_the_floats_has_the_slopes_of_its_factors(numbers, slopes):
    x = Tensor(numbers)
    with mg.errstate("ignore"):
        mg.prod(x).backward()
    np.testing.assert_allclose(x.grad, slopes, rtol=1e-14)


def test_a_running_product_that_underflows():
    x = Tensor([1e-200, 1e-200, 5.0])
    mg.cumprod(x).sum().backward()
    np.testing.assert_allclose(x.grad, [1.0, 6e-200, 0.0], rtol=1e-14)


@pytest.mark.parametrize("ddof", [3, 4])
def test_no_variance_of_too_few_numbers(ddof):
    x = Tensor([1.0, 2.0, 3.0])
    with mg.errstate("ignore"):
        out = mg.var(x, ddof=ddof)
        out.backward()
    assert np.isnan(out.data)
    assert np.isnan(x.grad).all()


# -- nothing, element by element -------------------------------------------------------------------


def test_elements_that_nobody_takes_send_nothing():
    with mg.errstate("ignore"):
        x = Tensor([0.0, 1.0, 2.0])
        y = mg.where(x.data > 0, mg.log(x), 0.0)
        mg.sum(mg.expand(y)).backward()
        np.testing.assert_array_equal(x.grad, [0.0, 1.0, 0.5])
        values = [Value(-1.0), Value(4.0)]
        logs = mg.to_values(mg.log(mg.stack_values(values)))
        chosen = [mg.where(z > 0, q, 0.0) for z, q in zip(values, logs, strict=True)]
        (chosen[0] + chosen[1]).backward()
    assert [v.grad for v in values] == [0.0, 0.25]


# -- what is recorded, and what may be written to --------------------------------------------------


def test_a_read_only_view_of_an_array_that_changes_is_copied():
    numbers = np.array([1.0, 2.0])
    x = Tensor(np.ones((3, 2)))
    y = x * np.broadcast_to(numbers, (3, 2))
    numbers[:] = 9.0
    y.sum().backward()
    assert x.grad.tolist() == [[1.0, 2.0]] * 3


def test_add_at_does_not_write_through_data():
    x = Tensor([1.0, 2.0])
    with pytest.raises(ArgumentTypeError, match="read-only"):
        np.add.at(x.data, 0, 100.0)
    assert x.data.tolist() == [1.0, 2.0]


def test_the_data_of_an_array_without_axes_has_a_variance():
    assert Tensor(1.0).data.std() == np.var(Tensor(1.0).data) == 0.0


def test_complex_results_are_refused_in_both_modes():
    turned = mg.operation("turned", lambda m, x: x * 1j, [lambda out, x: 1.0])
    sloped = mg.operation("sloped", lambda m, x: x * 1.0, [lambda out, x: x * 1j])
    for x in (Value(1.0), Tensor([1.0]), Tensor(1.0)):
        with pytest.raises(ArgumentTypeError, match="complex"):
            turned(x)
        with pytest.raises((ArgumentTypeError, OperationError), match="complex"):
            sloped(x).backward()
        assert x.grad is None


def test_a_layer_refuses_complex_numbers():
    with pytest.raises(ArgumentTypeError, match="complex"):
        mg.nn.Linear(2, 1)(np.array([[1 + 2j, 3.0]]))


def test_a_leaf_with_a_node_as_gradient_says_what_lets_it_be_pickled():
    for w in (Value(1.5), Tensor([1.5])):
        mg.sum(w**2.0 if isinstance(w, Tensor) else [w**2.0]).backward(create_graph=True)
        with pytest.raises(PicklingError, match="zero_grad"):
            pickle.dumps(w)


# -- NumPy's calls ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda t: np.linalg.norm(t, 1),
        lambda t: np.sum(t, 0, np.float32),
        lambda t: np.mean(t, 0, np.float32),
        lambda t: np.prod(t, None, np.float32),
    ],
)
def test_options_by_position_mean_what_they_mean_in_numpy(call):
    with pytest.raises(ArgumentTypeError, match="is not recorded"):
        call(Tensor(TABLE))


def test_numpy_functions_take_an_axis_by_position():
    t = Tensor(TABLE)
    for function in (np.sum, np.mean, np.var, np.max, np.cumsum, np.argmax):
        np.testing.assert_allclose(np.asarray(function(t, 1).data), function(TABLE, 1))
    np.testing.assert_allclose(np.linalg.norm(t, None, 1).data, np.linalg.norm(TABLE, None, 1))


@pytest.mark.parametrize("axis", [1.0, True])
def test_an_axis_is_refused_whatever_was_called_before(axis):
    x = Tensor(TABLE)
    for function in (mg.mean, mg.sum, mg.softmax, mg.max):
        function(x, axis=1)
        with pytest.raises(ArgumentTypeError, match="axis"):
            function(x, axis=axis)


def test_empty_arrays_are_split_and_opened():
    [part] = mg.split(Tensor([]), 1)
    assert part.shape == (0,)
    assert mg.logsumexp(Tensor(1.0), axis=0).item() == 1.0
    for function in (mg.softmax, mg.log_softmax, mg.sort, lambda x: mg.cumprod(x, axis=1)):
        assert mg.expand(function(Tensor(np.zeros((0, 2))))) == []


# -- traces ----------------------------------------------------------------------------------------


def test_traces_of_extreme_numbers_and_names_are_saved(tmp_path):
    file = tmp_path / "trace.json"
    mg.trace(Tensor([1e308, 1e308]).max()).save(file)
    assert json.loads(file.read_text())["nodes"][0]["value"]["summary"]["mean"] == 1e308
    mg.trace(Value(1.0, name="\ud800") * 2.0).save(file)
    assert load(file)["nodes"][0]["name"] == "\ud800"


def test_a_parameter_that_changed_before_its_update_is_no_fault(tmp_path):
    x = Value(1.0, name="x")
    with mg.record() as made:
        loss = x * x
        loss.backward()
        x.data = 0.5
        mg.optim.SGD(0.1, [x]).step()
    file = tmp_path / "trace.json"
    made.trace(loss).save(file)
    report = verify(load(file))
    assert report.faults == ()
    assert any("changed between" in said for said in report.unchecked)


def test_recorders_that_overlap_leave_the_option_as_it_was():
    before = mg.options.sources

    def suspended():
        with mg.record():
            yield

    first = suspended()
    next(first)
    with mg.record():
        first.close()
        assert mg.options.sources
    assert mg.options.sources == before


def test_a_name_cannot_leave_a_formula():
    x = Value(1.0, name="a\n\n<script>")
    for y in (x * x, mg.sum(mg.stack_values([x, x]))):
        latex = mg.explain(y, x).latex
        assert "\n" not in latex


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize(("number", "count"), [(0.1, 3), (0.1, 7), (1.7, 7), (0.3, 10)])
def test_equal_numbers_have_no_deviation_although_their_mean_is_rounded(number, count, ddof):
    x = Tensor(np.full((2, count), number))
    out = mg.std(x, axis=1, ddof=ddof)
    out.sum().backward(create_graph=True)
    assert out.tolist() == [0.0, 0.0]
    assert x.grad.tolist() == [[0.0] * count] * 2
    assert mg.std(Tensor([np.inf, 1.0, 1.0, 1.0][1:])).item() == 0.0

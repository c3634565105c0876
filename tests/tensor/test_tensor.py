"""The rules of data, gradients, types, passes and errors."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import (
    ArgumentTypeError, DetachedWarning, GradientError, MissingGradientWarning, NumericalError,
    NumericalWarning, OperationError, PicklingError, RenamedError, ShapeError, StaleError,
)  # fmt: skip
from minigrad.tensor import ARRAY_FUNCTIONS, Tensor, expand, passes, stack_values, to_values

af = ARRAY_FUNCTIONS


def leaf(*shape: int, name: str | None = None) -> Tensor:
    return Tensor(np.random.default_rng(5).normal(size=shape), name=name)


# ---- what is accepted ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1, "float64"), (2.5, "float64"), (True, "float64"), ([1, 2], "float64"),
        ([[1, 2], [3, 4.5]], "float64"), ((1, 2), "float64"), (range(3), "float64"), ([], "float64"),
        (Fraction(1, 2), "float64"), (np.float32(1), "float32"), (np.int8(1), "int8"),
        (np.arange(3), "int64"), (np.array([True]), "bool"), (np.ones(2, np.float16), "float16"),
        ([np.float32(1), np.float32(2)], "float32"), ([np.ones(2, np.float32)] * 2, "float32"),
    ],
)  # fmt: skip
def test_accepted_data(data: Any, dtype: str) -> None:
    assert Tensor(data).dtype == dtype


@pytest.mark.parametrize(
    ("data", "fix"),
    [
        ("a", "float"), (None, "return"), (1j, "complex"), ([1j], "complex"), (["a"], "float"),
        (np.array([1j]), "real"), (np.array([object()]), "real numbers"), (Value(1.0), "stack_values"),
        ([Value(1.0)], "stack_values"), (Tensor(1.0), r"\.data"), ([Tensor(1.0)], r"\.data"),
        (np.array(["a"]), "real numbers"), ({1: 2}, "real number"),
    ],
)  # fmt: skip
def test_refused_data(data: Any, fix: str) -> None:
    with pytest.raises(TypeError, match=fix):
        Tensor(data)


def test_ragged_lists_and_unknown_words() -> None:
    with pytest.raises(ValueError, match="lengths"):
        Tensor([[1.0], [1.0, 2.0]])
    with pytest.raises(ArgumentTypeError, match="requires_grad"):
        Tensor([1.0], requires_grad=True)
    with pytest.raises(ArgumentTypeError, match="float32"):
        Tensor([1.0], dtype="text")


def test_data_is_copied() -> None:
    array = np.ones(3)
    x = Tensor(array)
    y = x * array
    array[:] = 7.0
    assert x.tolist() == [1.0, 1.0, 1.0]
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0], "the record keeps the array as it was"


# ---- data ---------------------------------------------------------------------------------------


def test_data_is_read_only_and_rebinds() -> None:
    x = Tensor([1.0, 2.0])
    held, y = x.data, x * x
    for write in (
        lambda: x.data.__setitem__(0, 9.0), lambda: np.add(x.data, 1.0, out=x.data),
        lambda: x.data.fill(0.0), lambda: x.data.sort(), lambda: x.__setitem__(0, 1.0),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"at_set|rebind"):
            write()
    x.data -= 0.5
    x.data *= 2
    assert x.tolist() == [1.0, 3.0]
    assert held.tolist() == [1.0, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0], "the graph keeps the numbers it was computed with"
    assert repr(held) == "array([1., 2.])"
    assert type(held + 1.0) is np.ndarray
    assert type(held.sum()) is np.float64
    own = held.copy()
    own[0] = 5.0
    assert held[0] == 1.0


def test_what_was_given_to_data_is_not_shared() -> None:
    x = Tensor([1.0, 2.0])
    new = np.array([3.0, 4.0])
    x.data = new
    new[0] = 9.0
    step = x.data
    step -= 1.0  # a plain name is bound to a new array, x is as it was
    assert x.tolist() == [3.0, 4.0]
    x.data = step
    assert x.tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match=r"\(3,\)"):
        x.data = np.ones(3)
    with pytest.raises(TypeError):
        x.data = "a"
    whole = Tensor(np.arange(2))
    with pytest.raises(TypeError, match="float"):
        whole.data = np.array([0.5, 1.5])


def test_types_do_not_widen() -> None:
    x = Tensor(np.ones((2, 3), np.float32))
    for out in (
        x * 2, 2.0 * x, x * np.float64(2.0), np.float64(2.0) * x, x + True, x * Value(2.0), x**2,
        x / 3, 1.0 - x, x.mean(), x.var(), x.std(ddof=1), x.norm(), x.logsumexp(axis=1),
        x.softmax(), x.clip(0.0, 0.5), x.leaky_relu(0.1), mg.where(x > 0, x, 0.0), mg.less(x, 1.0),
        x.pad(1), x.at_set(0, 1.0), x @ np.ones((3, 1), np.float32), mg.maximum(x, 0.0),
        x * np.array(2.0), x.isnan(),
    ):  # fmt: skip
        assert out.dtype == np.float32, out.op
    x.data = x.data - np.float64(0.1)
    x.data -= np.ones((2, 3))
    assert x.dtype == np.float32
    assert (x * np.ones(3)).dtype == np.float64, "a float64 array does widen, as in NumPy"


def test_whole_numbers_stay_and_carry_no_gradient() -> None:
    i = Tensor(np.array([1, 2, 3]))
    w = Tensor([1.0, 1.0, 1.0])
    assert (i + 1).dtype == (i * 2).dtype == (-i).dtype == np.int64
    assert (i * 0.5).dtype == np.float64
    (i * w).sum().backward()
    assert w.grad.tolist() == [1.0, 2.0, 3.0]
    with pytest.warns(MissingGradientWarning, match="astype"):
        assert i.grad is None
    with pytest.warns(MissingGradientWarning, match="astype"):
        i.sum().backward()
    f = i.astype(float)
    (f * f).sum().backward()
    assert w[i - 1].tolist() == [1.0, 1.0, 1.0], "an array of ints is an index"


# ---- gradients ----------------------------------------------------------------------------------


def test_leaves_accumulate_and_the_setter_takes_numbers_and_arrays() -> None:
    x = Tensor([1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]
    x.grad = 0.0
    assert x.grad.tolist() == [0.0, 0.0]
    x.grad = np.ones(2, np.float32)
    assert x.grad.dtype == np.float64
    x.grad = None
    assert x.grad is None
    for wrong, error in ((np.ones(3), ShapeError), ("a", ArgumentTypeError)):
        with pytest.raises(error):
            x.grad = wrong


def test_inner_gradients_are_kept_when_named_or_recorded() -> None:
    x = Tensor([1.0, 2.0])
    h = x * 2.0
    named = h + 1.0
    named.name = "h1"
    (named * named).sum().backward()
    assert h.grad is None
    assert named.grad.tolist() == [6.0, 10.0]
    with mg.record() as made:
        y = (x * 3.0).sum()
        y.backward()
    assert [node.grad.tolist() for node in made.nodes] == [[1.0, 1.0], 1.0]


def test_a_seed_is_needed_for_several_elements() -> None:
    y = leaf(2, 3, name="y")
    with pytest.raises(GradientError, match=r"y has shape \(2, 3\).*np\.ones\(\(2, 3\)\)"):
        y.backward()
    y.backward(2.0)
    y.backward(np.ones((2, 3), np.float32))
    assert y.grad.tolist() == [[3.0] * 3] * 2
    with pytest.raises(ShapeError, match="seed"):
        y.backward(np.ones(3))
    leaf(1, 1).backward()


def test_a_node_gradient_is_not_added_to() -> None:
    x = Tensor([1.0, 2.0])
    y = (x * x).sum()
    y.backward(create_graph=True)
    assert isinstance(x.grad, Tensor)
    with pytest.raises(GradientError, match="zero_grad"):
        y.backward()
    y.backward(create_graph=True)
    assert x.grad.tolist() == [4.0, 8.0]


def test_create_graph_over_a_changed_leaf_raises() -> None:
    x = Tensor([1.0, 2.0])
    y = (x * x).sum()
    x.data = [1.0, 2.0]
    y.backward(create_graph=True)
    x.data -= 1.0
    with pytest.raises(StaleError):
        y.backward(create_graph=True)


def test_an_exception_leaves_gradients_as_they_were() -> None:
    def fails(g: Any, out: Any, x: Any) -> Any:
        raise RuntimeError("no")

    from minigrad.ops.kinds import General

    row = General("fails_in_vjp", lambda m, x: x * 1.0, [fails])
    x = Tensor([1.0, 2.0])
    good, bad = (x * 2.0).sum(), Tensor._apply(row, (x,)).sum()
    good.backward()
    with pytest.raises(OperationError, match="fails_in_vjp"):
        (good + bad).backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_deep_graphs_need_no_recursion() -> None:
    x = y = Tensor([1.0])
    for _ in range(20_000):
        y = y + 1.0
    y.backward()
    assert x.grad.tolist() == [1.0]
    twin = copy.deepcopy(y)
    assert twin.tolist() == y.tolist()
    del y, twin


def test_first_order_graphs_make_no_cycles() -> None:
    def step() -> None:
        x = leaf(3, 3)
        (x @ x).tanh()[0].sum().backward()

    step()
    gc.collect()
    gc.disable()
    try:
        step()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_an_array_that_nobody_holds_is_not_copied() -> None:
    w = leaf(50, 40)
    (leaf(20, 50).data @ w).sum().backward()
    assert w.grad.base is None
    held = np.ones((50, 40))
    assert passes.own(held, held) is not held, "there is a name for it out here"
    seed = np.ones(3)
    x = Tensor([1.0, 2.0, 3.0])
    x.backward(seed)
    assert x.grad is not seed


def test_threads_share_leaves() -> None:
    w = Tensor(np.ones(5))

    def work() -> None:
        for _ in range(50):
            (w * w).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert w.grad.tolist() == [400.0] * 5


# ---- out of range -------------------------------------------------------------------------------


def test_what_is_not_finite_is_reported_where_it_arises() -> None:
    x = Tensor([0.0, 1.0])
    with pytest.warns(NumericalWarning, match=r"log.*1 of 2.*-inf") as seen:
        y = mg.log(x) * 2.0 + 1.0
    assert len(seen) == 1
    assert y.tolist() == [-np.inf, 1.0]
    with mg.errstate("raise"), pytest.raises(NumericalError, match="test_tensor"):
        1.0 / x
    with warnings.catch_warnings(), mg.errstate("ignore"):
        warnings.simplefilter("error")
        assert (1.0 / x).tolist() == [np.inf, 1.0]
        assert np.isnan(mg.log(x - 1.0).tolist()[0])


def test_an_honest_nan_names_its_two_factors() -> None:
    x = Tensor([1000.0])
    with mg.errstate("ignore"):
        y = mg.log(1.0 + mg.exp(x)).sum()
    with pytest.warns(NumericalWarning, match=r"upstream 0\.0 × local inf is nan"):
        y.backward()
    assert np.isnan(x.grad).all()


def test_outside_the_domain_the_gradient_is_nan_too() -> None:
    x = Tensor([-1.0, 1.0])
    with mg.errstate("ignore"):
        mg.log(x).sum().backward()
    assert np.isnan(x.grad[0])
    assert x.grad[1] == 1.0


def test_large_arguments_do_not_overflow() -> None:
    x = Tensor([1000.0, -1000.0])
    for y in (x.sigmoid(), x.softplus(), x.tanh(), x.logsumexp(), x.softmax(), x.log_softmax(),
              x.cross_entropy(1), x.bce_with_logits(np.array([0.0, 1.0])), x.norm(), x.silu()):  # fmt: skip
        assert np.isfinite(y.data).all()
        y.sum().backward()
    assert np.isfinite(x.grad).all()
    assert Tensor([1e200, 1e200]).norm().item() == pytest.approx(2**0.5 * 1e200)
    assert Tensor([1e-200, 1e-200]).norm().item() == pytest.approx(2**0.5 * 1e-200)


def test_conventions_at_kinks() -> None:
    def slope(function: Any, *data: float) -> Any:
        x = Tensor(list(data))
        function(x).sum().backward()
        return x.grad.tolist()

    assert slope(lambda x: x.relu(), 0.0) == [0.0]
    assert slope(abs, 0.0) == [0.0]
    assert slope(lambda x: x.std(), 2.0, 2.0) == [0.0, 0.0]
    assert slope(lambda x: x.norm(), 0.0) == [0.0]
    assert slope(lambda x: x.max(), 1.0, 3.0, 3.0) == [0.0, 0.5, 0.5]
    assert slope(lambda x: x.clip(0.0, 1.0), 0.0, 1.0) == [1.0, 1.0]
    assert slope(lambda x: x.prod(), 0.0, 0.0, 3.0) == [0.0, 0.0, 0.0]
    assert slope(lambda x: x.prod(), 0.0, 2.0, 3.0) == [6.0, 0.0, 0.0]
    assert slope(lambda x: mg.maximum(x, 1.0), 1.0) == [0.5]
    assert slope(lambda x: x**0, 0.0) == [0.0]
    window = Tensor(np.ones((1, 1, 2, 2)))
    window.max_pool2d(2).sum().backward()
    assert window.grad.ravel().tolist() == [0.25] * 4


# ---- where --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "expected", "second"),
    [
        (lambda x: mg.where(x > 0, mg.log(x), 0.0), [0.0, 0.5], [0.0, -0.25]),
        (lambda x: mg.where(x > 0, mg.sqrt(x), x), [1.0, 2.0**-0.5 / 2], [0.0, -(2.0**-1.5) / 4]),
        (lambda x: mg.where(x > 0, mg.log(x.reshape(1, 2))[0], 0.0), [0.0, 0.5], [0.0, -0.25]),
        (lambda x: mg.where(x > 0, mg.log(x * 1.0) + mg.log(x[:]), 0.0), [0.0, 1.0], [0.0, -0.5]),
        (lambda x: mg.where(x > 0, mg.where(x > 0, 1.0 / x, 1.0), 5.0), [0.0, -0.25], [0.0, 0.25]),
    ],
)  # fmt: skip
def test_nothing_stays_nothing_element_by_element(
    function: Any, expected: Any, second: Any
) -> None:
    x = Tensor([0.0, 2.0])
    with mg.errstate("ignore"):
        y = function(x).sum()
    y.backward()
    np.testing.assert_allclose(x.grad, expected)
    x.zero_grad()
    y.backward(create_graph=True)
    slopes = x.grad
    np.testing.assert_allclose(slopes.data, expected)
    x.zero_grad()
    slopes.sum().backward()
    np.testing.assert_allclose(x.grad, second, atol=1e-15)


def test_where_broadcasts_and_reaches_both_branches() -> None:
    a, b = Tensor([[1.0], [2.0]]), Tensor([10.0, 20.0, 30.0])
    mg.where(np.array([[True, False, True], [False, False, True]]), a, b).sum().backward()
    assert a.grad.tolist() == [[2.0], [1.0]]
    assert b.grad.tolist() == [1.0, 2.0, 0.0]
    a.zero_grad()
    mg.where(False, a, b).sum().backward()
    assert a.grad.tolist() == [[0.0], [0.0]]


# ---- Python's protocols -------------------------------------------------------------------------


def test_conversions() -> None:
    x = Tensor([[1.5, 2.5]], name="x")
    assert (x.shape, x.ndim, x.size, len(x), x.T.shape) == ((1, 2), 2, 2, 1, (2, 1))
    assert [row.tolist() for row in x] == [[1.5, 2.5]]
    assert 2.5 in x
    with pytest.raises(TypeError, match=r"tolist"):
        x.item()
    with pytest.raises(TypeError, match=r"where"):
        bool(x)
    with pytest.warns(DetachedWarning):
        assert float(x.sum()) == 4.0
    assert f"{x.sum():.1f}" == "4.0"
    assert repr(x) == "Tensor([[1.5, 2.5]], name='x', grad=·)"
    assert repr(Tensor(np.ones(2, np.float32))) == "Tensor([1., 1.], dtype=float32, grad=·)"
    with pytest.raises(TypeError, match="length"):
        len(x.sum())
    with pytest.raises(RenamedError, match=r"\.inputs"):
        x._prev


def test_copies_and_pickles() -> None:
    x = Tensor([1.0, 2.0], name="x")
    y = (x * x).sum()
    y.backward()
    twin = pickle.loads(pickle.dumps(x))
    assert twin.tolist() == x.tolist()
    assert twin.grad.tolist() == x.grad.tolist()
    with pytest.raises(PicklingError, match="detach"):
        pickle.dumps(y)
    assert y.detach().op is None
    x2, y2 = copy.deepcopy((x, y))
    assert not np.shares_memory(x2.grad, x.grad)
    y2.backward()
    assert x2.grad.tolist() == [4.0, 8.0]
    assert x.grad.tolist() == [2.0, 4.0]


def test_constants_are_shown_but_are_no_nodes_of_the_graph() -> None:
    w = Tensor([1.0, 2.0])
    y = w * np.array([3.0, 4.0]) + 1.0
    assert [type(x).__name__ for x in y.inputs] == ["Tensor", "Constant"]
    assert [type(x).__name__ for x in y.inputs[0].inputs] == ["Tensor", "ArrayConstant"]
    assert mg.topological_order(y) == [w, y.inputs[0], y]


# ---- shapes that do not fit ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x, w: x * w, r"x \* w cannot broadcast \(3, 4\) with \(3,\): the last axes, 4 and 3, "
         r"differ\. w\[\.\.\., None\] has shape \(3, 1\) and would broadcast\."),
        (lambda x, w: x @ w, r"\(3, 4\).*\(3,\).*4.*3.*x\.T"),
        (lambda x, w: x @ x, r"y\.T has shape \(4, 3\)"),
        (lambda x, w: x.sum(axis=2), r"sum of shape \(3, 4\): axis 2"),
        (lambda x, w: x.reshape(5, 2), r"12 into shape \(5,2\)"),
        (lambda x, w: x[5], "index 5"),
        (lambda x, w: x[0.5], r"ints or bools"),
        (lambda x, w: x.split(5), r"equal parts"),
        (lambda x, w: af["concatenate"]([x, w]), r"\(3, 4\) and \(3,\)"),
        (lambda x, w: af["stack"]([]), "empty"),
        (lambda x, w: af["einsum"]("ij,jk", x, w), r"\(3,\).*jk"),
        (lambda x, w: af["einsum"]("ij->k", x), "output"),
        (lambda x, w: x.tensordot(w, 1), r"lengths 4 and 3"),
        (lambda x, w: x[:, :1].mse_loss(w), r"\(3, 1\), targets \(3,\).*predictions\[:, 0\]"),
        (lambda x, w: w.bce_with_logits(x[:, :1]), r"targets\[:, 0\]"),
        (lambda x, w: x.cross_entropy([0, 1, 4]), "0 to 4"),
        (lambda x, w: x.cross_entropy(np.zeros((3, 1), int)), r"targets\[:, 0\]"),
        (lambda x, w: x.cross_entropy(w), "ints"),
        (lambda x, w: x.mse_loss(x, reduction="average"), "'mean', 'sum' or 'none'"),
        (lambda x, w: x.conv2d(x), r"\(N, C, H, W\)"),
        (lambda x, w: x.reshape(1, 1, 3, 4).max_pool2d(5), "does not fit"),
        (lambda x, w: x.sum(axis=0.5), "axis=0.5"),
        (lambda x, w: x + [1.0], "Tensor"),
        (lambda x, w: mg.tanh([1.0, 2.0]), "stack_values"),
        (lambda x, w: stack_values([[Value(1.0)], [Value(1.0), 2.0]]), r"\(1,\), \(2,\)"),
        (lambda x, w: stack_values([1.0, 2.0]), "joins Values"),
        (lambda x, w: to_values(Value(1.0)), "Tensor"),
        (lambda x, w: expand(x), "leaf"),
    ],
)  # fmt: skip
def test_errors_come_from_the_operation_and_name_the_fix(make: Any, message: str) -> None:
    x, w = leaf(3, 4, name="x"), leaf(3, name="w")
    with pytest.raises((TypeError, ValueError), match=message):
        make(x, w)


# ---- Values and Tensors -------------------------------------------------------------------------


def test_mixed_programs() -> None:
    v, x = Value(2.0, name="v"), Tensor([1.0, 2.0, 3.0], name="x")
    y = (mg.tanh(v * x) * v + np.ones(3) / v).sum()
    y.backward()
    t = np.tanh(2.0 * x.data)
    expected = (t + 2.0 * (1.0 - t * t) * x.data - 0.25).sum()
    assert type(v.grad) is float
    assert v.grad == pytest.approx(expected)
    np.testing.assert_allclose(x.grad, 4.0 * (1.0 - t * t))


def test_a_value_at_the_end_of_arrays() -> None:
    v, x = Value(3.0), Tensor([1.0, 2.0])
    a, b = to_values(x * v)
    out = a * b + v
    out.backward()
    assert v.grad == 2 * 3.0 * 2.0 + 1.0
    assert x.grad.tolist() == [18.0, 9.0]
    assert a.grad == 6.0
    for node in (v, x):
        node.zero_grad()
    out.backward(create_graph=True)
    slope = v.grad
    assert isinstance(slope, Value)
    for node in (v, x):
        node.zero_grad()
    slope.backward()
    assert v.grad == pytest.approx(4.0)
    np.testing.assert_allclose(x.grad, [12.0, 6.0])


def test_stack_values_and_back() -> None:
    values = [[Value(1.0), Value(2.0)], [Value(3.0), 4.0]]
    x = stack_values(values)
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    (x * x).sum().backward()
    assert values[1][0].grad == 6.0  # type: ignore[union-attr]
    assert to_values(x.sum()).data == 10.0


@pytest.mark.parametrize(
    "make",
    [
        lambda x, w: x @ w, lambda x, w: (x * 2.0).tanh(), lambda x, w: x + w[0], lambda x, w: x.sum(axis=0),
        lambda x, w: x.mean(), lambda x, w: x.prod(axis=1), lambda x, w: x.T, lambda x, w: x[[1, 1, 0], ::-1],
        lambda x, w: x.pad(1), lambda x, w: af["concatenate"]([x, w], axis=0), lambda x, w: x.tril(),
        lambda x, w: mg.where(x.data > 0, x, w), lambda x, w: x.sum() * 1.0, lambda x, w: w.reshape(-1) @ x.reshape(-1),
        lambda x, w: x @ np.ones(2),
    ],
)  # fmt: skip
def test_expand_opens_a_node_with_equal_gradients(make: Any) -> None:
    x, w = leaf(2, 2), Tensor([[1.0, -2.0], [0.5, 3.0]])
    node = make(x, w)
    seed = np.random.default_rng(1).normal(size=node.shape)
    node.backward(seed)
    whole = [z.grad for z in (x, w)]
    for z in (x, w):
        z.zero_grad()
    parts = stack_values(expand(node))
    np.testing.assert_allclose(parts.data, node.data, rtol=1e-14)
    parts.backward(seed)
    for z, expected in zip((x, w), whole, strict=True):
        assert (z.grad is None) == (expected is None)
        if expected is not None:
            np.testing.assert_allclose(z.grad, expected, rtol=1e-13)


def test_expand_opens_sums_of_values() -> None:
    a, b = Value(2.0), Value(3.0)
    chain = expand(mg.dot([a, b], [b, 4.0]))
    assert chain.data == 18.0
    chain.backward()
    assert (a.grad, b.grad) == (3.0, 6.0)
    with pytest.raises(ValueError, match="does not open"):
        expand(a * b)
    with pytest.raises(ValueError, match="does not open"):
        expand(leaf(2, 2).softmax())


def test_the_fused_pass_runs_without_giving_up() -> None:
    x = leaf(3, 4)
    y = mg.where(x > 0, mg.sqrt(abs(x) + 1.0) ** 2, x.leaky_relu()).mean()
    assert passes.backward(y, np.ones(()), False)

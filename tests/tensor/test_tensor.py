"""The rules of data, types, gradients and passes."""

from __future__ import annotations

import copy
import gc
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    GradientError,
    MissingGradientWarning,
    OperationError,
    ShapeError,
    StaleError,
)
from minigrad.tensor import Tensor, passes


def leaf(*shape: int, name: str | None = None) -> Tensor:
    return Tensor(np.random.default_rng(5).normal(size=shape), name=name)


# ---- what is accepted ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1, "float64"), (2.5, "float64"), (True, "float64"), ([1, 2], "float64"),
        ([[1, 2], [3, 4.5]], "float64"), ((1, 2), "float64"), (range(3), "float64"),
        ([], "float64"),
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
        (np.array([1j]), "real"), (np.array([object()]), "real numbers"),
        (Value(1.0), "stack_values"),
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


def test_only_a_temporary_is_taken_for_the_new_data() -> None:
    x, step = Tensor([1.0, 2.0]), np.array([0.5, 0.5])
    x.data -= step
    x.data -= step * 2.0
    assert step.tolist() == [0.5, 0.5]
    assert x.tolist() == [-0.5, 0.5]
    x.grad = [1.0, 1.0]
    x.data -= x.grad
    steps = [np.array([1.0, 1.0])]
    x.data += steps[0]
    assert x.grad.tolist() == steps[0].tolist() == [1.0, 1.0]


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


def test_large_local_derivatives_are_not_written_over() -> None:
    constant = np.full(10_000, 3.0)
    tripled = mg.operation("tripled_by_a_constant", lambda m, x: 3.0 * x, [lambda out, x: constant])
    x = Tensor(np.full(10_000, 0.5))
    for function in (tripled, mg.exp, mg.tanh, mg.square):
        y = function(x) * 2.0
        before = [z.copy() for z in (x._data, constant, y._data)]
        for _ in range(2):
            y.backward(np.full(10_000, 7.0))
        for now, then in zip((x._data, constant, y._data), before, strict=True):
            np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("axis", [2, -3])
def test_take_and_split_refuse_an_axis_that_is_not_there(axis):
    for x in (Tensor(np.ones((2, 3))), np.ones((2, 3))):
        with pytest.raises(ArgumentValueError, match=r"take: axis=.* of shape \(2, 3\)"):
            mg.take(x, [0], axis=axis)
        with pytest.raises(ArgumentValueError, match=r"split: axis=.* counted from 0 to 1"):
            mg.split(x, [1], axis=axis)
    with pytest.raises(ArgumentValueError, match="it has no axes"):
        mg.split(Tensor(1.0), 1)
    with pytest.raises(ArgumentTypeError, match=r"axis=1\.0: it is an int"):
        mg.take(Tensor([1.0]), [0], axis=1.0)

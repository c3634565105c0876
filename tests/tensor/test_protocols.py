"""Arrays as Python objects, errors of shape, and programs of Values and Tensors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import (
    DetachedWarning,
    PicklingError,
    RenamedError,
)
from minigrad.ops.products import linear
from minigrad.tensor import ARRAY_FUNCTIONS, Tensor, expand, stack_values, to_values

af = ARRAY_FUNCTIONS


def leaf(*shape: int, name: str | None = None) -> Tensor:
    return Tensor(np.random.default_rng(5).normal(size=shape), name=name)


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
    for theirs, ours in (
        ("_prev", r"micrograd.*\.inputs"), ("view", r"PyTorch.*\.reshape"),
        ("unsqueeze", r"PyTorch.*\.expand_dims"), ("permute", r"PyTorch.*\.transpose"),
    ):  # fmt: skip
        with pytest.raises(RenamedError, match=ours):
            getattr(x, theirs)
        assert not hasattr(x, theirs)
    with pytest.raises(TypeError, match="requires_grad is true of every leaf"):
        Tensor([1.0], requires_grad=True)


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


@pytest.mark.parametrize("start", [Tensor([3.0, 4.0]), Value(3.0)], ids=["Tensor", "Value"])
def test_deepcopy_of_a_node_gradient_leads_to_the_copies(start: Any) -> None:
    x = copy.deepcopy(start)
    mg.sum([x * x * x] if isinstance(x, Value) else x * x * x).backward(create_graph=True)
    twin = copy.deepcopy(x)
    assert twin.grad is not x.grad
    slope = twin.grad * 1.0
    twin.zero_grad()
    mg.sum([slope] if isinstance(x, Value) else slope).backward()
    assert np.ravel(twin.grad).tolist() == (6.0 * np.ravel(twin.data)).tolist()
    assert isinstance(x.grad, type(x))  # its own gradient, which no pass has touched


def test_deepcopy_of_a_graph_of_both_kinds_copies_the_gradients_of_both() -> None:
    v, x = Value(2.0), Tensor([1.0, 3.0])
    y = (v * v * x * x).sum()
    y.backward(create_graph=True)
    v2, x2, y2 = copy.deepcopy((v, x, y))
    for twin, old in ((v2, v), (x2, x)):
        assert twin.grad is not old.grad
        assert set(mg.topological_order(twin.grad)).isdisjoint(mg.topological_order(old.grad))
    assert y2.item() == y.item()


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
        (lambda x, w: x * w, r"x \* w cannot broadcast \(3, 4\) with \(3,\): the last axes, 4 and "
         r"3, differ\. w\[\.\.\., None\] has shape \(3, 1\) and would broadcast\."),
        (lambda x, w: x @ w, r"x @ w .*\(3, 4\).*w of shape \(3,\).*4.*3.*x\.T"),
        (lambda x, w: x @ x, r"x\.T has shape \(4, 3\)"),
        (lambda x, w: x @ np.ones((2, 3, 4)), r"x, 4, and axis -2 of y, 3, differ"),
        (lambda x, w: mg.matmul(x.T, mg.tanh(w)[:2]), r"x @ y .*\(4, 3\).* y of shape \(2,\)"),
        (lambda x, w: linear(x, x.T, w[:2]), r"x @ weight has .*\(3, 3\).* bias of shape \(2,\)"),
        (lambda x, w: linear(x, w, w), r"x @ w cannot multiply"),
        (lambda x, w: mg.einsum("ij,jk", x, x), r"'j' stands for 4 in x .*and for 3 in x of"),
        (lambda x, w: mg.einsum("ij,j", np.ones((2, 2)), w), r"in x0 .*for 3 in w of shape"),
        (lambda x, w: x.conv2d(x), r"conv2d of x of shape \(3, 4\).*x\[None, None\] has shape"),
        (lambda x, w: mg.conv2d(x[None, None], np.ones((2, 3, 2, 2)), w), "1 channels, but w"),
        (lambda x, w: mg.conv2d(x[None, None], np.ones((2, 1, 2, 2)), w), r"w has .*\(3,\).*2 o"),
        (lambda x, w: mg.conv2d(x[None, None], np.ones((2, 1, 2, 2)), [1.0]), "list"),
        (lambda x, w: mg.max_pool2d(x, 2), r"x has shape \(3, 4\); x\[None, None\]"),
        (lambda x, w: mg.avg_pool2d(x, 2), r"x has shape \(3, 4\); x\[None, None\]"),
        (lambda x, w: x.sum(axis=2), r"sum of shape \(3, 4\): axis 2"),
        (lambda x, w: x.reshape(5, 2), r"12 into shape \(5,2\)"),
        (lambda x, w: x[5], "index 5"),
        (lambda x, w: x[0.5], r"ints or bools"),
        (lambda x, w: x.split(5), r"equal parts"),
        (lambda x, w: af["concatenate"]([x, w]), r"\(3, 4\) and \(3,\)"),
        (lambda x, w: af["stack"]([]), "empty"),
        (lambda x, w: mg.stack(x, x), r"write stack\(\[a, b\]\)"),
        (lambda x, w: mg.concatenate(x.data, x.data), r"write concatenate\(\[a, b\]\)"),
        (lambda x, w: mg.sum(x, w), r"write sum\(\[a, b, c\]\)"),
        (lambda x, w: mg.max(x, w), r"axis=a Tensor of shape \(3,\).*maximum\(x, y\)"),
        (lambda x, w: mg.min(Value(1.0), 2.0), r"axis=2\.0.*minimum\(x, y\)"),
        (lambda x, w: mg.max(Value(1.0), Value(2.0)), r"maximum\(x, y\)"),
        (lambda x, w: mg.max(Value(-1.0), 0), r"max of x along axis 0.*maximum\(x, y\)"),
        (lambda x, w: mg.min(-1.0, 0), r"min of x along axis 0.*minimum\(x, y\)"),
        (lambda x, w: x.sum(axis=w), r"axis=a Tensor of shape \(3,\)"),
        (lambda x, w: mg.conv2d(x[None, None], np.ones((2, 1, 2, 2)), 2), "write stride=2"),
        (lambda x, w: mg.conv2d(x[None, None], np.ones((2, 1, 2, 2)), (1, 2)), r"stride=\(1, 2\)"),
        (lambda x, w: w.backward(np.ones(2)), r"seed.*\(2,\) was given, but the Tensor .*\(3,\)"),
        (lambda x, w: setattr(w, "grad", np.ones(2)), r"\.grad.*\(2,\) was given, but the Te"),
        (lambda x, w: setattr(w, "data", np.ones(2)), r"\.data.*\(2,\) was given, but the Te"),
        (lambda x, w: af["einsum"]("ij,jk", x, w), r"w has shape \(3,\).*jk"),
        (lambda x, w: af["einsum"]("ij->k", x), "output"),
        (lambda x, w: x.tensordot(w, 1), r"x of .*w of .*lengths 4 and 3"),
        (lambda x, w: x[:, :1].mse_loss(w), r"\(3, 1\), and of w, \(3,\).*predictions\[:, 0\]"),
        (lambda x, w: w.bce_with_logits(x[:, :1]), r"of w, \(3,\).*targets\[:, 0\]"),
        (lambda x, w: w.mse_loss(x), r"mse_loss: the shapes of w, \(3,\), and of x, \(3, 4\)"),
        (lambda x, w: x.cross_entropy([0, 1, 4]), "0 to 4"),
        (lambda x, w: x.cross_entropy(np.zeros((3, 1), int)), r"targets\[:, 0\]"),
        (lambda x, w: x.cross_entropy(w), "ints"),
        (lambda x, w: x.mse_loss(x, reduction="average"), "'mean', 'sum' or 'none'"),
        (lambda x, w: x.conv2d(x), r"\(N, C, H, W\)"),
        (lambda x, w: x.reshape(1, 1, 3, 4).max_pool2d(5), "does not fit"),
        (lambda x, w: x.sum(axis=0.5), "axis=0.5"),
        (lambda x, w: x - [1.0], "Tensor"),
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
        lambda x, w: x @ w, lambda x, w: (x * 2.0).tanh(), lambda x, w: x + w[0],
        lambda x, w: x.sum(axis=0),
        lambda x, w: x.mean(), lambda x, w: x.prod(axis=1), lambda x, w: x.T,
        lambda x, w: x[[1, 1, 0], ::-1],
        lambda x, w: x.pad(1), lambda x, w: af["concatenate"]([x, w], axis=0),
        lambda x, w: x.tril(),
        lambda x, w: mg.where(x.data > 0, x, w), lambda x, w: x.sum() * 1.0,
        lambda x, w: w.reshape(-1) @ x.reshape(-1),
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

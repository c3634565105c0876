"""``expand``: each row opens into scalar operations with its value, and its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Value
from minigrad.graph import topological_order
from minigrad.ops import OPS
from minigrad.ops.kinds import General
from minigrad.tensor import ARRAY_FUNCTIONS, Tensor, expand, stack_values
from tests.tensor.cases import CASES, Case, nodes

af = ARRAY_FUNCTIONS
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
WITHOUT_GRADIENT = {"argmax", "argsort"}


def opened(node: Any) -> Any:
    """What ``node`` opens into, as one array again."""
    parts = expand(node)
    return stack_values(parts) if any(isinstance(x, Value) for x in _flat(parts)) else Tensor(parts)


def _flat(parts: Any) -> Any:
    return [x for part in parts for x in _flat(part)] if isinstance(parts, list) else [parts]


def rows_below(root: Any) -> list[Any]:
    """The nodes of rows of arrays that a call made."""
    found = topological_order(root)
    return [
        n
        for n in found
        if isinstance(n.op, General) and any(n.op.differentiable(i) for i in range(len(n.inputs)))
    ]


def gradients(make: Callable[..., Any], inputs: Any, dtype: str, second: bool) -> list[Any]:
    """The gradients of a number that depends on all of ``out``, or those of their squares."""
    xs = [Tensor(x, dtype=dtype) if np.asarray(x).dtype.kind == "f" else Tensor(x) for x in inputs]
    out = make(*xs)
    weights = np.random.default_rng(5).normal(size=out.shape)
    if np.abs(out.data).max(initial=0.0) < 100.0:  # else (inf, nan) times a gradient is nan
        out = (out * weights + 0.1 * out * out).sum()
        weights = np.ones(())
    out.backward(weights, create_graph=second)
    if second:
        firsts = [x.grad for x in xs if x.grad is not None]
        for x in xs:
            x.zero_grad()
        again = sum((g * g).sum() for g in firsts)
        if getattr(again, "op", None) is not None:
            again.backward()
    return [np.zeros(x.shape, x.dtype) if x.grad is None else x.grad for x in xs]


def whole_and_opened(case: Case) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return case.call, lambda *xs: opened(case.call(*xs))


def test_no_row_is_forgotten() -> None:
    """Each row of arrays that has a gradient is opened by one of the cases below."""
    met = {node.op.name for case in CASES for node in rows_below(case.call(*nodes(case)))}
    differentiable = {
        name
        for name, row in OPS.items()
        if isinstance(row, General) and (callable(row.vjp) or any(row.vjp))
    }
    behind = {"put", "put_diagonal", "fold", "unfold", "element"}  # in gradients; tested below
    assert met | behind >= differentiable


@each_case
def test_the_value_is_that_of_the_array(case: Case) -> None:
    for node in rows_below(case.call(*nodes(case))):
        np.testing.assert_allclose(opened(node).data, node.data, rtol=1e-12, atol=1e-13)


@each_case
@pytest.mark.parametrize("second", [False, True], ids=["first", "second"])
def test_the_gradients_are_those_of_the_array(case: Case, second: bool) -> None:
    if case.call(*nodes(case)).op.name in WITHOUT_GRADIENT:
        pytest.skip("whole numbers")
    if second and case.label == "getitem-rows":
        pytest.skip("the same as getitem-fancy, of many elements")
    whole, parts = whole_and_opened(case)
    for e, found in zip(
        gradients(whole, case.inputs, "float64", second),
        gradients(parts, case.inputs, "float64", second),
        strict=True,
    ):
        np.testing.assert_allclose(found, e, rtol=1e-11, atol=1e-12)
        assert found.shape == e.shape


@each_case
def test_of_float32_the_gradients_are_float32(case: Case) -> None:
    whole, parts = whole_and_opened(case)
    for e, found in zip(
        gradients(whole, case.inputs, "float32", False),
        gradients(parts, case.inputs, "float32", False),
        strict=True,
    ):
        assert found.dtype == e.dtype == np.float32
        np.testing.assert_allclose(found, e, rtol=2e-3, atol=2e-4)


IMAGE = np.zeros((1, 1, 3, 3))
KINKS = {
    "max-of-three": (lambda x: x.max(), [[2.0, 2.0, 1.0, 2.0]]),
    "max-of-two": (lambda x: x.max(axis=1), [[[2.0, 1.0, 2.0], [3.0, 3.0, 3.0]]]),
    "min-of-four": (lambda x: x.min(), [[0.0, 0.0, 0.0, 0.0]]),
    "max-of-inf": (lambda x: x.max(), [[np.inf, np.inf, np.inf, 0.0]]),
    "max-of-nan": (lambda x: x.max(), [[np.nan, 1.0, np.nan]]),
    "max_pool-of-ties": (lambda x: x.max_pool2d(2, stride=1, padding=1), [IMAGE]),
    "norm-at-0": (lambda x: x.norm(), [[0.0, 0.0, 0.0]]),
    "norm-of-rows": (lambda x: x.norm(axis=1), [[[0.0, 0.0], [3.0, 4.0]]]),
    "norm-of-one": (lambda x: x.norm(), [[0.0]]),
    "std-of-equals": (lambda x: x.std(), [[2.0, 2.0, 2.0]]),
    "var-of-equals": (lambda x: x.var(), [[2.0, 2.0, 2.0]]),
    "std-of-one": (lambda x: x.std(ddof=1), [[2.0]]),
    "prod-of-zeros": (lambda x: x.prod(), [[0.0, 2.0, 0.0]]),
    "cumprod-of-zeros": (lambda x: x.cumprod(), [[2.0, 0.0, 3.0, 0.0]]),
    "logsumexp-of-nothing": (lambda x: x.logsumexp(), [[-np.inf, -np.inf]]),
    "logsumexp-far-out": (lambda x: x.logsumexp(), [[1000.0, 1000.0, -np.inf]]),
    "softmax-far-out": (lambda x: x.softmax(), [[1000.0, 999.0, -1000.0]]),
    "log_softmax-far-out": (lambda x: x.log_softmax(), [[1000.0, 999.0, -1000.0]]),
    "sort-of-ties": (lambda x: x.sort(), [[2.0, 1.0, 2.0, 1.0]]),
    "hinge-on-the-margin": (lambda x, y: x.hinge_loss(y), [[1.0, -1.0], [1.0, -1.0]]),
    "bce-at-0": (lambda x, y: x.bce_with_logits(y), [[0.0, 800.0], [0.0, 1.0]]),
    "cross_entropy-without-a-class": (
        lambda x: x.cross_entropy(np.array([[0.0, 1.0]])), [[[1000.0, 0.0]]]),
    "relu": (lambda x: x.relu(), [[0.0, 1.0]]),
    "mean-of-nothing": (lambda x: x.mean(axis=1), [np.zeros((2, 0))]),
}  # fmt: skip


@pytest.mark.parametrize("second", [False, True], ids=["first", "second"])
@pytest.mark.parametrize("name", KINKS)
def test_kinks_are_those_of_the_array(name: str, second: bool) -> None:
    make, inputs = KINKS[name]
    arrays = [np.asarray(x, dtype=float) for x in inputs]
    with mg.errstate("ignore"):
        node = make(*map(Tensor, arrays))
        np.testing.assert_allclose(opened(node).data, node.data, rtol=1e-12)
        expected = gradients(make, arrays, "float64", second)
        found = gradients(lambda *xs: opened(make(*xs)), arrays, "float64", second)
    for e, f in zip(expected, found, strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-12, atol=1e-12)


def behind(name: str) -> tuple[Any, Any]:
    """A node of a row that only gradients use, and its input."""
    rng = np.random.default_rng(2)
    attrs: dict[str, Any] = {
        "put": {"shape": (3, 2), "index": (np.array([0, 0, 2]), np.array([1, 1, 0]))},
        "put_diagonal": {"shape": (4, 3), "offset": -1},
        "unfold": {"size": (2, 2), "padding": (1, 0)},
        "fold": {"shape": (1, 1, 3, 3), "size": (2, 2)},
        "pad": {"pad_width": ((1, 0),), "constant_values": 2.5},
        "cumsum": {"axis": 0},
    }[name]
    shape = {"unfold": (1, 1, 3, 2), "fold": (1, 1, 2, 2, 2, 2)}.get(name, (3,))
    x = Tensor(rng.normal(size=shape))
    return Tensor._apply(OPS[name].bind(**attrs), (x,)), x


@pytest.mark.parametrize("name", ["put", "put_diagonal", "unfold", "fold", "pad", "cumsum"])
def test_linear_rows_open_by_their_own_forward(name: str) -> None:
    node, x = behind(name)
    seed = np.random.default_rng(4).normal(size=node.shape)
    node.backward(seed)
    expected, x.grad = x.grad, None
    parts = opened(node)
    np.testing.assert_allclose(parts.data, node.data, rtol=1e-14)
    parts.backward(seed)
    np.testing.assert_allclose(x.grad, expected, rtol=1e-13)


def test_a_layer_opens_into_what_the_lecture_draws() -> None:
    """No node of an array is left between the output and the elements of the inputs."""
    x, w = Tensor(np.ones((1, 1, 3, 3))), Tensor(np.ones((1, 1, 2, 2)))
    first = expand(x.conv2d(w))[0][0][0][0]
    assert first.op.name == "dot"
    assert {node.op.name for node in first.inputs} == {"element"}
    assert expand(Tensor([1.0, 3.0, 2.0]).max()).op.name == "maximum"


def test_what_has_no_gradient_or_is_too_large_does_not_open() -> None:
    with pytest.raises(ValueError, match="argmax has no gradient"):
        expand(Tensor([1.0, 2.0]).argmax())
    large = Tensor(np.ones((300, 300)))
    with pytest.raises(ValueError, match="would open into about 27,"):
        expand(large @ large)

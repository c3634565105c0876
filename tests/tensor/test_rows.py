"""Every row of arrays: value against NumPy, derivatives by differences and by each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.graph import numbers, sources, sweep, topological_order
from minigrad.ops.broadcasting import fit, parts, push_array
from minigrad.ops.kinds import General
from minigrad.pull import pull
from minigrad.tensor import Tensor, passes
from tests.tensor.cases import ARRAY_ROWS, CASES, Case, difference, nodes

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)

rng = np.random.default_rng(11)


def weights(shape: Any) -> Any:
    return np.random.default_rng(3).normal(size=shape)


def scalar(case: Case, xs: Any) -> Any:
    """A number that depends on every element of the output, not linearly."""
    out = case.call(*xs)
    return (out * weights(out.shape) + 0.1 * out * out).sum()


def gradient_of(x: Tensor) -> Any:
    return np.zeros(x.shape) if x.grad is None else x.grad


def test_no_row_is_missing() -> None:
    assert {row for case in CASES for row in case.rows.split()} >= ARRAY_ROWS


@each_case
def test_value(case: Case) -> None:
    out = case.call(*nodes(case))
    assert out.op is not None
    if case.numpy is not None:
        expected = case.numpy(*case.inputs)
        assert out.shape == np.shape(expected)
        np.testing.assert_allclose(out.data, expected, rtol=1e-13, atol=1e-14)


@each_case
def test_first_derivative(case: Case) -> None:
    xs = nodes(case)
    scalar(case, xs).backward()
    expected = difference(lambda *a: scalar(case, map(Tensor, a)).item(), case.inputs)
    for x, e in zip(xs, expected, strict=True):
        assert gradient_of(x).shape == x.shape
        np.testing.assert_allclose(gradient_of(x), e, rtol=1e-6, atol=1e-7)


@each_case
def test_second_derivative(case: Case) -> None:
    xs = nodes(case)
    scalar(case, xs).backward(create_graph=True)
    gradients = [x.grad for x in xs]
    directions = [weights((2, *x.shape))[1] for x in xs]
    for x in xs:
        x.zero_grad()
    along = [(g * d).sum() for g, d in zip(gradients, directions, strict=True) if g is not None]
    assert all(g is None or isinstance(g, Tensor) for g in gradients)
    total = sum(along)
    if total.op is not None:
        total.backward()

    def first(*arrays: Any) -> float:
        leaves = [Tensor(a) for a in arrays]
        scalar(case, leaves).backward()
        pairs = zip(leaves, directions, strict=True)
        return float(sum((gradient_of(x) * d).sum() for x, d in pairs))

    for x, e in zip(xs, difference(first, case.inputs), strict=True):
        np.testing.assert_allclose(gradient_of(x), e, rtol=1e-5, atol=1e-6)


@each_case
def test_create_graph_gives_the_same_numbers(case: Case) -> None:
    plain, again = nodes(case), nodes(case)
    scalar(case, plain).backward()
    scalar(case, again).backward(create_graph=True)
    for x, y in zip(plain, again, strict=True):
        assert (x.grad is None) == (y.grad is None)
        if x.grad is not None:
            np.testing.assert_allclose(x.grad, y.grad.data, rtol=1e-12, atol=1e-15)


@each_case
def test_forwards_and_backwards_agree(case: Case) -> None:
    """⟨vjp(g), t⟩ = ⟨g, jvp(t)⟩ for the last row of the call."""
    node = case.call(*nodes(case))
    op, xs, inputs = node.op, numbers(node), sources(node)
    assert op is not None
    g = rng.normal(size=node.shape)
    tangents = [
        rng.normal(size=np.shape(x))
        if s is not None and op.differentiable(i) and np.asarray(x).dtype.kind == "f"
        else None
        for i, (s, x) in enumerate(zip(inputs, xs, strict=True))
    ]
    push = op.push if isinstance(op, General) else lambda *a: push_array(op, *a)
    if all(t is None for t in tangents):
        pytest.skip("no derivative")
    forwards = np.sum(g * push(tangents, node._out, xs))
    sent = [contribution for _, contribution, _ in pull(node, g)]
    pairs = zip(sent, tangents, strict=True)
    backwards = sum(np.sum(parts(c)[0] * t) for c, t in pairs if t is not None and c is not None)
    np.testing.assert_allclose(forwards, backwards, rtol=1e-11, atol=1e-12)


@each_case
def test_the_fused_pass_is_the_readable_sweep(case: Case) -> None:
    """The same bits, and the same order of the nodes that send."""
    xs = nodes(case)
    root = scalar(case, xs)
    assert passes.backward(root, np.ones(()), False), "it gave up"
    order = topological_order(root)
    inner = [node for node in order if node.op is not None]
    assert passes._order(root) == inner
    cotangents: Any = {root: np.ones(())}
    for _ in sweep(order, cotangents, pull):
        pass
    for x in xs:
        expected = cotangents.get(x)
        assert (expected is None) == (x.grad is None)
        if expected is not None:
            assert np.array_equal(x.grad, parts(expected)[0])


@each_case
def test_float32_stays_float32(case: Case) -> None:
    xs = [Tensor(x, dtype="float32") for x in case.inputs]
    out = case.call(*xs)
    if case.label in ("values", "argsort", "argmax", "astype"):
        pytest.skip("goes through Python numbers, whole numbers, or another type on purpose")
    out = (out * 2.0).sum()
    if "labels" not in case.label:
        assert out.dtype == np.float32
    out.backward()
    for x in xs:
        if x.grad is not None:
            assert x.grad.dtype == np.float32


@each_case
def test_gradients_share_memory_with_nothing(case: Case) -> None:
    xs = nodes(case)
    out = case.call(*xs)
    seed = np.ones(out.shape)
    out.backward(seed)
    out.backward(seed)
    arrays = [x.grad for x in xs if x.grad is not None]
    recorded = [x._data for x in xs] + [seed, out._data]
    for i, gradient in enumerate(arrays):
        assert gradient.flags.writeable
        assert gradient.base is None
        for other in [*arrays[:i], *arrays[i + 1 :], *recorded]:
            assert not np.shares_memory(gradient, other)


@each_case
def test_the_local_derivative_is_the_jacobian(case: Case) -> None:
    node = case.call(*nodes(case))
    op = node.op
    assert op is not None
    if not isinstance(op, General) or node.size > 60:
        pytest.skip("element by element, or large")
    g = rng.normal(size=node.shape)
    for i, (_, contribution, reason) in enumerate(pull(node, g)):
        if reason or contribution is None:
            continue
        jacobian = node.local_derivatives(i)
        x = numbers(node)[i]
        expected = np.tensordot(g, jacobian, axes=len(node.shape))
        np.testing.assert_allclose(parts(fit(contribution, x))[0], expected, rtol=1e-11, atol=1e-12)


@each_case
def test_nothing_is_recorded_without_recording(case: Case) -> None:
    with mg.no_grad():
        out = case.call(*nodes(case))
    assert out.op is None
    assert out.inputs == ()

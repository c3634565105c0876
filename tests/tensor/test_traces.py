"""Traces and pictures of arrays: the same record, with shapes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.events.file import to_json
from minigrad.events.verify import verify
from minigrad.optim import SGD
from minigrad.tensor import Tensor


def program() -> tuple[Any, Tensor, mg.Value]:
    x, v = Tensor(np.arange(1.0, 7.0).reshape(2, 3), name="x"), mg.Value(2.0, name="v")
    w = Tensor([1.0, -1.0, 0.5], name="w")
    y = mg.where(x.data > 2.0, mg.log(x), 0.0)
    return ((x @ w).tanh() * v).sum() + y.sum() + x[0, 1:].max(), x, v


def test_a_trace_has_the_gradients_of_the_pass() -> None:
    L, x, v = program()
    t = mg.trace(L)
    assert x.grad is None, "the pass of a trace is private"
    L.backward()
    by_name = {node.name: node for node in t.nodes}
    np.testing.assert_array_equal(t.gradients[by_name["x"].id], x.grad)
    assert t.gradients[by_name["v"].id] == v.grad
    assert by_name["x"].shape == (2, 3)
    assert by_name["x"].dtype == "float64"
    assert by_name["v"].shape == ()


def test_a_trace_shares_no_memory_with_the_graph() -> None:
    L, x, _ = program()
    t = mg.trace(L)
    for edge in t.edges:
        if hasattr(edge.contribution, "shape"):
            assert not np.shares_memory(edge.contribution, x._data)


def test_in_a_file_an_array_is_a_summary_or_all_its_elements() -> None:
    t = mg.trace(program()[0])
    content = json.loads(json.dumps(to_json(t), allow_nan=False))
    value = next(node for node in content["nodes"] if node["name"] == "x")["value"]
    assert value["shape"] == [2, 3]
    assert value["summary"] == {"not_finite": 0, "min": 1.0, "mean": 3.5, "max": 6.0}
    assert verify(content).faults == ()
    full = to_json(t, values=True)
    value = next(node for node in full["nodes"] if node["name"] == "x")["value"]
    assert value["values"] == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_a_seed_is_spread_over_an_array() -> None:
    x = Tensor([1.0, 2.0], name="x")
    t = mg.trace(x * x, seed=3.0)
    np.testing.assert_array_equal(t.seeds[0], [3.0, 3.0])
    np.testing.assert_array_equal(t.gradients[t.nodes[0].id], [6.0, 12.0])


def test_a_picture_shows_shapes() -> None:
    text = str(mg.draw(program()[0]))
    assert "[2×3]" in text
    assert "v" in text


def test_a_seed_is_what_it_is_even_if_the_output_is_infinite() -> None:
    x = Tensor([np.inf, 2.0], name="x")
    t = mg.trace(x * 2.0)
    np.testing.assert_array_equal(t.seeds[0], [1.0, 1.0])


def test_a_seed_may_be_an_array() -> None:
    x = Tensor([1.0, 2.0], name="x")
    t = mg.trace(x * x, seed=np.array([1.0, 10.0]))
    np.testing.assert_array_equal(t.gradients[0], [2.0, 40.0])
    with pytest.raises(mg.errors.ShapeError, match=r"shape \(3,\), the output \(2,\)"):
        mg.trace(x * x, seed=np.ones(3))


def every_array(x: Any) -> list[Any]:
    """All arrays in a record, wherever they are."""
    if isinstance(x, np.ndarray):
        return [x]
    if isinstance(x, dict):
        return every_array(list(x.values()))
    return [a for part in x for a in every_array(part)] if isinstance(x, list | tuple) else []


def everything() -> tuple[Any, list[Any]]:
    """A trace with every place for an array, and the arrays that the graph itself has."""
    index, given = np.array([1, 0]), np.array([0.5, 2.0])
    x, v = Tensor([2.0, 3.0], name="x"), mg.Value(2.0, name="v")
    with mg.record() as made:
        y = x * x
        y.name = "y"
        L = (y[index] * given * v + mg.where(x.data > 2.5, y, 0.0)).sum() + mg.dot([x], [y]).sum()
        L.backward()
        SGD(0.1, [x]).step()
    trace = made.trace(L)
    live = [x._data, x._grad, y._grad, index, given]
    for node in mg.topological_order(L):
        live += every_array([node._data, node._x, node._y, node._out])
        live += every_array(node.op.attrs if node.op else {})
    return trace, live


def test_no_array_of_a_trace_can_be_written_to() -> None:
    trace, live = everything()
    found = every_array([*trace, list(trace.edges), trace.nodes[0].grad])
    assert len(found) > 50
    for array in found:
        assert not array.flags.writeable
    assert any(np.shares_memory(a, b) for a in found for b in live), "nothing was compared"
    assert any(isinstance(node.attrs.get("index"), tuple | np.ndarray) for node in trace.nodes)
    assert every_array([dict(node.attrs) for node in trace.nodes]), "no index was looked at"


def test_a_trace_keeps_what_a_learner_then_changes_in_place() -> None:
    x = Tensor([2.0, 3.0], name="x")
    y = (x * x).sum()
    y.backward()
    trace = mg.trace(y)
    x.grad[:] = 50.0
    np.testing.assert_array_equal(trace.nodes[0].grad, [4.0, 6.0])
    with pytest.raises(ValueError, match="read-only"):
        trace.nodes[0].value[0] = 9.0
    x.zero_grad()
    y.backward()
    np.testing.assert_array_equal(x.grad, [4.0, 6.0])


def test_a_changed_leaf_is_stale_in_a_trace_and_an_unchanged_one_is_not() -> None:
    x, w = Tensor([2.0, 3.0], name="x"), Tensor([1.0, np.nan], name="w")
    y = x * w + x
    assert not any(node.stale for node in mg.trace(y).nodes)
    x.data = [2.0, 4.0]
    assert [node.name for node in mg.trace(y).nodes if node.stale] == ["x"]


@pytest.mark.parametrize(
    "make",
    [
        lambda x, w: x * w,
        lambda x, w: x / w,
        lambda x, w: mg.exp(x),
        lambda x, w: mg.dot([x, w], [w, x]),
        lambda x, w: mg.where(w, x, w),
    ],
)
def test_a_local_derivative_cannot_change_the_graph(make: Any) -> None:
    x, w = Tensor([2.0, 3.0]), Tensor([5.0, 7.0])
    y = make(x, w)
    for i in range(len(y.inputs)):
        local = y.local_derivatives(i)
        if isinstance(local, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                local[0] = 100.0
    y.backward([1.0, 1.0])
    expected = [x.grad, w.grad]
    x.zero_grad(), w.zero_grad()
    make(x, w).backward([1.0, 1.0])
    for node, gradient in zip((x, w), expected, strict=True):
        np.testing.assert_array_equal(node.grad, gradient)
    np.testing.assert_array_equal(w.data, [5.0, 7.0])

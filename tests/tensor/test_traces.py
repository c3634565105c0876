"""Traces and pictures of arrays: the same record, with shapes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.events.file import to_json
from minigrad.events.verify import verify
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

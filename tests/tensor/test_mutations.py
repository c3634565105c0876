"""Faults put into un-broadcasting and into the accumulation of indices are noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad.ops import broadcasting, indexing
from minigrad.tensor import Tensor, passes


def broadcasting_is_undone() -> bool:
    """Whether the gradients of broadcast inputs are right."""
    for shapes in (((2, 3), (3,)), ((2, 3), (2, 1)), ((4, 1, 3), (2, 1)), ((2, 3), ())):
        x, y = (Tensor(np.arange(np.prod(s, dtype=int)) + 1.0).reshape(s) for s in shapes)
        x, y = x.detach(), y.detach()
        out = x * y
        try:
            out.backward(np.ones(out.shape))
        except Exception:
            return False
        for node, other in ((x, y), (y, x)):
            wide = np.broadcast_to(other.data, out.shape)
            extra = len(out.shape) - len(node.shape)
            axes = tuple(range(extra)) + tuple(
                i + extra for i, n in enumerate(node.shape) if n == 1 and out.shape[i + extra] != 1
            )
            expected = wide.sum(axis=axes).reshape(node.shape)
            if node.grad.shape != node.shape or not np.array_equal(node.grad, expected):
                return False
    return True


def indices_add() -> bool:
    """Whether an element that was chosen twice gets both gradients."""
    for index in ([0, 0, 1], ([0, 1, 0], [1, 1, 1]), [-1, -1, 2], [0, 1, 2] * 40):
        x = Tensor(np.arange(12.0).reshape(3, 4))
        out = x[index]
        try:
            out.backward(np.ones(out.shape))
        except Exception:
            return False
        expected = np.zeros(x.shape)
        np.add.at(expected, index, 1.0)
        if not np.array_equal(x.grad, expected):
            return False
    return True


def test_without_a_fault_all_is_right() -> None:
    assert broadcasting_is_undone()
    assert indices_add()


def _axes_without_leading(wide: Any, narrow: Any) -> Any:
    extra = len(wide) - len(narrow)
    return tuple(i + extra for i, n in enumerate(narrow) if n == 1 and wide[i + extra] != 1)


def _axes_without_ones(wide: Any, narrow: Any) -> Any:
    return tuple(range(len(wide) - len(narrow)))


@pytest.mark.parametrize(
    ("module", "name", "fault", "law"),
    [
        (broadcasting, "_axes", _axes_without_leading, broadcasting_is_undone),
        (broadcasting, "_axes", _axes_without_ones, broadcasting_is_undone),
        (broadcasting, "unbroadcast", lambda g, shape: g, broadcasting_is_undone),
        (broadcasting, "unbroadcast", lambda g, shape: np.resize(g, shape), broadcasting_is_undone),
        (passes, "added", lambda g, axis: g[0], broadcasting_is_undone),
        (indexing, "_basic", lambda index: True, indices_add),
        (indexing, "_add_rows", lambda out, index, x: out.__setitem__(index, x), indices_add),
    ],
)
def test_a_fault_is_noticed(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, fault: Any, law: Callable[[], bool]
) -> None:
    assert law()
    monkeypatch.setattr(module, name, fault)
    assert not law()

"""Public faults of other engines that concern arrays, each with the right answer, by its id."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import NumericalWarning
from minigrad.tensor import ARRAY_FUNCTIONS, Tensor

af = ARRAY_FUNCTIONS
REPORTS = Path(__file__).resolve().parents[3] / "shared" / "cases" / "bug_reports.json"


def test_every_array_case_has_its_test() -> None:
    if not REPORTS.exists():
        pytest.skip("the collection of reports is not beside the project")
    reports = json.loads(REPORTS.read_text("utf-8"))
    ids = {report["id"] for report in reports if "Array(" in report["case"]}
    names = " ".join(globals()).lower()
    assert {i for i in ids if f"test_{i.lower()}_" not in names} == set()


def test_b23_an_output_cannot_be_overwritten() -> None:
    a = Tensor([1.0, 2.0, 3.0])
    b = a.sigmoid()
    with pytest.raises(TypeError, match="read-only"):
        b.data[1] = 2.0
    with pytest.raises(TypeError, match="at_set"):
        b[1] = 2.0
    b.data = [0.0, 0.0, 0.0]
    b.sum().backward()
    np.testing.assert_allclose(a.grad, [0.196612, 0.104994, 0.045177], atol=1e-6)


def test_b25_gradients_share_no_memory() -> None:
    a, b = Tensor([1.0, 1.0]), Tensor([2.0, 2.0])
    ((a + b).sum() + (3.0 * a).sum()).backward()
    assert a.grad.tolist() == [4.0, 4.0]
    assert b.grad.tolist() == [1.0, 1.0]
    assert not np.shares_memory(a.grad, b.grad)
    c, d = Tensor([1.0]), Tensor([2.0])
    seed = np.ones(1)
    (c + d).backward(seed)
    c.grad *= 7.0
    assert (d.grad.tolist(), seed.tolist(), c.data.tolist()) == ([1.0], [1.0], [1.0])


def test_b29_setting_an_element_makes_a_new_node() -> None:
    x = first = Tensor([1.0, 2.0])
    y = x * x
    x = x.at_set(0, 5.0)
    (y + x).sum().backward()
    assert first.grad.tolist() == [2.0, 5.0]


def test_b35_an_array_on_the_left() -> None:
    v = Value(3.0)
    out = np.array([1.0, 2.0]) * v
    assert isinstance(out, Tensor)
    assert out.tolist() == [3.0, 6.0]
    out.sum().backward()
    assert v.grad == 3.0
    assert type(v.grad) is float
    assert (np.array([1.0, 2.0]) * Tensor([3.0, 4.0])).tolist() == [3.0, 8.0]
    six = np.float64(2) * Value(3.0)
    assert isinstance(six, Value)
    assert six.data == 6.0
    assert (np.ones((2, 2)) @ Tensor([1.0, 2.0])).tolist() == [3.0, 3.0]


def test_b39_no_integer_zero_widens_a_gradient() -> None:
    x = Tensor(np.float32(1.0))
    (x * x + x).backward()
    assert x.grad.dtype == np.float32
    assert x.grad == 3.0
    assert sum([x, x]).dtype == np.float32


def test_b41_negative_strides() -> None:
    scale = np.array([1.0, 10.0, 100.0])
    x = Tensor(np.arange(3.0)[::-1])
    (x * scale).sum().backward()
    assert x.grad.tolist() == [1.0, 10.0, 100.0]
    z = Tensor([0.0, 1.0, 2.0])
    (z[::-1] * scale).sum().backward()
    assert z.grad.tolist() == [100.0, 10.0, 1.0]


def test_b49_norm_of_zeros() -> None:
    for function in (lambda x: x.norm(), lambda x: x.norm() ** 2, lambda x: (x**2).sum()):
        x = Tensor(np.zeros(3))
        function(x).backward()
        assert x.grad.tolist() == [0.0, 0.0, 0.0]
        x.zero_grad()
        function(x).backward(create_graph=True)
        assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_b51_variance_of_one_value() -> None:
    x = Tensor([[1.0]])
    with pytest.warns(NumericalWarning):
        y = x.var(ddof=1)
    assert np.isnan(y.item())
    with mg.errstate("ignore"):
        y.backward()
    assert x.grad.shape == (1, 1)
    assert np.isnan(x.grad).all()


def test_b63_logsumexp_of_all_minus_infinity() -> None:
    x = Tensor([-np.inf, -np.inf])
    y = x.logsumexp()
    assert y.item() == -np.inf
    y.backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_b72_nothing_flows_into_the_branch_not_taken() -> None:
    x = Tensor([-1.0, -4.0])
    with mg.errstate("ignore"):
        root = mg.sqrt(x)
    y = mg.where(x > 0, root, x).sum()
    y.backward()
    assert x.grad.tolist() == [1.0, 1.0]
    x.zero_grad()
    y.backward(create_graph=True)
    gradient = x.grad
    x.zero_grad()
    (gradient * gradient + x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_b77_ties_share() -> None:
    x = Tensor(np.ones((4, 3)))
    x.max(axis=0).sum().backward()
    assert x.grad.tolist() == [[0.25] * 3] * 4


def test_b83_repeated_indices_add() -> None:
    d = Tensor([[0.0, 1.0], [2.0, 3.0]])
    d[[1, 1, 0], [1, 1, 0]].sum().backward()
    assert d.grad.tolist() == [[1.0, 0.0], [0.0, 2.0]]


def test_b85_of_values_set_at_one_place_the_last_stays() -> None:
    x, y = Tensor(np.zeros((5, 5))), Tensor(np.arange(25.0).reshape(5, 5))
    out = x.at_set([0, 0, 0, 0, 0], y)
    assert out.data[0].tolist() == y.data[4].tolist()
    out.sum().backward()
    assert y.grad.tolist() == [[0.0] * 5] * 4 + [[1.0] * 5]
    assert x.grad.tolist() == [[0.0] * 5] + [[1.0] * 5] * 4


def test_b86_broadcasting_is_undone() -> None:
    a, b = Tensor([[1.0], [2.0], [3.0]]), Tensor([[1.0, 2.0, 3.0, 4.0]])
    (a * b).sum().backward()
    assert a.grad.tolist() == [[10.0], [10.0], [10.0]]
    assert b.grad.tolist() == [[6.0, 6.0, 6.0, 6.0]]


def test_b91_einsum_with_a_label_of_length_one() -> None:
    x, y = Tensor([2.0, 2.0]), Tensor([2.0])
    out = af["einsum"]("i,i", x, y)
    out.backward()
    assert out.item() == 8.0
    assert x.grad.tolist() == [2.0, 2.0]
    assert y.grad.tolist() == [4.0]


def test_b99_empty_arrays_and_length_one() -> None:
    one = Tensor([1.0])
    (one[1:] - one[:-1]).sum().backward()
    assert one.grad.tolist() == [0.0]
    empty = Tensor([])
    total = empty.sum()
    assert total.item() == 0.0
    total.backward()
    assert empty.grad.shape == (0,)
    with pytest.warns(NumericalWarning, match="mean"):
        assert np.isnan(Tensor([]).mean().item())
    out = Tensor(np.ones((0, 3))) @ Tensor(np.ones((3, 2)))
    assert out.shape == (0, 2)
    with pytest.raises(ValueError, match=r"max of x of shape \(0,\)"):
        Tensor([]).max()

"""A learner's operation cannot change the arrays of the graph, and keeps no hand on its results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.errors import OperationError
from minigrad.events import verify
from minigrad.events.file import to_json
from minigrad.tensor import Tensor


def overwrite(x: Any) -> Any:
    """Write 100 to the first element, if there are elements."""
    if isinstance(x, np.ndarray):
        x[0] = 100.0
    return x


def fill(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        x.fill(0.0)
    return x


def add_in_place(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        x += 1.0
    return x


def through_out(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        np.negative(x, out=x)
    return x


WRITES = [overwrite, fill, add_in_place, through_out, lambda x: np.sort(x) is x.sort()]


def square(slope: Any, forward: Any = lambda m, x: x * x, **about: Any) -> Any:
    return mg.operation("guarded_square", forward, [slope], **about)


@pytest.fixture
def numpy_flags() -> Iterator[None]:
    """NumPy's settings are afterwards what they were."""
    before = np.geterr()
    yield
    assert np.geterr() == before


@pytest.mark.usefixtures("numpy_flags")
@pytest.mark.parametrize("write", WRITES)
def test_a_derivative_that_writes_to_its_inputs_is_an_error(write: Any) -> None:
    slopes = lambda out, x: (write(out), 2.0 * x)[1], lambda out, x: (write(x), 2.0 * x)[1]
    for slope in slopes:
        op = square(slope)
        x = Tensor([2.0, 3.0], name="x")
        y = op(x)
        with pytest.raises(OperationError, match=r"'guarded_square'.*x = x\.copy\(\)"):
            y.backward([1.0, 1.0])
        assert x.grad is None
        np.testing.assert_array_equal(x.data, [2.0, 3.0])
        np.testing.assert_array_equal(y.data, [4.0, 9.0])
        assert "guarded_square" in mg.trace(y).error[1]
        with pytest.raises(OperationError):
            y.local_derivatives(0)


@pytest.mark.usefixtures("numpy_flags")
@pytest.mark.parametrize("write", WRITES)
def test_a_forward_that_writes_to_its_inputs_is_an_error(write: Any) -> None:
    one = square(2.0, lambda m, x: (write(x), 2.0 * x)[1])
    two = mg.operation("guarded_two", lambda m, x, y: (write(y), x * y)[1], [1.0, 1.0])
    x, w = Tensor([2.0, 3.0]), Tensor([5.0, 7.0])
    given = np.array([5.0, 7.0])
    for call in (lambda: one(x), lambda: two(x, w), lambda: two(x, given), lambda: one(given)):
        with pytest.raises(OperationError, match=r"'guarded_(square|two)'.*read-only"):
            call()
    np.testing.assert_array_equal(x.data, [2.0, 3.0])
    np.testing.assert_array_equal(w.data, [5.0, 7.0])
    np.testing.assert_array_equal(given, [5.0, 7.0])


@pytest.mark.parametrize("part", ["domain", "condition", "value"])
def test_domains_and_edges_cannot_write_either(part: str) -> None:
    def writes(*xs: Any) -> Any:
        overwrite(xs[-1])
        return xs[-1] == xs[-1]

    def always(x: Any) -> Any:
        return x == x

    about: dict[str, Any] = {
        "domain": {"domain": writes},
        "condition": {"edges": {0: [(writes, 1.0)]}},
        "value": {"edges": {0: [(always, writes)]}},
    }[part]
    op = square(lambda out, x: 2.0 * x, **about)
    x = Tensor([2.0, 3.0])
    with pytest.raises(OperationError, match="guarded_square"):
        op(x).backward([1.0, 1.0])
    np.testing.assert_array_equal(x.data, [2.0, 3.0])


def test_the_arrays_that_a_formula_keeps_are_not_those_of_the_graph() -> None:
    value, slope = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    op = square(lambda out, x: slope, lambda m, x: value)
    x = Tensor([2.0, 3.0], name="x")
    y = op(x)
    z = y * y
    trace, local = mg.trace(z), y.local_derivatives(0)
    value[:] = slope[:] = 50.0
    np.testing.assert_array_equal(y.data, [1.0, 2.0])
    np.testing.assert_array_equal(local, [3.0, 4.0])
    np.testing.assert_array_equal(trace.edges[-1].local, [3.0, 4.0])
    slope[:] = [3.0, 4.0]
    z.backward([1.0, 1.0])
    np.testing.assert_array_equal(x.grad, [6.0, 16.0])


def test_the_input_itself_may_be_the_result() -> None:
    op = square(1.0, lambda m, x: x)
    x, given = Tensor([2.0, 3.0]), np.array([2.0, 3.0])
    y, plain = op(x), op(given)
    assert not np.shares_memory(y._data, x._data)
    plain[0] = 9.0
    assert given[0] == 2.0
    y.backward([1.0, 2.0])
    np.testing.assert_array_equal(x.grad, [1.0, 2.0])


def test_constants_are_guarded_in_second_order_too() -> None:
    op = mg.operation(
        "guarded_product",
        lambda m, x, y: x * y,
        [lambda out, x, y: (overwrite(y), 1.0 * y)[1], lambda out, x, y: 1.0 * x],
    )
    x, constant = Tensor([2.0, 3.0], name="x"), np.array([5.0, 7.0])
    z = op(x, constant)
    with pytest.raises(OperationError, match="guarded_product"):
        z.backward([1.0, 1.0], create_graph=True)
    np.testing.assert_array_equal(z.inputs[1].data, [5.0, 7.0])


def test_a_formula_that_writes_to_nothing_works_in_every_mode() -> None:
    cube = mg.operation(
        "guarded_cube",
        lambda m, x, *, k=1.0: k * x * x * x,
        [lambda out, x, *, k: 3.0 * k * x * x],
        domain=lambda x: x > -9.0,
        edges={0: [(lambda x: x == 0.0, 0.0)]},
    )
    for k in (1.0, 2.0):
        x = Tensor([0.0, 2.0, -3.0], name="x")
        y = cube(x, k=k)
        y.backward([1.0, 1.0, 1.0], create_graph=True)
        np.testing.assert_array_equal(x.grad.data, k * np.array([0.0, 12.0, 27.0]))
        first, x.grad = x.grad, None
        first.backward([1.0, 1.0, 1.0])
        np.testing.assert_array_equal(x.grad, k * np.array([0.0, 12.0, -18.0]))
        assert [v.data for v in mg.expand(y)] == y.data.tolist()
        report = verify(to_json(mg.trace(y), values=True))
        assert (report.faults, report.unknown) == ((), ())
        v = mg.Value(2.0)
        cube(v, k=k).backward()
        assert v.grad == 12.0 * k
    assert "guarded_cube" in str(mg.explain(y.sum(), x))


@pytest.mark.usefixtures("numpy_flags")
def test_an_exception_leaves_the_flags_of_numpy_alone() -> None:
    op = square(1.0, lambda m, x: {}["no"])
    with pytest.raises(KeyError):
        op(Tensor([1.0]))
    with mg.errstate("raise"), pytest.raises(mg.errors.NumericalError):
        mg.log(Tensor([0.0]))

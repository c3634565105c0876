"""What was decided once: each row of section 4 of the design that concerns scalars.

The tests stand in the order of that table and are named after its rows.
"""

from __future__ import annotations

import copy
import gc
import math
import operator
import pickle
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from math import inf, isnan, nan, pi
from time import perf_counter
from typing import Any

import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import (
    ComparisonWarning, DetachedWarning, GradientError, MinigradError, NumericalError,
    NumericalWarning, StaleError,
)  # fmt: skip


def chain(length: int) -> tuple[Value, Value]:
    """A leaf and the end of ``length`` additions of 1.0."""
    x = y = Value(1.0)
    for _ in range(length):
        y = y + 1.0
    return x, y


@pytest.fixture
def broken() -> Iterator[Callable[[Any], Any]]:
    """An operation of a learner whose derivative raises."""

    def slope(out: Any, x: Any) -> Any:
        raise LookupError("the learner's mistake")

    function = mg.operation("broken_rule", lambda m, x: 1.0 * x, [slope])
    yield function
    del mg.ops.OPS["broken_rule"]  # type: ignore[attr-defined]


# ---- backward() twice ---------------------------------------------------------------------------


def test_backward_twice_leaves_accumulate_and_inner_nodes_hold_the_last_pass() -> None:
    a, b, d = Value(3.0), Value(2.0), Value(1.0)
    inner = a + b
    e = inner * d
    for times in (1.0, 2.0, 3.0):
        e.backward()
        assert (a.grad, b.grad, d.grad) == (times, times, times * 5.0)
        assert (inner.grad, e.grad) == (1.0, 1.0)


def test_two_outputs_share_leaves_and_inner_nodes() -> None:
    x = Value(3.0)
    h = x * x
    y, z = 2.0 * h, h * h
    y.backward()
    z.backward()
    assert h.grad == 18.0, "of the last pass"
    assert x.grad == 2.0 * 6.0 + 18.0 * 6.0


def test_an_exception_leaves_every_grad_as_it_was(broken: Callable[[Any], Any]) -> None:
    x, w = Value(2.0), Value(3.0)
    h = x * w
    h.backward()
    before = (x.grad, w.grad, h.grad)
    y = broken(h) * w + x
    with pytest.raises(MinigradError):
        y.backward()
    assert (x.grad, w.grad, h.grad, y.grad) == (*before, None)
    with pytest.raises(MinigradError):
        y.backward(create_graph=True)
    assert (x.grad, w.grad, h.grad, y.grad) == (*before, None)
    h.backward()  # and the next pass is sound
    assert (x.grad, w.grad, h.grad) == (6.0, 4.0, 1.0)


def test_numerical_error_in_backward_leaves_every_grad_as_it_was() -> None:
    x, w = Value(0.0), Value(3.0)
    y = mg.sqrt(x) + w
    with mg.errstate("raise"), pytest.raises(NumericalError, match=r"sqrt\(x=0\.0\)"):
        y.backward()
    assert (x.grad, w.grad, y.grad) == (None, None, None)


def test_the_seed_scales_the_pass() -> None:
    x = Value(3.0)
    (x * x).backward(seed=Fraction(1, 2))
    assert x.grad == 3.0
    with pytest.raises(TypeError, match="seed"):
        (x * x).backward(seed="1")  # type: ignore[arg-type]
    assert x.grad == 3.0
    leaf = Value(1.0)
    leaf.backward()
    leaf.backward(2.0)
    assert leaf.grad == 3.0


def test_a_node_can_be_the_seed_of_a_differentiable_pass() -> None:
    x, v = Value(3.0), Value(5.0)
    (x * x).backward(seed=v, create_graph=True)
    gradient = x.grad
    assert gradient.data == 30.0
    x.zero_grad()
    gradient.backward()
    assert (v.grad, x.grad) == (6.0, 10.0)


# ---- .grad --------------------------------------------------------------------------------------


def test_grad_is_none_before_any_pass_and_shown_as_a_dot() -> None:
    x = Value(2.0, name="x")
    assert x.grad is None
    assert repr(x) == "Value(2.0, name='x', grad=·)"
    assert repr(Value(2.0)) == "Value(2.0, grad=·)"
    (x * 3.0).backward()
    assert type(x.grad) is float
    assert repr(x) == "Value(2.0, name='x', grad=3.0)"
    x.zero_grad()
    assert x.grad is None


def test_grad_is_a_node_only_after_create_graph() -> None:
    x = Value(3.0)
    (x * x).backward(create_graph=True)
    assert isinstance(x.grad, Value)
    assert x.grad.data == 6.0
    assert repr(x) == "Value(3.0, grad=6.0)"


def test_a_plain_pass_on_top_of_a_node_gradient_raises_and_says_zero_grad() -> None:
    x, w = Value(3.0, name="x"), Value(1.0)
    (x * x).backward(create_graph=True)
    node = x.grad
    with pytest.raises(GradientError, match="zero_grad"):
        (x * w).backward()
    assert x.grad is node
    assert w.grad is None, "nothing of the pass was published"
    x.zero_grad()
    (x * w).backward()
    assert x.grad == 1.0


def test_two_create_graph_passes_accumulate_as_nodes() -> None:
    x = Value(3.0)
    (x * x).backward()
    (x * x).backward(create_graph=True)
    (x * x).backward(create_graph=True)
    assert x.grad.data == 18.0
    gradient = x.grad
    x.zero_grad()
    gradient.backward()
    assert x.grad == 4.0


def test_the_setter_of_grad_takes_none_and_numbers() -> None:
    x = Value(2.0)
    for given, kept in ((0.0, 0.0), (3, 3.0), (Fraction(1, 2), 0.5), (True, 1.0), (None, None)):
        x.grad = given
        assert x.grad == kept
        assert x.grad is None or type(x.grad) is float
    for refused in ("1", 1j, [1.0], object()):
        with pytest.raises(TypeError, match="grad"):
            x.grad = refused
    x.grad = 0
    (x * x).backward()
    assert x.grad == 4.0


# ---- depth --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_chain() -> Iterator[list[Value]]:
    ends = [*chain(1_000_000)]
    yield ends
    ends.clear()  # the deletion of a million nodes in a row


def test_depth_of_a_million_backward_and_repr(long_chain: list[Value]) -> None:
    limit = sys.getrecursionlimit()
    x, y = long_chain
    assert y.data == 1_000_001.0
    y.backward()
    assert x.grad == 1.0
    assert repr(y) == "Value(1000001.0, grad=1.0)"
    assert sys.getrecursionlimit() == limit


def test_depth_of_a_million_deletion_without_the_garbage_collector() -> None:
    x, y = chain(1_000_000)
    inner = weakref.ref(y.inputs[0])
    with mg.pause_gc():
        del y
        assert inner() is None
    assert x.data == 1.0


def test_depth_deepcopy() -> None:
    _, y = chain(200_000)
    twin = copy.deepcopy(y)
    twin.backward()
    leaf = mg.topological_order(twin)[0]
    assert (leaf.grad, leaf.data, leaf.op) == (1.0, 1.0, None)
    assert mg.topological_order(y)[0].grad is None


def test_depth_of_second_order() -> None:
    x, y = chain(20_000)
    (y * y).backward(create_graph=True)
    gradient = x.grad
    x.zero_grad()
    gradient.backward()
    assert x.grad == 2.0


def test_visits_are_linear_in_nodes_and_edges() -> None:
    """2^60 paths lead from y to x; a walk per path would not come back."""
    x = y = Value(1.0)
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad == 2.0**60
    assert len(mg.topological_order(y)) == 61
    assert len(mg.topological_order(copy.deepcopy(y))) == 61
    x.zero_grad()
    y.backward(create_graph=True)
    assert x.grad.data == 2.0**60


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_dot_of_many_inputs_is_linear(create_graph: bool) -> None:
    """4 times the inputs may not take 16 times as long (8 leaves room for a busy machine)."""

    def seconds(n: int) -> float:
        ws, xs = ([Value(1.0) for _ in range(n)] for _ in range(2))
        y = mg.dot(ws, xs)
        start = perf_counter()
        y.backward(create_graph=create_graph)
        return perf_counter() - start

    with mg.pause_gc():
        small = min(seconds(500) for _ in range(3))
        large = min(seconds(2_000) for _ in range(3))
    assert large < 8.0 * small


# ---- identity -----------------------------------------------------------------------------------


def test_equality_and_hash_are_identity() -> None:
    a, b = Value(2.0), Value(2.0)
    assert a == a  # noqa: PLR0124
    assert (a == b) is False
    assert a != b
    assert len({a, b, a}) == 2
    assert a in [b, a]
    assert a not in [b]
    assert (a == "2", a == None) == (False, False)  # noqa: E711


@pytest.mark.parametrize("compare", [operator.eq, operator.ne, lambda x, y: y == x])
def test_a_node_compared_with_a_number_warns(compare: Callable[[Any, Any], bool]) -> None:
    with pytest.warns(ComparisonWarning, match=r"\.data == 2(\.0)?\b.*mg\.equal\(.*2") as caught:
        answer = compare(Value(2.0), 2.0)
    assert answer is (compare is operator.ne)
    assert caught[0].filename.endswith(__name__.rsplit(".", 1)[-1] + ".py")


def test_serial_numbers_come_from_a_counter() -> None:
    from minigrad.modes import serial_of

    serials = [serial_of(Value(float(i)) * 2.0) for i in range(1000)]  # each dies at once
    assert len(set(serials)) == 1000
    assert serials == sorted(serials)


# ---- < <= > >= ----------------------------------------------------------------------------------


def test_order_comparisons_give_bool() -> None:
    a, b = Value(1.0), Value(2.0)
    cases = [(a < b, True), (a <= 1, True), (a > b, False), (a >= 1.5, False), (0 < a, True)]  # noqa: SIM300
    cases += [(Fraction(1, 2) < a, True), (a < nan, False), (a >= nan, False), (a < 10**400, True)]
    for answer, expected in cases:
        assert answer is expected
    assert max(a, b) is b
    assert sorted([b, a]) == [a, b]
    assert (bool(a), bool(Value(0.0))) == (True, False)
    with pytest.raises(TypeError):
        a < "2"  # noqa: B015
    with pytest.raises(TypeError):
        a < None  # noqa: B015


def test_comparison_functions_give_nodes_without_gradient() -> None:
    a, b = Value(1.0), Value(2.0)
    for function, expected in ((mg.less, 1.0), (mg.greater, 0.0), (mg.equal, 0.0)):
        node = function(a, b)
        assert (node.data, node.op.name, node.inputs) == (expected, function.__name__, (a, b))
        node.backward()
        assert (a.grad, b.grad, node.grad) == (None, None, 1.0)
    assert a.equal(1).data == 1.0


# ---- constants ----------------------------------------------------------------------------------


def test_numbers_of_an_expression_are_constants() -> None:
    x = Value(3.0)
    y = 2 * x + np_free_number()
    two, same = y.inputs[0].inputs
    assert same is x
    assert (two.data, two.grad, two.op, two.inputs) == (2.0, None, None, ())
    assert mg.topological_order(y) == [x, y.inputs[0], y]
    y.backward()
    assert (x.grad, two.grad, y.inputs[1].grad) == (2.0, None, None)


def np_free_number() -> Fraction:
    return Fraction(1, 4)


def test_a_constant_taken_from_inputs_stays_a_constant() -> None:
    x = Value(3.0)
    two = (2.0 * x).inputs[0]
    for y in (two * x, x * two, mg.sin(two) * x, mg.dot([two], [x]), two + 1.0 + x, -two * x):
        x.zero_grad()
        y.backward()
        assert two.grad is None
        assert two not in mg.topological_order(y)
        assert x.grad is not None


@pytest.mark.parametrize(
    ("expression", "row", "slots"),
    [
        (lambda v: v - 1.0, "sub", (0,)), (lambda v: 1.0 - v, "sub", (1,)),
        (lambda v: v / 4.0, "div", (0,)), (lambda v: 4.0 / v, "div", (1,)),
        (lambda v: -v, "neg", (0,)), (lambda v: v**2.0, "pow", (0,)),
        (lambda v: 2.0**v, "pow", (1,)), (lambda v: v * v, "mul", (0, 1)),
        (lambda v: v // 2.0, "floordiv", (0,)), (lambda v: 5.0 % v, "mod", (1,)),
        (lambda v: abs(v), "abs", (0,)), (lambda v: v - v, "sub", (0, 1)),
    ],
)  # fmt: skip
def test_each_operator_is_a_row_of_its_own(
    expression: Callable[[Value], Value], row: str, slots: tuple[int, ...]
) -> None:
    v = Value(3.0)
    y = expression(v)
    assert y.op.name == row
    assert tuple(i for i, x in enumerate(y.inputs) if x is v) == slots
    assert y.data == expression(3.0)  # type: ignore[arg-type]


def test_builtin_sum_adds_nothing_of_its_own() -> None:
    v, w = Value(2.0), Value(3.0)
    assert 0 + v is v
    total = sum([v, w])
    assert total.inputs == (v, w)
    assert +v is v


# ---- accepted data ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (3, 3.0), (True, 1.0), (Fraction(1, 4), 0.25), (Decimal("0.1"), 0.1), (-0.0, -0.0),
        (10**400, inf), (-(10**400), -inf), (Fraction(10**400), inf), (2**53 + 1, 2.0**53),
        (inf, inf), (nan, nan),
    ],
)  # fmt: skip
def test_real_numbers_are_stored_as_float(given: Any, kept: float) -> None:
    x = Value(0.0)
    x.data = given
    for node in (Value(given), x):
        assert type(node.data) is float
        assert repr(node.data) == repr(kept)
    if math.isfinite(kept):
        assert (given * Value(2.0)).data == 2.0 * kept
        assert (Value(2.0) - given).data == 2.0 - kept
        assert mg.maximum(Value(-9.0), given).data == kept


@pytest.mark.parametrize("kind", "float64 float32 float16 int64 uint8 bool_".split())
def test_numpy_scalars_are_stored_as_float(kind: str) -> None:
    np = pytest.importorskip("numpy")
    node = Value(getattr(np, kind)(1))
    assert (type(node.data), node.data) == (float, 1.0)


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ("2.0", r"float\("), (b"2", None), (None, "return"), (1j, r"\.real"),
        ([1.0], r"Tensor.*stack_values|stack_values.*Tensor"), ((1.0,), "Tensor"), ({1.0}, None),
        (object(), "number"), (Value(1.0), r"node.*\.data"), (Value, None), (math.sin, None),
    ],
    ids=[
        "str", "bytes", "None", "complex", "list", "tuple", "set", "object", "node", "class",
        "function",
    ],
)  # fmt: skip
def test_what_is_no_real_number_is_a_type_error_that_names_the_fix(
    given: Any, fix: str | None
) -> None:
    x = Value(1.0)
    with pytest.raises(TypeError, match=fix):
        Value(given)
    with pytest.raises(TypeError, match=fix):
        x.data = given
    assert x.data == 1.0
    if isinstance(given, Value):
        return
    with pytest.raises(TypeError, match=fix):
        mg.exp(given)
    with pytest.raises(TypeError, match=fix):
        mg.maximum(x, given)
    with pytest.raises(TypeError):
        x * given
    with pytest.raises(TypeError):
        given + x
    with pytest.raises(TypeError, match=fix):
        mg.sum([x, given])


def test_arrays_are_refused_as_data_with_the_fix() -> None:
    np = pytest.importorskip("numpy")
    for given in (np.array([1.0, 2.0]), np.array([1.0, None]), np.array(2.0)):
        with pytest.raises(TypeError, match=r"Tensor|\.item\(\)"):
            Value(given)
    for given in (np.complex128(1j), np.datetime64("2024-01-01"), np.str_("a")):
        with pytest.raises(TypeError):
            Value(given)


def test_a_list_for_a_function_of_one_number_names_tensor_and_stack_values() -> None:
    with pytest.raises(TypeError, match="Tensor") as error:
        mg.tanh([1.0, 2.0])
    assert "stack_values" in str(error.value)
    assert "tanh" in str(error.value)


# ---- NumPy on either side -----------------------------------------------------------------------


@pytest.mark.parametrize("name", "add sub mul truediv floordiv mod pow".split())
@pytest.mark.parametrize("kind", "float64 float32 int64".split())
def test_numpy_scalars_on_either_side_give_a_value(name: str, kind: str) -> None:
    np = pytest.importorskip("numpy")
    apply, two = getattr(operator, name), getattr(np, kind)(2)
    left, right = apply(two, Value(3.0)), apply(Value(3.0), two)
    assert (type(left), left.data) == (Value, apply(2.0, 3.0))
    assert (type(right), right.data) == (Value, apply(3.0, 2.0))


def test_numpy_scalars_compare_with_values() -> None:
    np = pytest.importorskip("numpy")
    v = Value(3.0)
    for answer in (np.float64(2) < v, v > np.float64(2), np.int64(3) >= v, v <= np.float32(3)):
        assert answer is True
    with pytest.warns(ComparisonWarning):
        assert (np.float64(3) == v) is False


@pytest.mark.parametrize(
    ("numpy_name", "row"),
    [
        ("exp", "exp"), ("log", "log"), ("sqrt", "sqrt"), ("tanh", "tanh"), ("arctan", "atan"),
        ("absolute", "abs"), ("negative", "neg"), ("square", "square"), ("floor", "floor"),
        ("log1p", "log1p"), ("sign", "sign"), ("rint", "round"), ("arcsinh", "asinh"),
    ],
)  # fmt: skip
def test_numpy_functions_record_our_rows(numpy_name: str, row: str) -> None:
    np = pytest.importorskip("numpy")
    v = Value(0.5)
    y = getattr(np, numpy_name)(v)
    assert isinstance(y, Value)
    assert (y.op.name, y.inputs) == (row, (v,))
    assert y.data == getattr(mg, row)(0.5)


def test_numpy_functions_of_two_numbers_record_too() -> None:
    np = pytest.importorskip("numpy")
    v = Value(0.5)
    for y, data in ((np.maximum(v, 2.0), 2.0), (np.arctan2(1.0, v), math.atan2(1.0, 0.5))):
        assert isinstance(y, Value)
        assert y.data == data


def test_an_array_of_values_is_refused_and_names_stack_values() -> None:
    np = pytest.importorskip("numpy")
    v, w = Value(1.0), Value(2.0)
    for make in (
        lambda: np.array([v, w]), lambda: np.array(v), lambda: np.asarray([[v], [w]]),
        lambda: np.sum([v, w]), lambda: np.mean([v, w]), lambda: np.stack([v, w]),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="stack_values"):
            make()


def test_an_array_and_a_value_never_make_an_object_array() -> None:
    np = pytest.importorskip("numpy")
    array, v = np.array([1.0, 2.0]), Value(3.0)
    for make in (lambda: array * v, lambda: v * array, lambda: array - v, lambda: v**array):
        try:
            result = make()
        except TypeError:
            continue
        assert result.dtype == np.float64
        assert not isinstance(result, np.ndarray)


# ---- float(v), int(v), round(v) -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("convert", "expected"),
    [
        (float, 2.7), (int, 2), (round, 3), (lambda v: round(v, 1), 2.7),
        (math.sin, math.sin(2.7)), (math.floor, 2), (lambda v: "%.1f" % v, "2.7"),
    ],
)  # fmt: skip
def test_leaving_the_graph_works_and_warns(convert: Callable[[Value], Any], expected: Any) -> None:
    v = Value(1.7) + 1.0
    with pytest.warns(DetachedWarning) as caught:
        answer = convert(v)
    assert (type(answer), answer) == (type(expected), expected)
    assert len(caught) == 1
    assert caught[0].filename.endswith(__name__.rsplit(".", 1)[-1] + ".py")


def test_item_data_and_format_are_silent() -> None:
    v = Value(2.0) * 1.5
    assert (v.data, v.item(), f"{v:.3f}", f"{v:>5.1f}|") == (3.0, 3.0, "3.000", "  3.0|")
    assert f"{v}" == str(v) == repr(v)


def test_warnings_come_once_per_place() -> None:
    v = Value(0.0) + 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for i in range(5):
            float(v + float(i))
            mg.log(v - float(i))
            _ = v == i
        assert [w.category for w in caught] == [
            DetachedWarning, NumericalWarning, ComparisonWarning,
        ]  # fmt: skip
        float(v)
        assert len(caught) == 4


def test_a_value_is_no_index_and_the_error_names_int() -> None:
    v = Value(1.0)
    with pytest.raises(TypeError, match=r"int\(v\)"):
        [10, 20, 30][v]  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"int\("):
        range(v)  # type: ignore[call-overload]


def test_a_value_is_no_index_of_an_array_either() -> None:
    np = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match=r"int\(v\)"):
        np.array([10, 20, 30])[Value(1.0)]


# ---- out of range -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (lambda v: mg.log(0.0 * v), -inf), (lambda v: v / 0.0, inf), (lambda v: v // 0.0, inf),
        (lambda v: mg.exp(1000.0 * v), inf), (lambda v: (-8.0 * v) ** (1 / 3), nan),
        (lambda v: mg.log(-v), nan), (lambda v: (1e200 * v) ** 2, inf), (lambda v: v % 0.0, nan),
        (lambda v: 0.0 ** (-v), inf), (lambda v: mg.cosh(1e4 * v), inf),
        (lambda v: (-(10.0 * v)) ** 401.0, -inf), (lambda v: mg.sinh(-1e4 * v), -inf),
        (lambda v: -v / 0, -inf), (lambda v: (0.0 * v) / 0, nan), (lambda v: 1e308 * (v + 9), inf),
    ],
)  # fmt: skip
def test_out_of_range_gives_ieee_values_and_one_warning(
    expression: Callable[[Value], Value], expected: float
) -> None:
    with pytest.warns(NumericalWarning) as caught:
        y = expression(Value(1.0))
    assert type(y.data) is float
    assert repr(y.data) == repr(expected)
    assert len(caught) == 1
    assert f"{y.op.name}(" in str(caught[0].message)
    assert repr(y.inputs[0].data) in str(caught[0].message)
    assert caught[0].filename.endswith(__name__.rsplit(".", 1)[-1] + ".py")


def test_the_warning_comes_where_it_arises_and_not_along_the_chain() -> None:
    with pytest.warns(NumericalWarning) as caught:
        y = mg.log(Value(0.0))
        for _ in range(5):
            y = 2.0 * y + 1.0
    assert len(caught) == 1
    assert y.data == -inf


def test_a_nan_that_arises_from_infinities_is_reported_where_it_arises() -> None:
    x = Value(inf)
    for expression, name in (
        (lambda: x - x, "sub"), (lambda: 0.0 * x, "mul"), (lambda: x / x, "div"),
        (lambda: mg.sin(x), "sin"),
    ):  # fmt: skip
        with pytest.warns(NumericalWarning, match=rf"\b{name}\("):
            assert isnan(expression().data)


def test_errstate_scopes_what_happens() -> None:
    x = Value(0.0)
    with mg.errstate("raise"):
        with pytest.raises(ArithmeticError, match=r"log\(x=0\.0\).*test_behaviour\.py:\d+"):
            mg.log(x)
        with mg.errstate("ignore"):
            assert mg.log(x).data == -inf
        with pytest.raises(NumericalError):
            mg.log(0.0)
    with pytest.warns(NumericalWarning), mg.errstate("warn"):
        mg.log(x)
    with pytest.raises(ValueError, match=r"'warn', 'raise' or 'ignore'"):
        mg.errstate("silent")


def test_plain_numbers_follow_the_same_rules() -> None:
    with pytest.warns(NumericalWarning, match=r"log\("):
        assert mg.log(0) == -inf
    with mg.errstate("ignore"):
        assert (mg.exp(1e4), mg.reciprocal(-0.0)) == (inf, -inf)
        assert isnan(mg.sqrt(-1))
        assert type(mg.sqrt(-1)) is float


# ---- kinks --------------------------------------------------------------------------------------


def slope(function: Callable[[Value], Value], at: float) -> float | None:
    x = Value(at)
    function(x).backward()
    return x.grad  # type: ignore[no-any-return]


def test_kinks_take_the_slope_of_the_table() -> None:
    """Single rows are in ``closed_forms.py``; here, the same numbers through compositions."""
    assert slope(lambda x: mg.minimum(mg.maximum(x, 0.0), 6.0), 6.0) == 0.5
    assert slope(lambda x: mg.minimum(mg.maximum(x, 0.0), 6.0), 0.0) == 0.5
    assert slope(lambda x: mg.maximum(x, x), 3.0) == 1.0
    assert slope(lambda x: mg.maximum(x, 2.0 * x), 0.0) == 1.5
    assert slope(lambda x: abs(x) * abs(x), 0.0) == 0.0
    assert slope(lambda x: mg.hypot(x, 0.0 * x), 0.0) == 0.0
    assert slope(lambda x: x**0, 0.0) == 0.0
    assert slope(lambda x: x**1, 0.0) == 1.0
    assert slope(lambda x: 0.0**x, 2.0) == 0.0
    assert slope(lambda x: x + mg.floor(x), 3.8) == 1.0
    assert slope(lambda x: mg.floor(x), 3.8) is None
    assert slope(lambda x: x // 2.0, 7.5) is None
    assert slope(lambda x: mg.sign(x), 3.0) == 0.0


# ---- where --------------------------------------------------------------------------------------


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    ("function", "at", "expected"),
    [
        (lambda x: mg.where(x > 0, mg.log(x), 0.0), 0.0, 0.0),
        (lambda x: mg.where(mg.greater(x, 0.0), mg.log(x), 0.0), 0.0, 0.0),
        (lambda x: mg.where(x > 0, mg.sqrt(x), x), -4.0, 1.0),
        (lambda x: mg.where(x <= 0, mg.exp(x), 1.0 + x), 1000.0, 1.0),
        (lambda x: mg.where(mg.equal(x, 0.0), 1.0, mg.sin(x) / x), 0.0, 0.0),
        (lambda x: mg.where(x > 0, mg.sqrt(mg.log(mg.exp(1.0 / x) - 1.0)), 3.0 * x), 0.0, 3.0),
        (lambda x: mg.where(False, x / 0.0 + mg.log(x) ** 0.5, x * x), -3.0, -6.0),
        (lambda x: mg.where(True, x * x, (x * x) / 0.0), 3.0, 6.0),
        (lambda x: mg.where(x < 0, mg.where(x < 0, x, mg.log(x)), 1.0 / x), -2.0, 1.0),
        (lambda x: 5.0 * mg.where(x > 0, mg.dot([mg.log(x), 1.0], [x, x]), x), -2.0, 5.0),
        (lambda x: mg.where(x > 0, mg.sum([mg.log(x), 1.0 / x]), x), 0.0, 1.0),
        (lambda x: mg.where(x > 0, mg.clip(mg.log(x), x, 1.0 / x), x), 0.0, 1.0),
        (lambda x: mg.where(x > 0, mg.log(x), 2.0 * x) + mg.where(x > 0, 1.0 / x, x), 0.0, 3.0),
    ],
)  # fmt: skip
def test_where_sends_nothing_to_the_branch_not_taken(
    function: Callable[[Value], Value], at: float, expected: float, create_graph: bool
) -> None:
    x = Value(at)
    with mg.errstate("ignore"):
        y = function(x)
    with mg.errstate("raise"):  # nothing is computed for what was not taken
        y.backward(create_graph=create_graph)
    gradient = x.grad
    assert (gradient.data if create_graph else gradient) == expected


@pytest.mark.parametrize(
    ("function", "at", "expected"),
    [
        (lambda x: mg.where(x > 0, mg.log(x), 0.0), 0.0, 0.0),
        (lambda x: mg.where(x > 0, mg.sqrt(x), x * x * x), -2.0, -12.0),
        (lambda x: mg.where(x <= 0, mg.exp(x), x * x), 1000.0, 2.0),
        (lambda x: mg.exp(mg.where(x > 0, mg.log(x), 2.0 * x)), 0.0, 4.0),
        (lambda x: x * mg.where(x > 0, mg.sqrt(mg.log(x)), x), -1.0, 2.0),
    ],
)  # fmt: skip
def test_where_sends_nothing_in_second_order_either(
    function: Callable[[Value], Value], at: float, expected: float
) -> None:
    x = Value(at)
    with mg.errstate("ignore"):
        y = function(x)
    with mg.errstate("raise"):
        y.backward(create_graph=True)
        gradient = x.grad
        x.zero_grad()
        gradient.backward()
    assert (x.grad or 0.0) == expected


def test_where_gives_exactly_zero_and_not_none_when_only_nothing_arrives() -> None:
    x, w = Value(-1.0), Value(2.0)
    with mg.errstate("ignore"):
        mg.where(x > 0, mg.log(x) * w, 1.0).backward()
    assert (x.grad, w.grad) == (0.0, 0.0)
    x.grad = 5.0
    mg.where(False, x, 1.0).backward()
    assert x.grad == 5.0


def test_a_real_zero_times_infinity_stays_nan_and_is_reported() -> None:
    x = Value(1000.0)
    with mg.errstate("ignore"):
        y = mg.log(1.0 + mg.exp(x))
    with pytest.warns(NumericalWarning, match=r"0\.0.*inf|inf.*0\.0"):
        y.backward()
    assert isnan(x.grad)


# ---- overflow -----------------------------------------------------------------------------------


@pytest.mark.parametrize("z", [-1e150, -1000.0, -745.2, -40.0, 40.0, 710.0, 1000.0, 1e150])
@pytest.mark.parametrize("name", "sigmoid log_sigmoid softplus tanh silu gelu erf elu".split())
def test_stable_forms_never_overflow_in_first_and_second_order(name: str, z: float) -> None:
    """Warnings are errors here: no intermediate result may be infinite either."""
    x = Value(z)
    y = getattr(mg, name)(x)
    y.backward(create_graph=True)
    gradient = x.grad
    x.zero_grad()
    gradient.backward()
    for number in (y.data, gradient.data, x.grad or 0.0):
        assert math.isfinite(number)


@pytest.mark.parametrize("name", "atan erf gelu asinh softplus sinc".split())
def test_a_differentiable_pass_reports_nothing_that_the_plain_pass_does_not(name: str) -> None:
    """1e200 squared is inf inside a formula of ours, whose value is finite all the same."""
    x = Value(1e200)
    y = getattr(mg, name)(x)
    y.backward()
    plain = x.grad
    x.zero_grad()
    y.backward(create_graph=True)
    assert x.grad.data == plain


@pytest.mark.parametrize("x", [-1000.0, -3.0, 0.0, 1000.0])
@pytest.mark.parametrize("y", [-1000.0, 0.0, 1000.0])
def test_logaddexp_never_overflows(x: float, y: float) -> None:
    a, b = Value(x), Value(y)
    out = mg.logaddexp(a, b)
    out.backward()
    assert out.data == pytest.approx(max(x, y) + math.log1p(math.exp(-abs(x - y))), rel=1e-15)
    assert a.grad + b.grad == pytest.approx(1.0, rel=1e-15)


def test_infinite_arguments_of_stable_forms() -> None:
    for name, at, value, gradient in (
        ("sigmoid", inf, 1.0, 0.0), ("sigmoid", -inf, 0.0, 0.0), ("tanh", inf, 1.0, 0.0),
        ("softplus", inf, inf, 1.0), ("softplus", -inf, 0.0, 0.0), ("relu", inf, inf, 1.0),
        ("log_sigmoid", -inf, -inf, 1.0), ("log_sigmoid", inf, 0.0, 0.0), ("atan", inf, pi / 2, 0.0),
    ):  # fmt: skip
        x = Value(at)
        y = getattr(mg, name)(x)
        y.backward()
        assert (y.data, x.grad) == (value, gradient), name


# ---- changed .data ------------------------------------------------------------------------------


def test_a_recorded_graph_keeps_its_numbers() -> None:
    x, w = Value(2.0), Value(5.0)
    s = mg.exp(x * w)
    y = s * w
    before = s.data
    x.data, w.data, s.data = 100.0, 100.0, 0.0
    y.backward()
    assert x.grad == 5.0 * before * 5.0
    assert w.grad == before + 5.0 * before * 2.0
    assert y.local_derivatives(1) == before


@pytest.mark.parametrize("stale", ["x", "h"])
def test_create_graph_over_a_stale_node_raises_and_names_it(stale: str) -> None:
    x = Value(2.0, name="x")
    h = x * 1.0
    h.name = "h"
    y = h * h
    {"x": x, "h": h}[stale].data = 7.0
    with pytest.raises(StaleError, match=f"name='{stale}'"):
        y.backward(create_graph=True)
    assert (x.grad, h.grad, y.grad) == (None, None, None)
    y.backward()
    assert x.grad == 4.0


def test_training_step_of_micrograd_style() -> None:
    p = Value(1.0)
    for _ in range(3):
        p.grad = 0.0
        (p * p).backward()
        p.data -= 0.25 * p.grad
    assert p.data == 0.125
    assert p.op is None


# ---- += on a node -------------------------------------------------------------------------------


def test_augmented_assignment_makes_a_new_node() -> None:
    x = y = Value(3.0)
    y += 1.0
    y *= x
    y -= x
    y /= 2.0
    y **= 2.0
    assert x.op is None
    assert x.data == 3.0
    y.backward()
    u = (3.0 * 4.0 - 3.0) / 2.0
    assert (y.data, x.grad) == (u * u, 2.0 * u * (2.0 * 3.0 + 1.0 - 1.0) / 2.0)


# ---- copy ---------------------------------------------------------------------------------------


def test_deepcopy_is_a_graph_of_its_own() -> None:
    a = Value(2.0, name="a")
    y = mg.clip(a * a, 0.0, 9.0) + 1.0
    y.backward()
    y2, a2 = copy.deepcopy((y, a))
    assert a2 in mg.topological_order(y2)
    assert (a2.grad, a2.name, y2.data) == (4.0, "a", 5.0)
    y2.backward()
    assert (a2.grad, a.grad) == (8.0, 4.0)
    a2.zero_grad()
    y2.backward(create_graph=True)
    gradient = a2.grad
    a2.zero_grad()
    gradient.backward()
    assert (a2.grad, a.grad) == (2.0, 4.0)


def test_copy_shares_the_inputs() -> None:
    a = Value(2.0, name="a")
    y = a * a
    twin = copy.copy(y)
    assert twin is not y
    assert twin.inputs == y.inputs
    twin.backward()
    assert a.grad == 4.0
    leaf = copy.copy(a)
    assert (leaf.data, leaf.name, leaf.op) == (2.0, "a", None)
    leaf.data = 9.0
    assert a.data == 2.0


def test_pickling_a_leaf_works_and_a_node_with_history_says_detach() -> None:
    w = Value(1.5, name="w")
    y = w * 2.0
    y.backward()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(w, protocol))
        assert (type(twin), twin.data, twin.name, twin.grad) == (Value, 1.5, "w", 2.0)
        with pytest.raises(TypeError, match=r"detach\(\)"):
            pickle.dumps(y, protocol)
    twins = pickle.loads(pickle.dumps([w, w, y.detach()]))
    assert twins[0] is twins[1]
    assert twins[2].data == 3.0


def test_detach_is_a_leaf_with_the_same_number() -> None:
    x = Value(2.0)
    d = (x * x).detach()
    assert (d.data, d.op, d.inputs, d.grad) == (4.0, None, (), None)
    (d * x).backward()
    assert (x.grad, d.grad) == (4.0, 2.0)


# ---- unconnected --------------------------------------------------------------------------------


def test_an_unconnected_leaf_has_no_gradient_and_a_zero_derivative_sends_zero() -> None:
    x, unused, zero = Value(2.0), Value(3.0), Value(4.0)
    (x * x + zero * 0.0).backward()
    assert (x.grad, unused.grad, zero.grad) == (4.0, None, 0.0)
    assert repr(zero.grad) == "0.0"


# ---- modes and threads --------------------------------------------------------------------------


def test_no_grad_as_a_context_manager() -> None:
    x = Value(3.0)
    with mg.no_grad() as _:
        assert not mg.recording_enabled()
        y = x * x + mg.sin(x) + mg.dot([x], [x]) + mg.clip(x, 0, 1)
    assert mg.recording_enabled()
    assert (y.op, y.inputs) == (None, ())
    assert (x * y).op is not None


def test_no_grad_as_a_decorator_acts_per_call() -> None:
    @mg.no_grad()
    def double(x: Value, fail: bool = False, depth: int = 0) -> Value:
        """Twice."""
        assert not mg.recording_enabled()
        if depth:
            double(x, depth=depth - 1)
            assert not mg.recording_enabled()
        if fail:
            raise LookupError
        return x * 2.0

    assert mg.recording_enabled()
    assert (double.__name__, double.__doc__) == ("double", "Twice.")
    assert double(Value(1.0), depth=3).op is None
    assert mg.recording_enabled()
    with pytest.raises(LookupError):
        double(Value(1.0), fail=True)
    assert mg.recording_enabled()


def test_no_grad_is_re_entrant_and_restored_on_exceptions() -> None:
    block = mg.no_grad()
    with pytest.raises(LookupError), block, block, mg.no_grad():
        raise LookupError
    assert mg.recording_enabled()
    with block:
        with block:
            pass
        assert not mg.recording_enabled()
    assert mg.recording_enabled()


def test_no_grad_refuses_what_would_run_outside_the_block() -> None:
    with pytest.raises(TypeError, match=r"no_grad\(\)"):
        mg.no_grad(lambda x: x)

    def generator() -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match="with no_grad"):
        mg.no_grad()(generator)


def _suspended() -> Iterator[None]:
    with mg.no_grad():
        yield


def test_a_generator_keeps_its_block_in_force_until_it_is_closed() -> None:
    generator = _suspended()
    next(generator)
    assert not mg.recording_enabled()
    generator.close()  # type: ignore[attr-defined]
    assert mg.recording_enabled()


@pytest.mark.parametrize("closing", [(0, 1), (1, 0)], ids=["first-first", "last-first"])
def test_two_suspended_generators_are_counted(closing: tuple[int, int]) -> None:
    """The block is in force while one of them is open, and over when both are closed."""
    generators = [_suspended(), _suspended()]
    try:
        for generator in generators:
            next(generator)
        generators[closing[0]].close()  # type: ignore[attr-defined]
        assert not mg.recording_enabled()
        generators[closing[1]].close()  # type: ignore[attr-defined]
        assert mg.recording_enabled()
    finally:
        from minigrad import modes

        modes._recording.set(True)


def in_threads(*functions: Callable[[], Any]) -> None:
    """Run each in a thread of its own, and raise here what one of them raised."""
    errors: list[BaseException] = []

    def guarded(function: Callable[[], Any]) -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


def test_recording_and_errstate_belong_to_a_thread() -> None:
    together = threading.Barrier(2)

    def inside() -> None:
        with mg.no_grad(), mg.errstate("ignore"):
            together.wait()
            assert (Value(1.0) * 2.0).op is None
            assert mg.log(Value(0.0)).data == -inf
            together.wait()

    def outside() -> None:
        together.wait()
        assert mg.recording_enabled()
        assert (Value(1.0) * 2.0).op is not None
        with mg.errstate("raise"), pytest.raises(NumericalError):
            mg.log(Value(0.0))
        together.wait()

    in_threads(inside, outside)
    assert (Value(1.0) * 2.0).op is not None


def test_two_threads_run_backward_over_shared_leaves() -> None:
    x, w, rounds = Value(2.0), Value(3.0), 400

    def work() -> None:
        for _ in range(rounds):
            h = x * w
            (h * h + mg.tanh(h) * 0.0).backward()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        in_threads(work, work, work)
    finally:
        sys.setswitchinterval(interval)
    assert x.grad == 3 * rounds * 2.0 * 6.0 * 3.0
    assert w.grad == 3 * rounds * 2.0 * 6.0 * 2.0


def test_two_threads_run_backward_over_one_graph() -> None:
    x = Value(1.0)
    y = x
    for _ in range(200):
        y = y + x
    rounds = 50

    def work() -> None:
        for _ in range(rounds):
            y.backward()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        in_threads(work, work)
    finally:
        sys.setswitchinterval(interval)
    assert x.grad == 2 * rounds * 201.0


def test_a_rule_may_itself_run_a_backward_pass() -> None:
    inner_leaf = Value(3.0)

    def slope_by_a_pass(out: Any, x: Any) -> float:
        inner_leaf.zero_grad()
        (inner_leaf * inner_leaf).backward()
        return inner_leaf.grad  # type: ignore[no-any-return]

    function = mg.operation("pass_in_a_pass", lambda m, x: 6.0 * x, [slope_by_a_pass])
    try:
        x = Value(1.0)
        (function(x) * x).backward()
        assert x.grad == 12.0
    finally:
        del mg.ops.OPS["pass_in_a_pass"]  # type: ignore[attr-defined]


# ---- order --------------------------------------------------------------------------------------


def test_contributions_are_added_in_reverse_topological_order_slots_in_order() -> None:
    """1e16 + 1 − 1e16 depends on the order; all passes must agree on one, to the bit."""
    for order in ((1e16, 1.0, -1e16, 3.0), (1.0, 1e16, 3.0, -1e16), (-1e16, 3.0, 1e16, 1.0)):
        passes = []
        for create_graph in (False, True):
            x = Value(1.0)
            a, b, c, d = (k * x for k in order)
            ((a + b) + (c + d)).backward(create_graph=create_graph)
            passes.append(x.grad.data if create_graph else x.grad)
        # inputs before node, first slot first: a b (a+b) c d (c+d); the sweep comes from the end
        expected = ((order[3] + order[2]) + order[1]) + order[0]
        assert passes == [expected, expected]


# ---- nothing is left ----------------------------------------------------------------------------


def build_and_differentiate(backward: bool) -> list[weakref.ref[Value]]:
    x, w = Value(0.5), Value(2.0)
    h = mg.tanh(x * w + x)
    y = mg.dot([h, w], [x, 1.0]) + mg.sum([h, h]) ** 2.0 + mg.where(x > 0, h, mg.log(x))
    z = mg.clip(y, 0.0, w) + mg.leaky_relu(y, 0.2)
    if backward:
        z.backward()
        assert x.grad is not None
    _ = z.inputs, z.local_derivatives(0), repr(z), mg.topological_order(z)
    return [weakref.ref(node) for node in (x, w, h, y, z)]


@pytest.mark.parametrize("backward", [False, True])
def test_nothing_is_left_after_del_with_the_garbage_collector_off(backward: bool) -> None:
    build_and_differentiate(backward)  # what is made once and kept (caches) is made now
    gc.collect()
    with mg.pause_gc():
        before = len(gc.get_objects())
        dead = build_and_differentiate(backward)
        assert all(ref() is None for ref in dead)
        del dead
        assert len(gc.get_objects()) <= before


def test_pause_gc_is_restored() -> None:
    assert gc.isenabled()
    with pytest.raises(LookupError), mg.pause_gc():
        assert not gc.isenabled()
        raise LookupError
    assert gc.isenabled()

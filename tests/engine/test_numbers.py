"""Section 4 of the design, rows on numbers: what a node is to Python and to NumPy.

The tests stand in the order of that table and are named after its rows.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import (
    ComparisonWarning,
    DetachedWarning,
    NumericalWarning,
)  # fmt: skip

# ---- identity -----------------------------------------------------------------------------------


def test_equality_and_hash_are_identity() -> None:
    a, b = Value(2.0), Value(2.0)
    assert a == a
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


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "int64", "uint8", "bool_"])
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


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
@pytest.mark.parametrize("kind", ["float64", "float32", "int64"])
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


def test_an_object_that_knows_nodes_takes_over() -> None:
    class Dual:
        def __add__(self, other: object) -> str:
            return "dual + other"

        def __radd__(self, other: object) -> str:
            return "other + dual"

        def __rpow__(self, other: object) -> str:
            return "other ** dual"

        def __gt__(self, other: object) -> str:
            return "dual > other"

    v = Value(1.0)
    assert (v + Dual(), Dual() + v) == ("other + dual", "dual + other")
    assert (v ** Dual(), v < Dual()) == ("other ** dual", "dual > other")
    with pytest.raises(TypeError):
        v * Dual()


# ---- float(v), int(v), round(v) -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("convert", "expected"),
    [
        (float, 2.7), (int, 2), (round, 3), (lambda v: round(v, 1), 2.7),
        (math.sin, math.sin(2.7)), (math.floor, 2), (math.ceil, 3),
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


def test_an_array_of_inputs_beside_a_list_of_weights_is_a_list_of_numbers() -> None:
    np = pytest.importorskip("numpy")
    w = [Value(2.0), Value(3.0)]
    y = mg.dot(w, np.array([5.0, 7.0]))
    y.backward()
    assert (y.data, w[0].grad, w[1].grad) == (31.0, 5.0, 7.0)


@pytest.mark.parametrize("x", [-0.5, -0.0, 0.0, 0.5, -1.5, 2.5, -3.0, 1e300, -1e300, inf, -inf])
@pytest.mark.parametrize("name", ["floor", "ceil", "round"])
def test_rounding_keeps_the_sign_of_zero_as_in_arrays(name: str, x: float) -> None:
    function = getattr(mg, name)
    expected = function(mg.Tensor([x])).data[0]
    for got in (function(x), function(Value(x)).data):
        assert type(got) is float
        assert (got, math.copysign(1.0, got)) == (expected, math.copysign(1.0, expected))

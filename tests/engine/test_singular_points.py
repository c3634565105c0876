"""Section 4 of the design, rows on singular points: out of range, kinks, `where`, overflow.

Single rows are in ``closed_forms.py``; here is what happens around them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from math import inf, isnan, nan, pi

import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import (
    NumericalError,
    NumericalWarning,
)  # fmt: skip

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
    with pytest.warns(NumericalWarning):
        y = mg.log(Value(0.0))
    for _ in range(5):
        y = 2.0 * y + 1.0  # here a warning would be an error
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
        with pytest.raises(ArithmeticError, match=r"log\(x=0\.0\).*test_singular_points\.py:\d+"):
            mg.log(x)
        with mg.errstate("ignore"):
            assert mg.log(x).data == -inf
        with pytest.raises(NumericalError):
            mg.log(0.0)
    with pytest.warns(NumericalWarning), mg.errstate("warn"):
        mg.log(x)
    with pytest.raises(ValueError, match=r"'warn', 'raise' or 'ignore'"):
        mg.errstate("silent")


@pytest.mark.parametrize("create_graph", [False, True])
def test_an_infinite_gradient_is_reported_also_where_no_leaf_gets_it(create_graph: bool) -> None:
    inner = mg.floor(Value(0.5))
    y = mg.sqrt(inner)
    with pytest.warns(NumericalWarning, match=r"sqrt\(x=0\.0\)"):
        y.backward(create_graph=create_graph)
    assert (inner.grad.data if create_graph else inner.grad) == inf


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_warning_made_an_error_by_a_filter_is_raised_as_it_is(create_graph: bool) -> None:
    """Filters work as for every warning of Python: ``-W error`` raises the warning itself."""
    x = Value(0.0)
    y = mg.sqrt(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NumericalWarning, match=r"sqrt\(x=0\.0\)"):
            y.backward(create_graph=create_graph)
    assert (x.grad, y.grad) == (None, None)


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
@pytest.mark.parametrize(
    "name", ["sigmoid", "log_sigmoid", "softplus", "tanh", "silu", "gelu", "erf", "elu"]
)
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


@pytest.mark.parametrize("name", ["atan", "erf", "gelu", "asinh", "softplus", "sinc"])
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
        ("log_sigmoid", -inf, -inf, 1.0), ("log_sigmoid", inf, 0.0, 0.0),
        ("atan", inf, pi / 2, 0.0),
    ):  # fmt: skip
        x = Value(at)
        y = getattr(mg, name)(x)
        y.backward()
        assert (y.data, x.grad) == (value, gradient), name

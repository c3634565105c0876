"""Every row of the table, on floats, nodes and symbols, against closed forms made elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from math import copysign, isfinite, isnan, pi
from pathlib import Path
from typing import Any

import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import NumericalWarning
from minigrad.symbol import Symbol, derivative_formula, formula
from tests.engine.closed_forms import FORMS, ROWS, Form, call, difference
from tests.engine.formula_reader import evaluate

HERE = Path(__file__).parent

every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.label)

INSIDE = [
    pytest.param(form, xs, id=f"{form.label}-{xs}".replace(" ", ""))
    for form in FORMS
    for xs in form.points
]
EDGES = [
    pytest.param(form, *edge, id=f"{form.label}-{edge[0]}".replace(" ", ""))
    for form in FORMS
    for edge in form.edges
]
OUTSIDE = [
    pytest.param(form, xs, id=f"{form.label}-{xs}".replace(" ", ""))
    for form in FORMS
    for xs in form.outside
]


def close(x: float, rel: float = 1e-12, small: float = 1e-15) -> Any:
    return pytest.approx(x, rel=rel, abs=small, nan_ok=True)


def nodes(xs: tuple[float, ...]) -> list[Value]:
    return [Value(x, name=f"x{i}") for i, x in enumerate(xs)]


def row_of(form: Form) -> Any:
    """The row with its settings, as a node keeps it."""
    return call(form, nodes(form.points[0])).op


def names_of(form: Form, xs: tuple[float, ...]) -> dict[str, float]:
    return {f"x{i}": x for i, x in enumerate(xs)}


def symbols(xs: tuple[float, ...]) -> list[Symbol]:
    return [Symbol(f"x{i}") for i in range(len(xs))]


def test_every_row_has_a_closed_form() -> None:
    assert {form.row for form in FORMS} == set(ROWS)


# ---- inside the domain --------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "xs"), INSIDE)
def test_value(form: Form, xs: tuple[float, ...]) -> None:
    expected = close(form.value(*xs))
    out = call(form, xs)
    assert type(out) is float
    assert out == expected
    node = call(form, nodes(xs))
    assert isinstance(node, Value)
    assert node.data == out, "a node holds the number that the function gives"
    assert evaluate(formula(node.op, symbols(xs)).text, names_of(form, xs)) == expected


@pytest.mark.parametrize(("form", "xs"), INSIDE)
def test_first_derivative(form: Form, xs: tuple[float, ...]) -> None:
    inputs = nodes(xs)
    node = call(form, inputs)
    node.backward()
    for i, x in enumerate(inputs):
        slope = form.slope(i, xs)
        text = derivative_formula(node.op, i, symbols(xs)).text
        assert evaluate(text, names_of(form, xs)) == close(slope or 0.0)
        if slope is None:
            assert x.grad is None
            continue
        assert difference(form.value, xs, i) == close(slope, 1e-8, 1e-9), "the closed form itself"
        assert type(x.grad) is float
        assert x.grad == close(slope)
        assert node.local_derivatives(i) == close(slope)
        assert node.op.local_derivative(i, node.data, xs) == close(slope)


@pytest.mark.parametrize(("form", "xs"), INSIDE)
def test_second_derivative(form: Form, xs: tuple[float, ...]) -> None:
    for i in range(len(xs)):
        if form.slope(i, xs) is None:
            continue
        inputs = nodes(xs)
        call(form, inputs).backward(create_graph=True)
        slope = inputs[i].grad
        assert isinstance(slope, Value)
        assert slope.data == close(form.slope(i, xs))
        for x in inputs:
            x.zero_grad()
        slope.backward(create_graph=True)
        for j, x in enumerate(inputs):
            expected = 0.0
            if form.slope(j, xs) is not None:
                expected = difference(lambda *at, i=i: form.slope(i, at), xs, j)  # type: ignore[misc]
            assert (x.grad.data if x.grad else 0.0) == close(expected, 1e-7, 1e-8), (i, j)


@every_form
def test_first_and_create_graph_pass_agree_to_the_bit(form: Form) -> None:
    for xs in form.points:
        plain, again = nodes(xs), nodes(xs)
        call(form, plain).backward()
        call(form, again).backward(create_graph=True)
        for x, y in zip(plain, again, strict=True):
            assert (x.grad is None) == (y.grad is None)
            assert x.grad is None or x.grad == y.grad.data


METHODS = [form for form in FORMS if hasattr(mg, form.row) and form.row not in ("sum", "dot")]


@pytest.mark.parametrize("form", METHODS, ids=lambda form: form.label)
def test_every_function_is_also_a_method(form: Form) -> None:
    for xs in form.points:
        first, *others = nodes(xs)
        by_method = getattr(first, form.row)(*others, **form.settings)
        by_function = getattr(mg, form.row)(first, *others, **form.settings)
        assert by_method.op.name == form.row
        assert by_method.inputs == by_function.inputs == (first, *others)
        assert by_method.data == by_function.data
        mixed = getattr(first, form.row)(*xs[1:], **form.settings)
        assert mixed.data == by_method.data


def test_a_sum_and_a_dot_are_their_chains_to_the_last_bit() -> None:
    xs, ws = [0.1 * k for k in range(40)], [1e16, *(1.0 / k for k in range(1, 40))]
    total, product = 0.0, 0.0
    for i, (w, x) in enumerate(zip(ws, xs, strict=True)):
        total = total + x if i else x
        product = product + w * x if i else w * x
    for values, weights in ((xs, ws), (nodes(tuple(xs)), nodes(tuple(ws)))):
        results = [mg.sum(values), mg.dot(weights, values)]
        assert [y.data if isinstance(y, Value) else y for y in results] == [total, product]


# ---- at kinks and edges, and outside the domain -------------------------------------------------


def quiet(value: float, slopes: tuple[Any, ...]) -> mg.errstate:
    """Warnings are errors; ignored only where something is not finite on purpose."""
    finite = all(isfinite(x) for x in (value, *slopes) if isinstance(x, float))
    return mg.errstate("warn" if finite else "ignore")


@pytest.mark.parametrize(("form", "xs", "value", "slopes"), EDGES)
def test_edges_in_a_differentiable_pass(
    form: Form, xs: tuple[float, ...], value: float, slopes: tuple[Any, ...]
) -> None:
    with quiet(value, slopes):
        inputs = nodes(xs)
        call(form, inputs).backward(create_graph=True)
        for x, slope in zip(inputs, slopes, strict=True):
            if slope is None:
                assert x.grad is None
            elif slope is not ...:
                assert x.grad.data == close(slope, small=0.0)


@pytest.mark.parametrize(("form", "xs", "value", "slopes"), EDGES)
def test_edges(form: Form, xs: tuple[float, ...], value: float, slopes: tuple[Any, ...]) -> None:
    with quiet(value, slopes):
        assert call(form, xs) == close(value, small=0.0)
        inputs = nodes(xs)
        node = call(form, inputs)
        assert node.data == close(value, small=0.0)
        node.backward()
        for i, (x, slope) in enumerate(zip(inputs, slopes, strict=True)):
            if slope is None:
                assert x.grad is None
            elif slope is not ...:
                assert x.grad is not None
                assert x.grad == close(slope, small=0.0)
                assert node.local_derivatives(i) == close(slope, small=0.0)


@pytest.mark.parametrize(
    ("form", "xs", "value", "slopes"),
    [
        edge
        for edge in EDGES
        if all(map(isfinite, edge.values[1]))  # type: ignore[arg-type]
        and not all(isfinite(x) for x in (edge.values[2], *edge.values[3]) if isinstance(x, float))  # type: ignore[misc]
    ],
)
def test_what_is_not_finite_is_reported(
    form: Form, xs: tuple[float, ...], value: float, slopes: tuple[Any, ...]
) -> None:
    with pytest.warns(NumericalWarning, match=rf"\b{form.row}\(") as caught:
        call(form, nodes(xs)).backward()
    assert {Path(warning.filename).parent for warning in caught} == {HERE}, "at the learner's line"


@pytest.mark.parametrize(("form", "xs"), OUTSIDE)
def test_outside_the_domain_value_and_gradient_are_nan(form: Form, xs: tuple[float, ...]) -> None:
    for arguments in (xs, nodes(xs)):
        with pytest.warns(NumericalWarning, match=rf"\b{form.row}\(.*{re.escape(repr(xs[0]))}"):
            out = call(form, arguments)
        assert isnan(out.data if isinstance(out, Value) else out)
    inputs = nodes(xs)
    with mg.errstate("ignore"):
        node = call(form, inputs)
        node.backward()
        assert all(isnan(x.grad) for x in inputs), [x.grad for x in inputs]
        assert all(isnan(node.local_derivatives(i)) for i in range(len(xs)))


@pytest.mark.parametrize(("form", "xs"), OUTSIDE)
def test_outside_the_domain_errstate_raise_names_row_and_line(
    form: Form, xs: tuple[float, ...]
) -> None:
    with (
        mg.errstate("raise"),
        pytest.raises(ArithmeticError, match=rf"\b{form.row}\(.*closed_forms.py:\d+"),
    ):
        call(form, nodes(xs))


SECOND_ORDER_AT_EDGES = [
    # value and both derivatives stand for a smooth function, or follow from the slopes next to it
    ("relu", (0.0,), 0.0),
    ("relu6", (6.0,), 0.0),
    ("abs", (0.0,), 0.0),
    ("leaky_relu", (0.0,), 0.0),
    ("elu", (0.0,), 1.0),
    ("sinc", (0.0,), -pi * pi / 3.0),
    ("square", (0.0,), 2.0),
    ("asinh", (0.0,), 0.0),
    ("logaddexp", (2.0, 2.0), 0.25),
    ("maximum", (2.0, 2.0), 0.0),
    ("clip", (6.0, 0.0, 6.0), 0.0),
    ("pow", (0.0, 2.0), 2.0),
    ("pow", (0.0, 1.0), 0.0),
    ("pow", (0.0, 3.0), 0.0),
    ("sigmoid", (1000.0,), 0.0),
    ("sigmoid", (-1000.0,), 0.0),
    ("softplus", (-1000.0,), 0.0),
    ("softplus", (1000.0,), 0.0),
    ("tanh", (1000.0,), 0.0),
    ("log_sigmoid", (-1000.0,), 0.0),
]


@pytest.mark.parametrize(("name", "xs", "expected"), SECOND_ORDER_AT_EDGES)
def test_second_derivative_at_edges(name: str, xs: tuple[float, ...], expected: float) -> None:
    form = next(form for form in FORMS if form.row == name)
    x, *others = nodes(xs)
    call(form, [x, *(other.data for other in others)]).backward(create_graph=True)
    slope = x.grad
    x.zero_grad()
    slope.backward()
    assert (x.grad or 0.0) == close(expected)


@pytest.mark.parametrize("function", [mg.sqrt, lambda x: x**0.5, mg.cbrt])
def test_second_derivative_of_a_root_at_0_is_not_quietly_0(function: Any) -> None:
    x = Value(0.0)
    with mg.errstate("ignore"):
        function(x).backward(create_graph=True)
        slope = x.grad
        x.zero_grad()
        slope.backward()
    assert x.grad is not None
    assert not isfinite(x.grad)


def test_mixed_second_derivative_of_a_power_where_the_exponent_is_0() -> None:
    """∂/∂y (y x^(y−1)) = x^(y−1) (1 + y ln x), which is 1/x at y = 0, in either order."""
    for first in (0, 1):
        inputs = [Value(4.0), Value(0.0)]
        (inputs[0] ** inputs[1]).backward(create_graph=True)
        slope = inputs[first].grad
        for x in inputs:
            x.zero_grad()
        slope.backward()
        assert inputs[1 - first].grad == close(0.25)


# ---- printed ------------------------------------------------------------------------------------


def formulas(form: Form) -> Iterator[Symbol]:
    """The row and its derivatives, plain and as a part of other formulas."""
    row, xs = row_of(form), symbols(form.points[0])
    whole = formula(row, xs)
    yield whole
    yield from (derivative_formula(row, i, xs) for i in range(len(xs)))
    yield from (whole**2.0, 2.0**whole, -whole, 1.0 / whole, whole - (whole + 1.0), mg.abs(whole))


def check_latex(text: str) -> None:
    depth = 0
    for mark in re.findall(r"\\.|[{}]", text):
        depth += {"{": 1, "}": -1}.get(mark, 0)
        assert depth >= 0, text
    assert depth == 0, text
    assert len(re.findall(r"\\left\b", text)) == len(re.findall(r"\\right\b", text)), text


def test_every_operator_of_python_works_on_a_symbol() -> None:
    x = Symbol("x")
    assert str(abs(x)) == "abs(x)"
    assert [str(y) for y in (-x, +x, 2.0 - x, x // 2.0, 7.0 % x, x <= 1.0, x > 1.0)] == [
        "-x", "x", "2 - x", "x // 2", "7 % x", "x <= 1", "x > 1",
    ]  # fmt: skip


@every_form
def test_latex_is_balanced(form: Form) -> None:
    for symbol in formulas(form):
        check_latex(symbol.latex)


@pytest.mark.parametrize("name", ["exp", "exp2", "square", "reciprocal"])
def test_latex_brackets_the_base_of_a_power(name: str) -> None:
    """``{e^{x}}^{2}`` would be set as e to the power x²."""
    assert (getattr(mg, name)(Symbol("x")) ** 2.0).latex.startswith(r"{\left(")


@every_form
def test_mathtext_accepts_the_latex(form: Form) -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext")
    parser = mathtext.MathTextParser("path")
    for symbol in formulas(form):
        parser.parse(f"${symbol.latex}$")


def value_or_none(form: Form, xs: tuple[float, ...]) -> float | None:
    try:
        value = form.value(*xs)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return value if isinstance(value, float) and isfinite(value) else None


@every_form
def test_nested_formulas_read_back_to_the_same_number(form: Form) -> None:
    """Brackets: each row is printed with every other row in each of its places."""
    row = row_of(form)
    for inner in FORMS:
        inner_row = row_of(inner)
        for ys, slot in product(inner.points, range(len(form.points[0]))):
            xs = list(form.points[0])
            names = names_of(form, tuple(xs)) | {f"y{i}": y for i, y in enumerate(ys)}
            ins = symbols(tuple(xs))
            ins[slot] = formula(inner_row, [Symbol(f"y{i}") for i in range(len(ys))])
            text = formula(row, ins).text
            xs[slot] = inner.value(*ys)
            expected = value_or_none(form, tuple(xs))
            if expected is None:
                compile(text, "formula", "eval")
            else:
                assert evaluate(text, names) == close(expected, 1e-9), text


@pytest.mark.parametrize("number", [0.1, -0.1, 1e300, -2.0, 5e-324, 1e22, 3.0, 1e15, -0.0])
def test_numbers_in_a_formula_read_back_exactly(number: float) -> None:
    x = Symbol("x")
    for symbol, expected in ((x + number, 0.5 + number), (number - x, number - 0.5)):
        assert evaluate(symbol.text, {"x": 0.5}) == expected
    assert (
        evaluate((Symbol.of(number) ** x).text, {"x": 2.0}) == number**2.0
        if (abs(number) < 1e100)
        else True
    )
    zero = evaluate(Symbol.of(number).text, {})
    assert (zero, copysign(1.0, zero)) == (number, copysign(1.0, number))

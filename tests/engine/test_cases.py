"""Public faults of other engines, each with the right answer; ``Bnn`` is the number of the report.

These are the cases that concern scalars. Those of pictures, arrays, tapes and optimizers stand
beside what they test.
"""

from __future__ import annotations

import copy
import math
import pickle
import sys
from collections.abc import Callable, Iterator
from math import exp, log
from typing import Any

import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import GraphCycleError
from minigrad.graph import Node


def differentiate(function: Callable[[Value], Value], at: float, order: int) -> list[float]:
    """The value and the derivatives up to ``order``, each by a pass over the one before."""
    x = Value(at)
    y = function(x)
    numbers = [y.data]
    for _ in range(order):
        x.zero_grad()
        y.backward(create_graph=True)
        y = x.grad if x.grad is not None else Value(0.0)
        numbers.append(y.data)
    return numbers


def gradient(function: Callable[[Value], Value], at: float) -> float | None:
    x = Value(at)
    function(x).backward()
    return x.grad  # type: ignore[no-any-return]


# ---- graph --------------------------------------------------------------------------------------


def test_b01_a_node_pushes_only_when_all_its_consumers_have_pushed() -> None:
    x = Value(3.0)
    y = x * x
    (y * y + y).backward()
    assert (y.grad, x.grad) == (19.0, 114.0)
    a = Value(1.0)
    b = a + a
    (b + b).backward()
    assert (a.grad, b.grad) == (4.0, 2.0)


def test_b03_a_second_pass_starts_from_nothing_inside() -> None:
    a, b, d = Value(3.0), Value(2.0), Value(1.0)
    e = (a + b) * d
    e.backward()
    e.backward()
    assert (a.grad, b.grad, d.grad) == (2.0, 2.0, 10.0)


def test_b05_diamond() -> None:
    a, b = Value(2.0), Value(3.0)
    c, d = a + b, a * b
    ((c + d) + (c * d)).backward()
    assert (c.grad, d.grad, a.grad, b.grad) == (7.0, 6.0, 25.0, 19.0)


def test_b06_depth_is_not_bounded_by_the_call_stack() -> None:
    limit = sys.getrecursionlimit()
    x = y = Value(1.0)
    for _ in range(100_000):
        y = y + 1.0
    y.backward()
    assert (y.data, x.grad, sys.getrecursionlimit()) == (100_001.0, 1.0, limit)


def test_b09_contributions_add_up() -> None:
    """What ``=`` for ``+=`` breaks; ``test_mutations.py`` breaks it and sees this fail."""
    a = Value(2.0)
    b = a * 2.0
    e = (b + 1.0) * (b * 3.0)
    e.backward()
    assert (e.data, b.grad, a.grad) == (60.0, 27.0, 54.0)


@pytest.mark.parametrize("walk", ["backward", "create_graph", "order", "deepcopy"])
def test_b11_a_cycle_is_a_named_error(walk: str) -> None:
    x = Value(2.0, name="x")
    h = x * 3.0
    y = mg.tanh(h)
    z = y + 1.0
    slot = next(name for name in Node.__slots__ if getattr(h, name, None) is x)
    setattr(h, slot, z)  # what no public way can do
    with pytest.raises(GraphCycleError, match="itself"):
        {
            "backward": z.backward,
            "create_graph": lambda: z.backward(create_graph=True),
            "order": lambda: mg.topological_order(z),
            "deepcopy": lambda: copy.deepcopy(z),
        }[walk]()
    assert (x.grad, h.grad, y.grad, z.grad) == (None, None, None, None)
    setattr(h, slot, x)
    z.backward()
    assert x.grad == pytest.approx(3.0 / math.cosh(6.0) ** 2)


def test_b13_the_order_lists_each_node_once() -> None:
    a, b = Value(2.0), Value(3.0)
    x = a + b
    y = x * a
    assert mg.topological_order(y) == [a, b, x, y]
    y.backward()
    assert (a.grad, b.grad) == (7.0, 2.0)


# ---- identity -----------------------------------------------------------------------------------


def test_b16_deepcopy_of_output_and_leaf_stays_connected() -> None:
    a = Value(2.0)
    y2, a2 = copy.deepcopy((a * a, a))
    y2.backward()
    assert (a2.grad, a.grad) == (4.0, None)


def test_b17_pickling() -> None:
    w = Value(1.5)
    assert pickle.loads(pickle.dumps(w)).data == 1.5
    with pytest.raises(TypeError, match=r"Value\(3\.0.*detach\(\)"):
        pickle.dumps(w * 2.0)


def test_b21_keys_of_nodes_are_never_used_again() -> None:
    from minigrad.modes import serial_of

    assert len({serial_of(Value(float(i))) for i in range(1000)}) == 1000


def test_b23_the_output_that_a_row_uses_is_the_one_it_computed() -> None:
    for function in (mg.sigmoid, mg.exp, mg.tanh, mg.sqrt, mg.reciprocal):
        a = Value(2.0)
        b = function(a)
        b.data = 77.0
        (b * 1.0).backward()
        assert a.grad == gradient(function, 2.0)


def test_b25_nothing_is_shared_between_gradients() -> None:
    """Floats cannot be changed in place; node gradients of two leaves must be apart, too."""
    a, b = Value(1.0), Value(2.0)
    (a + b + 3.0 * a).backward(create_graph=True)
    assert (a.grad.data, b.grad.data) == (4.0, 1.0)
    b.grad.data = 9.0
    assert a.grad.data == 4.0


def test_b27_no_grad_acts_when_called_and_not_when_defined() -> None:
    @mg.no_grad()
    def double(x: Value) -> Value:
        if x.data < 0.0:
            raise LookupError
        return x * 2.0

    assert mg.recording_enabled()
    assert double(Value(1.0)).op is None
    assert mg.recording_enabled()
    with pytest.raises(LookupError):
        double(Value(-1.0))
    assert mg.recording_enabled()


# ---- operators ----------------------------------------------------------------------------------


def test_b31_a_number_on_the_left() -> None:
    assert gradient(lambda v: 5 - v, 2.0) == -1.0
    assert (5 - Value(2.0)).data == 3.0
    assert gradient(lambda v: 6 / v, 2.0) == -1.5
    assert (6 / Value(2.0)).data == 3.0
    assert (7 % Value(4.0)).data == 3.0
    assert (7 // Value(2.0)).data == 3.0


def test_b33_the_exponent_gets_a_gradient() -> None:
    a, b = Value(2.0), Value(3.0)
    y = a**b
    y.backward()
    assert (y.data, a.grad) == (8.0, 12.0)
    assert b.grad == pytest.approx(5.545177444479562, rel=1e-15)
    assert gradient(lambda c: 2.0**c, 3.0) == pytest.approx(5.545177444479562, rel=1e-15)


def test_b35_numpy_on_the_left_does_not_take_over() -> None:
    np = pytest.importorskip("numpy")
    v = Value(3.0)
    y = np.float64(2) * v
    assert (type(y), y.data) == (Value, 6.0)
    y.backward()
    assert v.grad == 2.0


def test_b37_integers_and_booleans_become_floats() -> None:
    x = Value(3)
    y = x**2 / 4
    y.backward()
    assert (y.data, x.grad) == (2.25, 1.5)
    assert (Value(2) ** -1).data == 0.5
    assert (Value(True) + Value(True)).data == 2.0
    assert type(x.data) is float


def test_b39_no_integer_zero_leaks_into_a_gradient() -> None:
    x = Value(1)
    (x * 2 + x * 3).backward(seed=1)
    assert (type(x.grad), x.grad) == (float, 5.0)


def test_b43_a_node_as_a_number() -> None:
    from minigrad.errors import DetachedWarning

    i = Value(1.0)
    with pytest.warns(DetachedWarning):
        assert [10, 20, 30][int(i)] == 20
    with pytest.warns(DetachedWarning):
        assert math.sin(i) == math.sin(1.0)  # type: ignore[arg-type]
    with pytest.warns(DetachedWarning):
        assert float(i) == 1.0
    assert f"{i:.3f}" == "1.000"
    for wrong in (lambda: [10, 20, 30][i], lambda: range(i)):  # type: ignore[call-overload]
        with pytest.raises(TypeError, match=r"int\("):
            wrong()


# ---- singular points ----------------------------------------------------------------------------


def test_b45_the_power_rule_stops_at_exponent_0() -> None:
    numbers = differentiate(lambda x: mg.exp(-(x**2)), 0.0, 4)
    assert numbers == [1.0, 0.0, -2.0, 0.0, 12.0]
    assert differentiate(lambda x: mg.exp(-(x * x)), 0.0, 4) == numbers
    assert gradient(lambda x: x**0, 0.0) == 0.0
    assert gradient(lambda x: x**1, 0.0) == 1.0


def test_b47_zero_to_the_power_x() -> None:
    assert differentiate(lambda x: 0.0**x, 2.0, 2) == [0.0, 0.0, 0.0]


def test_b49_the_norm_of_zero() -> None:
    for function, value in (
        (lambda x, y: mg.hypot(x, y), 0.0),
        (lambda x, y: mg.hypot(x, y) ** 2, 0.0),
        (lambda x, y: x**2 + y**2, 0.0),
    ):
        x, y = Value(0.0), Value(0.0)
        out = function(x, y)
        out.backward()
        assert (out.data, x.grad, y.grad) == (value, 0.0, 0.0)


def test_b53_sinc_at_0() -> None:
    x = Value(0.0)
    y = mg.sinc(x)
    y.backward()
    assert (y.data, x.grad) == (1.0, 0.0)
    x = Value(0.0)
    with mg.errstate("ignore"):
        y = mg.where(mg.equal(x, 0.0), 1.0, mg.sin(x) / x)
    y.backward()
    assert (y.data, x.grad) == (1.0, 0.0)


def test_b55_an_underflow_under_a_root_is_flagged() -> None:
    from minigrad.errors import NumericalWarning

    scale = Value(1.0)
    y = mg.sqrt(mg.exp(-900.0 * scale))
    assert y.data == 0.0
    with pytest.warns(NumericalWarning) as caught:
        y.backward()
    assert "sqrt(x=0.0)" in str(caught[0].message)


def test_b57_odd_functions_at_0() -> None:
    assert gradient(mg.asinh, 0.0) == 1.0
    assert gradient(mg.tanh, 0.0) == 1.0
    assert gradient(mg.erf, 0.0) == 2.0 / math.sqrt(math.pi)
    assert gradient(lambda x: x / (1.0 + abs(x)), 0.0) == 1.0, "softsign"
    with mg.errstate("ignore"):
        assert gradient(mg.cbrt, 0.0) == math.inf


# ---- saturation ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("z", "value", "slope"),
    [
        (-1000.0, 0.0, 0.0), (-800.0, 0.0, 0.0), (-40.0, 4.248354255291589e-18, 4.248e-18),
        (0.0, 0.5, 0.25), (40.0, 1.0, 4.2e-18), (1000.0, 1.0, 0.0),
    ],
)  # fmt: skip
def test_b59_sigmoid_far_out(z: float, value: float, slope: float) -> None:
    assert mg.sigmoid(z) == pytest.approx(value, rel=1e-15)
    assert mg.sigmoid(Value(z)).data == mg.sigmoid(z)
    assert gradient(mg.sigmoid, z) == pytest.approx(slope, rel=1e-3, abs=4.3e-18 if z > 0 else 0)


def test_b61_cross_entropy_from_logits_does_not_saturate() -> None:
    """−ln σ(x) for the target 1; the loss of its own name comes with the arrays."""
    x = Value(-50.0)
    loss = -mg.log_sigmoid(x)
    loss.backward()
    assert loss.data == 50.0
    assert x.grad == pytest.approx(-1.0, abs=1e-15)


def test_b65_logaddexp_of_infinities() -> None:
    inf = math.inf
    assert mg.logaddexp(-inf, -inf) == -inf
    assert mg.logaddexp(inf, 1.0) == inf
    assert mg.logaddexp(-inf, 0.0) == 0.0
    x, y = Value(-inf), Value(0.0)
    mg.logaddexp(x, y).backward()
    assert (x.grad, y.grad) == (0.0, 1.0)


def test_b63_logaddexp_of_nothing_but_minus_infinity_has_no_nan() -> None:
    x, y = Value(-math.inf), Value(-math.inf)
    mg.logaddexp(x, y).backward()
    assert math.isfinite(x.grad)
    assert x.grad == y.grad


def test_b67_relu6_and_clip_of_large_numbers() -> None:
    assert (mg.relu6(1e17), mg.clip(1e17, 0.0, 6.0)) == (6.0, 6.0)
    assert (mg.relu6(Value(1e17)).data, mg.clip(Value(1e17), 0, 6).data) == (6.0, 6.0)
    assert mg.silu(1e17) == 1e17


# ---- kinks --------------------------------------------------------------------------------------


def test_b69_overflow_in_the_branch_not_taken() -> None:
    a = Value(1000.0)
    with mg.errstate("ignore"):
        y = mg.where(a <= 0, a.exp(), 1 + a)
    y.backward()
    assert (y.data, a.grad) == (1001.0, 1.0)


@pytest.mark.parametrize("x", [-1.0, -4.0])
def test_b72_root_of_a_negative_number_in_the_branch_not_taken(x: float) -> None:
    with mg.errstate("ignore"):
        assert gradient(lambda v: mg.where(v > 0, mg.sqrt(v), v), x) == 1.0


def test_b73_a_plain_if_runs_one_branch() -> None:
    def f(x: Value) -> Value:
        return 1 / x if x > 1 else x * 0

    assert gradient(f, 0.0) == 0.0
    assert gradient(f, 2.0) == -0.25


def test_b75_abs_and_sign_at_0() -> None:
    for zero in (0.0, -0.0):
        assert gradient(mg.abs, zero) == 0.0
        assert gradient(abs, zero) == 0.0  # type: ignore[arg-type]
        assert mg.sign(zero) == 0.0
        assert mg.abs(Value(zero)).local_derivatives(0) == 0.0


def test_b77_ties_share() -> None:
    x, y = Value(1.0), Value(1.0)
    mg.maximum(x, y).backward()
    assert (x.grad, y.grad) == (0.5, 0.5)
    assert gradient(lambda v: mg.maximum(v, v), 1.0) == 1.0
    assert gradient(lambda v: mg.minimum(v, v), 1.0) == 1.0


def test_b79_on_the_bounds() -> None:
    """The design decides: clip' = 1 on both bounds, relu6' from the left, ties share."""
    assert gradient(lambda x: mg.clip(x, 0, 6), 6.0) == 1.0
    assert gradient(lambda x: mg.clip(x, 0, 6), 0.0) == 1.0
    assert gradient(mg.relu6, 6.0) == 1.0
    assert gradient(mg.relu6, 0.0) == 0.0
    assert gradient(lambda x: mg.minimum(mg.maximum(x, 0.0), 6.0), 6.0) == 0.5


def test_b81_steps_contribute_nothing() -> None:
    for step in (mg.floor, mg.round, mg.ceil, mg.sign):
        assert gradient(lambda x, step=step: x + step(x), 3.8) == 1.0  # type: ignore[misc]
    assert gradient(lambda x: x % 2, 7.5) == 1.0
    assert gradient(lambda x: 7.5 % x, 2.0) == -3.0
    assert (Value(7.5) // 2).data == 3.0
    assert gradient(lambda x: x + x // 2, 7.5) == 1.0


# ---- higher order -------------------------------------------------------------------------------


def test_b105_levels_do_not_mix() -> None:
    """A derivative inside a function that is differentiated, by the same function object."""

    def derivative(f: Callable[[Value], Value], at: Value) -> Value:
        y = f(at)
        kept, at.grad = at.grad, None
        y.backward(create_graph=True)
        result, at.grad = at.grad, kept
        return result if result is not None else Value(0.0)

    def f(x: Value, depth: int) -> Value:
        if depth == 0:
            return x
        inner = Value(x.data)
        return x * derivative(lambda y: f(y, depth - 1) + 0.0 * x, inner)

    assert derivative(lambda x: f(x, 1), Value(3.0)).data == 1.0
    cube = derivative(lambda x: x * derivative(lambda y: y * y * y, x), Value(2.0))
    assert cube.data == 3.0 * 3.0 * 4.0, "(x · 3x²)′ = 9x²"


@pytest.mark.parametrize(
    ("function", "second"),
    [
        (mg.exp, exp(0.5)),
        (mg.tanh, -2.0 * math.tanh(0.5) / math.cosh(0.5) ** 2),
        (mg.sigmoid, -0.0575567951),
        (mg.sqrt, -0.25 * 0.5**-1.5),
        (mg.reciprocal, 16.0),
        (lambda x: 1 / x, 16.0),
        (lambda x: 2.0**x, log(2.0) ** 2 * 2.0**0.5),
        (mg.cbrt, -2.0 / 9.0 * 0.5 ** (-5.0 / 3.0)),
        (mg.tan, 2.0 * math.tan(0.5) / math.cos(0.5) ** 2),
    ],
)
def test_b107_rules_that_use_the_output_can_be_differentiated_again(
    function: Callable[[Value], Value], second: float
) -> None:
    assert differentiate(function, 0.5, 2)[2] == pytest.approx(second, rel=1e-8)


def test_b109_second_derivatives_of_softmax_cross_entropy() -> None:
    """ln(e^u + e^v) − u, the loss of two classes with the first as target; at a tie, and not."""
    for at, expected in (((0.0, 0.0), 0.25), ((0.0, 1.0), 0.196611933241481)):
        for i in (0, 1):
            z = [Value(at[0]), Value(at[1])]
            (mg.logaddexp(z[0], z[1]) - z[0]).backward(create_graph=True)
            slope = z[i].grad
            for x in z:
                x.zero_grad()
            slope.backward()
            row = [x.grad or 0.0 for x in z]
            assert row[i] == pytest.approx(expected, rel=1e-12)
            assert row[1 - i] == pytest.approx(-expected, rel=1e-12)


# ---- gradient checks, optimizers and debugging, as far as the engine goes ------------------------


def test_b131_the_taylor_remainder_falls_with_order_2() -> None:
    """|f(x+h) − f(x) − h·g| for h = 2⁻ᵏ: order 2 for the right gradient, 1 for 1.03 times it."""

    def f(x: Any) -> Any:
        return mg.sin(x) * x**2

    right = gradient(f, 1.3)
    assert right is not None

    def order(g: float) -> float:
        remainder = [abs(f(1.3 + h) - f(1.3) - h * g) for h in (2.0**-12, 2.0**-13)]
        return math.log2(remainder[0] / remainder[1])

    assert order(right) == pytest.approx(2.0, abs=0.01)
    assert order(1.03 * right) == pytest.approx(1.0, abs=0.05)


def test_b127_a_parameter_without_gradient() -> None:
    """None is not 0: an update by hand must be able to tell them apart."""
    w, unused = Value(2.0), Value(3.0)
    for p in (w, unused):
        p.zero_grad()
    (w * w).backward()
    for p in (w, unused):
        if p.grad is not None:
            p.data -= 0.1 * p.grad
    assert (w.data, unused.data, unused.grad) == (1.6, 3.0, None)


@pytest.fixture
def traced_rule() -> Iterator[tuple[Callable[[Any], Any], list[str]]]:
    calls: list[str] = []

    def slope(out: Any, x: Any) -> Any:
        frame = sys._getframe()
        while frame is not None:
            calls.append(frame.f_code.co_name)
            frame = frame.f_back  # type: ignore[assignment]
        return 2.0 * x

    yield mg.operation("traced_rule", lambda m, x: x * x, [slope]), calls
    del mg.ops.OPS["traced_rule"]  # type: ignore[attr-defined]


def test_b133_a_rule_runs_as_ordinary_frames_once_per_node(
    traced_rule: tuple[Callable[[Any], Any], list[str]],
) -> None:
    function, calls = traced_rule
    x = Value(3.0)
    (function(x) + function(x)).backward()
    assert x.grad == 12.0
    assert calls.count("slope") == 2
    assert calls.count("test_b133_a_rule_runs_as_ordinary_frames_once_per_node") == 2

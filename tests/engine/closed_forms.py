"""What every row of the table must give, derived apart from the library.

``FORMS`` has one entry per row (and one per setting of a row with settings): its value and its
slopes as closed forms that use ``math`` alone, written differently from the library's where there
is a choice; points inside the domain where everything is smooth; points where a convention or
IEEE 754 decides, with the value and the slopes that the design asks for; points outside the domain.
"""

from __future__ import annotations

import cmath
import operator
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from math import (
    atan2,
    ceil,
    copysign,
    cos,
    cosh,
    erfc,
    exp,
    floor,
    fsum,
    inf,
    isnan,
    log,
    nan,
    pi,
    prod,
    sin,
    sinh,
    sqrt,
    tanh,
)  # fmt: skip
from typing import Any, NamedTuple

import minigrad as mg
from minigrad.ops import OPS
from minigrad.ops.evaluate import apply

# Read while tests are collected, before a test adds a row; rows of arrays have their own table.
ROWS = tuple(name for name, row in OPS.items() if not hasattr(row, "vjp"))

Point = tuple[float, ...]


class Form(NamedTuple):
    """One row: value and slopes as closed forms, and the points to look at."""

    row: str
    value: Callable[..., float]
    slopes: Sequence[Callable[..., float] | None] | Callable[..., Sequence[float]]
    points: list[Point]
    edges: Sequence[tuple[Point, float, tuple[Any, ...]]] = ()  # ... where nothing is decided
    outside: Sequence[Point] = ()
    settings: dict[str, float] = {}  # noqa: RUF012  (never changed)

    @property
    def label(self) -> str:
        return self.row + "".join(f"-{name}={x}" for name, x in self.settings.items())

    def slope(self, i: int, xs: Sequence[float]) -> float | None:
        """∂out/∂xᵢ at a smooth point; None where the row has no derivative for that input."""
        if callable(self.slopes):
            return self.slopes(*xs)[i]
        slope = self.slopes[i]
        return None if slope is None else slope(*xs)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow,
}  # fmt: skip


def call(form: Form, xs: Sequence[Any]) -> Any:
    """The row on ``xs`` as a learner would write it."""
    if form.row == "sum":
        return mg.sum(xs)
    if form.row == "dot":
        return mg.dot(xs[: len(xs) // 2], xs[len(xs) // 2 :])
    numbers = all(isinstance(x, float) for x in xs)
    if form.row in _OPERATORS and not numbers:  # on numbers alone it would be Python's
        return _OPERATORS[form.row](*xs)
    function = getattr(mg, form.row, None)
    if function is None:
        return apply(OPS[form.row], tuple(xs))
    return function(*xs, **form.settings)


def difference(f: Callable[..., float], xs: Sequence[float], j: int, h: float = 1e-3) -> float:
    """∂f/∂xⱼ by central differences of fourth order, error about h⁴."""
    h *= max(1.0, abs(xs[j]))

    def at(step: float) -> float:
        return f(*xs[:j], xs[j] + step * h, *xs[j + 1 :])

    return (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h)


def one(*numbers: float) -> list[Point]:
    return [(x,) for x in numbers]


def _power(x: float, y: float) -> float:
    if y == int(y):
        product = prod([x] * int(abs(y)))
        return product if y >= 0.0 else 1.0 / product
    return exp(y * log(x))


def _products(*xs: float) -> float:
    half = len(xs) // 2
    return fsum(w * x for w, x in zip(xs[:half], xs[half:], strict=True))


def _slopes_of_products(*xs: float) -> list[float]:
    half = len(xs) // 2
    return [*xs[half:], *xs[:half]]


def _density(x: float) -> float:
    return exp(-x * x / 2.0) / sqrt(2.0 * pi)


def _elu(alpha: float) -> Form:
    return Form(
        "elu", lambda x: x if x > 0 else alpha * (exp(x) - 1.0),
        [lambda x: 1.0 if x > 0 else alpha * exp(x)], one(-2.0, -0.5, 1.5),
        [((0.0,), 0.0, (alpha,)), ((1000.0,), 1000.0, (1.0,)), ((-1000.0,), -alpha, (0.0,))],
        settings={} if alpha == 1.0 else {"alpha": alpha},
    )  # fmt: skip


def _leaky(slope: float) -> Form:
    return Form(
        "leaky_relu", lambda x: max(x, 0.0) + slope * min(x, 0.0),
        [lambda x: 1.0 if x > 0 else slope], one(-2.0, 3.0), [((0.0,), 0.0, (slope,))],
        settings={} if slope == 0.01 else {"negative_slope": slope},
    )  # fmt: skip


# fmt: off
FORMS = [
    # ---- comparisons and steps -----------------------------------------------------------------
    Form("less", lambda x, y: float(x < y), [None, None], [(1.0, 2.0), (2.0, 1.0)],
        [((2.0, 2.0), 0.0, (None, None)), ((nan, 1.0), 0.0, (None, None))]),
    Form("less_equal", lambda x, y: float(x <= y), [None, None], [(1.0, 2.0), (2.0, 1.0)],
        [((2.0, 2.0), 1.0, (None, None))]),
    Form("greater", lambda x, y: float(x > y), [None, None], [(1.0, 2.0), (2.0, 1.0)],
        [((2.0, 2.0), 0.0, (None, None))]),
    Form("equal", lambda x, y: float(x == y), [None, None], [(1.0, 2.0)],
        [((2.0, 2.0), 1.0, (None, None)), ((nan, nan), 0.0, (None, None)),
         ((0.0, -0.0), 1.0, (None, None))]),
    Form("isnan", lambda x: float(isnan(x)), [None], one(1.0),
        [((nan,), 1.0, (None,)), ((inf,), 0.0, (None,))]),
    Form("sign", lambda x: copysign(1.0, x), [lambda x: 0.0], one(-2.5, 3.0),
        [((0.0,), 0.0, (0.0,))]),
    Form("floor", lambda x: float(floor(x)), [None], one(-1.5, 2.5),
        [((2.0,), 2.0, (None,)), ((inf,), inf, (None,))]),
    Form("ceil", lambda x: float(ceil(x)), [None], one(-1.5, 2.5),
        [((2.0,), 2.0, (None,)), ((-inf,), -inf, (None,))]),
    Form("round", lambda x: float(Decimal(x).to_integral_value(ROUND_HALF_EVEN)), [None],
        one(-1.4, 2.6), [((0.5,), 0.0, (None,)), ((1.5,), 2.0, (None,)), ((2.5,), 2.0, (None,))]),
    Form("where", lambda c, x, y: x if c else y,
        [None, lambda c, x, y: float(bool(c)), lambda c, x, y: float(not c)],
        [(1.0, 2.0, 3.0), (0.0, 2.0, 3.0)]),
    # ---- arithmetic ----------------------------------------------------------------------------
    Form("add", lambda x, y: fsum((x, y)), [lambda x, y: 1.0, lambda x, y: 1.0], [(1.5, -2.25)],
        [((1e308, 1e308), inf, (1.0, 1.0))]),
    Form("sub", lambda x, y: fsum((x, -y)), [lambda x, y: 1.0, lambda x, y: -1.0], [(1.5, -2.25)]),
    Form("mul", lambda x, y: ((x + y) ** 2 - (x - y) ** 2) / 4.0, [lambda x, y: y, lambda x, y: x],
        [(1.5, -2.25), (0.0, 3.0)], [((1e200, 1e200), inf, (1e200, 1e200))]),
    Form("div", lambda x, y: x * (1.0 / y), [lambda x, y: 1.0 / y, lambda x, y: -x / (y * y)],
        [(1.5, -2.25), (0.0, 3.0)],
        [((1.0, 0.0), inf, (inf, -inf)), ((-1.0, 0.0), -inf, (inf, inf)),
         ((1.0, -0.0), -inf, (-inf, -inf))]),
    Form("neg", lambda x: 0.0 - x, [lambda x: -1.0], one(1.5, -2.0)),
    Form("pow", _power, [lambda x, y: y * _power(x, y - 1.0), lambda x, y: _power(x, y) * log(x)],
        [(2.0, 3.0), (0.5, -1.7), (3.0, 0.0), (1.3, 1.0)],
        [((0.0, 0.0), 1.0, (0.0, 0.0)), ((0.0, 1.0), 0.0, (1.0, 0.0)),
         ((0.0, 2.0), 0.0, (0.0, 0.0)), ((0.0, 0.5), 0.0, (inf, 0.0)),
         ((0.0, -1.0), inf, (-inf, ...)), ((-2.0, 3.0), -8.0, (12.0, nan)),
         ((-2.0, 2.0), 4.0, (-4.0, nan)), ((-2.0, 0.0), 1.0, (0.0, nan)),
         ((10.0, 400.0), inf, (inf, inf)), ((10.0, -400.0), 0.0, (-0.0, 0.0))],
        outside=[(-8.0, 1.0 / 3.0), (-1.0, 0.5)]),
    Form("floordiv", lambda x, y: float(floor(x / y)), [None, None],
        [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0)], [((1.0, 0.0), inf, (None, None))]),
    Form("mod", lambda x, y: x - y * floor(x / y),
        [lambda x, y: 1.0, lambda x, y: -float(floor(x / y))],
        [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0)], outside=[(1.0, 0.0)]),
    Form("abs", lambda x: max(x, -x), [lambda x: 1.0 if x > 0 else -1.0], one(-2.5, 3.0),
        [((0.0,), 0.0, (0.0,)), ((-0.0,), 0.0, (0.0,))]),
    Form("square", lambda x: abs(x) * abs(x), [lambda x: x + x], one(-2.5, 3.0),
        [((0.0,), 0.0, (0.0,)), ((1e200,), inf, (2e200,))]),
    Form("reciprocal", lambda x: exp(-log(abs(x))) * copysign(1.0, x), [lambda x: -1.0 / (x * x)],
        one(-2.5, 3.0), [((0.0,), inf, (-inf,)), ((-0.0,), -inf, (-inf,))]),
    Form("sqrt", lambda x: x**0.5, [lambda x: 0.5 * x**-0.5], one(0.25, 9.0),
        [((0.0,), 0.0, (inf,)), ((-0.0,), 0.0, (inf,))], outside=one(-1.0)),
    Form("cbrt", lambda x: copysign(abs(x) ** (1.0 / 3.0), x),
        [lambda x: abs(x) ** (-2.0 / 3.0) / 3.0], one(-8.0, 0.7),
        [((0.0,), 0.0, (inf,)), ((-0.0,), 0.0, (inf,))]),
    Form("hypot", lambda x, y: sqrt(x * x + y * y),
        [lambda x, y: x / sqrt(x * x + y * y), lambda x, y: y / sqrt(x * x + y * y)],
        [(3.0, 4.0), (-1.0, 0.5), (0.0, -2.0)],
        [((0.0, 0.0), 0.0, (0.0, 0.0)), ((3e200, 4e200), 5e200, (0.6, 0.8)),
         ((3e-200, -4e-200), 5e-200, (0.6, -0.8))]),
    Form("maximum", lambda x, y: (x + y + abs(x - y)) / 2.0,
        [lambda x, y: float(x > y), lambda x, y: float(y > x)], [(1.0, 2.0), (3.0, -1.0)],
        [((2.0, 2.0), 2.0, (0.5, 0.5)), ((0.0, -0.0), 0.0, (0.5, 0.5)),
         ((inf, 1.0), inf, (1.0, 0.0)), ((nan, 1.0), nan, (1.0, 0.0)),
         ((1.0, nan), nan, (0.0, 1.0)), ((nan, nan), nan, (0.5, 0.5))]),
    Form("minimum", lambda x, y: (x + y - abs(x - y)) / 2.0,
        [lambda x, y: float(x < y), lambda x, y: float(y < x)], [(1.0, 2.0), (3.0, -1.0)],
        [((2.0, 2.0), 2.0, (0.5, 0.5)), ((-inf, 1.0), -inf, (1.0, 0.0)),
         ((nan, 1.0), nan, (1.0, 0.0)), ((1.0, nan), nan, (0.0, 1.0)),
         ((nan, nan), nan, (0.5, 0.5))]),
    Form("clip", lambda x, low, high: sorted((x, low, high))[1],
        [lambda x, low, high: float(low < x < high), lambda x, low, high: float(x < low),
         lambda x, low, high: float(high < x)],
        [(0.5, 0.0, 1.0), (-2.0, 0.0, 1.0), (7.0, 0.0, 6.0)],
        [((0.0, 0.0, 6.0), 0.0, (1.0, 0.0, 0.0)), ((6.0, 0.0, 6.0), 6.0, (1.0, 0.0, 0.0)),
         ((1e17, 0.0, 6.0), 6.0, (0.0, 0.0, 1.0))]),
    Form("sum", lambda *xs: fsum(xs), lambda *xs: [1.0] * len(xs),
        [(1.5,), (1.5, -2.25, 3.0), (1.0,) * 9]),
    Form("dot", _products, _slopes_of_products, [(1.5, -2.0), (1.0, -2.0, 3.0, 0.5, 4.0, -1.5)]),
    # ---- exponentials and logarithms -----------------------------------------------------------
    Form("exp", lambda x: cosh(x) + sinh(x), [lambda x: cosh(x) + sinh(x)], one(-1.0, 0.0, 2.0),
        [((-1000.0,), 0.0, (0.0,)), ((1000.0,), inf, (inf,))]),
    Form("exp2", lambda x: exp(x * log(2.0)), [lambda x: log(2.0) * exp(x * log(2.0))],
        one(-1.5, 0.0, 3.0), [((-2000.0,), 0.0, (0.0,)), ((2000.0,), inf, (inf,))]),
    Form("expm1", lambda x: exp(x) - 1.0, [exp], one(-1.0, 0.5, 2.0),
        [((1e-10,), 1e-10 + 5e-21, (1.0 + 1e-10,)), ((-1000.0,), -1.0, (0.0,)),
         ((1000.0,), inf, (inf,))]),
    Form("log", lambda x: 2.0 * log(sqrt(x)), [lambda x: 1.0 / x], one(0.3, 2.0),
        [((0.0,), -inf, (inf,))], outside=one(-1.0)),
    Form("log2", lambda x: log(x) / log(2.0), [lambda x: 1.0 / (log(2.0) * x)], one(0.3, 2.0),
        [((0.0,), -inf, (inf,))], outside=one(-1.0)),
    Form("log10", lambda x: log(x) / log(10.0), [lambda x: 1.0 / (log(10.0) * x)], one(0.3, 2.0),
        [((0.0,), -inf, (inf,))], outside=one(-1.0)),
    Form("log1p", lambda x: log(1.0 + x), [lambda x: 1.0 / (1.0 + x)], one(-0.5, 0.0, 2.0),
        [((1e-10,), 1e-10 - 5e-21, (1.0 - 1e-10,)), ((-1.0,), -inf, (inf,))], outside=one(-2.0)),
    Form("logaddexp", lambda x, y: log(exp(x) + exp(y)),
        [lambda x, y: exp(x) / (exp(x) + exp(y)), lambda x, y: exp(y) / (exp(x) + exp(y))],
        [(1.0, 2.0), (-0.5, -3.0), (1.0, 1.0)],
        [((1000.0, 1000.0), 1000.0 + log(2.0), (0.5, 0.5)), ((1000.0, 0.0), 1000.0, (1.0, 0.0)),
         ((-1000.0, 1000.0), 1000.0, (0.0, 1.0)), ((-inf, 0.0), 0.0, (0.0, 1.0))]),
    # ---- trigonometric and hyperbolic ----------------------------------------------------------
    Form("sin", lambda x: cmath.exp(1j * x).imag, [lambda x: cmath.exp(1j * x).real],
        one(-1.0, 0.5, 4.0)),
    Form("cos", lambda x: cmath.exp(1j * x).real, [lambda x: -cmath.exp(1j * x).imag],
        one(-1.0, 0.5, 4.0)),
    Form("tan", lambda x: sin(x) / cos(x), [lambda x: cos(x) ** -2.0], one(-1.0, 0.5, 4.0)),
    Form("asin", lambda x: atan2(x, sqrt(1.0 - x * x)), [lambda x: (1.0 - x * x) ** -0.5],
        one(-0.5, 0.0, 0.9), [((1.0,), pi / 2, (inf,)), ((-1.0,), -pi / 2, (inf,))],
        outside=one(2.0, -1.5)),
    Form("acos", lambda x: atan2(sqrt(1.0 - x * x), x), [lambda x: -((1.0 - x * x) ** -0.5)],
        one(-0.5, 0.0, 0.9), [((1.0,), 0.0, (-inf,)), ((-1.0,), pi, (-inf,))],
        outside=one(2.0, -1.5)),
    Form("atan", lambda x: atan2(x, 1.0), [lambda x: 1.0 / (1.0 + x * x)], one(-2.0, 0.0, 0.9),
        [((1e200,), pi / 2, (0.0,))]),
    Form("atan2", lambda y, x: cmath.phase(complex(x, y)),
        [lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)],
        [(1.0, 2.0), (-0.5, -1.0), (3.0, 0.0)],
        [((0.0, 0.0), 0.0, (0.0, 0.0)), ((1e200, 1e200), pi / 4, (5e-201, -5e-201)),
         ((0.0, 2.0), 0.0, (0.5, 0.0))]),
    Form("sinh", lambda x: (exp(x) - exp(-x)) / 2.0, [lambda x: (exp(x) + exp(-x)) / 2.0],
        one(-1.0, 0.5), [((1000.0,), inf, (inf,)), ((-1000.0,), -inf, (inf,))]),
    Form("cosh", lambda x: (exp(x) + exp(-x)) / 2.0, [lambda x: (exp(x) - exp(-x)) / 2.0],
        one(-1.0, 0.5), [((1000.0,), inf, (inf,)), ((-1000.0,), inf, (-inf,))]),
    Form("tanh", lambda x: 1.0 - 2.0 / (exp(2.0 * x) + 1.0), [lambda x: cosh(x) ** -2.0],
        one(-1.0, 0.0, 0.5), [((1000.0,), 1.0, (0.0,)), ((-1000.0,), -1.0, (0.0,))]),
    Form("asinh", lambda x: copysign(log(abs(x) + sqrt(x * x + 1.0)), x),
        [lambda x: (x * x + 1.0) ** -0.5], one(-2.0, 0.5),
        [((0.0,), 0.0, (1.0,)), ((1e200,), log(2.0) + log(1e200), (1e-200,))]),
    Form("acosh", lambda x: log(x + sqrt(x * x - 1.0)), [lambda x: (x * x - 1.0) ** -0.5],
        one(1.5, 4.0), [((1.0,), 0.0, (inf,)), ((1e200,), log(2.0) + log(1e200), (1e-200,))],
        outside=one(0.5, -2.0)),
    Form("atanh", lambda x: log((1.0 + x) / (1.0 - x)) / 2.0, [lambda x: 1.0 / (1.0 - x * x)],
        one(-0.5, 0.0, 0.9), [((1.0,), inf, (inf,)), ((-1.0,), -inf, (inf,))],
        outside=one(2.0, -1.5)),
    # ---- activations ---------------------------------------------------------------------------
    Form("sigmoid", lambda x: (1.0 + tanh(x / 2.0)) / 2.0, [lambda x: cosh(x / 2.0) ** -2.0 / 4.0],
        one(-2.0, 0.0, 1.0),
        [((-1000.0,), 0.0, (0.0,)), ((1000.0,), 1.0, (0.0,)),
         ((-40.0,), exp(-40.0), (exp(-40.0),)), ((-800.0,), 0.0, (0.0,))]),
    Form("log_sigmoid", lambda x: -log(1.0 + exp(-x)), [lambda x: 1.0 / (1.0 + exp(x))],
        one(-2.0, 0.0, 1.0),
        [((-1000.0,), -1000.0, (1.0,)), ((1000.0,), 0.0, (0.0,)),
         ((40.0,), -exp(-40.0), (exp(-40.0),))]),
    Form("softplus", lambda x: log(1.0 + exp(x)), [lambda x: 1.0 / (1.0 + exp(-x))],
        one(-2.0, 0.0, 1.0),
        [((1000.0,), 1000.0, (1.0,)), ((-1000.0,), 0.0, (0.0,)),
         ((-40.0,), exp(-40.0), (exp(-40.0),))]),
    Form("relu", lambda x: (x + abs(x)) / 2.0, [lambda x: float(x > 0)], one(-2.0, 3.0),
        [((0.0,), 0.0, (0.0,)), ((-0.0,), 0.0, (0.0,))]),
    Form("relu6", lambda x: sorted((x, 0.0, 6.0))[1], [lambda x: float(0.0 < x < 6.0)],
        one(-2.0, 3.0, 8.0),
        [((0.0,), 0.0, (0.0,)), ((6.0,), 6.0, (1.0,)), ((1e17,), 6.0, (0.0,))]),
    _leaky(0.01),
    _leaky(0.2),
    _elu(1.0),
    _elu(2.5),
    Form("silu", lambda x: x / (1.0 + exp(-x)),
        [lambda x: 1.0 / (1.0 + exp(-x)) + x / (2.0 + 2.0 * cosh(x))], one(-2.0, 0.0, 1.5),
        [((1000.0,), 1000.0, (1.0,)), ((-1000.0,), 0.0, (0.0,))]),
    Form("erf", lambda x: 1.0 - erfc(x), [lambda x: 2.0 * exp(-x * x) / sqrt(pi)],
        one(-1.0, 0.0, 0.5), [((30.0,), 1.0, (0.0,)), ((-1e200,), -1.0, (0.0,))]),
    Form("gelu", lambda x: x * erfc(-x / sqrt(2.0)) / 2.0,
        [lambda x: erfc(-x / sqrt(2.0)) / 2.0 + x * _density(x)], one(-2.0, 0.0, 1.5),
        [((40.0,), 40.0, (1.0,)), ((-40.0,), 0.0, (0.0,))]),
    Form("sinc", lambda x: sin(pi * x) / (pi * x),
        [lambda x: (pi * x * cos(pi * x) - sin(pi * x)) / (pi * x * x)],
        one(-1.3, 0.03, 0.06, 0.5, 2.0),
        [((0.0,), 1.0, (0.0,)), ((1e-9,), 1.0, (-pi * pi / 3.0 * 1e-9,))]),
]
# fmt: on

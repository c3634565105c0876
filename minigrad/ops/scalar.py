"""The rest of the table of functions of real numbers.

The same form as ``core.py``: value, local derivatives, how it is written, where it is not smooth.
Sources: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions (1964), chapters 4 and 7;
conventions at kinks and edges: docs/kinks-and-edges.md.

Read next: ``nary.py``, sums and dot products; ``floats.py``, the functions of ``m``.
"""

# mypy: disable-error-code="has-type"
# (Rows may name rows that stand below them; they are looked up when a formula runs.)

from __future__ import annotations

from math import log as _ln
from math import pi
from math import sqrt as _sqrt

from minigrad.ops.core import elementwise, equal, exp, less, less_equal, operator, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _logistic(m: Any, x: Any) -> Any:
    """1 / (1 + exp(-x)) with an exponent that is never positive, so it cannot overflow."""
    small = m.exp(-m.abs(x))
    return m.where(m.less(x, 0.0), small, 1.0) / (1.0 + small)


def _sinc_slope(out: Any, x: Any) -> Any:
    """its Taylor series (the quotient cancels near 0)"""
    t = pi * x
    s, series = t * t, 1.0
    for divisor in (130.0, 88.0, 54.0, 28.0, 10.0):
        series = 1.0 - s / divisor * series
    return -t / 3.0 * series * pi


# fmt: off

# ---- comparisons and steps: piecewise constant, no gradient ---------------------------------

greater = elementwise("greater", lambda m, x, y: m.less(y, x), [None, None], text="{0:1} > {1:1}",
    latex=r"\left[{0:1} > {1:1}\right]", precedence=0, sentence="1 where x > y, else 0.",
    example=(1.0, 2.0, 0.0))
isnan = elementwise("isnan", lambda m, x: 1.0 - m.equal(x, x), [None],
    sentence="1 where x is nan, else 0.", example=(float("nan"), 1.0))
sign = elementwise("sign", lambda m, x: m.sign(x), [0.0],
    sentence="-1, 0 or 1; its slope is 0 everywhere, also at 0.", example=(-2.0, -1.0))
floor = elementwise("floor", lambda m, x: m.floor(x), [None],
    latex=r"\left\lfloor {0} \right\rfloor", sentence="The largest whole number up to x.",
    example=(-1.5, -2.0))
ceil = elementwise("ceil", lambda m, x: m.ceil(x), [None], latex=r"\left\lceil {0} \right\rceil",
    sentence="The smallest whole number from x on.", example=(-1.5, -1.0))
round = elementwise("round", lambda m, x: m.round(x), [None],
    sentence="The nearest whole number, halves to the even one.", example=(2.5, 2.0))

# ---- arithmetic -----------------------------------------------------------------------------

floordiv = operator("floordiv", lambda m, x, y: x // y, [None, None], text="{0:2} // {1:3}",
    latex=r"\left\lfloor \frac{{{0}}}{{{1}}} \right\rfloor", precedence=2,
    sentence="Quotient rounded down.")
mod = operator("mod", lambda m, x, y: x % y, [1.0, lambda out, x, y: -(x // y)],
    domain=lambda x, y: 1.0 - equal(y, 0.0), text="{0:2} % {1:3}",
    latex=r"{0:2} \;\mathrm{{mod}}\; {1:3}", precedence=2,
    sentence="Remainder x - y · (x // y); it has the sign of y.")
abs = elementwise("abs", lambda m, x: m.abs(x), [lambda out, x: sign(x)],
    kink=lambda x: equal(x, 0.0), latex=r"\left| {0} \right|",
    sentence="Absolute value; slope 0 at 0.", example=(-2.0, 2.0))
square = elementwise("square", lambda m, x: x * x, [lambda out, x: 2.0 * x],
    latex=r"{{{0:5}}}^{{2}}", sentence="The square.", example=(3.0, 9.0))
reciprocal = elementwise("reciprocal", lambda m, x: 1.0 / x, [lambda out, x: -out * out],
    latex=r"\frac{{1}}{{{0}}}", sentence="1 / x.", example=(4.0, 0.25))
sqrt = elementwise("sqrt", lambda m, x: m.sqrt(x), [lambda out, x: 0.5 / (out + 0.0)],
    domain=lambda x: less_equal(0.0, x), latex=r"\sqrt{{{0}}}",
    sentence="Square root; slope inf at 0.", example=(9.0, 3.0))
cbrt = elementwise("cbrt", lambda m, x: m.cbrt(x), [lambda out, x: 1.0 / (3.0 * out * out)],
    latex=r"\sqrt[3]{{{0}}}", sentence="Cube root, of negative numbers too; slope inf at 0.",
    example=(-8.0, -2.0))
hypot = elementwise("hypot", lambda m, x, y: m.hypot(x, y),
    [lambda out, x, y: x / out, lambda out, x, y: y / out],
    edges={i: [(lambda x, y: equal(x, 0.0) * equal(y, 0.0), 0.0)] for i in (0, 1)},
    sentence="sqrt(x² + y²) without overflow; slopes 0 at the origin.", example=(3.0, 4.0, 5.0))
# A tie is shared; nan is the larger and the smaller of two, so it gets the gradient.
_SHARED = {
    i: [(lambda x, y: equal(x, y), 0.5), (lambda x, y: isnan(x) * isnan(y), 0.5), (condition, 1.0)]
    for i, condition in enumerate((lambda x, y: isnan(x), lambda x, y: isnan(y)))
}
maximum = elementwise("maximum", lambda m, x, y: m.maximum(x, y),
    [lambda out, x, y: less(y, x), lambda out, x, y: less(x, y)],
    edges=_SHARED,
    latex=r"\max", sentence="The larger of two; a tie shares the gradient equally.",
    example=(1.0, 2.0, 2.0))
minimum = elementwise("minimum", lambda m, x, y: m.minimum(x, y),
    [lambda out, x, y: less(x, y), lambda out, x, y: less(y, x)],
    edges=_SHARED,
    latex=r"\min", sentence="The smaller of two; a tie shares the gradient equally.",
    example=(1.0, 2.0, 1.0))
clip = elementwise("clip", lambda m, x, low, high: m.minimum(m.maximum(x, low), high),
    [lambda out, x, low, high: less_equal(low, x) * less_equal(x, high),
        lambda out, x, low, high: less(x, low) * less_equal(low, high),
        lambda out, x, low, high: where(less(high, low), 1.0, less(high, x))],
    kink=lambda x, low, high: equal(x, low) + equal(x, high),
    sentence="x kept between low and high; slope 1 on the bounds.", example=(7.0, 0.0, 6.0, 6.0))

# ---- exponentials and logarithms ------------------------------------------------------------

exp2 = elementwise("exp2", lambda m, x: m.exp2(x), [lambda out, x: out * _ln(2.0)],
    latex=r"2^{{{0}}}", sentence="2 to the power x.", example=(3.0, 8.0))
expm1 = elementwise("expm1", lambda m, x: m.expm1(x), [lambda out, x: exp(x)],
    latex=r"\left(e^{{{0}}} - 1\right)", sentence="exp(x) - 1, exact near 0.",
    example=(1e-10, 1.00000000005e-10))
log2 = elementwise("log2", lambda m, x: m.log2(x), [lambda out, x: 1.0 / (x * _ln(2.0))],
    latex=r"\log_{{2}}\left({0}\right)", domain=lambda x: less_equal(0.0, x),
    sentence="Logarithm to base 2.", example=(8.0, 3.0))
log10 = elementwise("log10", lambda m, x: m.log10(x), [lambda out, x: 1.0 / (x * _ln(10.0))],
    latex=r"\log_{{10}}\left({0}\right)", domain=lambda x: less_equal(0.0, x),
    sentence="Logarithm to base 10.", example=(1000.0, 3.0))
log1p = elementwise("log1p", lambda m, x: m.log1p(x), [lambda out, x: 1.0 / (1.0 + x)],
    latex=r"\ln\left(1 + {0:1}\right)", domain=lambda x: less_equal(-1.0, x),
    sentence="log(1 + x), exact near 0.", example=(1.0, 0.6931471805599453))
logaddexp = elementwise("logaddexp",
    lambda m, x, y: m.where(m.equal(x, y),
        x + _ln(2.0), m.maximum(x, y) + m.log1p(m.exp(-m.abs(x - y)))),
    [lambda out, x, y: sigmoid(x - y), lambda out, x, y: sigmoid(y - x)],
    edges={i: [(lambda x, y: equal(x, y) * isnan(x - y) * less(x, 0.0), 0.0),
        (lambda x, y: equal(x, y) * isnan(x - y), 0.5)] for i in (0, 1)},
    sentence="log(exp(x) + exp(y)) without overflow.", example=(1000.0, 1000.0, 1000.6931471805599))

# ---- trigonometric and hyperbolic -----------------------------------------------------------

sin = elementwise("sin", lambda m, x: m.sin(x), [lambda out, x: cos(x)], latex=r"\sin",
    sentence="Sine of an angle in radians.", example=(0.5, 0.479425538604203))
cos = elementwise("cos", lambda m, x: m.cos(x), [lambda out, x: -sin(x)], latex=r"\cos",
    sentence="Cosine of an angle in radians.", example=(0.5, 0.8775825618903728))
tan = elementwise("tan", lambda m, x: m.tan(x), [lambda out, x: 1.0 + out * out], latex=r"\tan",
    sentence="Tangent of an angle in radians.", example=(0.5, 0.5463024898437905))
asin = elementwise("asin", lambda m, x: m.asin(x), [lambda out, x: 1.0 / sqrt(1.0 - x * x)],
    latex=r"\arcsin", domain=lambda x: less_equal(x * x, 1.0), sentence="Inverse sine, in radians.",
    example=(0.5, 0.5235987755982989))
acos = elementwise("acos", lambda m, x: m.acos(x), [lambda out, x: -1.0 / sqrt(1.0 - x * x)],
    latex=r"\arccos", domain=lambda x: less_equal(x * x, 1.0),
    sentence="Inverse cosine, in radians.", example=(0.5, 1.0471975511965979))
atan = elementwise("atan", lambda m, x: m.atan(x), [lambda out, x: 1.0 / (1.0 + x * x)],
    latex=r"\arctan", sentence="Inverse tangent, in radians.", example=(1.0, 0.7853981633974483))
atan2 = elementwise("atan2", lambda m, y, x: m.atan2(y, x),
    [lambda out, y, x: x / hypot(x, y) / hypot(x, y),
        lambda out, y, x: -y / hypot(x, y) / hypot(x, y)],
    edges={i: [(lambda y, x: equal(x, 0.0) * equal(y, 0.0), 0.0)] for i in (0, 1)},
    sentence="Angle of the point (x, y), in radians; slopes 0 at the origin.",
    example=(1.0, -1.0, 2.356194490192345))
sinh = elementwise("sinh", lambda m, x: m.sinh(x), [lambda out, x: cosh(x)], latex=r"\sinh",
    sentence="Hyperbolic sine.", example=(1.0, 1.1752011936438014))
cosh = elementwise("cosh", lambda m, x: m.cosh(x), [lambda out, x: sinh(x)], latex=r"\cosh",
    sentence="Hyperbolic cosine.", example=(1.0, 1.5430806348152437))
asinh = elementwise("asinh", lambda m, x: m.asinh(x), [lambda out, x: 1.0 / hypot(1.0, x)],
    sentence="Inverse hyperbolic sine.", example=(1.0, 0.881373587019543))
acosh = elementwise("acosh", lambda m, x: m.acosh(x),
    [lambda out, x: 1.0 / (sqrt(x - 1.0) * sqrt(x + 1.0))], domain=lambda x: less_equal(1.0, x),
    sentence="Inverse hyperbolic cosine.", example=(2.0, 1.3169578969248166))
atanh = elementwise("atanh", lambda m, x: m.atanh(x),
    [lambda out, x: 1.0 / ((1.0 - x) * (1.0 + x))], domain=lambda x: less_equal(x * x, 1.0),
    sentence="Inverse hyperbolic tangent.", example=(0.5, 0.5493061443340548))

# ---- activations ----------------------------------------------------------------------------

sigmoid = elementwise("sigmoid", _logistic, [lambda out, x: out * (1.0 - out)], latex=r"\sigma",
    sentence="Logistic function 1 / (1 + exp(-x)).", example=(0.0, 0.5))
log_sigmoid = elementwise("log_sigmoid", lambda m, x: m.minimum(x, 0.0) - m.log1p(m.exp(-m.abs(x))),
    [lambda out, x: sigmoid(-x)], latex=r"\ln \sigma",
    sentence="log(sigmoid(x)) without underflow.", example=(-1000.0, -1000.0))
softplus = elementwise("softplus", lambda m, x: m.maximum(x, 0.0) + m.log1p(m.exp(-m.abs(x))),
    [lambda out, x: sigmoid(x)], sentence="log(1 + exp(x)) without overflow.",
    example=(0.0, 0.6931471805599453))
relu6 = elementwise("relu6", lambda m, x: m.minimum(m.maximum(x, 0.0), 6.0),
    [lambda out, x: less(0.0, x) * less_equal(x, 6.0)],
    kink=lambda x: equal(x, 0.0) + equal(x, 6.0),
    sentence="relu cut off at 6; slope 0 at 0 and 1 at 6.", example=(8.0, 6.0))
leaky_relu = elementwise("leaky_relu",
    lambda m, x, *, negative_slope=0.01: m.where(m.less(0.0, x), x, negative_slope * x),
    [lambda out, x, *, negative_slope: where(less(0.0, x), 1.0, negative_slope)],
    kink=lambda x: equal(x, 0.0), sentence="x where positive, else negative_slope · x.",
    example=(-2.0, -0.02))
elu = elementwise("elu",
    lambda m, x, *, alpha=1.0: m.where(m.less(0.0, x), x, alpha * m.expm1(m.minimum(x, 0.0))),
    [lambda out, x, *, alpha: where(less(0.0, x), 1.0, alpha * exp(where(less(0.0, x), 0.0, x)))],
    sentence="x where positive, else alpha (exp(x) - 1).", example=(-1.0, -0.6321205588285577))
silu = elementwise("silu", lambda m, x: x * _logistic(m, x),
    [lambda out, x: sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x)))],
    sentence="x · sigmoid(x), also called swish.", example=(1.0, 0.7310585786300049))
erf = elementwise("erf", lambda m, x: m.erf(x), [lambda out, x: 2.0 / _sqrt(pi) * exp(-x * x)],
    sentence="Error function.", example=(0.5, 0.5204998778130465))
gelu = elementwise("gelu", lambda m, x: 0.5 * x * (1.0 + m.erf(x / _sqrt(2.0))),
    [lambda out, x: 0.5 * (1.0 + erf(x / _sqrt(2.0))) + x * exp(-0.5 * x * x) / _sqrt(2.0 * pi)],
    sentence="x · Φ(x), with the normal distribution function Φ.",
    example=(1.0, 0.8413447460685429),
    source="D. Hendrycks, K. Gimpel, Gaussian Error Linear Units, arXiv:1606.08415")
sinc = elementwise("sinc",
    lambda m, x: m.where(m.equal(x, 0.0),
        1.0, m.sin(pi * x) / m.where(m.equal(x, 0.0), 1.0, pi * x)),
    [lambda out, x: (cos(pi * x) - out) / x],
    edges={0: [(lambda x: less(abs(x), 0.05), _sinc_slope)]},
    sentence="sin(πx) / (πx), smooth at 0.", example=(0.5, 0.6366197723675814))

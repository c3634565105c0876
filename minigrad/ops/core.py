"""The table: the rows of the lecture.

A row states an operation once: how its value is computed, and its derivative with respect to each
input. The formulas use only ``+ - * / **`` and the functions of this table, so the same row runs on
floats, on arrays, on nodes (which makes a gradient that can be differentiated again) and on symbols
(which prints it). ``m`` holds the functions for the kind of numbers at hand, ``out`` is the value.
A new operation is one row and nothing else. ``{0:1}`` in ``text`` is input 0, in brackets where it
binds less tightly than 1; an ``operator`` is written between its inputs and has no name in ``mg``.

Read next: ``../value.py``, the numbers that these rows connect; ``scalar.py``, the other rows.
"""

# mypy: disable-error-code="has-type"
# (Rows may name rows that stand below them; they are looked up when a formula runs.)

from minigrad.ops.function import elementwise, operator
from minigrad.ops.row import FIRST, INF, SECOND, Op

__all__ = ["Op", "elementwise", "operator"]

# fmt: off
add = operator("add", lambda m, x, y: x + y, [1.0, 1.0], text="{0:1} + {1:1}", precedence=1,
    sentence="Sum: passes the gradient on to both.")
sub = operator("sub", lambda m, x, y: x - y, [1.0, -1.0], text="{0:1} - {1:2}", precedence=1,
    sentence="Difference: the second input gets the gradient negated.")
mul = operator("mul", lambda m, x, y: x * y, [SECOND, FIRST], text="{0:2} * {1:3}",
    latex=r"{0:2} \cdot {1:2}", precedence=2,
    sentence="Product: each input gets the gradient times the other.")
div = operator("div", lambda m, x, y: x / y,
    [lambda out, x, y: 1.0 / y, lambda out, x, y: -out / y], text="{0:2} / {1:3}",
    latex=r"\frac{{{0}}}{{{1}}}", precedence=2, sentence="Quotient.")
neg = elementwise("neg", lambda m, x: -x, [-1.0], text="-{0:3}", precedence=3, sentence="Negation.",
    example=(2.0, -2.0))
pow = operator("pow", lambda m, x, y: m.power(x, y),
    [lambda out, x, y: y * x ** (y - 1.0), lambda out, x, y: out * log(x)], text="{0:5} ** {1:3}",
    latex=r"{{{0:5}}}^{{{1}}}", precedence=4, sentence="Power; the exponent gets a gradient too.",
    edges={0: [(lambda x, y: equal(x, 0.0) * equal(y, 0.0), 0.0)],
        1: [(lambda x, y: equal(x, 0.0) * less_equal(0.0, y), 0.0)]}, domain=lambda x, y:
        less_equal(0.0, x) + equal(y % 1.0, 0.0) + equal(x, -INF) + equal(y, INF) + equal(y, -INF))

exp = elementwise("exp", lambda m, x: m.exp(x), [lambda out, x: out], latex=r"e^{{{0}}}",
    sentence="Exponential: its own derivative.", example=(1.0, 2.718281828459045))
log = elementwise("log", lambda m, x: m.log(x), [lambda out, x: 1.0 / x], latex=r"\ln",
    domain=lambda x: less_equal(0.0, x), sentence="Natural logarithm.",
    example=(2.0, 0.6931471805599453))
tanh = elementwise("tanh", lambda m, x: m.tanh(x), [lambda out, x: 1.0 - out * out], latex=r"\tanh",
    sentence="Hyperbolic tangent: squashes into (-1, 1).", example=(0.5, 0.46211715726000973))
relu = elementwise("relu", lambda m, x: m.maximum(x, 0.0), [lambda out, x: less(0.0, x)],
    kink=lambda x: equal(x, 0.0), sentence="Rectified linear unit: max(x, 0); slope 0 at 0.",
    example=(-3.0, 0.0))

# Comparisons give 1.0 or 0.0 and have no slope; `where` chooses.
less = elementwise("less", lambda m, x, y: m.less(x, y), [None, None], text="{0:1} < {1:1}",
    latex=r"\left[{0:1} < {1:1}\right]", precedence=0, sentence="1 where x < y, else 0.",
    example=(1.0, 2.0, 1.0))
less_equal = operator("less_equal", lambda m, x, y: m.less_equal(x, y), [None, None],
    text="{0:1} <= {1:1}", latex=r"\left[{0:1} \leq {1:1}\right]", precedence=0,
    sentence="1 where x <= y, else 0.")
equal = elementwise("equal", lambda m, x, y: m.equal(x, y), [None, None], text="{0:1} == {1:1}",
    latex=r"\left[{0:1} = {1:1}\right]", precedence=0,
    sentence="1 where x and y are equal, else 0.", example=(2.0, 2.0, 1.0))
where = elementwise("where", lambda m, condition, x, y: m.where(condition, x, y),
    [None, lambda out, condition, x, y: where(condition, 1.0, 0.0),
        lambda out, condition, x, y: where(condition, 0.0, 1.0)], selects=True,
    sentence="x where the condition holds, else y; sends nothing to the branch not taken.",
    example=(True, 1.0, 2.0, 1.0))

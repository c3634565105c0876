"""The scalar rows need no change for arrays: an array evaluator, made here and thrown away.

``Array`` is to the table what the engine's array mode will be: a class with a rank above
``Value``'s and one method, which runs a row's ``forward`` on NumPy's functions. Its derivatives are
the rows' own ``partials``, with ``edges`` and ``domain`` chosen element by element. Every element
must be what the same row gives on floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

import minigrad as mg
from minigrad import Value
from tests.engine.closed_forms import FORMS, Form, call

np = pytest.importorskip("numpy")


def _as_numbers(function: Any) -> Any:
    return lambda *xs: function(*xs).astype(float)


SAME_NAMES = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan",
    "sinh", "cosh", "tanh", "hypot", "power", "abs", "sign", "maximum", "minimum", "floor", "ceil",
]  # fmt: skip

NUMPY = SimpleNamespace(
    **{name: getattr(np, name) for name in SAME_NAMES},
    asin=np.arcsin, acos=np.arccos, atan=np.arctan, atan2=np.arctan2,
    asinh=np.arcsinh, acosh=np.arccosh, atanh=np.arctanh,
    erf=np.vectorize(math.erf, otypes=[float]), round=np.rint,
    less=_as_numbers(np.less), less_equal=_as_numbers(np.less_equal), equal=_as_numbers(np.equal),
)  # fmt: skip
NUMPY.where = lambda condition, x, y: np.where(np.asarray(condition) != 0.0, x, y)


def raw(x: Any) -> Any:
    return x.numbers if isinstance(x, Array) else x


class Array:
    """NumPy numbers whose operators are NumPy's."""

    _rank = Value._rank + 1

    def __init__(self, numbers: Any) -> None:
        self.numbers = np.asarray(numbers, dtype=float)

    @staticmethod
    def _apply(op: Any, xs: Sequence[Any], kinds: set[type]) -> Array:
        return Array(op.forward(NUMPY, *map(raw, xs)))


def _operator(name: str) -> Any:
    return lambda self, *others: Array(getattr(self.numbers, name)(*map(raw, others)))


for _word in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    for _name in (f"__{_word}__", f"__r{_word}__"):
        setattr(Array, _name, _operator(_name))
Array.__neg__ = _operator("__neg__")  # type: ignore[attr-defined]


def slope_of(op: Any, i: int, out: Array, xs: Sequence[Array]) -> Any:
    """∂out/∂xᵢ, element by element; None where the row has none."""
    if not op.parameters:  # any number of inputs
        return raw(op.local_derivatives(xs)[i])
    formula = op.partials[i]
    if formula is None:
        return None
    local = raw(formula(out, *xs) if callable(formula) else formula)
    for condition, value in reversed(list(op.edges.get(i, ()))):
        value = raw(value(out, *xs) if callable(value) else value)
        local = NUMPY.where(raw(condition(*xs)), value, local)
    if op.domain is not None:
        local = NUMPY.where(raw(op.domain(*xs)), local, np.nan)
    return local


def groups(form: Form) -> list[list[tuple[float, ...]]]:
    """All points of the table, joined in columns of the same number of inputs."""
    points = [*form.points, *(edge[0] for edge in form.edges), *form.outside]
    return [
        [xs for xs in points if len(xs) == arity] for arity in sorted({len(xs) for xs in points})
    ]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.label)
def test_the_row_gives_on_arrays_what_it_gives_on_floats(form: Form) -> None:
    for points in groups(form):
        columns = [Array(column) for column in zip(*points, strict=True)]
        with np.errstate(all="ignore"), mg.errstate("ignore"):
            nodes = [call(form, [Value(x) for x in xs]) for xs in points]
            row = nodes[0].op
            out = row_out = Array._apply(row, columns, {Array})
            if getattr(mg, form.row, None) is not None:
                out = call(form, columns)  # the same through the public function
            assert isinstance(out, Array)
            np.testing.assert_array_equal(out.numbers, row_out.numbers)
            np.testing.assert_allclose(
                out.numbers, [node.data for node in nodes], rtol=1e-13, atol=1e-300
            )
            for i in range(len(columns)):
                slopes = slope_of(row, i, out, columns)
                if slopes is None:
                    assert not row.differentiable(i)
                    continue
                expected = [node.local_derivatives(i) for node in nodes]
                np.testing.assert_allclose(
                    np.broadcast_to(slopes, len(points)), expected, rtol=1e-13, atol=1e-300
                )


def test_shapes_broadcast_as_numpy_does() -> None:
    out = mg.maximum(Array([[1.0], [5.0]]), Array([2.0, 3.0, 4.0]))
    assert out.numbers.tolist() == [[2.0, 3.0, 4.0], [5.0, 5.0, 5.0]]
    assert mg.hypot(Array([3.0, 6.0]), 4.0).numbers[0] == 5.0


def test_an_array_takes_over_from_a_value() -> None:
    """The highest rank among the arguments decides who evaluates the row."""
    seen = []

    class Above(Array):
        _rank = Array._rank + 1

        @staticmethod
        def _apply(op: Any, xs: Sequence[Any], kinds: set[type]) -> Any:
            seen.append((op.name, [type(x).__name__ for x in xs], kinds == set(map(type, xs))))
            return xs[0]

    mg.atan2(Value(1.0), Above([1.0]))
    mg.where(1.0, Array([1.0]), Above([1.0]))
    assert seen == [
        ("atan2", ["Value", "Above"], True),
        ("where", ["float", "Array", "Above"], True),
    ]

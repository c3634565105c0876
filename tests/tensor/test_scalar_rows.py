"""The scalar rows on arrays: unchanged, and element by element what they are on floats."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Value
from minigrad.tensor import Tensor
from tests.engine.closed_forms import FORMS, Form, call

each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.label)


def groups(form: Form, everywhere: bool = True) -> list[list[tuple[float, ...]]]:
    """All points of the table, joined in columns of the same number of inputs."""
    points = [*form.points]
    if everywhere:
        points += [*(edge[0] for edge in form.edges), *form.outside]
    else:
        points += [at for at, value, _ in form.edges if isfinite(value) and max(map(abs, at)) < 9]
    return [
        [xs for xs in points if len(xs) == arity] for arity in sorted({len(xs) for xs in points})
    ]


def columns(points: list[tuple[float, ...]]) -> list[Tensor]:
    return [Tensor(list(column)) for column in zip(*points, strict=True)]


def scalars(form: Form, points: list[tuple[float, ...]]) -> tuple[list[Value], list[list[Value]]]:
    inputs = [[Value(x) for x in xs] for xs in points]
    return [call(form, xs) for xs in inputs], inputs


@each_form
def test_value_and_gradient_are_those_of_the_scalars(form: Form) -> None:
    for points in groups(form):
        xs = columns(points)
        with mg.errstate("ignore"):
            outs, inputs = scalars(form, points)
            for out in outs:
                out.backward()
            tensor = call(form, xs)
            tensor.backward(np.ones(tensor.shape))
        np.testing.assert_allclose(tensor.data, [o.data for o in outs], rtol=1e-13, atol=1e-300)
        for i, x in enumerate(xs):
            expected = [x[i].grad for x in inputs]
            if expected[0] is None:
                assert x.grad is None
            else:
                np.testing.assert_allclose(x.grad, expected, rtol=1e-13, atol=1e-300)


@each_form
def test_the_second_derivative_is_that_of_the_scalars(form: Form) -> None:
    for points in groups(form, everywhere=False):
        arity = len(points[0])
        for i in range(arity):
            xs = columns(points)
            with mg.errstate("ignore"):
                outs, inputs = scalars(form, points)
                for out, x in zip(outs, inputs, strict=True):
                    out.backward(create_graph=True)
                    slope = x[i].grad
                    for z in x:
                        z.zero_grad()
                    if slope is not None:
                        slope.backward()
                tensor = call(form, xs)
                tensor.backward(np.ones(tensor.shape), create_graph=True)
                slopes = xs[i].grad
                assert (slopes is None) == (slope is None)
                if slopes is None:
                    continue
                for x in xs:
                    x.zero_grad()
                slopes.backward(np.ones(slopes.shape))
            for j, x in enumerate(xs):
                expected = [z[j].grad for z in inputs]
                got = np.zeros(x.shape) if x.grad is None else x.grad
                wanted = [0.0 if e is None else e for e in expected]
                np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-300)


@each_form
def test_float32_stays_float32_in_value_and_gradient(form: Form) -> None:
    for points in groups(form, everywhere=False):
        xs = [Tensor(np.array(c, np.float32)) for c in zip(*points, strict=True)]
        with mg.errstate("ignore"):
            out = call(form, xs)
            out.backward(np.ones(out.shape))
        assert out.dtype == np.float32
        assert all(x.grad is None or x.grad.dtype == np.float32 for x in xs)


@each_form
def test_plain_arrays_give_plain_arrays(form: Form) -> None:
    if form.row in ("sum", "dot") or getattr(mg, form.row, None) is None:
        pytest.skip("a list of inputs, or an operator")
    for points in groups(form):
        with mg.errstate("ignore"), np.errstate(all="ignore"):
            out: Any = call(form, [x.numpy() for x in columns(points)])
            node = call(form, columns(points))
        assert type(out) is np.ndarray
        np.testing.assert_array_equal(out, node.data)


@each_form
def test_the_local_derivative_is_an_array(form: Form) -> None:
    for points in groups(form):
        with mg.errstate("ignore"):
            outs, _ = scalars(form, points)
            node = call(form, columns(points))
            for i in range(len(points[0])):
                local = node.local_derivatives(i)
                expected = [o.local_derivatives(i) for o in outs]
                if local is None:
                    assert expected[0] is None or expected[0] == 0.0
                    continue
                with np.errstate(all="ignore"):
                    np.testing.assert_allclose(
                        np.broadcast_to(local, len(points)), expected, rtol=1e-13, atol=1e-300
                    )


def test_erf_is_exact_to_the_last_digits() -> None:
    from math import erf

    x = np.concatenate([np.linspace(-7.0, 7.0, 20_001), [0.0, -0.0, 1e-300, np.inf, -np.inf]])
    with mg.errstate("ignore"):
        out = mg.erf(x)
    np.testing.assert_allclose(out, [erf(z) for z in x], rtol=1e-15, atol=0.0)
    assert np.signbit(mg.erf(np.array([-0.0])))[0]
    assert np.isnan(mg.erf(np.array([np.nan])))[0]

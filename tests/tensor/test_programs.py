"""Random programs give the same numbers, values and gradients, on scalars and on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad import Value
from minigrad.tensor import Tensor, stack_values, to_values

UNARY = ["tanh", "sin", "sigmoid", "softplus", "square", "atan", "gelu", "relu", "abs", "erf"]
BINARY = ["add", "sub", "mul", "maximum", "hypot", "logaddexp", "minimum", "where"]

steps = st.lists(
    st.tuples(st.sampled_from(UNARY + BINARY), st.integers(0, 30), st.integers(0, 30)),
    min_size=1, max_size=12,
)  # fmt: skip
columns = st.lists(
    st.tuples(*[st.floats(-2.0, 2.0).map(lambda x: round(x, 2))] * 3), min_size=1, max_size=4
)


def run(program: Any, leaves: list[Any]) -> Any:
    """The last node of a program over three leaves."""
    made = list(leaves)
    for name, i, j in program:
        a, b = made[i % len(made)], made[j % len(made)]
        if name == "where":
            made.append(mg.where(mg.less(a, b), a, b * 0.5))
        elif name in ("add", "sub", "mul"):
            made.append({"add": a + b, "sub": a - b, "mul": a * b}[name])
        elif name in BINARY:
            made.append(getattr(mg, name)(a, b))
        else:
            made.append(getattr(mg, name)(a))
    return mg.tanh(made[-1])


def is_close(xs: Any, ys: Any) -> None:
    np.testing.assert_allclose(xs, ys, rtol=1e-9, atol=1e-12)


@given(program=steps, points=columns)
def test_a_program_on_arrays_is_the_program_on_each_element(program: Any, points: Any) -> None:
    tensors = [Tensor(list(column)) for column in zip(*points, strict=True)]
    out = run(program, tensors)
    out.backward(np.ones(out.shape))
    for k, point in enumerate(points):
        values = [Value(x) for x in point]
        scalar = run(program, values)
        scalar.backward()
        is_close(out.data[k], scalar.data)
        for tensor, value in zip(tensors, values, strict=True):
            assert (tensor.grad is None) == (value.grad is None)
            if value.grad is not None:
                is_close(tensor.grad[k], value.grad)


@given(program=steps, points=columns)
def test_second_derivatives_agree_as_well(program: Any, points: Any) -> None:
    def second(leaves: list[Any]) -> Any:
        out = run(program, leaves)
        one = np.ones(out.shape) if hasattr(out, "shape") else 1.0
        out.backward(one, create_graph=True)
        gradients = [x.grad for x in leaves if x.grad is not None]
        for x in leaves:
            x.zero_grad()
        total = sum(gradients)
        if not isinstance(total, int):
            total.backward(one)
        return [x.grad for x in leaves]

    tensors = second([Tensor(list(column)) for column in zip(*points, strict=True)])
    for k, point in enumerate(points):
        for tensor, value in zip(tensors, second([Value(x) for x in point]), strict=True):
            is_close(0.0 if tensor is None else tensor[k], 0.0 if value is None else value)


@given(program=steps, points=columns)
def test_over_the_bridge_and_back(program: Any, points: Any) -> None:
    """The scalars inside, the arrays outside: the gradient crosses both ways."""
    tensors = [Tensor(list(column)) for column in zip(*points, strict=True)]
    rows = zip(*(to_values(x) for x in tensors), strict=True)
    out = stack_values([run(program, list(row)) for row in rows])
    out.backward(np.ones(out.shape))
    plain = [Tensor(list(column)) for column in zip(*points, strict=True)]
    direct = run(program, plain)
    direct.backward(np.ones(direct.shape))
    is_close(out.data, direct.data)
    for x, y in zip(tensors, plain, strict=True):
        is_close(0.0 if x.grad is None else x.grad, 0.0 if y.grad is None else y.grad)

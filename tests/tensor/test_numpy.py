"""NumPy is the oracle: random shapes, axes, types and strides, and NumPy's own functions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minigrad as mg
from minigrad.errors import ArgumentTypeError, ComparisonWarning, DetachedWarning
from minigrad.tensor import ARRAY_FUNCTIONS, Tensor

af = ARRAY_FUNCTIONS

floats = st.floats(-4.0, 4.0, width=32).map(lambda x: round(x, 3))
dtypes = st.sampled_from([np.float32, np.float64])


@st.composite
def arrays(draw: Any, min_dims: int = 0, max_dims: int = 3, min_side: int = 1) -> Any:
    """An array of any type of float and shape, perhaps with strides of its own."""
    shape = draw(
        hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=4)
    )
    x = draw(hnp.arrays(draw(dtypes), shape, elements=floats))
    if x.ndim:
        how = draw(st.sampled_from(["plain", "reversed", "transposed", "strided"]))
        if how == "reversed":
            x = x[::-1]
        elif how == "transposed":
            x = np.array(x.T).T
        elif how == "strided":
            x = np.repeat(x, 2, axis=0)[::2]
    return x


@st.composite
def with_axis(draw: Any, tuples: bool = True) -> tuple[Any, Any]:
    x = draw(arrays(min_dims=1))
    axis = st.integers(-x.ndim, x.ndim - 1)
    several = st.lists(st.integers(0, x.ndim - 1), unique=True).map(tuple)
    return x, draw(st.none() | axis | several if tuples else st.none() | axis)


def same(out: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    assert out.shape == expected.shape
    assert out.dtype == expected.dtype
    tolerance = 1e-5 if expected.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(out.data, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min", "var", "std"])
@given(data=with_axis(), keepdims=st.booleans())
def test_reductions(name: str, data: Any, keepdims: bool) -> None:
    x, axis = data
    same(getattr(Tensor(x), name)(axis=axis, keepdims=keepdims),
         getattr(np, name)(x, axis=axis, keepdims=keepdims))  # fmt: skip


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@given(data=with_axis(tuples=False))
def test_running_sums_and_products(name: str, data: Any) -> None:
    x, axis = data
    same(getattr(Tensor(x), name)(axis=axis), getattr(np, name)(x, axis=axis))


@given(data=with_axis(), keepdims=st.booleans())
def test_norm_and_logsumexp(data: Any, keepdims: bool) -> None:
    x, axis = data
    same(Tensor(x).norm(axis=axis, keepdims=keepdims),
         np.sqrt((x * x).sum(axis=axis, keepdims=keepdims)))  # fmt: skip
    same(Tensor(x).logsumexp(axis=axis, keepdims=keepdims),
         np.log(np.exp(x).sum(axis=axis, keepdims=keepdims)))  # fmt: skip


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum", "arctan2"])
@given(data=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3),
       kinds=st.tuples(dtypes, dtypes), draw=st.data())  # fmt: skip
def test_broadcasting(name: str, data: Any, kinds: Any, draw: Any) -> None:
    x, y = (
        draw.draw(hnp.arrays(kind, shape, elements=floats))
        for kind, shape in zip(kinds, data.input_shapes, strict=True)
    )
    a, b = Tensor(x), Tensor(y)
    out = getattr(np, name)(a, b)
    expected = getattr(np, name)(x, y)
    same(out, expected)
    assert out.shape == data.result_shape
    out.backward(np.ones(out.shape))
    for node in (a, b):
        assert node.grad.shape == node.shape
        assert node.grad.dtype == node.dtype
    if name == "add":
        assert a.grad.sum() == pytest.approx(out.size)


@given(x=arrays(min_dims=1), data=st.data())
def test_indexing(x: Any, data: Any) -> None:
    index = data.draw(
        hnp.basic_indices(x.shape, allow_newaxis=True)
        | hnp.integer_array_indices(x.shape)
        | hnp.arrays(bool, x.shape)
    )
    node = Tensor(x)
    out = node[index]
    same(out, x[index])
    out.backward(np.ones(out.shape))
    expected = np.zeros(x.shape)
    np.add.at(expected, index, 1.0)
    np.testing.assert_array_equal(node.grad, expected)


@given(x=arrays(min_dims=1), y=arrays(min_dims=1))
def test_matmul_fits_or_says_why(x: Any, y: Any) -> None:
    try:
        expected = x @ y
    except ValueError:
        with pytest.raises(ValueError, match=r"x @ y cannot multiply"):
            Tensor(x) @ Tensor(y)
        return
    same(Tensor(x) @ Tensor(y), expected)
    same(Tensor(x) @ y, expected)
    same(x @ Tensor(y), expected)


@given(x=arrays(min_dims=1))
def test_shapes(x: Any) -> None:
    t = Tensor(x)
    same(t.T, x.T)
    same(t.reshape(-1), x.reshape(-1))
    same(t.flip(), np.flip(x))
    same(t.roll(1, axis=-1), np.roll(x, 1, -1))
    same(t.sort(axis=-1), np.sort(x, -1))
    same(t.moveaxis(0, -1), np.moveaxis(x, 0, -1))
    same(af["stack"]([t, x], axis=-1), np.stack([x, x], axis=-1))
    same(af["concatenate"]([x, t], axis=0), np.concatenate([x, x], axis=0))
    assert t.argmax().item() == x.argmax()


# ---- NumPy's functions on tensors ---------------------------------------------------------------

w = Tensor([3.0, 1.0, 2.0], name="w")
m = Tensor([[1.0, 2.0], [3.0, 4.0]])

RECORDED = {
    "np.exp": lambda: np.exp(w), "np.sum": lambda: np.sum(m, axis=0),
    "np.mean": lambda: np.mean(m, axis=1, keepdims=True), "np.max": lambda: np.max(m, axis=1),
    "np.amin": lambda: np.amin(m), "np.var": lambda: np.var(w, ddof=1),
    "np.dot": lambda: np.dot(m, m),
    "np.matmul": lambda: np.matmul(m, m), "np.linalg.norm": lambda: np.linalg.norm(w),
    "np.concatenate": lambda: np.concatenate([w, w.data]), "np.stack": lambda: np.stack([w, w]),
    "np.where": lambda: np.where(w.data > 1.0, w, 0.0), "np.clip": lambda: np.clip(w, 0.0, 2.5),
    "np.add.reduce": lambda: np.add.reduce(m), "np.multiply.reduce": lambda: np.multiply.reduce(w),
    "np.add.accumulate": lambda: np.add.accumulate(w), "np.einsum": lambda: np.einsum("ij->j", m),
    "np.sort": lambda: np.sort(w), "np.transpose": lambda: np.transpose(m),
    "np.reshape": lambda: np.reshape(m, (4,)), "np.ravel": lambda: np.ravel(m),
    "np.pad": lambda: np.pad(w, 1), "np.take": lambda: np.take(w, [0, 0]),
    "np.roll": lambda: np.roll(w, 1), "np.outer": lambda: np.outer(w, w),
    "np.tensordot": lambda: np.tensordot(m, m, 2),
    "np.broadcast_to": lambda: np.broadcast_to(w, (2, 3)),
    "np.expand_dims": lambda: np.expand_dims(w, 0), "np.squeeze": lambda: np.squeeze(m[None]),
    "np.cumsum": lambda: np.cumsum(w), "np.trace": lambda: np.trace(m),
    "np.diagonal": lambda: np.diagonal(m), "np.prod": lambda: np.prod(w),
    "np.vstack": lambda: np.vstack([w, w]), "np.float64 * x": lambda: np.float64(2.0) * w,
    "array * x": lambda: np.array([1.0, 2.0, 3.0]) * w, "array @ x": lambda: np.ones((2, 3)) @ w,
    "array - x": lambda: np.ones(3) - w, "array ** x": lambda: np.ones(3) ** w,
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDED)
def test_numpys_function_records(name: str) -> None:
    out = RECORDED[name]()
    assert isinstance(out, Tensor)
    assert out.op is not None
    assert out.dtype != object
    total = out.sum()
    w.zero_grad()
    m.zero_grad()
    total.backward()
    assert (w.grad is not None) or (m.grad is not None)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: np.median(w), lambda: np.fft.fft(w), lambda: np.linalg.inv(m),
        lambda: np.modf(w), lambda: np.heaviside(w, 0.0), lambda: np.allclose(w, w),
        lambda: np.add(w, 1.0, out=np.ones(3)), lambda: np.sum(m, dtype=int),
        lambda: np.add.at(w, 0, 1.0), lambda: np.convolve(w, w),
    ],
)  # fmt: skip
def test_numpys_function_is_refused(refused: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"np\.|minigrad"):
        refused()


def test_a_refusal_names_what_is_near() -> None:
    with pytest.raises(TypeError, match=r"mg\.log_softmax|mg\.cumsum"):
        np.nancumsum(w)


def test_becoming_a_plain_array_warns() -> None:
    with pytest.warns(DetachedWarning, match=r"x\.numpy\(\)"):
        plain = np.asarray(w)
    assert type(plain) is np.ndarray
    with pytest.warns(DetachedWarning, match="stack"):
        np.array([w, w])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert w.numpy().tolist() == w.tolist() == [3.0, 1.0, 2.0]


def test_comparisons_give_bool_arrays_and_equality_is_identity() -> None:
    assert (w > 1.5).tolist() == [True, False, True]
    assert (np.float64(1.5) < w).tolist() == [True, False, True]
    assert (np.array([3.0, 3.0, 3.0]) <= w).tolist() == [True, False, False]
    assert w == w
    assert w != m
    with pytest.warns(ComparisonWarning, match="same object"):
        assert (w == 3.0) is False
    assert mg.equal(w, 3.0).tolist() == [1.0, 0.0, 0.0]
    assert mg.less(w, 3.0).op is not None

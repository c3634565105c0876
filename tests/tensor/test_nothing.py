"""What `where` sends to the branch not taken is less than 0, through every row of arrays.

`log` has an infinite slope at 0, and 0 · inf is nan. So a program that takes some rows of a table
must get the gradients of the program that never saw the others.
"""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as mg
from minigrad.errors import MissingGradientWarning
from minigrad.ops.kinds import General, Linear
from minigrad.ops.products import linear
from minigrad.ops.row import OPS
from minigrad.tensor import Tensor

WEIGHT = np.array([[0.3, -1.2, 0.7], [0.9, 0.4, -0.5], [-0.8, 0.6, 1.1], [0.2, -0.1, 0.5]])
LABELS = np.array([0, 2, 1, 3])
SIGNS = np.array([[1.0, -1.0, -1.0, 1.0]])
BITS = (SIGNS + 1.0) / 2.0

# Each maps a table, row by row, and is no function of single elements.
BY_ROW = {
    "reduce_sum": lambda x: x.sum(axis=1),
    "mean": lambda x: x.mean(axis=1),
    "prod": lambda x: x.prod(axis=1),
    "max": lambda x: x.max(axis=1),
    "min": lambda x: x.min(axis=1),
    "var": lambda x: x.var(axis=1),
    "std": lambda x: x.std(axis=1, ddof=1),
    "norm": lambda x: x.norm(axis=1, keepdims=True),
    "logsumexp": lambda x: x.logsumexp(axis=1),
    "softmax": lambda x: mg.softmax(x)[:, :2],
    "log_softmax": lambda x: mg.log_softmax(x),
    "cumsum": lambda x: mg.cumsum(x, axis=1),
    "cumprod": lambda x: mg.cumprod(x, axis=1),
    "sort": lambda x: mg.sort(x),
    "matmul": lambda x: x @ WEIGHT,
    "vector product": lambda x: x @ WEIGHT[:, 0],
    "batched product": lambda x: (x[:, None, :] @ WEIGHT)[:, 0],
    "linear": lambda x: linear(x, WEIGHT, WEIGHT[0]),
    "einsum": lambda x: mg.einsum("ni,ij,ij->nj", x, WEIGHT, WEIGHT),
    "einsum of itself": lambda x: mg.einsum("ni,ni->n", x, x),
    "conv2d": lambda x: mg.conv2d(x.reshape(-1, 1, 2, 2), np.ones((2, 1, 2, 1))),
    "max_pool2d": lambda x: mg.max_pool2d(x.reshape(-1, 1, 2, 2), kernel_size=2),
    "avg_pool2d": lambda x: mg.avg_pool2d(x.reshape(-1, 1, 2, 2), kernel_size=2),
    "cross_entropy": lambda x: mg.cross_entropy(x, LABELS[: len(x)], reduction="none"),
    "mse_loss": lambda x: mg.mse_loss(x, SIGNS.repeat(len(x), 0), reduction="none"),
    "hinge_loss": lambda x: mg.hinge_loss(x, SIGNS.repeat(len(x), 0), reduction="none"),
    "bce_with_logits": lambda x: mg.bce_with_logits(x, BITS.repeat(len(x), 0), reduction="none"),
    "at_set": lambda x: mg.at_set(x, (slice(None), 1), 2.0),
    "stack": lambda x: mg.stack([x, x * x], axis=1),
    "getitem": lambda x: x[:, [0, 1, 1]],
}


def gradients(program, table, taken):
    """∂/∂table of what `program` makes of log(table), where taken, and of its derivative."""
    z = Tensor(table)
    out = program(mg.log(z))
    mask = taken.reshape((-1,) + (1,) * (out.ndim - 1))
    with mg.errstate("ignore"):
        chosen = mg.where(np.broadcast_to(mask, out.shape), out, 0.0)
        (chosen * chosen).sum().backward(create_graph=True)
        first = z.grad
        z.zero_grad()
        if isinstance(first, mg.Tensor) and first.op is not None:
            mg.where(taken[:, None], first, 0.0).sum().backward()
        second = np.zeros(z.shape) if z.grad is None else z.grad
    return first.numpy(), second


@pytest.mark.parametrize("name", BY_ROW)
def test_rows_not_taken_are_as_if_they_were_not_there(name: str) -> None:
    table = np.array([[0.5, 1.5, 2.5, 0.7], [0.0, 2.0, 0.0, 3.0], [1.2, 0.3, 0.8, 2.2]])
    taken = np.array([True, False, True])
    program = BY_ROW[name]
    if name == "cross_entropy":
        alone = lambda x: mg.cross_entropy(x, LABELS[[0, 2]], reduction="none")  # noqa: E731
    else:
        alone = program
    with mg.errstate("ignore"):
        first, second = gradients(program, table, taken)
        right, curved = gradients(alone, table[taken], np.array([True, True]))
    np.testing.assert_allclose(first[taken], right, rtol=1e-12)
    np.testing.assert_array_equal(first[~taken], 0.0)
    np.testing.assert_allclose(second[taken], curved, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(second[~taken], 0.0)


def test_every_row_with_a_rule_of_its_own_is_among_these() -> None:
    """Linear rows share one mechanism, of which some are here."""
    others = {"argsort", "argmax", "sum_of_squares"}  # no gradient; a single output
    rows = {op.name for op in OPS.values() if isinstance(op, General)}
    linear = {op.name for op in OPS.values() if isinstance(op, Linear)}
    assert rows - linear - others <= set(BY_ROW)


def test_a_factor_that_is_infinite_for_a_column_not_taken() -> None:
    v = Tensor([[1.0, 0.0], [2.0, 3.0]])
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    with mg.errstate("ignore"):
        product = x @ mg.log(v)  # log(0) meets the second column alone
        mg.where(np.array([True, False]), product, 0.0).sum().backward()
    np.testing.assert_array_equal(v.grad, [[4.0, 0.0], [3.0, 0.0]])
    np.testing.assert_array_equal(x.grad, np.log([[1.0, 2.0], [1.0, 2.0]]))


def test_a_real_product_of_0_and_inf_stays_nan() -> None:
    v = Tensor([[1.0, 0.0], [2.0, 3.0]])
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    with mg.errstate("ignore"):
        product = x @ mg.log(v)
        (mg.where(np.array([[True, True], [True, False]]), product, 0.0) * 0.0).sum().backward()
    assert np.isnan(x.grad[0, 0])
    assert x.grad[1].tolist() == [0.0, 0.0]


def test_nothing_for_whole_numbers_is_no_gradient() -> None:
    x, n = Tensor([1.0, 2.0]), Tensor(np.array([1, 2]))
    mg.where(False, mg.concatenate([x, n]), 0.0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    with pytest.warns(MissingGradientWarning):
        assert n.grad is None

"""Losses on Values are those on Tensors, number by number and gradient by gradient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad import Value
from minigrad.errors import ArgumentTypeError, ArgumentValueError, LogitsWarning, ShapeError
from minigrad.nn import bce_with_logits, cross_entropy, hinge_loss, mse_loss
from minigrad.tensor import Tensor

TARGETS = {
    mse_loss: st.floats(-5, 5), bce_with_logits: st.floats(0, 1),
    hinge_loss: st.sampled_from([-1, 1]),
}  # fmt: skip
scores = st.floats(-50, 50)
reductions = st.sampled_from(["mean", "sum"])


def leaves(xs):
    return [v for x in xs for v in (x if isinstance(x, list) else [x])]


@pytest.mark.parametrize("loss", TARGETS)
@given(data=st.data(), rows=st.integers(1, 4), columns=st.integers(0, 3), reduction=reductions)
def test_losses_of_both_modes_are_equal(loss, data, rows, columns, reduction):
    def table(numbers):
        one = st.lists(numbers, min_size=columns, max_size=columns) if columns else numbers
        return data.draw(st.lists(one, min_size=rows, max_size=rows))

    xs, ys = table(scores), table(TARGETS[loss])
    values = [[Value(x) for x in row] if columns else Value(row) for row in xs]
    tensor = Tensor(xs)
    a = loss(values, ys, reduction=reduction)
    b = loss(tensor, np.array(ys), reduction=reduction)
    assert a.data == pytest.approx(b.item(), rel=1e-12, abs=1e-12)
    a.backward()
    b.backward()
    assert [v.grad for v in leaves(values)] == pytest.approx(
        tensor.grad.ravel().tolist(), rel=1e-12, abs=1e-12
    )


@given(
    xs=st.lists(st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3), min_size=1, max_size=4),
    seed=st.integers(0, 99), reduction=reductions, soft=st.booleans(),
)  # fmt: skip
def test_cross_entropies_of_both_modes_are_equal(xs, seed, reduction, soft):
    rng = np.random.default_rng(seed)
    ys = rng.dirichlet([1.0] * 3, len(xs)) if soft else rng.integers(0, 3, len(xs))
    values, tensor = [[Value(x) for x in row] for row in xs], Tensor(xs)
    a = cross_entropy(values, ys.tolist(), reduction=reduction)
    b = cross_entropy(tensor, ys, reduction=reduction)
    assert a.data == pytest.approx(b.item(), rel=1e-11, abs=1e-11)
    a.backward()
    b.backward()
    assert [v.grad for v in leaves(values)] == pytest.approx(
        tensor.grad.ravel().tolist(), rel=1e-11, abs=1e-11
    )


def test_a_single_value_and_no_reduction():
    assert mse_loss(Value(3.0), 1.0).data == 4.0
    assert [t.data for t in hinge_loss([Value(0.0), Value(2.0)], [1, 1], reduction="none")] == [
        1,
        0,
    ]
    assert cross_entropy([Value(0.0), Value(0.0)], 1).data == pytest.approx(np.log(2))
    terms = cross_entropy([[Value(0.0), Value(0.0)]], [1], reduction="none")
    assert len(terms) == 1


@pytest.mark.parametrize("loss", [mse_loss, bce_with_logits, hinge_loss, cross_entropy])
def test_shapes_are_not_broadcast(loss):
    columns = [[Value(1.0)], [Value(2.0)]]
    for predictions in (columns, [Value(1.0)], [[Value(1.0)], [Value(1.0), Value(2.0)]]):
        if loss is cross_entropy and predictions is columns:
            continue  # (2, 1) are two examples of one class
        with pytest.raises(ShapeError, match=loss.__name__):
            loss(predictions, [1, 1])
    with pytest.raises(ShapeError):
        loss(Tensor([[1.0], [2.0]]), np.array([1.0, 1.0, 1.0]))
    with pytest.raises(ArgumentTypeError, match="predictions"):
        loss([1.0, 2.0], [1, 1])
    with pytest.raises(ArgumentValueError, match="reduction"):
        mse_loss([Value(1.0)], [1.0], reduction="average")


def test_class_indices_are_checked():
    xs = [[Value(0.0), Value(0.0)]]
    with pytest.raises(ArgumentValueError, match="2 classes"):
        cross_entropy(xs, [2])
    with pytest.raises(ArgumentTypeError, match="ints"):
        cross_entropy(xs, [0.5])


@pytest.mark.parametrize(
    ("loss", "squashed", "targets"),
    [
        (cross_entropy, lambda: mg.softmax(Tensor([[1.0, 2.0]]), axis=1), [1]),
        (bce_with_logits, lambda: mg.sigmoid(Tensor([1.0, 2.0])), [1, 0]),
        (bce_with_logits, lambda: [mg.sigmoid(Value(1.0)), mg.sigmoid(Value(2.0))], [1, 0]),
    ],
)
def test_probabilities_in_place_of_logits_are_said(loss, squashed, targets):
    """The loss is a number like any other, so nothing else would say it."""
    word = "softmax" if loss is cross_entropy else "sigmoid"
    with pytest.warns(LogitsWarning, match=f"{loss.__name__}.* applies {word} itself") as caught:
        loss(squashed(), targets)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    logits = squashed()
    plain = [v * 1.0 for v in logits] if isinstance(logits, list) else logits * 1.0
    loss(plain, targets)  # no probabilities as far as anyone can tell

"""What losses say of targets that they cannot use, and that targets do not widen predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import nn
from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.tensor import Tensor

X = np.array([0.5, -1.0, 2.0])
LOGITS = np.array([[0.1, 0.2, 0.3], [1.0, 0.0, -1.0]])

WRONG = [
    ("bce_with_logits", [0, 1, 2], r"between 0 and 1, but one is 2; .*cross_entropy"),
    ("bce_with_logits", [1.0, -1.0, 1.0], r"one is -1\.0; \(y \+ 1\) / 2"),
    ("bce_with_logits", [0.0, 1.0, 1.5], r"one is 1\.5$"),
    ("bce_with_logits", [0.0, np.nan, 1.0], r"one is nan$"),
    ("hinge_loss", [0, 1, 1], r"-1 or 1, but one is 0; 2 \* y - 1"),
    ("hinge_loss", [1.0, 0.5, -1.0], r"one is 0\.5$"),
    ("hinge_loss", [1.0, 2.0, -1.0], r"one is 2\.0$"),
    ("hinge_loss", [np.nan, 1.0, -1.0], r"one is nan$"),
    ("cross_entropy", [[0.5, 0.7, -0.2], [1.0, 0.0, 0.0]], r"probabilities, but one is -0\.2$"),
    ("cross_entropy", [[0.5, 0.5, np.nan], [1.0, 0.0, 0.0]], r"probabilities, but one is nan$"),
    ("cross_entropy", [[1.0, np.inf, 0.0], [1.0, 0.0, 0.0]], r"probabilities, but one is inf$"),
    ("cross_entropy", [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], r"add up to 1, but .* add up to 0\.0; "),
    ("cross_entropy", [[0.5, 0.5, 0.0], [3.0, 1.0, 0.0]], r"add up to 1, but .* add up to 4\.0; "),
    ("cross_entropy", [[0, 1, 0], [2, 1, 0]], r"add up to 3\.0; class indices need .*\(N, C\)"),
]


def predictions(name: str, scalar: bool = False) -> Any:
    numbers = LOGITS if name == "cross_entropy" else X
    if not scalar:
        return Tensor(numbers)
    return [[mg.Value(z) for z in x] if np.ndim(x) else mg.Value(x) for x in numbers.tolist()]


@pytest.mark.parametrize(("name", "targets", "words"), WRONG)
def test_targets_out_of_range_are_refused_in_both_modes(
    name: str, targets: Any, words: str
) -> None:
    ways = [
        lambda: getattr(mg, name)(predictions(name), np.array(targets)),
        lambda: getattr(predictions(name), name)(np.array(targets), reduction="none"),
        lambda: getattr(mg, name)(predictions(name).numpy(), np.array(targets)),
        lambda: getattr(nn, name)(predictions(name), np.array(targets)),
        lambda: getattr(nn, name)(predictions(name, scalar=True), targets),
        lambda: getattr(nn, name)(predictions(name, scalar=True), np.array(targets)),
    ]
    for way in ways:
        with pytest.raises(ArgumentValueError, match=f"^{name}: targets .*{words}"):
            way()


def test_a_single_target_is_looked_at_as_well() -> None:
    for one in (Tensor(0.5), mg.Value(0.5)):
        with pytest.raises(ArgumentValueError, match=r"one is 0\b"):
            nn.hinge_loss(one, 0)
        with pytest.raises(ArgumentValueError, match=r"one is 2\b"):
            nn.bce_with_logits(one, 2)


@pytest.mark.parametrize("name", ["bce_with_logits", "hinge_loss"])
def test_a_leaf_of_whole_numbers_is_labels(name: str) -> None:
    """Labels become floats in a Tensor, and would pass without a word."""
    with pytest.raises(ArgumentValueError, match=r"^\w+: targets .*one is"):
        getattr(mg, name)(Tensor(X), Tensor([0, 2, 1]))
    with pytest.raises(ArgumentValueError, match=r"^\w+: targets .*one is"):
        getattr(mg, name)(Tensor(X), Tensor(np.array([0, 2, 1])))
    with pytest.raises(ArgumentValueError, match=r"^\w+: targets .*one is"):
        getattr(nn, name)(mg.Value(0.5), mg.Value(2.0))


@pytest.mark.parametrize("name", ["bce_with_logits", "hinge_loss"])
def test_targets_that_are_computed_or_learned_are_taken_as_they_are(name: str) -> None:
    learned = Tensor([0.25, 1.5, -2.5])
    for target in (learned, learned * 2.0):
        getattr(mg, name)(Tensor(X), target).backward()
    assert learned.grad is not None
    v = mg.Value(1.5)
    for value in (v, v * 2.0):
        getattr(nn, name)(mg.Value(0.5), value).backward()
    assert v.grad is not None


def test_probabilities_that_are_computed_are_taken_as_they_are() -> None:
    t = Tensor(np.full((2, 3), 0.7))
    mg.cross_entropy(Tensor(LOGITS), t * 1.0).backward()
    assert t.grad is not None
    v = [mg.Value(0.7) for _ in range(3)]
    nn.cross_entropy(predictions("cross_entropy", scalar=True)[0], v).backward()
    assert v[0].grad is not None


def test_probabilities_may_be_rounded() -> None:
    third = [0.33, 0.33, 0.33]
    mg.cross_entropy(Tensor(LOGITS), np.array([third, third], np.float16))
    nn.cross_entropy(predictions("cross_entropy", scalar=True), [third, third])


# ---- float32 ------------------------------------------------------------------------------------

TARGETS = {
    "mse_loss": [0, 1, 3], "bce_with_logits": [0, 1, 1], "hinge_loss": [-1, 1, 1],
    "cross_entropy": [[0, 1, 0], [1, 0, 0]],
}  # fmt: skip


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("kind", ["i1", "i8", "f2", "f8"])
@pytest.mark.parametrize("wrap", [np.asarray, Tensor])
@pytest.mark.parametrize("name", TARGETS)
def test_targets_do_not_widen_predictions(name: str, wrap: Any, kind: str, reduction: str) -> None:
    numbers = LOGITS if name == "cross_entropy" else X
    x, y = Tensor(numbers, dtype="float32"), np.array(TARGETS[name], kind)
    wide = Tensor(numbers.astype("float32").astype(float))
    for create_graph in (False, True):
        loss = getattr(mg, name)(x, wrap(y), reduction=reduction)
        expected = getattr(mg, name)(wide, y.astype(float), reduction=reduction)
        assert loss.dtype == np.float32
        np.testing.assert_allclose(loss.data, expected.data, rtol=1e-6)
        for node, out in ((x, loss), (wide, expected)):
            node.zero_grad()
            out.backward(np.ones(out.shape), create_graph=create_graph)
        assert x.grad.dtype == np.float32
        np.testing.assert_allclose(
            np.asarray(getattr(x.grad, "data", x.grad), float),
            np.asarray(getattr(wide.grad, "data", wide.grad), float), rtol=1e-5, atol=1e-7,
        )  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("wrap", [list, tuple])
def test_targets_may_be_a_list_of_numbers(name: str, wrap: Any) -> None:
    numbers = LOGITS if name == "cross_entropy" else X
    x, twin = Tensor(numbers), Tensor(numbers)
    loss = getattr(mg, name)
    for create_graph in (False, True):
        a, b = loss(x, wrap(TARGETS[name])), loss(twin, np.array(TARGETS[name]))
        assert a.data == b.data
        for node, out in ((x, a), (twin, b)):
            node.zero_grad()
            out.backward(create_graph=create_graph)
        assert np.asarray(getattr(x.grad, "data", x.grad)).tolist() == (
            np.asarray(getattr(twin.grad, "data", twin.grad)).tolist()
        )
    assert loss(numbers, wrap(TARGETS[name])) == a.data
    with pytest.raises(ArgumentTypeError, match="one is 'cat'; number the classes"):
        loss(x, wrap(["cat", "dog", "cat"]))
    with pytest.raises(ArgumentTypeError, match="one is None"):
        loss(x, wrap([0, None, 1]))
    with pytest.raises(ShapeError, match=f"{name}: the lists in the targets have different"):
        loss(x, wrap([[1], [1, 2]]))


@pytest.mark.parametrize("name", TARGETS)
def test_lists_of_nodes_are_for_the_losses_of_values(name: str) -> None:
    numbers = LOGITS if name == "cross_entropy" else X
    loss = getattr(mg, name)
    with pytest.raises(
        ArgumentTypeError, match=rf"{name}: the predictions .* mg\.nn\.{name} takes"
    ):
        loss([[mg.Value(1.0)], [mg.Value(2.0)]], [1, 1])
    with pytest.raises(ArgumentTypeError, match=r"the targets .*; stack_values\("):
        loss(Tensor(numbers), [mg.Value(1.0)] * 3)
    with pytest.raises(ArgumentTypeError, match=r"the targets .*; stack\("):
        loss(Tensor(numbers), [Tensor(1.0)] * 3)


@pytest.mark.parametrize("name", ["mse_loss", "bce_with_logits", "hinge_loss"])
def test_losses_of_single_numbers(name: str) -> None:
    """A Value is an array without axes here, and so is a number."""
    for x in (0.25, 3.0):
        v = mg.Value(x)
        out = getattr(mg, name)(v, 1.0)
        expected = getattr(nn, name)([mg.Value(x)], [1.0]).data
        assert out.item() == pytest.approx(expected, rel=1e-14)
        assert getattr(mg, name)(x, 1.0) == out.item() == getattr(mg, name)(Tensor(x), 1.0).item()
        out.backward()
        slope = v.grad
        v.zero_grad()
        getattr(mg, name)(v, 1.0).backward(create_graph=True)
        assert (
            v.grad.data
            == slope
            == pytest.approx(
                (getattr(mg, name)(x + 1e-6, 1.0) - getattr(mg, name)(x - 1e-6, 1.0)) / 2e-6,
                abs=1e-6,
            )
        )
    with pytest.warns(
        mg.errors.NumericalWarning, match=r"mse_loss\(predictions=1e\+300, tar.* inf"
    ):
        assert mg.mse_loss(1e300, 2.0) == np.inf


@pytest.mark.parametrize("name", ["mse_loss", "bce_with_logits", "hinge_loss", "cross_entropy"])
def test_predictions_of_whole_numbers_do_not_wrap_around(name: str) -> None:
    numbers = np.array([[1, 0, 2], [0, 5, 1]] if name == "cross_entropy" else [1, 0, 200], np.uint8)
    y = np.array(TARGETS[name])
    out = getattr(mg, name)(numbers, y.astype("i1"))
    np.testing.assert_allclose(out, getattr(mg, name)(numbers.astype(float), y), rtol=1e-12)


@pytest.mark.parametrize("values", [7, 7.5, np.array([1, 2]), np.array([0.1, 0.2]), "node"])
def test_at_set_keeps_float32(values: Any) -> None:
    x = Tensor([1.0, 2.0, 3.0], dtype="float32")
    node = Tensor([0.1, 0.2])
    y = mg.at_set(x, slice(0, 2), node if isinstance(values, str) else values)
    assert y.dtype == np.float32
    for create_graph in (False, True):
        x.zero_grad()
        node.zero_grad()
        y.backward(np.ones(3), create_graph=create_graph)
        assert x.grad.dtype == np.float32
        assert node.grad is None or node.grad.dtype == np.float64
    assert y.op.push([None, np.ones(2, np.float32)], y._out, [x.data, np.ones(2)]).dtype == "f4"


@pytest.mark.parametrize("wrap", [np.asarray, Tensor])
def test_at_set_of_whole_numbers_takes_floats_and_stays_whole_for_ints(wrap: Any) -> None:
    x = wrap(np.array([1, 2, 3]))
    for values, kind, expected in (
        (7, "i", [7, 2, 3]), (7.5, "f", [7.5, 2.0, 3.0]), (np.array(0.5), "f", [0.5, 2.0, 3.0]),
        (np.int8(4), "i", [4, 2, 3]),
    ):  # fmt: skip
        y = mg.at_set(x, 0, values)
        assert y.dtype.kind == kind
        assert y.tolist() == expected


# ---- nothing to choose from ---------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0,), (3, 0), (2, 0, 4)])
def test_softmax_of_nothing_is_nothing(shape: tuple[int, ...]) -> None:
    for name in ("softmax", "log_softmax"):
        x = Tensor(np.ones(shape))
        axis = shape.index(0)
        y = getattr(mg, name)(x, axis=axis)
        assert y.shape == shape
        y.sum().backward()
        assert x.grad.shape == shape
    assert nn.Sequential("softmax")([]) == nn.Sequential("log_softmax")([]) == []


@pytest.mark.parametrize("create_graph", [False, True])
def test_logsumexp_of_nothing_is_minus_infinity(create_graph: bool) -> None:
    x = Tensor(np.ones((3, 0)))
    y = x.logsumexp(axis=1)
    assert y.tolist() == [-np.inf] * 3 == np.logaddexp.reduce(np.ones((3, 0)), axis=1).tolist()
    y.backward(np.ones(3), create_graph=create_graph)
    assert x.grad.shape == (3, 0)


@pytest.mark.parametrize("name", ["max", "min", "argmax"])
def test_the_largest_of_nothing_is_an_error_that_names_it(name: str) -> None:
    x = Tensor(np.ones((3, 0)), name="scores")
    with pytest.raises(
        ShapeError, match=rf"^{name} of scores of shape \(3, 0\) along axis 1: .*no"
    ):
        getattr(x, name)(axis=1)
    with pytest.raises(ShapeError, match=rf"^{name} of x of shape \(0,\): there are no elements"):
        getattr(mg, name)(np.ones(0))
    with pytest.raises(ArgumentValueError, match="axis 5"):
        getattr(x, name)(axis=5)
    assert getattr(x, name)(axis=0).shape == (0,)


def test_cross_entropy_of_no_classes_and_of_no_examples() -> None:
    for target in ([0, 0], np.ones((2, 0)), np.ones((2, 0), int)):
        with pytest.raises(ShapeError, match=r"scores of shape \(2, 0\) have no classes"):
            mg.cross_entropy(Tensor(np.ones((2, 0)), name="scores"), target)
    x = Tensor(np.ones((0, 3)))
    y = mg.cross_entropy(x, [], reduction="sum")
    y.backward()
    assert (y.item(), x.grad.shape) == (0.0, (0, 3))

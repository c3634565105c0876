"""``fit``: it learns, in both modes alike, reproducibly, and stops as it should."""

import io
import random
import warnings

import numpy as np
import pytest

import minigrad as mg
from minigrad.data import batches, blobs, linear, moons
from minigrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    NumericalError,
    NumericalWarning,
    ShapeError,
)
from minigrad.nn import MLP, Dropout, Linear, Module, Sequential, hinge_loss
from minigrad.optim import SGD, Adam, Momentum, step_decay
from minigrad.training import fit
from minigrad.training.history import History
from minigrad.training.measures import accuracy

POINTS = moons(40, labels=(1, -1), seed=1)
quiet = {"progress": False, "seed": 1}


def train(mode="array", epochs=3, loss="hinge", **options):
    model = MLP(2, [6], 1, mode=mode, rng=1)
    options = {**quiet, **options}
    return model, fit(model, POINTS, loss, Adam(0.05), epochs, **options)


# -- learning --------------------------------------------------------------------------------------


def test_both_modes_learn_the_same():
    scalar, of_values = train("scalar")
    array, of_arrays = train("array")
    assert of_values.loss == pytest.approx(of_arrays.loss, rel=1e-11)
    assert of_values.accuracy == of_arrays.accuracy
    for name, x in scalar.state_dict().items():
        np.testing.assert_allclose(x, array.state_dict()[name], rtol=1e-9, atol=1e-12)


def test_it_is_the_loop_of_the_lesson():
    model, history = train(epochs=4, batch_size=None)
    mine, optimizer = MLP(2, [6], 1, rng=1), Adam(0.05)
    optimizer.params = mine.parameters()
    x, y = (np.array(part, dtype=float) for part in POINTS)
    losses = []
    for _ in range(4):
        loss = hinge_loss(mine(x)[:, 0], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert history.loss == pytest.approx(losses, rel=1e-9)
    np.testing.assert_allclose(model.layers[0].weight.data, mine.layers[0].weight.data, rtol=1e-8)


def test_twenty_steps_are_those_of_hand_written_numpy():
    """Momentum on a relu network with softmax cross entropy, all derivatives by hand."""
    x, y = blobs(30, centers=3, seed=2, as_array=True)
    model = MLP(2, [5], 3, rng=3)
    parameters = [p.numpy() for p in model.parameters()]
    velocity = [np.zeros_like(p) for p in parameters]
    fit(model, (x, y), "cross_entropy", Momentum(0.01), 20, batch_size=None, **quiet)
    for _ in range(20):
        w1, b1, w2, b2 = parameters
        h = np.maximum(x @ w1 + b1, 0.0)
        z = h @ w2 + b2
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(30), y] -= 1.0
        dz = p / 30
        dh = (dz @ w2.T) * (h > 0)
        for i, g in enumerate((x.T @ dh, dh.sum(axis=0), h.T @ dz, dz.sum(axis=0))):
            velocity[i] = 0.9 * velocity[i] + g
            parameters[i] = parameters[i] - 0.01 * velocity[i]
    for p, expected in zip(model.parameters(), parameters, strict=True):
        np.testing.assert_allclose(p.data, expected, rtol=1e-10, atol=1e-10)


def test_a_seed_fixes_everything():
    def run(**options):
        model = Sequential(MLP(2, [4], 4, rng=1), Dropout(0.2, rng=2), Linear(4, 1, rng=3))
        data = moons(40, seed=1)
        history = fit(model, data, "bce", SGD(0.1), 3, progress=False, **options)
        return history.loss, model.state_dict()["layers.2.weight"].tolist()

    assert run(seed=1) == run(seed=1) == run(rng=random.Random(1)) != run(seed=2)
    random.seed(7)
    first = run()
    random.seed(7)
    assert run() == first


def test_a_line_is_found():
    model = Linear(1, 1, mode="scalar", rng=1)
    history = fit(model, linear(60, seed=1, noise=0.01), "mse", SGD(0.3), 20, **quiet)
    (slope,), bias = model.state_dict()["weight"], model.state_dict()["bias"]
    assert (slope[0], bias[0]) == pytest.approx((2.0, 1.0), abs=0.02)
    assert not hasattr(history, "accuracy")


@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_own_losses_models_metrics_and_batches(mode):
    class Line(Module):
        def __init__(self):
            self.layer = Linear(1, 1, mode=mode, rng=1)

        def forward(self, x):
            return self.layer(x)

    def cost(predictions, targets):
        if mode == "scalar":
            return mg.sum([(p[0] - y) ** 2 for p, y in zip(predictions, targets, strict=True)])
        return (predictions[:, 0] - targets).square().sum()

    def worst(predictions, targets):
        flat = np.array(predictions).ravel()
        return abs(flat - np.array(targets)).max()

    data = batches(*linear(20, seed=1), size=7, seed=1)
    history = fit(
        Line(), data, cost, SGD(0.01), 2, metrics={"worst": worst}, validation=data, **quiet
    )
    assert len(history.worst) == len(history.validation_worst) == 2
    assert history.worst[1] < history.worst[0]


# -- the history -----------------------------------------------------------------------------------


def test_the_history_has_a_number_for_each_epoch():
    model = MLP(2, [4], 1, rng=1)
    optimizer = SGD(step_decay(0.1, every=2, factor=0.5))
    history = fit(model, POINTS, "hinge", optimizer, 3, validation=POINTS, batch_size=20, **quiet)
    assert history.epoch == [1, 2, 3]
    assert history.learning_rate == [0.1, 0.05, 0.025]
    columns = history.as_dict()
    assert list(columns) == [
        "epoch", "loss", "accuracy", "learning_rate", "validation_loss", "validation_accuracy",
        "seconds",
    ]  # fmt: skip
    assert {len(column) for column in columns.values()} == {3}
    assert repr(history).startswith("History(3 epochs, loss=")
    with pytest.raises(AttributeError, match="validation_loss"):
        _ = history.perplexity


def test_the_loss_is_the_mean_over_examples_not_over_batches():
    model = Linear(1, 1, init="zeros")
    history = fit(
        model, ([[0.0]] * 5, [0.0, 0.0, 0.0, 0.0, 10.0]), "mse", SGD(0.0), 1, batch_size=4, **quiet
    )
    assert history.loss == [20.0]


def test_validation_learns_nothing_and_runs_outside_training():
    seen = []

    class Watched(Module):
        def __init__(self):
            self.layer = Linear(2, 1, rng=1)

        def forward(self, x):
            seen.append((len(x), self.training, mg.recording_enabled()))
            return self.layer(x)

    model = Watched()
    tests = moons(300, labels=(-1, 1), seed=2)
    fit(model, POINTS, "hinge", SGD(0.1), 1, batch_size=40, validation=tests, **quiet)
    assert seen == [(40, True, True), (256, False, False), (44, False, False)]
    assert model.training
    before = model.eval().state_dict()
    fit(model, POINTS, "hinge", SGD(0.0), 1, validation=POINTS, **quiet)
    assert not model.training
    assert np.array_equal(before["layer.weight"], model.state_dict()["layer.weight"])


# -- stopping --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_early_stop_goes_back_to_the_best_epoch(mode):
    model = Linear(1, 1, mode=mode, init="zeros", bias=False)
    x = ([[1.0]], [1.0])
    history = fit(
        model, x, "mse", SGD(lambda step: 0.25 if step < 3 else 1.5), 100, early_stop=2,
        validation=x, **quiet,
    )  # fmt: skip
    assert history.stopped == "early stop"
    assert (history.best_epoch, len(history)) == (3, 5)
    assert np.array(model.state_dict()["weight"]).item() == pytest.approx(0.875)


def test_an_interrupt_keeps_what_was_learned():
    model = MLP(2, [4], 1, rng=1)
    before = model.state_dict()
    calls = []

    def metric(predictions, targets):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return 0.0

    out = io.StringIO()
    history = fit(
        model, POINTS, "hinge", Adam(0.1), 100, batch_size=20, metrics={"m": metric}, seed=1,
        progress=lambda line: print(line, file=out),
    )  # fmt: skip
    assert (len(history), history.stopped) == (2, "interrupted")
    assert not np.array_equal(before["layers.0.weight"], model.state_dict()["layers.0.weight"])
    assert "interrupted after 2 epochs" in out.getvalue()


@pytest.mark.parametrize("validation", [None, POINTS])
@pytest.mark.parametrize("reason", [KeyboardInterrupt, "nan"])
@pytest.mark.parametrize("at", [1, 3, 4, 8])
def test_a_training_that_is_stopped_has_all_lists_and_all_of_one_length(reason, at, validation):
    calls = []

    def loss(predictions, targets):
        calls.append(1)
        if len(calls) == at and reason is KeyboardInterrupt:
            raise KeyboardInterrupt
        return ((predictions[:, 0] - targets) ** 2).mean() * (np.nan if len(calls) >= at else 1.0)

    options = {"batch_size": 20, "validation": validation, "metrics": "accuracy", "progress": False}
    with mg.errstate("ignore"):
        model = MLP(2, [4], 1, rng=1)
        history = fit(model, POINTS, loss, Adam(0.1), 100, **options)
    lists = history.as_dict()
    whole = fit(model, POINTS, "mse", Adam(0.1), 1, **options).as_dict()
    assert list(lists) == list(whole)
    assert {len(x) for x in lists.values()} == {len(history)}
    assert len(history) < 5
    assert all(isinstance(getattr(history, name), list) for name in lists)


def test_an_interrupt_between_two_lists_leaves_them_of_one_length():
    history = History("accuracy")
    history.add(epoch=1, loss=2.0, accuracy=0.5)
    history.add(epoch=2, loss=1.0)
    history.even()
    assert history.as_dict() == {"epoch": [1], "loss": [2.0], "accuracy": [0.5]}


@pytest.mark.parametrize("name", ["loss", "seconds", "add", "as_dict", "even", "validation_loss"])
def test_a_metric_has_a_name_of_its_own(name):
    with pytest.raises(ArgumentValueError, match=f"{name}.*otherwise"):
        fit(MLP(2, [2], 1), POINTS, "hinge", Adam(), 1, metrics={name: len}, **quiet)


def test_a_loss_that_is_not_finite_ends_the_training_before_it_does_harm():
    model = Linear(1, 1, init="ones")
    before = model.state_dict()
    data = ([[1e200], [1.0]], [0.0, 0.0])
    with mg.errstate("warn"), pytest.warns(NumericalWarning) as caught:
        history = fit(model, data, "mse", SGD(0.1), 5, batch_size=None, **quiet)
    assert any("epoch 1, batch 1: the loss is inf" in str(w.message) for w in caught)
    assert (history.stopped, len(history)) == ("loss not finite", 0)
    assert model.state_dict() == before
    with mg.errstate("raise"), pytest.raises(NumericalError):
        fit(model, data, "mse", SGD(0.1), 5, batch_size=None, **quiet)
    with mg.errstate("ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(model, data, "mse", SGD(0.1), 5, batch_size=None, **quiet)


# -- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"loss": "hing"}, ArgumentValueError, "cross_entropy"),
        ({"loss": 3}, ArgumentTypeError, "loss"),
        ({"loss": lambda p, y: 1.0}, ArgumentTypeError, "node of one number"),
        ({"loss": lambda p, y: p}, ArgumentTypeError, r"of shape \(32, 1\)"),
        ({"optimizer": Adam}, ArgumentTypeError, "call it"),
        ({"optimizer": "adam"}, ArgumentTypeError, "mg.optim"),
        ({"epochs": 0}, ArgumentValueError, "epochs"),
        ({"batch_size": 0}, ArgumentValueError, "batch_size"),
        ({"early_stop": 0}, ArgumentValueError, "early_stop"),
        ({"data": iter([])}, ArgumentTypeError, "asked for again"),
        ({"data": 3}, ArgumentTypeError, "pair"), ({"data": []}, ArgumentValueError, "no batches"),
        ({"data": [3]}, ArgumentTypeError, "a batch is a pair"),
        ({"data": ([[1.0, 2.0]], [1, 2])}, ShapeError, "equally many"),
        ({"metrics": ["precision"]}, ArgumentValueError, "precision"),
        ({"metrics": [3]}, ArgumentTypeError, "metrics"),
        ({"metrics": {"loss": max}}, ArgumentValueError, "loss"),
        ({"model": 3}, ArgumentTypeError, "no model"),
        ({"progress": "yes"}, ArgumentTypeError, "progress"),
        ({"model": Sequential("relu")}, ArgumentValueError, "no parameters"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_is_refused(change, error, words):
    arguments = {
        "model": MLP(2, [2], 1, rng=1), "data": POINTS, "loss": "hinge", "optimizer": SGD(0.1),
        "progress": False, **change,
    }  # fmt: skip
    with pytest.raises(error, match=words):
        fit(**arguments)


def test_an_optimizer_keeps_its_own_parameters():
    model = MLP(2, [3], 1, rng=1)
    before = model.state_dict()
    optimizer = SGD(0.1, model.layers[1].parameters())
    fit(model, POINTS, "hinge", optimizer, 1, **quiet)
    after = model.state_dict()
    changed = [name for name in before if not np.array_equal(before[name], after[name])]
    assert changed == ["layers.1.weight", "layers.1.bias"]


def test_accuracy():
    scores, classes = [[1.0, 3.0, 2.0], [5.0, 0.0, 0.0]], [1, 2]
    one_hot = [[0, 1, 0], [0, 0, 1]]
    for make in (list, np.array):
        assert accuracy(make(scores), make(classes)) == 0.5
        assert accuracy(make(scores), make(one_hot)) == 0.5
        assert accuracy(make([[0.5], [-0.5]]), make([1, 1])) == 0.5
        assert accuracy(make([0.5, -0.5, 2.0]), make([1, -1, -1])) == pytest.approx(2 / 3)


# -- what a learner may give by mistake ------------------------------------------------------------

MISTAKES = {
    "text": ((POINTS[0], ["a", "b"] * 20), {}, "targets are numbers, but one is '[ab]'; number"),
    "None": ((POINTS[0], [None] * 40), {}, "targets are numbers, but one is None"),
    "a list": ([POINTS[0], POINTS[1]], {}, r"fit\(model, \(points, labels\), …\)"),
    "single pairs": (list(zip(*POINTS, strict=True)), {}, r"tuple\(zip\(\*pairs\)\)"),
    "points alone to validate": (POINTS, {"validation": POINTS[0]}, r"tuple\(zip\(\*pairs\)\)"),
    "uneven labels": ((POINTS[0], [[1], [1, -1]] * 20), {}, "different lengths|None"),
    "0 and 1 for hinge": (moons(10, seed=1), {"loss": "hinge"}, r"2 \* y - 1"),
    "-1 and 1 for bce": (POINTS, {"loss": "bce"}, r"\(y \+ 1\) / 2"),
    "classes for one output": (moons(10, seed=1), {"loss": "cross_entropy"}, "bce_with_logits"),
    "a number of metrics": (POINTS, {"metrics": 3}, "metrics=3"),
    "two metrics of one name": (POINTS, {"metrics": [accuracy, "accuracy"]}, "two .*'accuracy'"),
    "a metric of text": (POINTS, {"metrics": {"m": lambda p, y: "good"}}, "'m' gave 'good'"),
    "a constant loss": (POINTS, {"loss": lambda p, y: mg.Value(1.0)}, "does not depend on any"),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["scalar", "array"])
@pytest.mark.parametrize(("data", "options", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_before_anything_is_learned(mode, data, options, words):
    model = MLP(2, [3], 1, mode=mode, rng=1)
    options = {"loss": "hinge", **quiet, **options}
    with pytest.raises((ArgumentTypeError, ArgumentValueError), match=words):
        fit(model, data, optimizer=SGD(0.1), epochs=1, **options)


@pytest.mark.parametrize("wrap", [list, np.array])
def test_mixed_up_arguments_are_named_in_a_line_without_the_data(wrap):
    x, y = map(wrap, moons(60, seed=1))
    model = MLP(2, [3], 1)
    for call, words in (
        (lambda: fit(model, x, y, "bce", SGD(0.1)), r"one argument.*\(points, labels\)"),
        (lambda: fit(model, (x, y), "bce", SGD), r"SGD is a class; call it: SGD\(learning_rate="),
        (lambda: fit(model, (x, y), "bce", x), "one of mg.optim"),
        (lambda: fit(model, (x, y), SGD(0.1), "bce"), "the optimizer comes after the loss"),
        (lambda: fit(x, (x, y), "bce", SGD(0.1)), "no model"),
    ):
        with pytest.raises((ArgumentTypeError, TypeError), match=words) as error:
            call()
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 200


def test_a_class_is_no_model_and_says_so():
    with pytest.raises(ArgumentTypeError, match=r"call it: MLP\(…\)"):
        fit(MLP, POINTS, "hinge", SGD(0.1), **quiet)


@pytest.mark.parametrize("mode", ["scalar", "array"])
@pytest.mark.parametrize(("place", "name"), [(0, "points"), (1, "labels")])
def test_data_that_are_not_finite_are_named_and_not_the_learning_rate(mode, place, name):
    data = [[[0.5, 0.5]] * 4, [1.0] * 4]
    data[place] = np.array(data[place])
    data[place][2] = np.nan
    with pytest.warns(NumericalWarning, match=f"nan, for the {name} hold nan; the training was"):
        history = fit(MLP(2, [3], 1, mode=mode, rng=1), tuple(data), "mse", SGD(0.1), 2, **quiet)
    assert (len(history), history.stopped) == (0, "loss not finite")


def test_labels_in_a_column_are_those_in_a_row_in_both_modes():
    column = POINTS[0], [[y] for y in POINTS[1]]
    losses = [
        fit(MLP(2, [3], 1, mode=mode, rng=1), data, "hinge", SGD(0.1), 2, **quiet).loss
        for mode in ("scalar", "array") for data in (POINTS, column)
    ]  # fmt: skip
    for loss in losses[1:]:
        assert loss == pytest.approx(losses[0], rel=1e-11)

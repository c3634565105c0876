"""Answers that look right, and mistakes that Python answers with words of its own."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import minigrad as mg
from minigrad.ops import OPS
from tests.lessons.reading import LESSONS, NOTEBOOKS, cells, load, run

CHECKS = load("checks")


@pytest.fixture(scope="module")
def num():
    """The class that lesson 1 builds."""
    return run(cells(NOTEBOOKS / f"{LESSONS[0]}.ipynb"), LESSONS[0]).names["Num"]


@pytest.fixture
def own_operations():
    """Take the operations of a test out of the table again."""
    before = set(OPS)
    yield
    for name in set(OPS) - before:
        del OPS[name]


def hint_for(exercise, answer, **tools):
    """The hint that a wrong answer gets."""
    verdict = CHECKS.verdict(exercise, answer, **tools)
    assert verdict.state == "wrong", verdict.text
    assert verdict.text.startswith(f"✗ {exercise} not yet right. ")
    return verdict.text


# --- Numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exercise", "answer", "hint"),
    [
        ("1.1", 0.67, "Near. Give more digits"),
        ("1.1", 0.66, "Near. Give more digits"),
        ("1.1", 0.7, "Near. Give more digits"),
        ("1.5", 2 ^ 20, "Write 2**20"),
        ("4.2", mg.Value(math.log(10)), "This is a Value; its number is in .data"),
        ("4.2", mg.Tensor(math.log(10)), "This is a Tensor; its number is in .data"),
        ("4.2", mg.Tensor([1.0, 2.0]), "This is a Tensor of shape (2,)"),
        ("4.2", np.array(True), "This is a bool"),
    ],
)
def test_wrong_number_gets_its_hint(exercise, answer, hint):
    assert hint in hint_for(exercise, answer)


def test_far_is_not_near():
    assert "Near" not in hint_for("1.1", 0.6)


@pytest.mark.parametrize("kind", [mg.Value, mg.Tensor, lambda x: mg.Tensor(x, dtype=np.float32)])
def test_the_number_in_data_is_taken(kind):
    assert CHECKS.verdict("4.2", kind(math.log(10)).data).state == "right"


# --- A forgotten return ---------------------------------------------------------------------------


def forgets(*arguments):
    """A function that computes something, and returns nothing."""
    list(arguments)


def tools_of(exercise, num):
    if exercise in ("3.3", "3.4"):
        return {"array": np.array}
    tools = {"1.6": {"leaf": num}, "2.4": {"leaf": mg.Value}, "3.5": {"leaf": mg.Tensor}}
    return {"library": mg} if exercise == "2.5" else tools.get(exercise, {})


FUNCTIONS = ["1.6", "2.2", "2.4", "2.5", "3.3", "3.4", "3.5", "4.5"]


@pytest.mark.parametrize("exercise", FUNCTIONS)
def test_a_forgotten_return_is_named(exercise, num):
    hint = hint_for(exercise, forgets, **tools_of(exercise, num))
    assert "Your function returned None" in hint
    assert hint.endswith("Is a `return` missing?")


@pytest.mark.parametrize("exercise", [*FUNCTIONS, "2.6"])
def test_an_unfinished_function_is_not_answered_yet(exercise, num):
    def with_a_sentence(*arguments):
        """What it will do."""

    def with_dots(*arguments):
        list(arguments)
        return ...

    for answer in (with_a_sentence, with_dots):
        assert CHECKS.verdict(exercise, answer, **tools_of(exercise, num)).state == "open"


def test_a_forgotten_return_in_one_branch_is_named():
    def should_stop(losses, patience):
        return min(losses[-patience:]) >= min(losses[:-patience])

    hint = hint_for("4.5", lambda xs, p: should_stop(xs, p) if len(xs) > p else None)
    assert "None for [1.0, 2.0] and patience 2. Is a" in hint

    def late(order):
        return any(x not in order[:i] for i, node in enumerate(order) for x in node.inputs)

    hint = hint_for("2.2", lambda order: False if late(order) else None)
    assert "returned None for [a, b, e, c, d]. Is a" in hint


def test_a_closure_that_forgets_to_return_is_named(num):
    hint = hint_for("1.6", lambda x: num(math.exp(x.data), (x,), lambda: forgets(x)), leaf=num)
    assert "The closure returned None. Is a `return` missing?" in hint


def test_a_node_as_the_number_of_a_node_is_named(num):
    hint = hint_for("1.6", lambda x: num(x, (x,), lambda: (1.0,)), leaf=num)
    assert "the number of the result should be a plain number. This is a Num" in hint


# --- Words of the exercise in the errors of Python ------------------------------------------------


@pytest.mark.parametrize(
    ("exercise", "answer", "words"),
    [
        ("2.2", lambda order: order[0] < order[1], "'node' and 'node'"),
        ("2.2", lambda order: order[0].children, "'node' object has no attribute 'children'"),
        ("2.2", lambda order: {}[order[0]], "KeyError: a"),
        ("2.6", lambda leaves, rate: leaves[0] - rate, "'leaf' and 'float'"),
        ("2.6", lambda leaves, rate: leaves[0].zero_grad(0), "leaf.zero_grad() takes"),
        ("2.6", lambda leaves, rate: {}[leaves[0]], "leaf(data=1.0, grad=2.0)"),
    ],
)
def test_errors_call_things_as_the_exercise_does(exercise, answer, words):
    verdict = CHECKS.verdict(exercise, answer)
    assert verdict.state == "wrong"
    assert words in verdict.text
    assert not any(name in verdict.text for name in ("Box", "Leaf", "Node"))


# --- 2.5, an operation of one's own ---------------------------------------------------------------


def of_math(m, x):
    return math.exp(-x * x)


def of_library(m, x):
    return m.exp(-x * x)


@pytest.mark.parametrize(
    ("forward", "partial", "hint"),
    [
        (of_math, lambda out, x: -2.0 * x * out, "use m.exp in place of math.exp"),
        (of_math, lambda out, x: -2.0 * x * math.exp(-x * x), "there is no second one"),
        (of_library, lambda out, x: -2.0 * x * math.exp(-x * x), "or mg.exp in place of math.exp"),
        (
            of_library,
            lambda out, x: -2.0 * x * getattr(out, "data", out),
            "at 0.7 the second should be -0.0245",
        ),
    ],
)
@pytest.mark.usefixtures("own_operations")
def test_a_bump_that_lives_in_one_world_only_gets_its_hint(forward, partial, hint):
    bump = mg.operation("bump_of_tests", forward, [partial])
    assert hint in hint_for("2.5", bump, library=mg)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda x: mg.exp(-x * x), "made by exp, and x is not its input"),
        (lambda x: mg.Value(math.exp(-(x.data**2))), "This one is a leaf"),
    ],
)
def test_a_bump_that_is_no_operation_gets_its_hint(answer, hint):
    text = hint_for("2.5", answer, library=mg)
    assert hint in text
    assert "Use mg.operation" in text


@pytest.mark.parametrize(
    ("forward", "partial"),
    [
        (of_library, lambda out, x: -2.0 * x * out),
        (of_library, lambda out, x: -2.0 * x * mg.exp(-mg.square(x))),
        (lambda m, x: 1.0 / m.exp(x * x), lambda out, x: -out * x - x * out),
        (lambda m, x: np.exp(-x * x), lambda out, x: -2.0 * x * out),
    ],
)
@pytest.mark.usefixtures("own_operations")
def test_every_right_bump_is_right(forward, partial):
    bump = mg.operation("bump_of_tests", forward, [partial])
    assert CHECKS.verdict("2.5", bump, library=mg).state == "right"
    assert CHECKS.verdict("2.5", lambda x: bump(x), library=mg).state == "right"


@pytest.mark.usefixtures("own_operations")
def test_without_arrays_a_bump_is_tried_on_numbers():
    class Library(SimpleNamespace):
        @property
        def Tensor(self):
            raise ImportError("there is no NumPy")

    bump = mg.operation("bump_of_tests", of_math, [lambda out, x: -2.0 * x * out])
    assert CHECKS.verdict("2.5", bump, library=Library(Value=mg.Value)).state == "right"


@pytest.mark.usefixtures("own_operations")
def test_a_bump_that_is_wrong_on_arrays_gets_its_hint():
    bump = mg.operation(
        "bump_of_tests", lambda m, x: m.exp(-x * np.min(x)), [lambda out, x: -2.0 * x * out]
    )
    hint = hint_for("2.5", lambda x: bump(x), library=mg)
    assert "On numbers it is right" in hint


# --- 2.6, a step of training ----------------------------------------------------------------------


def steps(move, before=False, after=True):
    """A step that moves each leaf, and clears its gradient before or after."""

    def take_step(leaves, learning_rate):
        for leaf in leaves:
            if before:
                leaf.zero_grad()
            leaf.data = move(leaf.data, leaf.grad, learning_rate)
            if after:
                leaf.zero_grad()

    return take_step


def clears_all_first(leaves, learning_rate):
    for leaf in leaves:
        leaf.zero_grad()
    for leaf in leaves:
        leaf.data -= learning_rate * leaf.grad


def moves_copies(leaves, learning_rate):
    for leaf in leaves:
        number = leaf.data
        number -= learning_rate * leaf.grad


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (steps(lambda x, g, rate: x - rate * g, before=True), "before you clear the gradient"),
        (clears_all_first, "No leaf moved. Change leaf.data before you clear the gradient"),
        (steps(lambda x, g, rate: x - 0.1 * g), "given. With 0.25 and with 0.5, each leaf moved"),
        (steps(lambda x, g, rate: x - 0.01 * g), "moved by -0.01 times"),
        (steps(lambda x, g, rate: x - 0.25 * g), "moved by -0.25 times"),
        (steps(lambda x, g, rate: x - 0.5 * g), "moved by -0.5 times"),
        (steps(lambda x, g, rate: x + 0.1 * g, after=False), "moved by 0.1 times"),
        (steps(lambda x, g, rate: x - g), "You took the whole gradient"),
        (steps(lambda x, g, rate: x + g), "You added the whole gradient"),
        (steps(lambda x, g, rate: x - 4.0 * rate * rate * g), "for every leaf"),
        (steps(lambda x, g, rate: None), "leaf.data should be a number. This is a NoneType"),
        (lambda leaves, rate: [x.data - rate * x.grad for x in leaves], "returned a list"),
        (moves_copies, "No leaf has changed. Put each new number into leaf.data"),
        (lambda leaves, rate: leaves.clear(), "No leaf has changed"),
    ],
)
def test_wrong_step_gets_its_hint(answer, hint):
    assert hint in hint_for("2.6", answer)


def test_what_a_step_returns_does_not_matter():
    right = steps(lambda x, g, rate: x - rate * g)
    assert CHECKS.verdict("2.6", lambda *given: right(*given) or given).state == "right"


# --- 3.5, rows without their means ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda x: x - np.mean(x.data, axis=1, keepdims=True), "Let minigrad compute it"),
        (
            lambda x: x - mg.mean(x, axis=1, keepdims=True).detach(),
            "no gradient goes through the mean",
        ),
        (lambda x: x.data - mg.mean(x, axis=1, keepdims=True), "through the mean only"),
        (
            lambda x: x + x - x.detach() - mg.mean(x, axis=1, keepdims=True),
            "should send 0.6667, -0.3333, -0.3333 to the row",
        ),
    ],
)
def test_wrong_gradient_of_centring_gets_its_hint(answer, hint):
    assert hint in hint_for("3.5", answer, leaf=mg.Tensor)


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: x - x.mean(axis=1, keepdims=True),
        lambda x: x - mg.mean(x, axis=-1)[:, None],
        lambda x: (x.T - mg.sum(x, axis=1) / x.shape[1]).T,
    ],
)
def test_every_right_centring_is_right(answer):
    assert CHECKS.verdict("3.5", answer, leaf=mg.Tensor).state == "right"


# --- 4.5, stopping early --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda xs, p: len(xs) > p and xs[-1] >= xs[-p - 1], "Look at all of the last losses"),
        (lambda xs, p: len(xs) > p and xs[-1] >= min(xs[:-p]), "Look at all of the last losses"),
        (lambda xs, p: len(xs) > p and max(xs[-p:]) >= min(xs[:-p]), "last one is the smallest"),
        (lambda xs, p: len(xs) > p and min(xs[-p:]) >= xs[-p - 1], "Look at all losses before"),
        (
            lambda xs, p: len(xs) > p and min(xs[-2:]) >= min(xs[:-2]),
            "For [2.0, 1.0, 1.5, 1.4] and patience 3: the 1.0 was only two epochs ago",
        ),
    ],
)  # fmt: skip
def test_wrong_stopping_gets_its_hint(answer, hint):
    assert hint in hint_for("4.5", answer)

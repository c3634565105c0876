"""A wrong answer gets a hint that names the mistake; no answer is not a wrong one."""

import ast
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import minigrad as mg
from tests.lessons.reading import LESSONS, NOTEBOOKS, cells, load, run

CHECKS = load("checks")
LESSON_1 = LESSONS[0]


@pytest.fixture(scope="module")
def num():
    """The class that lesson 1 builds."""
    return run(cells(NOTEBOOKS / f"{LESSON_1}.ipynb"), LESSON_1).names["Num"]


def leaf_for(exercise, num):
    tools = {
        "1.6": {"leaf": num}, "2.4": {"leaf": mg.Value}, "2.5": {"library": mg},
        "3.3": {"array": np.array}, "3.4": {"array": np.array}, "3.5": {"leaf": mg.Tensor},
    }  # fmt: skip
    return tools.get(exercise, {})


@pytest.mark.parametrize("exercise", CHECKS.CHECKS)
def test_no_answer_is_not_answered_yet(exercise, num):
    for answer in (None, ...):
        verdict = CHECKS.verdict(exercise, answer, **leaf_for(exercise, num))
        assert verdict == ("open", f"· {exercise} not answered yet")


@pytest.mark.parametrize(
    "exercise", ["1.6", "2.2", "2.4", "2.5", "2.6", "3.3", "3.4", "3.5", "4.5"]
)
def test_an_empty_function_is_not_answered_yet(exercise, num):
    verdict = CHECKS.verdict(exercise, lambda *arguments: None, **leaf_for(exercise, num))
    assert verdict.state == "open"


@pytest.mark.parametrize("exercise", ["1.2", "2.3", "3.2"])
def test_half_an_answer_is_not_answered_yet(exercise):
    assert CHECKS.verdict(exercise, (1.0, ...)).state == "open"


@pytest.mark.parametrize(
    ("exercise", "answer", "hint"),
    [
        ("1.1", -2 / 3, "sign"),
        ("1.1", 3.667, "value of the curve"),
        ("1.1", 17, "Set the slope"),
        ("1.1", "2/3", "This is a str"),
        ("1.1", True, "This is a bool"),
        ("1.1", math.nan, "Set the slope"),
        ("1.1", abs, "call it"),
        ("1.1", SimpleNamespace(data=2 / 3), "its number is in .data"),
        ("1.2", (-1.5, -0.5), "other order"),
        ("1.2", (-0.5, 1.5), "second sign"),
        ("1.2", (-0.5,), "There are 1"),
        ("1.2", -0.5, "Give 2 numbers"),
        ("1.2", (-0.5, "x"), "number 2 should be a number"),
        ("1.2", (9.0, 9.0), "times 1/b"),
        ("1.3", 2.0, "local derivative of e"),
        ("1.3", 6, "slope for a"),
        ("1.4", 10.0, "with +="),
        ("1.4", 5.0, "e is visited later"),
        ("1.5", 40, "number of edges"),
        ("1.5", 400, "20 to the power of 2"),
        ("2.1", -6.0, "sign"),
        ("2.1", mg.Value(6.0), "plain number"),
        ("2.3", (3, 14.0), "2.0 * x uses x too"),
        ("2.3", (4, 99.0), "The edges are right"),
        ("2.3", (9, 14.0), "The gradient is right"),
        ("2.3", [14.0, 4], "other order"),
        ("2.2", lambda order: True, "reverse of an order"),
        ("2.2", lambda order: False, "and you say no"),
        ("2.2", lambda order: 1, "Return True or False"),
        ("2.2", 3, "should be a function"),
        ("2.2", lambda order: order[9], "IndexError"),
        (
            "2.2",
            lambda order: all(
                not node.inputs or order.index(node.inputs[0]) < order.index(node) for node in order
            ),
            "second input",
        ),
        (
            "2.2",
            lambda order: all(
                set(node.inputs) <= set(order[max(0, i - 2) : i]) for i, node in enumerate(order)
            ),
            "far away",
        ),
    ],
)  # fmt: skip
def test_wrong_answer_gets_its_hint(exercise, answer, hint):
    verdict = CHECKS.verdict(exercise, answer)
    assert verdict.state == "wrong"
    assert verdict.text.startswith(f"✗ {exercise} ")
    assert hint in verdict.text


def exp_with_slope(slope):
    return lambda num, x: num(math.exp(x.data), (x,), lambda: (slope(x.data),))


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lambda num, x: math.exp(x.data), "Return a Num"),
        (lambda num, x: num(x.data, (x,), lambda: (1.0,)), "exp(0.5) should be"),
        (lambda num, x: num(math.exp(x.data), [x], lambda: (1.0,)), "inputs is a tuple"),
        (lambda num, x: num(math.exp(x.data), (x.data,), lambda: (1.0,)), "the node itself"),
        (lambda num, x: num(math.exp(x.data), (x,)), "forget the closure"),
        (lambda num, x: num(math.exp(x.data), (x,), (1.0,)), "no brackets"),
        (lambda num, x: num(math.exp(x.data), (x,), lambda: math.exp(x.data)), "returns a tuple"),
        (exp_with_slope(lambda x: 1.0 - math.exp(x) ** 2), "tanh"),
        (exp_with_slope(lambda x: x * math.exp(x - 1)), "powers"),
        (exp_with_slope(lambda x: 5.0), "derivative of exp(x)"),
    ],
)  # fmt: skip
def test_wrong_exp_gets_its_hint(make, hint, num):
    verdict = CHECKS.verdict("1.6", lambda x: make(num, x), leaf=num)
    assert verdict.state == "wrong"
    assert hint in verdict.text


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda x: mg.sqrt(x), "the gradient is inf"),
        (lambda x: mg.sqrt(mg.maximum(x, 0.0)), "gradient is"),
        (lambda x: mg.sqrt(mg.abs(x)), "the gradient is"),
        (lambda x: mg.where(x > 0.0, math.sqrt(abs(x.data)), 0.0), "node"),
        (lambda x: mg.sqrt(x) if x > 0.0 else 0.0, "Use mg.where"),
        (lambda x: (x > 0.0) * mg.sqrt(x), "nan"),
        (lambda x: mg.where(x > 0.0, x, 0.0), "the value should be 2.0"),
        (lambda x: 2.0, "Return a node"),
    ],
)
def test_wrong_root_gets_its_hint(answer, hint):
    with mg.errstate("ignore"):
        verdict = CHECKS.verdict("2.4", answer, leaf=mg.Value)
    assert verdict.state == "wrong"
    assert hint in verdict.text


@pytest.mark.parametrize(
    ("forward", "partial", "hint"),
    [
        (lambda m, x: m.exp(-x * x), lambda out, x: out, "Multiply by its slope"),
        (lambda m, x: m.exp(-x * x), lambda out, x: 2.0 * x * out, "The sign"),
        (lambda m, x: m.exp(-x * x), lambda out, x: -2.0 * x, "Multiply by the result"),
        (lambda m, x: m.exp(-x * x), lambda out, x: 7.0 * x, "the slope should be"),
        (lambda m, x: m.exp(-x * x), None, "No gradient arrives"),
        (lambda m, x: m.exp(x * x), lambda out, x: out, "valley"),
        (lambda m, x: m.exp(x), lambda out, x: out, "should be"),
    ],
)
def test_wrong_bump_gets_its_hint(forward, partial, hint):
    operations = dict(mg.ops.OPS)
    try:
        bump = mg.operation("tests_of_bump", forward, [partial])
    finally:
        for name in set(mg.ops.OPS) - set(operations):
            del mg.ops.OPS[name]
    verdict = CHECKS.verdict("2.5", bump, library=mg)
    assert verdict.state == "wrong"
    assert hint in verdict.text


def step(move, clear=True, only_first=False):
    """A training step that moves each leaf to ``move(data, gradient, learning_rate)``."""

    def take_step(leaves, learning_rate):
        for leaf in leaves:
            leaf.data = move(leaf.data, leaf.grad, learning_rate)
            if clear:
                leaf.zero_grad()
            if only_first:
                return

    return take_step


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (step(lambda x, g, rate: x + rate * g), "Go against it"),
        (step(lambda x, g, rate: x - g), "learning rate"),
        (step(lambda x, g, rate: -rate * g), "Subtract from leaf.data"),
        (step(lambda x, g, rate: x - rate), "Multiply it by leaf.grad"),
        (step(lambda x, g, rate: x - 0.25 * g), "the learning rate that is given"),
        (step(lambda x, g, rate: x), "No leaf moved"),
        (step(lambda x, g, rate: x - rate * g, clear=False), "clear each gradient"),
        (step(lambda x, g, rate: x - rate * g, only_first=True), "Only the first leaf"),
        (step(lambda x, g, rate: 99.0), "for every leaf"),
        (lambda leaves: None, "TypeError"),
    ],
)
def test_wrong_step_gets_its_hint(answer, hint):
    verdict = CHECKS.verdict("2.6", answer)
    assert verdict.state == "wrong"
    assert hint in verdict.text


def test_a_gradient_may_be_cleared_with_zero():
    def take_step(leaves, learning_rate):
        for leaf in leaves:
            leaf.data -= learning_rate * leaf.grad
            leaf.grad = 0.0

    assert CHECKS.verdict("2.6", take_step).state == "right"


def test_numbers_may_be_rounded_or_of_another_type():
    assert CHECKS.verdict("1.1", 0.667).state == "right"
    assert CHECKS.verdict("1.3", -4).state == "right"
    assert CHECKS.verdict("2.3", [4.0, 14]).state == "right"
    numpy = pytest.importorskip("numpy")
    assert CHECKS.verdict("2.1", numpy.float32(6)).state == "right"


def test_check_prints_one_line(capsys):
    assert CHECKS.check("1.3", -4.0) is None
    assert capsys.readouterr().out.startswith("✓ 1.3 ")


def test_unknown_exercise_lists_those_that_there_are():
    with pytest.raises(LookupError, match=r"'9\.9'; there is 1\.1, 1\.2"):
        CHECKS.check("9.9", 1.0)


def test_checks_need_the_standard_library_alone():
    for file in (NOTEBOOKS / "checks").glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        imported = {
            alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names
        }
        imported |= {
            n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and not n.level
        }
        assert imported <= sys.stdlib_module_names


# --- Lesson 3 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exercise", "answer", "hint"),
    [
        ("3.1", 1024, "There are 32"),
        ("3.1", 65536, "together"),
        ("3.1", 7, "three loops"),
        ("3.2", (3, 4), "other order"),
        ("3.2", (4,), "which is two"),
        ("3.2", (9, 9), "flushed right"),
    ],
)
def test_wrong_number_of_lesson_3_gets_its_hint(exercise, answer, hint):
    verdict = CHECKS.verdict(exercise, answer)
    assert verdict.state == "wrong"
    assert hint in verdict.text


def undone(reduce, keepdims=True, left=True, columns=True):
    """A function that undoes broadcasting, with a mistake."""

    def undo(gradient, shape):
        while left and gradient.ndim > len(shape):
            gradient = reduce(gradient, axis=0)
        for axis, length in enumerate(shape):
            if length == 1 and columns:
                gradient = reduce(gradient, axis=axis, keepdims=keepdims)
        return gradient

    return undo


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda gradient, shape: gradient, "missing on the left"),
        (undone(np.mean), "Contributions add up"),
        (undone(np.sum, columns=False), "sum over the axis of length 1"),
        (undone(np.sum, keepdims=False), "the result has shape (2,)"),
        (undone(np.max), "the numbers are wrong"),
        (lambda gradient, shape: gradient.tolist(), "This is a list"),
        (lambda gradient, shape: np.zeros(shape), "the numbers are wrong"),
    ],
)
def test_wrong_undoing_of_broadcasting_gets_its_hint(answer, hint):
    verdict = CHECKS.verdict("3.3", answer, array=np.array)
    assert verdict.state == "wrong"
    assert hint in verdict.text


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda P, upstream: P @ upstream, "has to be turned"),
        (lambda P, upstream: upstream @ P.T, "other order"),
        (lambda P, upstream: upstream.T @ P, "turned around"),
        (lambda P, upstream: P.T * upstream, "place by place"),
        (lambda P, upstream: P.T, "arrives from upstream"),
        (lambda P, upstream: 2.0 * P.T @ upstream, "Turn one of them"),
    ],
)
def test_wrong_gradient_of_a_matrix_product_gets_its_hint(answer, hint):
    verdict = CHECKS.verdict("3.4", answer, array=np.array)
    assert verdict.state == "wrong"
    assert hint in verdict.text


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda x: x - mg.mean(x, axis=1), "cannot broadcast"),
        (lambda x: x - mg.mean(x, axis=0), "mean of each column"),
        (lambda x: x - mg.mean(x), "one mean of all"),
        (lambda x: x.numpy() - x.numpy().mean(axis=1, keepdims=True), "Return a Tensor"),
        (lambda x: mg.Tensor(x.data - x.data.mean(axis=1, keepdims=True)), "not with x.data"),
        (
            lambda x: x - (mg.mean(x, axis=1) if x.shape == (2, 2) else mg.mean(x, 1, True)),
            "meets its own mean",
        ),
    ],
)
def test_wrong_centring_gets_its_hint(answer, hint):
    verdict = CHECKS.verdict("3.5", answer, leaf=mg.Tensor)
    assert verdict.state == "wrong"
    assert hint in verdict.text


# --- Lesson 4 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exercise", "answer", "hint"),
    [
        ("4.1", 2368, "also has a bias"),
        ("4.1", 106, "multiply"),
        ("4.1", 5, "n·m weights"),
        ("4.2", -math.log(10), "sign"),
        ("4.2", 0.1, "probability"),
        ("4.2", math.log10(10), "base 10"),
        ("4.2", 30, "−log of it"),
        ("4.3", 0.25, "arrives at 0"),
        ("4.3", 1, "It is 4·w"),
        ("4.3", 0.55, "should be −1"),
        ("4.4", 0.01, "root of 100"),
        ("4.4", 10, "undo it"),
        ("4.4", 3.0, "should be 1"),
        ("4.5", lambda losses, patience: False, "and you go on"),
        ("4.5", lambda losses, patience: True, "and you stop"),
        ("4.5", lambda losses, patience: 1, "Return True or False"),
        ("4.5", lambda losses, patience: losses.sort() or False, "Work on a copy"),
        ("4.5", lambda losses, patience: losses[-1] > losses[-2], "the 1.0 was only one epoch"),
        (
            "4.5",
            lambda losses, patience: min(losses[-patience:]) > min(losses[:-patience]),
            "equal is not smaller",
        ),
        (
            "4.5",
            lambda losses, patience: min(losses[-patience:]) >= min(losses[:-patience]),
            "stopped with an error",
        ),
    ],
)
def test_wrong_answer_of_lesson_4_gets_its_hint(exercise, answer, hint):
    verdict = CHECKS.verdict(exercise, answer)
    assert verdict.state == "wrong"
    assert hint in verdict.text


def test_a_loss_may_be_rounded_and_a_verdict_be_of_numpy():
    assert CHECKS.verdict("4.2", 2.3).state == "right"

    def should_stop(losses, patience):
        best = np.argmin(losses)  # the first of equal ones
        return np.bool_(len(losses) - 1 - best >= patience)

    assert CHECKS.verdict("4.5", should_stop).state == "right"

"""Explanations of arrays: what arrives along each path, and that it adds up to the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import ArgumentTypeError, ArgumentValueError, GradientError
from minigrad.explanation import ArrayExplanation
from minigrad.ops import OPS
from minigrad.ops.kinds import General
from minigrad.tensor import Tensor, to_values
from tests.tensor.cases import CASES, Case, nodes

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)


def named(x: Any, name: str) -> Any:
    x.name = name
    return x


def layer() -> tuple[Any, Any, Any, Any]:
    x = Tensor([[1.0, -2.0], [0.5, 3.0]], name="x")
    w, b = Tensor([[0.5, -1.0], [1.5, 0.25]], name="w"), Tensor([0.1, 0.2], name="b")
    h = named(x @ w + b, "h")
    y = named(mg.tanh(h), "y")
    return named((y * y).sum(), "L"), x, w, b


@each_case
def test_what_arrives_along_the_paths_adds_up_to_the_gradient(case: Case) -> None:
    xs = nodes(case)
    out = case.call(*xs)
    total = (out * 1.5 + 0.1 * out * out).sum()
    total.backward()
    for x in xs:
        explanation: Any = mg.explain(total, x)
        if x.grad is None:
            assert explanation.gradient is None
            continue
        np.testing.assert_array_equal(explanation.gradient, x.grad)
        if explanation.paths == len(explanation.shown):
            arrived = sum(np.broadcast_to(p.contribution, x.shape) for p in explanation.shown)
            np.testing.assert_allclose(arrived, x.grad, rtol=1e-11, atol=1e-12)
        for path in explanation.shown:
            assert path.steps[-1].shape == x.shape


@each_case
def test_every_row_of_arrays_has_words_of_its_own(case: Case) -> None:
    xs = nodes(case)
    out = case.call(*xs)
    for x in xs:
        explanation = mg.explain(named(out.sum(), "L"), x)
        rules = [step.rule for path in getattr(explanation, "shown", ()) for step in path.steps]
        assert not [rule for rule in rules if " through " in rule or not rule]


def test_the_cases_meet_every_row() -> None:
    met = {name for case in CASES for name in case.rows.split()}
    assert met >= {name for name, row in OPS.items() if isinstance(row, General)}


def test_the_steps_of_a_layer() -> None:
    L, x, w, b = layer()
    explanation: Any = mg.explain(L, w)
    assert isinstance(explanation, ArrayExplanation)
    assert explanation.paths == 2
    rules = [step.rule for step in explanation.shown[0].steps]
    assert rules == [
        "upstream repeated to shape (2, 2)", "upstream * y", "upstream * (1 - tanh(h) ** 2)",
        "upstream", "x.T @ upstream",
    ]  # fmt: skip
    assert "upstream @ w.T" in str(mg.explain(L, x))
    assert "upstream, added up to shape (2,)" in str(mg.explain(L, b))
    assert r"x^\top \overline{v_{3}}" in explanation.latex
    assert r"\frac{\partial L}{\partial w} &= \bar{w}^{(1)} + \bar{w}^{(2)}" in explanation.latex


def test_the_text_as_a_whole() -> None:
    x, w = Tensor([[1.0, 2.0]], name="x"), Tensor([3.0, -1.0], name="w")
    h = named(x @ w, "h")
    L = named(mg.relu(h).sum(), "L")
    assert str(mg.explain(L, w)) == (
        "∂L/∂w = [1, 2], of shape (2,) as w\n"
        "\n"
        "L depends on w along one path; each step turns the gradient of a node (upstream) into "
        "that of its input\n"
        "  L = sum(v3) ← v3 = relu(h) ← h = x @ w ← w\n"
        "    L → v3 (1,)  upstream repeated to shape (1,)  [1]\n"
        "    v3 → h (1,)  upstream * (0 < h)               [1]\n"
        "    h → w (2,)   x.T @ upstream                   [1, 2]"
    )


def test_an_element_is_the_sum_of_upstream_times_local_of_what_depends_on_it():
    x, w = Tensor([[1.0, 2.0], [3.0, -1.0]], name="x"), Tensor([[0.5], [-0.25]], name="w")
    L = (mg.tanh(x @ w) ** 2.0).sum()
    L.backward()
    explanation = mg.explain(L, w, index=(0, 0))
    [path] = explanation.shown
    assert [local for _, local in path.terms] == [1.0, 3.0]  # the first column of x
    assert sum(g * local for g, local in path.terms) == pytest.approx(w.grad[0, 0], rel=1e-14)
    assert "w[0, 0] gets" in explanation.text
    assert mg.explain(L, w).shown[0].terms == ()


def test_one_element() -> None:
    L, _, w, _ = layer()
    L.backward()
    explanation = mg.explain(L, w, index=(0, 1))
    assert explanation.gradient == w.grad[0, 1]
    assert str(explanation).startswith("∂L/∂w[0, 1] = ")
    assert mg.explain(L, w, index=(0, -1)).gradient == w.grad[0, 1]
    with pytest.raises(ArgumentValueError, match=r"shape \(2, 2\)"):
        mg.explain(L, w, index=(0, 2))
    with pytest.raises(ArgumentTypeError, match="ints"):
        mg.explain(L, w, index=0.5)
    with pytest.raises(ArgumentTypeError, match="no array"):
        mg.explain(Value(1.0) * 2.0, Value(1.0), index=0)


def test_an_output_of_several_elements_needs_a_seed() -> None:
    x = Tensor([1.0, 2.0], name="x")
    y = named(x * x, "y")
    with pytest.raises(GradientError, match=r"y has shape \(2,\)"):
        mg.explain(y, x)
    explanation = mg.explain(y, x, seed=np.array([1.0, 10.0]))
    assert explanation.gradient.tolist() == [2.0, 40.0]
    assert "the seed is [1, 10]" in str(explanation)


def test_a_seed_of_numbers() -> None:
    x = Value(3.0, name="x")
    assert mg.explain(x * x, x, seed=2.0).gradient == 12.0


def test_values_and_arrays_in_one_program() -> None:
    x, v = Tensor([1.0, 2.0], name="x"), Value(3.0, name="v")
    first, second = to_values(x)
    L = (first * second * v) + (x * v).sum()
    L.backward()
    of_value: Any = mg.explain(L, v)
    assert of_value.gradient == v.grad
    assert sum(float(path.contribution) for path in of_value.shown) == v.grad
    of_array: Any = mg.explain(L, x)
    assert of_array.gradient.tolist() == x.grad.tolist()
    assert "upstream at [0], 0 elsewhere" in str(of_array)


def reason(output: Any, node: Any) -> str:
    explanation = mg.explain(output, node)
    return "\n".join((*explanation.reasons, *explanation.notes))


def test_why_there_is_no_gradient_or_only_zeros() -> None:
    x, other = Tensor([1.0, -2.0], name="x"), Tensor([1.0], name="w")
    i = Tensor(np.array([1, 2]), name="i")
    assert "was not computed from w" in reason((x * 2.0).sum(), other)
    assert "i holds int64: whole numbers have no gradient" in reason((i * x).sum(), i)
    assert "floor is not differentiable" in reason(mg.floor(x).sum(), x)
    y = named(mg.where(x.data > 9.0, named(x * 2.0, "two"), 1.0), "y")
    assert "took nothing from two" in reason(y.sum(), x)
    assert mg.explain(y.sum(), x).gradient.tolist() == [0.0, 0.0]
    low = named(mg.relu(named(x - 5.0, "low")), "r")
    assert "the path ends at r" in reason(low.sum(), x)


def test_notes_count_the_elements_at_kinks_and_edges() -> None:
    x = Tensor([0.0, 1.0, 0.0, 2.0], name="x")
    assert "kink at 2 of 4 elements" in reason(mg.relu(x).sum(), x)
    assert "0.5 where x == 1, at 1 of 4 elements" in reason(mg.maximum(x, 1.0).sum(), x)
    s = Tensor([0.0, 5.0, 6.0, 2.0], name="s")
    assert "0.5 where s == x, at 2 of 4 elements" in reason(mg.maximum(s, x).sum(), x)
    with mg.errstate("ignore"):
        assert "nan at 2 of 4 elements, outside" in reason(mg.log(x - 0.5).sum(), x)


def test_many_paths_are_counted_and_a_few_are_written() -> None:
    x = Tensor([1.0, 2.0], name="x")
    y = x
    for _ in range(80):
        y = y * 0.4 + y * 0.1
    explanation: Any = mg.explain(y.sum(), x)
    assert explanation.paths == 2**80
    assert len(explanation.shown) == 6
    assert f"({2**80 - 6} more paths)" in str(explanation)


def test_a_long_path_takes_little_time_and_space() -> None:
    x = Tensor([1.0, 2.0], name="x")
    y = x
    for _ in range(3000):
        y = y * 1.0001
    text = str(mg.explain(y.sum(), x))
    assert len(text) < 2000
    assert "more" in text


def test_large_arrays_are_summed_up() -> None:
    x = Tensor(np.ones((30, 20)), name="x")
    text = str(mg.explain((x * x).mean(), x))
    assert "[30×20: 0.003333 to 0.003333, mean 0.003333]" in text
    assert len(text) < 1500


def test_a_changed_node_is_noted_and_the_numbers_are_those_of_the_time() -> None:
    x = Tensor([1.0, 2.0], name="x")
    y = x * x
    L = mg.tanh(y).sum()
    L.backward()
    x.data, y.data = [5.0, 5.0], [7.0, 7.0]
    explanation: Any = mg.explain(L, x)
    np.testing.assert_array_equal(explanation.gradient, x.grad)
    np.testing.assert_allclose(sum(p.contribution for p in explanation.shown), x.grad)
    assert any("x has changed since" in note for note in explanation.notes)


def test_in_a_notebook_markup_in_names_is_inert() -> None:
    x = Tensor([2.0], name="</script>```<b>$x$\n## h")
    markdown = mg.explain((x * x).sum(), x)._repr_mimebundle_()["text/markdown"]
    words = markdown.partition("```text\n")[2]
    assert words.count("```") == 1
    assert "\n## h" not in words


def test_an_einsum_is_written_with_its_letters_and_is_no_sum():
    a, b = Tensor([1.0, 2.0], name="a"), Tensor([3.0, 1.0], name="b")
    explanation = mg.explain(mg.einsum("i,i->", a, b), a)
    assert "einsum('i,i->', a, b)" in explanation.text
    assert r"\sum" not in explanation.latex
    both = mg.stack([a, b], axis=1)
    assert "stack([a, b], axis=1)" in mg.explain(both.sum(), a).text


def test_an_index_may_be_of_numpy_and_empty():
    s, v = Tensor(2.0, name="s"), Tensor([1.0, 2.0], name="v")
    assert "∂s = 3" in str(mg.explain(s * 3.0, s, index=()))
    assert mg.explain((v * v).sum(), v, index=np.int64(1)).gradient == 4.0


def test_a_constant_array_is_called_by_its_part_and_told_once() -> None:
    t = Tensor([1.0, 2.0, 3.0], name="t")
    explanation: Any = mg.explain(mg.mse_loss(t, np.array([0.0, 0.0, 1.0])), t)
    assert explanation.shown[0].steps[0].rule == "upstream * 2 * (t - targets) / 3"
    assert explanation.texts == ("targets: the array of shape (3,), [0, 0, 1]",)
    page = explanation._repr_mimebundle_()["text/markdown"]
    assert page.count("targets: the array") == explanation.text.count("targets: the array") == 1


def test_constants_without_a_telling_part_are_numbered_and_equal_ones_are_one() -> None:
    w = Tensor([[1.0, 2.0]], name="w")
    first, second = np.arange(1.0, 7.0).reshape(2, 3), np.arange(1.0, 7.0).reshape(3, 2)
    explanation: Any = mg.explain((w @ first @ second).sum(), w)
    rules = [step.rule for step in explanation.shown[0].steps]
    assert rules[1:] == ["upstream @ const1.T", "upstream @ const2.T"]
    assert explanation.texts == (
        "const1: the array of shape (3, 2), 1 … 6", "const2: the array of shape (2, 3), 1 … 6",
    )  # fmt: skip
    square = np.array([[2.0, 0.0], [0.0, 1.0]])
    both: Any = mg.explain((w @ square @ square.copy()).sum(), w)
    assert both.texts == ("const: the array of shape (2, 2), 0 … 2",)


def test_the_name_of_a_constant_is_taken_by_no_node() -> None:
    t, const = Tensor([1.0, 2.0], name="targets"), Tensor([3.0, 1.0], name="const")
    loss = mg.mse_loss(t * const * np.array([1.0, 5.0]), np.array([0.0, 1.0]))
    text = str(mg.explain(loss, t))
    assert "targets1: the array of shape (2,), [0, 1]" in text
    assert "const1: the array of shape (2,), [1, 5]" in text
    assert "[2]" not in text


def test_a_constant_that_is_not_mentioned_is_not_told() -> None:
    x = Tensor([1.0, 2.0], name="x")
    other = mg.exp(Tensor([0.0, 1.0], name="o") * np.array([1.0, 2.0]))
    explanation: Any = mg.explain((x * other).sum(), x)
    assert explanation.texts == ()


def test_of_many_paths_it_is_said_which_are_shown() -> None:
    x = Tensor([1.0, 2.0], name="x")
    y = x
    for _ in range(4):
        y = y * y
    text = str(mg.explain(named(y.sum(), "L"), x))
    assert "L depends on x along 16 paths, of which the first 6 are shown; each step" in text


def test_a_long_text_stands_once_and_not_in_a_formula() -> None:
    x, w = Tensor([[1.0, 2.0]]), Tensor([[0.5], [0.25]])
    with mg.record():
        L = (mg.tanh(x @ w + 1.0) * 2.0).sum()
    explanation: Any = mg.explain(L, w)
    assert [text.partition(" is ")[2] for text in explanation.texts] == [
        "x @ w + 1.0", "mg.tanh(x @ w + 1.0)",
    ]  # fmt: skip
    assert explanation.text.count("mg.tanh(x @ w + 1.0)") == 1
    assert "tanh(x" not in explanation.latex

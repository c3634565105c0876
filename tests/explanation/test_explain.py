"""Explanations: the paths, their products, their sum, and the reasons when there is nothing."""

from __future__ import annotations

import html
import math
from math import isclose
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad import Value
from minigrad.cli.expression import evaluate
from minigrad.errors import ArgumentTypeError
from minigrad.explanation.paths import count_paths, count_zeros, largest_paths

programs = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 50), st.integers(0, 50)), max_size=5
)


def program(choices: list[tuple[int, int, int]]) -> list[Value]:
    nodes = [Value(0.7), Value(-1.3), Value(2.1)]
    for kind, i, j in choices:
        x, y = nodes[i % len(nodes)], nodes[j % len(nodes)]
        nodes.append(
            [x + y, x * y, mg.tanh(x), x - y, mg.sin(x), mg.exp(x * 0.1), x / (y * y + 1.0)][kind]
        )
    for index, node in enumerate(nodes):
        node.name = f"n{index}"
    return nodes


def brute_force_paths(output: Value, target: Value) -> int:
    if output is target:
        return 1
    return sum(
        brute_force_paths(node, target) for node in output.inputs if node.op or node is target
    )


@given(programs)
def test_the_printed_formula_evaluates_to_the_gradient(choices: list[tuple[int, int, int]]) -> None:
    nodes = program(choices)
    output = nodes[-1]
    output.backward()
    names: dict[str, Any] = {}
    for index, entry in enumerate(mg.trace(output).nodes):
        names[entry.name] = entry.value
        assert index == entry.id
    for leaf in nodes[:3]:
        explanation = mg.explain(output, leaf)
        assert explanation.gradient == leaf.grad
        if leaf.grad is None or output is leaf:
            continue
        assert explanation.paths == brute_force_paths(output, leaf)
        if explanation.paths == len(explanation.shown):
            total = sum(path.product for path in explanation.shown)
            assert isclose(total, leaf.grad, rel_tol=1e-9, abs_tol=1e-12)
            value = float(evaluate(explanation.formula, names))
            assert isclose(value, leaf.grad, rel_tol=1e-9, abs_tol=1e-12)


def test_words_symbols_and_numbers() -> None:
    a, b = Value(2.0, name="a"), Value(-3.0, name="b")
    c = a * b
    c.name = "c"
    y = mg.tanh(c)
    y.name = "y"
    text = str(mg.explain(y, a))
    assert "if a grows by δ, along this path c by -3 δ" in text
    assert "∂y/∂c · ∂c/∂a" in text
    assert "(1 - tanh(c) ** 2) * b" in text


def test_paths_are_counted_before_they_are_listed() -> None:
    x = Value(1.0, name="x")
    y = x
    for _ in range(100):
        y = y * 0.4 + y * 0.1
    explanation = mg.explain(y, x)
    assert explanation.paths == 2**100
    assert len(explanation.shown) == 6
    products = [path.product for path in explanation.shown]
    assert products == sorted(products, reverse=True)
    assert products[0] == pytest.approx(0.4**100)


@pytest.mark.parametrize(
    "step", [lambda y: (y + y + y) / 3.0, lambda y: y * 0.3 + y * 0.3], ids=["thirds", "equal"]
)
def test_paths_of_equal_size_are_no_search_without_end(step: Any) -> None:
    x = Value(1.0, name="x")
    y = x
    for _ in range(60):
        y = step(y)
    assert len(mg.explain(y, x).shown) == 6


def test_a_learners_row_that_symbols_cannot_run_is_explained_by_its_number() -> None:
    row = mg.operation("by_math", lambda m, x: math.sin(x), [lambda out, x: math.cos(x)])
    x = Value(0.5, name="x")
    y = row(x)
    y.name = "y"
    assert "∂y/∂x" in mg.explain(y, x).formula
    assert mg.explain(y, x).gradient == math.cos(0.5)


def test_the_other_way_round_is_said() -> None:
    x = Value(2.0, name="x")
    y = x * 3.0
    y.name = "y"
    assert "other way round" in "".join(mg.explain(x, y).reasons)


def test_a_changed_leaf_is_noted() -> None:
    x = Value(2.0, name="x")
    y = x * x
    x.data = 5.0
    assert any("changed" in note for note in mg.explain(y, x).notes)


def test_a_long_path_is_explained_in_time_and_space() -> None:
    x = Value(1.0, name="x")
    y = x
    for _ in range(20_000):
        y = y * 1.0001
    text = str(mg.explain(y, x))
    assert len(text) < 2000
    assert "more" in text


def reason(output: Value, node: Value) -> str:
    explanation = mg.explain(output, node)
    return "\n".join((*explanation.reasons, *explanation.notes))


def test_why_there_is_no_gradient() -> None:
    x, other = Value(3.0, name="x"), Value(1.0, name="w")
    assert "was not computed from w" in reason(x * 2.0, other)
    assert "floor is not differentiable" in reason(mg.floor(x) * 2.0, x)
    assert "leaf" in reason(other, x)
    with mg.no_grad():
        y = x * 2.0
    assert "no_grad" in reason(y, x)
    assert mg.explain(mg.floor(x), x).gradient is None
    twin = Value(3.0, name="x")
    assert "another node in the graph is called x" in reason(x * 2.0, twin)


def test_why_a_gradient_is_zero() -> None:
    x = Value(-1.0, name="x")
    assert "relu(x)" in reason(mg.relu(x), x)
    with mg.errstate("ignore"):
        y = mg.where(x > 0, mg.log(x), x * 0.0)
    assert "other branch" in reason(y, x)


def test_footnotes_say_which_rule_applied() -> None:
    x = Value(0.0, name="x")
    assert "kink" in reason(mg.relu(x), x)
    assert "0.5 where" in reason(mg.maximum(x, Value(0.0)), x)
    with mg.errstate("ignore"):
        assert "outside the domain" in reason(mg.log(x - 1.0), x)


def test_a_zero_is_put_down_to_the_condition_that_applied() -> None:
    x, y = Value(1.0, name="x"), Value(2.0, name="y")
    z = (x * 0) ** y
    z.name = "z"
    assert "its local derivative is 0 where (v3 == 0) * (0 <= y)" in reason(z, y)
    u = Value(0.0, name="u")
    assert "its local derivative is 0 where u = 0" in reason(u * y, y)
    assert "its local derivative is 0 where u = 0 and y = 2" in reason(mg.maximum(u, y), u)
    assert reason(mg.sign(y), y).endswith("its local derivative is 0")


@pytest.mark.parametrize("wrong", [3.0, "x", None])
def test_a_number_has_left_the_library(wrong: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="plain"):
        mg.explain(Value(1.0), wrong)


def test_in_a_notebook_markup_in_names_is_inert() -> None:
    x = Value(2.0, name="</script><b>$x$ *y* `z` [a](b)")
    markdown = mg.explain(x * x, x)._repr_mimebundle_()["text/markdown"]
    words = markdown.partition("$$\n")[2] or markdown.split("$$")[-1]
    assert "<b>" not in words
    assert "$" not in words
    assert "`" not in words


def test_without_an_input_it_says_which_there_are():
    x, w = mg.Value(2.0, name="x"), mg.Value(3.0, name="w")
    with pytest.raises(ArgumentTypeError, match=r"by which input.* x, w$"):
        mg.explain(x * w)


def test_a_long_text_stands_once_and_the_lines_stay_short() -> None:
    w1, w2, x1, x2, b = (Value(v) for v in (-3.0, 1.0, 2.0, 0.5, 6.88))
    with mg.record():
        L = (mg.tanh(w1 * x1 + w2 * x2 + b) - 0.5) ** 2 + 0.01 * (w1 * w1 + w2 * w2)
    said = mg.explain(L, w1)
    text = said.text
    for whole in "w1 * x1 + w2 * x2", "w1 * w1 + w2 * w2":
        assert [line for line in text.splitlines() if line.endswith(f"is {whole}")]
        assert text.count(f"{whole}\n") == 1
    assert "tanh(v" in said.formula
    assert max(len(line) for line in text.splitlines()) < 150
    for meaning in said.texts:  # each is used, and nothing else
        assert meaning.split()[0] in "".join((*said.words, *said.symbols, said.formula))
    page = said._repr_mimebundle_()["text/markdown"]
    assert f"{said.texts[0].split()[0]} is w1" in page


def test_names_that_are_given_are_not_shortened() -> None:
    x = Value(2.0, name="x")
    with mg.record():
        y = mg.sin(x * x + x)
        z = mg.exp(y) * y
    y.name = "the sine of it"
    said = mg.explain(z, x)
    assert all("∂(the sine of it)/∂v2" in chain for chain in said.symbols)


def test_the_step_is_no_name_of_a_learner() -> None:
    h = Value(2.0, name="h")
    y = 0.5 * h
    y.name = "y"
    said = mg.explain(y, h)
    page = html.unescape(said._repr_mimebundle_()["text/markdown"])
    for text in (said.text, page):
        assert "if h grows by δ, along this path y by 0.5 δ" in text


@pytest.mark.parametrize(
    ("weights", "shown", "zeros", "words"),
    [
        ([0.0, 1.0, 0.0, 2.0], 4, 0, "the sum over them\n"),  # there is room for all
        ([0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0], 3, 4, "; 4 paths contribute 0, the others are\n"),
        ([0.0] * 6 + [1.0], 1, 6, "; 6 paths contribute 0, the other one is\n"),
        ([0.0, *range(1, 9)], 6, 1, "; one path contributes 0, the largest 6 are\n"),
        (list(range(1, 9)), 6, 0, "the sum over them; the largest 6 are\n"),
        ([0.0] * 8, 6, 0, "the sum over them; the largest 6 are\n"),
    ],
)
def test_paths_that_contribute_0_are_counted_and_left_out_where_room_is_scarce(
    weights: list[float], shown: int, zeros: int, words: str
) -> None:
    x = Value(3.0, name="x")
    y = mg.sum([x * Value(float(weight)) for weight in weights])
    said = mg.explain(y, x)
    assert (said.paths, len(said.shown), said.zeros) == (len(weights), shown, zeros)
    assert words in said.text
    rest = len(weights) - shown - zeros
    assert (f"… ({rest} more paths)" in said.text) == bool(rest)
    assert all(path.product for path in said.shown) or not zeros


def test_paths_through_0_times_infinity_are_not_counted_as_0() -> None:
    x = Value(0.0, name="x")
    with mg.errstate("ignore"):
        y = mg.sum([mg.sqrt(x) * Value(float(weight)) for weight in [0, 0, 0, 1, 1, 1, 1, 1]])
        said = mg.explain(y, x)
    assert said.zeros == 0
    assert sum(math.isnan(path.product) for path in said.shown) == 3


@given(programs)
def test_the_paths_of_product_0_are_counted(choices: list[tuple[int, int, int]]) -> None:
    record = mg.trace(program(choices)[-1])
    for node in record.nodes:
        if node.role != "leaf" or count_paths(record, node.id) > 500:
            continue
        products = [path.product for path in largest_paths(record, node.id, 500)]
        assert count_zeros(record, node.id) == products.count(0.0)

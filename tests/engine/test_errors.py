"""Errors say what happened, with the learner's numbers and line, and what to do instead."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import (
    ArgumentTypeError,
    DefinitionError,
    DetachedWarning,
    GraphCycleError,
    MinigradError,
    OperationError,
    RenamedError,
    UnknownOperationError,
)  # fmt: skip
from minigrad.graph import Node
from minigrad.ops import OPS, find

HERE = re.escape(__file__.replace("\\", "/").rsplit("/", 1)[-1])


@pytest.fixture(autouse=True)
def _the_table_stays_as_it_is() -> Iterator[None]:
    rows = dict(OPS)
    yield
    OPS.clear()
    OPS.update(rows)


@pytest.fixture
def sources_on() -> Iterator[None]:
    before = mg.options.sources
    mg.options.sources = True
    yield
    mg.options.sources = before


# ---- a row that contradicts itself ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("forward", "partials", "says"),
    [
        (lambda m, x, y: x * y, [1.0], r"2 inputs.*x, y.*1 partial"),
        (lambda m, x: x, [1.0, 1.0], r"1 input.*2 partials"),
        (lambda m, x: x, [], "partial"),
        (lambda m, x: x, [lambda x: 1.0], r"partial 0.*\(x\).*\(out, x\)"),
        (lambda m, x: x, [lambda out, x, y: 1.0], r"partial 0.*\(out, x, y\)"),
        (lambda m, x, y: x, [1.0, lambda out: 1.0], "partial 1"),
        (lambda m, x: x, ["2 * x"], r"partial 0.*'2 \* x'"),
        (lambda m: 1.0, [], "at least one input"),
        (lambda: 1.0, [], "at least one input|forward"),
        ("x * x", [1.0], r"forward.*'x \* x'"),
        (None, [1.0], "forward"),
    ],
)
def test_a_row_that_does_not_fit_together_is_refused_with_its_name(
    forward: Any, partials: Any, says: str
) -> None:
    with pytest.raises(DefinitionError, match=says) as error:
        mg.operation("my_row", forward, partials)
    assert "'my_row'" in str(error.value)
    assert isinstance(error.value, ValueError)
    assert "my_row" not in OPS


@pytest.mark.parametrize("name", ["", "two words", "1st", None, 3, "a-b"])
def test_a_name_that_is_no_word_is_refused(name: Any) -> None:
    with pytest.raises(DefinitionError, match=re.escape(repr(name))):
        mg.operation(name, lambda m, x: x, [1.0])


def test_a_name_of_the_table_is_not_given_again() -> None:
    for taken in ("tanh", "add"):
        row = OPS[taken]
        with pytest.raises(DefinitionError, match=f"'{taken}'"):
            mg.operation(taken, lambda m, x: x, [1.0])
        assert OPS[taken] is row


def test_a_row_of_ones_own_can_be_corrected() -> None:
    """A notebook cell may run again; a try that fails leaves the earlier row in place."""
    mg.operation("my_row", lambda m, x: x, [1.0])
    x = Value(3.0)
    early = OPS["my_row"]
    with pytest.raises(DefinitionError, match="'my_row'"):
        mg.operation("my_row", lambda m, x: 2.0 * x, [])
    assert OPS["my_row"] is early
    mg.operation("my_row", lambda m, x: 2.0 * x, [2.0])(x).backward()
    assert x.grad == 2.0


def test_edges_for_an_input_that_does_not_exist_are_refused() -> None:
    edges = {1: [(lambda x: mg.equal(x, 0.0), 0.0)]}
    with pytest.raises(DefinitionError, match="'my_row'"):
        mg.operation("my_row", lambda m, x: x, [1.0], edges=edges)


def test_an_unknown_part_of_a_row_is_refused() -> None:
    with pytest.raises(TypeError, match="domian"):
        mg.operation("my_row", lambda m, x: x, [1.0], domian=lambda x: x)
    assert "my_row" not in OPS


def test_a_row_of_a_learner_works_like_ours() -> None:
    cube = mg.operation(
        "cube", lambda m, x, *, scale=1.0: scale * x * x * x,
        [lambda out, x, *, scale: 3.0 * scale * x * x], sentence="The cube.",
    )  # fmt: skip
    x = Value(2.0)
    cube(x, scale=5.0).backward(create_graph=True)
    slope = x.grad
    assert (cube(2.0), cube(x).op.name, slope.data) == (8.0, "cube", 60.0)
    x.zero_grad()
    slope.backward()
    assert x.grad == 60.0
    assert (cube.__name__, find("cube").sentence) == ("cube", "The cube.")
    assert not hasattr(x, "cube")


@pytest.mark.parametrize("kind", ["int", "bool", "fraction", "numpy"])
def test_a_row_of_a_learner_may_compute_with_any_number(kind: str) -> None:
    """Values and gradients are floats all the same."""
    if kind == "numpy":
        number = pytest.importorskip("numpy").float64
    else:
        number = {"int": int, "bool": bool, "fraction": Fraction}[kind]
    row = mg.operation("my_row", lambda m, x: number(1), [lambda out, x: number(1)])
    x = Value(2.0)
    h = row(x)
    (h * 3.0 + row(2.0) * x).backward()
    assert (type(h.data), h.data, type(row(2.0))) == (float, 1.0, float)
    assert (type(x.grad), x.grad, type(h.grad)) == (float, 4.0, float)


def test_an_unknown_row_names_similar_ones() -> None:
    with pytest.raises(UnknownOperationError, match=r"'sigmoidal'.*sigmoid") as error:
        find("sigmoidal")
    assert isinstance(error.value, LookupError)


# ---- an exception inside a learner's rule --------------------------------------------------------


class Mistake(Exception):
    """What the learner's own code raises."""


def _mistaken(out: Any, x: Any, y: Any) -> Any:
    raise Mistake("I divided by my zero")


@pytest.mark.parametrize("create_graph", [False, True])
def test_an_exception_in_a_rule_names_operation_numbers_and_line(
    create_graph: bool, sources_on: None
) -> None:
    risky = mg.operation("risky", lambda m, x, y: x * y, [_mistaken, 1.0])
    x, w = Value(2.5), Value(-4.0)
    x.grad, w.grad = 7.0, 8.0
    node = risky(x, w)
    line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    y = node * 3.0 + w
    with pytest.raises(OperationError, match=rf"risky\(.*{HERE}:{line}\b") as error:
        y.backward(create_graph=create_graph)
    for part in ("2.5", "-4.0", "Mistake", "I divided by my zero"):
        assert part in str(error.value)
    assert isinstance(error.value.__cause__, Mistake)
    assert error.value.__cause__.__traceback__.tb_next is not None  # type: ignore[union-attr]
    assert (x.grad, w.grad, node.grad, y.grad) == (7.0, 8.0, None, None)
    assert str(__file__) not in str(error.value), "file names only, no paths"


def test_without_sources_the_operation_and_its_numbers_are_named() -> None:
    risky = mg.operation("risky", lambda m, x, y: x * y, [_mistaken, 1.0])
    with pytest.raises(OperationError, match=r"risky\(x=2\.5, y=-4\.0\)"):
        risky(Value(2.5), -4.0).backward()


@pytest.mark.parametrize("wrong", ["text", None, [1.0], 1j])
def test_a_rule_that_gives_no_number_is_an_error_that_names_it(wrong: Any) -> None:
    risky = mg.operation("risky", lambda m, x: 2.0 * x, [lambda out, x: wrong])
    x = Value(1.0)
    with pytest.raises(MinigradError, match="risky"):
        (risky(x) * 2.0).backward()
    assert x.grad is None


def test_a_forward_that_gives_no_number_is_an_error_that_names_it() -> None:
    risky = mg.operation("risky", lambda m, x: "text", [1.0])
    with pytest.raises((MinigradError, TypeError), match="risky"):
        risky(Value(1.0))


def test_keyboard_interrupts_are_not_wrapped_and_leave_the_engine_usable() -> None:
    def interrupted(out: Any, x: Any) -> Any:
        raise KeyboardInterrupt

    risky = mg.operation("risky", lambda m, x: 2.0 * x, [interrupted])
    x = Value(1.0)
    with pytest.raises(KeyboardInterrupt):
        (risky(x) + x).backward()
    assert x.grad is None
    (x * 3.0).backward()
    assert x.grad == 3.0


# ---- a cycle -------------------------------------------------------------------------------------


def test_a_graph_cycle_names_the_nodes() -> None:
    x = Value(2.0, name="w")
    h = x * 3.0
    h.name = "h"
    y = mg.exp(h)
    slot = next(name for name in Node.__slots__ if getattr(h, name, None) is x)
    setattr(h, slot, y)
    with pytest.raises(GraphCycleError, match="name='h'"):
        y.backward()
    setattr(h, slot, h)
    with pytest.raises(GraphCycleError, match="name='h'"):
        y.backward()
    setattr(h, slot, x)
    y.backward()
    assert x.grad == pytest.approx(3.0 * y.data)


# ---- wrong calls ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda x: Value(2.0, label="a"), r"label.*name="),
        (lambda x: Value(2.0, _children=()), "_children is recorded by the operation"),
        (lambda x: Value(2.0, requires_grad=True), "requires_grad is true of every leaf"),
        (lambda x: Value(2.0, name=3), "name"),
        (lambda x: mg.leaky_relu(x, slope=0.1), r"slope.*leaky_relu\(x, negative_slope=0\.01\)"),
        (lambda x: mg.leaky_relu(x, 0.1, 0.2), r"leaky_relu\(x, negative_slope=0\.01\)"),
        (lambda x: mg.elu(), r"elu\(x, alpha=1\.0\)"),
        (lambda x: mg.clip(x, 0.0), r"clip\(x, low, high\)"),
        (lambda x: mg.clip(x, min=0.0, max=1.0), r"clip\(x, low, high\)"),
        (lambda x: mg.sin(x, x), "sin"),
        (lambda x: mg.sin(), "sin"),
        (lambda x: mg.sin(angle=x), "sin"),
        (lambda x: mg.maximum(x), "maximum"),
        (lambda x: mg.sum(x), r"sum.*\[a, b, c\]"),
        (lambda x: mg.sum(x, x), r"sum\(\[a, b, c\]\)"),
        (lambda x: mg.sum(3), r"\[a, b, c\], not an int"),
        (lambda x: mg.dot(x, x), r"dot.*\["),
        (lambda x: mg.dot([x], "a"), "float"),
        (lambda x: mg.sum("ab"), "float"),
        (lambda x: mg.scope(3), "scope"),
        (lambda x: mg.topological_order(3), "topological_order.*nodes.*int"),
        (lambda x: mg.topological_order([x]), r"topological_order\(y1, y2\).*list"),
        (lambda x: mg.no_grad(x), r"no_grad\(\)"),
        (lambda x: x.backward(retain_graph=True), "retain_graph"),
        (lambda x: x @ x, "dot"),
        (lambda x: x @ 2.0, "dot"),
        (lambda x: 2.0 @ x, "dot"),
    ],
)
def test_wrong_calls_name_what_is_right(call: Callable[[Value], Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        call(Value(2.0))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (float, r"float\(v\), or a function of math,.*v\.data .*mg\.sin\(v\) for math\.sin"),
        (math.sin, r"float\(v\), or a function of math,.*v\.data .*mg\.sin\(v\) for math\.sin"),
        (int, r"^int\(v\).* int\(v\.data\)"),
        (round, r"^round\(v\).* round\(v\.data\) .*mg\.round\(v\)"),
        (lambda v: round(v, 1), r"^round\(v, 1\).* round\(v\.data, 1\)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["scalar", "array"])
def test_a_node_that_becomes_a_number_hears_what_to_write_for_that_call(
    kind: str, call: Any, says: str
) -> None:
    v = Value(2.5) * 3.0
    if kind == "array":
        v = pytest.importorskip("minigrad.tensor").Tensor(2.5) * 3.0
        says = says.replace(r"v\.data", r"x\.item\(\)").replace(r"\(v", r"\(x")
    with pytest.warns(DetachedWarning, match=says):
        assert call(v) == call(7.5)


def test_dot_of_different_lengths() -> None:
    with pytest.raises(ValueError, match=r"2 and 1"):
        mg.dot([Value(1.0), 2.0], [3.0])
    assert mg.dot([], []) == 0.0
    assert mg.sum([]) == 0.0
    assert mg.sum(x for x in (Value(1.0), 2)).data == 3.0


@pytest.mark.parametrize("setting", ["0.1", None, Value(0.1), [0.1]])
def test_a_setting_is_a_number(setting: Any) -> None:
    """A node there would silently get no gradient."""
    with pytest.raises(TypeError, match=r"leaky_relu|negative_slope"):
        mg.leaky_relu(Value(-1.0), negative_slope=setting)


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises(AttributeError):
        mg.options.source = True  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="True or False"):
        mg.options.sources = 1  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        Value(1.0).gradient = 3.0  # type: ignore[attr-defined]


def test_operations_cannot_be_changed_through_a_node() -> None:
    y = Value(2.0) * 3.0
    for name, new in (("op", None), ("inputs", ()), ("local_derivatives", None)):
        with pytest.raises(AttributeError):
            setattr(y, name, new)


# ---- coming from micrograd -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("requires_grad", "every leaf"),
        ("_prev", "inputs"),
        ("_op", r"\.op"),
        ("_backward", "local_derivatives"),
        ("label", "name"),
    ],
)
def test_names_of_micrograd_say_ours(theirs: str, ours: str) -> None:
    for node in (Value(2.0), Value(2.0) * 3.0):
        with pytest.raises(RenamedError, match=ours) as error:
            getattr(node, theirs)
        assert theirs in str(error.value)
        assert isinstance(error.value, AttributeError)
        assert not hasattr(node, theirs)
    with pytest.raises(AttributeError, match="name" if theirs == "label" else None):
        Value(2.0).label = "a"  # type: ignore[attr-defined]


def test_an_error_of_ours_is_also_the_class_that_people_catch() -> None:
    with pytest.raises(ArgumentTypeError) as error:
        Value("2")
    assert isinstance(error.value, TypeError)
    assert isinstance(error.value, MinigradError)

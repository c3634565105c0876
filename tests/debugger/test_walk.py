"""The walk as text says what the trace says."""

from __future__ import annotations

import minigrad as mg
from minigrad import Value
from minigrad.debugger import walk
from minigrad.formatting import short


def test_each_edge_is_a_line_with_upstream_local_contribution_and_total() -> None:
    x = Value(3.0, name="x")
    y = x * x + 1.0
    y.name = "y"
    lines = list(walk(mg.trace(y)))
    first = next(line.split() for line in lines if "→ x" in line)
    assert first[3:8] == ["1", "×", "3", "=", "3"]
    assert any("3 → 6" in line and "(2 of 2)" in line for line in lines)
    assert any("(constant)" in line for line in lines)
    assert lines[-1] == "  ∂y/∂x = 6"


def test_a_convention_is_noted_where_it_applied() -> None:
    x = Value(0.0, name="x")
    assert any("kink" in line for line in walk(mg.trace(mg.relu(x))))


def test_a_rule_that_raises_ends_the_walk_with_its_message() -> None:
    bad = mg.operation("bad_in_walk", lambda m, x: x, [lambda out, x: {}["no"]])
    lines = list(walk(mg.trace(bad(Value(1.0, name="x")))))
    assert any("stopped at" in line and "bad_in_walk" in line for line in lines)


def test_the_neuron_of_the_readme_fits_a_terminal() -> None:
    x1, x2 = Value(2.0, name="x1"), Value(0.0, name="x2")
    w1, w2 = Value(-3.0, name="w1"), Value(1.0, name="w2")
    b = Value(6.8813735870195432, name="b")
    lines = list(walk(mg.trace(mg.tanh(x1 * w1 + x2 * w2 + b))))
    assert max(map(len, lines)) <= 80
    assert any(line.endswith("1 - tanh(v8) ** 2") for line in lines)  # nothing is left out


def test_numbers_are_never_cut_however_long_the_names() -> None:
    x = Value(1.23456, name="a_very_long_name_of_an_input")
    y = mg.exp(mg.sin(x) * 2.0 + mg.cos(x) / 3.0) ** 2.5
    lines = list(walk(mg.trace(y)))
    edges = [line for line in lines if " × " in line and "upstream" not in line]
    assert len(edges) == len([edge for edge in mg.trace(y).edges if not edge.reason])
    for edge, line in zip((e for e in mg.trace(y).edges if not e.reason), edges, strict=True):
        assert f" = {short(edge.contribution)} " in line
        assert f" → {short(edge.after)} " in line
    columns = [line.index("(1 of") for line in edges if "(1 of" in line]
    assert len(set(columns)) == 1

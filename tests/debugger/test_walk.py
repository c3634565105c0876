"""The walk as text says what the trace says."""

from __future__ import annotations

import minigrad as mg
from minigrad import Value
from minigrad.debugger import walk


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

"""Random programs: the gradient is right, whichever way it is computed.

A program is a list of instructions on the numbers made so far, so that numbers are used many
times and by different consumers. ``run`` executes one on floats or on nodes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import minigrad as mg
from minigrad import Value, value
from tests.engine.closed_forms import difference


class Program(NamedTuple):
    """Instructions (name, places of its arguments, a constant) on a list of numbers: the leaves."""

    leaves: tuple[float, ...]
    steps: tuple[tuple[str, tuple[int, ...], float], ...]

    def run(self, leaves: Sequence[Any]) -> list[Any]:
        made = list(leaves)
        for name, places, constant in self.steps:
            made.append(INSTRUCTIONS[name](constant, *(made[i % len(made)] for i in places)))
        return made


SMOOTH = {
    "add": lambda c, x, y, z: x + y,
    "sub": lambda c, x, y, z: x - y,
    "mul": lambda c, x, y, z: x * y,
    "div": lambda c, x, y, z: x / (y * y + 1.0),
    "square": lambda c, x, y, z: x * x,
    "double": lambda c, x, y, z: x + x,
    "constant on the left": lambda c, x, y, z: c - x,
    "constant on the right": lambda c, x, y, z: x * c,
    "constant dividend": lambda c, x, y, z: c / (mg.exp(mg.tanh(x)) + 1.0),
    "pow of a constant": lambda c, x, y, z: mg.cosh(mg.sin(x)) ** c,
    "pow": lambda c, x, y, z: (mg.sigmoid(x) + 0.5) ** mg.tanh(y),
    "constant to the power": lambda c, x, y, z: (abs(c) + 0.5) ** mg.sin(x),
    "neg": lambda c, x, y, z: -x,
    "tanh": lambda c, x, y, z: mg.tanh(x),
    "sin": lambda c, x, y, z: mg.sin(x),
    "softplus": lambda c, x, y, z: mg.softplus(x),
    "logaddexp": lambda c, x, y, z: mg.logaddexp(x, y),
    "hypot": lambda c, x, y, z: mg.hypot(x, 1.5),
    "dot": lambda c, x, y, z: mg.dot([x, c, y], [y, z, z]),
    "sum": lambda c, x, y, z: mg.sum([x, y, c, x, z]),
    "where with a fixed condition": lambda c, x, y, z: mg.where(c > 0.0, x * y, z),
    "where with a branch that is not finite": lambda c, x, y, z: mg.where(
        c > 0.0, x, mg.log(x * 0.0) + mg.sqrt(-1.0 - x * x) * y
    ) if c > 0.0 else mg.where(c > 0.0, y * mg.reciprocal(x * 0.0), mg.sin(x)),
}  # fmt: skip

KINKED = {
    "relu": lambda c, x, y, z: mg.relu(x),
    "leaky_relu": lambda c, x, y, z: mg.leaky_relu(x, 0.25),
    "abs": lambda c, x, y, z: abs(x),
    "maximum": lambda c, x, y, z: mg.maximum(x, y),
    "minimum": lambda c, x, y, z: mg.minimum(x, c),
    "clip": lambda c, x, y, z: mg.clip(x, y - 1.0, z + 1.0),
    "where": lambda c, x, y, z: mg.where(x > c, y, z),
    "where on the graph": lambda c, x, y, z: mg.where(mg.less(x, y), z * x, y),
    "floor": lambda c, x, y, z: mg.floor(x) * y,
    "only steps": lambda c, x, y, z: mg.round(x) + mg.less(y, z),
    "floordiv": lambda c, x, y, z: x // (y * y + 1.0),
    "mod": lambda c, x, y, z: x % (y * y + 1.0),
    "atan2": lambda c, x, y, z: mg.atan2(x, y),
    "times zero": lambda c, x, y, z: x * 0.0,
    "minus zero": lambda c, x, y, z: -0.0 * x,
}

INSTRUCTIONS: dict[str, Any] = SMOOTH | KINKED

numbers = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.0, -3.0]),
    st.floats(-3.0, 3.0).map(lambda x: round(x, 3)),
)


def programs(instructions: dict[str, Any], size: int) -> st.SearchStrategy[Program]:
    step = st.tuples(
        st.sampled_from(sorted(instructions)), st.tuples(*[st.integers(0, 40)] * 3), numbers
    )
    leaves = st.lists(numbers, min_size=1, max_size=3).map(tuple)
    return st.builds(Program, leaves, st.lists(step, min_size=1, max_size=size).map(tuple))


def quietly(program: Program, leaves: Sequence[Any]) -> list[Any]:
    with mg.errstate("ignore"):
        return program.run(leaves)


def tame(program: Program, bound: float = 30.0) -> bool:
    """Small numbers only, so that central differences mean something."""
    made = quietly(program, program.leaves)
    return all(abs(x) < bound for x in made)


def output(program: Program, leaves: Sequence[float]) -> float:
    return float(quietly(program, leaves)[-1])


def nodes_of(program: Program) -> tuple[list[Value], Value]:
    leaves = [Value(x) for x in program.leaves]
    out = quietly(program, leaves)[-1]
    assume(isinstance(out, Value))
    return leaves, out


def bits(x: Any) -> bytes | None:
    """Every bit of a gradient: −0.0 is not 0.0. One nan is as good as another."""
    x = x.data if isinstance(x, Value) else x
    return None if x is None else b"nan" if x != x else struct.pack("<d", x)


def gradients(leaves: Sequence[Value]) -> list[float]:
    return [x.grad or 0.0 for x in leaves]


# ---- against mathematics ------------------------------------------------------------------------


@given(programs(SMOOTH, 10))
def test_backward_agrees_with_central_differences(program: Program) -> None:
    assume(tame(program))
    leaves, out = nodes_of(program)
    assert out.data == output(program, program.leaves), "nodes compute what floats compute"
    out.backward()
    for i, gradient in enumerate(gradients(leaves)):
        fine, coarse = (
            difference(lambda *xs: output(program, xs), program.leaves, i, h) for h in (1e-3, 3e-3)
        )
        doubt = 10.0 * abs(fine - coarse) + 1e-7 * (1.0 + abs(fine) + abs(out.data))
        assume(doubt < 1e-2 * (1.0 + abs(fine)))
        assert gradient == pytest.approx(fine, abs=doubt)


def paths_sum(node: Value, leaf: Value, budget: list[int]) -> float:
    """Σ over all paths from ``node`` to ``leaf`` of the product of the local derivatives."""
    budget[0] -= 1
    assume(budget[0] > 0)
    if node is leaf:
        return 1.0
    local = node.local_derivatives
    total = 0.0
    for i, source in enumerate(node.inputs):
        below = paths_sum(source, leaf, budget)
        total += local(i) * below if below else 0.0
    return total


@given(programs({k: f for k, f in INSTRUCTIONS.items() if "not finite" not in k}, 7))
def test_the_gradient_is_the_sum_over_all_paths(program: Program) -> None:
    assume(tame(program))
    leaves, out = nodes_of(program)
    budget = [20_000]
    expected = [paths_sum(out, leaf, budget) for leaf in leaves]
    out.backward()
    scale = max([1.0, *map(abs, expected)])
    assert gradients(leaves) == pytest.approx(expected, rel=1e-9, abs=1e-9 * scale)


@given(programs(SMOOTH, 6))
@settings(max_examples=60)
def test_second_derivatives_are_those_of_the_gradient(program: Program) -> None:
    assume(tame(program, 10.0))

    def gradient(i: int, xs: Sequence[float]) -> float:
        leaves, out = nodes_of(program._replace(leaves=tuple(xs)))
        out.backward()
        return gradients(leaves)[i]

    size = len(program.leaves)
    hessian = []
    for i in range(size):
        leaves, out = nodes_of(program)
        out.backward(create_graph=True)
        slope = leaves[i].grad
        for leaf in leaves:
            leaf.zero_grad()
        if slope is not None:
            slope.backward()
        hessian.append(gradients(leaves))
    for i in range(size):
        for j in range(size):
            fine, coarse = (
                difference(lambda *xs, i=i: gradient(i, xs), program.leaves, j, h)  # type: ignore[misc]
                for h in (1e-3, 3e-3)
            )
            doubt = 10.0 * abs(fine - coarse) + 1e-6 * (1.0 + abs(fine))
            assume(doubt < 1e-2 * (1.0 + abs(fine)))
            assert hessian[i][j] == pytest.approx(fine, abs=doubt)
            assert hessian[i][j] == pytest.approx(hessian[j][i], rel=1e-9, abs=1e-9)


@given(st.floats(-1.5, 1.5), st.integers(1, 4))
def test_nested_passes_give_derivatives_of_any_order(at: float, order: int) -> None:
    """(x⁴)⁽ⁿ⁾ and sin⁽ⁿ⁾ by n passes, each over the pass before."""
    for function, expected in (
        (lambda x: x**4, [4 * at**3, 12 * at**2, 24 * at, 24.0]),
        (mg.sin, [mg.cos(at), -mg.sin(at), -mg.cos(at), mg.sin(at)]),
        (lambda x: x * mg.exp(-x), [(-1) ** (n + 1) * (n - at) * mg.exp(-at) for n in range(1, 5)]),
    ):
        x = Value(at)
        y = function(x)
        for _ in range(order):
            x.zero_grad()
            y.backward(create_graph=True)
            y = x.grad
        assert y.data == pytest.approx(expected[order - 1], rel=1e-9, abs=1e-12)


# ---- all ways of running a pass agree to the last bit --------------------------------------------


def all_gradients(out: Value, fast: bool, create_graph: bool = False) -> list[Any]:
    """The gradients of every node, by the fused pass or by the readable sweep."""
    order = mg.topological_order(out)
    for node in order:
        node.zero_grad()
    with mg.errstate("ignore"):
        if fast:
            finite = value.fast.backward(out, 1.0)
            assume(finite)
        elif create_graph:
            out.backward(create_graph=True)
        else:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(value.fast, "backward", lambda *_: False)
                out.backward()
    found = [bits(node.grad) for node in order]
    for node in order:
        node.zero_grad()
    return found


@given(programs(INSTRUCTIONS, 14))
@settings(max_examples=300)
def test_the_fused_pass_is_the_readable_sweep_to_the_bit(program: Program) -> None:
    _, out = nodes_of(program)
    readable = all_gradients(out, fast=False)
    assert all_gradients(out, fast=True) == readable


@given(programs(INSTRUCTIONS, 14))
@settings(max_examples=200)
def test_backward_is_the_readable_sweep_also_where_it_is_not_finite(program: Program) -> None:
    _, out = nodes_of(program)
    readable = all_gradients(out, fast=False)
    with mg.errstate("ignore"):
        out.backward()
    assert [bits(node.grad) for node in mg.topological_order(out)] == readable


@given(programs(INSTRUCTIONS, 12))
@settings(max_examples=200)
def test_a_differentiable_pass_gives_the_same_bits(program: Program) -> None:
    _, out = nodes_of(program)
    plain = all_gradients(out, fast=False)
    assert all_gradients(out, fast=False, create_graph=True) == plain


@given(programs(INSTRUCTIONS, 12))
def test_the_topological_order_is_one(program: Program) -> None:
    leaves, out = nodes_of(program)
    order = mg.topological_order(out)
    place = {node: i for i, node in enumerate(order)}
    assert len(place) == len(order), "each node once"
    assert order[-1] is out
    for node in order:
        for source in node.inputs:
            assert source not in place or place[source] < place[node]
    assert set(order) <= {*leaves} | {node for node in order if node.op is not None}
    for one, other in pairwise(sorted(place.values())):
        assert other == one + 1


@given(programs(INSTRUCTIONS, 10), st.floats(-4.0, 4.0))
def test_a_pass_is_linear_in_its_seed(program: Program, seed: float) -> None:
    assume(tame(program, 100.0))
    leaves, out = nodes_of(program)
    with mg.errstate("ignore"):
        out.backward()
        once = gradients(leaves)
        for leaf in leaves:
            leaf.zero_grad()
        out.backward(seed)
    assume(all(abs(x) < 1e9 for x in once))
    assert gradients(leaves) == pytest.approx([seed * x for x in once], rel=1e-9, abs=1e-9)

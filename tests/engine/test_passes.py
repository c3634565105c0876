"""Section 4 of the design, rows on passes: `.grad`, depth, order, copies, what is left.

The tests stand in the order of that table and are named after its rows.
"""

from __future__ import annotations

import bdb
import copy
import gc
import math
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import (
    GradientError,
    MinigradError,
    NumericalError,
    OperationError,
    StaleError,
)  # fmt: skip
from minigrad.ops import OPS


@pytest.fixture
def broken() -> Iterator[Callable[[Any], Any]]:
    """An operation of a learner whose derivative raises."""

    def slope(out: Any, x: Any) -> Any:
        raise LookupError("the learner's mistake")

    function = mg.operation("broken_rule", lambda m, x: 1.0 * x, [slope])
    yield function
    del mg.ops.OPS["broken_rule"]  # type: ignore[attr-defined]


def chain(length: int) -> tuple[Value, Value]:
    """A leaf and the end of ``length`` additions of 1.0."""
    x = y = Value(1.0)
    for _ in range(length):
        y = y + 1.0
    return x, y


# ---- backward() twice ---------------------------------------------------------------------------


def test_backward_twice_leaves_accumulate_and_inner_nodes_hold_the_last_pass() -> None:
    a, b, d = Value(3.0), Value(2.0), Value(1.0)
    inner = a + b
    e = inner * d
    for times in (1.0, 2.0, 3.0):
        e.backward()
        assert (a.grad, b.grad, d.grad) == (times, times, times * 5.0)
        assert (inner.grad, e.grad) == (1.0, 1.0)


def test_two_outputs_share_leaves_and_inner_nodes() -> None:
    x = Value(3.0)
    h = x * x
    y, z = 2.0 * h, h * h
    y.backward()
    z.backward()
    assert h.grad == 18.0, "of the last pass"
    assert x.grad == 2.0 * 6.0 + 18.0 * 6.0


def test_an_exception_leaves_every_grad_as_it_was(broken: Callable[[Any], Any]) -> None:
    x, w = Value(2.0), Value(3.0)
    h = x * w
    h.backward()
    before = (x.grad, w.grad, h.grad)
    y = broken(h) * w + x
    with pytest.raises(MinigradError):
        y.backward()
    assert (x.grad, w.grad, h.grad, y.grad) == (*before, None)
    with pytest.raises(MinigradError):
        y.backward(create_graph=True)
    assert (x.grad, w.grad, h.grad, y.grad) == (*before, None)
    h.backward()  # and the next pass is sound
    assert (x.grad, w.grad, h.grad) == (6.0, 4.0, 1.0)


def test_numerical_error_in_backward_leaves_every_grad_as_it_was() -> None:
    x, w = Value(0.0), Value(3.0)
    y = mg.sqrt(x) + w
    with mg.errstate("raise"), pytest.raises(NumericalError, match=r"sqrt\(x=0\.0\)"):
        y.backward()
    assert (x.grad, w.grad, y.grad) == (None, None, None)


def test_the_seed_scales_the_pass() -> None:
    x = Value(3.0)
    (x * x).backward(seed=Fraction(1, 2))
    assert x.grad == 3.0
    with pytest.raises(TypeError, match="seed"):
        (x * x).backward(seed="1")  # type: ignore[arg-type]
    assert x.grad == 3.0
    leaf = Value(1.0)
    leaf.backward()
    leaf.backward(2.0)
    assert leaf.grad == 3.0


def test_a_node_can_be_the_seed_of_a_differentiable_pass() -> None:
    x, v = Value(3.0), Value(5.0)
    (x * x).backward(seed=v, create_graph=True)
    gradient = x.grad
    assert gradient.data == 30.0
    x.zero_grad()
    gradient.backward()
    assert (v.grad, x.grad) == (6.0, 10.0)


# ---- .grad --------------------------------------------------------------------------------------


def test_grad_is_none_before_any_pass_and_shown_as_a_dot() -> None:
    x = Value(2.0, name="x")
    assert x.grad is None
    assert repr(x) == "Value(2.0, name='x', grad=·)"
    assert repr(Value(2.0)) == "Value(2.0, grad=·)"
    (x * 3.0).backward()
    assert type(x.grad) is float
    assert repr(x) == "Value(2.0, name='x', grad=3.0)"
    x.zero_grad()
    assert x.grad is None


def test_grad_is_a_node_only_after_create_graph() -> None:
    x = Value(3.0)
    (x * x).backward(create_graph=True)
    assert isinstance(x.grad, Value)
    assert x.grad.data == 6.0
    assert repr(x) == "Value(3.0, grad=6.0)"


def test_a_plain_pass_on_top_of_a_node_gradient_raises_and_says_zero_grad() -> None:
    x, w = Value(3.0, name="x"), Value(1.0)
    (x * x).backward(create_graph=True)
    node = x.grad
    with pytest.raises(GradientError, match="zero_grad"):
        (x * w).backward()
    assert x.grad is node
    assert w.grad is None, "nothing of the pass was published"
    x.zero_grad()
    (x * w).backward()
    assert x.grad == 1.0


def test_two_create_graph_passes_accumulate_as_nodes() -> None:
    x = Value(3.0)
    (x * x).backward()
    (x * x).backward(create_graph=True)
    (x * x).backward(create_graph=True)
    assert x.grad.data == 18.0
    gradient = x.grad
    x.zero_grad()
    gradient.backward()
    assert x.grad == 4.0


def test_the_setter_of_grad_takes_none_and_numbers() -> None:
    x = Value(2.0)
    for given, kept in ((0.0, 0.0), (3, 3.0), (Fraction(1, 2), 0.5), (True, 1.0), (None, None)):
        x.grad = given
        assert x.grad == kept
        assert x.grad is None or type(x.grad) is float
    for refused in ("1", 1j, [1.0], object()):
        with pytest.raises(TypeError, match="grad"):
            x.grad = refused
    x.grad = 0
    (x * x).backward()
    assert x.grad == 4.0


# ---- depth --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_chain() -> Iterator[list[Value]]:
    ends = [*chain(1_000_000)]
    yield ends
    ends.clear()  # the deletion of a million nodes in a row


def test_depth_of_a_million_backward_and_repr(long_chain: list[Value]) -> None:
    limit = sys.getrecursionlimit()
    x, y = long_chain
    assert y.data == 1_000_001.0
    y.backward()
    assert x.grad == 1.0
    assert repr(y) == "Value(1000001.0, grad=1.0)"
    assert sys.getrecursionlimit() == limit


def test_depth_of_a_million_deletion_without_the_garbage_collector() -> None:
    x, y = chain(1_000_000)
    inner = weakref.ref(y.inputs[0])
    with mg.pause_gc():
        del y
        assert inner() is None
    assert x.data == 1.0


def test_depth_deepcopy() -> None:
    _, y = chain(200_000)
    twin = copy.deepcopy(y)
    twin.backward()
    leaf = mg.topological_order(twin)[0]
    assert (leaf.grad, leaf.data, leaf.op) == (1.0, 1.0, None)
    assert mg.topological_order(y)[0].grad is None


def test_depth_of_second_order() -> None:
    x, y = chain(20_000)
    (y * y).backward(create_graph=True)
    gradient = x.grad
    x.zero_grad()
    gradient.backward()
    assert x.grad == 2.0


def test_visits_are_linear_in_nodes_and_edges() -> None:
    """2^60 paths lead from y to x; a walk per path would not come back."""
    x = y = Value(1.0)
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad == 2.0**60
    assert len(mg.topological_order(y)) == 61
    assert len(mg.topological_order(copy.deepcopy(y))) == 61
    x.zero_grad()
    y.backward(create_graph=True)
    assert x.grad.data == 2.0**60


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_dot_of_many_inputs_is_linear(
    create_graph: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is asked once for all its slopes: no clock is needed to see that."""
    asked = []
    kind = type(OPS["dot"])
    slopes = kind.local_derivatives
    monkeypatch.setattr(
        kind, "local_derivatives", lambda op, xs: asked.append(len(xs)) or slopes(op, xs)
    )
    ws, xs = ([Value(1.0) for _ in range(500)] for _ in range(2))
    mg.dot(ws, xs).backward(create_graph=create_graph)
    assert asked == [1000]


# ---- changed .data ------------------------------------------------------------------------------


def test_a_recorded_graph_keeps_its_numbers() -> None:
    x, w = Value(2.0), Value(5.0)
    s = mg.exp(x * w)
    y = s * w
    before = s.data
    x.data, w.data, s.data = 100.0, 100.0, 0.0
    y.backward()
    assert x.grad == 5.0 * before * 5.0
    assert w.grad == before + 5.0 * before * 2.0
    assert y.local_derivatives(1) == before


@pytest.mark.parametrize("stale", ["x", "h"])
def test_create_graph_over_a_stale_node_raises_and_names_it(stale: str) -> None:
    x = Value(2.0, name="x")
    h = x * 1.0
    h.name = "h"
    y = h * h
    {"x": x, "h": h}[stale].data = 7.0
    with pytest.raises(StaleError, match=f"name='{stale}'"):
        y.backward(create_graph=True)
    assert (x.grad, h.grad, y.grad) == (None, None, None)
    y.backward()
    assert x.grad == 4.0


def test_training_step_of_micrograd_style() -> None:
    p = Value(1.0)
    for _ in range(3):
        p.grad = 0.0
        (p * p).backward()
        p.data -= 0.25 * p.grad
    assert p.data == 0.125
    assert p.op is None


# ---- += on a node -------------------------------------------------------------------------------


def test_augmented_assignment_makes_a_new_node() -> None:
    x = y = Value(3.0)
    y += 1.0
    y *= x
    y -= x
    y /= 2.0
    y **= 2.0
    assert x.op is None
    assert x.data == 3.0
    y.backward()
    u = (3.0 * 4.0 - 3.0) / 2.0
    assert (y.data, x.grad) == (u * u, 2.0 * u * (2.0 * 3.0 + 1.0 - 1.0) / 2.0)


# ---- copy ---------------------------------------------------------------------------------------


def test_deepcopy_is_a_graph_of_its_own() -> None:
    a = Value(2.0, name="a")
    y = mg.clip(a * a, 0.0, 9.0) + 1.0
    y.backward()
    y2, a2 = copy.deepcopy((y, a))
    assert a2 in mg.topological_order(y2)
    assert (a2.grad, a2.name, y2.data) == (4.0, "a", 5.0)
    y2.backward()
    assert (a2.grad, a.grad) == (8.0, 4.0)
    a2.zero_grad()
    y2.backward(create_graph=True)
    gradient = a2.grad
    a2.zero_grad()
    gradient.backward()
    assert (a2.grad, a.grad) == (2.0, 4.0)


def test_deepcopy_of_a_node_gradient_leads_to_the_copies() -> None:
    x = Value(2.0)
    (x * x * x).backward(create_graph=True)
    twin = copy.deepcopy(x)
    gradient = twin.grad
    assert gradient.data == 12.0
    twin.zero_grad()
    x.zero_grad()
    gradient.backward()
    assert (twin.grad, x.grad) == (12.0, None)


def test_copy_shares_the_inputs() -> None:
    a = Value(2.0, name="a")
    y = a * a
    twin = copy.copy(y)
    assert twin is not y
    assert twin.inputs == y.inputs
    twin.backward()
    assert a.grad == 4.0
    leaf = copy.copy(a)
    assert (leaf.data, leaf.name, leaf.op) == (2.0, "a", None)
    leaf.data = 9.0
    assert a.data == 2.0


def test_pickling_a_leaf_works_and_a_node_with_history_says_detach() -> None:
    w = Value(1.5, name="w")
    y = w * 2.0
    y.backward()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(w, protocol))
        assert (type(twin), twin.data, twin.name, twin.grad) == (Value, 1.5, "w", 2.0)
        with pytest.raises(TypeError, match=r"detach\(\)"):
            pickle.dumps(y, protocol)
    twins = pickle.loads(pickle.dumps([w, w, y.detach()]))
    assert twins[0] is twins[1]
    assert twins[2].data == 3.0


def test_detach_is_a_leaf_with_the_same_number() -> None:
    x = Value(2.0)
    d = (x * x).detach()
    assert (d.data, d.op, d.inputs, d.grad) == (4.0, None, (), None)
    (d * x).backward()
    assert (x.grad, d.grad) == (4.0, 2.0)


# ---- unconnected --------------------------------------------------------------------------------


def test_an_unconnected_leaf_has_no_gradient_and_a_zero_derivative_sends_zero() -> None:
    x, unused, zero = Value(2.0), Value(3.0), Value(4.0)
    (x * x + zero * 0.0).backward()
    assert (x.grad, unused.grad, zero.grad) == (4.0, None, 0.0)
    assert repr(zero.grad) == "0.0"


# ---- order --------------------------------------------------------------------------------------


def test_contributions_are_added_in_reverse_topological_order_slots_in_order() -> None:
    """1e16 + 1 − 1e16 depends on the order; all passes must agree on one, to the bit."""
    for order in ((1e16, 1.0, -1e16, 3.0), (1.0, 1e16, 3.0, -1e16), (-1e16, 3.0, 1e16, 1.0)):
        passes = []
        for create_graph in (False, True):
            x = Value(1.0)
            a, b, c, d = (k * x for k in order)
            ((a + b) + (c + d)).backward(create_graph=create_graph)
            passes.append(x.grad.data if create_graph else x.grad)
        # inputs before node, first slot first: a b (a+b) c d (c+d); the sweep comes from the end
        expected = ((order[3] + order[2]) + order[1]) + order[0]
        assert passes == [expected, expected]


# ---- nothing is left ----------------------------------------------------------------------------


def build_and_differentiate(backward: bool) -> list[weakref.ref[Value]]:
    x, w = Value(0.5), Value(2.0)
    h = mg.tanh(x * w + x)
    y = mg.dot([h, w], [x, 1.0]) + mg.sum([h, h]) ** 2.0 + mg.where(x > 0, h, mg.log(x))
    z = mg.clip(y, 0.0, w) + mg.leaky_relu(y, 0.2)
    if backward:
        z.backward()
        assert x.grad is not None
    _ = z.inputs, z.local_derivatives(0), repr(z), mg.topological_order(z)
    return [weakref.ref(node) for node in (x, w, h, y, z)]


@pytest.mark.parametrize("backward", [False, True])
def test_nothing_is_left_after_del_with_the_garbage_collector_off(backward: bool) -> None:
    build_and_differentiate(backward)  # what is made once and kept (caches) is made now
    gc.collect()
    with mg.pause_gc():
        before = len(gc.get_objects())
        dead = build_and_differentiate(backward)
        assert all(ref() is None for ref in dead)
        del dead
        assert len(gc.get_objects()) <= before


def test_pause_gc_is_restored() -> None:
    def fail() -> None:
        assert not gc.isenabled()
        raise LookupError

    assert gc.isenabled()
    with pytest.raises(LookupError), mg.pause_gc():
        fail()
    assert gc.isenabled()


# ---- interrupts ---------------------------------------------------------------------------------


def _interrupted(run: Callable[[], None], function: str, after: int) -> bool:
    """Press Ctrl-C at a line of a function, counted over all its calls; False if it is over."""
    lines = 0

    def at_line(frame: Any, event: str, _: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        if event == "line" and lines == after:
            raise KeyboardInterrupt
        return at_line

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: at_line if frame.f_code.co_name == function else None)
    try:
        run()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize(
    ("function", "create_graph"),
    [("_fill_order", False), ("_pass_gradients", False), ("_publish", False), ("write", True)],
)
def test_a_pass_that_is_interrupted_leaves_all_as_it_was(function: str, create_graph: bool) -> None:
    for after in range(1, 200):
        a, b = Value(2.0, name="a"), Value(3.0, name="b")
        y = mg.sin(a * b) + a * b
        if not create_graph:
            a.grad = b.grad = 1.0
        before = (a.grad, b.grad, y.grad)

        def run(y: Value = y) -> None:
            y.backward(create_graph=create_graph)

        if not _interrupted(run, function, after):
            break
        # all or nothing: at the last line of `_publish` everything is written already
        assert (a.grad, b.grad, y.grad) == before or None not in (a.grad, b.grad, y.grad)
        written = y.grad is not None
        assert (a.grad != before[0]) == (b.grad != before[1]) == written
        a.zero_grad()
        b.zero_grad()
        y.backward()
        assert (a.grad, b.grad) == (3.0 * math.cos(6.0) + 3.0, 2.0 * math.cos(6.0) + 2.0)
    assert after > 5


def test_a_formula_that_raises_is_run_once() -> None:
    calls = []

    def slope(out: Any, x: Any) -> Any:
        calls.append(x)
        raise RuntimeError("no slope")

    bad = mg.operation("raises_once", lambda m, x: x * 2.0, [slope])
    try:
        y = bad(Value(1.0))
        with pytest.raises(OperationError, match=r"raises_once.*no slope"):
            y.backward()
        assert len(calls) == 1
    finally:
        OPS.pop("raises_once")


def test_the_end_of_a_session_of_pdb_is_not_turned_into_an_error() -> None:
    def slope(out: Any, x: Any) -> Any:
        raise bdb.BdbQuit

    quits = mg.operation("quits", lambda m, x: x * 2.0, [slope])
    try:
        for create_graph in (False, True):
            with pytest.raises(bdb.BdbQuit):
                quits(Value(1.0)).backward(create_graph=create_graph)
    finally:
        OPS.pop("quits")

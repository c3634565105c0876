"""Section 4 of the design, the row on modes and threads."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import pytest

import minigrad as mg
from minigrad import Value
from minigrad.errors import NumericalError

# ---- modes and threads --------------------------------------------------------------------------


def test_no_grad_as_a_context_manager() -> None:
    x = Value(3.0)
    with mg.no_grad() as _:
        assert not mg.recording_enabled()
        y = x * x + mg.sin(x) + mg.dot([x], [x]) + mg.clip(x, 0, 1)
    assert mg.recording_enabled()
    assert (y.op, y.inputs) == (None, ())
    assert (x * y).op is not None


def test_no_grad_as_a_decorator_acts_per_call() -> None:
    @mg.no_grad()
    def double(x: Value, fail: bool = False, depth: int = 0) -> Value:
        """Twice."""
        assert not mg.recording_enabled()
        if depth:
            double(x, depth=depth - 1)
            assert not mg.recording_enabled()
        if fail:
            raise LookupError
        return x * 2.0

    assert mg.recording_enabled()
    assert (double.__name__, double.__doc__) == ("double", "Twice.")
    assert double(Value(1.0), depth=3).op is None
    assert mg.recording_enabled()
    with pytest.raises(LookupError):
        double(Value(1.0), fail=True)
    assert mg.recording_enabled()


def test_no_grad_is_re_entrant_and_restored_on_exceptions() -> None:
    block = mg.no_grad()
    with pytest.raises(LookupError), block, block, mg.no_grad():
        raise LookupError
    assert mg.recording_enabled()
    with block:
        with block:
            pass
        assert not mg.recording_enabled()
    assert mg.recording_enabled()


def test_no_grad_refuses_what_would_run_outside_the_block() -> None:
    with pytest.raises(TypeError, match=r"no_grad\(\)"):
        mg.no_grad(lambda x: x)

    def generator() -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match="with no_grad"):
        mg.no_grad()(generator)


def _suspended() -> Iterator[None]:
    with mg.no_grad():
        yield


def test_a_generator_keeps_its_block_in_force_until_it_is_closed() -> None:
    generator = _suspended()
    next(generator)
    assert not mg.recording_enabled()
    generator.close()  # type: ignore[attr-defined]
    assert mg.recording_enabled()


@pytest.mark.parametrize("closing", [(0, 1), (1, 0)], ids=["first-first", "last-first"])
def test_two_suspended_generators_are_counted(closing: tuple[int, int]) -> None:
    """The block is in force while one of them is open, and over when both are closed."""
    generators = [_suspended(), _suspended()]

    def close_in_turn() -> None:
        try:
            for generator in generators:
                next(generator)
            generators[closing[0]].close()  # type: ignore[attr-defined]
            assert not mg.recording_enabled()
            generators[closing[1]].close()  # type: ignore[attr-defined]
            assert mg.recording_enabled()
        finally:
            for generator in generators:
                generator.close()  # type: ignore[attr-defined]

    contextvars.copy_context().run(close_in_turn)  # a failure must not reach the other tests


def in_threads(*functions: Callable[[], Any]) -> None:
    """Run each in a thread of its own, and raise here what one of them raised."""
    errors: list[BaseException] = []

    def guarded(function: Callable[[], Any]) -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


def test_recording_and_errstate_belong_to_a_thread() -> None:
    together = threading.Barrier(2)

    def inside() -> None:
        with mg.no_grad(), mg.errstate("ignore"):
            together.wait()
            assert (Value(1.0) * 2.0).op is None
            assert mg.log(Value(0.0)).data == -inf
            together.wait()

    def outside() -> None:
        together.wait()
        assert mg.recording_enabled()
        assert (Value(1.0) * 2.0).op is not None
        with mg.errstate("raise"), pytest.raises(NumericalError):
            mg.log(Value(0.0))
        together.wait()

    in_threads(inside, outside)
    assert (Value(1.0) * 2.0).op is not None


def test_one_block_object_serves_several_threads() -> None:
    """The threads leave in another order than they came; each must get its own mode back."""
    block, a_is_in, b_is_in, a_is_out = mg.no_grad(), *(threading.Event() for _ in range(3))

    def first() -> None:
        with block:
            a_is_in.set()
            assert b_is_in.wait(10.0)
        try:
            assert mg.recording_enabled()
        finally:
            a_is_out.set()

    def second() -> None:
        assert a_is_in.wait(10.0)
        with block:
            b_is_in.set()
            assert a_is_out.wait(10.0)
            assert not mg.recording_enabled()
        assert mg.recording_enabled()

    in_threads(first, second)


def test_two_threads_run_backward_over_shared_leaves() -> None:
    x, w, rounds = Value(2.0), Value(3.0), 400

    def work() -> None:
        for _ in range(rounds):
            h = x * w
            (h * h + mg.tanh(h) * 0.0).backward()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        in_threads(work, work, work)
    finally:
        sys.setswitchinterval(interval)
    assert x.grad == 3 * rounds * 2.0 * 6.0 * 3.0
    assert w.grad == 3 * rounds * 2.0 * 6.0 * 2.0


def test_two_threads_run_backward_over_one_graph() -> None:
    x = Value(1.0)
    y = x
    for _ in range(200):
        y = y + x
    rounds = 50

    def work() -> None:
        for _ in range(rounds):
            y.backward()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        in_threads(work, work)
    finally:
        sys.setswitchinterval(interval)
    assert x.grad == 2 * rounds * 201.0


def test_a_rule_may_itself_run_a_backward_pass() -> None:
    inner_leaf = Value(3.0)

    def slope_by_a_pass(out: Any, x: Any) -> float:
        inner_leaf.zero_grad()
        (inner_leaf * inner_leaf).backward()
        return inner_leaf.grad  # type: ignore[no-any-return]

    function = mg.operation("pass_in_a_pass", lambda m, x: 6.0 * x, [slope_by_a_pass])
    try:
        x = Value(1.0)
        (function(x) * x).backward()
        assert x.grad == 12.0
    finally:
        del mg.ops.OPS["pass_in_a_pass"]  # type: ignore[attr-defined]


# ---- who evaluates a row ------------------------------------------------------------------------


def test_the_highest_rank_among_the_arguments_evaluates_the_row() -> None:
    seen = []

    class Above:
        _rank = 9

        @classmethod
        def _apply(cls, op: Any, xs: Any, kinds: set[type]) -> Any:
            seen.append((cls.__name__, op.name, kinds == set(map(type, xs))))
            return xs[0]

    class Highest(Above):
        _rank = 10

    mg.atan2(Value(1.0), Above())
    mg.where(1.0, Above(), Highest())
    mg.sum([2.0, Highest(), Value(1.0), Above()])
    assert seen == [("Above", "atan2", True), ("Highest", "where", True), ("Highest", "sum", True)]

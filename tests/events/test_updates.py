"""The steps of optimizers as events: what was there, what the rule got, what came out."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Value
from minigrad.events import verify
from minigrad.events.file import to_json
from minigrad.optim import SGD, Adam, Momentum
from minigrad.tensor import Tensor

MAKE = {"scalar": lambda x: Value(x, name="w"), "array": lambda x: Tensor([x, 2.0 * x], name="w")}
both_modes = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)


def loss_of(w: Any) -> Any:
    return (w * w * w).sum() if hasattr(w, "shape") else w * w * w


def updates(trace: Any) -> list[dict[str, Any]]:
    return [event for event in trace.events if event["kind"] == "UPDATE"]


@both_modes
def test_a_step_inside_record_is_an_event(make: Any) -> None:
    w = make(2.0)
    before = w.data
    with mg.record() as made:
        L = loss_of(w)
        L.backward()
        SGD(0.25, [w]).step()
    (event,) = updates(made.trace(L))
    assert event["rule"] == "SGD"
    assert event["learning_rate"] == 0.25
    assert np.all(event["before"] == before)
    assert np.all(event["gradient"] == w.grad)
    assert np.all(event["after"] == w.data)
    content = json.loads(json.dumps(to_json(made.trace(L), values=True)))
    assert verify(content).faults == ()
    assert verify(content).unchecked == ()


@both_modes
def test_outside_of_record_nobody_listens(make: Any) -> None:
    w = make(2.0)
    L = loss_of(w)
    L.backward()
    with mg.record() as made:
        pass
    SGD(0.25, [w]).step()
    assert made.updates == []
    assert updates(mg.trace(L)) == []


def test_a_trace_taken_inside_the_block_has_them_too() -> None:
    w = Value(1.0, name="w")
    with mg.record():
        L = w * w
        L.backward()
        SGD(0.5, [w]).step()
        assert len(updates(mg.trace(L))) == 1


def test_of_several_steps_each_loss_has_its_own() -> None:
    w = Value(1.0, name="w")
    losses = []
    with mg.record() as made:
        optimizer = SGD(0.1, [w])
        for _ in range(3):
            optimizer.zero_grad()
            losses.append(w * w)
            losses[-1].backward()
            optimizer.step()
    assert len(made.updates) == 3
    starts = [updates(made.trace(L))[0]["before"] for L in losses]
    assert starts == [1.0, 0.8, pytest.approx(0.64)]
    for L in losses:
        assert verify(to_json(made.trace(L))).faults == ()


def test_the_gradient_is_what_the_rule_got() -> None:
    """Clipped, with weight decay; the event is that of the optimizer's own numbers."""
    w = Value(3.0, name="w")
    with mg.record() as made:
        L = w * w
        L.backward()
        SGD(0.1, [w], clip_value=1.0, weight_decay=0.5).step()
    (event,) = updates(made.trace(L))
    assert event["gradient"] == 1.0 + 0.5 * 3.0
    assert verify(to_json(made.trace(L))).faults == ()


def test_a_later_change_of_grad_does_not_reach_the_record() -> None:
    w = Tensor([1.0, 2.0])
    with mg.record() as made:
        (w * w).sum().backward()
        SGD(0.1, [w]).step()
    w.grad[:] = 99.0
    assert made.updates[0].gradient.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("kind", [Adam, Momentum])
def test_a_rule_with_a_memory_cannot_be_computed_again_and_that_is_said(kind: Any) -> None:
    w, v = Value(3.0, name="w"), Value(1.0, name="v")
    with mg.record() as made:
        L = w * v
        L.backward()
        kind(0.1, [w, v]).step()
    report = verify(to_json(made.trace(L)))
    assert report.faults == ()
    said = f"2 updates by {kind.__name__}, which depend on earlier steps"
    assert report.unchecked == (said,)


@pytest.mark.parametrize("key", ["before", "gradient", "after", "learning_rate"])
def test_a_forged_update_is_found(key: str) -> None:
    w = Value(3.0, name="w")
    with mg.record() as made:
        L = w * w
        L.backward()
        SGD(0.1, [w]).step()
    content = to_json(made.trace(L))
    content["events"][-1][key] += 1.0
    assert verify(content).faults


def test_minimize_is_recorded_as_well() -> None:
    w = Value(1.0, name="w")
    with mg.record() as made:
        SGD(0.1).minimize(lambda: w * w, [w])
    assert [(u.before, u.gradient, u.after) for u in made.updates] == [(1.0, 2.0, 0.8)]


def test_the_repr_of_what_was_recorded_shows_arrays_by_shape_and_range():
    w = Tensor(np.arange(2000.0).reshape(20, 100) + 7777.25, name="w")
    with mg.record() as made:
        L = (w[[0, 1, 2]] * 0.5).sum()
        L.backward()
        SGD(0.25, [w]).step()
    trace = made.trace(L)
    shown = [repr(made.updates), *map(repr, trace.nodes), *map(repr, trace.edges)]
    assert "before=[20×100] 7777 … 9776" in shown[0]
    assert "node=Tensor('w', [20×100] 7777 … 9776)" in shown[0]
    assert all(len(text) < 400 and "\n" not in text for text in shown)


def test_the_repr_of_numbers_is_exact():
    w = Value(0.1 + 0.2, name="w")
    with mg.record() as made:
        L = w * 2.0
        L.backward()
        SGD(0.5, [w]).step()
    (update,) = made.trace(L).updates
    parts = ", ".join(f"{name}={value!r}" for name, value in update._asdict().items())
    assert repr(update) == f"Update({parts})"
    assert "before=0.30000000000000004" in repr(update)

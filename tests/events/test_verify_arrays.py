"""Traces with all values of arrays: every element follows, and a forged one is found."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad.cli import main
from minigrad.errors import TraceError
from minigrad.events import Report, load, verify
from minigrad.events.file import to_json
from minigrad.events.verify_arrays import array_of
from minigrad.optim import SGD, Adam
from minigrad.tensor import Tensor, stack_values, to_values
from tests.tensor.cases import CASES, Case


def content_of(trace: Any) -> Any:
    """What a file would have, read again."""
    return json.loads(json.dumps(to_json(trace, values=True), allow_nan=False))


def network(dtype: str = "float64") -> tuple[Any, list[Any]]:
    """A bit of everything: a layer, broadcasting, ``where``, elements, Values, a slice."""
    rng = np.random.default_rng(1)
    x = Tensor(rng.normal(size=(4, 3)), name="x", dtype=dtype)
    w, b = (
        Tensor(rng.normal(size=s), name=n, dtype=dtype) for s, n in (((3, 2), "w"), ((2,), "b"))
    )
    v = mg.Value(0.5, name="v")
    h = mg.tanh(x @ w + b) * v
    safe = mg.where(h.data > 0.0, mg.sqrt(mg.abs(h)), 0.0)
    first, *_, last = to_values(b)
    joined = stack_values([first * last, mg.where(1.0, first, last)])
    L = safe.sum() + h[1:, 0].max() + (joined * b).mean() + mg.softmax(h)[0, 1] + x.var()
    return L, [x, w, b, v]


def step(kind: Any, dtype: str = "float64") -> Any:
    """The trace of a pass, and of the step of an optimizer after it."""
    with mg.record() as made:
        L, params = network(dtype)
        L.backward()
        kind(0.1, params, weight_decay=0.01, clip_norm=0.5).step()
    return made.trace(L)


@pytest.mark.parametrize("dtype", ["float64", "float32", "longdouble"])
def test_a_whole_step_is_checked(dtype: str) -> None:
    trace = step(SGD, dtype)
    report = verify(content_of(trace))
    assert report.faults == ()
    assert report.unknown == ()
    assert [said for said in report.unchecked if "last bits" not in said] == []
    assert report.checked > 500
    kinds = {event["kind"] for event in trace.events}
    assert kinds >= {"FORWARD", "LOCAL", "CONTRIB", "ACCUM", "SKIP", "DONE", "UPDATE"}


@pytest.mark.parametrize("dtype", ["float64", "float32", "longdouble"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_every_row_is_checked(case: Case, dtype: str) -> None:
    xs = [Tensor(x, dtype=dtype) for x in case.inputs]
    out = case.call(*xs)
    report = verify(content_of(mg.trace((out * 1.7 + 0.1 * out * out).sum())))
    assert report.faults == ()
    assert [said for said in report.unchecked if "last bits" not in said] == []


def places(content: Any) -> list[tuple[str, Any, str]]:
    """Every array of the file: what it is in, and where."""
    found = []
    for node in content["nodes"]:
        if node["op"] is not None:
            found.append(("node value", node, "value"))
            found += [("node number", node["numbers"], i) for i in range(len(node["numbers"]))]
    for event in content["events"]:
        found += [(f"{event['kind']} {key}", event, key) for key in event]
    return [(what, home, key) for what, home, key in found if isinstance(home[key], dict)]


def change(array: dict[str, Any], by: float) -> bool:
    """Change one element, the last; False if there is none."""
    values = array.get("values")
    if not array.get("shape"):
        if not isinstance(values, float):
            return False
        array["values"] += by
        return True
    while isinstance(values, list) and values and isinstance(values[-1], list):
        values = values[-1]
    if not values or not isinstance(values[-1], float):
        return False
    values[-1] += by
    return True


def test_a_forged_element_is_found_in_each_kind_of_event() -> None:
    content = content_of(step(SGD))
    assert verify(content).faults == ()
    forged = set()
    for k, (what, _, _) in enumerate(places(content)):
        damaged = copy.deepcopy(content)
        _, home, key = places(damaged)[k]
        if not change(home[key], 1e-6):
            continue
        assert verify(damaged).faults, what
        forged.add(what)
    assert forged >= {
        "node value",
        "node number",
        "FORWARD value",
        "LOCAL value",
        "CONTRIB upstream",
        "CONTRIB local",
        "CONTRIB product",
        "ACCUM before",
        "ACCUM delta",
        "ACCUM after",
        "DONE gradient",
        "UPDATE before",
        "UPDATE gradient",
        "UPDATE after",
    }


def test_a_forged_seed_of_an_array_is_found() -> None:
    x = Tensor([1.0, 2.0])
    content = content_of(mg.trace(x * x))
    assert verify(content).faults == ()
    seed = next(event for event in content["events"] if event["kind"] == "SEED")
    change(seed["gradient"], 1e-6)
    assert verify(content).faults


def test_the_last_bit_counts_where_nothing_is_added_up() -> None:
    x = Tensor([0.1, 0.3])
    content = content_of(mg.trace(mg.tanh(x) * x))
    event = next(e for e in content["events"] if e["kind"] == "CONTRIB")
    for key in ("local", "product"):
        damaged = copy.deepcopy(content)
        twin = damaged["events"][content["events"].index(event)]
        twin[key]["values"][1] = float(np.nextafter(twin[key]["values"][1], 9.0))
        assert verify(damaged).faults, key


def test_what_a_summary_does_not_say_is_counted() -> None:
    L, _ = network()
    report = verify(json.loads(json.dumps(to_json(mg.trace(L)))))
    assert report.faults == ()
    assert len(report.unchecked) == 1
    count, said = report.unchecked[0].split(" ", 1)
    assert int(count) > 20
    assert "summary; trace.save(path, values=True)" in said


def test_updates_by_other_rules_are_counted() -> None:
    content = content_of(step(Adam))
    report = verify(content)
    assert report.faults == ()
    assert any(said.startswith("4 updates by Adam") for said in report.unchecked)
    update = next(event for event in content["events"] if event["kind"] == "UPDATE")
    change(update["before"], 1e-6)
    assert "the value before" in "".join(verify(content).faults)


def test_the_command_says_what_it_could_not_check(tmp_path: Path, capsys: Any) -> None:
    L, _ = network()
    trace = mg.trace(L)
    assert main(["verify", trace.save(tmp_path / "short.json")]) == 0
    assert "not checked: " in capsys.readouterr().out
    path = trace.save(tmp_path / "full.json", values=True)
    assert main(["verify", path]) == 0
    assert "summary" not in capsys.readouterr().out
    content = load(path)
    node = next(node for node in content["nodes"] if node["op"] == "tanh")
    change(node["value"], 1e-6)
    Path(path).write_text(json.dumps(content))
    assert main(["verify", path]) == 1
    assert "(tanh): the value at [3, 1] is" in capsys.readouterr().out


HOSTILE = [
    lambda node: node["value"].update(shape=[10**9, 10**9]),
    lambda node: node["value"].update(shape=["a"]),
    lambda node: node["value"].update(dtype="O"),
    lambda node: node["value"].update(values="x"),
    lambda node: node["value"].update(values=[[[[]]]]),
    lambda node: node["value"]["values"].append([None, None]),
    lambda node: node.update(value=None),
    lambda node: node.update(numbers=[]),
    lambda node: node.update(numbers=[{"shape": [1], "values": [1.0], "dtype": "float64"}] * 9),
    lambda node: node.update(attrs={"axis": 99}),
    lambda node: node.update(attrs={"shape": [10**9]}),
    lambda node: node.update(op="pad", attrs={"pad_width": 10**9}),
    lambda node: node.update(op="getitem", attrs={"index": {"slice": [1]}}),
    lambda node: node.update(op="getitem", attrs={"index": {"odd": 1}}),
    lambda node: node.update(op="reshape", attrs={"shape": "x"}),
    lambda node: node.update(inputs=None),
]


@pytest.mark.parametrize("damage", HOSTILE)
@pytest.mark.parametrize("which", ["matmul", "add", "getitem"])
def test_a_hostile_file_is_a_trace_error_or_a_fault(damage: Any, which: str) -> None:
    content = content_of(mg.trace(network()[0]))
    node = next(node for node in content["nodes"] if node["op"] == which)
    damage(node)
    try:
        report: Report = verify(content)
    except TraceError:
        return
    assert report.faults


def test_attributes_come_back_as_they_were(tmp_path: Path) -> None:
    x = Tensor(np.arange(24.0).reshape(2, 3, 4), name="x")
    y = x[..., None, ::2][:, [0, 0, 2]].pad(1, constant_values=float("inf")).sum(axis=(0, 2))
    with mg.errstate("ignore"):
        path = mg.trace(y.astype("float32")[0]).save(tmp_path / "t.json", values=True)
    report = verify(load(path))
    assert report.faults == ()
    assert report.unchecked == ()


def branching(choices: list[tuple[int, int, int]], which: list[bool]) -> Any:
    """A program in which ``where`` leaves out some elements, all of them, or none."""
    nodes = [Tensor([0.5, -1.5, 2.0], name="a"), Tensor([1.0, 2.0, -0.5], name="b")]
    numbers = [mg.Value(0.7, name="v")]
    for kind, i, j in choices:
        x, y, v = nodes[i % len(nodes)], nodes[j % len(nodes)], numbers[i % len(numbers)]
        new = [
            lambda x=x, y=y: mg.where(x > 0.0, x, x * y),
            lambda x=x, y=y: mg.where(np.array(which), x * x, mg.tanh(y)),
            lambda x=x, y=y: mg.where(np.ones(3), x, y * y),
            lambda x=x, v=v: mg.where(np.array(which), x, v * v),
            lambda x=x, y=y: mg.where(which[0], x.sum(), (y * y).sum()) * y,
            lambda x=x, y=y: mg.where(np.array(which), x, (x * y)[::-1]) + y.max(),
            lambda x=x, y=y: x * y + x,
        ][kind]()  # fmt: skip
        nodes.append(new)
        numbers.append(mg.where(which[1], v * 2.0, new[0].item() * v))
    return sum((node.sum() for node in nodes), numbers[-1])


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(0, 9)), max_size=6),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_a_program_with_branches_is_valid_both_ways(
    choices: list[tuple[int, int, int]], which: list[bool]
) -> None:
    with mg.errstate("ignore"):
        trace = mg.trace(branching(choices, which))
    for values in (False, True):
        report = verify(json.loads(json.dumps(to_json(trace, values=values), allow_nan=False)))
        assert report.faults == ()
        said = [text for text in report.unchecked if "last bits" not in text]
        assert bool(said) is not values


def test_a_branch_that_nobody_took_is_no_damage(tmp_path: Path, capsys: Any) -> None:
    x, v = Tensor([1.0, 2.0], name="x"), mg.Value(3.0, name="v")
    for output in (
        mg.where(x > 0.0, x, x * x).sum(),
        mg.where(x > 0.0, x, v * v).sum(),
        mg.where(x > 0.0, x, mg.where(x < 5.0, x * x, x.sum())).sum(),
    ):
        for values in (False, True):
            path = mg.trace(output).save(tmp_path / "w.json", values=values)
            assert main(["verify", path]) == 0, capsys.readouterr()


def test_numbers_wider_than_a_float_keep_all_their_digits(tmp_path: Path) -> None:
    third = np.longdouble(1.0) / 3
    huge = np.finfo(np.longdouble).max / 4
    with mg.errstate("ignore"):
        x = Tensor(np.array([third, huge, np.inf, np.nan]), name="x")
        content = load(mg.trace(x * x[0]).save(tmp_path / "wide.json", values=True))
    entry = content["nodes"][0]["value"]
    np.testing.assert_array_equal(array_of(entry), x.data)
    report = verify(content)
    assert (report.faults, report.unchecked) == ((), ())
    entry["values"][0] = str(np.nextafter(third, np.longdouble(1.0)))
    assert verify(content).faults
    entry["values"][0] = "1.0.0"
    with pytest.raises(TraceError):
        verify(content)

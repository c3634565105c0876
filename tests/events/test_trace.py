"""Traces: what they hold, that they write nothing, and that every number in them follows."""

from __future__ import annotations

import copy
import json
import math
from math import inf, isnan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad import Value
from minigrad.errors import ArgumentTypeError, TraceError
from minigrad.events import load, save, verify
from minigrad.events.file import to_json
from minigrad.ops import FUNCTIONS, OPS

KINDS = ["FORWARD", "SEED", "VISIT", "LOCAL", "CONTRIB", "ACCUM", "DONE", "SKIP", "ERROR"]


def program(choices: list[tuple[int, int, int]]) -> Value:
    """A graph with reuse, from numbers that hypothesis draws."""
    nodes = [Value(0.7, name="a"), Value(-1.3, name="b"), Value(2.1, name="c")]
    for kind, i, j in choices:
        x, y = nodes[i % len(nodes)], nodes[j % len(nodes)]
        nodes.append(
            [x + y, x * y, mg.tanh(x), x - 0.5, mg.where(x > y, x, y * 2.0), mg.relu(x),
             mg.dot([x, y], [y, 3.0]), x / (y * y + 1.0), mg.floor(x) * y][kind]
        )  # fmt: skip
    return mg.sum(nodes)


programs = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 50), st.integers(0, 50)), max_size=9
)


@given(programs)
def test_the_numbers_of_a_trace_are_those_of_backward(choices: list[tuple[int, int, int]]) -> None:
    output = program(choices)
    record = mg.trace(output)
    output.backward()
    by_id = {id: record.nodes[id] for id in record.gradients}
    graph = sorted(mg.topological_order(output), key=lambda node: node._serial)
    for node, (id, entry) in zip(graph, sorted(by_id.items()), strict=True):
        assert entry.value == node.data
        assert record.gradients[id] == node.grad


@given(programs)
def test_every_number_of_a_trace_follows(choices: list[tuple[int, int, int]]) -> None:
    content = json.loads(json.dumps(to_json(mg.trace(program(choices)))))
    report = verify(content)
    assert report.faults == ()
    assert report.unknown == ()
    assert report.checked > 3


@given(programs, st.data())
def test_a_damaged_number_is_found(choices: list[tuple[int, int, int]], data: Any) -> None:
    content = to_json(mg.trace(program(choices)))
    places = [
        (event, key)
        for event in content["events"]
        for key in ("value", "upstream", "local", "product", "before", "delta", "after", "gradient")
        if isinstance(event.get(key), float) and event["kind"] != "SEED"
    ]
    event, key = data.draw(st.sampled_from(places))
    event[key] += 1.0
    assert verify(content).faults


def test_a_fault_names_the_edge() -> None:
    x, w = Value(3.0, name="x"), Value(2.0, name="w")
    y = x * w
    y.name = "y"
    content = to_json(mg.trace(y))
    event = next(event for event in content["events"] if event["kind"] == "CONTRIB")
    event["product"] += 1.0
    [fault, *_] = verify(content).faults
    assert "(CONTRIB y → x): " in fault


def _forge(content: dict[str, Any]) -> None:
    """Add 100 to the last sum, and to all that follows from it."""
    last = [event for event in content["events"] if event["kind"] == "ACCUM"][-1]
    last["delta"], last["after"] = 100.0, last["before"] + 100.0
    for event in content["events"]:
        if event["kind"] == "DONE" and event["node"] == last["node"]:
            event["gradient"] = last["after"]


def _drop_an_edge(content: dict[str, Any]) -> None:
    places = [i for i, event in enumerate(content["events"]) if event["kind"] == "LOCAL"]
    del content["events"][places[-1] : places[-1] + 3]


def _keep_the_forward_pass_alone(content: dict[str, Any]) -> None:
    content["events"] = [e for e in content["events"] if e["kind"] in ("FORWARD", "SEED")]


def _visit_twice(content: dict[str, Any]) -> None:
    content["events"].append(next(e for e in content["events"] if e["kind"] == "VISIT"))


@pytest.mark.parametrize(
    "forge", [_forge, _drop_an_edge, _keep_the_forward_pass_alone, _visit_twice]
)
def test_a_forged_trace_is_found_though_its_numbers_agree(forge: Any) -> None:
    x = Value(3.0, name="x")
    content = to_json(mg.trace(x * x + x))
    assert verify(content).faults == ()
    forge(content)
    assert verify(content).faults


def test_a_trace_writes_no_gradient_and_holds_no_node() -> None:
    x = Value(3.0)
    y = x * x
    record = mg.trace(y)
    assert x.grad is None
    assert y.grad is None
    del x, y
    assert "Value(" not in repr(tuple(record))


def test_ids_count_from_0_in_the_order_of_creation_with_constants_before_their_use() -> None:
    record = mg.trace(Value(2.0, name="x") * 3.0 + 1.0)
    assert [node.id for node in record.nodes] == list(range(5))
    assert [node.role for node in record.nodes] == [
        "leaf", "constant", "operation", "constant", "output",
    ]  # fmt: skip


def test_events_tell_the_pass_edge_by_edge() -> None:
    x = Value(3.0, name="x")
    events = list(mg.trace(x * x + 1.0).events)
    assert [event["kind"] for event in events] == [
        "FORWARD", "FORWARD", "SEED",
        "VISIT", "LOCAL", "CONTRIB", "ACCUM", "SKIP", "DONE",
        "VISIT", "LOCAL", "CONTRIB", "ACCUM", "LOCAL", "CONTRIB", "ACCUM", "DONE",
        "VISIT", "DONE",
    ]  # fmt: skip
    sums = [event for event in events if event["kind"] == "ACCUM"]
    assert [(e["before"], e["delta"], e["after"], e["nth"], e["of"]) for e in sums[1:]] == [
        (0.0, 3.0, 3.0, 1, 2),
        (3.0, 3.0, 6.0, 2, 2),
    ]
    visit = events[9]
    assert (visit["popped"], visit["pushed"]) == (1, [0])
    assert events[7]["reason"] == "constant"


def test_a_rule_that_raises_ends_the_pass_with_an_error_event() -> None:
    bad = mg.operation("bad_in_backward", lambda m, x: x, [lambda out, x: [][0]])
    record = mg.trace(bad(Value(1.0)) * 2.0)
    assert record.error is not None
    last = list(record.events)[-1]
    assert last["kind"] == "ERROR"
    assert "bad_in_backward" in last["message"]


def test_the_seed_and_several_outputs() -> None:
    x = Value(3.0)
    record = mg.trace(x * 2.0, x * 5.0, seed=10.0)
    assert record.gradients[0] == 70.0


def test_a_changed_leaf_is_stale_and_the_numbers_are_the_recorded_ones() -> None:
    x = Value(3.0)
    y = x * x
    x.data = 5.0
    record = mg.trace(y)
    assert record.nodes[0].stale
    assert record.nodes[0].value == 5.0
    assert record.nodes[1].numbers == (3.0, 3.0)
    assert record.gradients[0] == 6.0
    assert verify(to_json(record)).faults == ()


def test_a_file_keeps_every_bit(tmp_path: Path) -> None:
    with mg.errstate("ignore"):
        y = mg.log(Value(0.0)) * Value(0.1) + mg.log(Value(-1.0))
    record = mg.trace(y)
    content = load(save(record, tmp_path / "trace.json"))
    values = [float(node["value"]) for node in content["nodes"]]
    for value, node in zip(values, record.nodes, strict=True):
        assert value == node.value or (isnan(value) and isnan(node.value))
    assert content["nodes"][1]["value"] == "-inf"
    assert float(content["nodes"][1]["value"]) == -inf


def test_a_deep_graph_is_traced_without_recursion() -> None:
    y = x = Value(1.0)
    for _ in range(20_000):
        y = y + 1.0
    assert mg.trace(y).gradients[0] == 1.0
    assert x.grad is None


@pytest.mark.parametrize("wrong", [3.0, "x", None])
def test_only_nodes_can_be_traced(wrong: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="nodes"):
        mg.trace(wrong)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "JSON"),
        ("[1]", "format"),
        ('{"format": "minigrad-trace", "version": 99}', "version 99"),
        ("{" * 5000, "JSON"),
    ],
)
def test_a_file_that_is_no_trace_says_so(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(TraceError, match=said):
        load(file)


def test_a_damaged_structure_is_a_trace_error() -> None:
    content = to_json(mg.trace(Value(2.0) * 3.0))
    damaged = copy.deepcopy(content)
    del damaged["nodes"][0]
    with pytest.raises(TraceError):
        verify(damaged)
    damaged = copy.deepcopy(content)
    damaged["events"][0]["kind"] = "DANCE"
    with pytest.raises(TraceError, match="DANCE"):
        verify(damaged)


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be written"):
        save(mg.trace(Value(2.0) * 3.0), tmp_path / "no" / "trace.json")
    assert list(tmp_path.iterdir()) == []


def test_record_lists_the_nodes_and_switches_sources_on_for_a_while() -> None:
    before = mg.options.sources
    x = Value(2.0)
    with mg.record() as made:
        assert mg.options.sources
        y = x * x
    x * 2.0  # outside
    assert made.nodes == [y]
    assert mg.options.sources == before
    assert mg.trace(y).nodes[-1].span is not None


# ---- as text -------------------------------------------------------------------------------------


def test_print_shows_every_node_and_every_edge_of_a_small_trace():
    a, b = mg.Value(2.0, name="a"), mg.Value(-3.0, name="b")
    y = a * b + a
    y.name = "y"
    t = mg.trace(y)
    first, *lines = [line.split() for line in str(t).splitlines()]
    assert " ".join(first) == repr(t) == "<Trace of 4 nodes, 4 edges>"
    assert ["a", "leaf", "2", "-2"] in lines
    assert ["y", "add(v2,", "a)", "-4", "1"] in lines
    title = lines.index(["edge", "upstream", "×", "local", "=", "contribution", "total"])
    for line, edge in zip(lines[title + 1 :], t.edges, strict=True):
        ends = [t.nodes[edge.node].name, "→", t.nodes[edge.input].name]
        numbers = [edge.upstream, edge.local, edge.contribution, edge.after]
        assert line[:3] == ends
        assert list(map(float, line[3:])) == numbers


def test_print_shows_the_beginning_of_a_large_trace_and_says_how_much_is_left():
    y = mg.Value(1.0)
    for _ in range(1000):
        y = y * 1.5
    t = mg.trace(y)
    lines = str(t).splitlines()
    assert len(lines) < 150
    assert f"  … {len(t.nodes) - 60} more" in lines
    assert f"  … {len(t.edges) - 60} more" in lines


def test_print_shows_arrays_by_shape_and_range_and_why_an_edge_carries_nothing():
    x = mg.Tensor([[float(i) for i in range(100)]], name="x")
    text = str(mg.trace((x * 2.0).sum()))
    assert "[1×100] 0 … 99" in text
    assert "(constant)" in text
    assert max(map(len, text.splitlines())) < 140


OWN = dict(OPS)  # before a test adds rows
SINGULAR = {
    "pow": (0.0, 2.0), "hypot": (0.0, 0.0), "atan2": (0.0, 0.0), "maximum": (1.0, 1.0),
    "minimum": (1.0, 1.0), "logaddexp": (-inf, -inf), "sinc": (0.0,),
}  # fmt: skip


def test_every_row_with_edges_has_a_singular_point_here() -> None:
    assert set(SINGULAR) == {name for name, row in OWN.items() if row.edges}


@pytest.mark.parametrize("name", SINGULAR)
def test_the_note_of_an_edge_is_true_of_the_nodes_that_it_names(name: str) -> None:
    leaves = [Value(x, name=word) for x, word in zip(SINGULAR[name], ("y", "other"), strict=False)]
    with mg.errstate("ignore"):
        t = mg.trace(FUNCTIONS[name](*leaves))
    words = {"abs": abs, "isnan": isnan, **{str(leaf.name): leaf.data for leaf in leaves}}
    notes = [event["edge"] for event in t.events if "edge" in event]
    assert notes
    for note in notes:
        assert eval(note.partition(" where ")[2], {"__builtins__": {}}, words), note


def test_a_plain_number_decides_its_part_of_the_condition() -> None:
    p = Value(0.0, name="p")
    [note] = [e["edge"] for e in mg.trace(mg.hypot(p, 0.0)).events if "edge" in e]
    assert note == "0 where p == 0"


def test_the_condition_of_a_learners_row_need_not_work_on_symbols() -> None:
    row = mg.operation(
        "edge_by_math", lambda m, x: x * x, [lambda out, x: 2 * x],
        edges={0: [(lambda x: math.sin(x) == 0.0, 0.0)]},
    )  # fmt: skip
    [note] = [e["edge"] for e in mg.trace(row(Value(0.0))).events if "edge" in e]
    assert "edge" in note


def test_a_file_with_the_note_of_an_earlier_version_is_accepted(tmp_path: Path) -> None:
    p, q = Value(1.0, name="p"), Value(1.0, name="q")
    file = save(mg.trace(mg.maximum(p, q)), tmp_path / "trace.json")
    content = json.loads(Path(file).read_text())
    notes = [event for event in content["events"] if "edge" in event]
    assert {event["edge"] for event in notes} == {"0.5 where p == q"}
    for event in notes:
        event["edge"] = "0.5 where x == y"
    Path(file).write_text(json.dumps(content))
    assert not verify(load(file)).faults

"""The command line: what it prints, and that bad input ends in one clear line and code 2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad as mg
from minigrad.cli import main
from minigrad.events import save

NEURON = [
    "tanh(x1*w1 + x2*w2 + b)", "x1=2", "x2=0", "w1=-3", "w2=1", "b=6.8813735870195432",
]  # fmt: skip


def test_debug_prints_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["debug", *NEURON, "--print"]) == 0
    printed = capsys.readouterr().out
    assert "0.5 × -3 = -1.5" in printed
    assert "0 → -1.5" in printed
    assert "1 - tanh(v8) ** 2" in printed
    assert printed.count("→") > 18
    assert all(len(line) <= 110 for line in printed.splitlines())


def test_debug_json_is_an_event_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["debug", *NEURON, "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert events[0]["kind"] == "FORWARD"
    assert events[-1]["kind"] == "DONE"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(NEURON, ""), (["x +", "x=1"], "cannot be read"), (["x + y", "x=1"], "y has no value")],
)
def test_debug_without_a_form_says_which_there_are_and_what_is_wrong_with_the_expression(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["debug", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    form, *fault = printed.err.splitlines()
    assert "--print" in form
    assert "--json" in form
    assert len(fault) == bool(said)
    assert said in "".join(fault)


def test_draw_prints_or_writes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["draw", *NEURON]) == 0
    assert "tanh" in capsys.readouterr().out
    target = tmp_path / "neuron.svg"
    assert main(["draw", *NEURON, "-o", str(target)]) == 0
    assert target.read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize("expression", ["-x*x", "-o*x", "-(x)", "-x**2", "--x"])
def test_an_expression_may_start_with_a_minus(
    expression: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["x=2", "o=3"] if "o" in expression else ["x=2"]
    if expression == "--x":  # as an option would
        expression = f" {expression}"
    assert main(["draw", expression, *names]) == 0
    assert main(["debug", expression, *names, "--print"]) == 0
    assert "−" in capsys.readouterr().out


def test_verify_says_how_many_numbers_follow(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "trace.json"
    save(mg.trace(mg.tanh(mg.Value(0.5)) * 2.0), file)
    assert main(["verify", str(file)]) == 0
    assert "0 wrong" in capsys.readouterr().out
    content = json.loads(file.read_text())
    content["events"][-4]["value" if "value" in content["events"][-4] else "gradient"] = 7.0
    for event in content["events"]:
        if event["kind"] == "CONTRIB":
            event["product"] = 7.0
    file.write_text(json.dumps(content))
    assert main(["verify", str(file)]) == 1
    assert "the product is 7.0" in capsys.readouterr().out


def test_doctor_names_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    assert str(Path(mg.__file__).parent) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x +", "x=1"], "cannot be read"),
        (["x.__class__", "x=1"], "not allowed"),
        (["__import__('os').system('ls')", "x=1"], "not a function"),
        (["(lambda: x)()", "x=1"], "not a function"),
        (["[x for x in y]", "y=1"], "not allowed"),
        (["x if x else y", "x=1", "y=2"], "where(condition, x, y) chooses"),
        (["x > 0 and x < 1", "x=1"], "takes one condition"),
        (["1,5 * x", "x=1"], "decimal point"),
        (["w·x", "w=1", "x=1"], "a product is written *"),
        (["ln(x)", "x=1"], "did you mean log?"),
        (["σ(x)", "x=1"], "did you mean sigmoid?"),
        (["x", "x=one"], "not a number"),
        (["x", "x"], "name=number"),
        (["x", "x=1", "x=2"], "twice"),
        (["x + y", "x=1"], "y has no value"),
        (["x", "x=1", "y=2"], "not in the expression"),
        (["2 + 3"], "no name"),
        (["9**9**9**9 * x", "x=1"], "beyond the floats"),
        (["(" * 150 + "x" + ")" * 150, "x=1"], ""),
        (["-" * 5000 + "x", "x=1"], ""),
        ([" + ".join(["x"] * 900), "x=1"], "inside each other"),
        (["x" * 20_000, "x=1"], "characters"),
        (["sin(x, x)", "x=1"], "sin"),
        (["sin", "sin=1"], "name=number"),
        (["tanh", "x=1"], "function"),
        (["x < 1 < 2", "x=1"], "one of"),
        (["x @ x", "x=1"], "not allowed"),
        (["'x'", "x=1"], "not a real number"),
        (["1j * x", "x=1"], "not a real number"),
        (["x\0", "x=1"], "cannot be read"),
        (["", "x=1"], "cannot be read"),
    ],
)
def test_bad_expressions_end_in_one_line_and_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["draw", *(["--"] if arguments[0].startswith("-") else []), *arguments])
    printed = capsys.readouterr()
    if said:
        assert code == 2
        assert said in printed.err
    assert code in (0, 2)
    assert "Traceback" not in printed.err
    assert len(printed.err.splitlines()) <= 1


@pytest.mark.parametrize("target", ["x.gif", "no/such/folder/x.svg", "x"])
def test_a_picture_that_cannot_be_saved_says_why(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draw", "x * 2", "x=1", "-o", target]) == 2
    assert "minigrad: cannot save" in capsys.readouterr().err


def test_demo_runs_in_a_process_and_says_where_the_picture_is(tmp_path: Path) -> None:
    root = Path(mg.__file__).resolve().parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "minigrad", "demo"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "PATH": "", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "accuracy 100%" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"graph.svg", "graph.html"}


def test_verify_of_arrays_needs_nothing_that_was_imported_before(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    weights, x = mg.Tensor([[1.0, 2.0], [3.0, 4.0]]), mg.Tensor([1.0, -1.0])
    file = tmp_path / "arrays.json"
    mg.trace(mg.tanh(weights @ x).sum()).save(file, values=True)
    command = [sys.executable, "-m", "minigrad", "verify", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "not checked" in done.stdout) == (0, False), done.stdout + done.stderr

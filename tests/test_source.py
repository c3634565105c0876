"""Which frame is the learner's, which expression made a node, and what is written there."""

import _thread
import json
import os
import subprocess
import sys
import time
import warnings
import weakref
from pathlib import Path
from unittest.mock import Mock

import pytest

from minigrad import modes, options, source
from minigrad.value import Value

ROOT = Path(__file__).resolve().parent.parent

SHOW = """
from minigrad import modes, source
import json
where = modes.span_of(y)
print(json.dumps([where.file, where.line, source.text_of(where), source.line_text(where)]))
"""


@pytest.fixture
def sources_on():
    options.sources = True
    yield
    options.sources = False


def run(*words, typed=None, **environment):
    """What a fresh interpreter, started with these arguments, prints as JSON in its last line."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **environment}
    done = subprocess.run(
        [sys.executable, *words], input=typed, env=environment, timeout=60, check=False,
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def program(line, before=""):
    return f"{before}import minigrad as mg\nmg.options.sources = True\n{line}\n{SHOW}"


def text_of(node):
    return source.text_of(modes.span_of(node))


# --- The learner's frame --------------------------------------------------------------------------


def test_the_frame_is_the_one_that_calls_us():
    assert source.learner_frame() is sys._getframe()


def test_a_library_between_us_and_the_learner_is_skipped(sources_on):
    multiply = Mock(side_effect=Value(2.0).__mul__)  # calls it from a frame of the library
    assert text_of(multiply(3.0)) == "multiply(3.0)"


def test_a_function_that_a_library_calls_is_the_learners(sources_on):
    node = Mock(side_effect=lambda x: x * 2.0)(Value(3.0))
    assert text_of(node) == "x * 2.0"


@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("train.py", True),
        ("<ipython-input-3-0123456789ab>", True),
        ("/home/somebody/course/train.py", True),
        ("/usr/lib/python3/dist-packages/numpy/core.py", False),
        ("/home/somebody/.venv/lib/python3.11/site-packages/numpy/core.py", False),
        (warnings.__file__, False),
    ],
)
def test_the_learner_did_not_write_libraries(name, learner):
    known = set(source._learners)
    try:
        assert source._is_learners(name) is learner
    finally:
        source._learners.intersection_update(known)


def test_without_any_frame_of_a_learner_nodes_are_made_all_the_same(sources_on, monkeypatch):
    from minigrad import tanh

    errors = []
    monkeypatch.setattr(sys, "unraisablehook", errors.append)
    function, method = Value(1.0), Value(2.0)
    running = [weakref.ref(function), weakref.ref(method)]
    _thread.start_new_thread(tanh, (function,))  # its outermost frame is ours
    _thread.start_new_thread(method.tanh, ())
    del function, method
    for _ in range(1000):
        if any(node() is not None for node in running):
            time.sleep(0.01)
    assert not errors


# --- The expression -------------------------------------------------------------------------------


def test_each_node_has_its_own_sub_expression(sources_on):
    a, b, c = Value(2.0), Value(-3.0), Value(10.0)
    y = (a * b + c).tanh() ** 2
    parts = []
    while y.op is not None:
        parts.append(text_of(y))
        y = y.inputs[0]
    assert parts == ["(a * b + c).tanh() ** 2", "(a * b + c).tanh()", "a * b + c", "a * b"]
    assert text_of(a) == "Value(2.0)"


def test_functions_methods_and_operators_have_the_same_kind_of_place(sources_on):
    import minigrad as mg

    x = Value(2.0)
    nodes = mg.tanh(x), x.tanh(), -x, 2.0 / x, x**2, mg.maximum(x, 3.0), mg.sum([x, x]), abs(x)
    assert [text_of(node) for node in nodes] == [
        "mg.tanh(x)", "x.tanh()", "-x", "2.0 / x", "x**2", "mg.maximum(x, 3.0)", "mg.sum([x, x])",
        "abs(x)",
    ]  # fmt: skip


# fmt: off
def test_columns_count_bytes(sources_on):
    损失, σ = Value(2.0), "naïve 🙂"; y = 损失 * 损失 + len(σ)  # noqa: E702
    assert text_of(y) == "损失 * 损失 + len(σ)"
    assert text_of(y.inputs[0]) == "损失 * 损失"


def test_expressions_of_several_lines_are_read_as_they_stand(sources_on):
    a = Value(2.0)
    y = (a *
         3.0
         + a)
    assert text_of(y) == "a *\n         3.0\n         + a"
    assert source.line_text(modes.span_of(y)) == "    y = (a *"
# fmt: on


def test_the_same_expression_is_resolved_once(sources_on):
    made = [Value(float(i)) for i in range(3)]
    first, second, _ = [modes.span_of(node) for node in made]
    assert first is second


def test_code_objects_of_the_past_are_forgotten():
    for number in range(source._MOST_CODE_OBJECTS + 10):
        source.span(compile(str(number), "many.py", "eval"), 0)
    assert len(source._resolved) == source._MOST_CODE_OBJECTS
    source._resolved.clear()


def test_an_offset_that_is_not_there_has_no_place():
    where = source.span(compile("1", "none.py", "eval"), 10_000)
    assert (where.line, where.column, source.text_of(where)) == (0, None, None)
    assert source.line_text(where) is None


# --- Scripts, commands, cells ---------------------------------------------------------------------


def test_a_script_has_its_text_and_no_folder(tmp_path):
    script = tmp_path / "lesson.py"
    script.write_text(program("x = mg.Value(3.0); σ = '损失'; y = x * x + len(σ)"), "utf-8")
    text = "x * x + len(σ)"
    assert run(str(script)) == ["lesson.py", 3, text, f"x = mg.Value(3.0); σ = '损失'; y = {text}"]


def test_a_script_in_another_encoding(tmp_path):
    script = tmp_path / "lesson.py"
    text = program("x = mg.Value(3.0); s = 'é'; y = x * len(s)", "# coding: latin-1\n")
    script.write_text(text, "latin-1")
    assert run(str(script))[2] == "x * len(s)"


@pytest.mark.parametrize("options_", [(), ("-X", "utf8"), ("-W", "error", "-B")])
def test_a_command_has_its_text(options_):
    line = "y = mg.Value(3.0) * 2"
    place = ["<string>", 2 + 1, "mg.Value(3.0) * 2", line]
    assert run(*options_, "-c", program(line), "-c", "an argument of the command") == place


def test_options_that_share_a_dash():
    assert run("-Bc", program("y = mg.Value(3.0) * 2"))[2] == "mg.Value(3.0) * 2"


def test_executed_code_is_not_taken_for_the_command():
    line = "exec('y = mg.Value(3.0) * 2')"
    assert run("-c", program(line)) == ["<string>", 1, None, None]


def test_executed_code_without_text(sources_on):
    names = {"Value": Value}
    exec(compile("\n\ny = Value(2.0) * 3.0", "nowhere.py", "exec"), names)
    where = modes.span_of(names["y"])
    assert source.place(where) == "nowhere.py:3"
    assert source.text_of(where) is None
    assert source.line_text(where) is None


def test_a_name_that_no_file_can_have():
    assert source.lines_of("no\0file.py") == []
    assert source.lines_of("") == []


def test_code_from_standard_input_has_its_line_only():
    assert run("-", typed=program("y = mg.Value(3.0) * 2")) == ["<stdin>", 3, None, None]


def test_without_columns_there_is_the_line(tmp_path):
    script = tmp_path / "lesson.py"
    script.write_text(program("y = mg.Value(3.0) * 2"))
    assert run("-X", "no_debug_ranges", str(script)) == [
        "lesson.py", 3, None, "y = mg.Value(3.0) * 2",
    ]  # fmt: skip


def test_text_that_was_changed_since_is_not_cut_in_the_middle_of_a_letter(tmp_path):
    script = tmp_path / "lesson.py"
    script.write_text("y = é * 2", "utf-8")
    where = source.Span("lesson.py", 1, 5, 1, 8, "<module>", str(script))
    assert source.text_of(where) is None
    where = source.Span("lesson.py", 7, 5, 7, 8, "<module>", str(script))
    assert source.text_of(where) is None


def test_two_files_of_one_name_are_told_apart():
    labels = [source._label(path) for path in ("/a/same.py", "/b/same.py", "/a/same.py")]
    assert labels == ["same.py", "same.py (2)", "same.py"]
    assert source._label("C:\\course\\windows.py") == "windows.py"
    assert source._label("/tmp/ipykernel_42/123.py") == "cell"


def test_cells_have_their_number_and_their_text(tmp_path):
    pytest.importorskip("IPython")
    script = tmp_path / "session.py"  # a process of its own: a shell takes over __main__
    script.write_text(
        f"""
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={{"enabled": False}}))
import minigrad as mg
assert mg.options.sources
shell.run_cell("a = 2.0", store_history=True)
shell.run_cell("import minigrad as mg\\n%time y = mg.Value(a)\\ny = y * 3.0", store_history=True)
y = shell.user_ns["y"]
{SHOW.strip()}
""",
        "utf-8",
    )
    assert run(str(script), IPYTHONDIR=str(tmp_path)) == ["In[2]", 3, "y * 3.0", "y = y * 3.0"]

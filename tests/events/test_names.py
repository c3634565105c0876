"""What nodes are called: the rules of ``names.py``, one by one and against each other."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad import Value, events, modes, source
from minigrad.events.assignments import OPERATOR, Expression, read, read_text
from minigrad.events.names import names_of, number_name, source_texts

ROOT = Path(events.__file__).resolve().parents[2]
_cells = 0


def names(text, tmp_path, *, sources=True, output="out"):
    """The names of the trace of ``out``, after a program ran from a file."""
    global _cells
    _cells += 1
    file = tmp_path / f"program{_cells}.py"
    file.write_text(textwrap.dedent(text), "utf-8")
    scope = {"mg": mg, "Value": Value}
    mg.options.sources = sources
    try:
        code = compile(file.read_text("utf-8") + f"\n_t = mg.trace({output})", str(file), "exec")
        exec(code, scope)
    finally:
        mg.options.sources = False
    return [node.name for node in scope["_t"].nodes if node.role != "constant"]


# --- Rule 1: name= --------------------------------------------------------------------------------


@pytest.mark.parametrize("sources", [True, False])
def test_a_given_name_comes_first(tmp_path, sources):
    assert names("x = Value(2, name='w'); out = x * x", tmp_path, sources=sources) == ["w", "out"]


def test_given_names_may_be_the_same_and_automatic_ones_step_aside(tmp_path):
    text = """
    x = Value(1)
    y = Value(2, name="x") * Value(3, name="x")
    out = x * y
    """
    assert names(text, tmp_path) == ["x₂", "x", "x", "y", "out"]


def test_automatic_names_are_not_written_into_nodes():
    x = Value(2.0)
    assert mg.trace(x * 3.0).nodes[0].name == "x"
    assert x.name is None


# --- Rule 2: the assignment -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b = Value(1), Value(2); out = a*b + a", ["a", "b", "a*b", "out"]),
        ("a = b = Value(1); out = a * b", ["a", "out"]),
        ("(a, [b, c]) = (Value(1), [Value(2), Value(3)]); out = a+b+c",
         ["a", "b", "c", "a+b", "out"]),
        ("a, *r, z = Value(1), Value(2), Value(3); out = a + z", ["a", "z", "out"]),
        ("x: Value = Value(1)\nout: Value = x * x", ["x", "out"]),
        ("out = (y := Value(3)) * y", ["y", "out"]),
        ("out = (y := Value(3) * 2)", ["Value(3)", "out"]),
        ("x = Value(1)\nx += Value(2)\nx *= x\nout = -x", ["x", "Value(2)", "x₂", "x₃", "out"]),
        ("x = Value(1)\nfor i in range(3):\n    x = x * 2\nout = x * 1",
         ["x", "x₂", "x₃", "x₄", "out"]),
        ("x = Value(1)\nfor i in range(11):\n    x = x.tanh()\nout = -x",
         ["x", *(f"x{i}" for i in [*"₂₃₄₅₆₇₈₉", "₁₀", "₁₁", "₁₂"]), "out"]),
        ("x = Value(1)\nout = x * 2 if x.data > 0 else -x", ["x", "out"]),
        ("x = None\nx = x or Value(2)\nout = x * 2", ["x", "out"]),
        ("with mg.errstate('ignore'):\n    x = Value(2)\n    out = x / 2", ["x", "out"]),
        ("with mg.scope('layer'):\n    x = Value(2)\n    out = x / 2", ["x", "out"]),
        ("ws = [Value(1), Value(2)]; d = {'k': Value(3)}\nout = ws[0] * ws[1] * d['k']",
         ["ws[0]", "ws[1]", "d['k']", "ws[0] * ws[1]", "out"]),
        ("ws = [None]\nws[0] = Value(2); out = ws[0] * 2", ["ws[0]", "out"]),
        ("损失 = Value(1); σ = '🙂'; out = 损失 * 损失 + 1", ["损失", "损失 * 损失", "out"]),
        ("a = Value(1)\nout = (a *\n   2\n   + a)", ["a", "v2", "out"]),
        ("a = Value(1)\nout = (a\n   .tanh()\n   .exp())", ["a", "tanh()", "out"]),
        ("x = Value(1)\nout = mg.tanh(\n    x)", ["x", "out"]),
    ],
)  # fmt: skip
def test_the_outermost_expression_is_called_like_its_variable(text, expected, tmp_path):
    assert names(text, tmp_path) == expected


def test_attributes(tmp_path):
    text = """
    class Neuron:
        def __init__(self, w):
            self.w = Value(w)
            self.b: Value = Value(0)
        def __call__(self, x):
            return x * self.w + self.b
    out = Neuron(2)(Neuron(3)(Value(4)))
    """
    assert names(text, tmp_path) == [
        "self.w", "self.b", "self.w₂", "self.b₂", "Value(4)", "x * self.w", "x * self.w + self.b",
        "(x * self.w)₂", "out",
    ]  # fmt: skip


def test_a_helper_of_the_learner_names_with_its_own_variables(tmp_path):
    text = """
    def square(x):
        result = x * x
        return result
    x = Value(3)
    out = square(square(x)) + square(x)
    """
    assert names(text, tmp_path) == ["x", "result", "result₂", "result₃", "out"]


def test_a_lambda_is_named_by_what_it_gave_or_by_its_text(tmp_path):
    text = "f = lambda v: v * v\nx = Value(3)\ny = f(x)\nout = f(y + 1) - y"
    assert names(text, tmp_path) == ["x", "y", "y + 1", "v * v", "out"]


def test_a_call_that_makes_many_nodes_names_its_result_only(tmp_path):
    text = """
    xs = [Value(i) for i in range(4)]
    s = sum(x * x for x in xs)
    out = sum([s, *xs])
    """
    assert names(text, tmp_path) == [
        "xs[0]", "xs[1]", "xs[2]", "xs[3]", "x * x", "(x * x)₂", "v6", "(x * x)₃", "v8",
        "(x * x)₄", "s", "v11", "v12", "v13", "out",
    ]  # fmt: skip


def test_a_class_called_by_another_name(tmp_path):
    assert names("V = Value\nx = V(2)\nout = x * x", tmp_path) == ["x", "out"]


# --- Rule 3: the caller's variables ---------------------------------------------------------------


def test_without_sources_the_callers_variables_give_names(tmp_path):
    text = """
    a, b = Value(1), Value(2)
    _hidden = Value(3)
    first = second = a * b
    ws = [Value(i) for i in range(2)]
    pairs = (ws[0], first)
    state = {"w": Value(7), 1: Value(8), None: Value(9)}
    out = first + _hidden + ws[0] * ws[1] + state["w"] + state[1] + state[None]
    """
    got = names(text, tmp_path, sources=False)
    assert got == [
        "a", "b", "v2", "first", "ws[0]", "ws[1]", "state['w']", "state[1]", "v8", "v9", "v10",
        "v11", "v12", "v13", "out",
    ]  # fmt: skip


def test_the_variables_of_a_function_hide_those_of_its_module():
    scope = {"names_of": names_of, "x": Value(1.0), "outer": Value(2.0)}
    exec("def look(x, given): return list(names_of([x, *given]).values())", scope)
    given = scope["x"], scope["outer"]
    assert scope["look"](Value(3.0), given) == ["x", "given[0]", "outer"]


def test_comprehensions_are_named_by_the_list(tmp_path):
    text = "ws = [Value(i) for i in range(3)]\nout = ws[2] * ws[1]"
    assert names(text, tmp_path) == ["ws[1]", "ws[2]", "out"]


def test_variables_that_are_strange_do_no_harm():
    class Strange:
        def __eq__(self, other):
            raise RuntimeError

        __hash__ = None

        def __len__(self):
            raise RuntimeError

    class List(list):
        def __iter__(self):
            raise RuntimeError

    strange, listed, long = Strange(), List([1]), [0] * 200_000
    x = Value(2.0)
    scope = {"x": x, "strange": strange, "listed": listed, "long": long, 3: x, "names_of": names_of}
    assert eval("names_of([x])", scope) == {x: "x"}
    assert eval("names_of([x])", {"names_of": names_of}, {"x": x}) == {x: "x"}


def test_a_mapping_of_locals_without_keys_does_no_harm():
    class Locals:
        def __getitem__(self, name):
            return {"names_of": names_of, "x": x}[name]

    x = Value(2.0)
    assert eval("names_of([x])", {}, Locals()) == {x: "v0"}


# --- Rules 4, 5, 6 --------------------------------------------------------------------------------


def test_a_scope_names_what_has_no_variable(tmp_path):
    text = """
    x = Value(2)
    with mg.scope("net"), mg.scope("layer1"):
        out = (x * 3 + x * 4).tanh()
    """
    named = ["x", "net/layer1/mul", "net/layer1/mul₂", "net/layer1/add", "out"]
    assert names(text, tmp_path) == named
    assert names(text, tmp_path, sources=False) == named


def test_short_text_names_a_part_and_long_text_does_not(tmp_path):
    text = """
    abcdefgh, x = Value(1), Value(2)
    out = (abcdefgh * abcdefgh + x) * (x * x) * (abcdefgh * abcdefgh * abcdefgh)
    """
    assert names(text, tmp_path)[2:] == [
        "abcdefgh * abcdefgh", "abcdefgh * abcdefgh + x", "x * x",
        "v5", "(abcdefgh * abcdefgh)₂", "v7", "out",
    ]  # fmt: skip


def test_the_last_resort_is_the_id_in_the_trace():
    def chain():
        return ((Value(2.0) * 3.0 + 1.0) / 7.0).tanh()

    for node in mg.trace(chain()).nodes:
        assert node.role == "constant" or node.name == f"v{node.id}"


@pytest.mark.parametrize("sources", [False, True])
def test_a_variable_called_like_a_last_resort_does_not_share_it(tmp_path, sources):
    text = """
        mg.options.sources = False
        pair = [[Value(1.0) * 2.0]]
        mg.options.sources = True
        v2 = Value(3.0)
        out = pair[0][0] * v2
        """
    given_names = names(text, tmp_path, sources=sources)
    assert len(set(given_names)) == len(given_names)
    assert given_names[1:] in (["v2", "v2₂", "out"], ["v2₂", "v2", "out"])


def test_a_number_is_called_by_its_digits():
    assert number_name(0.1 + 0.2) == "0.3"


# --- Where there is no text -----------------------------------------------------------------------


def test_executed_code_falls_back_to_the_callers_variables():
    scope = {"mg": mg, "Value": Value}
    mg.options.sources = True
    try:
        exec("x = Value(2)\ny = x * x + 1\nt = mg.trace(y)", scope)
    finally:
        mg.options.sources = False
    assert [node.name for node in scope["t"].nodes] == ["x", "v1", "1", "y"]
    assert scope["t"].source == {}


def run(*words, typed=None, **environment):
    """What a fresh interpreter prints in its last line."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **environment}
    done = subprocess.run(
        [sys.executable, *words], input=typed, env=environment, timeout=60, check=False,
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


PROGRAM = """import minigrad as mg
mg.options.sources = True
def area(a):
    r = a * a
    return r
x = mg.Value(3.0); σ = area(x * 2.0) + x
t = mg.trace(σ)
print([n.name for n in t.nodes if n.role != "constant"], sorted(t.source))
"""


def test_a_command_has_names():
    assert run("-c", PROGRAM) == "['x', 'x * 2.0', 'r', 'σ'] ['<string>']"


def test_a_script_has_names_in_every_process(tmp_path):
    script = tmp_path / "lesson.py"
    script.write_text(PROGRAM, "utf-8")
    for seed in "1", "2":
        shown = run(str(script), PYTHONHASHSEED=seed)
        assert shown == "['x', 'x * 2.0', 'r', 'σ'] ['lesson.py']"


def test_without_columns_the_callers_variables_remain(tmp_path):
    script = tmp_path / "lesson.py"
    script.write_text(PROGRAM, "utf-8")
    shown = run("-X", "no_debug_ranges", str(script))
    assert shown == "['x', 'v2', 'v3', 'σ'] ['lesson.py']"


def test_the_plain_interpreter_has_the_callers_variables():
    typed = PROGRAM.replace("    return r\n", "    return r\n\n")
    shown = run("-i", "-q", typed=typed)
    if sys.version_info >= (3, 13):  # since then the interpreter keeps what was typed
        assert "['x', 'x * 2.0', 'r', 'σ']" in shown
    else:
        assert shown.endswith("['x', 'v2', 'v3', 'σ'] []")


def test_cells_have_names_also_when_they_show_themselves(tmp_path):
    pytest.importorskip("IPython")
    script = tmp_path / "session.py"  # a process of its own: a shell takes over __main__
    script.write_text(
        '''
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
cell = lambda text: shell.run_cell(text, store_history=True)
cell("import minigrad as mg")
cell("x = mg.Value(2.0)\\nws = [mg.Value(3.0) for _ in range(2)]")
cell("y = (x * ws[0]).tanh() + ws[1]")
library = """def show(y, p, cycle):
    t = mg.trace(y)
    p.text(f'{[n.name for n in t.nodes]} {list(t.source)}')
"""
exec(compile(library, "/somewhere/site-packages/library.py", "exec"), shell.user_ns)
formatter = shell.display_formatter.formatters["text/plain"]
formatter.for_type_by_name("minigrad.value", "Value", shell.user_ns["show"])
cell("y * ws[0]")
''',
        "utf-8",
    )
    assert run(str(script), IPYTHONDIR=str(tmp_path)) == (
        "Out[4]: ['x', 'ws[0]', 'ws[1]', 'x * ws[0]', '(x * ws[0]).tanh()', 'y', 'y * ws[0]'] "
        "['In[2]', 'In[3]', 'In[4]']"
    )


# --- The text of a trace --------------------------------------------------------------------------


def test_a_trace_keeps_the_text_of_every_file_and_no_folder(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    mg.options.sources = True
    made = {"Value": Value, "x": Value(1.0)}
    try:
        for folder in "one", "two":
            file = tmp_path / folder / "twice.py"
            file.write_text(f"x = x * 2  # {folder}\n", "utf-8")
            exec(compile(file.read_text("utf-8"), str(file), "exec"), made)
    finally:
        mg.options.sources = False
    trace = mg.trace(made["x"])
    assert trace.source["twice.py"] == "x = x * 2  # one\n"
    assert trace.source["twice.py (2)"] == "x = x * 2  # two\n"
    assert set(trace.source) == {"test_names.py", "twice.py", "twice.py (2)"}
    assert {node.span.file for node in trace.nodes if node.span} == set(trace.source)


def test_nodes_without_a_place_have_no_text():
    x = Value(2.0)
    assert source_texts(mg.trace(x * x).nodes) == {}


# --- Reading programs -----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["x = (", "\0", "x = " + "(" * 500 + ")" * 500, "  x", ""])
def test_what_cannot_be_read_says_nothing(text):
    assert read_text(text) == {}


def test_a_place_that_cannot_be_read_says_nothing():
    assert read(source.Span("f.py", 1, 0, 1, 5, "f", "no such file")) == Expression("", "")


def test_a_file_that_changed_is_read_again(monkeypatch):
    where = source.Span("f.py", 1, 4, 1, 7, "<module>", "f.py")
    for name in "abc":
        lines = [f"{name} = x*y\n"]
        monkeypatch.setattr("minigrad.events.assignments.lines_of", lambda path, lines=lines: lines)
        assert read(where) == Expression(name, OPERATOR)


def test_files_of_the_past_are_forgotten(monkeypatch):
    from minigrad.events import assignments

    monkeypatch.setattr(assignments, "lines_of", lambda path: [f"{path} = x*y\n"])
    for number in range(assignments._MOST_FILES + 5):
        read(source.Span("f.py", 1, 4, 1, 7, "<module>", f"a{number}"))
    assert len(assignments._read) == assignments._MOST_FILES
    assignments._read.clear()


@given(st.lists(st.sampled_from(["x", "y", "x₂", "x₃", None]), max_size=12))
def test_automatic_names_are_unique(given_names):
    nodes = [Value(1.0, name=name) for name in given_names]
    called = names_of(nodes)
    automatic = [called[node] for node in nodes if node.name is None]
    assert len(set(automatic)) == len(automatic)
    assert not set(automatic) & set(given_names)


def test_many_nodes_are_named_quickly():
    mg.options.sources = True
    try:
        x = Value(1.0)
        for _ in range(50_000):
            x = x * 0.5 + 1.0
    finally:
        mg.options.sources = False
    order = sorted(mg.topological_order(x), key=modes.serial_of)
    called = list(names_of(order).values())
    assert called[-1] == "x" + "50001".translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def test_an_element_is_called_by_its_place_in_the_array():
    pytest.importorskip("numpy")
    mg.options.sources = True
    try:
        weights = mg.Tensor([[1.0, 2.0], [3.0, 4.0]], name="W")
        opened = mg.expand(mg.Tensor([5.0, 6.0], name="x") @ weights)
        called = {node.name for node in mg.trace(opened[0]).nodes}
        assert called == {"W", "x", "W[0, 0]", "W[1, 0]", "x[0]", "x[1]", "opened[0]"}
        a, b = mg.to_values(weights[0])
        called = {node.name for node in mg.trace(a * b).nodes}
        assert called == {"W", "weights[0]", "a", "b", "a * b"}
    finally:
        mg.options.sources = False

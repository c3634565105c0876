"""Both forms of each lesson, the student version, and what the cells print."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise

import pytest

from tests.lessons.reading import LESSONS, NOTEBOOKS, cells, load, run

each_lesson = pytest.mark.parametrize("lesson", LESSONS)

CHECK = re.compile(r'check\("(\d+\.\d+)"')
CHECKS = load("checks").CHECKS


def source(lesson):
    return (NOTEBOOKS / f"{lesson}.py").read_text("utf-8")


def path(lesson):
    return NOTEBOOKS / f"{lesson}.ipynb"


def exercises(lesson):
    return CHECK.findall(source(lesson))


@pytest.fixture(scope="module")
def solved():
    return {lesson: run(cells(path(lesson)), lesson) for lesson in LESSONS}


@pytest.fixture(scope="module")
def students(tmp_path_factory):
    """The folder that ``make_student.py`` writes."""
    pytest.importorskip("jupytext")
    pytest.importorskip("nbformat")
    folder = tmp_path_factory.mktemp("students") / "handout"
    assert load("make_student").main([str(folder)]) == 0
    return folder


# --- Two forms ------------------------------------------------------------------------------------


def test_every_source_has_its_notebook():
    assert sorted(file.stem for file in NOTEBOOKS.glob("[0-9][0-9]_*.py")) == LESSONS != []


@each_lesson
def test_notebook_is_what_the_source_says(lesson):
    pytest.importorskip("jupytext")
    nbformat = pytest.importorskip("nbformat")
    written = nbformat.writes(load("make_student").notebook(source(lesson))) + "\n"
    assert path(lesson).read_text("utf-8") == written, "run `make_student.py --sync`"


@each_lesson
def test_notebook_is_clean(lesson):
    book = json.loads(path(lesson).read_text("utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids)
    assert set(book["metadata"]) == {"kernelspec"}
    assert book["metadata"]["kernelspec"]["name"] == "python3"


@each_lesson
def test_cells_are_short(lesson):
    assert [text for text in cells(path(lesson)) if len(text.splitlines()) > 40] == []
    assert [text for text in cells(path(lesson), "markdown") if len(text.split()) > 130] == []


# --- What the lessons show ------------------------------------------------------------------------


@each_lesson
def test_solved_lesson_is_right(lesson, solved):
    printed = solved[lesson].printed
    assert re.findall(r"^✓ (\S+)", printed, re.MULTILINE) == exercises(lesson)
    assert not re.search("^[✗·]", printed, re.MULTILINE)


def test_each_exercise_has_one_check():
    asked = [number for lesson in LESSONS for number in exercises(lesson)]
    assert asked == list(CHECKS)
    for lesson in LESSONS:
        assert 3 <= len(exercises(lesson)) <= 6
        assert all(number.startswith(f"{int(lesson[:2])}.") for number in exercises(lesson))


def test_lesson_1_shows_the_wrong_numbers_beside_the_right_ones(solved):
    printed = solved["01_derivatives_by_hand"].printed
    wrong_and_right = [
        ("our engine   a: 12.0000   b: 12.0000", "recursion counts the 2 of e twice"),
        ("with =       a: 3.0000   b: 5.0000", "contributions are erased"),
        ("our engine   a: 10.0000   b: 10.0000", "the topological order repairs it"),
    ]
    for line, why in wrong_and_right:
        assert f"{line}\nby nudging   a: 10.0000   b: 10.0000" in printed, why


def test_lesson_1_names_what_the_source_of_the_library_has(solved):
    """The text points at these words; if the source changes, the text has to follow."""
    printed = solved["01_derivatives_by_hand"].printed
    for words in [
        "for node in reversed(order):", "before + contribution", "yield Step(",
        "cotangents[source]",
        "[1.0, 1.0]", "[SECOND, FIRST]", "1.0 - out * out", "def local_derivative(i: int)",
        "if not create_graph and fast.backward(", "topological_order(self)",
    ]:  # fmt: skip
        assert words in printed
    assert re.search(r"^ +_?publish\(order, cotangents, create_graph\)$", printed, re.MULTILINE)


def test_lesson_1_ends_with_the_right_gradient(solved):
    names = solved["01_derivatives_by_hand"].names
    assert (names["a"].grad, names["b"].grad) == (10.0, 10.0)


def test_lesson_2_shows_what_its_text_says(solved):
    printed = solved["02_values_and_graphs"].printed
    for line in [
        "x1     -1.500000  -1.500000", "w2      0.000000   0.000000",
        "after one pass   6.0\nafter two passes 12.0", "value nan   gradient nan",
        "second derivative -0.59259", "NumericalError - log(x=0.0) is -inf",
    ]:  # fmt: skip
        assert line in printed
    gradients = dict.fromkeys(["x1", "x2", "w1", "w2", "bias"])
    for name, gradient, nudged in re.findall(
        r"^(\w+) +(-?\d\.\d{6}) +(-?\d\.\d{6})$", printed, re.M
    ):
        assert gradient == nudged
        gradients[name] = gradient
    assert None not in gradients.values()


def test_lesson_2_trains_its_neuron(solved):
    losses = re.findall(r"^step +\d+ +loss (\S+)$", solved["02_values_and_graphs"].printed, re.M)
    numbers = [float(loss) for loss in losses]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[-1] < 0.1


def test_lesson_3_shows_what_its_text_says(solved):
    printed = solved["03_from_scalars_to_arrays"].printed
    for line in [
        "70721 nodes", "(2, 3) + (2,) does not fit", "gradient 18.0   nudged 18.0",
        "x * factor cannot broadcast (3, 4) with (3,)", "factor[..., None]",
        "mean of squares 2.5   shape (4, 4)", "predictions[:, 0]", "a: 4.0   b: 8.0",
        "opened: [-3.  1.] [[2.0, 0.0], [0.0, 0.0]]\narray:  [-3.  1.] [[2.0, 0.0], [0.0, 0.0]]",
    ]:  # fmt: skip
        assert line in printed
    names = solved["03_from_scalars_to_arrays"].names
    assert len(re.findall(r"^(?:W|matmul|B|add|tanh|mul|reduce_sum) +\(", printed, re.M)) == 7
    assert abs(names["W"].grad - names["grads_of_values"]).max() < 1e-12
    assert (names["c"].grad == [3.0, 30.0, 300.0]).all()


def pictures(done):
    """The SVG of every picture that a lesson shows, in order."""
    return [shown.svg for shown in done.shown if hasattr(shown, "svg")]


def picture_with(words, done):
    """The one picture in which these words stand."""
    (found,) = [svg for svg in pictures(done) if words in svg]
    return found


def texts(svg):
    """What stands on the cards of a picture."""
    return re.findall("<text[^>]*>([^<]+)</text>", svg)


def test_pictures_show_what_the_text_of_the_lessons_says(solved):
    branch = picture_with(">recorded branch<", solved["02_values_and_graphs"])
    assert branch.count("mg-edge") == branch.count("stroke-dasharray") == 4

    folded = picture_with("total₄", solved["02_values_and_graphs"])
    assert [t for t in texts(folded) if t.startswith("…")] == ["… 37 nodes", "… 5 nodes"]
    assert {"answer … total₃", "2 of mul", "answer₄", "miss₄", "(miss**2)₄"} < set(texts(folded))

    arrays = picture_with("loss_of_arrays", solved["03_from_scalars_to_arrays"])
    assert arrays.count("mg-node") == 8
    assert "[32×16]" in texts(arrays)
    assert "X" not in texts(arrays)
    assert arrays.count("stroke-dasharray") == 1


def numbers_after(words, printed):
    """The numbers of the first line that begins with these words, and of the next such lines."""
    lines = re.findall(rf"^ *{re.escape(words)} +(.*)$", printed, re.M)
    assert lines, words
    return [[float(x) for x in line.split()] for line in lines]


def test_lesson_4_shows_what_its_text_says(solved):
    name = "04_training_a_network"
    printed, names = solved[name].printed, solved[name].names
    losses = [float(x) for x in re.findall(r"^step +\d+ +loss (\S+)$", printed, re.M)]
    assert losses[0] > 0.9 > 0.3 > losses[1] > losses[-1]
    assert losses[1] - losses[2] < 0.03, "the flat part"

    runs = names["runs"]
    assert runs["rate 1.0"][-1] < 0.3 < 0.35 < runs["rate 0.01"][-1] < 0.69
    assert min(runs["rate 20.0"]) > 0.69
    steps = [later - earlier for earlier, later in pairwise(runs["rate 20.0"])]
    assert min(steps) < -5.0 < 5.0 < max(steps), "up and down"
    assert max(runs["rate 20.0"]) < 2 * runs["rate 20.0"][0], "but it does not grow"
    assert {"0", "1"} == set(re.findall(r"has label (\d)$", printed, re.M))
    curves = {name: losses[-1] for name, losses in runs.items()}
    curves |= {"training": names["by_heart"].loss[-1]}
    for name, last in curves.items():
        assert any(line[-1] == round(last, 3) for line in numbers_after(name, printed)), name
    assert [line[-1] for line in numbers_after("loss, epoch", printed)] == [60, 30, 200]

    small, large, right = numbers_after("signal", printed)
    assert all(x / 11 < y < x / 7 for x, y in pairwise(small))
    assert all(y > x * 4 for x, y in pairwise(large))
    assert max(right) < 2 * min(right)
    trained, small, large, right = numbers_after("length of gradient", printed)
    assert 5 * min(trained) < max(trained) < 7.5 * min(trained) < 0.2
    assert max(small) < 1e-6 < 1e3 < min(large)
    assert max(right) < 2 * min(right)
    assert re.search(r"^too small +finished( +0\.693\d)+$", printed, re.M)
    assert re.search(r"^too large +loss not finite *$", printed, re.M)


def test_lesson_4_learns_by_heart_and_stops_early(solved):
    names = solved["04_training_a_network"].names
    by_heart, stopped = names["by_heart"], names["stopped"]
    assert by_heart.accuracy[-1] == 1.0
    assert by_heart.loss[-1] < 0.05
    assert by_heart.validation_loss[-1] > 2 * min(by_heart.validation_loss)
    assert by_heart.validation_accuracy[-1] <= by_heart.validation_accuracy[44 - 1]
    assert stopped.stopped == "early stop"
    assert len(stopped) == stopped.best_epoch + 20 < 100


def test_lesson_4_loads_what_it_saved(solved):
    names = solved["04_training_a_network"].names
    model, fresh = names["model"], names["fresh"]
    for name, numbers in model.state_dict().items():
        assert (fresh.state_dict()[name] == numbers).all()
    assert "layers.1.weight has shape (16, 16)" in solved["04_training_a_network"].printed


@pytest.mark.parametrize("lesson", LESSONS[2:])
def test_lesson_needs_neither_plots_nor_scikit_learn(lesson, monkeypatch):
    for module in list(sys.modules):
        if module.partition(".")[0] in ("matplotlib", "sklearn"):
            monkeypatch.delitem(sys.modules, module)
    for module in ("matplotlib", "sklearn"):
        monkeypatch.setitem(sys.modules, module, None)
    done = run(cells(path(lesson)), lesson)
    assert re.findall(r"^✓ (\S+)", done.printed, re.MULTILINE) == exercises(lesson)
    if lesson == "04_training_a_network":
        assert "matplotlib is not installed" in done.printed
        assert "three spirals in place of the digits" in done.printed
        right = 1 - len(done.names["wrong"]) / len(done.names["cl_valid"])
        assert right > 0.9


def test_lesson_4_reads_digits(solved):
    pytest.importorskip("sklearn")
    names = solved["04_training_a_network"].names
    assert names["task"] == "digits"
    assert len(names["wrong"]) < 0.06 * len(names["cl_valid"])


# --- In a kernel ----------------------------------------------------------------------------------

KERNEL = """
import json, sys
import nbformat
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], 4)
NotebookClient(book, kernel_name="python3", timeout=60,
               resources={"metadata": {"path": sys.argv[2]}}).execute()
print(json.dumps([output for cell in book.cells for output in cell.get("outputs", [])]))
"""


def outputs_in_a_kernel(notebook, folder, scratch):
    """The outputs of all cells; the process apart keeps its sockets and warnings to itself."""
    for package in ("nbclient", "nbformat", "ipykernel"):
        pytest.importorskip(package)
    here = {
        name: str(scratch / name)
        for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    done = subprocess.run(
        [sys.executable, "-c", KERNEL, str(notebook), str(folder)],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, **here, "PYTHONPATH": str(NOTEBOOKS.parent)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@each_lesson
def test_lesson_shows_itself_in_a_kernel(lesson, tmp_path):
    outputs = outputs_in_a_kernel(path(lesson), NOTEBOOKS, tmp_path)
    assert [output for output in outputs if output["output_type"] == "error"] == []
    printed = "".join(output["text"] for output in outputs if output.get("name") == "stdout")
    assert re.findall(r"^✓ (\S+)", printed, re.MULTILINE) == exercises(lesson)
    shown = [output["data"] for output in outputs if "data" in output]
    drawn = source(lesson).count("\nmg.draw(")
    assert sum("data:image/svg+xml" in data.get("text/html", "") for data in shown) == drawn > 0
    explained = source(lesson).count("\nmg.explain(")
    assert sum("text/markdown" in data for data in shown) == explained


# --- For students ---------------------------------------------------------------------------------


@each_lesson
def test_student_version_has_no_solutions(lesson, students):
    handed_out = students / f"{lesson}.ipynb"
    text = "\n".join(cells(handed_out))
    assert "SOLUTION" not in text
    for solution in re.findall(r"### BEGIN SOLUTION\n(.*?)\s*### END", source(lesson), re.DOTALL):
        assert solution not in text
    stubs = text.count("...  # your answer here") + text.count("...  # your code here")
    assert stubs == len(exercises(lesson))
    assert cells(handed_out, "markdown") == cells(path(lesson), "markdown")


@each_lesson
def test_student_version_runs_and_nothing_is_answered(lesson, students):
    printed = run(cells(students / f"{lesson}.ipynb"), f"{lesson} for students").printed
    assert re.findall(r"^· (\S+) not answered yet$", printed, re.MULTILINE) == exercises(lesson)
    assert not re.search("^[✗✓]", printed, re.MULTILINE)


def test_student_version_needs_nothing_but_its_folder(students, tmp_path):
    outputs = outputs_in_a_kernel(students / f"{LESSONS[0]}.ipynb", students, tmp_path)
    printed = "".join(output["text"] for output in outputs if output.get("name") == "stdout")
    assert printed.count("not answered yet") == len(exercises(LESSONS[0]))


def test_a_solution_leaves_a_stub():
    without = load("make_student").without_solutions
    assert without("### BEGIN SOLUTION\nx = 1 + 2\n### END SOLUTION\ncheck(x)\n") == (
        "x = ...  # your answer here\ncheck(x)\n"
    )
    assert without("def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n") == (
        "def f():\n    ...  # your code here\n"
    )


@pytest.mark.parametrize("text", ["### BEGIN SOLUTION\nx = 1\n", "x = 1\n### END SOLUTION\n"])
def test_a_marker_without_partner_is_refused(text):
    with pytest.raises(ValueError, match="alone"):
        load("make_student").without_solutions(text)


def test_without_arguments_the_script_says_how(capsys):
    assert load("make_student").main([]) == 2
    assert "make_student.py FOLDER" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--all"], ["handout", "99"]])
def test_the_script_names_the_lessons_that_there_are(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load("make_student").main(arguments) == 2
    assert ", ".join(LESSONS) in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_the_script_does_not_overwrite_the_lessons(capsys):
    assert load("make_student").main([str(NOTEBOOKS)]) == 2
    assert "overwritten" in capsys.readouterr().out


def test_one_lesson_can_be_handed_out(tmp_path, capsys):
    pytest.importorskip("jupytext")
    assert load("make_student").main([str(tmp_path), "01"]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"{LESSONS[0]}.ipynb", "checks"]
    assert capsys.readouterr().out.count("wrote") == 2

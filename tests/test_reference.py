"""The generated docstrings: whole, true of the row, and their examples run."""

import doctest
import inspect
import math

import numpy as np
import pytest

import minigrad as mg
from minigrad.ops import FUNCTIONS
from minigrad.ops.row import MANY
from minigrad.reference import docstring, document, document_all
from minigrad.symbol import Symbol, derivative_formula

document_all()

PUBLIC = {name: function for name, function in FUNCTIONS.items() if function.op.public}
ROWS = {name: f.op for name, f in FUNCTIONS.items() if f.op.arity is not MANY}

each_function = pytest.mark.parametrize("name", PUBLIC)
each_row = pytest.mark.parametrize("name", ROWS)


class Numbers(doctest.OutputChecker):
    """Compares numbers up to 1e-12: the last digit depends on the C library of the machine."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        try:
            return math.isclose(float(want), float(got), rel_tol=1e-12)
        except ValueError:
            return False


def run_examples(text: str, name: str) -> doctest.TestResults:
    """Run the examples of a docstring; only those of ``ops/nary.py`` use names of their file."""
    names = {name: PUBLIC[name]} if PUBLIC[name].op.arity is MANY else {}
    test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    report: list[str] = []
    results = doctest.DocTestRunner(Numbers()).run(test, out=report.append)
    assert not results.failed, "".join(report)
    return results


@each_function
def test_example_of_a_docstring_runs(name):
    results = run_examples(inspect.getdoc(PUBLIC[name]), name)
    assert results.attempted, f"mg.{name} has no example"


@each_function
def test_docstring_has_every_section(name):
    text = inspect.getdoc(PUBLIC[name])
    for section in ("Args:", "Raises:", "Derivative:"):
        assert section in text
    assert "\n\n" in text, "a first line of its own"
    assert max(map(len, text.splitlines())) < 400


@pytest.mark.parametrize("name", [name for name in PUBLIC if name in ROWS])
def test_method_has_the_docstring_of_its_function(name):
    assert getattr(mg.Value, name).__doc__ == PUBLIC[name].__doc__


@each_row
def test_docstring_says_the_derivative_of_every_input(name):
    op, text = ROWS[name], docstring(ROWS[name])
    names = [Symbol(parameter) for parameter in op.parameters]
    for i, parameter in enumerate(op.parameters):
        line = next(line for line in text.splitlines() if f"/∂{parameter}" in line)
        if op.partials[i] is None:
            assert f"no gradient flows to {parameter}" in line
        elif not op.attrs:
            assert line.endswith(f" = {derivative_formula(op, i, names)}")


@each_row
def test_docstring_names_every_edge_kink_and_domain(name):
    op, text = ROWS[name], docstring(ROWS[name])
    assert ("Edge:" in text) == bool(op.edges)
    assert ("Kink:" in text) == (op.kink is not None)
    assert ("Domain:" in text) == (op.domain is not None)


def test_angles_are_in_radians():
    said = {name for name, op in ROWS.items() if "; radians" in docstring(op)}
    assert said == {"sin", "cos", "tan", "asin", "acos", "atan", "atan2"}
    assert "x: A number, an array, a node (Value or Tensor) or a symbol; radians." in docstring(
        ROWS["sin"]
    )
    assert "else a node or a symbol; radians." in docstring(ROWS["atan2"])


def test_keyword_attributes_are_named_with_their_default():
    text = docstring(ROWS["leaky_relu"])
    assert text.startswith("leaky_relu(x, negative_slope=0.01): ")
    assert "negative_slope: A number, 0.01 by default" in text
    assert "∂leaky_relu/∂x = where(0 < x, 1, negative_slope)" in text


def test_slopes_at_kinks_are_those_of_the_engine():
    assert "0 at 0 and 1 at 6" in docstring(ROWS["relu6"])
    assert "a convention, 0 at 0." in docstring(ROWS["abs"])


def test_published_source_is_named():
    assert "arXiv:1606.08415" in docstring(ROWS["gelu"])


def test_learners_operation_can_be_documented():
    cube = mg.operation(
        "reference_cube",
        lambda m, x: x * x * x,
        [lambda out, x: 3.0 * x * x],
        sentence="The third power.",
    )
    assert document(cube) is cube
    assert cube.__doc__.startswith("reference_cube(x): The third power.")
    assert "∂reference_cube/∂x = 3 * x * x" in cube.__doc__


def test_arrays_are_among_what_goes_in_and_comes_out():
    text = docstring(ROWS["maximum"])
    assert "x: A number, an array, a node (Value or Tensor) or a symbol; no unit." in text
    assert "A number for numbers, an array for arrays, else a node or a symbol; no unit." in text
    assert "ShapeError: if the shapes of arrays do not broadcast." in text
    assert "ShapeError" not in docstring(ROWS["tanh"])


def test_signatures_are_those_of_the_calls_that_work():
    """What may be given by position is not shown as a keyword alone."""
    for name in mg.__all__:
        function = getattr(mg, name)
        attrs = getattr(getattr(function, "op", None), "attrs", {})
        if not attrs or not hasattr(function, "__wrapped__"):
            continue
        parameters = inspect.signature(function).parameters
        assert list(parameters) == [*function.op.parameters, *attrs]
        assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())
        assert {key: parameters[key].default for key in attrs} == attrs
    assert str(inspect.signature(mg.mean)) == "(x, axis=None, keepdims=False)"
    x = np.arange(6.0).reshape(2, 3)
    assert mg.mean(x, 0, True).tolist() == mg.mean(x, axis=0, keepdims=True).tolist()
    assert mg.leaky_relu(-1.0, 0.5) == -0.5

"""The documentation of the functions of arrays: whole, and true of the rules and of NumPy.

Every line of a manual is an expression of Python. Here it is evaluated on the numbers of the cases
and compared with what the row computes, and with what its rule sends.
"""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.errors import ArgumentTypeError, ArgumentValueError, MinigradError
from minigrad.graph import numbers
from minigrad.ops import FUNCTIONS, OPS, indexing, reduce
from minigrad.ops.broadcasting import fit, parts
from minigrad.ops.kinds import General, evaluate_arrays
from minigrad.ops.manual import derivatives
from minigrad.ops.row import MANY
from minigrad.pull import pull
from minigrad.reference.latex import latex
from minigrad.tensor import ARRAY_FUNCTIONS, Tensor
from tests.tensor.cases import ARRAY_ROWS, CASES, Case, nodes
from tests.test_reference import Numbers

DOCUMENTED = {name: f for name, f in ARRAY_FUNCTIONS.items() if name not in FUNCTIONS}
DOCUMENTED |= {"stack_values": mg.stack_values}

each_function = pytest.mark.parametrize("name", DOCUMENTED)


# -- what the lines mean -------------------------------------------------------------------------


def function_of(row: str) -> Callable[..., Any]:
    """A row without a function, called as the manuals write it: attributes in their order."""
    op = OPS[row]
    return lambda x, *attrs: evaluate_arrays(
        op.cached(**dict(zip(op.attrs, attrs, strict=False))), (x,)
    )


NAMES: dict[str, Any] = {
    **{name: f for name, f in FUNCTIONS.items() if f.op.public},
    **ARRAY_FUNCTIONS,
    "put": indexing.put,
    **{name: function_of(name) for name in ("fold", "unfold", "put_diagonal")},
    "np": np,
}


def evaluate(text: str, names: dict[str, Any]) -> Any:
    """The value of a line; the names are those of ``minigrad``, of the row, and of its note."""
    with mg.errstate("ignore"), np.errstate(all="ignore"):
        return eval(text, {**NAMES, **names})


def kept(z: Any, x: Any, axis: Any) -> Any:
    """``z`` with the axes that a reduction of ``x`` took away, with length 1."""
    gone = range(np.ndim(x)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = [n % np.ndim(x) for n in gone]
    return np.reshape(z, [1 if n in gone else length for n, length in enumerate(np.shape(x))])


def names_of(op: Any, g: Any, out: Any, xs: Any) -> dict[str, Any]:
    """What the lines of a row speak of, and what its note says of the other names."""
    given = dict(zip(op.parameters, xs, strict=True)) if op.arity is not MANY else {}
    names = {"g": g, "out": out, **given, **op.attrs}
    x = xs[0]
    if "keepdims" in op.attrs:
        names["g"], names["out"] = (kept(z, x, op.attrs["axis"]) for z in (g, out))
    if "reduction" in op.attrs:
        terms = x.size if op.name != "cross_entropy" else x.size // x.shape[x.ndim > 1]
        names["n"] = terms if op.attrs["reduction"] == "mean" else 1
    else:
        names["n"] = np.size(x) / np.size(out)
    if op.attrs.get("axis", 0) is None and "keepdims" not in op.attrs:
        names["x"] = np.ravel(x) if op.name in ("cumsum", "cumprod", "sort") else x
    if op.name in MEANINGS:
        names |= MEANINGS[op.name](g=g, out=out, xs=xs, **op.attrs)
    return names


def _classes(g: Any, xs: Any, reduction: str, **_: Any) -> dict[str, Any]:
    x, target = xs
    c = 1 if x.ndim > 1 else 0
    t = target if np.shape(target) == x.shape else np.eye(x.shape[c])[np.asarray(target, int)]
    t = t if np.shape(target) == x.shape else np.moveaxis(t, -1, c)
    return {"x": x, "c": c, "t": t, "g": np.expand_dims(g, c) if reduction == "none" else g}


def _shares(out: Any, xs: Any, kernel_size: Any, stride: Any, padding: Any, **_: Any) -> Any:
    hits = NAMES["unfold"](xs[0], kernel_size, stride, padding) == out[..., None, None]
    return {"share": hits / hits.sum(axis=(-2, -1), keepdims=True)}


def _inside(xs: Any, pad_width: Any, **_: Any) -> dict[str, Any]:
    before = np.broadcast_to(np.asarray(pad_width), (xs[0].ndim, 2))[:, 0]
    return {
        "inside": tuple(slice(b, b + n) for b, n in zip(before, xs[0].shape, strict=True)),
    }


MEANINGS: dict[str, Callable[..., dict[str, Any]]] = {
    "transpose": lambda axes, **_: {"back": None if axes is None else np.argsort(axes)},
    "broadcast_to": lambda out, xs, **_: {
        "repeated": tuple(
            n
            for n in range(out.ndim)
            if n < out.ndim - xs[0].ndim or xs[0].shape[n - out.ndim] != out.shape[n]
        )
    },
    "pad": _inside,
    "max_pool2d": _shares,
    "avg_pool2d": lambda kernel_size, **_: {
        "mask": np.full(kernel_size, 1 / (kernel_size[0] * kernel_size[1]))
    },
    "cross_entropy": _classes,
}


def each_of_many(op: Any, xs: Any, i: int) -> dict[str, Any]:
    """What the line of a row of any number of inputs speaks of, for input ``i``."""
    if op.name == "concatenate":
        start = sum(x.shape[op.attrs["axis"]] for x in xs[:i])
        return {"place": np.arange(start, start + xs[i].shape[op.attrs["axis"]])}
    if op.name == "einsum":
        left, _, result = op.attrs["subscripts"].partition("->")
        words = left.split(",")
        others = [words[k] for k in range(len(words)) if k != i]
        swapped = f"{','.join([result, *others])}->{words[i]}"
        return {"swapped": swapped, "others": [x for k, x in enumerate(xs) if k != i]}
    if op.name == "stack_values":
        return {"place": list(np.ndindex(op.attrs["shape"]))[i]}
    return {"i": i}


def beyond_the_line(case: Case, op: Any, xs: Any) -> str:
    """Why a case is more than the line says: its note speaks of these."""
    if op.name == "matmul" and {np.ndim(x) for x in xs} != {2}:
        return "the line is for matrices"
    if case.label == "at_set-twice":
        return "of several values for one place only the last gets a gradient"
    if op.name == "einsum":
        left, _, result = op.attrs["subscripts"].partition("->")
        words = left.split(",")
        everywhere = [set(result).union(*words[:i], *words[i + 1 :]) for i in range(len(words))]
        alone = any(set(w) - seen for w, seen in zip(words, everywhere, strict=True))
        if alone or any(len(set(w)) < len(w) for w in words):
            return "a letter that stands alone, or twice"
    return ""


def rows_of_cases() -> Iterator[Any]:
    for case in CASES:
        node = case.call(*nodes(case))
        for row in mg.topological_order(node):
            if isinstance(row.op, General) and not beyond_the_line(case, row.op, numbers(row)):
                yield pytest.param(row, id=f"{case.label}-{row.op.name}")


ROWS = list(rows_of_cases())
each_row = pytest.mark.parametrize("node", ROWS)


# -- the lines are true --------------------------------------------------------------------------


def test_every_row_is_among_the_cases() -> None:
    inner = {"put", "put_diagonal", "unfold", "fold"}  # only in second derivatives, see below
    assert {param.values[0].op.name for param in ROWS} >= ARRAY_ROWS - inner


@pytest.mark.parametrize("name", sorted(ARRAY_ROWS))
def test_every_input_with_a_gradient_has_a_line(name: str) -> None:
    op = OPS[name]
    found = derivatives(op, op.manual)
    if op.arity is MANY:
        assert list(found) == ["xᵢ"]
        return
    stated = [text is not None for text in found.values()]
    assert stated[: op.arity] == [op.differentiable(i) for i in range(op.arity)]


def sent_to(node: Any, g: Any) -> list[Any]:
    return [None if c is None else parts(c)[0] for _, c, _ in pull(node, g)]


@each_row
def test_derivative_is_what_the_rule_sends(node: Any) -> None:
    op, xs, out = node.op, numbers(node), np.asarray(node._out)
    g = np.random.default_rng(5).normal(size=out.shape)
    texts = list(derivatives(op, op.manual).values())
    for i, sent in enumerate(sent_to(node, g)):
        if sent is None:
            continue
        names = names_of(op, g, out, xs)
        text = texts[0 if op.arity is MANY else i]
        names |= each_of_many(op, xs, i) if op.arity is MANY else {}
        stated = np.asarray(evaluate(text, names))
        if stated.ndim < np.ndim(xs[i]) and stated.size == np.size(xs[i]):
            stated = stated.reshape(np.shape(xs[i]))  # for axis=None, of all elements in a row
        if op.name in ("prod", "cumprod") and not np.all(xs[i]):
            stated = np.where(np.isfinite(stated), stated, sent)  # the note: without a division
        if stated.size < np.size(xs[i]):
            stated = np.broadcast_to(stated, np.shape(xs[i]))
        stated = parts(fit(stated, xs[i]))[0]
        np.testing.assert_allclose(stated, sent, rtol=1e-11, atol=1e-12)


@each_row
def test_formula_is_the_value(node: Any) -> None:
    op, xs, out = node.op, numbers(node), np.asarray(node._out)
    if not op.manual.formula or op.attrs.get("reduction", "mean") != "mean":
        pytest.skip("no formula, or for the mean of terms only")
    names = names_of(op, out, out, xs)
    value = np.asarray(evaluate(op.manual.formula, names))
    np.testing.assert_allclose(value.reshape(out.shape), out, rtol=1e-12, atol=1e-14)


def test_rows_of_second_derivatives_state_theirs() -> None:
    """They are the transposes of rows that the cases have."""
    rng = np.random.default_rng(6)
    windows = {"size": (2, 2), "stride": (2, 1), "padding": (1, 0)}
    calls: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
        ("put", (3, 2), {"shape": (2, 2), "index": np.array([0, 1, 1])}),
        ("put_diagonal", (2,), {"shape": (2, 3), "offset": 1}),
        ("unfold", (1, 2, 3, 4), windows),
        ("fold", (1, 2, 2, 3, 2, 2), {"shape": (1, 2, 3, 4), **windows}),
    ]
    for name, shape, attrs in calls:
        node = evaluate_arrays(OPS[name].cached(**attrs), (Tensor(rng.normal(size=shape)),))
        test_derivative_is_what_the_rule_sends(node)


# -- functions that are made of several rows -----------------------------------------------------

X, Y, M = np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0]), np.arange(6.0).reshape(2, 3)
COMPOSED: dict[str, tuple[Any, list[Any], dict[str, Any]]] = {
    "outer": (lambda x, y: x.outer(y), [X, Y], {}),
    "trace": (lambda x: x.trace(1), [M], {"offset": 1}),
    "take": (
        lambda x: x.take([2, 0, 2], axis=1),
        [M],
        {"index": (slice(None), np.array([2, 0, 2]))},
    ),
    "split": (lambda x: x.split([1], axis=1)[1], [M], {"index": (slice(None), slice(1, None))}),
    "tensordot": (
        lambda x, y: x.tensordot(y, ([0], [0])),
        [M, Y],
        {"swapped_x": "b,a->ab", "swapped_y": "b,ab->a"},
    ),
}


def test_composed_functions_are_all_here() -> None:
    without_row = {name for name, f in DOCUMENTED.items() if not hasattr(f, "op")}
    assert without_row == {*COMPOSED, "zeros_like", "ones_like"}


@pytest.mark.parametrize("name", COMPOSED)
def test_derivative_of_a_composed_function(name: str) -> None:
    call, inputs, more = COMPOSED[name]
    xs = [Tensor(x) for x in inputs]
    out = call(*xs)
    g = np.random.default_rng(8).normal(size=out.shape)
    out.backward(g)
    names = dict(zip("xy", inputs, strict=False)) | {"g": g, **more}
    found = derivatives(None, ARRAY_FUNCTIONS[name].manual)
    for x, text in zip(xs, found.values(), strict=True):
        assert text is not None
        np.testing.assert_allclose(evaluate(text, names), x.grad, rtol=1e-12)
    if ARRAY_FUNCTIONS[name].manual.formula:
        value = evaluate(ARRAY_FUNCTIONS[name].manual.formula, names)
        np.testing.assert_allclose(value, out.data, rtol=1e-12)


def test_derivative_of_the_bias_of_a_convolution() -> None:
    bias = Tensor([0.5, -1.0])
    x, weight = np.ones((2, 1, 3, 3)), np.ones((2, 1, 2, 2))
    out = mg.conv2d(x, weight, bias)
    g = np.random.default_rng(9).normal(size=out.shape)
    out.backward(g)
    stated = evaluate(mg.conv2d.manual.derivative["bias"], {"g": g})
    np.testing.assert_allclose(stated, bias.grad, rtol=1e-12)


# -- docstrings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*DOCUMENTED, "sum", "dot", "to_values", "expand"])
def test_docstring_has_every_section(name: str) -> None:
    function = DOCUMENTED.get(name) or getattr(mg, name)
    text = inspect.getdoc(function) or ""
    for section in ("Args:", "Returns:", "Raises:", "Derivative:"):
        assert f"\n{section}\n    " in text
    assert text.splitlines()[1] == "", "a first line of its own"
    assert max(map(len, text.splitlines()[1:])) <= 100


@each_function
def test_docstring_names_every_argument_and_its_default(name: str) -> None:
    text = inspect.getdoc(DOCUMENTED[name]) or ""
    for parameter in inspect.signature(DOCUMENTED[name]).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            shown = f"*{parameter.name}" if parameter.kind is parameter.VAR_POSITIONAL else None
            line = text.partition(f"\n    {shown or parameter.name}: ")[2].partition("\n    ")[0]
            assert line, f"{parameter.name} is not explained"
            words = line.partition("; ")[0]
            assert len(words.split()) > 1, f"{parameter.name}: {line}"
            if parameter.default is not parameter.empty:
                entry = text.partition(f"\n    {parameter.name}: ")[2].partition("\n\n")[0]
                assert f"{parameter.default!r} by default" in " ".join(entry.split())


@each_function
def test_example_of_a_docstring_runs(name: str) -> None:
    text = inspect.getdoc(DOCUMENTED[name]) or ""
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    report: list[str] = []
    results = doctest.DocTestRunner(Numbers()).run(test, out=report.append)
    assert not results.failed, "".join(report)
    assert results.attempted, f"mg.{name} has no example"


@pytest.mark.parametrize("name", [*DOCUMENTED, "sum", "dot", "sin", "leaky_relu"])
def test_method_has_the_docstring_of_its_function(name: str) -> None:
    if name in ("zeros_like", "ones_like") or not hasattr(Tensor, name):
        pytest.skip("no method")
    function = {**DOCUMENTED, "sum": reduce.reduce_sum}.get(name) or getattr(mg, name)
    assert getattr(Tensor, name).__doc__ == function.__doc__


def with_first_array(name: str, x: Any) -> Any:
    """The call of an example with ``x`` in place of the first array."""
    *xs, _ = DOCUMENTED[name].manual.example
    args, more = (
        [a for a in xs if not isinstance(a, dict)],
        dict(*[a for a in xs if a.__class__ is dict]),
    )
    for i, arg in enumerate(args):
        if isinstance(arg, tuple) and isinstance(arg[0], list):
            args[i] = [x, *map(Tensor, arg[1:])]
            break
        if isinstance(arg, list):
            args[i] = x
            break
    args = [
        np.array(a) if isinstance(a, list) and a is not x and i else a for i, a in enumerate(args)
    ]
    return DOCUMENTED[name](*args, **more)


each_with_arrays = pytest.mark.parametrize("name", [n for n in DOCUMENTED if n != "stack_values"])


def test_only_what_computes_can_give_nan() -> None:
    said = {n for n, f in DOCUMENTED.items() if "NumericalError" in (inspect.getdoc(f) or "")}
    assert {"mean", "matmul", "conv2d", "einsum", "mse_loss", "softmax"} <= said
    assert not said & {"reshape", "sort", "take", "at_set", "getitem", "concatenate", "flip"}


@each_with_arrays
@pytest.mark.parametrize("x", ["text", None, 1j, [1.0, 2.0]], ids=repr)
def test_what_is_no_array_is_refused(name: str, x: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        with_first_array(name, x)


def answer(name: str, x: Any) -> Any:
    """What the call gives, as plain arrays; or the class of our error."""
    try:
        with mg.errstate("ignore"):
            out = with_first_array(name, x)
    except MinigradError as error:
        return type(error)
    found = out if isinstance(out, list) else [out]
    return [part.numpy() if isinstance(part, Tensor) else np.asarray(part) for part in found]


@each_with_arrays
@pytest.mark.parametrize("x", [2.5, mg.Value(2.5)], ids=["number", "value"])
def test_a_number_is_an_array_without_axes(name: str, x: Any) -> None:
    """The same result; or an error in our words, where an axis is needed."""
    given, expected = answer(name, x), answer(name, Tensor(2.5))
    assert isinstance(given, type) == isinstance(expected, type)
    if not isinstance(given, type):
        np.testing.assert_equal(given, expected)


@each_function
def test_axis_that_is_not_there_is_refused(name: str) -> None:
    raises = (inspect.getdoc(DOCUMENTED[name]) or "").partition("\nRaises:\n")[2]
    if "\n    axis: " in (DOCUMENTED[name].__doc__ or ""):
        assert "ArgumentValueError" in raises
        x = Tensor([[1.0, 2.0]])
        first = [x, x] if name in ("concatenate", "stack") else x
        more = {"take": [[0]], "split": [1]}.get(name, [])
        with pytest.raises(ArgumentValueError):
            DOCUMENTED[name](first, *more, axis=9)


@each_function
def test_latex_of_every_line_can_be_read(name: str) -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext")
    manual = DOCUMENTED[name].manual
    op = getattr(DOCUMENTED[name], "op", None)
    for text in [manual.formula, *derivatives(op, manual).values()]:
        if text:
            mathtext.MathTextParser("path").parse(f"${latex(text)}$")

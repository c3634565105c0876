"""Calls that do not fit: every error is ours, says how the call is, and shows arrays by shape."""

import inspect

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, Value
from minigrad.elsewhere import KEYWORDS
from minigrad.errors import ArgumentTypeError, MinigradError, RenamedError
from minigrad.tensor import ARRAY_FUNCTIONS

X = np.arange(200.0).reshape(2, 100) + 7777.0


def arguments(name):
    """Some first arguments, which need not fit: what a call is given is looked at before."""
    x = Tensor(X)
    given = {"stack": [[x, x]], "concatenate": [[x, x]], "einsum": ["ij->i", x]}
    needed = {"at_set": 3, "getitem": 2, "take": 2, "split": 2, "tensordot": 2, "outer": 2}
    two = ("dot", "matmul", "conv2d", "mse_loss", "cross_entropy", "bce_with_logits", "hinge_loss")
    return given.get(name, [x] * (2 if name in two else needed.get(name, 1)))


def says(error):
    """The text of an error, which shows none of the numbers in the arrays."""
    assert "7777" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", sorted(ARRAY_FUNCTIONS))
@pytest.mark.parametrize("word", ["dim", "keepdim", "unheard_of"])
def test_an_unknown_keyword_hears_how_the_call_is(name, word):
    calls = [lambda: ARRAY_FUNCTIONS[name](*arguments(name), **{word: 0})]
    if name not in ("astype", "trace"):  # which are methods alone
        calls.append(lambda: getattr(mg, name)(*arguments(name), **{word: 0}))
    if isinstance(arguments(name)[0], Tensor):
        x, *more = arguments(name)
        calls.append(lambda: getattr(x, name)(*more, **{word: 0}))
    for call in calls:
        with pytest.raises(ArgumentTypeError) as error:
            call()
        text = says(error)
        known = text.partition("the call is ")[2]
        assert text.startswith(f"{name}("), text
        assert known.startswith(f"{name}("), text
        for theirs, ours in (("dim", "axis"), ("keepdim", "keepdims")):
            has = f"{ours}=" in known.partition(")")[0]
            hears = f"{theirs}= is PyTorch's name, here it is {ours}=" in text
            assert hears == (word == theirs and has), text


@pytest.mark.parametrize("name", sorted(ARRAY_FUNCTIONS))
def test_too_many_arguments_and_none_hear_how_the_call_is(name):
    if name in ("sum", "dot"):
        return  # of numbers as well, where Python says it
    with pytest.raises(ArgumentTypeError, match=rf"^{name}\(\): the call is {name}\("):
        ARRAY_FUNCTIONS[name]()
    if name not in ("einsum", "reshape"):  # which take any number
        with pytest.raises(ArgumentTypeError) as error:
            ARRAY_FUNCTIONS[name](*[Tensor(X)] * 9)
        assert f"the call is {name}(" in says(error)


def test_a_checked_function_keeps_its_name_its_signature_and_its_own_errors():
    assert list(inspect.signature(mg.stack).parameters) == ["arrays", "axis"]
    assert mg.stack.__name__ == mg.stack.__qualname__ == "stack"

    class Odd:
        shape = (2,)

        def reshape(self, *_):
            return len(3)

    with pytest.raises(TypeError, match="has no len") as error:
        mg.outer(Odd(), Odd())
    assert not isinstance(error.value, MinigradError)


@pytest.mark.parametrize("theirs", sorted(KEYWORDS))
def test_a_name_of_the_table_leads_to_an_argument_that_some_function_has(theirs):
    functions = [f for f in map(mg.__dict__.get, mg.__all__) if callable(f)]
    functions += ARRAY_FUNCTIONS.values()
    known = {p for f in functions for p in inspect.signature(f).parameters}
    assert set(KEYWORDS[theirs][1]) <= known | {"shape", "low", "high"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.round(x, 1), r"np\.round\(x, 1\).*mg\.round\(x \* 10\*\*1\) / 10\*\*1"),
        (lambda x: np.around(x, decimals=-2), r"mg\.round\(x \* 10\*\*-2\) / 10\*\*-2"),
        (lambda x: np.pad(x, 1, "edge"), r"mode='edge'.*margin of a node is a constant.*mg\.take"),
        (lambda x: np.pad(x, 1, mode="reflect"), r"mode='reflect'.*mg\.pad\(x, pad_width"),
        (lambda x: mg.pad(x, 1, "edge"), r"constant_values='edge'.*one number, not a str"),
        (lambda x: mg.pad(x, 1, (1, 2)), r"constant_values=\(1, 2\).*one number, not a tuple"),
        (lambda x: np.take(x, [0], mode="wrap"), r"mode='wrap'\): the call is take\(x, indices, a"),
        (lambda x: np.argsort(x, kind="stable"), r"the call is argsort\(x, axis=-1\)"),
        (lambda x: np.copy(x, subok=True), r"np\.copy\(.*subok=True\): the call is np\.copy\(x\)"),
        (lambda x: np.vstack([x, [1.0]]), r"np\.vstack: \[1\.0\] is a list"),
        (lambda x: np.hstack([[1.0], x]), r"np\.hstack: \[1\.0\] is a list"),
        (lambda x: np.clip(x), r"np\.clip\(x, low, high\)"),
    ],
)
def test_numpys_options_hear_what_there_is(call, message):
    with pytest.raises(ArgumentTypeError, match=message) as error:
        call(Tensor(X, name="x"))
    assert "lambda" not in says(error)


def test_numpys_pad_and_clip_as_numpy_is_called():
    plain = np.array([[1.0, -2.0], [3.0, 0.5]])
    for call in (
        lambda x: np.pad(x, 1, constant_values=2.0),
        lambda x: np.pad(x, 1, "constant"),
        lambda x: np.pad(x, ((0, 1), (2, 0)), mode="constant", constant_values=2.0),
        lambda x: np.clip(x, 0.0, 1.0),
        lambda x: np.clip(x, a_min=0.0, a_max=1.0),
        lambda x: np.clip(x, None, 1.0),
        lambda x: np.clip(x, 0.5, None),
        lambda x: np.round(x, 0),
        lambda x: np.round(x),
        lambda x: np.vstack([x, x[0]]),
        lambda x: np.hstack([x, x]),
    ):
        out = call(Tensor(plain))
        assert isinstance(out, Tensor)
        assert out.tolist() == call(plain).tolist()
    x = Tensor([0.5, 2.0])
    np.clip(x, 0.5, None).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]  # clip'(bound) = 1, with one bound as with two


@pytest.mark.parametrize("other", [[1.0, 2.0], (1.0, 2.0)])
def test_dot_with_a_list_names_dot_and_what_holds_numbers(other):
    x = Tensor([[1.0, 2.0]])
    calls = (lambda: np.dot(x, other), lambda: mg.dot(x, other), lambda: mg.dot(other, x))
    for call in calls:
        with pytest.raises(ArgumentTypeError, match=r"^dot of .* is a (list|tuple); .*Tensor\("):
            call()


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("a", r"x\['a'\]: an index is an int, a slice.*, not a str$"),
        (1.5, r"x\[1\.5\]: an index is an int, .*, not a float; int\(…\) makes one"),
        ((0, 1.5), r"x\[1\.5\].*not a float"),
        ({}, "not a dict"),
        (1j, "not a complex$"),
        (object(), "not an object$"),
        ([0.5], r"x\[\[0\.5\]\]: an index holds ints or bools, not float64$"),
        (["a"], "ints or bools, not a str"),
        ([[0], [1, 0]], "different lengths"),
        (X[0], r"x\[an array of shape \(100,\)\].*float64; x\[i\.astype\(int\)\]"),
        (slice(0.5, 2), r"x\[…:…\] with 0\.5: .*ints or None, not a float; int"),
        (slice(None, "a"), r"with 'a'.* not a str$"),
    ],
)
@pytest.mark.parametrize("use", [lambda x, i: x[i], lambda x, i: mg.at_set(x, i, 0.0)])
def test_what_is_no_index_hears_what_an_index_may_be(use, index, message):
    with pytest.raises(ArgumentTypeError, match=message) as error:
        use(Tensor(X), index)
    says(error)


def test_a_slice_of_floats_is_refused_before_and_after_the_one_of_ints():
    x = Tensor([1.0, 2.0, 3.0])
    for _ in range(2):
        with pytest.raises(ArgumentTypeError, match=r"with 1\.0"):
            x[1.0:3.0]
        assert x[1:3].tolist() == x[np.int64(1) : np.int64(3)].tolist() == [2.0, 3.0]


def test_what_was_an_index_still_is():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    plain = x.numpy()
    for index in (
        True, np.True_, np.int64(1), [0, 1], range(2), [], [True, False], None, ..., (0, [1]),
        np.array(1), plain > 1.0, slice(None, None, np.int64(-1)), (), [[0], [1]],
    ):  # fmt: skip
        expected = plain[list(index) if isinstance(index, range) else index]
        assert x[index].tolist() == np.asarray(expected).tolist(), index
    assert mg.take(x, (0, 1), axis=1).tolist() == plain.tolist()


@pytest.mark.parametrize("choose", [min, max, sorted])
def test_min_max_and_sorted_compare_numbers(choose):
    x = Tensor([3.0, 1.0, 2.0])
    found = choose(x)
    numbers = [x.item() for x in found] if choose is sorted else found.item()
    assert numbers == choose([3.0, 1.0, 2.0])
    if choose is not sorted:
        found.backward()
        assert x.grad.tolist() == [float(n == numbers) for n in (3.0, 1.0, 2.0)]


def test_a_comparison_is_an_array_of_numpy():
    assert type(Tensor([1.0, 2.0]) > 1.0) is np.ndarray


@pytest.mark.parametrize("targets", [[0.0, 1.0], np.array([0.0, 1.0])])
def test_class_indices_of_floats_hear_what_makes_ints_of_a_list_or_an_array(targets):
    x = Tensor([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])
    message = r"ints, not float64; .*astype\(int\).* array, \[int\(y\) for y in targets\] a list"
    with pytest.raises(ArgumentTypeError, match=message):
        mg.cross_entropy(x, targets)
    targets = [int(y) for y in targets]
    assert mg.cross_entropy(x, targets).item() > 0.0


def test_functions_of_other_libraries_say_ours():
    for name, ours in (("tensor", r"mg\.Tensor"), ("cat", "concatenate"), ("clamp", "clip")):
        with pytest.raises(RenamedError, match=ours):
            getattr(mg, name)([1.0])
    assert not hasattr(mg, "unheard_of")


def test_a_method_is_named_as_it_is_written():
    for x in (Value(1.0), Tensor(1.0)):
        with pytest.raises(TypeError, match=r"^tanh\(\)"):
            x.tanh(dim=0)

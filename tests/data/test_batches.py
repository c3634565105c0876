"""Batches and splits: nothing lost, nothing twice, rows kept together, fixed by a seed."""

import random
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigrad.data import batches, digits, iris, split
from minigrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    MissingDependencyError,
    ShapeError,
)


@given(length=st.integers(1, 60), size=st.integers(1, 70), shuffle=st.booleans())
def test_an_epoch_has_every_example_once(length, size, shuffle):
    x, y = list(range(length)), np.arange(length) * 10
    cut = batches(x, y, size=size, shuffle=shuffle, seed=1)
    parts = list(cut)
    assert len(parts) == len(cut) == -(-length // size)
    assert all(len(xs) == size for xs, _ in parts[:-1])
    seen = [i for xs, _ in parts for i in xs]
    assert sorted(seen) == x
    assert shuffle or seen == x
    for xs, ys in parts:
        assert isinstance(ys, np.ndarray)
        assert ys.tolist() == [10 * i for i in xs]
    full = list(batches(x, size=size, drop_last=True, seed=1))
    assert len(full) == length // size
    assert all(len(xs) == size for xs in full)


def test_epochs_differ_and_are_fixed_by_the_seed():
    x = list(range(50))
    cut, again = batches(x, size=8, seed=1), batches(x, size=8, rng=random.Random(1))
    first, second = list(cut), list(cut)
    assert first != second
    assert [first, second] == [list(again), list(again)]


def test_two_loops_over_one_set_may_run_at_once():
    cut = batches(list(range(6)), size=2, seed=1)
    assert sum(len(a) * len(b) for a in cut for b in cut) == 36


@given(
    labels=st.lists(st.integers(0, 3), min_size=2, max_size=60),
    test=st.floats(0.05, 0.95),
    stratify=st.booleans(),
)
def test_a_split_is_a_partition(labels, test, stratify):
    length = len(labels)
    number = round(length * test)
    if not 0 < number < length:
        with pytest.raises(ArgumentValueError, match="both parts"):
            split(labels, test=test)
        return
    x = np.arange(length)
    x_train, x_test, y_train, y_test = split(x, labels, test=test, stratify=stratify, seed=1)
    assert len(x_test) == len(y_test) == number
    assert sorted([*x_train.tolist(), *x_test.tolist()]) == list(range(length))
    assert y_train == [labels[i] for i in x_train]
    assert y_test == [labels[i] for i in x_test]
    if stratify:
        for name, count in Counter(labels).items():
            assert abs(y_test.count(name) - count * number / length) < 1.0


@pytest.mark.parametrize("seed", range(10))
def test_what_is_left_over_goes_to_the_largest_remainders(seed):
    labels = [0] * 5 + [1] * 5 + [2] * 5 + [3] * 2
    counts = Counter(split(labels, test=8, stratify=True, seed=seed)[1])
    assert (counts[0], counts[1], counts[2], counts[3]) in {
        (3, 2, 2, 1),
        (2, 3, 2, 1),
        (2, 2, 3, 1),
    }


def test_a_split_is_fixed_by_its_seed():
    x = list(range(40))
    assert split(x, seed=1) == split(x, rng=random.Random(1)) != split(x, seed=2)
    assert len(split(x, test=7, seed=1)[1]) == 7


@pytest.mark.parametrize("cut", [batches, split])
def test_what_cannot_be_cut_is_refused(cut):
    with pytest.raises(ShapeError, match=r"\[3, 2\]"):
        cut([1, 2, 3], [1, 2])
    with pytest.raises(ArgumentTypeError):
        cut()
    with pytest.raises(ArgumentTypeError):
        cut(3)
    with pytest.raises(ArgumentValueError, match="empty"):
        cut([])


def test_bad_sizes_are_refused():
    for size in (0, -1, 2.5, True):
        with pytest.raises(ArgumentValueError, match="size"):
            batches([1, 2], size=size)
    for test in (0.0, 0, 2, -1, 1.0001):
        with pytest.raises(ArgumentValueError, match="test="):
            split([1, 2], test=test)
    for test in (True, "half"):
        with pytest.raises(ArgumentTypeError, match="test"):
            split([1, 2], test=test)
    with pytest.raises(ArgumentTypeError, match="classes"):
        split([1, 2], [[1], [2]], test=1, stratify=True)


def test_digits_and_iris():
    pytest.importorskip("sklearn")
    images, labels = digits()
    assert images.shape == (1797, 64)
    assert (images.min(), images.max()) == (0.0, 1.0)
    assert sorted(set(labels.tolist())) == list(range(10))
    measures, kinds = iris(as_array=False)
    assert (len(measures), len(measures[0]), sorted(set(kinds))) == (150, 4, [0, 1, 2])
    assert measures[0] == [5.1, 3.5, 1.4, 0.2]


@pytest.mark.parametrize("load", [digits, iris])
def test_without_scikit_learn_the_error_says_what_to_install(load, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'minigrad-edu\[data\]'"):
        load()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: batches({1, 2}), "not a set"), (lambda: batches({"a": [1]}), "not a dict"),
        (lambda: batches(x for x in "ab"), "not a generator"),
        (lambda: batches([1, 2], [0, 1], 2), "by its name, size=2"),
        (lambda: split([1, 2], test_size=0.5), r"split\(…, test_size=…\).*test_size is test= here"),
        (lambda: split([1, 2], stratfy=True), "test, stratify, rng and seed$"),
        (lambda: split([1, 2], [0, 1], 0.5), r"by its name, test=0\.5"),
        (lambda: batches(([[1.0], [2.0]], [0, 1])), r"batches\(\*pair\)"),
        (lambda: split(([[1.0], [2.0]], [0, 1])), r"split\(\*pair\)"),
        (lambda: split([1, 2], test=float("nan")), "test=nan"),
    ],
)  # fmt: skip
def test_what_is_no_set_is_refused(make, words):
    with pytest.raises(ArgumentTypeError, match=words):
        make()

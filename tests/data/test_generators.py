"""The generated sets: their shapes, their seeds, and what they refuse."""

import math
import random
import sys

import numpy as np
import pytest

from minigrad.data import blobs, circles, linear, moons, spirals
from minigrad.errors import ArgumentTypeError, ArgumentValueError, MissingDependencyError

GENERATORS = [moons, circles, spirals, blobs, linear]
each = pytest.mark.parametrize("make", GENERATORS)


@each
def test_a_seed_fixes_the_points(make):
    assert make(20, seed=3) == make(20, seed=3) == make(20, rng=random.Random(3))
    assert make(20, seed=3) != make(20, seed=4)
    random.seed(5)
    first = make(20)
    random.seed(5)
    assert make(20) == first != make(20)


@each
def test_lists_by_default_and_arrays_when_asked_for(make):
    points, labels = make(7, seed=1)
    assert type(points) is type(labels) is list
    assert all(type(x) is float for point in points for x in point)
    xs, ys = make(7, seed=1, as_array=True)
    assert isinstance(xs, np.ndarray)
    assert xs.dtype == np.float64
    assert xs.tolist() == points
    assert ys.tolist() == labels
    assert len(points) == len(labels) == 7


@each
def test_lists_need_no_numpy(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert len(make(5, seed=1)[0]) == 5
    with pytest.raises(MissingDependencyError, match="pip install numpy"):
        make(5, seed=1, as_array=True)


@each
def test_bad_arguments_are_refused_by_name(make):
    noise = "spread" if make is blobs else "noise"
    for options in ({"count": 0}, {"count": 2.5}, {"count": True}, {noise: -1}, {noise: math.nan}):
        (name,) = options
        with pytest.raises(ArgumentValueError, match="noise" if name == noise else name):
            make(**options)
    for options in ({noise: "much"}, {"seed": "a"}, {"rng": 3.5}, {"rng": random, "seed": 1}):
        with pytest.raises(ArgumentTypeError):
            make(**options)


def test_moons_lie_on_two_half_circles():
    points, labels = moons(200, noise=0.0, labels=(1, -1), seed=1)
    assert labels == [1, -1] * 100
    for (x, y), label in zip(points, labels, strict=True):
        if label == 1:
            assert x * x + y * y == pytest.approx(1.0)
            assert y >= 0.0
        else:
            assert (x - 1.0) ** 2 + (y - 0.5) ** 2 == pytest.approx(1.0)
            assert y <= 0.5


def test_circles_have_two_radii():
    points, labels = circles(100, noise=0.0, factor=0.3, seed=1)
    for (x, y), label in zip(points, labels, strict=True):
        assert math.hypot(x, y) == pytest.approx(0.3 if label else 1.0)


def test_arms_of_spirals_are_turned_copies_of_each_other():
    points, labels = spirals(300, noise=0.0, classes=3, turns=0.5, seed=1)
    assert set(labels) == {0, 1, 2}
    for (x, y), label in zip(points, labels, strict=True):
        r, angle = math.hypot(x, y), 2 * math.pi * label / 3
        turned = (
            x * math.cos(angle) + y * math.sin(angle),
            y * math.cos(angle) - x * math.sin(angle),
        )
        assert turned == pytest.approx((r * math.cos(math.pi * r), r * math.sin(math.pi * r)))


def test_noise_has_the_given_standard_deviation():
    points, _ = blobs(4000, centers=[(3.0, -1.0, 2.0)], spread=0.5, seed=1, as_array=True)
    assert points.mean(axis=0) == pytest.approx([3.0, -1.0, 2.0], abs=0.05)
    assert points.std(axis=0) == pytest.approx([0.5] * 3, abs=0.03)


def test_linear_points_are_near_their_plane():
    points, values = linear(50, weights=(2.0, -3.0), bias=0.5, noise=0.0, seed=1)
    for (x, y), value in zip(points, values, strict=True):
        assert value == pytest.approx(2.0 * x - 3.0 * y + 0.5)
        assert -1.0 <= min(x, y) <= max(x, y) <= 1.0


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (moons, {"labels": (1,)}), (moons, {"labels": 1}), (circles, {"factor": 1.0}),
        (circles, {"factor": -0.1}), (spirals, {"classes": 0}), (spirals, {"turns": -1.0}),
        (blobs, {"centers": 0}), (blobs, {"centers": []}), (blobs, {"centers": [(0,), (0, 1)]}),
    ],
)  # fmt: skip
def test_shapes_that_make_no_sense_are_refused(make, options):
    (name,) = options
    with pytest.raises(ArgumentValueError, match=name):
        make(**options)


def test_linear_refuses_a_single_weight():
    with pytest.raises(ArgumentTypeError, match="weights"):
        linear(weights=2.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: blobs(3, centers=[1, 2]), "centers"), (lambda: blobs(3, centers="ab"), "centers"),
        (lambda: blobs(3, centers=[[], []]), "centers"),
        (lambda: linear(3, weights="ab"), "weights='ab'"),
        (lambda: linear(3, bias="b"), "bias='b'"),
        (lambda: linear(3, weights=[]), "for each coordinate"),
    ],
)  # fmt: skip
def test_centers_and_weights_are_numbers(make, words):
    with pytest.raises((ArgumentTypeError, ArgumentValueError), match=words):
        make()

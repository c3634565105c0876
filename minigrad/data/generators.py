"""Generated sets: points in the plane with a class each, and points near a plane.

All have the same last arguments: ``noise`` is the standard deviation of what is added to each
coordinate, ``rng`` or ``seed`` fixes the points, ``as_array`` gives NumPy arrays. Classes take
turns, so that the first n points are balanced too.

Read next: ``batches.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any

from minigrad.data.arguments import as_count, as_number, given
from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.randomness import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Pair = tuple[Any, Any]

__all__ = ["blobs", "circles", "linear", "moons", "spirals"]


def moons(
    count: int = 100,
    noise: float = 0.1,
    *,
    labels: Sequence[Any] = (0, 1),
    rng: Any = None,
    seed: int | None = None,
    as_array: bool = False,
) -> Pair:
    """Two half circles that reach into each other: (cos φ, sin φ) and (1 − cos φ, ½ − sin φ).

    Args:
        count: How many points; the two moons take turns.
        noise: Standard deviation of what is added to each coordinate, in units of the radius.
        labels: What the points of the upper and the lower moon are called, such as ``(1, -1)``.
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        seed: The same as ``rng``, for a whole number.
        as_array: Whether to return NumPy arrays in place of lists.

    Returns:
        The points, ``count`` pairs of floats, and their labels.

    Raises:
        ArgumentValueError: if ``count`` is below 1, or ``noise`` negative.

    Source: the shapes are those of scikit-learn's ``make_moons``.

    >>> points, labels = moons(4, noise=0.0, labels=(1, -1), seed=1)
    >>> labels
    [1, -1, 1, -1]
    """

    def place(kind: int, random: Any) -> tuple[float, float]:
        angle = random.uniform(0.0, pi)
        if kind == 0:
            return cos(angle), sin(angle)
        return 1.0 - cos(angle), 0.5 - sin(angle)

    return _classes(place, count, noise, _names(labels, 2), rng, seed, as_array)


def circles(
    count: int = 100,
    noise: float = 0.05,
    factor: float = 0.5,
    *,
    labels: Sequence[Any] = (0, 1),
    rng: Any = None,
    seed: int | None = None,
    as_array: bool = False,
) -> Pair:
    """A circle of radius 1 and one of radius ``factor`` inside it.

    Args:
        count: How many points; outer and inner circle take turns.
        noise: Standard deviation of what is added to each coordinate, in units of the radius.
        factor: Radius of the inner circle, from 0 to below 1.
        labels: What the points of the outer and the inner circle are called.
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        seed: The same as ``rng``, for a whole number.
        as_array: Whether to return NumPy arrays in place of lists.

    Returns:
        The points, ``count`` pairs of floats, and their labels.

    Raises:
        ArgumentValueError: if ``count`` is below 1, or another number out of range.

    >>> ((x, y), _), _ = circles(2, noise=0.0, seed=1)
    >>> round(x * x + y * y, 9)
    1.0
    """
    radius = as_number(factor, "factor")
    if radius >= 1.0:
        raise ArgumentValueError(f"factor={factor!r}: the inner circle is smaller than the outer")

    def place(kind: int, random: Any) -> tuple[float, float]:
        angle, r = random.uniform(0.0, 2.0 * pi), radius if kind else 1.0
        return r * cos(angle), r * sin(angle)

    return _classes(place, count, noise, _names(labels, 2), rng, seed, as_array)


def spirals(
    count: int = 100,
    noise: float = 0.05,
    classes: int = 2,
    turns: float = 1.0,
    *,
    rng: Any = None,
    seed: int | None = None,
    as_array: bool = False,
) -> Pair:
    """Arms that wind around each other: r (cos φ, sin φ) with φ = 2π (turns · r + class / classes).

    Args:
        count: How many points; the arms take turns.
        noise: Standard deviation of what is added to each coordinate, in units of an arm's length.
        classes: How many arms; the labels count from 0.
        turns: How often an arm goes around.
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        seed: The same as ``rng``, for a whole number.
        as_array: Whether to return NumPy arrays in place of lists.

    Returns:
        The points, ``count`` pairs of floats, and their labels.

    Raises:
        ArgumentValueError: if ``count`` or ``classes`` is below 1, or another number out of range.

    >>> points, labels = spirals(6, classes=3, seed=1)
    >>> labels
    [0, 1, 2, 0, 1, 2]
    """
    arms, around = as_count(classes, "classes"), as_number(turns, "turns")

    def place(kind: int, random: Any) -> tuple[float, float]:
        r = random.uniform(0.0, 1.0)
        angle = 2.0 * pi * (around * r + kind / arms)
        return r * cos(angle), r * sin(angle)

    return _classes(place, count, noise, list(range(arms)), rng, seed, as_array)


def blobs(
    count: int = 100,
    centers: int | Sequence[Sequence[float]] = 3,
    spread: float = 1.0,
    *,
    rng: Any = None,
    seed: int | None = None,
    as_array: bool = False,
) -> Pair:
    """Round clouds: a point of class k is normally distributed around the center k.

    Args:
        count: How many points; the clouds take turns.
        centers: The centers, points of any number of axes; or how many, and then they are drawn
            from the square of side 20 around the origin.
        spread: Standard deviation of each coordinate.
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        seed: The same as ``rng``, for a whole number.
        as_array: Whether to return NumPy arrays in place of lists.

    Returns:
        The points, ``count`` lists of floats, and their labels, which count from 0.

    Raises:
        ArgumentValueError: if ``count`` or ``centers`` is below 1, or ``spread`` negative.

    >>> blobs(3, centers=[(0.0, 0.0), (5.0, 5.0)], spread=0.0, seed=1)
    ([[0.0, 0.0], [5.0, 5.0], [0.0, 0.0]], [0, 1, 0])
    """
    random = generator(rng, seed)
    if isinstance(centers, Iterable):
        try:
            places = [[float(x) for x in center] for center in centers]
        except (TypeError, ValueError):
            places = []
        if not places or len(set(map(len, places))) != 1 or not places[0]:
            raise ArgumentValueError(f"centers={centers!r}: they are points of one number of axes")
    else:
        number = as_count(centers, "centers")
        places = [[random.uniform(-10.0, 10.0) for _ in range(2)] for _ in range(number)]
    labels = list(range(len(places)))
    return _classes(lambda k, _: places[k], count, spread, labels, random, None, as_array)


def linear(
    count: int = 100,
    weights: Sequence[float] = (2.0,),
    bias: float = 1.0,
    noise: float = 0.1,
    *,
    rng: Any = None,
    seed: int | None = None,
    as_array: bool = False,
) -> Pair:
    """Points near a line or plane: y = w·x + b + noise, with every coordinate of x from −1 to 1.

    Args:
        count: How many points.
        weights: w, one number for each coordinate of x.
        bias: b.
        noise: Standard deviation of what is added to y.
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        seed: The same as ``rng``, for a whole number.
        as_array: Whether to return NumPy arrays in place of lists.

    Returns:
        The points x, ``count`` lists of floats, and their y, ``count`` floats.

    Raises:
        ArgumentTypeError: if ``weights`` is no sequence of numbers, or ``bias`` no number.
        ArgumentValueError: if ``count`` is below 1, ``weights`` empty, or ``noise`` negative.

    >>> ((x,), *_), (y, *_) = linear(2, weights=[3.0], bias=1.0, noise=0.0, seed=1)
    >>> y == 3.0 * x + 1.0
    True
    """
    random, number = generator(rng, seed), as_count(count, "count")
    sigma = as_number(noise, "noise")
    try:
        slopes, b = [float(w) for w in weights], float(bias)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"weights={weights!r}, bias={bias!r}: they are a list of numbers, and a number"
        ) from None
    if not slopes:
        raise ArgumentValueError(f"weights={weights!r}: there is one for each coordinate of x")
    points, values = [], []
    for _ in range(number):
        x = [random.uniform(-1.0, 1.0) for _ in slopes]
        points.append(x)
        values.append(sum(w * z for w, z in zip(slopes, x, strict=True)) + b)
    values = [y + random.gauss(0.0, sigma) if sigma else y for y in values]
    return given(points, values, as_array)


def _classes(
    place: Callable[[int, Any], Sequence[float]],
    count: Any,
    noise: Any,
    labels: Sequence[Any],
    rng: Any,
    seed: Any,
    as_array: bool,
) -> Pair:
    """Points of classes that take turns, each where ``place`` says, with noise."""
    random, number, sigma = (
        generator(rng, seed),
        as_count(count, "count"),
        as_number(noise, "noise"),
    )
    points, names = [], []
    for i in range(number):
        kind = i % len(labels)
        point = place(kind, random)
        points.append([x + random.gauss(0.0, sigma) if sigma else x for x in point])
        names.append(labels[kind])
    return given(points, names, as_array)


def _names(labels: Sequence[Any], number: int) -> list[Any]:
    try:
        names = list(labels)
    except TypeError:
        names = []
    if len(names) != number:
        raise ArgumentValueError(f"labels={labels!r}: there are {number} classes, each has a label")
    return names

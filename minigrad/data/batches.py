"""Batches of a set, and its two parts for training and testing; lists stay lists.

Read next: ``samples.py``.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from minigrad.data.arguments import as_count
from minigrad.elsewhere import unknown_argument
from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.ops.evaluate import kind_of
from minigrad.randomness import generator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Batches", "batches", "split"]


class Batches:
    """The batches of a set, as an iterable: each ``for`` is an epoch, in a new order.

    ``len`` is the number of batches. Made by ``batches``.
    """

    __slots__ = ("_columns", "_drop_last", "_random", "_shuffle", "_size")

    def __init__(
        self, columns: Sequence[Any], size: int, shuffle: bool, drop_last: bool, random: Any
    ) -> None:
        self._columns, self._size = columns, size
        self._shuffle, self._drop_last, self._random = shuffle, drop_last, random

    def __len__(self) -> int:
        full, rest = divmod(len(self._columns[0]), self._size)
        return full if self._drop_last or not rest else full + 1

    def __iter__(self) -> Iterator[Any]:
        order = list(range(len(self._columns[0])))
        if self._shuffle:
            self._random.shuffle(order)
        for start in range(0, len(self) * self._size, self._size):
            chosen = order[start : start + self._size]
            parts = tuple(_taken(column, chosen) for column in self._columns)
            yield parts if len(parts) > 1 else parts[0]

    def __repr__(self) -> str:
        return f"Batches({len(self)} of {self._size}, of {len(self._columns[0])} examples)"


def batches(
    *arrays: Any,
    size: int = 32,
    shuffle: bool = True,
    drop_last: bool = False,
    rng: Any = None,
    seed: int | None = None,
) -> Batches:
    """Cut a set into batches; every pass over the result is an epoch, shuffled anew.

    Args:
        *arrays: Lists or arrays of one length: points, labels, …; examples are on the first axis.
        size: Examples in a batch.
        shuffle: Whether each epoch has an order of its own.
        drop_last: Whether a last batch that is too short is left out.
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        seed: The same as ``rng``, for a whole number.

    Returns:
        An iterable of batches: tuples of what was given, or the batch itself of a single array.

    Raises:
        ArgumentTypeError: if something has no length.
        ArgumentValueError: if ``size`` is below 1, or there is nothing to cut.
        ShapeError: if the lengths differ.

    >>> for x, y in batches([1, 2, 3, 4, 5], "abcde", size=2, shuffle=False):
    ...     print(x, y)
    [1, 2] ['a', 'b']
    [3, 4] ['c', 'd']
    [5] ['e']
    """
    _length(arrays, "batches")
    return Batches(
        arrays, as_count(size, "size"), bool(shuffle), bool(drop_last), generator(rng, seed)
    )


def split(
    *arrays: Any,
    test: float = 0.25,
    stratify: bool = False,
    rng: Any = None,
    seed: int | None = None,
    **unknown: Any,
) -> list[Any]:
    """Divide a set at random into a part to learn from and a part to test with.

    Args:
        *arrays: Lists or arrays of one length: points, labels, …; examples are on the first axis.
        test: The size of the second part: a fraction below 1, or a number of examples.
        stratify: Whether every class, as named by the last array, is divided in the same ratio.
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        seed: The same as ``rng``, for a whole number.

    Returns:
        For each array both parts, in the order of scikit-learn: x_train, x_test, y_train, y_test.

    Raises:
        ArgumentTypeError: if something has no length, or for an argument of another name.
        ArgumentValueError: if one of the parts would be empty.
        ShapeError: if the lengths differ.

    >>> split([1, 2, 3, 4], ["a", "b", "a", "b"], test=0.5, stratify=True, seed=1)[2:]
    [['a', 'b'], ['b', 'a']]
    """
    for word in unknown:
        raise unknown_argument("split", word, "arrays, test, stratify, rng and seed")
    length = _length(arrays, "split")
    random = generator(rng, seed)
    number = _test_size(test, length)
    order = list(range(length))
    random.shuffle(order)
    if stratify:
        order = _in_layers(order, arrays[-1], number)
    parts = order[number:], order[:number]
    return [_taken(array, part) for array in arrays for part in parts]


def _test_size(test: Any, length: int) -> int:
    if isinstance(test, bool) or not hasattr(test, "__float__") or test != test:
        raise ArgumentTypeError(f"test={test!r}: it is a fraction, or a number of examples")
    number = round(length * float(test)) if isinstance(test, float) and test < 1.0 else int(test)
    if not 0 < number < length or (test >= 1 and number != test):
        raise ArgumentValueError(
            f"test={test!r} of {length} examples leaves {length - number} to learn from and "
            f"{number} to test with; both parts need at least one"
        )
    return number


def _in_layers(order: list[int], labels: Any, number: int) -> list[int]:
    """The same examples, so that the first ``number`` have each class in its share.

    Each class gets its share rounded down; those with the largest remainders get one more.
    """
    classes: dict[Any, list[int]] = defaultdict(list)
    for i in order:
        classes[_name(labels[i])].append(i)
    shares = {name: divmod(len(places) * number, len(order)) for name, places in classes.items()}
    take = {name: whole for name, (whole, _) in shares.items()}
    left = number - sum(take.values())
    for name in sorted(shares, key=lambda name: -shares[name][1])[:left]:
        take[name] += 1
    chosen = {i for name, places in classes.items() for i in places[: take[name]]}
    return [i for i in order if i in chosen] + [i for i in order if i not in chosen]


def _name(label: Any) -> Any:
    try:
        hash(label)
    except TypeError:
        raise ArgumentTypeError(
            f"split(stratify=True): the last array holds the classes, not {label!r}"
        ) from None
    return label


def _length(arrays: Sequence[Any], what: str) -> int:
    if not arrays:
        raise ArgumentTypeError(f"{what} needs the set: {what}(points, labels)")
    lengths = []
    for array in arrays:
        try:
            lengths.append(len(array))
        except TypeError:
            lengths.append(-1)
        if lengths[-1] < 0 or not hasattr(array, "__getitem__") or hasattr(array, "keys"):
            number = isinstance(array, int | float)
            hint = f"; give a number by its name, {_OPTION[what]}={array!r}" if number else ""
            raise ArgumentTypeError(
                f"{what}: lists or arrays are needed, with examples in them, not "
                f"{kind_of(array)}{hint}"
            )
    if len(arrays) == 1 and isinstance(arrays[0], tuple) and _is_pair(arrays[0]):
        raise ArgumentTypeError(
            f"{what}: a pair (points, labels) was given; {what}(*pair) or {what}(points, labels) "
            f"takes its two parts"
        )
    if len(set(lengths)) > 1:
        raise ShapeError(f"{what}: the arrays have {lengths} examples; they must have equally many")
    if not lengths[0]:
        raise ArgumentValueError(f"{what}: the set is empty")
    return lengths[0]


_OPTION = {"batches": "size", "split": "test"}


def _is_pair(pair: tuple[Any, ...]) -> bool:
    """Whether these are the points and labels of a set, and not two points."""
    if len(pair) != 2 or not all(hasattr(part, "__len__") for part in pair):
        return False
    points, labels = pair
    return len(points) == len(labels) > 0 and hasattr(points[0], "__len__")


def _taken(column: Any, places: list[int]) -> Any:
    """The examples at ``places``, as a list, or of an array as an array."""
    return column[places] if hasattr(column, "shape") else [column[i] for i in places]

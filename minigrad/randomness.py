"""Where random numbers come from: what ``rng=`` and ``seed=`` accept, everywhere.

Read next: ``nn/initializers.py`` and ``data/generators.py``, which draw the numbers.
"""

from __future__ import annotations

import random

from minigrad.errors import ArgumentTypeError, ArgumentValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["generator"]

_DRAWS = ("gauss", "getrandbits", "random", "shuffle", "uniform")  # what we ask of a source


def generator(rng: Any, seed: Any = None) -> Any:
    """The source of random numbers: ``rng``, or one made from a seed, or Python's own.

    Args:
        rng: A ``random.Random`` (or the module ``random``), which is used as it is; a whole number
            from 0 on, which stands for ``random.Random(number)``; or a NumPy ``Generator``, from
            which a seed is drawn.
        seed: A whole number, in place of ``rng``.

    Raises:
        ArgumentTypeError: if both are given, or one of them is of another kind.
        ArgumentValueError: if a seed is negative.

    >>> generator(3).random() == generator(None, 3).random() == random.Random(3).random()
    True
    """
    if rng is not None and seed is not None:
        raise ArgumentTypeError("rng= and seed= were both given; one of them is enough")
    if seed is not None:
        return random.Random(_whole(seed, "seed", "a whole number from 0 on"))
    if rng is None:
        return random
    if all(hasattr(rng, name) for name in _DRAWS):
        return rng
    if hasattr(rng, "bytes") and hasattr(rng, "shuffle"):  # of NumPy, old or new
        return random.Random(int.from_bytes(rng.bytes(16), "little"))
    kinds = "a seed such as 1, a random.Random such as random.Random(1), or a NumPy Generator"
    return random.Random(_whole(rng, "rng", kinds))


def _whole(number: Any, name: str, kinds: str) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise ArgumentTypeError(f"{name}={number!r}: it is {kinds}")
    if number < 0:  # Python would take the same numbers as for the positive one
        raise ArgumentValueError(f"{name}={number!r}: a seed is a whole number from 0 on")
    return int(number)

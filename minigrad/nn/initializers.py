"""Where weights start: random numbers of a spread that keeps signals alive through the layers.

An initializer is a function ``(rng, fan_in, fan_out) → float`` that draws one weight; ``fan_in``
and ``fan_out`` are how many numbers go into an output and come out of an input. Layers take one,
or its name. Numbers are drawn with Python's ``random`` in both modes, in the same order.

Read next: ``layers.py``.
"""

from __future__ import annotations

from difflib import get_close_matches
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentValueError, MissingDependencyError
from minigrad.randomness import generator
from minigrad.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    Initializer = Callable[[Any, int, int], float]

__all__ = [
    "constant", "draw", "he_normal", "he_uniform", "normal", "uniform",
    "xavier_normal", "xavier_uniform",
]  # fmt: skip


def uniform(low: float = -1.0, high: float = 1.0) -> Initializer:
    """w from U(low, high): every number between is as likely as any other.

    Args:
        low: The smallest weight; no unit.
        high: The largest weight.

    Raises:
        ArgumentValueError: if ``low`` is above ``high``, or one of them is not finite.

    >>> -0.5 <= uniform(-0.5, 0.5)(generator(1), 3, 4) <= 0.5
    True
    """
    if not (isfinite(low) and isfinite(high) and low <= high):
        raise ArgumentValueError(f"uniform({low!r}, {high!r}): two finite numbers, the lower first")
    return lambda rng, fan_in, fan_out: float(rng.uniform(low, high))


def normal(mean: float = 0.0, std: float = 1.0) -> Initializer:
    """w from N(mean, std²).

    Args:
        mean: The mean; no unit.
        std: The standard deviation.

    Raises:
        ArgumentValueError: if ``std`` is negative, or one of them is not finite.

    >>> normal(2.0, 0.0)(generator(1), 3, 4)
    2.0
    """
    if not (isfinite(mean) and isfinite(std) and std >= 0.0):
        raise ArgumentValueError(f"normal({mean!r}, {std!r}): finite numbers, std at least 0")
    return lambda rng, fan_in, fan_out: float(rng.gauss(mean, std))


def xavier_uniform() -> Initializer:
    """w from U(−a, a) with a = √(6 / (fan_in + fan_out)); for tanh, sigmoid and no activation.

    Source: X. Glorot, Y. Bengio, Understanding the difficulty of training deep feedforward neural
    networks (2010), equation 16.

    >>> abs(xavier_uniform()(generator(1), 3, 3)) <= 1.0
    True
    """
    return lambda rng, n, m: float(rng.uniform(-1.0, 1.0) * sqrt(6.0 / (n + m)))


def xavier_normal() -> Initializer:
    """w from N(0, σ²) with σ² = 2 / (fan_in + fan_out); for tanh, sigmoid and no activation.

    Source: X. Glorot, Y. Bengio, as for ``xavier_uniform``, equation 12.

    >>> isinstance(xavier_normal()(generator(1), 3, 3), float)
    True
    """
    return lambda rng, n, m: float(rng.gauss(0.0, 1.0) * sqrt(2.0 / (n + m)))


def he_uniform() -> Initializer:
    """w from U(−a, a) with a = √(6 / fan_in); for relu and its relatives.

    Source: K. He, X. Zhang, S. Ren, J. Sun, Delving deep into rectifiers, arXiv:1502.01852,
    equation 10, as a uniform distribution.

    >>> abs(he_uniform()(generator(1), 6, 3)) <= 1.0
    True
    """
    return lambda rng, n, m: float(rng.uniform(-1.0, 1.0) * sqrt(6.0 / n))


def he_normal() -> Initializer:
    """w from N(0, σ²) with σ² = 2 / fan_in; for relu and its relatives.

    Source: K. He, X. Zhang, S. Ren, J. Sun, Delving deep into rectifiers, arXiv:1502.01852,
    equation 10.

    >>> isinstance(he_normal()(generator(1), 6, 3), float)
    True
    """
    return lambda rng, n, m: float(rng.gauss(0.0, 1.0) * sqrt(2.0 / n))


_BY_NAME: dict[str, Callable[[], Initializer]] = {
    "he_normal": he_normal, "he_uniform": he_uniform, "normal": normal, "uniform": uniform,
    "xavier_normal": xavier_normal, "xavier_uniform": xavier_uniform,
    "ones": lambda: lambda rng, n, m: 1.0, "zeros": lambda: lambda rng, n, m: 0.0,
}  # fmt: skip


def _initializer(init: Any) -> Initializer:
    if callable(init):
        return init  # type: ignore[no-any-return]
    if init not in _BY_NAME:
        near = get_close_matches(str(init), _BY_NAME, 1)
        hint = f"; {near[0]!r} is near" if near else ""
        raise ArgumentValueError(
            f"init={init!r}: it is a function (rng, fan_in, fan_out) → float, or one of "
            f"{', '.join(sorted(_BY_NAME))}{hint}"
        )
    return _BY_NAME[init]()


def draw(
    shape: tuple[int, ...], init: Any, fans: tuple[int, int], rng: Any, mode: str, dtype: Any
) -> Any:
    """A parameter of random numbers: a ``Tensor``, or nested lists of ``Value``s."""
    choose, source = _initializer(init), generator(rng)
    count = 1
    for n in shape:
        count *= n
    flat = [choose(source, *fans) for _ in range(count)]
    return _shaped(flat, shape, mode, dtype)


def constant(shape: tuple[int, ...], number: float, mode: str, dtype: Any) -> Any:
    """A parameter that starts with one number everywhere."""
    count = 1
    for n in shape:
        count *= n
    return _shaped([number] * count, shape, mode, dtype)


def _shaped(flat: list[float], shape: tuple[int, ...], mode: str, dtype: Any) -> Any:
    if mode == "array":
        try:
            import numpy as np
        except ImportError:
            raise MissingDependencyError(
                "mode='array' needs NumPy: pip install numpy; mode='scalar' does not"
            ) from None

        from minigrad.tensor import Tensor

        return Tensor(np.array(flat).reshape(shape), dtype=dtype)
    nested: list[Any] = [Value(x) for x in flat]
    for n in reversed(shape[1:]):
        nested = [nested[i : i + n] for i in range(0, len(nested), n)]
    return nested

"""Learning rates that change with the steps: functions from the number of steps done to a rate.

Give one in place of the number: ``Adam(learning_rate=cosine_decay(0.01, 1000))``. Any function of
the step will do; these are the usual ones.

Read next: ``optimizer.py``.
"""

from __future__ import annotations

from functools import lru_cache
from math import cos, pi
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.optim.clipping import positive

if TYPE_CHECKING:
    from collections.abc import Callable

    Schedule = Callable[[int], float]

__all__ = ["constant", "cosine_decay", "exponential_decay", "rate_of", "step_decay", "warm_up"]


def constant(rate: float) -> Schedule:
    """η(t) = rate.

    Args:
        rate: The learning rate; no unit.

    Raises:
        ArgumentValueError: if ``rate`` is negative or not finite.

    >>> constant(0.1)(1000)
    0.1
    """
    rate = positive(rate, "constant(rate)", zero=True)
    return lambda step: rate


def step_decay(rate: float, every: int, factor: float = 0.1) -> Schedule:
    """η(t) = rate · factor^⌊t / every⌋: cut down at once, again and again.

    Args:
        rate: The learning rate at the start; no unit.
        every: After how many steps it is multiplied.
        factor: By what.

    Raises:
        ArgumentValueError: if ``every`` is no positive int, or a number is not positive.

    >>> decay = step_decay(1.0, every=10, factor=0.5)
    >>> decay(0), decay(9), decay(10), decay(25)
    (1.0, 1.0, 0.5, 0.25)
    """
    rate, factor = positive(rate, "step_decay(rate)"), positive(factor, "step_decay(factor)")
    every = _steps(every, "step_decay(every)")
    return lambda step: float(rate * factor ** (step // every))


def exponential_decay(rate: float, decay_steps: int, decay_rate: float) -> Schedule:
    """η(t) = rate · decay_rate^(t / decay_steps): the same loss of rate in every step.

    Args:
        rate: The learning rate at the start; no unit.
        decay_steps: In how many steps it is multiplied once.
        decay_rate: By what.

    Raises:
        ArgumentValueError: if ``decay_steps`` is no positive int, or a number is not positive.

    Source: the names are those of TensorFlow's ``exponential_decay``.

    >>> exponential_decay(1.0, decay_steps=10, decay_rate=0.25)(5)
    0.5
    """
    rate = positive(rate, "exponential_decay(rate)")
    decay_rate = positive(decay_rate, "exponential_decay(decay_rate)")
    decay_steps = _steps(decay_steps, "exponential_decay(decay_steps)")
    return lambda step: float(rate * decay_rate ** (step / decay_steps))


def cosine_decay(rate: float, decay_steps: int, alpha: float = 0.0) -> Schedule:
    """η(t) = rate · (α + (1 − α) · ½(1 + cos(π · min(t, T) / T))): half a wave down, then level.

    Args:
        rate: The learning rate at the start; no unit.
        decay_steps: T, the steps until the end of the wave.
        alpha: Which part of ``rate`` is left at the end.

    Raises:
        ArgumentValueError: if ``decay_steps`` is no positive int, or a number is negative.

    Source: I. Loshchilov, F. Hutter, SGDR: Stochastic gradient descent with warm restarts,
    arXiv:1608.03983, equation 5, without restarts; the names are TensorFlow's.

    >>> wave = cosine_decay(1.0, decay_steps=100)
    >>> wave(0), round(wave(50), 9), wave(100), wave(1000)
    (1.0, 0.5, 0.0, 0.0)
    """
    rate = positive(rate, "cosine_decay(rate)")
    alpha = positive(alpha, "cosine_decay(alpha)", zero=True)
    decay_steps = _steps(decay_steps, "cosine_decay(decay_steps)")

    def schedule(step: int) -> float:
        wave = 0.5 * (1.0 + cos(pi * min(step, decay_steps) / decay_steps))
        return rate * (alpha + (1.0 - alpha) * wave)

    return schedule


def warm_up(after: float | Schedule, steps: int) -> Schedule:
    """η(t) = after(0) · (t + 1) / steps in the first steps, then after(t − steps).

    Args:
        after: The rate, or the schedule, that follows; it counts from the end of the warm-up.
        steps: How many steps the way up takes.

    Raises:
        ArgumentValueError: if ``steps`` is no positive int, or ``after`` a negative number.

    Source: P. Goyal et al., Accurate, large minibatch SGD, arXiv:1706.02677, section 2.2.

    >>> rate = warm_up(0.4, steps=4)
    >>> [round(rate(t), 3) for t in range(6)]
    [0.1, 0.2, 0.3, 0.4, 0.4, 0.4]
    """
    schedule: Schedule = after if callable(after) else constant(after)
    steps = _steps(steps, "warm_up(steps)")

    def rate(step: int) -> float:
        if step < steps:
            return schedule(0) * (step + 1) / steps
        return schedule(step - steps)

    return rate


def _steps(number: Any, what: str) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__") or number < 1:
        raise ArgumentValueError(f"{what}: {number!r} was given; it is an int from 1 on")
    return int(number)


def rate_of(learning_rate: Any, step: int) -> float:
    """The rate after ``step`` steps, of a number, or of a function of the step or of nothing.

    Raises:
        ArgumentTypeError: if it is, or gives, no number.
        ArgumentValueError: if that is negative, nan or infinite.
    """
    if not callable(learning_rate):
        return positive(learning_rate, "learning_rate", zero=True)
    rate = learning_rate(step) if _takes_a_step(learning_rate) else learning_rate()
    return positive(rate, f"learning_rate({step})", zero=True)


@lru_cache
def _takes_a_step(schedule: Callable[..., Any]) -> bool:
    """Whether a function wants the step; TensorFlow's callables take nothing."""
    from inspect import signature

    try:
        signature(schedule).bind(0)
    except TypeError:
        try:
            signature(schedule).bind()
        except TypeError:
            raise ArgumentTypeError(
                f"learning_rate={schedule!r}: a function takes the number of steps done, or nothing"
            ) from None
        return False
    except ValueError:  # written in C, without a signature
        pass
    return True

"""The primitives on floats: ``FLOATS`` is fast and may raise, ``IEEE`` never raises.

The formulas of the table are written with one small vocabulary: ``+ - * / **``, the elementary
functions, and ``less equal where``. Here it is for Python floats, twice. ``FLOATS`` is ``math``:
one call to C, and an exception where C has none of it (``log(0)``, ``1/0``, ``exp(1000)``). Then,
and only then, a formula is evaluated once more with ``IEEE``: its numbers are ``IEEEFloat``s, whose
arithmetic and functions give the value of the IEEE 754 standard: an infinity or nan.

Source: IEEE 754-2019 sections 6, 7 and 9.2; C17 annex F for the functions.
"""

from __future__ import annotations

import math
import operator
from math import copysign, inf, nan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["FLOATS", "IEEE", "IEEEFloat"]


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0)) if x == x else nan


def _larger(x: float, y: float) -> float:
    return x if x > y or x != x else y


def _smaller(x: float, y: float) -> float:
    return x if x < y or x != x else y


def _floor(x: float) -> float:
    return copysign(math.floor(x), x)  # the int has no -0.0


def _ceil(x: float) -> float:
    return copysign(math.ceil(x), x)


def _round(x: float) -> float:
    return copysign(round(x), x)


def _less(x: float, y: float) -> float:
    return 1.0 if x < y else 0.0


def _less_equal(x: float, y: float) -> float:
    return 1.0 if x <= y else 0.0


def _equal(x: float, y: float) -> float:
    return 1.0 if x == y else 0.0


def _where(condition: float, x: float, y: float) -> float:
    return x if condition else y


class FLOATS:
    """The vocabulary on plain floats. Raises what ``math`` raises."""

    exp, exp2, expm1 = math.exp, math.exp2, math.expm1
    log, log2, log10, log1p = math.log, math.log2, math.log10, math.log1p
    sqrt, cbrt = math.sqrt, math.cbrt
    sin, cos, tan = math.sin, math.cos, math.tan
    asin, acos, atan, atan2 = math.asin, math.acos, math.atan, math.atan2
    sinh, cosh, tanh = math.sinh, math.cosh, math.tanh
    asinh, acosh, atanh = math.asinh, math.acosh, math.atanh
    erf, hypot, power = math.erf, math.hypot, math.pow
    abs = math.fabs
    sign = staticmethod(_sign)
    maximum = staticmethod(_larger)
    minimum = staticmethod(_smaller)

    floor, ceil, round = staticmethod(_floor), staticmethod(_ceil), staticmethod(_round)
    less, less_equal = staticmethod(_less), staticmethod(_less_equal)
    equal, where = staticmethod(_equal), staticmethod(_where)


def _divide(x: float, y: float) -> float:
    if y != 0.0:
        return x / y
    if x == 0.0 or x != x:
        return nan
    return copysign(inf, x) * copysign(1.0, y)


def _floor_divide(x: float, y: float) -> float:
    return x // y if y != 0.0 else _divide(x, y)


def _remainder(x: float, y: float) -> float:
    return x % y if y != 0.0 else nan


def _power(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        odd = y % 2.0 == 1.0
        return -inf if x < 0.0 and odd else inf
    except ValueError:
        if x != 0.0:  # a negative number to a power that is not whole
            return nan
        return copysign(inf, x) if y % 2.0 == 1.0 else inf  # zero to a negative power


def _operator(calculate: Callable[[float, float], float], swap: bool = False) -> Any:
    """A method of ``IEEEFloat``; ``swap`` for the number on the left."""

    def method(self: float, other: float) -> Any:
        if not isinstance(other, float | int):
            return NotImplemented
        x, y = float(self), float(other)
        return IEEEFloat(calculate(y, x) if swap else calculate(x, y))

    return method


class IEEEFloat(float):
    """A float whose arithmetic follows IEEE 754 where Python raises an exception."""

    __slots__ = ()
    _rank = 0

    @staticmethod
    def _apply(op: Any, xs: tuple[Any, ...], kinds: set[type]) -> Any:
        return op.forward(IEEE, *map(IEEEFloat, xs))

    __add__ = __radd__ = _operator(operator.add)
    __mul__ = __rmul__ = _operator(operator.mul)
    __sub__, __rsub__ = _operator(operator.sub), _operator(operator.sub, swap=True)
    __truediv__, __rtruediv__ = _operator(_divide), _operator(_divide, swap=True)
    __floordiv__, __rfloordiv__ = _operator(_floor_divide), _operator(_floor_divide, swap=True)
    __mod__, __rmod__ = _operator(_remainder), _operator(_remainder, swap=True)
    __pow__, __rpow__ = _operator(_power), _operator(_power, swap=True)

    def __neg__(self) -> IEEEFloat:
        return IEEEFloat(-float(self))


def _total(function: Callable[..., float], otherwise: Callable[..., float]) -> Any:
    """``function`` as an IEEE function: where it raises, the value is ``otherwise(*xs)``."""

    def total(*xs: float) -> IEEEFloat:
        numbers = [float(x) for x in xs]
        try:
            return IEEEFloat(function(*numbers))
        except (ValueError, OverflowError):
            return IEEEFloat(otherwise(*numbers))

    return staticmethod(total)


def _outside(*xs: float) -> float:
    return nan


def _itself(x: float) -> float:
    return x


def _infinity(x: float) -> float:
    return inf


def _pole(at: float) -> Callable[[float], float]:
    return lambda x: -inf if x == at else nan


class IEEE:
    """The vocabulary on ``IEEEFloat``: every function is total."""

    exp, exp2 = _total(math.exp, _infinity), _total(math.exp2, _infinity)
    expm1 = _total(math.expm1, _infinity)
    log, log2, log10 = (_total(f, _pole(0.0)) for f in (math.log, math.log2, math.log10))
    log1p = _total(math.log1p, _pole(-1.0))
    sqrt, cbrt = _total(math.sqrt, _outside), _total(math.cbrt, _outside)
    sin, cos, tan = (_total(f, _outside) for f in (math.sin, math.cos, math.tan))
    asin, acos, acosh = (_total(f, _outside) for f in (math.asin, math.acos, math.acosh))
    atan, asinh = _total(math.atan, _outside), _total(math.asinh, _outside)
    sinh = _total(math.sinh, lambda x: copysign(inf, x))
    cosh = _total(math.cosh, _infinity)
    tanh, erf = _total(math.tanh, _outside), _total(math.erf, _outside)
    atanh = _total(math.atanh, lambda x: copysign(inf, x) if abs(x) == 1.0 else nan)
    atan2, hypot = _total(math.atan2, _outside), _total(math.hypot, lambda x, y: inf)
    power = _total(_power, _outside)
    abs, sign = _total(math.fabs, _outside), _total(_sign, _outside)
    maximum, minimum = _total(_larger, _outside), _total(_smaller, _outside)
    floor, ceil = _total(_floor, _itself), _total(_ceil, _itself)
    round = _total(_round, _itself)
    less, less_equal = _total(_less, _outside), _total(_less_equal, _outside)
    equal = _total(_equal, _outside)
    where = _total(_where, _outside)

"""``NOTHING``: what ``where`` sends to the branch not taken.

It is less than 0.0, for 0.0 times inf is nan, and nothing times inf is nothing. Added to a gradient
it leaves the gradient as it is; where nothing else arrives, the gradient is 0.0 in the end.

Read next: ``ops/core.py``, which sends it, and ``fast.py``, which counts on its arithmetic.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["NOTHING", "UNTOUCHED"]

UNTOUCHED = float("-0.0")  # a total to which nothing was added yet: -0.0 + x is x, to the sign of 0


class Nothing:
    """The class of ``NOTHING``."""

    __slots__ = ()
    __array_ufunc__ = None  # array + NOTHING asks NOTHING, not NumPy

    def __add__(self, total: Any) -> Any:
        return self if total is UNTOUCHED else total

    __radd__ = __add__

    def __mul__(self, other: Any) -> Nothing:
        return self

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING = Nothing()

"""Evaluating a row on numbers, and choosing who evaluates it on anything else.

A formula is run on plain floats first. Only when that raises, or leaves the finite floats, is it
run again by the rules of IEEE 754 (``floats.py``); a nan or an infinity that arises is reported
here, where it arises, and not along the chain.

Nodes, symbols and IEEE floats evaluate rows in their own way: a class that wants to has a method
``_apply(op, xs)`` and a rank in ``_rank``; among the arguments, the highest rank decides.

Read next: ``core.py``, the rows.
"""

from __future__ import annotations

import sys
from math import inf, isfinite, isinf, isnan, nan

from minigrad import hooks, modes, source
from minigrad.errors import ArgumentTypeError, NumericalError, NumericalWarning
from minigrad.ops.floats import FLOATS, IEEE, IEEEFloat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from minigrad.ops.row import Op

__all__ = [
    "apply", "as_number", "beside_node", "brief", "check_product", "compute", "derivative",
    "kind_of", "refuse", "report", "shown",
]  # fmt: skip

LEAVES_FLOATS = (ArithmeticError, ValueError)  # what ``math`` and float arithmetic raise


def as_number(x: Any) -> float | None:
    """Return ``x`` as a float, or None if it is not a number that this module knows.

    Python's and NumPy's real scalars, ``Fraction`` and ``Decimal`` are numbers; text, complex
    numbers, sequences and arrays are not.
    """
    kind = type(x)
    if kind is float:
        return x  # type: ignore[no-any-return]
    if kind is IEEEFloat:
        return float(x)
    if hasattr(kind, "_apply"):
        return None
    if not hasattr(kind, "__float__") or hasattr(kind, "__len__"):
        return None
    if getattr(getattr(x, "dtype", None), "kind", "f") not in "biuf":
        return None
    try:
        return float(x)
    except OverflowError:  # an integer beyond the floats
        return inf if x > 0 else -inf


def refuse(x: Any, what: str) -> ArgumentTypeError:
    """The error for an argument that is no number, with what to write instead."""
    if isinstance(x, list | tuple):
        fix = "stack_values(...) joins Values, Tensor(...) holds an array of numbers"
    elif isinstance(x, str):
        fix = "convert the text with float(...)"
    elif x is None and what == "clip":
        fix = "-inf in place of low, or inf in place of high, leaves that bound out"
    elif x is None:
        fix = "is a `return` missing?"
    elif isinstance(x, complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c":
        fix = "complex numbers are not differentiated; use .real and .imag"
    elif hasattr(x, "shape"):
        fix = "take one number with .item(), or use Tensor(...)"
    else:
        fix = "a real number is needed"
    return ArgumentTypeError(f"{what}: {brief(x)} is {kind_of(x)}; {fix}")


def brief(x: Any) -> str:
    """What a message shows of an argument: one short line, never a whole array.

    >>> brief([0, 1] * 100)
    '[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0,…'
    """
    if getattr(x, "shape", ()):
        return f"{kind_of(x) if hasattr(x, '_apply') else 'an array'} of shape {x.shape}"
    if isinstance(x, list | tuple) and any(getattr(part, "shape", ()) for part in x):
        parts = [*map(brief, x[:2]), "…"][: len(x)]
        return f"[{', '.join(parts)}]"
    shown = " ".join(repr(x).split())
    return shown if len(shown) <= 40 else shown[:39] + "…"


def shown(xs: Iterable[Any], keywords: Mapping[str, Any]) -> list[str]:
    """The arguments of a call as a message shows them.

    >>> shown([1.0, "ij"], {"axis": 0})
    ['1.0', "'ij'", 'axis=0']
    """
    return [*map(brief, xs), *(f"{name}={brief(value)}" for name, value in keywords.items())]


def kind_of(x: Any) -> str:
    """The class of an argument with its article.

    >>> kind_of(1), kind_of(1.0)
    ('an int', 'a float')
    """
    name = type(x).__name__
    return f"an {name}" if name.startswith(("a", "e", "i", "o", "nd", "A", "O")) else f"a {name}"


_NEVER = (str, bytes, complex, list, tuple, dict, set, type(None))  # have no operators with nodes


def beside_node(x: Any, what: str) -> float | None:
    """The number beside a node in an operator, or None if its class may know what to do.

    Raises:
        ArgumentTypeError: if it is of a class that certainly does not.
    """
    number = as_number(x)
    if number is None and isinstance(x, _NEVER):
        raise refuse(x, what)
    return number


def compute(op: Op, xs: tuple[float, ...]) -> float:
    """The value of ``op`` on floats, by IEEE rules where plain Python has none; reports it."""
    try:
        out = op.forward(FLOATS, *xs)
    except LEAVES_FLOATS:
        out = None
    if type(out) is not float:
        out = _as_float(out)
        if out is None:
            again = op.forward(IEEE, *map(IEEEFloat, xs))
            out = _as_float(again)
            if out is None:
                raise refuse(again, f"{op.describe(xs)}, whose forward must give a number")
    if op.domain is not None and out == out and not op.domain(*xs):
        out = nan  # a row of a learner's may compute something there
    arises = all(map(isfinite, xs)) or (isnan(out) and not any(map(isnan, xs)))
    if arises and not isfinite(out):
        outside = op.domain is not None and not op.domain(*xs)
        report(f"{op.describe(xs)} is {out!r}" + ", outside its domain" * outside)
    return out


def derivative(op: Op, i: int, out: float, xs: Sequence[float]) -> float:
    """The local derivative ∂out/∂xᵢ on floats, by IEEE rules where plain Python has none."""
    slope = op.slopes[i]
    if not callable(slope):
        return 0.0 if slope is None else slope
    try:
        local = slope(out, *xs)
        if type(local) is float:
            return local
    except LEAVES_FLOATS:
        local = None
    local = _as_float(local)
    return float(slope(IEEEFloat(out), *map(IEEEFloat, xs))) if local is None else local


def _as_float(x: Any) -> float | None:
    """``x`` as a float if a formula may give it (an int, a NumPy scalar); None if complex."""
    return float(x) if isinstance(x, IEEEFloat) else as_number(x)


def check_product(
    op: Op, i: int, out: float, xs: tuple[float, ...], upstream: float, local: float
) -> None:
    """Report a contribution that is not finite, if it arises here."""
    product = upstream * local
    if isfinite(product) or isnan(upstream) or isnan(out) or (isinf(product) and isinf(upstream)):
        return  # nothing wrong, or reported where it arose
    where = f"in backward, {op.describe(xs)}"
    if isnan(local) or (isinf(product) and isinf(local) and isfinite(out)):
        report(f"{where}: the derivative with respect to input {i} is {local!r}")
    elif isnan(product) or isfinite(local):
        report(f"{where}: upstream {upstream!r} × local {local!r} is {product!r}")


def report(text: str) -> None:
    """Warn, raise or keep silent, as ``errstate`` has it."""
    action = modes.error_action()
    if action == "raise":
        frame = source.learner_frame()
        raise NumericalError(f"{text} ({source.place(source.span(frame.f_code, frame.f_lasti))})")
    if action == "warn":
        source.warn(NumericalWarning, text)


def apply(op: Op, xs: tuple[Any, ...]) -> Any:
    """Evaluate ``op`` in the mode that the arguments ask for: numbers compute, nodes record."""
    kinds: set[Any] = set(map(type, xs))
    chosen: Any = None
    rank = -1
    for kind in kinds:
        if getattr(kind, "_rank", -1) > rank:
            chosen, rank = kind, kind._rank
        elif kind is not float and hasattr(kind, "__array_finalize__") and rank < 3:
            return hooks.arrays(op, xs, kinds)  # an ndarray, so NumPy is there
    if chosen is not None:
        return chosen._apply(op, xs, kinds)
    numbers = []
    for x in xs:
        number = as_number(x)
        if number is None:
            raise refuse(x, op.name)
        numbers.append(number)
    if source.is_ours(sys._getframe(2)):  # our own formulas meet infinities on purpose
        with modes.errstate("ignore"):
            return compute(op, tuple(numbers))
    return compute(op, tuple(numbers))


source.bridge = apply.__code__  # only functions of ours call it: the learner is two frames above

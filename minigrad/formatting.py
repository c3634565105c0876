"""How numbers and names are written in a small space.

Every picture, table and message uses these few functions, so that a number looks the same wherever
a learner meets it: four significant digits, never ``0.0000`` for something that is not zero, and a
dot for "no gradient yet". The exact number is always one step away (`exact`, shown on hover).

Bottom layer: imports nothing of minigrad. Read next: `minigrad.picture.cards`, its first customer.
"""

from __future__ import annotations

from math import isfinite
from unicodedata import category, combining, east_asian_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "clip_text", "display_width", "exact", "finite", "gist", "in_sum", "pad_text", "short",
    "visible",
]  # fmt: skip

NOTHING = "·"
ELLIPSIS = "…"
IN_FULL = 12  # elements of an array that are written out where exact numbers are asked for


def short(number: Any) -> str:
    """The number with four significant digits; whole numbers below a million in full.

    Negative zero is written ``0``: its sign is rarely the lesson, and `exact` still tells.

    Args:
        number: What to write; of an array its shape; ``None`` means "there is none": a dot.

    Returns:
        A text of at most ten characters (``-1.235e-100`` has eleven).

    >>> [short(x) for x in (2.0, -0.0, 0.1 + 0.2, 3e-6, 1e20, 123456.789, 1234567.0)]
    ['2', '0', '0.3', '3e-06', '1e+20', '1.235e+05', '1.235e+06']
    >>> short(None), short(float("nan")), short(float("-inf"))
    ('·', 'nan', '-inf')
    """
    if number is None:
        return NOTHING
    if hasattr(number, "shape"):
        return short(number.item()) if number.size == 1 else _shape(number)
    if number == 0:
        return "0"
    if -1e6 < number < 1e6 and number == int(number):
        return str(int(number))
    return f"{number:.4g}"


def in_sum(number: float) -> str:
    """A number as it stands in a sum or product, a negative one in brackets.

    >>> in_sum(-1.5), in_sum(2.0)
    ('(-1.5)', '2')
    """
    return f"({short(number)})" if number < 0 else short(number)


def exact(number: Any) -> str:
    """The number in full, so that reading it back gives the same float.

    >>> exact(0.1 + 0.2), exact(-0.0), exact(None)
    ('0.30000000000000004', '-0.0', '·')
    """
    if hasattr(number, "shape"):
        if number.size == 1:
            return repr(number.item())
        elements = number.tolist() if number.size <= IN_FULL else gist(number)
        return f"{_shape(number)} {number.dtype}: {elements}"
    return NOTHING if number is None else repr(number)


def gist(number: Any, columns: int = 20) -> str:
    """What a number or an array holds, in a small space: all elements of a small one, else a range.

    Args:
        number: What to write.
        columns: How wide it may be to be written in full.

    >>> gist(0.1 + 0.2)
    '0.3'
    """
    if not getattr(number, "shape", ()) or number.size == 1:
        return short(number)
    if not number.size:
        return "empty"
    if number.ndim == 1 and number.size <= columns // 2:
        full = f"[{', '.join(map(short, number.tolist()))}]"
        if len(full) <= columns:
            return full
    if number.dtype.kind == "b":
        return f"{int(number.sum())} of {number.size} true"
    low, high = short(number.min().item()), short(number.max().item())
    if low == "nan":
        return f"{int((number != number).sum())} of {number.size} nan"
    return f"all {low}" if low == high else f"{low} … {high}"


def finite(number: Any) -> bool:
    """Whether a number, or every element of an array, is neither nan nor infinite.

    >>> finite(1.0), finite(None), finite(float("inf"))
    (True, True, False)
    """
    if number.__class__ is float:
        return isfinite(number)
    if hasattr(number, "shape"):
        if number.dtype.kind != "f" or not number.size:
            return True
        return isfinite(number.min()) and isfinite(number.max())
    return not isinstance(number, float) or isfinite(number)


def _shape(array: Any) -> str:
    """``'[3×4]'``: an array in a small space."""
    return f"[{'×'.join(map(str, array.shape))}]"


def display_width(text: str) -> int:
    """Columns the text takes in a terminal: 2 for wide East Asian characters, 0 for marks.

    >>> display_width("loss"), display_width("损失"), display_width("e\\u0301")
    (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def clip_text(text: str, width: int) -> str:
    """The text, cut with an ellipsis where it is wider than `width` columns.

    >>> clip_text("weight", 6), clip_text("learning_rate", 6), clip_text("损失函数", 5)
    ('weight', 'learn…', '损失…')
    """
    if display_width(text) <= width:
        return text
    used, kept = 1, []  # the ellipsis takes one column
    for character in text:
        used += _columns(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept) + ELLIPSIS


def pad_text(text: str, width: int, *, right: bool = False) -> str:
    """The text filled with spaces to `width` columns, as `str.ljust` does for narrow letters.

    >>> pad_text("损失", 6) + "|", pad_text("2", 3, right=True)
    ('损失  |', '  2')
    """
    spaces = " " * (width - display_width(text))  # none for a text that is wider
    return spaces + text if right else text + spaces


def visible(text: str) -> str:
    """The text with every control character replaced by a picture of it.

    A name can hold anything; XML, DOT and terminals cannot. A newline becomes ``␊``, NUL ``␀``.

    >>> visible("a\\nb\\0"), visible("\\x7f\\ud800")
    ('a␊b␀', '␡\\ufffd')
    """
    if text.isprintable():
        return text
    return "".join(map(_picture_of, text))


def _picture_of(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    # C1 controls, lone surrogates, separators that end a line, and the two codes XML forbids.
    if category(character) in ("Cc", "Cs", "Zl", "Zp") or code & 0xFFFE == 0xFFFE:
        return "\N{REPLACEMENT CHARACTER}"
    return character


def _columns(character: str) -> int:
    if combining(character) or category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1

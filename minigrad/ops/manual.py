"""What ``help(mg.mean)`` says: docstrings of the functions of arrays, written from their rows.

A row of arrays has no formula per element that could be run on symbols and printed. So it states
its derivative in one line of Python, next to the rule that computes it, and says what its arguments
are. The tests evaluate every such line with NumPy and compare it with the rule.

Read next: ``kinds.py``, the rows; ``../reference/page.py``, the same as a page.
"""

from __future__ import annotations

from minigrad.ops.row import MANY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, TypeVar

    from minigrad.ops.row import Op

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["Manual", "arguments_of", "call_of", "derivatives", "documented", "hints", "of_row"]


class Manual:
    """What the documentation says of a row or a function of arrays, beyond its sentence.

    Args:
        formula: Its value as an expression of Python in the names of inputs and attributes.
        derivative: Input → the gradient that it gets, an expression in those names, ``out`` and
            the upstream gradient ``g``; a text alone is that of the only input. A reduction is
            written for ``g`` and ``out`` that keep the reduced axes, with length 1.
        example: The arguments of an example and its result. A list of floats is written as a
            Tensor, a tuple of such lists as a list of Tensors, a dict as keywords. Or the whole
            call as a text, and its result.
        args: Argument → what it is, with its shape, where the words of this file do not fit.
        returns: The shape of the result.
        note: What the names in ``derivative`` stand for, if they are no arguments, and conventions.
        raises: Error → when.
        source: Where it is published.
        method: Whether it is only a method, ``x.trace()``, and no function of ``minigrad``.
    """

    __slots__ = (
        "args", "derivative", "example", "formula", "method", "note", "raises", "returns",
        "sentence", "source",
    )  # fmt: skip

    def __init__(
        self,
        formula: str = "",
        derivative: str | Mapping[str, str] = "",
        example: tuple[Any, ...] = (),
        *,
        args: Mapping[str, str] | None = None,
        returns: str = "",
        note: str = "",
        raises: Mapping[str, str] | None = None,
        source: str = "",
        method: bool = False,
    ) -> None:
        self.formula, self.derivative, self.example = formula, derivative, example
        self.args, self.returns, self.note = args or {}, returns, note
        self.raises, self.source, self.method = raises or {}, source, method
        self.sentence = ""  # of a function that has no row; filled in by ``documented``


_EMPTY = Manual()

_INPUT = "A Tensor, an array or a number, of any shape; no unit"
_REDUCED = "The axis or axes to reduce: an int, a tuple of ints, or None for all of them"
_ATTRIBUTES = {
    "keepdims": "Whether the reduced axes stay, with length 1",
    "ddof": "What is taken off the number n of elements in the divisor; 1 for a sample",
    "reduction": "'mean' or 'sum' of the terms, or 'none' for the terms themselves",
    "stride": "The step from window to window: an int, or two (down, right)",
    "k": "The diagonal that bounds it: 0 the main one, positive above it, negative below",
    "offset": "Which diagonal: 0 the main one, positive above it, negative below",
    "axis1": "The first of the two axes, an int",
    "axis2": "The second of the two axes, an int",
    "index": "As in NumPy: ints, slices, None, ..., arrays of ints or bools, or a tuple of these",
    "size": "Height and width of the windows, a pair of ints",
}


# -- from a row to its function ------------------------------------------------------------------


def of_row(row: Op) -> Callable[[F], F]:
    """Hang a row on the function that a learner calls, and write its docstring.

    A function that has one of its own keeps it if the row has no manual.
    """

    def hang(function: F) -> F:
        known: Any = function
        known.op, known.manual = row, row.manual
        if row.manual is not None or not known.__doc__:
            known.__doc__ = _docstring(known, row, row.manual or _EMPTY, row.sentence)
        return function

    return hang


def documented(manual: Manual) -> Callable[[F], F]:
    """Write the docstring of a function made of several rows; its sentence is there already."""

    def write(function: F) -> F:
        known: Any = function
        known.manual, manual.sentence = manual, " ".join(str(known.__doc__).split())
        known.__doc__ = _docstring(known, None, manual, manual.sentence)
        return function

    return write


# -- the sections of a docstring -----------------------------------------------------------------


def _docstring(function: Any, op: Op | None, manual: Manual, sentence: str) -> str:
    arguments = arguments_of(function)
    call = call_of(function)
    lines = [f"{call} = {manual.formula}" if manual.formula else f"{call}: {sentence}"]
    if manual.formula:
        lines += ["", *_wrapped(sentence)]
    lines += _section("Args", (_argument(*x, manual, arguments) for x in arguments if x[0] != "*"))
    lines += _section("Returns", _returns(manual, arguments))
    lines += _section("Raises", (f"{e}: {when}." for e, when in _raises(op, manual, arguments)))
    lines += _section("Derivative", _derivative_lines(op, manual))
    lines += _example(call.partition("(")[0], manual)
    source = manual.source or (op.source if op is not None else "")
    if source:
        lines += ["", "Source:", f"    {source}"]
    return "\n".join(lines) + "\n"


def _section(title: str, entries: Iterable[str]) -> list[str]:
    found = [line for entry in entries for line in _wrapped(entry, "    ")]
    return ["", f"{title}:", *found]


def _wrapped(text: str, indent: str = "") -> list[str]:
    """A text in lines that fit on a page; what is continued is indented once more."""
    lines, line = [], indent
    for word in text.split(" "):
        if len(line) + 1 + len(word) > _WIDTH and line.strip():
            lines.append(line)
            line = indent + "    "
        line += word if not line.strip() else f" {word}"
    return [*lines, line]


_WIDTH = 100  # characters

_NEEDED: Any = object()  # the default of an argument that has none
_BEFORE_COUNT = 0x04  # the flag of a code object with *args


def arguments_of(function: Any) -> list[tuple[str, Any]]:
    """The arguments of a call with their defaults; ``*args`` with its star."""
    function = getattr(function, "unchecked", function)
    op: Op | None = getattr(function, "op", None)
    if op is not None and hasattr(function, "__wrapped__"):
        return [*((name, _NEEDED) for name in op.parameters), *op.attrs.items()]
    code, names = function.__code__, function.__code__.co_varnames
    count, only = code.co_argcount, code.co_kwonlyargcount
    defaults = function.__defaults__ or ()
    found = [(name, _NEEDED) for name in names[: count - len(defaults)]]
    found += zip(names[count - len(defaults) : count], defaults, strict=True)
    if code.co_flags & _BEFORE_COUNT:
        found.append((f"*{names[count + only]}", _NEEDED))
    elif only:
        found.append(("*", _NEEDED))
    keywords = function.__kwdefaults__ or {}
    return found + [(name, keywords[name]) for name in names[count : count + only]]


def call_of(function: Any) -> str:
    """How a function is called: ``mean(x, axis=None, keepdims=False)``."""
    op = getattr(function, "op", None)
    name = function.__name__
    if op is not None and hasattr(function, "__wrapped__"):
        name = op.word  # the row of sums is called reduce_sum
    shown = [n if d is _NEEDED else f"{n}={d!r}" for n, d in arguments_of(function)]
    return f"{name}({', '.join(shown)})"


def _argument(name: str, default: Any, manual: Manual, arguments: list[tuple[str, Any]]) -> str:
    words = manual.args.get(name) or _ATTRIBUTES.get(name, _INPUT)
    if name == "axis" and "axis" not in manual.args:
        words = _REDUCED if _has(arguments, "keepdims") else "The axis, an int"
    return (
        f"{name}: {words}." if default is _NEEDED else f"{name}: {words}; {default!r} by default."
    )


def _has(arguments: list[tuple[str, Any]], name: str) -> bool:
    return any(known == name for known, _ in arguments)


def _returns(manual: Manual, arguments: list[tuple[str, Any]]) -> Iterator[str]:
    if manual.returns.startswith(("A ", "An ")):
        yield f"{manual.returns}."
        return
    yield "A Tensor if there is a node among the arguments, else an array."
    if manual.returns:
        yield f"{manual.returns}."
    elif _has(arguments, "keepdims"):
        yield "The shape of x without the reduced axes; with keepdims they have length 1."
    elif _has(arguments, "reduction"):
        yield "Without axes; for reduction='none' one term for each prediction."
    else:
        yield "The shape of x."


def _raises(
    op: Op | None, manual: Manual, arguments: list[tuple[str, Any]]
) -> Iterator[tuple[str, str]]:
    known = {"ArgumentTypeError": "if an input is no array of real numbers, such as text or a list"}
    if _has(arguments, "axis"):
        known["ArgumentValueError"] = "if there is no such axis"
    for error, when in manual.raises.items():
        known[error] = f"{known[error]}; {when}" if error in known else when
    yield from known.items()
    lines = " ".join([manual.formula, *(text or "" for text in derivatives(op, manual).values())])
    if any(sign in lines for sign in ("*", "/", "@", "einsum")):  # it does not only move elements
        yield "NumericalError", 'inside ``errstate("raise")``, if nan or inf arises'


# -- derivatives ---------------------------------------------------------------------------------


def derivatives(op: Op | None, manual: Manual | None) -> dict[str, str | None]:
    """Input → the gradient that it gets, as an expression; None if it gets none."""
    stated = manual.derivative if manual is not None else ""
    names = list(op.parameters) if op is not None and op.arity is not MANY else []
    if isinstance(stated, str):
        stated = {(names or ["x"])[0]: stated} if stated else {}
    found: dict[str, str | None] = dict(stated)
    for i, name in enumerate(names):
        if op is not None and name not in found and not op.differentiable(i):
            found[name] = None
    return found


def _derivative_lines(op: Op | None, manual: Manual) -> Iterator[str]:
    found = derivatives(op, manual)
    for name, text in found.items():
        if text is None:
            yield f"∂L/∂{name}: none, no gradient flows to {name}"
        else:
            yield f"∂L/∂{name} = {text}"
    if any(found.values()):
        yield "g is the upstream gradient ∂L/∂out; L is what backward() starts from."
    yield from hints(op, manual)


def hints(op: Op | None, manual: Manual) -> Iterator[str]:
    """What the names in the lines of a manual stand for."""
    attrs = op.attrs if op is not None else {}
    texts = [text for text in derivatives(op, manual).values() if text]
    words = " ".join([*texts, manual.formula]).replace("(", " ").replace(")", " ").split()
    if "keepdims" in attrs and texts:
        yield "g and out keep the reduced axes here, with length 1."
    if "n" in words and "reduction" in attrs:
        yield "n is the number of terms, or 1 if they are not averaged."
    elif "n" in words:
        yield "n elements make one of the result."
    if manual.note:
        yield manual.note


# -- examples ------------------------------------------------------------------------------------


def _example(name: str, manual: Manual) -> list[str]:
    if not manual.example:
        return []
    *xs, out = manual.example
    if len(xs) == 1 and isinstance(xs[0], str):
        return ["", ">>> import minigrad as mg", f">>> {xs[0]}", repr(out)]
    shown = [_written(x) for x in xs]
    owner = shown.pop(0) if manual.method else "mg"
    call = f"{owner}.{name}({', '.join(shown)})"
    if isinstance(out, tuple):  # several results
        call, out = f"[part.tolist() for part in {call}]", list(out)
    else:
        call += ".tolist()" if isinstance(out, list) else ".item()"
    return ["", ">>> import minigrad as mg", f">>> {call}", repr(out)]


def _written(x: Any) -> str:
    """An argument of an example, as a learner would write it."""
    if isinstance(x, dict):
        return ", ".join(f"{name}={value!r}" for name, value in x.items())
    if isinstance(x, tuple) and x and isinstance(x[0], list):
        return f"[{', '.join(map(_written, x))}]"
    return f"mg.Tensor({x!r})" if isinstance(x, list) and _holds_floats(x) else repr(x)


def _holds_floats(x: Any) -> bool:
    return any(map(_holds_floats, x)) if isinstance(x, list) else isinstance(x, float)

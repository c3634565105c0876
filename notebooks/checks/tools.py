"""What the checks are made of.

A check is a function that takes the answer. It returns quietly if the answer is right, raises
`Hint` if it is wrong, and `Open` if there is none. ``@exercise`` enters it.
"""

import dis
import math
from numbers import Real

CHECKS = {}  # "1.1" -> (the check, what to say when the answer is right)


class Hint(Exception):
    """The answer is wrong, and this may help."""


class Open(Exception):
    """There is no answer yet."""


def exercise(number, praise):
    """Enter a function as the check of an exercise."""

    def enter(function):
        CHECKS[number] = (function, praise)
        return function

    return enter


def present(answer):
    """Return the answer; `Open` if it is None or ``...``."""
    if answer is None or answer is ...:
        raise Open
    return answer


def close(x, y, tolerance=1e-6):
    """Whether two numbers agree, relative to their size; nan agrees with nothing."""
    return math.isclose(x, y, rel_tol=tolerance, abs_tol=tolerance)


def a_number(answer, what="the answer"):
    """Return ``answer`` if it is a number; a hint that says what it is otherwise."""
    if isinstance(answer, Real) and not isinstance(answer, bool):
        return float(answer)
    kind, shape = type(answer).__name__, getattr(answer, "shape", None)
    if isinstance(getattr(answer, "data", None), Real) or (shape == () and hasattr(answer, "grad")):
        raise Hint(f"{what} should be a plain number. This is a {kind}; its number is in .data.")
    if shape == () and hasattr(answer, "item"):  # an array without axes, as in .data of a Tensor
        return a_number(answer.item(), what)
    if shape is not None:
        raise Hint(f"{what} should be a number. This is a {kind} of shape {shape}.")
    if callable(answer):
        raise Hint(f"{what} should be a number. This is a function; call it.")
    raise Hint(f"{what} should be a number. This is a {kind}.")


def some_numbers(answer, count):
    """Return ``answer`` as a tuple of ``count`` numbers."""
    if not isinstance(answer, list | tuple):
        raise Hint(f"Give {count} numbers, as in (1.0, 2.0). This is a {type(answer).__name__}.")
    for x in answer:
        present(x)
    if len(answer) != count:
        raise Hint(f"Give {count} numbers. There are {len(answer)}.")
    return tuple(a_number(x, f"number {i}") for i, x in enumerate(answer, 1))


def compare(answer, right, usual, otherwise, tolerance=1e-6):
    """Compare numbers with the right ones.

    Args:
        answer: A tuple of numbers.
        right: The right ones.
        usual: Pairs of a usual wrong answer and the hint for it.
        otherwise: The hint for all others.
        tolerance: How far a number may be off, relative to its size.
    """

    def same(expected):
        return all(close(x, y, tolerance) for x, y in zip(answer, expected, strict=True))

    if same(right):
        return
    for wrong, hint in usual:
        if same(wrong):
            raise Hint(hint)
    raise Hint(otherwise)


def rows(answer):
    """The shape of an array, and its numbers one after the other."""
    present(answer)
    if not hasattr(answer, "tolist") or not hasattr(answer, "shape"):
        raise Hint(f"Return an array. This is a {type(answer).__name__}.")
    numbers, level = answer.tolist(), len(answer.shape)
    for _ in range(level - 1):
        numbers = [number for row in numbers for number in row]
    return tuple(answer.shape), numbers if level else [numbers]


def function_of(answer):
    """Return ``answer`` if it can be called."""
    if not callable(answer):
        raise Hint(f"The answer should be a function. This is a {type(answer).__name__}.")
    return answer


def result(function, *arguments, what="Your function", case=""):
    """What a function returns: `Open` if it is still empty, a hint if it forgets to return.

    Args:
        function: It.
        *arguments: What it is given.
        what: How the hint calls it.
        case: The arguments in words, for a function that returns for others.
    """
    found = function(*arguments)
    if found is None and not is_empty(function):
        raise Hint(f"{what} returned None{case}. Is a `return` missing?")
    return present(found)


def is_empty(function):
    """Whether a function does nothing, like the one that a student is given."""
    code = getattr(function, "__code__", None)
    nothing = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
    return code is not None and {step.opname for step in dis.get_instructions(code)} <= nothing


def called(name):
    """Let the errors of Python call a class by the word of the exercise."""

    def rename(kind):
        for thing in (kind, *filter(callable, vars(kind).values())):
            thing.__qualname__ = thing.__qualname__.replace(kind.__name__, name)
        kind.__name__ = name
        return kind

    return rename


@called("leaf")
class Leaf:
    """A number with a gradient, to try a training step on."""

    def __init__(self, data, grad):
        self.data, self.grad = data, grad

    def __repr__(self):
        return f"leaf(data={self.data}, grad={self.grad})"

    def zero_grad(self):
        """Set the gradient to None."""
        self.grad = None


@called("node")
class Node:
    """A node that knows nothing but its inputs, to try an order on."""

    def __init__(self, text, *inputs):
        self.text, self.inputs = text, inputs

    def __repr__(self):
        return self.text

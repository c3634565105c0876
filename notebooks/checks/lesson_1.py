"""The checks of lesson 1, derivatives by hand: they hold the right answers."""

import math

from .tools import (
    Hint,
    a_number,
    close,
    compare,
    exercise,
    function_of,
    present,
    result,
    some_numbers,
)


@exercise("1.1", "the slope 6·x − 4 is 0 at x = 2/3.")
def flat_point(answer):
    """Where is 3x² − 4x + 5 flat?"""
    usual = [
        ((-2 / 3,), "Look at the sign: 6·x − 4 = 0 means 6·x = 4."),
        ((11 / 3,), "That is the value of the curve at the flat point. Asked is the x."),
        ((1.5,), "Upside down: 6·x = 4 means x = 4/6."),
        ((4 / 3,), "The slope of 3·x² is 6·x, not 3·x."),
        ((0.0,), "0 is the slope that we want. At which x do we find it?"),
    ]
    otherwise = "Set the slope 6·x − 4 to 0."
    if abs(a_number(answer) - 2 / 3) < 0.04:
        otherwise = "Near. Give more digits: nudge on, or set the slope 6·x − 4 to 0."
    compare((a_number(answer),), (2 / 3,), usual, otherwise, tolerance=1e-3)


@exercise("1.2", "1/b for a, and −a/b² for b.")
def quotient(answer):
    """The gradient of a / b at (6, −2)."""
    usual = [
        (
            (-1.5, -0.5),
            "These are the right numbers in the other order: the slope for a comes first.",
        ),
        ((-0.5, 1.5), "The second sign: −a/b² = −6/4, and the square of −2 is positive."),
        ((-0.5, 6.0), "b stands below the line, so a is not its slope. The slope of 1/b is −1/b²."),
        (
            (-0.5, -6.0),
            "b stands below the line, so a is not its slope. The slope of 1/b is −1/b².",
        ),
        ((-0.5, -0.25), "That is the slope of 1/b. Times a, which is 6."),
        ((-0.5, 3.0), "In −a/b² the b is squared: −6/4."),
        ((-2.0, 6.0), "That is the gradient of a * b: (b, a). Here it is a / b."),
        ((0.5, 1.5), "Both signs: b is negative, so a push on a makes a / b smaller."),
        ((0.5, -1.5), "The first sign: 1/b is negative, because b is."),
    ]
    otherwise = "a / b is a times 1/b. Its slope for a is 1/b, and the slope of 1/b is −1/b²."
    compare(some_numbers(answer, 2), (-0.5, -1.5), usual, otherwise, tolerance=1e-4)


@exercise("1.3", "upstream −2, times the local derivative a = 2.")
def slope_for_b(answer):
    """∂L/∂b of (a·b + c)·f."""
    usual = [
        ((2.0,), "That is the local derivative of e for b. Multiply it by what has arrived at e."),
        ((-2.0,), "That is what has arrived at e. Multiply it by the local derivative of e for b."),
        ((6.0,), "That is the slope for a. In a product each input is scaled by the *other*."),
        ((4.0,), "The size is right. Look at the sign of f."),
        ((8.0,), "The slope for f is d. We want b: the way goes from L over d and e to b."),
    ]
    otherwise = "The path is L, d, e, b. Multiply its local derivatives: f, 1 and a."
    compare((a_number(answer),), (-4.0,), usual, otherwise, tolerance=1e-4)


@exercise("1.4", "the last contribution came from e, and it erased the 5 from p.")
def erased(answer):
    """a.grad of the diamond, right order, ``=`` for ``+=``."""
    usual = [
        ((10.0,), "That is the result with +=. With = a contribution erases the one before."),
        ((5.0,), "p leaves 5 in a.grad. But e is visited later, and e also writes into a.grad."),
        ((3.0,), "Does e still hold 3, what q sent? p writes into e.grad later, and erases it."),
        ((7.0,), "5 + 2 would be a sum. With = nothing is added."),
        ((12.0,), "That was the recursion with +=."),
    ]
    otherwise = "Write down e.grad and a.grad, and overwrite them for q, then for p, then for e."
    compare((a_number(answer),), (2.0,), usual, otherwise)


@exercise("1.5", "more than a million paths, and only 40 edges.")
def paths(answer):
    """How many paths through 20 doublings."""
    usual = [
        ((40.0,), "That is the number of edges. A path chooses one of two edges at every step."),
        ((20.0,), "That is the number of steps. At each of them a path can go two ways."),
        ((21.0,), "That is the number of nodes. At each step a path can go two ways."),
        ((400.0,), "2 to the power of 20, not 20 to the power of 2."),
        ((22.0,), "In Python 2^20 is no power (it compares bits, and gives 22). Write 2**20."),
        ((8.0,), "That is right for the 3 steps above. Now there are 20."),
        ((2.0**21,), "One step too many: one step has 2 paths, so 20 steps have 2**20."),
        ((2.0**19,), "One step too few: one step has 2 paths, so 20 steps have 2**20."),
    ]
    otherwise = "One step has 2 paths, two steps have 4, three have 8."
    compare((a_number(answer),), (2.0**20,), usual, otherwise, tolerance=1e-9)


@exercise("1.6", "exp is its own derivative.")
def engine_exp(answer, leaf):
    """An operation for the engine of lesson 1."""
    function_of(answer)
    for number in (0.5, -1.0, 2.0):
        x = leaf(number)
        out = result(answer, x)
        if not isinstance(out, leaf):
            raise Hint(f"Return a {leaf.__name__}. This is a {type(out).__name__}.")
        right = math.exp(number)
        if not close(a_number(present(out.data), "the number of the result"), right):
            raise Hint(f"exp({number}) should be {right:.4g}. The result has {out.data:.4g}.")
        if not isinstance(out.inputs, tuple):
            raise Hint("inputs is a tuple. A tuple of one is written (x,), with a comma.")
        if len(out.inputs) != 1 or out.inputs[0] is not x:
            raise Hint("The inputs should be (x,): the node itself, not its number.")
        if not callable(out.local_derivatives):
            raise Hint("local_derivatives is the closure itself. Do not call it: no brackets.")
        slopes = result(out.local_derivatives, what="The closure")
        if not isinstance(slopes, tuple):
            raise Hint("The closure returns a tuple. A tuple of one is written (out,).")
        if len(slopes) != 1:
            raise Hint("One input, so one local derivative. (Did you forget the closure?)")
        usual = [
            ((number * math.exp(number - 1),), "x·exp(x−1) is the rule for powers. This is exp."),
            ((1.0 - right * right,), "1 − out² is the derivative of tanh. What is that of exp?"),
            ((number,), "That is x itself. The derivative of exp(x) is exp(x)."),
            ((1.0,), "1 is the slope of a sum. How fast does exp grow at x?"),
        ]
        compare(some_numbers(slopes, 1), (right,), usual, "The derivative of exp(x) is exp(x).")

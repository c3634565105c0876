"""Checks of the exercises: a line with ✓, or a hint that names the usual mistake.

``check("1.1", answer)`` prints one line. It knows nothing of minigrad: it compares numbers, tries
functions on examples, and looks at the shape of an answer. An answer that is still ``...`` or None,
or a function that is still empty, is "not answered yet". The answers stand below, so read on only
when you have tried.

A check is a function that takes the answer. It returns quietly if the answer is right, raises
`Hint` if it is wrong, and `Open` if there is none.
"""

import dis
import math
from collections import namedtuple
from numbers import Real

Verdict = namedtuple("Verdict", "state text")  # state: "right", "wrong" or "open"

CHECKS = {}  # "1.1" -> (the check, what to say when the answer is right)


class Hint(Exception):
    """The answer is wrong, and this may help."""


class Open(Exception):
    """There is no answer yet."""


def check(exercise, answer, **tools):
    """Print whether an answer is right.

    Args:
        exercise: Its number, such as "1.1".
        answer: A number, some numbers, or a function.
        **tools: What the check needs to try the answer: ``leaf`` makes a leaf from a number,
            ``array`` an array from a list, ``library`` is minigrad.
    """
    print(verdict(exercise, answer, **tools).text)


def verdict(exercise, answer, **tools):
    """Return what ``check`` prints, and the state of the answer.

    Raises:
        LookupError: If there is no such exercise; the message lists those that there are.
    """
    if exercise not in CHECKS:
        raise LookupError(f"there is no exercise {exercise!r}; there is {', '.join(CHECKS)}")
    function, praise = CHECKS[exercise]
    try:
        present(answer)
        function(answer, **tools)
    except Open:
        return Verdict("open", f"· {exercise} not answered yet")
    except Hint as hint:
        return Verdict("wrong", f"✗ {exercise} not yet right. {hint}")
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        return Verdict("wrong", f"✗ {exercise} your answer stopped with an error. {problem}")
    return Verdict("right", f"✓ {exercise} {praise}")


def exercise(number, praise):
    """Enter a function as the check of an exercise."""

    def enter(function):
        CHECKS[number] = (function, praise)
        return function

    return enter


# -- what the checks are made of -------------------------------------------------------------------


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


# -- lesson 1 --------------------------------------------------------------------------------------


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


# -- lesson 2 --------------------------------------------------------------------------------------


@exercise("2.1", "the gradient of f is d = a·b + c, and it is 0 when c = −a·b.")
def c_for_zero(answer):
    """Which c makes ∂L/∂f zero?"""
    usual = [
        ((-6.0,), "The sign: a·b is −6, and a·b + c should be 0."),
        ((0.0,), "0 is what d should be. Which c makes d = −6 + c zero?"),
        ((10.0,), "That is the c of now."),
        ((14.0,), "d is −6 + c. With 14 it would be 8."),
    ]
    otherwise = "L is d * f, so the gradient of f is d. Make d zero."
    compare((a_number(answer),), (6.0,), usual, otherwise, tolerance=1e-4)


@exercise("2.2", "every input was seen before its node.")
def topological(answer):
    """Whether a list is in topological order."""
    function_of(answer)
    a, b, c = Node("a"), Node("b"), Node("c")
    e = Node("e", a, b)
    d = Node("d", e, c)
    square = Node("a * a", a, a)
    cases = [
        ([a, b, e, c, d], True, "a, b, e = a + b, c, d = e + c is in order, and you say no."),
        (
            [c, b, a, e, d],
            True,
            "c, b, a, e = a + b, d = e + c is also in order: inputs may be far away.",
        ),
        ([a], True, "A list of one leaf is in order."),
        ([a, square], True, "a, then a * a is in order: both inputs are the same node."),
        ([d, c, e, b, a], False, "That is the reverse of an order, and you say yes."),
        ([e, a, b, c, d], False, "e = a + b stands before its inputs, and you say yes."),
        ([a, e, b, c, d], False, "The second input of e comes after e. Look at all inputs."),
        ([a, b, d, c, e], False, "d comes before its input e, and you say yes. Look at all nodes."),
        (
            [a, b, c, d, e],
            False,
            "The first input of d comes after d. Look at all nodes and inputs.",
        ),
    ]
    for order, right, hint in cases:
        said = result(answer, list(order), case=f" for {order}")
        if not isinstance(said, bool):
            raise Hint(f"Return True or False. This is a {type(said).__name__}.")
        if said != right:
            raise Hint(hint)


@exercise("2.3", "three edges from the product, one from the sum: 4 + 4 + 4 + 2.")
def edges_and_gradient(answer):
    """Edges into x, and the gradient, of x·x·x + 2·x at 2."""
    numbers = some_numbers(answer, 2)
    usual = [
        ((14.0, 4.0), "These are the right numbers in the other order: the edges come first."),
        ((3.0, 14.0), "The gradient is right. 2.0 * x uses x too."),
        ((2.0, 14.0), "The gradient is right. Count every use of x, not every term."),
        (
            (5.0, 14.0),
            "The gradient is right. The constant 2.0 has an edge, but it does not lead to x.",
        ),
        ((4.0, 12.0), "The edges are right. 2.0 * x contributes to the gradient too."),
        ((4.0, 8.0), "The edges are right, but 8 is the value of x³. Its slope is 3·x²."),
        ((4.0, 6.0), "The edges are right. The slope of x³ is 3·x², at 2 that is 12."),
    ]
    otherwise = "Count how often x is written. The gradient is 3·x² + 2."
    if numbers[0] == 4 and not close(numbers[1], 14.0):
        otherwise = "The edges are right. The gradient is 3·x² + 2 at x = 2."
    elif close(numbers[1], 14.0):
        otherwise = "The gradient is right. Count how often x is written: each is one edge."
    compare(numbers, (4.0, 14.0), usual, otherwise)


@exercise("2.4", "where sends nothing into the root at 0.")
def safe_sqrt(answer, leaf):
    """A square root with value and gradient 0 for x ≤ 0."""
    function_of(answer)
    for number, value, slope in [
        (4.0, 2.0, 0.25),
        (0.25, 0.5, 1.0),
        (0.0, 0.0, 0.0),
        (-4.0, 0.0, 0.0),
    ]:
        x = leaf(number)
        out = result(answer, x, case=f" for {number}")
        if not isinstance(out, leaf):
            if number <= 0 and isinstance(out, Real):
                raise Hint(
                    "For x <= 0 you return a plain number. Use mg.where, which gives a node."
                )
            raise Hint(f"Return a node. For {number} this is a {type(out).__name__}.")
        if math.isnan(out.data):
            raise Hint(
                f"For {number} the value is nan. Multiplying by 0 does not remove it; where does."
            )
        if not close(out.data, value):
            raise Hint(f"For {number} the value should be {value}. It is {out.data:.4g}.")
        out.backward()
        found = x.grad
        if found is None:
            raise Hint(f"For {number} no gradient arrives at x. Compute with x, not with x.data.")
        if math.isnan(found) or math.isinf(found):
            raise Hint(
                f"For {number} the value is right, but the gradient is {found}. Put the root "
                "itself in a branch of mg.where, so that nothing is sent into it."
            )
        if not close(found, slope):
            raise Hint(f"For {number} the gradient should be {slope}. It is {found:.4g}.")


@exercise("2.5", "−2·x·out: the slope of −x·x, times the hill itself.")
def bump(answer, library):
    """The operation exp(−x²)."""
    function_of(answer)
    for number in (0.7, -1.5, 0.0, 1.0):
        right = math.exp(-number * number)
        x = library.Value(number)
        out = result(answer, x)
        if not isinstance(out, library.Value):
            raise Hint(
                f"Called with a node it should return a node. This is a {type(out).__name__}."
            )
        if close(out.data, math.exp(number * number)) and number:
            raise Hint("The hill has become a valley: exp(-x * x), with the minus.")
        if not close(out.data, right):
            raise Hint(f"bump({number}) should be {right:.4g}. It is {out.data:.4g}.")
        if len(out.inputs) != 1 or out.inputs[0] is not x:
            made = "a leaf" if out.op is None else f"made by {out.op.name}, and x is not its input"
            raise Hint(
                "The numbers are right, but bump(x) should be one node, made of x by an operation "
                f"of your own. This one is {made}. Use mg.operation, as softsign does."
            )
        out.backward()
        found = x.grad
        if found is None:
            raise Hint("No gradient arrives at x. A partial of None means: not differentiable.")
        usual = [
            (
                (right,),
                "exp is its own derivative, but inside it stands −x·x. Multiply by its slope.",
            ),
            ((2 * number * right,), "The sign: the slope of −x·x is −2·x."),
            ((-2 * number,), "That is the slope of −x·x alone. Multiply by the result, out."),
            ((-number * right,), "A factor 2: the slope of −x·x is −2·x."),
            ((-right,), "The slope of −x·x is −2·x, not −1."),
        ]
        compare(
            (found,), (-2 * number * right,), usual,
            f"At {number} the slope should be {-2 * number * right:.4g}. It is {found:.4g}.",
        )  # fmt: skip
        bend_of_bump(answer, x)
    bump_of_array(answer, library)


def bend_of_bump(answer, x):
    """The second derivative, for which the first one has to be a graph."""
    advice = "In the derivative use out, or mg.exp in place of math.exp."
    x.zero_grad()
    try:
        answer(x).backward(create_graph=True)
        slope = x.grad
        x.zero_grad()
        slope.backward()
    except Exception as error:
        raise Hint(
            f"The first derivative is right, but there is no second one: {error}. {advice}"
        ) from None
    right = (4 * x.data**2 - 2) * math.exp(-(x.data**2))
    found = 0.0 if x.grad is None else x.grad
    otherwise = (
        f"The first derivative is right, but at {x.data} the second should be {right:.4g}. "
        f"It is {found:.4g}. {advice}"
    )
    compare((found,), (right,), [], otherwise)


def bump_of_array(answer, library):
    """The operation on an array, if NumPy is there."""
    numbers = [0.7, -1.5]
    try:
        x = library.Tensor(numbers)
    except ImportError:
        return
    try:
        out = answer(x)
        out.sum().backward()
    except Exception as error:
        raise Hint(
            f"On numbers it is right, but on an array it stops: {error}. "
            "In the formula use m.exp in place of math.exp."
        ) from None
    values = tuple(math.exp(-number * number) for number in numbers)
    slopes = tuple(-2 * n * value for n, value in zip(numbers, values, strict=True))
    for what, found, right in [("result", out, values), ("gradient", x.grad, slopes)]:
        shown = ", ".join(f"{number:.4g}" for number in right)
        otherwise = f"On numbers it is right. For the array {numbers} the {what} should be {shown}."
        compare(tuple(rows(found)[1]), right, [], otherwise)


BEFORE, GRADIENT = (1.0, -3.0, 5.0), (2.0, -4.0, 0.0)  # of three leaves
NOT_MOVED = "No leaf moved. Change leaf.data before you clear the gradient."


@exercise("2.6", "against the gradient, and a fresh start.")
def training_step(answer):
    """One step of gradient descent."""
    function_of(answer)
    numbers, grads = stepped(answer, 0.25)
    others, _ = stepped(answer, 0.5)
    factor = factor_of(numbers)
    if numbers == others and factor is not None and abs(factor) not in (0.0, 1.0):
        raise Hint(
            "Use the learning rate that is given. With 0.25 and with 0.5, each leaf moved by "
            f"{factor:g} times its gradient."
        )
    usual = [
        (
            (1.5, -4.0, 5.0),
            "The leaves moved with the gradient, so the loss grows. Go against it: −=.",
        ),
        (
            (3.0, -7.0, 5.0),
            "You added the whole gradient. Multiply it by the learning rate, and subtract: −=.",
        ),
        ((-1.0, 1.0, 5.0), "You took the whole gradient. Multiply it by the learning rate."),
        ((0.5, -3.0, 5.0), "Only the first leaf moved. Is the return inside the loop?"),
        ((-0.5, 1.0, 0.0), "The old number is gone. Subtract from leaf.data: −=."),
        ((0.75, -3.25, 4.75), "You subtracted the learning rate alone. Multiply it by leaf.grad."),
        (BEFORE, NOT_MOVED),
    ]
    otherwise = "The new number is leaf.data − learning_rate · leaf.grad, for every leaf."
    compare(numbers, (0.5, -2.0, 5.0), usual, otherwise)
    compare(others, (0.0, -1.0, 5.0), [], otherwise)
    if any(grads):
        raise Hint("The numbers are right. Now clear each gradient: leaf.zero_grad().")


def stepped(answer, learning_rate):
    """The numbers of three leaves after a step, and their gradients."""
    leaves = [Leaf(number, slope) for number, slope in zip(BEFORE, GRADIENT, strict=True)]
    try:
        returned = answer(list(leaves), learning_rate)
    except TypeError:
        if any(x.grad is None and x.data == y for x, y in zip(leaves[:2], BEFORE, strict=False)):
            raise Hint(NOT_MOVED) from None  # None times a number is no number
        raise
    numbers, grads = tuple(x.data for x in leaves), tuple(x.grad for x in leaves)
    if (numbers, grads) == (BEFORE, GRADIENT):
        if returned is ... or (returned is None and is_empty(answer)):
            raise Open
        what = "" if returned is None else f" Your function returned a {type(returned).__name__}."
        raise Hint(
            f"No leaf has changed.{what} Put each new number into leaf.data; "
            "nothing has to be returned."
        )
    return tuple(a_number(number, "leaf.data") for number in numbers), grads


def factor_of(numbers):
    """How many times its gradient each leaf has moved, if it is the same for all of them."""
    factor = (numbers[0] - BEFORE[0]) / GRADIENT[0]
    expected = (x + factor * slope for x, slope in zip(BEFORE, GRADIENT, strict=True))
    return factor if all(map(close, numbers, expected)) else None


# -- lesson 3 --------------------------------------------------------------------------------------


def rows(answer):
    """The shape of an array, and its numbers one after the other."""
    present(answer)
    if not hasattr(answer, "tolist") or not hasattr(answer, "shape"):
        raise Hint(f"Return an array. This is a {type(answer).__name__}.")
    numbers, level = answer.tolist(), len(answer.shape)
    for _ in range(level - 1):
        numbers = [number for row in numbers for number in row]
    return tuple(answer.shape), numbers if level else [numbers]


def compare_arrays(answer, right, usual, otherwise):
    """Compare an array with the right one: first its shape, then its numbers.

    Args:
        answer: The array.
        right: The right one.
        usual: Pairs of a usual wrong answer and the hint for it.
        otherwise: The hint for other numbers of the right shape.
    """
    shape, numbers = rows(answer)
    wanted, expected = rows(right)
    for wrong, hint in usual:
        other_shape, other = rows(wrong)
        if shape == other_shape and all(map(close, numbers, other)):
            raise Hint(hint)
    if shape != wanted:
        raise Hint(f"The shape should be {wanted}. It is {shape}.")
    compare(tuple(numbers), tuple(expected), [], otherwise)


@exercise("3.1", "32 examples · 64 neurons · 16 inputs, and as many sums.")
def products(answer):
    """How many products a layer of 64 neurons with 16 inputs makes of 32 examples."""
    usual = [
        ((1024,), "That is right for one example. There are 32."),
        ((2048,), "That is examples · neurons. Each neuron makes 16 products for an example."),
        ((512,), "That is examples · inputs. Each of the 64 neurons multiplies all inputs."),
        ((65536,), "That is products and sums together."),
        ((112,), "The loops stand inside each other, so their lengths multiply."),
    ]
    otherwise = "Look at the three loops: how often does the innermost line run?"
    compare((a_number(answer),), (32768,), usual, otherwise, tolerance=1e-9)


@exercise("3.2", "flushed right, 1 stretches to 3, and the missing length becomes 4.")
def broadcast_shape(answer):
    """The shape of (4, 1) + (3,)."""
    if isinstance(answer, list | tuple) and len(answer) == 1:
        raise Hint("The result has as many axes as the longer of the two shapes, which is two.")
    usual = [
        ((3, 4), "These are the right lengths in the other order. Flush right: 3 stands below 1."),
        ((4, 1), "The last axis has length 1 in one and 3 in the other; 1 stretches."),
        ((4, 4), "The last axis: 1 stretches to 3, not to 4."),
        ((1, 3), "The missing length takes that of the other array, which is 4."),
        ((7, 1), "Broadcasting repeats. It does not put one behind the other."),
    ]
    otherwise = "Write (4, 1) above (3,), flushed right, and take the larger length in each column."
    compare(some_numbers(answer, 2), (4, 3), usual, otherwise)


@exercise("3.3", "where a number was repeated, its contributions are summed.")
def undo_broadcast(answer, array):
    """Sum a gradient back to the shape of an input."""
    function_of(answer)
    matrix = array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    cases = [
        (matrix, (3,), [11.0, 22.0, 33.0], "it is missing on the left"),
        (matrix, (2, 1), [[6.0], [60.0]], "sum over the axis of length 1"),
        (matrix, (1, 3), [[11.0, 22.0, 33.0]], "sum over the axis of length 1"),
        (matrix, (2, 3), matrix, "nothing was repeated, so nothing is summed"),
        (matrix, (1, 1), [[66.0]], "both axes have length 1"),
        (matrix, (), 66.0, "a number without axes gets the sum of all"),
        (array([matrix, matrix]), (3,), [22.0, 44.0, 66.0], "two axes are missing on the left"),
        (array([matrix, matrix]), (2, 1), [[12.0], [120.0]], "one axis is missing, one has 1"),
    ]
    for gradient, shape, right, why in cases:
        where = f"or a gradient of shape {tuple(gradient.shape)} and the shape {shape}"
        found = result(answer, array(gradient), shape, case=f" f{where}")
        where = f"F{where}"
        expected = array(right)
        if hasattr(found, "shape") and tuple(found.shape) != shape:
            raise Hint(f"{where} the result has shape {tuple(found.shape)}: {why}.")
        usual = []
        if expected.shape != gradient.shape:
            repeats = len(rows(gradient)[1]) / max(1, len(rows(expected)[1]))
            usual = [(expected / repeats, f"{where} that is the mean. Contributions add up.")]
        compare_arrays(found, expected, usual, f"{where} the numbers are wrong: {why}.")


@exercise("3.4", "the 2 is summed over: each row of P meets its row of the upstream gradient.")
def gradient_of_second(answer, array):
    """The gradient of Q for Y = P @ Q."""
    function_of(answer)
    P = array([[1.0, 2.0], [3.0, 4.0]])
    upstream = array([[1.0, 0.0], [5.0, 2.0]])
    found = result(answer, P, upstream)  # square, so that wrong orders compute, too
    usual = [
        (P @ upstream, "P has to be turned. Shapes: P is (2, 3), upstream (2, 4), wanted (3, 4)."),
        (
            upstream @ P.T,
            "That is the other order. P stands on the left of Q, so on the left here.",
        ),
        (upstream.T @ P, "That is the result turned around: P.T belongs on the left."),
        (upstream @ P, "Which two axes have the same length? Those of the examples, in front."),
        (P.T * upstream, "* multiplies place by place. The matrix product is written @."),
        (P * upstream, "* multiplies place by place. The matrix product is written @."),
        (P.T, "The local part alone. Multiply by what arrives from upstream."),
    ]
    otherwise = "P is (2, 3), upstream is (2, 4), wanted is (3, 4). Turn one of them."
    compare_arrays(found, P.T @ upstream, usual, otherwise)
    P = array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    upstream = array([[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 0.0]])
    compare_arrays(answer(P, upstream), P.T @ upstream, [], otherwise)


@exercise("3.5", "with keepdims the means are a column, and each row meets its own.")
def centred(answer, leaf):
    """Take the mean of each row away."""
    function_of(answer)
    cases = [
        ([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]], [[-2.0, -1.0, 3.0], [0.0, 0.0, 0.0]]),
        ([[1.0, 3.0], [10.0, 30.0]], [[-1.0, 1.0], [-10.0, 10.0]]),
    ]
    for numbers, right in cases:
        x = leaf(numbers)
        try:
            found = result(answer, x)
        except ValueError as error:
            raise Hint(f"For shape {x.shape} it stops: {error}") from None
        if not isinstance(found, leaf):
            raise Hint(f"Return a {leaf.__name__}. This is a {type(found).__name__}.")
        columns = [[sum(column) / len(column) for column in zip(*numbers, strict=True)]] * 2
        away = [[a - b for a, b in zip(*pair, strict=True)] for pair in zip(numbers, columns)]
        everything = sum(map(sum, numbers)) / sum(map(len, numbers))
        one = [[a - everything for a in row] for row in numbers]
        usual = [
            (leaf(away), "You took away the mean of each column. The rows run along axis 1."),
            (leaf(one), "You took away one mean of all numbers. Each row has its own: axis=1."),
        ]
        otherwise = f"For {numbers} the result should be {right}. Each row meets its own mean."
        compare_arrays(found, leaf(right), usual, otherwise)
        (found * leaf([[1.0] + [0.0] * (len(row) - 1) for row in numbers])).sum().backward()
        gradient_of_centred(x, leaf)


def gradient_of_centred(x, leaf):
    """What the first column of the result sends back to a row: to its first place, and the mean."""
    if x.grad is None:
        raise Hint("No gradient arrives at x. Compute with x, not with x.data.")
    count, length = x.shape
    direct, mean = [1.0] + [0.0] * (length - 1), [-1 / length] * length
    row = [a + b for a, b in zip(direct, mean, strict=True)]
    wanted = ", ".join(f"{number:.4g}" for number in row)
    usual = [
        (
            leaf([direct] * count),
            "The numbers are right, but no gradient goes through the mean. Let minigrad compute "
            "it: mg.mean(x, ...), not np.mean(x.data, ...).",
        ),
        (
            leaf([mean] * count),
            "The numbers are right, but a gradient goes through the mean only. Take it away from "
            "x, not from x.data.",
        ),
    ]
    otherwise = (
        "The numbers are right, but not the gradient. The first result of a row should send "
        f"{wanted} to the row. Compute x and its mean with minigrad."
    )
    compare_arrays(x.grad, leaf([row] * count), usual, otherwise)


# -- lesson 4 --------------------------------------------------------------------------------------


@exercise("4.1", "64·32 + 32 in the first layer, 32·10 + 10 in the second.")
def learned_numbers(answer):
    """How many numbers MLP(64, [32], 10) learns."""
    usual = [
        ((2368,), "These are the weights. Each neuron also has a bias."),
        ((2080,), "That is the first layer. The second one has 10 neurons."),
        ((330,), "That is the second layer. The first one has 32 neurons with 64 weights each."),
        ((42,), "These are the biases. Add the weights."),
        ((2474,), "The inputs have no bias. Only the 32 and the 10 neurons have one."),
        ((106,), "A neuron has a weight for *each* of its inputs, so the numbers multiply."),
    ]
    otherwise = "A layer of m neurons with n inputs has n·m weights and m biases."
    compare((a_number(answer),), (2410,), usual, otherwise, tolerance=1e-9)


@exercise("4.2", "−log(1/10) = log 10.")
def loss_of_ignorance(answer):
    """The cross entropy of ten equal probabilities."""
    usual = [
        (
            (-math.log(10),),
            "The sign: the logarithm of 1/10 is negative, and the loss is minus it.",
        ),
        ((0.1,), "That is the probability. The loss is −log of it."),
        ((1.0,), "That is the logarithm to base 10. Take the natural one, math.log."),
        ((math.log(2),), "That is right for two classes. Here there are ten."),
        (
            (10 * math.log(10),),
            "The loss looks at the right class only. It is no sum over classes.",
        ),
        ((0.1 * math.log(10),), "The loss is −log of the probability. Do not multiply by it."),
        ((-math.log(0.9),), "The right class has probability 1/10, not 9/10."),
    ]
    otherwise = "Each class has probability 1/10. The loss is −log of it."
    compare((a_number(answer),), (math.log(10),), usual, otherwise, tolerance=5e-3)


@exercise("4.3", "1 − 0.5·4 is −1: the sign changes, the size stays.")
def border_rate(answer):
    """The learning rate at which descent on 2·w² neither shrinks nor grows."""
    usual = [
        ((0.25,), "With 0.25 a single step arrives at 0. You want w to become −w."),
        ((0.45,), "Near, but with 0.45 it still shrinks: 1 − 0.45·4 is −0.8."),
        ((0.4,), "With 0.4 it still shrinks: 1 − 0.4·4 is −0.6."),
        ((1.0,), "With 1 it becomes three times larger. Is your gradient 2·w? It is 4·w."),
        ((0.0,), "With 0 nothing moves, that is true. But w should jump to and fro."),
        ((-1.0,), "That is the factor of each step. Which learning rate gives it?"),
        ((2.0,), "4 · learning rate should be 2."),
    ]
    otherwise = "A step multiplies w by 1 − learning_rate·4. That should be −1."
    compare((a_number(answer),), (0.5,), usual, otherwise, tolerance=1e-3)


@exercise("4.4", "0.1 times the root of 100 is 1.")
def std_for_100(answer):
    """The std of weights that keeps the spread of a sum of 100 products."""
    usual = [
        ((0.01,), "The spread of the sum grows with the root of 100, not with 100."),
        ((10.0,), "That is how much wider the sum is. The weights have to undo it."),
        ((1.0,), "With 1 the sum would spread ten times as wide as the inputs."),
        ((math.sqrt(2) / 10,), "That is the rule for relu. Here there is no activation."),
        ((0.02,), "2/100 is for relu, and it is a variance. Here there is no activation."),
        ((100.0,), "The more products are added, the smaller the weights must be."),
    ]
    otherwise = "std times the root of 100 should be 1."
    compare((a_number(answer),), (0.1,), usual, otherwise, tolerance=1e-3)


@exercise("4.5", "nothing smaller within the patience.")
def stopping(answer):
    """Whether training should stop early."""
    function_of(answer)
    cases = [
        ([3.0, 2.0, 1.0, 0.5], 2, False, "it falls all the time, and you stop"),
        ([3.0, 1.0, 2.0, 2.5], 2, True, "the 1.0 was two epochs ago, and you go on"),
        ([3.0, 1.0, 2.0], 2, False, "the 1.0 was only one epoch ago, and you stop"),
        ([1.0, 2.0, 0.9], 2, False, "the last one is the smallest, and you stop"),
        ([2.0, 1.0, 3.0, 2.5], 2, True, "2.5 is below 3.0, but not below the best, and you go on"),
        ([2.0, 3.0, 1.0, 1.5, 1.4, 1.2], 3, True, "1.0 stays the best for three, and you go on"),
        ([1.0, 1.0, 1.0], 2, True, "equal is not smaller, and you go on"),
        ([1.0, 2.0], 2, False, "there are not more losses than the patience, and you stop"),
        (
            [2.0, 1.0, 0.5, 1.5],
            2,
            False,
            "the 0.5 was only one epoch ago, and you stop. Look at all of the last losses",
        ),
        (
            [1.0, 2.0, 1.5, 1.6],
            2,
            True,
            "the 1.0 was three epochs ago, and you go on. Look at all losses before the last ones",
        ),
        ([2.0, 1.0, 1.5, 1.4], 3, False, "the 1.0 was only two epochs ago, and you stop"),
        ([1.0], 2, False, "there is one loss only, and you stop"),
        ([1.0, 2.0, 3.0], 5, False, "there are fewer losses than the patience, and you stop"),
    ]
    for losses, patience, right, why in cases:
        before = list(losses)
        said = result(answer, losses, patience, case=f" for {before} and patience {patience}")
        if losses != before:
            raise Hint("Your function changes the list that it was given. Work on a copy.")
        if type(said).__name__ not in ("bool", "bool_"):
            raise Hint(f"Return True or False. This is a {type(said).__name__}.")
        if bool(said) != right:
            raise Hint(f"For {losses} and patience {patience}: {why}.")

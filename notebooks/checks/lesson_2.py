"""The checks of lesson 2, values and graphs: they hold the right answers."""

import math
from numbers import Real

from .tools import (
    Hint,
    Leaf,
    Node,
    Open,
    a_number,
    close,
    compare,
    exercise,
    function_of,
    is_empty,
    result,
    rows,
    some_numbers,
)


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

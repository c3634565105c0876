"""The checks of lesson 3, from scalars to arrays: they hold the right answers."""

from .tools import (
    Hint,
    a_number,
    close,
    compare,
    exercise,
    function_of,
    result,
    rows,
    some_numbers,
)


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

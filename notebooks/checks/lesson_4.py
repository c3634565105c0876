"""The checks of lesson 4, training a network: they hold the right answers."""

import math

from .tools import Hint, a_number, compare, exercise, function_of, result


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

"""One rule for every ``rng=``: a seed, a source of Python's, or one of NumPy's."""

import copy
import random

import pytest

import minigrad as mg
from minigrad.data import batches, blobs, circles, linear, moons, spirals, split
from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.nn import MLP, Conv2d, Dropout, Embedding, Linear

np = pytest.importorskip("numpy")


def _weights(kind, *sizes):
    return lambda rng: [p.tolist() for p in kind(*sizes, rng=rng).parameters()]


def _fitted(rng):
    model = MLP(2, [3], 1, mode="scalar", rng=1)
    data = moons(12, rng=2)
    mg.fit(model, data, "bce", mg.optim.SGD(0.1), 2, batch_size=4, rng=rng, progress=False)
    return [p.data for p in model.parameters()]


DRAWS = {
    **{make.__name__: (lambda rng, make=make: make(9, rng=rng))
       for make in (moons, circles, spirals, blobs, linear)},
    "batches": lambda rng: list(batches(list(range(20)), size=3, rng=rng)),
    "split": lambda rng: split(list(range(20)), rng=rng),
    "Linear": _weights(Linear, 3, 2), "MLP": _weights(MLP, 3, [4], 2),
    "Conv2d": _weights(Conv2d, 1, 2, 3), "Embedding": _weights(Embedding, 4, 2),
    "Linear of Values": lambda rng: [
        p.data for p in Linear(2, 2, mode="scalar", rng=rng).parameters()],
    "Dropout": lambda rng: Dropout(0.5, rng=rng)(np.ones(50)).tolist(),
    "Dropout of Values": lambda rng: Dropout(0.5, mode="scalar", rng=rng)([1.0] * 50),
    "fit": _fitted,
}  # fmt: skip
each = pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)


@each
def test_a_seed_stands_for_the_generator_made_of_it(draw):
    assert draw(3) == draw(random.Random(3)) == draw(np.int64(3)) == draw(3) != draw(4)


@each
def test_a_generator_of_numpy_fixes_the_numbers_and_goes_on(draw):
    for make in (np.random.default_rng, np.random.RandomState):
        source = make(3)
        first, second = draw(source), draw(source)
        assert first == draw(make(3))
        assert first != second


@each
@pytest.mark.parametrize(
    ("rng", "error"),
    [(True, ArgumentTypeError), (1.0, ArgumentTypeError), ("1", ArgumentTypeError),
     ([1], ArgumentTypeError), (np.float64(1.0), ArgumentTypeError), (-1, ArgumentValueError)],
)  # fmt: skip
def test_what_is_no_source_is_refused(draw, rng, error):
    with pytest.raises(error, match=r"^rng=.*seed"):
        draw(rng)


@pytest.mark.parametrize("seed", [True, 1.0, "1", -1])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises((ArgumentTypeError, ArgumentValueError), match=r"^seed=.*whole number"):
        moons(3, seed=seed)


def test_a_module_that_draws_from_pythons_own_source_can_be_copied():
    assert copy.deepcopy(Dropout(rng=random))([1.0]) is not None

"""Real runs, slow: handwritten digits, read by networks from a fixed split and fixed seeds."""

import random
import statistics

import pytest

from minigrad.data import digits, split
from minigrad.nn import MLP, BatchNorm, Conv2d, Dropout, Flatten, Linear, MaxPool2d, Sequential
from minigrad.optim import Adam, cosine_decay
from minigrad.training import fit

pytest.importorskip("sklearn")


def mlp(seed):
    return MLP(64, [64], 10, rng=seed)


def convolution(seed):
    rng = random.Random(seed)
    return Sequential(
        Conv2d(1, 16, 3, padding=1, rng=rng, dtype="float32"),
        BatchNorm(16, dtype="float32"),
        "relu",
        Conv2d(16, 16, 3, padding=1, rng=rng, dtype="float32"),
        BatchNorm(16, dtype="float32"),
        "relu",
        MaxPool2d(2),
        Flatten(),
        Dropout(0.5, rng=rng),
        Linear(256, 10, rng=rng, dtype="float32"),
    )


@pytest.mark.parametrize(
    ("make", "shape", "epochs", "seeds", "goal"),
    [(mlp, (64,), 30, (1, 2, 3), 0.97), (convolution, (1, 8, 8), 10, (1,), 0.98)],
)
def test_digits_are_read(make, shape, epochs, seeds, goal):
    """1797 images, a fifth of them for testing; about 5 seconds each."""
    images, labels = digits()
    images = images.reshape(-1, *shape)
    x, test_x, y, test_y = split(images, labels, test=0.2, stratify=True, seed=1)
    reached = []
    for seed in seeds:
        optimizer = Adam(cosine_decay(0.005, epochs * 45))
        history = fit(
            make(seed), (x, y), "cross_entropy", optimizer, epochs, seed=seed, progress=False,
            validation=(test_x, test_y),
        )  # fmt: skip
        reached.append(history.validation_accuracy[-1])
    print(reached)
    assert statistics.median(reached) >= goal, reached

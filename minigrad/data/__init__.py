"""``mg.data``: points to learn from, cut into batches and into training and test sets.

The generators are plain Python and give lists, so they run where nothing can be installed;
``as_array=True`` gives NumPy arrays. Whether NumPy is there never changes what comes out.

Randomness is ``rng=`` (a seed, a ``random.Random`` or a NumPy ``Generator``), or ``seed=`` (a whole
number). Without either, numbers come from Python's own ``random``, so ``random.seed(1)`` fixes a
whole program.

    >>> from minigrad.data import moons, split
    >>> points, labels = moons(100, noise=0.1, seed=1)
    >>> [round(x, 3) for x in points[0]], labels[:4]
    ([1.01, 0.271], [0, 1, 0, 1])
    >>> train_x, test_x, train_y, test_y = split(points, labels, test=0.25, seed=1)
    >>> len(train_x), len(test_x)
    (75, 25)

Read next: ``generators.py``.
"""

from minigrad.data.batches import Batches, batches, split
from minigrad.data.generators import blobs, circles, linear, moons, spirals
from minigrad.data.samples import digits, iris

__all__ = [
    "Batches", "batches", "blobs", "circles", "digits", "iris", "linear", "moons", "spirals",
    "split",
]  # fmt: skip

"""Measured sets, from scikit-learn: handwritten digits and flowers.

They come with the package scikit-learn, so nothing is fetched from anywhere.

Read next: ``../training/loop.py``.
"""

from __future__ import annotations

from typing import Any

from minigrad.errors import MissingDependencyError

__all__ = ["digits", "iris"]


def digits(*, as_array: bool = True) -> tuple[Any, Any]:
    """1797 handwritten digits of 8×8 pixels.

    Args:
        as_array: Whether to return NumPy arrays (the default here) or lists.

    Returns:
        The images, of shape (1797, 64), with brightness from 0 to 1 (no unit), and what they show,
        1797 ints from 0 to 9. ``images.reshape(-1, 1, 8, 8)`` is what a convolution takes.

    Raises:
        MissingDependencyError: if scikit-learn is not installed.

    Source: E. Alpaydin, C. Kaynak, Optical recognition of handwritten digits, UCI Machine Learning
    Repository (1998), the test part, in scikit-learn's ``load_digits``.

    >>> images, labels = digits()  # doctest: +SKIP
    >>> images.shape, labels[:3]  # doctest: +SKIP
    ((1797, 64), array([0, 1, 2]))
    """
    images, labels = _load("load_digits", "digits")
    return _given(images / 16.0, labels, as_array)


def iris(*, as_array: bool = True) -> tuple[Any, Any]:
    """150 flowers of three kinds: length and width of sepals and petals.

    Args:
        as_array: Whether to return NumPy arrays (the default here) or lists.

    Returns:
        The measures, of shape (150, 4), in centimetres, and the kinds, 150 ints from 0 to 2.

    Raises:
        MissingDependencyError: if scikit-learn is not installed.

    Source: R. A. Fisher, The use of multiple measurements in taxonomic problems, Ann. Eugenics 7
    (1936), in scikit-learn's ``load_iris``.

    >>> measures, kinds = iris()  # doctest: +SKIP
    >>> measures.shape  # doctest: +SKIP
    (150, 4)
    """
    return _given(*_load("load_iris", "iris"), as_array)


def _load(name: str, what: str) -> tuple[Any, Any]:
    try:
        from sklearn import datasets
    except ImportError as error:
        raise MissingDependencyError(
            f"mg.data.{what} reads a set of scikit-learn, which is not installed ({error}): "
            f"pip install 'minigrad-edu[data]'"
        ) from error
    points, labels = getattr(datasets, name)(return_X_y=True)
    return points, labels


def _given(points: Any, labels: Any, as_array: bool) -> tuple[Any, Any]:
    return (points, labels) if as_array else (points.tolist(), labels.tolist())

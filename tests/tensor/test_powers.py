"""x ** y at every corner of the floats: IEEE 754's value, and one gradient in every mode."""

from math import copysign, inf, isnan, nan, pow
from operator import pow as power

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, Value

CORNERS = [-inf, -3.0, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, inf, nan]
MODES = {"one number": Tensor, "an axis": lambda x: Tensor([x])}


def ieee(x, y):
    """``math.pow``, which raises where IEEE 754 has an infinity or nan."""
    try:
        return pow(x, y)
    except ValueError:
        return nan if x else copysign(inf, x) if y % 2.0 == 1.0 else inf


def same(x, y):
    return (isnan(x) and isnan(y)) or x == y


def numbers(make, a, b, *, order):
    """The value and the gradients of a ** b; of order 2, those of either gradient."""
    x, y = make(a), make(b)
    with mg.errstate("ignore"):
        if order == 1:
            gradients = gradients_of(power(x, y), x, y)
            return [power(x, y).item(), *map(plain, gradients)]
        found = []
        for first in (0, 1):
            gradient = gradients_of(power(x, y), x, y, create_graph=True)[first]
            found += map(plain, gradients_of(gradient, x, y))
        return found


def gradients_of(z, *leaves, **how):
    for leaf in leaves:
        leaf.name = "kept"
        leaf.zero_grad()
    z.backward(**how)
    gradients = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.zero_grad()
    return gradients


def plain(gradient):
    """A gradient as a float; none at all counts as 0: outside the domain it is a constant nan."""
    if gradient is None:
        return 0.0
    return gradient if isinstance(gradient, float) else gradient.item()


@pytest.mark.parametrize("a", CORNERS)
@pytest.mark.parametrize("make", [Value, *MODES.values()], ids=["Value", *MODES])
def test_the_value_is_that_of_ieee_754(make, a):
    for b in CORNERS:
        with mg.errstate("ignore"):
            out = (make(a) ** make(b)).item()
            by_a_number = (make(a) ** b).item()
        assert repr(out) == repr(by_a_number) == repr(ieee(a, b)), (a, b)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("make", MODES.values(), ids=MODES)
@pytest.mark.parametrize("a", CORNERS)
def test_arrays_have_the_gradients_of_single_numbers(make, a, order):
    for b in CORNERS:
        expected, found = (numbers(kind, a, b, order=order) for kind in (Value, make))
        assert all(map(same, found, expected)), (a, b, found, expected)


@pytest.mark.parametrize("make", [Value, *MODES.values()], ids=["Value", *MODES])
def test_outside_the_domain_value_and_gradients_are_nan(make):
    for a in (-3.0, -0.5):
        for b in (-0.5, 0.5, 1.0 / 3.0):
            assert all(map(isnan, numbers(make, a, b, order=1))), (a, b)


def test_a_root_of_many_numbers_is_the_power_of_each():
    x = np.array([-inf, -0.0, 0.0, 4.0, inf, nan])
    with mg.errstate("ignore"):
        root = (Tensor(x) ** 0.5).numpy()
    assert list(map(repr, root.tolist())) == [repr(ieee(z, 0.5)) for z in x.tolist()]

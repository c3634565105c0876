"""The primitives on NumPy arrays: ``ARRAYS``, the counterpart of ``floats.py``.

A row is evaluated on arrays as it is on floats: first with NumPy told to raise where IEEE 754 has
an infinity or nan to report (which costs nothing, the processor keeps those flags anyway), and
only when it raises once more in silence, to say what happened. Python numbers stay Python numbers,
so that they do not widen a float32 array.

Read next: ``broadcasting.py``, the derivatives on arrays.
"""

from __future__ import annotations

from contextvars import copy_context
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import hooks, modes
from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.ops import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from minigrad.ops.row import Op

__all__ = [
    "ARRAYS", "Misfit", "alike", "apply_arrays", "called", "compute_array", "loud", "quiet",
    "real_type",
]  # fmt: skip

ndarray = np.ndarray


# -- the vocabulary ------------------------------------------------------------------------------


def _float_type(x: Any, y: Any) -> Any:
    """The float type that a comparison of ``x`` and ``y`` is written in."""
    kind = np.result_type(x, y)
    return kind if kind.kind == "f" else np.dtype(float)


def _as_floats(compare: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison that gives 1.0 and 0.0, as it does on floats."""

    def comparison(x: Any, y: Any) -> Any:
        if x.__class__ is float and y.__class__ is float:
            return float(compare(x, y))
        dtype = getattr(x, "dtype", None) or getattr(y, "dtype", None)
        if dtype is not _FLOAT64:
            dtype = _float_type(x, y)
        return compare(x, y).astype(dtype)

    return comparison


_FLOAT64 = np.dtype(float)


def _where(condition: Any, x: Any, y: Any) -> Any:
    if x.__class__ is float and y.__class__ is float:  # or float32 would become float64
        dtype = getattr(condition, "dtype", _FLOAT64)
        x = (dtype if dtype.kind == "f" else _FLOAT64).type(x)
    return np.where(condition, x, y)


def _polynomial(s: Any, coefficients: Sequence[float]) -> Any:
    total = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = total * s + c
    return total


# Numerators and denominators of erf and erfc in four regions of |x|; error below 1e-16.
# Source: S. Moshier's and Sun Microsystems' method (FDLIBM, s_erf.c, 1993).
_SMALL = (
    [1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
     -5.77027029648944159157e-03, -2.37630166566501626084e-05],
    [1.0, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
     1.32494738004321644526e-04, -3.96022827877536812320e-06],
)  # fmt: skip
_MIDDLE = (
    [-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01,
     3.18346619901161753674e-01, -1.10894694282396677476e-01, 3.54783043256182359371e-02,
     -2.16637559486879084300e-03],
    [1.0, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
     1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02],
)  # fmt: skip
_LARGE = (
    [-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01,
     -6.23753324503260060396e+01, -1.62396669462573470355e+02, -1.84605092906711035994e+02,
     -8.12874355063065934246e+01, -9.81432934416914548592e+00],
    [1.0, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02,
     6.45387271733267880336e+02, 4.29008140027567833386e+02, 1.08635005541779435134e+02,
     6.57024977031928170135e+00, -6.04244152148580987438e-02],
)  # fmt: skip
_TAIL = (
    [-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01,
     -1.60636384855821916062e+02, -6.37566443368389627722e+02, -1.02509513161107724954e+03,
     -4.83519191608651397019e+02],
    [1.0, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03,
     3.19985821950859553908e+03, 2.55305040643316442583e+03, 4.74528541206955367215e+02,
     -2.24409524465858183362e+01],
)  # fmt: skip
_ERX = 8.45062911510467529297e-01


def _ratio(s: Any, region: tuple[list[float], list[float]]) -> Any:
    return _polynomial(s, region[0]) / _polynomial(s, region[1])


def _erf(x: Any) -> Any:
    given = np.asarray(x)
    a = np.abs(given.astype(float, copy=False))
    a = np.minimum(a, 6.0)  # erf(6) is 1 to the last bit; nan stays nan
    near = np.minimum(a, 0.84375)
    small = near + near * _ratio(near * near, _SMALL)
    middle = _ERX + _ratio(np.clip(a, 0.84375, 1.25) - 1.0, _MIDDLE)
    far = np.maximum(a, 1.25)
    s = 1.0 / (far * far)
    rest = np.where(far < 1.0 / 0.35, _ratio(s, _LARGE), _ratio(s, _TAIL))
    large = 1.0 - np.exp(-far * far - 0.5625 + rest) / far
    out = np.where(a < 0.84375, small, np.where(a < 1.25, middle, large))
    out = np.copysign(out, given)
    return out.astype(given.dtype, copy=False) if given.dtype.kind == "f" else out


def _power(x: Any, y: Any) -> Any:
    single = y.__class__ is float or (y.__class__ is ndarray and not y.ndim)
    if single and y == 0.5:
        return _root(x, y)
    return x**y  # NumPy's operator knows squares and roots, its function does not


def _root(x: Any, half: Any) -> Any:
    """x ** 0.5, for which NumPy takes the root: by IEEE 754 another number at -0.0 and -inf."""
    x = x + 0.0
    token = errors.set(loud)
    try:
        return x**half
    except FloatingPointError:  # something is negative
        pass
    finally:
        errors.reset(token)
    return np.where(x == -np.inf, np.inf, x) ** half


_SAME_NAME = """
    exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh hypot sign maximum
    minimum floor ceil abs
"""
ARRAYS = SimpleNamespace(**{name: getattr(np, name) for name in _SAME_NAME.split()})
ARRAYS.asin, ARRAYS.acos, ARRAYS.atan, ARRAYS.atan2 = np.arcsin, np.arccos, np.arctan, np.arctan2
ARRAYS.asinh, ARRAYS.acosh, ARRAYS.atanh = np.arcsinh, np.arccosh, np.arctanh
ARRAYS.round, ARRAYS.erf, ARRAYS.power, ARRAYS.where = np.rint, _erf, _power, _where
ARRAYS.less, ARRAYS.equal = _as_floats(np.less), _as_floats(np.equal)
ARRAYS.less_equal = _as_floats(np.less_equal)


# -- NumPy's floating-point flags ----------------------------------------------------------------


def _extension() -> tuple[Any, Any, Any]:
    """The context variable in which NumPy keeps its errstate, with our two settings of it.

    ``with np.errstate(...)`` builds the setting anew each time, which takes longer than adding two
    small arrays; setting the variable is a twentieth of that. NumPy itself puts it there.
    """

    def setting(**how: Any) -> Any:
        with np.errstate(**how):
            return next((v, x) for v, x in copy_context().items() if v.name == "numpy.ufunc.extobj")

    variable, silent = setting(all="ignore")
    return variable, silent, setting(divide="raise", over="raise", invalid="raise")[1]


errors, quiet, loud = _extension()


def compute_array(op: Op, xs: Sequence[Any], nodes: Sequence[Any] = ()) -> Any:
    """The value of ``op`` on arrays and numbers; reports infinities and nans that arise.

    Args:
        op: The row.
        xs: What goes in.
        nodes: The nodes that hold it, whose names are used in errors.

    Raises:
        ShapeError: if the shapes do not fit together.
        ArgumentValueError: for an axis or an index that is not there, and the like.
    """
    if op.name in FLOAT_VALUED or (op.name in ("floordiv", "mod") and not np.all(xs[1])):
        xs = [as_floats(x) for x in xs]
    token = errors.set(quiet if modes.error_action() == "ignore" else loud)
    try:
        out = _forward(op, xs)
    except FloatingPointError:
        errors.set(quiet)
        xs = [as_floats(x) for x in xs]  # whole numbers have no infinity
        out = op.forward(ARRAYS, *xs)
        _report_value(op, out, xs, _names(op, nodes, len(xs)))
    except (ArithmeticError, ValueError, IndexError, TypeError) as error:
        raise _explained(op, xs, error, _names(op, nodes, len(xs))) from error
    finally:  # also where a learner's formula raises something else
        errors.reset(token)
    return out if out.__class__ is ndarray else np.asarray(out)


# Rows whose value is no whole number. NumPy would give half precision for 8-bit whole numbers (the
# type of images), and wrap around on the way.
FLOAT_VALUED = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "elu", "erf",
    "exp", "exp2", "expm1", "gelu", "hypot", "leaky_relu", "log", "log10", "log1p", "log2",
    "log_sigmoid", "log_softmax", "logaddexp", "logsumexp", "norm", "reciprocal", "sigmoid", "silu",
    "sin", "sinc", "sinh", "softmax", "softplus", "sqrt", "tan", "tanh",
}  # fmt: skip


def as_floats(x: Any) -> Any:
    """An array of whole numbers or truth values as float64; anything else as it is."""
    return x.astype(float) if x.__class__ is ndarray and x.dtype.kind in "iub" else x


def _forward(op: Op, xs: Sequence[Any]) -> Any:
    try:
        return op.forward(ARRAYS, *xs)
    except ValueError:
        if op.name != "pow":
            raise
        return op.forward(ARRAYS, *map(as_floats, xs))  # whole numbers to a negative power


def _report_value(op: Op, out: Any, xs: Sequence[Any], names: Sequence[str]) -> None:
    """Warn if ``out`` is not finite although all that went in is."""
    finite = np.isfinite(out)
    if not finite.all() and all(np.isfinite(x).all() for x in xs):
        bad = np.asarray(out)[~finite]
        outside = op.domain is not None and not np.all(op.domain(*xs))
        first = repr(bad.flat[0].item())
        what = f"is {first}"
        if np.size(out) > 1:
            what = (
                f"has {bad.size} of {np.size(out)} elements that are not finite, the first is "
                f"{first}"
            )
        evaluate.report(f"{_call(op, xs, names)} {what}" + ", outside its domain" * outside)


def _call(op: Op, xs: Sequence[Any], names: Sequence[str]) -> str:
    shown = [
        f"{name}={np.asarray(x).item()!r}" if np.ndim(x) == 0 else f"{name} of shape {np.shape(x)}"
        for name, x in zip(names, xs, strict=True)
    ]
    return f"{op.word}({', '.join(shown)})"


# -- errors of shape -----------------------------------------------------------------------------


class Misfit(ShapeError):
    """What a ``forward`` raises for shapes that do not fit: ``{0}`` stands for its first input.

    The learner sees a ``ShapeError`` with the names of the nodes in these places.
    """


def called(node: Any, name: str) -> str:
    """What an error calls an input: the name of the node, else ``name``."""
    return getattr(node, "name", None) or name


class _Name(str):
    """A name in the text of a row; no brackets, whatever precedence the text asks for."""

    __slots__ = ()

    def __format__(self, needed: str) -> str:
        return str(self)


def _names(op: Op, nodes: Sequence[Any], count: int) -> list[str]:
    """What an error calls the inputs: the names of the nodes, else those of the row."""
    names = list(op.parameters) if len(op.parameters) == count else [f"x{i}" for i in range(count)]
    for i, node in enumerate(nodes[:count]):
        names[i] = called(node, names[i])
    return [_Name(name) for name in names]


def _explained(op: Op, xs: Sequence[Any], error: Exception, names: list[str]) -> Exception:
    """NumPy's error about the arguments of ``op`` in our words."""
    if isinstance(error, Misfit):
        return ShapeError(str(error).format(*names))
    if isinstance(error, ArgumentTypeError | ArgumentValueError):
        return error
    shapes = [np.shape(x) for x in xs]
    if op.partials and len(xs) > 1 and isinstance(error, ValueError):
        return broadcast_error(op, shapes, names)
    text = f"{op.word} of shape{'s' * (len(xs) > 1)} {' and '.join(map(str, shapes))}: {error}"
    if isinstance(error, TypeError):
        return ArgumentTypeError(text)
    return ArgumentValueError(text) if isinstance(error, IndexError) else ShapeError(text)


def broadcast_error(op: Op, shapes: Sequence[tuple[int, ...]], names: list[str]) -> ShapeError:
    """``x * w cannot broadcast (3, 4) with (3,)``, which axes differ, and what would."""
    what = op.text.format(*names) if op.parameters else op.name
    text = f"{what} cannot broadcast {' with '.join(map(str, shapes))}"
    if len(shapes) == 2:
        (left, right), wide = shapes, max(map(len, shapes))
        padded = [(1,) * (wide - len(shape)) + shape for shape in shapes]
        for axis in range(-1, -wide - 1, -1):
            m, n = padded[0][axis], padded[1][axis]
            if m != n and 1 not in (m, n):
                place = "the last axes" if axis == -1 else f"axes {axis}"
                text += f": {place}, {m} and {n}, differ."
                break
        for name, short, long in ((names[1], right, left), (names[0], left, right)):
            new = (*short, 1)
            if 0 < len(short) < len(long) and _fits(new, long):
                text += f" {name}[..., None] has shape {new} and would broadcast."
                break
    return ShapeError(text)


def _fits(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(left[::-1], right[::-1], strict=False))


# -- plain arrays --------------------------------------------------------------------------------


def real_type(dtype: Any) -> Any:
    """``dtype`` as NumPy's object for a type of real numbers.

    Raises:
        ArgumentTypeError: for any other.
    """
    try:
        known = np.dtype(dtype)
    except TypeError:
        known = np.dtype(object)
    if known.kind not in "fiub":
        raise ArgumentTypeError(f"dtype={dtype!r}: it is a type of real numbers, such as 'float32'")
    return known


def as_operand(x: Any, what: str, whole: bool = False) -> Any:
    """A plain argument as the record keeps it: a Python number, or an array of real numbers.

    Args:
        x: What was given.
        what: The operation, for the error.
        whole: Whether all other arguments hold whole numbers, so that an int may stay one.

    Raises:
        ArgumentTypeError: for anything that is no number and no array of real numbers.
    """
    if isinstance(x, ndarray):
        if x.dtype.kind not in "fiub":
            raise evaluate.refuse(x, what)
        return x.view(ndarray) if x.ndim else x.item()
    if whole and isinstance(x, int | np.integer):
        return int(x)
    number = evaluate.as_number(x)
    if number is None:
        raise evaluate.refuse(x, what)
    return number


def alike(xs: Sequence[Any]) -> Sequence[Any]:
    """Numbers among arrays as arrays of their type: where NumPy joins them, they would widen it.

    >>> [x.dtype.name for x in alike([np.float32([1.0]), 2.0])]
    ['float32', 'float32']
    """
    arrays = [x for x in xs if x.__class__ is ndarray]
    if not arrays or len(arrays) == len(xs):
        return xs
    kind = np.result_type(*[x if x.__class__ is not ndarray else x.dtype for x in xs])
    return [x if x.__class__ is ndarray else np.asarray(x, kind) for x in xs]


_PLAIN = {ndarray, float}


def apply_arrays(op: Op, xs: tuple[Any, ...], kinds: set[type]) -> Any:
    """Evaluate ``op`` with an array among the arguments: array → array, or with nodes a node."""
    if kinds <= _PLAIN:
        return compute_array(op, xs)
    highest: Any = max(kinds, key=lambda kind: getattr(kind, "_rank", 0))
    rank = getattr(highest, "_rank", 0)
    if rank > 2:  # a symbol, which says that it takes no arrays
        return highest._apply(op, xs, kinds)
    if rank:
        return hooks.tensor()._apply(op, xs, kinds)
    return compute_array(op, [x if x.__class__ is ndarray else as_operand(x, op.name) for x in xs])


hooks.arrays = apply_arrays

"""Rows that choose elements: indexing, sorting, and putting elements in.

The gradient of ``x[index]`` is put back where the elements came from; an element that was chosen
twice gets both (``put``). Indices themselves have no gradient.

Read next: ``products.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import hooks
from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.graph import Node
from minigrad.ops.arrays import ndarray
from minigrad.ops.broadcasting import raw, unbroadcast
from minigrad.ops.evaluate import as_number, brief, kind_of
from minigrad.ops.kinds import General, Linear, array_function, evaluate_arrays
from minigrad.ops.manual import Manual, documented, of_row
from minigrad.ops.reduce import nonempty
from minigrad.ops.scattered import Scattered
from minigrad.ops.shapes import one_axis, shaped

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "argmax", "argsort", "at_set", "element", "getitem", "put", "sort", "stack_values", "take",
]  # fmt: skip


# -- indices -------------------------------------------------------------------------------------


def index_of(index: Any) -> Any:
    """An index as the record keeps it: ints, slices, None, ``...``, and arrays of its own.

    Raises:
        ArgumentTypeError: for a float, or a node that holds one.
    """
    if index.__class__ is tuple:
        return tuple(map(_one_index, index))
    return _one_index(index)


def _one_index(i: Any) -> Any:
    if i is None or i is Ellipsis or i.__class__ is int:
        return i
    if i.__class__ is slice:
        for end in (i.start, i.stop, i.step):
            if not (end is None or hasattr(end, "__index__")):
                raise ArgumentTypeError(
                    f"x[…:…] with {brief(end)}: the ends and the step of a slice are ints or None, "
                    f"not {kind_of(end)}{_to_int(end)}"
                )
        return i
    if isinstance(i, np.integer):
        return int(i)
    if isinstance(i, Node):
        i = raw(i)
        if not isinstance(i, ndarray):
            raise ArgumentTypeError(f"a Value is no index; x[int(v)] with v = {i!r} is one")
    if isinstance(i, str | bytes | dict | set) or not any(hasattr(i, word) for word in _INDICES):
        raise ArgumentTypeError(
            f"x[{brief(i)}]: an index is an int, a slice, None, ..., an array or a list of ints or "
            f"bools, or a tuple of these, not {kind_of(i)}{_to_int(i)}"
        )
    try:
        array = np.array(i)  # a copy: the record must not change with the learner's array
    except ValueError:
        raise ArgumentTypeError(
            f"x[{brief(i)}]: the lists in the index have different lengths; they must be equal"
        ) from None
    if array.dtype.kind in "iub":
        return array
    if array.size == 0:
        return array.astype(int)
    what = array.dtype if array.dtype.kind in "fc" else kind_of(array.flat[0])
    fix = ""
    if isinstance(i, ndarray):
        mask = array.dtype.kind == "f" and bool(((array == 0.0) | (array == 1.0)).all())
        fix = "; x[i.astype(int)] converts"
        if mask:
            fix = "; x[i.astype(bool)] takes it for a mask, x[i.astype(int)] for positions"
    raise ArgumentTypeError(f"x[{brief(i)}]: an index holds ints or bools, not {what}{fix}")


_INDICES = ("__len__", "__array__", "__invert__")  # of lists, of arrays, of bools


def _to_int(i: Any) -> str:
    """How a number becomes an int, or nothing for what is no number."""
    return "; int(…) makes one" if as_number(i) is not None else ""


def _basic(index: Any) -> bool:
    """Whether no element can be chosen twice, so that putting back needs no addition."""
    parts = index if index.__class__ is tuple else (index,)
    return not any(isinstance(i, ndarray) and i.dtype.kind != "b" for i in parts)


def _put(x: Any, shape: Any, index: Any) -> Any:
    out = np.zeros(shape, x.dtype if hasattr(x, "dtype") else float)
    if _basic(index):
        out[index] = x
    elif index.__class__ is ndarray and x.ndim > 1 and x.size > 64:
        _add_rows(out, index, x)
    else:
        np.add.at(out, index, x)
    return out


def _add_rows(out: Any, index: Any, x: Any) -> None:
    """``np.add.at`` for whole rows: sort them, and add those that belong together in one go."""
    rows = np.where(index < 0, index + len(out), index).ravel()
    x = x.reshape((rows.size, *out.shape[1:]))
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    starts = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
    out[rows[starts]] = np.add.reduceat(x[order], starts, axis=0)


_GETITEM = Linear(
    "getitem", lambda m, x, *, index=(): (x if x.__class__ is ndarray else np.asarray(x))[index],
    lambda g, out, x, *, index: put(g, x.shape, index),
    sentence="Elements chosen by an index; one that is chosen twice gets both gradients.",
    manual=Manual("x[index]", "put(g, x.shape, index)", ([1.0, 2.0], [1, 1, 0], [2.0, 2.0, 1.0]),
        returns="The shape that the index gives",
        note="put adds g at the index into zeros: what was chosen twice gets both.",
        raises={"ArgumentTypeError": "if the index holds floats",
            "ArgumentValueError": "if it reaches outside of x"}),
).register()  # fmt: skip
_PUT = Linear(
    "put", lambda m, x, *, shape=(), index=(): _put(x, shape, index),
    lambda g, out, x, *, shape, index: getitem(g, index),
    sentence="Zeros, and x added at an index: the transpose of indexing.", public=False,
    manual=Manual("", "g[index]", args={"shape": "The shape of the result, a tuple of ints"},
        returns="The given shape"),
).register()  # fmt: skip


def getitem(x: Any, index: Any) -> Any:
    """Elements of ``x`` chosen by an index, basic or fancy: ``x[index]``."""
    return evaluate_arrays(_row_of(index), (x,))


_ENDS = (int, type(None))
_rows: dict[Any, Any] = {}  # of ints and slices, which a program uses again and again


def _row_of(index: Any) -> Any:
    key: list[Any] = []
    for i in index if index.__class__ is tuple else (index,):
        if i.__class__ is slice:
            start, stop, step = i.start, i.stop, i.step
            if not (
                start.__class__ in _ENDS and stop.__class__ in _ENDS and step.__class__ in _ENDS
            ):
                return _GETITEM.bind(index=index_of(index))  # 1.0 would be found as 1
            key.append((start, stop, step))
        elif i is None or i.__class__ is int or i is Ellipsis:
            key.append(i)
        else:
            return _GETITEM.bind(index=index_of(index))
    known = (index.__class__ is tuple, *key)
    row = _rows.get(known)
    if row is None:
        if len(_rows) > 1000:
            _rows.clear()
        row = _rows[known] = _GETITEM.bind(index=index_of(index))
    return row


def put(x: Any, shape: tuple[int, ...], index: Any) -> Any:
    """Zeros of ``shape`` with ``x`` added at ``index``."""
    return evaluate_arrays(_PUT.cached(shape=shape, index=index), (x,))


@documented(Manual("", "put(g, x.shape, index)", ([1.0, 2.0, 3.0], [2, 0], [3.0, 1.0]),
    args={"indices": "An int or an array of ints, of any shape",
        "axis": "The axis, an int, or None for all elements in a row"},
    returns="The shape of x with that of indices in place of the axis",
    note="index is indices on the axis: (:, …, indices).",
    raises={"ArgumentTypeError": "if the indices are no ints"}))  # fmt: skip
def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """Elements along an axis (None: of all elements in a row) by their numbers."""
    x = shaped(x, "take")
    if axis is None:
        return getitem(x.reshape(-1), _whole(indices))
    return getitem(x, (*[slice(None)] * one_axis(axis, x, "take"), _whole(indices)))


def _whole(indices: Any) -> Any:
    indices = index_of(list(indices) if isinstance(indices, tuple) else raw(indices))
    if isinstance(indices, ndarray) and indices.dtype.kind == "b":
        raise ArgumentTypeError("take: the indices are ints; x[mask] chooses by a mask")
    return indices


# -- setting elements: a new array, for a node never changes --------------------------------------


def _set(x: Any, values: Any, index: Any) -> Any:
    kind = getattr(x, "dtype", _FLOAT64)
    if kind.kind != "f":  # whole numbers beside a float become floats, float32 stays float32
        kind = np.result_type(x, values)
    out = np.array(x, dtype=kind)
    out[index] = values
    return out


_FLOAT64 = np.dtype(float)


def _winners(shape: Any, index: Any) -> Any:
    """Per element of ``x[index]`` whether it is the one that stays, should two meet in a place."""
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape)[index]
    order = np.arange(numbers.size).reshape(numbers.shape)
    last = np.full(shape, -1).ravel()
    last[numbers] = order  # NumPy lets the last one win, here and in ``out[index] = values``
    return last[numbers] == order


_SET_RULES = (
    lambda g, out, x, y, *, index: at_set(g, index, 0.0),
    lambda g, out, x, y, *, index: _value_rule(g, out, y, index),
)
_AT_SET = General(
    "at_set", lambda m, x, y, *, index=(): _set(x, y, index), _SET_RULES, reach=_SET_RULES,
    jvp=lambda ts, out, x, y, *, index: at_set(
        np.zeros(out.shape, out.dtype) if ts[0] is None else ts[0], index,
        0.0 if ts[1] is None else ts[1]),
    sentence="x with values at an index, as a new array; where two meet the last one stays.",
    manual=Manual("", {"x": "at_set(g, index, 0.0)", "values": "g[index]"},
        ([1.0, 2.0, 3.0], 0, 9.0, [9.0, 2.0, 3.0]),
        args={"values": "What stands there then, broadcast to the shape of x[index]; no unit"},
        note="Of several values for one place only the last, which stays, gets a gradient.",
        raises={"ArgumentTypeError": "if the index holds floats",
            "ArgumentValueError": "if it reaches outside of x",
            "ShapeError": "if the values do not broadcast"}),
).register()  # fmt: skip


def _value_rule(g: Any, out: Any, y: Any, index: Any) -> Any:
    chosen = getitem(g, index)
    if not _basic(index):
        chosen = chosen * _winners(out.shape, index)
    extra = len(getattr(y, "shape", ())) - len(chosen.shape)
    if extra > 0:  # NumPy ignores leading axes of length 1
        chosen = chosen.reshape((1,) * extra + chosen.shape)
    return unbroadcast(chosen, getattr(y, "shape", ()))


def at_set(x: Any, index: Any, values: Any) -> Any:
    """A new array like ``x`` with ``values`` at ``index``; ``x`` is as before."""
    if isinstance(values, int | np.integer):
        values = np.asarray(values)  # stays a whole number, beside whole numbers
    return evaluate_arrays(_AT_SET.cached(index=index_of(index)), (x, values))


# Not as decorators: these rows and functions name each other.
of_row(_GETITEM)(getitem)
of_row(_PUT)(put)
of_row(_AT_SET)(at_set)


# -- order ---------------------------------------------------------------------------------------


def _at_places(places: Any, axis: int) -> Any:
    """The index that does along one axis what ``np.take_along_axis`` does."""
    grid = list(np.ogrid[tuple(slice(n) for n in places.shape)])
    grid[axis] = places
    return tuple(grid)


def _sorted(t: Any, x: Any, axis: Any, back: bool) -> Any:
    """``t`` in the order that sorts ``x``, or from that order back into that of ``x``."""
    if axis is None:
        t, x, axis = t.reshape(-1), raw(x).reshape(-1), 0
    places = np.argsort(raw(x), axis=axis, kind="stable")
    return getitem(t, _at_places(np.argsort(places, axis=axis) if back else places, axis))


def _unsort(g: Any, out: Any, x: Any, *, axis: Any) -> Any:
    return _sorted(g, x, axis, back=True).reshape(x.shape)


_SORTED = "The axis, an int, or None for all elements in a row"
sort = array_function(General(
    "sort", lambda m, x, *, axis=-1: np.sort(x, axis=axis, kind="stable"), [_unsort],
    reach=[_unsort],
    jvp=lambda ts, out, x, *, axis: _sorted(ts[0], x, axis, back=False),
    sentence="The elements in ascending order; each keeps its gradient.",
    manual=Manual("", "np.take_along_axis(g, argsort(argsort(x, axis), axis), axis)",
        ([3.0, 1.0, 2.0], [1.0, 2.0, 3.0]), args={"axis": _SORTED},
        note="Equal elements stay in the order that they had."),
).register())  # fmt: skip
argsort = array_function(General(
    "argsort", lambda m, x, *, axis=-1: np.argsort(x, axis=axis, kind="stable"), [None],
    sentence="The indices that sort; whole numbers, no gradient.",
    manual=Manual("", example=([3.0, 1.0, 2.0], [1, 2, 0]), args={"axis": _SORTED}),
).register())  # fmt: skip
_largest = nonempty("argmax", np.argmax)
argmax = array_function(General(
    "argmax", lambda m, x, *, axis=None, keepdims=False: _largest(x, axis, keepdims),
    [None], sentence="The index of the largest element, the first of several; no gradient.",
    manual=Manual("", example=([1.0, 3.0, 3.0], 1),
        args={"axis": "The axis that is searched, an int, or None for all elements in a row"}),
).register())  # fmt: skip


# -- between arrays and Values -------------------------------------------------------------------

_STACK_VALUES = Linear(
    "stack_values", lambda m, *xs, shape=(-1,): np.array(xs, dtype=float).reshape(shape),
    lambda g, out, *xs, shape: _elements(g),
    sentence="Values and numbers joined into an array; each gets the gradient of its element.",
    manual=Manual("", {"xᵢ": "g[place]"},
        ("mg.stack_values([mg.Value(1.0), 2.0]).tolist()", [1.0, 2.0]),
        args={"values": "Values and numbers in a list, or nested lists of equal lengths; no unit"},
        returns="A Tensor; its shape are the lengths of the lists",
        note="place is where xᵢ stands in the array.",
        raises={"ArgumentValueError": "if the lengths differ",
            "ArgumentTypeError": "if there is no Value among them"}),
).register()  # fmt: skip
_ELEMENT = Linear(
    "element", lambda m, x, *, index=(): float(x[index]),
    lambda g, out, x, *, index: Scattered(x, [(index, g)]),
    sentence="One element of an array as a Value.", public=False,
    manual=Manual("x[index]", "put(g, x.shape, index)", returns="A number, which becomes a Value"),
).register()  # fmt: skip


def _elements(g: Any) -> Any:
    """The elements of an array as numbers, or those of a node as Values."""
    if hasattr(g, "_apply"):
        return [hooks.as_value(g, index) for index in np.ndindex(g.shape)]
    return g.ravel().tolist()


def element(x: Any, index: tuple[int, ...]) -> Any:
    """The row that takes one element of an array as a number."""
    return _ELEMENT.cached(index=index)


@of_row(_STACK_VALUES)
def stack_values(values: Any) -> Any:
    """Join Values and numbers, in a list or nested lists of equal lengths, into a ``Tensor``."""
    flat: list[Any] = []
    shape = _collect(values, flat, ())
    if not any(isinstance(x, Node) for x in flat):
        raise ArgumentTypeError("stack_values joins Values; Tensor([...]) makes a leaf of numbers")
    return evaluate_arrays(_STACK_VALUES.cached(shape=shape), tuple(flat))


def _collect(values: Any, flat: list[Any], place: Sequence[int]) -> tuple[int, ...]:
    if isinstance(values, Node) or not hasattr(values, "__iter__") or isinstance(values, str):
        if hasattr(values, "shape") and values.shape:
            raise ArgumentTypeError("stack_values joins Values; stack([...]) joins Tensors")
        flat.append(values)
        return ()
    parts = list(values)
    shapes = {_collect(x, flat, (*place, i)) for i, x in enumerate(parts)}
    if len(shapes) > 1:
        where = f" at {list(place)}" if place else ""
        raise ArgumentValueError(
            f"stack_values: the parts{where} have the shapes {sorted(shapes)}; they must be equal"
        )
    return (len(parts), *(shapes.pop() if shapes else ()))

"""Rows that multiply and add: ``matmul``, ``dot``, ``outer``, ``tensordot``, ``einsum``.

Each is linear in every input, so the rule for an input is the same kind of product of the
gradient with the other inputs.

Read next: ``convolution.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import hooks
from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.ops.arrays import Misfit, alike, as_operand, called
from minigrad.ops.broadcasting import raw, repeated, unbroadcast
from minigrad.ops.evaluate import refuse
from minigrad.ops.indexing import put
from minigrad.ops.kinds import Product, array_function, evaluate_arrays
from minigrad.ops.manual import Manual, documented, of_row
from minigrad.ops.shapes import shaped

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["array_dot", "einsum", "linear", "matmul", "outer", "tensordot"]


# -- matrices ------------------------------------------------------------------------------------


def _matmul(x: Any, y: Any) -> Any:
    try:
        return np.matmul(x, y)
    except ValueError:
        raise _mismatch(np.shape(x), np.shape(y)) from None


def _mismatch(left: tuple[int, ...], right: tuple[int, ...]) -> Misfit:
    text = f"{{0}} @ {{1}} cannot multiply {{0}} of shape {left} with {{1}} of shape {right}"
    if not left or not right:
        return Misfit(f"{text}: one of them has no axes; {{0}} * {{1}} multiplies by a number")
    inner, place = (right[-2], "axis -2") if len(right) > 2 else (right[0], "the first")
    if left[-1] == inner:
        return Misfit(f"{text}: the axes before the last two do not broadcast")
    text += f": the last axis of {{0}}, {left[-1]}, and {place} of {{1}}, {inner}, differ"
    if len(right) == 2 and left[-1] == right[-1]:
        text += f". {{1}}.T has shape {right[::-1]} and would fit"
    elif len(left) == 2 and left[0] == inner:
        text += f". {{0}}.T has shape {left[::-1]} and would fit"
    return Misfit(text)


def _for_left(g: Any, out: Any, x: Any, y: Any, *_: Any) -> Any:
    if x.ndim == y.ndim == 2:
        return g @ y.T
    if len(y.shape) == 1:
        return g * y if len(x.shape) == 1 else g[..., None] * y
    if len(x.shape) == 1:
        return g @ y.T if len(y.shape) == 2 else (y @ g[..., None])[..., 0]
    return g @ (y.T if len(y.shape) == 2 else y.swapaxes(-1, -2))


def _for_right(g: Any, out: Any, x: Any, y: Any, *_: Any) -> Any:
    if x.ndim == y.ndim == 2:
        return x.T @ g
    if len(x.shape) == 1:
        return g * x if len(y.shape) == 1 else x[:, None] * g[..., None, :]
    if len(y.shape) == 1:
        return g @ x if len(x.shape) == 2 else g.reshape(-1) @ x.reshape((-1, x.shape[-1]))
    if len(y.shape) == 2:  # the same matrix for every batch: one product, not a sum of them
        return x.reshape((-1, x.shape[-1])).T @ g.reshape((-1, g.shape[-1]))
    return x.swapaxes(-1, -2) @ g


_MATMUL = Product(
    "matmul", lambda m, x, y: _matmul(x, y), [_for_left, _for_right], text="{0:2} @ {1:3}",
    latex=r"{0:2} {1:2}", precedence=2, sentence="Matrix product of the last two axes.",
    manual=Manual("x @ y", {"x": "g @ y.T", "y": "x.T @ g"},
        ([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0], [21.0, 43.0]),
        args={"x": "A Tensor or an array, shape (…, m, k), or (k,) for a row; no unit",
            "y": "A Tensor or an array, shape (…, k, n), or (k,) for a column; no unit"},
        returns="Shape (…, m, n), without the axis of a row or a column",
        note="Of more axes, .T exchanges the last two, and what was repeated is summed.",
        raises={"ShapeError": "if the inner axes differ, or one of them has no axes"}),
)  # fmt: skip
matmul = array_function(_MATMUL.register())


def _affine(m: Any, x: Any, weight: Any, bias: Any) -> Any:
    try:
        out = np.matmul(x, weight)
    except ValueError:
        raise _mismatch(np.shape(x), np.shape(weight)) from None
    if out.ndim and out.dtype is bias.dtype and bias.shape == out.shape[-1:]:
        out += bias  # in place: one array less to make and to keep
        return out
    try:
        return out + bias
    except ValueError:
        raise Misfit(
            f"{{0}} @ {{1}} has shape {out.shape}, to which {{2}} of shape {np.shape(bias)} cannot "
            f"be added; a bias has one number for each column of {{1}}: {out.shape[-1:]}"
        ) from None


def _linear_jvp(ts: Any, out: Any, x: Any, weight: Any) -> Any:
    total: Any = np.zeros(out.shape)
    rules: Any = (lambda t: t @ weight, lambda t: x @ t, lambda t: t)
    for t, push in zip(ts, rules, strict=True):
        total = total if t is None else total + push(t)
    return total


_LINEAR = Product(
    "linear", _affine,
    [_for_left, _for_right, lambda g, out, x, weight, bias: g],
    jvp=lambda ts, out, x, weight, bias: _linear_jvp(ts, out, x, weight),
    text="{0:2} @ {1:3} + {2:1}", latex=r"{0:2} {1:2} + {2:1}", precedence=1, public=False,
    sentence="A layer of neurons as one node: x @ weight + bias.",
    manual=Manual("x @ weight + bias",
        {"x": "g @ weight.T", "weight": "x.T @ g", "bias": "sum(g, 0)"},
        returns="Shape (N, neurons)"),
)  # fmt: skip
linear = array_function(_LINEAR.register())


def array_dot(x: Any, y: Any) -> Any:
    """``mg.dot`` of arrays: NumPy's ``dot``, as the row that it is for these shapes."""
    m, n = (len(getattr(z, "shape", ())) for z in (x, y))
    if not m or not n:
        return x * y
    if m <= 2 and n <= 2:
        return matmul(x, y)
    return tensordot(x, y, axes=((-1,), (-1 if n == 1 else -2,)))


@documented(Manual("x.reshape(-1, 1) * y.reshape(1, -1)",
    {"x": "g @ y.reshape(-1)", "y": "x.reshape(-1) @ g"},
    ([1.0, 2.0], [3.0, 4.0], [[3.0, 4.0], [6.0, 8.0]]),
    returns="Shape (elements of x, elements of y)"))  # fmt: skip
def outer(x: Any, y: Any) -> Any:
    """All products of an element of ``x`` with one of ``y``, a matrix; both are read in a row."""
    x, y = _number_or_array(x), _number_or_array(y)
    if getattr(x, "shape", ()) and getattr(y, "shape", ()):
        return x.reshape((-1, 1)) * y.reshape((1, -1))
    product = x * y  # a number in its place does not widen the other
    shape = (-1, 1) if getattr(x, "shape", ()) else (1, -1)
    return shaped(product, "outer").reshape(shape)


def _number_or_array(x: Any) -> Any:
    """A plain number as Python's own; arrays and nodes as they are."""
    axes = getattr(x, "shape", None)
    return x if axes or hasattr(x, "_apply") else as_operand(x, "outer")


@documented(Manual("", {"x": "einsum(swapped_x, g, y)", "y": "einsum(swapped_y, g, x)"},
    ([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0], 1, [21.0, 43.0]),
    args={"axes": "How many axes, the last of x and the first of y, or two lists of axes"},
    returns="The axes of x and then those of y that are not summed",
    note="swapped_x are the letters of the product with those of x and of the result exchanged.",
    raises={"ShapeError": "if the lengths of two such axes differ",
        "ArgumentValueError": "if there is no such axis"}))  # fmt: skip
def tensordot(x: Any, y: Any, axes: Any = 2) -> Any:
    """The product of two arrays summed over axes, given as in NumPy: a number, or two lists."""
    for z in (x, y):
        if not hasattr(z, "shape"):
            raise refuse(z, "tensordot")
    m, n = len(x.shape), len(y.shape)
    if isinstance(axes, int):
        left, right = list(range(m - axes, m)), list(range(axes))
    else:
        left, right = ([a] if isinstance(a, int) else list(a) for a in axes)
    if len(left) != len(right):
        raise ArgumentValueError(f"tensordot(axes={axes!r}): the two lists differ in length")
    for a, b in zip(left, right, strict=True):
        if not (-m <= a < m and -n <= b < n):
            raise ArgumentValueError(
                f"tensordot(axes={axes!r}) of shapes {x.shape} and {y.shape}: no such axis"
            )
        if x.shape[a] != y.shape[b]:
            raise ShapeError(
                f"tensordot of {called(x, 'x')} of shape {x.shape} and {called(y, 'y')} of shape "
                f"{y.shape}: axes {a} and {b}, of lengths {x.shape[a]} and {y.shape[b]}, differ"
            )
    letters = _LETTERS
    first = list(letters[:m])
    second = list(letters[m : m + n])
    for a, b in zip(left, right, strict=True):
        second[b] = first[a]
    summed = {first[a] for a in left}
    result = [c for c in first + second if c not in summed]
    return einsum(f"{''.join(first)},{''.join(second)}->{''.join(result)}", x, y)


# -- einsum --------------------------------------------------------------------------------------

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _einsum_rule(g: Any, out: Any, *xs: Any, subscripts: str) -> Sequence[Any]:
    left, _, result = subscripts.partition("->")
    words = left.split(",")
    return [_Lazy(_for_operand, g, xs, words, result, i) for i in range(len(xs))]


class _Lazy:
    """A contribution that is computed when it is wanted: products are not made for constants."""

    __slots__ = ("args", "compute")

    def __init__(self, compute: Any, *args: Any) -> None:
        self.compute, self.args = compute, args


def _for_operand(g: Any, xs: Sequence[Any], words: Sequence[str], result: str, i: int) -> Any:
    """The gradient for operand ``i``: the product of ``g`` with the others, in its letters.

    A letter that stands nowhere else was summed alone, so its axis is repeated; a letter that
    stands twice in the operand picked the diagonal, so the gradient is put there.
    """
    x, word = xs[i], words[i]
    own = "".join(dict.fromkeys(word))
    elsewhere = set(result).union(*(w for j, w in enumerate(words) if j != i))
    known = "".join(c for c in own if c in elsewhere)
    others = [w for j, w in enumerate(words) if j != i]
    sent = einsum(
        f"{','.join([result, *others])}->{known}", g, *(z for j, z in enumerate(xs) if j != i)
    )
    lengths = {c: n for c, n in zip(word, x.shape, strict=True) if n != 1}
    sizes = dict(zip(known, sent.shape, strict=True))
    sent = sent.reshape(tuple(sizes.get(c, 1) for c in own))
    shape = tuple(lengths.get(c, 1) for c in own)
    sent = unbroadcast(
        sent, tuple(1 if s == 1 else n for n, s in zip(shape, sent.shape, strict=True))
    )
    sent = repeated(sent, shape)
    if len(own) == len(word):
        return sent
    places = np.ogrid[tuple(slice(n) for n in shape)]
    index = [places[own.index(c)] for c in word]
    for axis, n in enumerate(x.shape):
        if n == 1:
            index[axis] = np.zeros_like(index[axis])
    return put(sent, x.shape, tuple(index))


class _Einsum(Product):
    __slots__ = ()

    def contributions_to(self, inputs: Any, upstream: Any, out: Any, xs: Any) -> Sequence[Any]:
        given = super().contributions_to(inputs, upstream, out, xs)
        return [lazy if lazy is None else lazy.compute(*lazy.args) for lazy in given]


def _run_einsum(subscripts: str, xs: Sequence[Any]) -> Any:
    xs = alike(xs)
    if len(xs) == 2:
        out = _as_matmul(subscripts, xs)
        if out is not None:
            return out
    try:
        return np.einsum(subscripts, *xs, optimize=len(xs) > 2)
    except ValueError:
        raise _uneven(subscripts, [np.shape(x) for x in xs]) from None


def _uneven(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> Misfit:
    """Which letter stands for axes of different lengths, and where."""
    lengths: dict[str, tuple[int, int]] = {}
    for i, word in enumerate(subscripts.partition("->")[0].split(",")):
        for c, n in zip(word, shapes[i], strict=True):
            before, first = lengths.setdefault(c, (n, i))
            if n != before and 1 not in (n, before):
                return Misfit(
                    f"einsum({subscripts!r}): the letter {c!r} stands for {before} in {{{first}}} "
                    f"of shape {shapes[first]}, and for {n} in {{{i}}} of shape {shapes[i]}"
                )
            if before == 1:
                lengths[c] = n, i
    return Misfit(f"einsum({subscripts!r}) of shapes {' and '.join(map(str, shapes))} do not fit")


def _as_matmul(subscripts: str, xs: Sequence[Any]) -> Any:
    """A product that is a matrix product is computed as one: ten times as fast; else None."""
    left, _, result = subscripts.partition("->")
    first, second = left.split(",")
    summed = [c for c in first if c in second and c not in result]
    if (
        not summed
        or len(set(first)) != len(first)
        or len(set(second)) != len(second)
        or any(c in second for c in first if c not in summed)
        or set(first + second) - set(summed) != set(result)
        or any(xs[0].shape[first.index(c)] != xs[1].shape[second.index(c)] for c in summed)
    ):
        return None
    axes = [first.index(c) for c in summed], [second.index(c) for c in summed]
    out = np.tensordot(xs[0], xs[1], axes)
    order = [c for c in first + second if c not in summed]
    return out.transpose([order.index(c) for c in result])


_EINSUM = _Einsum(
    "einsum", lambda m, *xs, subscripts="": _run_einsum(subscripts, xs), _einsum_rule,
    sentence="Sum of products in Einstein's notation, 'ij,jk->ik'.",
    manual=Manual("", {"xᵢ": "einsum(swapped, g, *others)"},
        ("ij,jk->ik", [[1.0, 2.0]], [[3.0], [4.0]], [[11.0]]),
        args={"subscripts": "A letter for each axis of each operand, -> and those of the result",
            "*operands": "Tensors, arrays or numbers, one for each group of letters; no unit"},
        returns="The lengths of the axes of the letters after ->",
        note="swapped are the letters with those of xᵢ and of the result exchanged: for "
        "'ij,jk->ik' and the first operand, 'ik,jk->ij'. Along a letter that stands in xᵢ alone "
        "the gradient is repeated; of one that stands there twice it goes to the diagonal.",
        raises={"ShapeError": "if letters and axes, or two lengths of a letter, differ",
            "ArgumentValueError": "if the subscripts make no sense"}),
).register()  # fmt: skip


@of_row(_EINSUM)
def einsum(subscripts: str, *operands: Any) -> Any:
    """Sum of products in Einstein's notation: ``einsum("ij,jk->ik", x, y)`` is ``x @ y``."""
    if not isinstance(subscripts, str):
        raise ArgumentTypeError(
            f"einsum({subscripts!r}, …): the first argument is a text 'ij,jk->ik'"
        )
    for z in operands:
        if not hasattr(z, "shape") and not isinstance(z, int | float):
            raise refuse(z, "einsum")
    written = _written_out(subscripts, operands)
    return evaluate_arrays(_EINSUM.cached(subscripts=written), operands)


def _written_out(subscripts: str, operands: Sequence[Any]) -> str:
    """The subscripts with explicit output, and letters in place of an ellipsis."""
    shapes = [np.shape(raw(z)) for z in operands]
    text = subscripts.replace(" ", "")
    left, arrow, result = text.partition("->")
    words = left.split(",")
    if len(words) != len(shapes):
        raise ArgumentValueError(
            f"einsum({subscripts!r}): it names {len(words)} operands, but {len(shapes)} are given"
        )
    free = [c for c in _LETTERS if c not in text]
    batch = ""
    for k, (word, shape) in enumerate(zip(words, shapes, strict=True)):
        if "..." in word:
            extra = len(shape) - (len(word) - 3)
            letters = "".join(free[i] for i in range(extra - 1, -1, -1)) if extra > 0 else ""
            batch = max(batch, letters, key=len)
            words[k] = word.replace("...", letters)
        if len(words[k]) != len(shape):
            raise ShapeError(
                f"einsum({subscripts!r}): {called(operands[k], f'operand {k}')} has shape "
                f"{shape}, its letters are {word!r}"
            )
    joined = "".join(words)
    if arrow:
        result = result.replace("...", batch)
    else:  # implicit: the letters that stand once, in order
        result = batch + "".join(
            sorted(c for c in set(joined) if joined.count(c) == 1 and c not in batch)
        )
    bad = [c for c in joined + result if c not in _LETTERS]
    if bad or len(set(result)) != len(result) or not set(result) <= set(joined):
        raise ArgumentValueError(
            f"einsum({subscripts!r}): the output has each letter once, and only those of the "
            f"operands"
        )
    return f"{','.join(words)}->{result}"


hooks.product = array_dot

"""Layers of neurons, and layers one after the other, in both modes.

``weight`` has the shape (inputs, outputs), so that a layer reads ``x @ weight + bias``.

Read next: ``regularizing.py``.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minigrad.nn.activations import activate, check_activation, gain_of
from minigrad.nn.initializers import constant, draw
from minigrad.nn.inputs import array_input, check_mode, positive_int, scalar_input
from minigrad.nn.module import Module
from minigrad.ops import FUNCTIONS
from minigrad.randomness import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Activation = str | Callable[[Any], Any] | None

__all__ = ["Flatten", "Linear", "MLP", "Sequential"]


class Linear(Module):
    """A layer of neurons: y = x @ weight + bias; in scalar mode yⱼ = dot(wⱼ, x) + bⱼ.

    Args:
        inputs: How many numbers an example has.
        outputs: How many neurons there are.
        bias: Whether each neuron adds a number of its own, 0 at the start.
        init: How weights start; see ``initializers.py``.
        mode: ``"array"`` (Tensors) or ``"scalar"`` (Values).
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        dtype: Of the arrays; float64 by default.
        name: What pictures call it.

    Shapes: (…, inputs) → (…, outputs); in scalar mode a list of ``inputs`` numbers → a list.

    Raises:
        ArgumentValueError: if a number is below 1, or a name is not known.
        ShapeError: when it is called, if the input has another length.

    >>> layer = Linear(2, 3, mode="scalar", init="ones")
    >>> [y.data for y in layer([1.0, 2.0])]
    [3.0, 3.0, 3.0]
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        bias: bool = True,
        init: Any = "xavier_uniform",
        mode: str = "array",
        rng: Any = None,
        dtype: Any = None,
        name: str | None = None,
    ) -> None:
        self.inputs = positive_int(inputs, "Linear(inputs)")
        self.outputs = positive_int(outputs, "Linear(outputs)")
        self.mode, self.name = check_mode(mode), name
        shape = (self.inputs, self.outputs)
        self.weight = draw(shape, init, shape, rng, mode, dtype)
        self.bias = constant((self.outputs,), 0.0, mode, dtype) if bias else None

    def forward(self, x: Any) -> Any:
        """x @ weight + bias."""
        if self.mode == "scalar":
            return self._neurons(scalar_input(x, "Linear", self.inputs))
        x = array_input(x, "Linear", self.weight._data.dtype)
        if not x.shape or x.shape[-1] != self.inputs:
            hint = ""
            if prod(x.shape[1:]) == self.inputs:
                hint = f"; Flatten() before it gives shape {(x.shape[0], self.inputs)}"
            raise ShapeError(
                f"Linear({self.inputs}, {self.outputs}) takes shape (…, {self.inputs}), but x has "
                f"{x.shape}{hint}"
            )
        if self.bias is None:
            return _products().matmul(x, self.weight)
        return _products().linear(x, self.weight, self.bias)

    def _neurons(self, xs: list[Any]) -> list[Any]:
        dot = FUNCTIONS["dot"]
        sums = [dot(ws, xs) for ws in zip(*self.weight, strict=True)]
        return sums if self.bias is None else [s + b for s, b in zip(sums, self.bias, strict=True)]

    def _words(self) -> str:
        words = f"{self.inputs}, {self.outputs}"
        words += ", bias=False" if self.bias is None else ""
        return words + (", mode='scalar'" if self.mode == "scalar" else "")


@cache
def _products() -> Any:
    """The products of arrays, which need NumPy; an import in every call would take its time."""
    from minigrad.ops import products

    return products


class MLP(Module):
    """A multilayer perceptron: layers of neurons, with an activation after all but the last.

    Args:
        inputs: How many numbers an example has.
        hidden: The numbers of neurons of the hidden layers; a list, or one number.
        outputs: How many numbers come out; it cannot be left out.
        activation: After each hidden layer: a name such as ``"tanh"``, or a function.
        output_activation: After the last layer; None by default, for losses take logits.
        init: How weights start; by default "he_normal" in front of relu and its relatives, else
            "xavier_normal".
        mode: ``"array"`` (Tensors) or ``"scalar"`` (Values).
        rng: Source of random numbers: a seed, a ``random.Random``, or a NumPy ``Generator``.
        dtype: Of the arrays; float64 by default.
        name: What pictures call it.

    Shapes: (…, inputs) → (…, outputs). In scalar mode a list of ``inputs`` numbers → a list of
    Values, or the Value itself where ``outputs`` is 1, as in micrograd.

    Raises:
        ArgumentTypeError: if ``outputs`` is missing.
        ArgumentValueError: if a number is below 1, or a name is not known.
        ShapeError: when it is called, if the input has another length.

    >>> model = MLP(2, [3], 1, mode="scalar", rng=1)
    >>> [name for name, _ in model.named_parameters()][-2:]
    ['layers.1.weight[2,0]', 'layers.1.bias[0]']
    """

    def __init__(
        self,
        inputs: int,
        hidden: int | Sequence[int],
        outputs: int | None = None,
        *,
        activation: Activation = "relu",
        output_activation: Activation = None,
        init: Any = None,
        mode: str = "array",
        rng: Any = None,
        dtype: Any = None,
        name: str | None = None,
    ) -> None:
        widths = list(hidden) if isinstance(hidden, list | tuple) else [hidden]
        if outputs is None:  # micrograd's MLP takes them at the end of the list
            *before, last = widths or [1]
            raise ArgumentTypeError(
                f"MLP(inputs, hidden, outputs): the outputs are an argument of their own, such as "
                f"MLP({inputs!r}, {before}, {last!r})"
            )
        self.activation = check_activation(activation)
        self.output_activation = check_activation(output_activation)
        self.mode, self.name, rng = check_mode(mode), name, generator(rng)
        sizes = [
            positive_int(inputs, "MLP(inputs)"),
            *(positive_int(width, "MLP(hidden)") for width in widths),
            positive_int(outputs, "MLP(outputs)"),
        ]
        after = [activation] * len(widths) + [output_activation]
        self.layers = [
            Linear(n, m, init=init or gain_of(f), mode=mode, rng=rng, dtype=dtype)
            for (n, m), f in zip(pairwise(sizes), after, strict=True)
        ]

    def forward(self, x: Any) -> Any:
        """The layers, one after the other."""
        for layer in self.layers[:-1]:
            x = activate(self.activation, layer(x))
        out = activate(self.output_activation, self.layers[-1](x))
        return out[0] if isinstance(out, list) and len(out) == 1 else out

    def _words(self) -> str:
        end = self.output_activation
        return f"activation={self.activation!r}" + (f", output_activation={end!r}" if end else "")


class Sequential(Module):
    """Modules and functions one after the other: y = fₙ(… f₂(f₁(x))).

    Args:
        *layers: Modules, and activations by name or by function.
        name: What pictures call it.

    Raises:
        ArgumentTypeError: if one of them is neither.
        ArgumentValueError: if there are none, or a name is not known.

    >>> model = Sequential(Linear(2, 3, mode="scalar", init="ones"), "relu")
    >>> [y.data for y in model([1.0, -2.0])]
    [0.0, 0.0, 0.0]
    """

    def __init__(self, *layers: Any, name: str | None = None) -> None:
        if not layers:
            raise ArgumentValueError("Sequential(…) needs layers: Sequential(Linear(2, 3), 'tanh')")
        for layer in layers:
            if isinstance(layer, list | tuple) or layer is None:
                raise ArgumentTypeError(
                    f"Sequential(…): {layer!r} is no layer; write Sequential(*layers) for a list"
                )
            if not isinstance(layer, Module):
                check_activation(layer)
        self.layers, self.name = list(layers), name

    def forward(self, x: Any) -> Any:
        """The layers, one after the other."""
        for layer in self.layers:
            x = layer(x) if isinstance(layer, Module) else activate(layer, x)
        return x

    def _shown(self) -> Iterator[tuple[str, Any]]:
        return ((f"layers.{i}", layer) for i, layer in enumerate(self.layers))

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, index: int) -> Any:
        return self.layers[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.layers)


class Flatten(Module):
    """All axes but the first become one: (N, C, H, W) → (N, C·H·W).

    Args:
        mode: ``"array"``; or ``"scalar"``, where nested lists of one example become one list.
        name: What pictures call it.

    >>> Flatten(mode="scalar")([[1.0, 2.0], [3.0, 4.0]])
    [1.0, 2.0, 3.0, 4.0]
    """

    def __init__(self, *, mode: str = "array", name: str | None = None) -> None:
        self.mode, self.name = check_mode(mode), name

    def forward(self, x: Any) -> Any:
        """The same numbers in a row for each example."""
        if self.mode == "scalar":
            return list(_flat(x.tolist() if hasattr(x, "tolist") else x))
        x = array_input(x, "Flatten")
        if not x.shape:
            raise ShapeError("Flatten keeps the first axis, but x has no axes")
        return x.reshape((x.shape[0], prod(x.shape[1:])))


def _flat(x: Any) -> Iterator[Any]:
    if isinstance(x, list | tuple):
        for part in x:
            yield from _flat(part)
    else:
        yield x

"""The engines side by side: for each, the class that makes its leaves.

micrograd 0.1.0 has + * ** and relu. `tanh` and `exp` are added here in its own style, as closures
that add to the inputs' gradients, so that the same program runs on both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import minigrad as mg

try:
    import micrograd.engine
except ImportError:
    raise SystemExit(
        "the benchmarks measure micrograd too: .venv/bin/pip install -e '.[bench]'"
    ) from None

Micrograd: Any = micrograd.engine.Value


class Engine(NamedTuple):
    """A column of the report: what makes a leaf, and whether nodes remember their source."""

    name: str
    Value: Callable[[float], Any]
    sources: bool = False

    @contextmanager
    def active(self) -> Iterator[None]:
        """Switch source spans as this column wants them, and back."""
        before, mg.options.sources = mg.options.sources, self.sources
        try:
            yield
        finally:
            mg.options.sources = before


MICROGRAD = Engine("micrograd", Micrograd)
SPANS_OFF = Engine("spans off", mg.Value)
SPANS_ON = Engine("spans on", mg.Value, sources=True)


def _tanh(self: Any) -> Any:
    t = math.tanh(self.data)
    out = Micrograd(t, (self,), "tanh")

    def _backward() -> None:
        self.grad += (1 - t**2) * out.grad

    out._backward = _backward

    return out


def _exp(self: Any) -> Any:
    out = Micrograd(math.exp(self.data), (self,), "exp")

    def _backward() -> None:
        self.grad += out.data * out.grad

    out._backward = _backward

    return out


Micrograd.tanh = _tanh
Micrograd.exp = _exp

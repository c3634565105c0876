"""Errors advise what does what was meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, Value
from minigrad.errors import ArgumentTypeError, TraceError
from minigrad.events.file import to_json
from minigrad.events.verify import verify


def test_zeros_and_ones_as_an_index_are_told_to_become_a_mask() -> None:
    x = Tensor([1.0, 3.0])
    for mask in (mg.greater(x, 2.0), np.array([0.0, 1.0])):
        with pytest.raises(ArgumentTypeError, match=r"x\[i\.astype\(bool\)\] takes it for a mask"):
            x[mask]
    with pytest.raises(ArgumentTypeError, match=r"not float64; x\[i\.astype\(int\)\] converts"):
        x[np.array([0.0, 2.0])]
    assert x[mg.greater(x, 2.0).astype(bool)].tolist() == [3.0]


@pytest.mark.parametrize(("name", "call"), [("linalg.inv", np.linalg.inv), ("fft.fft", np.fft.fft)])
def test_a_function_without_a_counterpart_keeps_its_whole_name(name: str, call: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=rf"np\.{name}\(x\.data\) computes"):
        call(Tensor(np.eye(2)))


@pytest.mark.parametrize("x", [Tensor([1.0, 3.0]), Value(2.0), 2.0])
def test_a_bound_that_is_none_is_told_to_be_infinite(x: Any) -> None:
    for low, high in ((None, 1.0), (1.0, None)):
        with pytest.raises(ArgumentTypeError, match="-inf in place of low, or inf in place of"):
            mg.clip(x, low, high)
    assert mg.clip(2.0, -np.inf, 1.0) == 1.0


def test_verify_names_what_makes_the_content_of_a_trace() -> None:
    trace: Any = mg.trace(Value(2.0) * 3.0)
    with pytest.raises(TraceError, match=r"not a Trace; to_json\(t\) gives"):
        verify(trace)
    assert not verify(to_json(trace)).faults

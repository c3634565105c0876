"""The vectorised mode: ``Tensor``, the array set of functions, and the bridge to ``Value``.

Read next: ``tensor.py``.
"""

from __future__ import annotations

from minigrad.tensor.bridge import stack_values, to_values
from minigrad.tensor.expand import expand
from minigrad.tensor.functions import ARRAY_FUNCTIONS
from minigrad.tensor.tensor import Tensor

__all__ = ["ARRAY_FUNCTIONS", "Tensor", "expand", "stack_values", "to_values"]

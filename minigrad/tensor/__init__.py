"""The vectorised mode: ``Tensor``, the array set of functions, and the bridge to ``Value``.

Read next: ``tensor.py``.
"""

from __future__ import annotations

from minigrad.errors import MissingDependencyError

try:
    import numpy as np
except ImportError as error:
    raise MissingDependencyError(
        "arrays need NumPy, which is not installed: pip install numpy"
    ) from error

from minigrad.tensor.bridge import stack_values, to_values
from minigrad.tensor.expand import expand
from minigrad.tensor.functions import ARRAY_FUNCTIONS
from minigrad.tensor.tensor import Tensor

if np.lib.NumpyVersion(np.__version__) < "2.0.0":
    raise MissingDependencyError(f"arrays need NumPy 2.0 or later, not {np.__version__}")

__all__ = ["ARRAY_FUNCTIONS", "Tensor", "expand", "stack_values", "to_values"]

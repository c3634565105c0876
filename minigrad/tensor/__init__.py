"""The vectorised mode: ``Tensor``, the array set of functions, and the bridge to ``Value``.

Read next: ``tensor.py``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from minigrad.elsewhere import FUNCTIONS, missing
from minigrad.errors import MissingDependencyError

if TYPE_CHECKING:
    from typing import NoReturn

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


class _NoFunction(ModuleType):
    """This module, called as PyTorch's function of its name: says what ours is called."""

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise missing("minigrad", "tensor", FUNCTIONS)


sys.modules[__name__].__class__ = _NoFunction

__all__ = ["ARRAY_FUNCTIONS", "Tensor", "expand", "stack_values", "to_values"]

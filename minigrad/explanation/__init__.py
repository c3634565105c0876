"""The chain rule for one input, in words, in symbols and in numbers.

Read next: ``explain.py``.
"""

from minigrad.explanation.arrays import ArrayExplanation
from minigrad.explanation.explain import Explanation, explain

__all__ = ["ArrayExplanation", "Explanation", "explain"]

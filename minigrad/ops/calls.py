"""Calls that do not fit, in our words: which arguments a function has, and what theirs are called.

Read next: ``../elsewhere.py``, the names of other libraries.
"""

from __future__ import annotations

from inspect import signature

from minigrad.elsewhere import wrong_call
from minigrad.ops.evaluate import shown
from minigrad.ops.manual import arguments_of, call_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["checked", "misfit"]


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, with an error of ours for a call that does not fit its arguments.

    A function that is made of a row looks at its arguments itself, and is given back as it is.
    """
    known: Any = function
    if hasattr(known, "__wrapped__"):
        return function

    def call(*xs: Any, **keywords: Any) -> Any:
        try:
            return function(*xs, **keywords)
        except TypeError as error:
            if not misfit(error):
                raise
            names = [name.lstrip("*") for name, _ in arguments_of(function)]
            raise wrong_call(
                known.__name__, shown(xs, keywords), call_of(function), names, keywords
            ) from None

    wrapper: Any = call
    wrapper.__dict__.update(known.__dict__)
    wrapper.__name__ = wrapper.__qualname__ = known.__name__
    wrapper.__module__, wrapper.__doc__ = known.__module__, known.__doc__
    wrapper.unchecked, wrapper.__signature__ = function, signature(function)
    return call


def misfit(error: TypeError) -> bool:
    """Whether Python could not even begin a call: its arguments did not fit.

    To be asked in the function that made the call.
    """
    return error.__traceback__ is not None and error.__traceback__.tb_next is None

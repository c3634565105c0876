"""Checks of the exercises: a line with ✓, or a hint that names the usual mistake.

``check("1.1", answer)`` prints one line. It knows nothing of minigrad: it compares numbers, tries
functions on examples, and looks at the shape of an answer. An answer that is still ``...`` or None,
or a function that is still empty, is "not answered yet". The answers stand in the files of the
lessons, so read on only when you have tried.
"""

from collections import namedtuple
from importlib import import_module

from .tools import CHECKS, Hint, Open, present

for lesson in ("lesson_1", "lesson_2", "lesson_3", "lesson_4"):
    import_module(f".{lesson}", __name__)  # each enters its checks

Verdict = namedtuple("Verdict", "state text")  # state: "right", "wrong" or "open"


def check(exercise, answer, **tools):
    """Print whether an answer is right.

    Args:
        exercise: Its number, such as "1.1".
        answer: A number, some numbers, or a function.
        **tools: What the check needs to try the answer: ``leaf`` makes a leaf from a number,
            ``array`` an array from a list, ``library`` is minigrad.
    """
    print(verdict(exercise, answer, **tools).text)


def verdict(exercise, answer, **tools):
    """Return what ``check`` prints, and the state of the answer.

    Raises:
        LookupError: If there is no such exercise; the message lists those that there are.
    """
    if exercise not in CHECKS:
        raise LookupError(f"there is no exercise {exercise!r}; there is {', '.join(CHECKS)}")
    function, praise = CHECKS[exercise]
    try:
        present(answer)
        function(answer, **tools)
    except Open:
        return Verdict("open", f"· {exercise} not answered yet")
    except Hint as hint:
        return Verdict("wrong", f"✗ {exercise} not yet right. {hint}")
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        return Verdict("wrong", f"✗ {exercise} your answer stopped with an error. {problem}")
    return Verdict("right", f"✓ {exercise} {praise}")

"""What is in force while code runs: recording, warnings, scopes, sources.

Every mode belongs to one thread and one context (``contextvars``) and is restored on exceptions.
Reading a context variable at each operation would cost more than the operation, so all modes
share one module-level counter: while ``special`` is 0, which is nearly always, nobody looks.

A generator that is suspended inside ``with no_grad():`` keeps the block in force for its caller
until it is closed; that is how Python's contexts work.

Read next: ``graph.py``.
"""

from __future__ import annotations

import gc
import sys
from _thread import allocate_lock
from contextvars import ContextVar
from functools import wraps
from itertools import count

from minigrad import source
from minigrad.errors import ArgumentTypeError, ArgumentValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, Protocol, Self, TypeVar

    Open = tuple[tuple[object, Any], ...]
    P = ParamSpec("P")
    R = TypeVar("R")

    class Listener(Protocol):
        """Something that wants to know of every node: a tape, a recorder."""

        def node_made(self, node: Any) -> None: ...


__all__ = [
    "errstate",
    "listen",
    "no_grad",
    "options",
    "pause_gc",
    "recording_enabled",
    "scope",
]

special = 0  # how many blocks are open that concern new nodes, in any thread; and sources, if on
blocks_open = 0  # the blocks alone

_lock = allocate_lock()
_followers: list[Callable[[], None]] = []
# What is in force: the blocks that are open here, innermost last, each with its value. A block that
# ends takes out its own entry, wherever it stands: generators may end in any order.
_recording: ContextVar[Open] = ContextVar("recording", default=())
_errstate: ContextVar[Open] = ContextVar("errstate", default=())
_formula: ContextVar[Open] = ContextVar("formula", default=())
_scope: ContextVar[Open] = ContextVar("scope", default=())
_listeners: ContextVar[Open] = ContextVar("listeners", default=())


def _count(blocks: int, sources: int = 0) -> None:
    global special, blocks_open
    with _lock:  # += is not atomic, and a lost update would switch a mode off
        blocks_open += blocks
        special += blocks + sources
        for changed in _followers:
            changed()


def follow(changed: Callable[[], None]) -> None:
    """Call ``changed()`` now, and whenever ``visitor()`` may give something else."""
    _followers.append(changed)
    changed()


class Block:
    """A mode that is in force inside ``with``; the base of the blocks below.

    It ends with the block, also after an exception. One object may be entered several times,
    nested as well.
    """

    __slots__ = ("_value", "_variable")
    _concerns_nodes = True  # whether a new node must ask for it

    def __init__(self, variable: ContextVar[Open], value: Any) -> None:
        self._variable = variable
        self._value = value

    def __enter__(self) -> Self:
        self._variable.set((*self._variable.get(), (self, self._value)))
        if self._concerns_nodes:
            _count(+1)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._concerns_nodes:
            _count(-1)
        blocks = list(self._variable.get())
        for place in reversed(range(len(blocks))):
            if blocks[place][0] is self:
                del blocks[place]
                break
        self._variable.set(tuple(blocks))


class no_grad(Block):
    """Compute without recording: results are leaves. A context manager and a decorator.

    Raises:
        ArgumentTypeError: when it decorates something that is not a plain function.

    >>> from minigrad import Value
    >>> x = Value(3.0)
    >>> with no_grad():
    ...     y = x * x
    >>> y.data, y.op is None
    (9.0, True)
    """

    __slots__ = ()

    def __init__(self, *misplaced: object) -> None:
        if misplaced:
            raise ArgumentTypeError("no_grad takes no argument: write @no_grad() above a function")
        super().__init__(_recording, False)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return ``function`` wrapped so that nothing in it is recorded, at each call anew."""
        code = getattr(function, "__code__", None)
        if not callable(function) or (code is not None and code.co_flags & 0x2A0):
            # generator, coroutine, async generator: the body runs after the call has returned
            raise ArgumentTypeError(
                f"no_grad() cannot decorate {function!r}: its body would run outside the block; "
                f"write `with no_grad():` inside it"
            )

        @wraps(function)
        def without_recording(*args: P.args, **kwargs: P.kwargs) -> R:
            with no_grad():
                return function(*args, **kwargs)

        return without_recording


class recording(Block):
    """Record inside the block, also within a ``no_grad`` around it: a transform was asked to."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(_recording, True)


class errstate(Block):
    """Say what happens when a nan or an infinity arises: ``"warn"``, ``"raise"`` or ``"ignore"``.

    Raises:
        ArgumentValueError: for another word.

    >>> import minigrad as mg
    >>> with errstate("ignore"):
    ...     mg.log(0.0)
    -inf
    """

    __slots__ = ()
    _concerns_nodes = False

    def __init__(self, action: str) -> None:
        if action not in ("warn", "raise", "ignore"):
            raise ArgumentValueError(
                f"errstate({action!r}): the action is 'warn', 'raise' or 'ignore'"
            )
        super().__init__(_errstate, action)


class scope(Block):
    """Name a part of the program; nodes made inside carry the name, nested ones a path.

    >>> import minigrad as mg
    >>> with scope("layer1"), scope("neuron0"):
    ...     y = mg.Value(2.0) * 3.0
    >>> mg.trace(y).nodes[-1].scope
    'layer1/neuron0'
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ArgumentTypeError(f"scope({name!r}): the name is a text that is not empty")
        self._name = name
        super().__init__(_scope, name)

    def __enter__(self) -> Self:
        outer = current_scope()
        self._value = f"{outer}/{self._name}" if outer else self._name
        return super().__enter__()


class listen(Block):
    """Tell ``listener.node_made(node)`` of every node that is made inside the block."""

    __slots__ = ()

    def __init__(self, listener: Listener) -> None:
        super().__init__(_listeners, listener)


def recording_enabled() -> bool:
    """Whether operations are recorded here (False inside ``no_grad``)."""
    blocks = _recording.get()
    return blocks[-1][1] if blocks else True


def error_action() -> str:
    """The word of the innermost ``errstate``."""
    blocks = _errstate.get()
    return blocks[-1][1] if blocks else "warn"


def watched() -> bool:
    """Whether somebody here is told of new nodes."""
    return bool(_listeners.get())


def listeners() -> list[Any]:
    """Those that are told of new nodes here, innermost last."""
    return [listener for _, listener in _listeners.get()]


def tell_update(*update: Any) -> None:
    """Tell of a step of an optimizer (asked only while ``special`` is not 0).

    Args:
        *update: The parameter, its numbers before, the gradient that the rule got, the learning
            rate, its numbers after, and the name of the rule.
    """
    for listener in listeners():
        told = getattr(listener, "parameter_updated", None)
        if told is not None:
            told(*update)


def current_scope() -> str:
    """The path of scopes that are open here, ``''`` outside all of them."""
    blocks = _scope.get()
    return blocks[-1][1] if blocks else ""


class formula(Block):
    """A formula of a row runs on nodes, to make a gradient that can be differentiated again."""

    __slots__ = ()
    _concerns_nodes = False

    def __init__(self) -> None:
        super().__init__(_formula, True)


def formula_runs() -> bool:
    """Whether a node that becomes a plain number here would make a gradient wrong."""
    return bool(_formula.get())


class pause_gc:
    """Pause Python's garbage collector inside the block; a training step gets up to twice as fast.

    Safe because first-order graphs hold no reference cycles: they are freed by reference counts.

    >>> import gc
    >>> with pause_gc():
    ...     gc.isenabled()
    False
    """

    __slots__ = ("_earlier",)

    def __init__(self) -> None:
        self._earlier: list[bool] = []

    def __enter__(self) -> Self:
        self._earlier.append(gc.isenabled())
        gc.disable()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._earlier.pop():
            gc.enable()


def _interactive() -> bool:
    """Whether somebody is typing: the interactive interpreter, ``python -i``, or IPython."""
    return (
        hasattr(sys, "ps1")
        or bool(sys.flags.interactive)
        or getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)() is not None
    )


class Options:
    """Settings of the whole process, as attributes of ``mg.options``.

    Attributes:
        sources: Whether nodes remember the expression that made them. On in interactive sessions,
            off in scripts; costs about 0.2 microseconds a node.
    """

    __slots__ = ("_chosen", "_recorders")

    def __init__(self) -> None:
        self._chosen = False
        self._recorders = 0  # ``record()`` blocks that are open, in any thread
        self.sources = _interactive()

    @property
    def sources(self) -> bool:
        return self._chosen or self._recorders > 0

    @sources.setter
    def sources(self, on: bool) -> None:
        if not isinstance(on, bool):
            raise ArgumentTypeError(f"options.sources = {on!r}: it is True or False")
        earlier, self._chosen = self._chosen, on
        _count(0, on - earlier)

    def _record(self, change: int) -> None:
        """A block of ``record()`` begins (+1) or ends (-1): inside, sources are on."""
        with _lock:
            self._recorders += change

    def __repr__(self) -> str:
        return f"options(sources={self.sources})"


options = Options()
new_serial = count().__next__  # the serial number of a new node


def visitor() -> Callable[[Any], None] | None:
    """What must be called with each new node, if anything."""
    if not special:
        return None
    return enter if blocks_open else source.mark


def enter(node: Any) -> None:
    """Apply the modes of this context to a node that was just made (while ``special`` is not 0)."""
    if options.sources:
        source.mark(node)
    if not recording_enabled():
        node._row = node._a = node._b = node._x = node._y = node._out = None
        return
    path = current_scope()
    if path:
        node._scope = path
    for _, listener in _listeners.get():
        listener.node_made(node)


def serial_of(node: Any) -> int:
    """The place of a node among all nodes of this process, in the order of making."""
    serial: int = node._serial
    return serial


def scope_of(node: Any) -> str:
    """The scope in which a node was made."""
    return getattr(node, "_scope", "")


def span_of(node: Any) -> source.Span | None:
    """The expression that made a node, if it was recorded."""
    code = getattr(node, "_code", None)
    return None if code is None else source.span(code, node._offset)


def made_at(node: Any) -> str:
    """``' (made at train.py:12)'``, or nothing if that was not recorded."""
    where = span_of(node)
    return f" (made at {source.place(where)})" if where else ""

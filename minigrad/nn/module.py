"""``Module``: a part of a network, with parameters, a state, and other modules inside.

A module of your own makes its parameters and parts in ``__init__`` and says in ``forward`` what it
computes; it finds its parameters by looking at its attributes.

    >>> from minigrad import Value
    >>> class Neuron(Module):
    ...     def __init__(self, count):
    ...         self.w = [Value(0.1) for _ in range(count)]
    ...         self.b = Value(0.0)
    ...     def forward(self, xs):
    ...         return sum((w * x for w, x in zip(self.w, xs)), self.b).tanh()
    >>> neuron = Neuron(2)
    >>> [name for name, _ in neuron.named_parameters()]
    ['w[0]', 'w[1]', 'b']
    >>> neuron.state_dict()
    {'w': [0.1, 0.1], 'b': 0.0}

Read next: ``layers.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from minigrad.elsewhere import ARGUMENTS, LAYERS, rename, unknown_argument
from minigrad.errors import ArgumentTypeError, ArgumentValueError
from minigrad.modes import scope
from minigrad.nn.entries import check_place, entries, shape_of
from minigrad.nn.files import read_state, write_state

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

__all__ = ["Module"]

_TAKES_ANY, _TAKES_KEYWORDS = 0x04, 0x08  # the flags of a code object with *args, **options


class Module:
    """The base of all layers and networks.

    Attributes:
        training: Whether it is being trained; ``Dropout`` and ``BatchNorm`` act on it.
        name: What pictures call it, if it is not part of another module.
        buffers: Names of attributes that are kept in the state but not learned.
    """

    training: bool = True
    name: str | None = None
    buffers: ClassVar[tuple[str, ...]] = ()
    _place: str | None = None  # where it stands in the module around it

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Refuse arguments of other libraries with the word for ours.

        Raises:
            ArgumentTypeError: for one of them that ``__init__`` does not take.
        """
        code = getattr(cls.__init__, "__code__", None)
        if options and code is not None and not code.co_flags & _TAKES_KEYWORDS:
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            for word in options:
                if word in ARGUMENTS and word not in names:
                    raise unknown_argument(cls.__name__, word, ", ".join(names[1:]))
        return super().__new__(cls)

    def __setattr__(self, name: str, thing: Any) -> None:
        """Refuse numbers in the place of a parameter: they would not be learned.

        Raises:
            ArgumentTypeError: says how a parameter gets new numbers.
        """
        old = vars(self).get(name)
        if old is not None and thing is not None:
            check_place(f"{type(self).__name__}.{name}", old, thing)
        super().__setattr__(name, thing)

    def forward(self, *inputs: Any) -> Any:
        """What the module computes; a class of your own defines it."""
        raise NotImplementedError(f"{type(self).__name__} does not define forward(…)")

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Compute, in a scope of the module's name, so that pictures show the layers."""
        if self._place is None:
            self._find_places()
        if len(inputs) > 1:
            self._check_count(len(inputs))
        with scope(self._place or self.name or type(self).__name__):
            return self.forward(*inputs, **options)

    def _check_count(self, count: int) -> None:
        code = getattr(type(self).forward, "__code__", None)
        if code is not None and code.co_argcount == 2 and not code.co_flags & _TAKES_ANY:
            raise ArgumentTypeError(
                f"{type(self).__name__}(x) takes one argument, a list or an array, but {count} "
                f"were given: write model([1.0, 2.0]) for an example of two numbers"
            )

    def _find_places(self) -> None:
        """Tell every module inside where it stands, and name the parameters that have no name."""
        self._place = ""
        for module in self.modules():
            for name, part in module._parts():
                part._place = name
        for name, node in self.named_parameters():
            if node.name is None:
                node.name = name

    # -- what is inside --------------------------------------------------------------------------

    def modules(self) -> list[Module]:
        """This module and all modules inside, each once, outer ones first.

        >>> from minigrad.nn import Linear, Sequential
        >>> [type(m).__name__ for m in Sequential(Linear(2, 3), "tanh", Linear(3, 1)).modules()]
        ['Sequential', 'Linear', 'Linear']
        """
        found: dict[int, Module] = {}
        waiting: list[Module] = [self]
        while waiting:
            module = waiting.pop()
            if id(module) not in found:
                found[id(module)] = module
                waiting.extend(reversed([part for _, part in module._parts()]))
        return list(found.values())

    def _parts(self) -> Iterator[tuple[str, Module]]:
        """The modules directly inside, each once, with the names of where they stand."""
        seen: set[int] = set()
        for name, thing in vars(self).items():
            if not name.startswith("_"):
                yield from _modules_in(thing, name, seen)

    def named_parameters(self) -> list[tuple[str, Any]]:
        """The names and nodes of everything that is learned; shared parameters once.

        Returns:
            Pairs such as ``("layers.0.weight", Tensor)``, or in scalar mode
            ``("layers.0.weight[0,1]", Value)``.
        """
        named: dict[Any, str] = {}
        for entry in entries(self):
            for name, node in entry.nodes():
                named.setdefault(node, name)
        return [(name, node) for node, name in named.items()]

    def parameters(self) -> list[Any]:
        """The nodes that are learned, each once: what an optimizer is given."""
        return [node for _, node in self.named_parameters()]

    def zero_grad(self) -> None:
        """Set ``.grad`` of every parameter to None."""
        for node in self.parameters():
            node.zero_grad()

    # -- training or not -------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Say to all modules inside whether this is training; returns the module."""
        for module in self.modules():
            module.training = bool(mode)
        return self

    def eval(self) -> Self:
        """Say to all modules inside that this is no training: ``train(False)``."""
        return self.train(False)

    # -- state -----------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Copies of all numbers, by name: arrays, or nested lists of floats in scalar mode.

        Both modes have the same names and shapes, so a state of one fits the other.
        """
        return {entry.name: entry.read() for entry in entries(self)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take the numbers of a state; all of them, or none if something does not fit.

        Args:
            state: As ``state_dict`` gives it, of either mode.

        Raises:
            ArgumentTypeError: if ``state`` is no mapping, or holds something that is no number.
            ArgumentValueError: says every name that is missing or too many, and every shape that
                differs.

        >>> from minigrad.nn import Linear
        >>> Linear(2, 3, mode="scalar").load_state_dict({"weight": [[1.0]], "scale": 2.0})
        Traceback (most recent call last):
        ...
        minigrad.errors.ArgumentValueError: the state does not fit Linear, nothing was loaded:
          weight has shape (1, 1), but (2, 3) is needed
          bias is missing
          scale is not known here
        """
        if not hasattr(state, "items"):
            raise ArgumentTypeError(
                f"load_state_dict takes a dict as state_dict() gives it, not "
                f"{type(state).__name__}; model.load(path) reads a file"
            )
        mine = list(entries(self))
        wrong = []
        for entry in mine:
            if entry.name not in state:
                wrong.append(f"{entry.name} is missing")
            elif (shape := shape_of(state[entry.name])) != entry.shape:
                text = "lists of different lengths" if shape is None else f"shape {shape}"
                wrong.append(f"{entry.name} has {text}, but {entry.shape} is needed")
        names = {entry.name for entry in mine}
        wrong += [f"{name} is not known here" for name in state if name not in names]
        if wrong:
            raise ArgumentValueError(
                f"the state does not fit {type(self).__name__}, nothing was loaded:\n  "
                + "\n  ".join(wrong)
            )
        numbers = [entry.convert(state[entry.name]) for entry in mine]
        for entry, data in zip(mine, numbers, strict=True):
            entry.write(data)

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the state to a file, ``.json`` or ``.npz``; returns the path.

        Raises:
            ArgumentValueError: if the name ends otherwise.
            MissingDependencyError: for ``.npz``, if NumPy is not installed.
        """
        return write_state(path, self.state_dict(), type(self).__name__)

    def load(self, path: str | os.PathLike[str]) -> Self:
        """Take the numbers of a file that ``save`` wrote; all of them or none.

        Returns:
            The module.

        Raises:
            ArgumentValueError: if the file is damaged, of another kind or version, or does not fit;
                it says what differs.
            OSError: if it cannot be read.
        """
        self.load_state_dict(read_state(path))
        return self

    # -- text ------------------------------------------------------------------------------------

    def _words(self) -> str:
        """What stands in the brackets of ``repr``."""
        return ""

    def _shown(self) -> Iterable[tuple[str, Any]]:
        """What ``repr`` shows in lines of their own."""
        return self._parts()

    def __repr__(self) -> str:
        lines = []
        for name, part in self._shown():
            lines += f"{name}: {part!r}".splitlines()
        inside = self._words()
        if lines:
            inside = "\n  " + "\n  ".join(([inside] if inside else []) + lines) + "\n"
        return f"{type(self).__name__}({inside})"


rename(Module, LAYERS)


def _modules_in(thing: Any, name: str, seen: set[int]) -> Iterator[tuple[str, Module]]:
    if isinstance(thing, Module):
        if id(thing) not in seen:
            seen.add(id(thing))
            yield name, thing
    elif isinstance(thing, list | tuple):
        for i, part in enumerate(thing):
            yield from _modules_in(part, f"{name}.{i}", seen)
    elif isinstance(thing, dict):
        for key, part in thing.items():
            yield from _modules_in(part, f"{name}.{key}", seen)

"""The entries of a model's state: what it has learned, by name, in the shape of its attributes.

The attribute ``weight`` of ``model.layers[0]`` is the entry ``layers.0.weight``, whether it is a
``Tensor`` or nested lists of ``Value``s; so both modes have the same entries. Attributes that begin
with an underscore are nobody else's business, and computed nodes are no parameters.

Read next: ``files.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError
from minigrad.graph import Node
from minigrad.ops.evaluate import brief

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Entry", "check_place", "entries", "shape_of"]


class Entry:
    """One parameter or buffer: a Tensor, a Value, nested lists of Values, or a plain array.

    Attributes:
        name: ``layers.0.weight``.
        shape: The lengths of its axes.
        is_buffer: Whether it is kept, but not learned.
    """

    __slots__ = ("_owner", "_thing", "is_buffer", "name", "shape")

    def __init__(self, name: str, thing: Any, shape: tuple[int, ...], owner: Any = None) -> None:
        self.name, self.shape, self._thing = name, shape, thing
        self._owner, self.is_buffer = owner, owner is not None

    def nodes(self) -> Iterator[tuple[str, Any]]:
        """The parameters of the entry, each with its name: ``bias[3]``, ``weight[0,1]``."""
        if self.is_buffer:
            return
        if isinstance(self._thing, Node):
            yield self.name, self._thing
            return
        for index, node in _elements(self._thing, ()):
            yield f"{self.name}[{','.join(map(str, index))}]", node

    def read(self) -> Any:
        """The numbers: an array of their own, a float, or nested lists of floats."""
        thing = self._thing
        if isinstance(thing, Node):
            return thing._data.copy() if hasattr(thing, "shape") else thing._data
        return thing.copy() if hasattr(thing, "shape") else _numbers(thing)

    def convert(self, data: Any) -> Any:
        """``data`` as this entry takes it, without taking it.

        Raises:
            ArgumentTypeError: if it holds something that is no real number.
        """
        thing = self._thing
        if hasattr(thing, "shape"):
            from minigrad.tensor.arguments import array_of

            out = array_of(getattr(data, "_data", data), self.name)
            return out.astype(thing.dtype)
        data = data.tolist() if hasattr(data, "tolist") else data
        return _floats(data, self.name)

    def write(self, data: Any) -> None:
        """Take numbers that ``convert`` has seen."""
        if self.is_buffer:
            setattr(self._owner, self.name.rpartition(".")[2], data)
        elif isinstance(self._thing, Node):
            self._thing.data = data  # type: ignore[attr-defined]
        else:
            for index, node in _elements(self._thing, ()):
                number = data
                for i in index:
                    number = number[i]
                node.data = number


def entries(module: Any, prefix: str = "", seen: set[int] | None = None) -> Iterator[Entry]:
    """Everything that belongs to the state of a module; shared parts once, by their first name.

    Args:
        module: A ``Module``, and its attributes in the order of their making.
        prefix: The name of ``module`` and a dot.
        seen: The ``id`` of what was met before.
    """
    seen = set() if seen is None else seen
    if id(module) in seen:
        return
    seen.add(id(module))
    for name, thing in vars(module).items():
        if name in type(module).buffers:
            yield Entry(prefix + name, thing, shape_of(thing) or (), module)
        elif not name.startswith("_"):
            yield from _entries_of(thing, prefix + name, seen)


def _entries_of(thing: Any, name: str, seen: set[int]) -> Iterator[Entry]:
    if isinstance(thing, Node):
        if _is_parameter(thing) and id(thing) not in seen:
            seen.add(id(thing))
            yield Entry(name, thing, getattr(thing, "shape", ()))
    elif isinstance(thing, list | tuple):
        nodes = [node for _, node in _elements(thing, ())]
        if nodes and all(isinstance(n, Node) and not hasattr(n, "shape") for n in nodes):
            shape = shape_of(thing)
            if shape and all(map(_is_parameter, nodes)):  # a shape that is even, of Values alone
                if not seen.issuperset(map(id, nodes)):
                    seen.update(map(id, nodes))
                    yield Entry(name, thing, shape)
                return
        for i, part in enumerate(thing):
            yield from _entries_of(part, f"{name}.{i}", seen)
    elif isinstance(thing, dict):
        for key, part in thing.items():
            yield from _entries_of(part, f"{name}.{key}", seen)
    elif hasattr(type(thing), "buffers") and hasattr(thing, "forward"):
        yield from entries(thing, f"{name}.", seen)


def check_place(name: str, old: Any, new: Any) -> None:
    """Refuse what is no parameter in the place of one: a node of the other mode, or numbers.

    Args:
        name: Of the attribute.
        old: What it is.
        new: What it shall be.

    Raises:
        ArgumentTypeError: says how a parameter gets new numbers.
    """
    parts = [node for _, node in _elements(old, ())]
    if not parts or not all(isinstance(node, Node) and _is_parameter(node) for node in parts):
        return
    array = hasattr(parts[0], "shape")
    if all(
        hasattr(part, "forward") or (isinstance(part, Node) and hasattr(part, "shape") == array)
        for _, part in _elements(new, ())
    ):
        return
    kind, word = "a list of Values", name.rpartition(".")[2]
    fix = f'load_state_dict(state_dict() | {{"{word}": numbers}})'
    if isinstance(old, Node):
        kind, fix = "a Tensor" if array else "a Value", f"{word}.data = numbers"
    raise ArgumentTypeError(
        f"{name} is a parameter, {kind}; {brief(new)} in its place would not be learned with the "
        f"others. {fix} gives it other numbers"
    )


def _is_parameter(node: Node) -> bool:
    dtype = getattr(node._data, "dtype", None)
    return node.op is None and (dtype is None or dtype.kind == "f")


def _elements(thing: Any, index: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    if isinstance(thing, list | tuple):
        for i, part in enumerate(thing):
            yield from _elements(part, (*index, i))
    else:
        yield index, thing


def shape_of(data: Any) -> tuple[int, ...] | None:
    """The lengths of the axes of an array or of nested lists; None if they are uneven."""
    if hasattr(data, "shape"):
        return tuple(data.shape)
    if not isinstance(data, list | tuple):
        return ()
    shapes = {shape_of(part) for part in data}
    if len(shapes) > 1 or None in shapes:
        return None
    inner = shapes.pop() if shapes else ()
    return None if inner is None else (len(data), *inner)


def _numbers(thing: Any) -> Any:
    if isinstance(thing, list | tuple):
        return [_numbers(part) for part in thing]
    return thing._data if isinstance(thing, Node) else thing


def _floats(data: Any, what: str) -> Any:
    if isinstance(data, list | tuple):
        return [_floats(part, what) for part in data]
    data = data._data if isinstance(data, Node) else data
    if isinstance(data, str | bytes) or not hasattr(data, "__float__"):
        raise ArgumentTypeError(f"{what}: {data!r} is no number")
    return float(data)

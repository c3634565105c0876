"""What micrograd and PyTorch call otherwise: their names and ours, in one table.

Who comes from there types what they know. The error that follows says what it is called here.

Read next: ``protocol.py``, which hangs these names on the nodes.
"""

from __future__ import annotations

from minigrad.errors import ArgumentTypeError, RenamedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from typing import Any, NoReturn

__all__ = [
    "ARGUMENTS",
    "FUNCTIONS",
    "KEYWORDS",
    "LAYERS",
    "NODES",
    "PARTS",
    "TENSORS",
    "missing",
    "rename",
    "unknown_argument",
    "wrong_call",
]

NODES = {  # attributes of every node
    "_prev": ("micrograd", ".inputs"),
    "_op": ("micrograd", ".op.name"),
    "_backward": (
        "micrograd",
        ".local_derivatives(i), which backward() multiplies by the upstream gradient",
    ),
    "label": ("micrograd", ".name"),
    "requires_grad": ("PyTorch", "no choice: every leaf of floats gets a gradient"),
}
TENSORS = {  # attributes of arrays
    "view": ("PyTorch", ".reshape(…)"),
    "unsqueeze": ("PyTorch", ".expand_dims(axis)"),
    "permute": ("PyTorch", ".transpose(…)"),
}
LAYERS = {  # attributes of modules
    "neurons": ("micrograd", ".weight and .bias; neuron j has column j and number j of them"),
}
_FUNCTION = "(predictions, targets), a function"
PARTS = {  # names in mg.nn
    "Neuron": ("micrograd", "mg.nn.Linear(inputs, 1, mode='scalar')"),
    "Layer": ("micrograd", "mg.nn.Linear(inputs, outputs, mode='scalar')"),
    "ReLU": ("PyTorch", "'relu' in mg.nn.Sequential, and mg.relu"),
    "Tanh": ("PyTorch", "'tanh' in mg.nn.Sequential, and mg.tanh"),
    "Sigmoid": ("PyTorch", "'sigmoid' in mg.nn.Sequential, and mg.sigmoid"),
    "Softmax": ("PyTorch", "'softmax' in mg.nn.Sequential, and mg.softmax"),
    "MSELoss": ("PyTorch", f"mg.nn.mse_loss{_FUNCTION}"),
    "CrossEntropyLoss": ("PyTorch", f"mg.nn.cross_entropy{_FUNCTION}"),
    "BCEWithLogitsLoss": ("PyTorch", f"mg.nn.bce_with_logits{_FUNCTION}"),
    "BatchNorm1d": ("PyTorch", "mg.nn.BatchNorm"),
}
ARGUMENTS = {  # of functions and classes
    "label": "name=",
    "_children": "recorded by the operation",
    "_op": "recorded by the operation",
    "requires_grad": "true of every leaf of floats",
    "nin": "inputs", "nout": "outputs", "nouts": "hidden and outputs",
    "nonlin": "an activation after the layer",
    "in_features": "inputs", "out_features": "outputs",
    "seed": "rng=", "random_state": "rng=", "test_size": "test=",
}  # fmt: skip

KEYWORDS = {  # of functions of arrays; ours is the first that the function has
    "dim": ("PyTorch", ("axis",)),
    "dims": ("PyTorch", ("axis", "axes")),
    "keepdim": ("PyTorch", ("keepdims",)),
    "correction": ("PyTorch", ("ddof",)),
    "unbiased": ("PyTorch", ("ddof",)),
    "diagonal": ("PyTorch", ("k",)),
    "equation": ("PyTorch", ("subscripts",)),
    "index": ("PyTorch", ("indices",)),
    "input": ("PyTorch", ("x", "predictions")),
    "shifts": ("PyTorch", ("shift",)),
    "size": ("PyTorch", ("shape",)),
    "split_size_or_sections": ("PyTorch", ("indices_or_sections",)),
    "target": ("PyTorch", ("targets",)),
    "tensors": ("PyTorch", ("arrays",)),
    "a": ("NumPy", ("x",)),
    "a_min": ("NumPy", ("low",)), "min": ("NumPy", ("low",)),
    "a_max": ("NumPy", ("high",)), "max": ("NumPy", ("high",)),
    "ary": ("NumPy", ("x",)),
    "array": ("NumPy", ("x",)),
    "newshape": ("NumPy", ("shape",)),
}  # fmt: skip
FUNCTIONS = {  # names in minigrad
    "tensor": ("PyTorch", "mg.Tensor([…])"),
    "array": ("NumPy", "mg.Tensor([…])"),
    "cat": ("PyTorch", "mg.concatenate([…])"),
    "permute": ("PyTorch", "mg.transpose(x, axes)"),
    "unsqueeze": ("PyTorch", "mg.expand_dims(x, axis)"),
    "clamp": ("PyTorch", "mg.clip(x, low, high)"),
}


def wrong_call(
    name: str, given: Iterable[str], call: str, known: Container[str], words: Iterable[str]
) -> ArgumentTypeError:
    """The error for a call that does not fit, with what the words in it are called here.

    Args:
        name: What was called.
        given: The arguments, as they are shown.
        call: How it is called.
        known: The names of its arguments.
        words: The keywords that were given.

    >>> print(wrong_call("mean", ["x", "dim=0"], "mean(x, axis=None)", ["x", "axis"], ["dim"]))
    mean(x, dim=0): the call is mean(x, axis=None); dim= is PyTorch's name, here it is axis=
    """
    text = f"{name}({', '.join(given)}): the call is {call}"
    for word in words:
        whose, names = KEYWORDS.get(word, ("", ()))
        ours = next((x for x in names if x in known), None)
        if ours is not None and word not in known:
            text += f"; {word}= is {whose}'s name, here it is {ours}="
    return ArgumentTypeError(text)


def unknown_argument(what: str, word: str, known: str) -> ArgumentTypeError:
    """The error for an argument that there is not, with what it is called here.

    >>> print(unknown_argument("split", "test_size", "test and stratify"))
    split(…, test_size=…): the arguments are test and stratify; test_size is test= here
    """
    hint = f"; {word} is {ARGUMENTS[word]} here" if word in ARGUMENTS else ""
    return ArgumentTypeError(f"{what}(…, {word}=…): the arguments are {known}{hint}")


def rename(kind: Any, table: Mapping[str, tuple[str, str]]) -> None:
    """Give a class the attributes of other libraries, as properties that say what ours are."""
    for theirs, (whose, ours) in table.items():
        setattr(kind, theirs, _renamed(theirs, whose, ours))


def _renamed(theirs: str, whose: str, ours: str) -> property:
    def explain(self: Any) -> NoReturn:
        raise RenamedError(f".{theirs} is {whose}'s name; here it is {ours}")

    return property(explain, lambda self, value: explain(self))


def missing(module: str, name: str, table: Mapping[str, tuple[str, str]]) -> AttributeError:
    """The error for a name that a module does not have."""
    if name in table:
        whose, ours = table[name]
        return RenamedError(f"{name} is {whose}'s name; here it is {ours}")
    return AttributeError(f"module {module!r} has no attribute {name!r}")

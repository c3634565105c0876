"""Every error and warning of minigrad, as one tree.

An error says what happened with the learner's numbers, why, and what to do. Where people would
catch a Python class, ours inherits it, so ``except TypeError`` keeps working.

    MinigradError
    ├── ArgumentTypeError (TypeError)       data of a kind that cannot be differentiated
    ├── ArgumentValueError (ValueError)     a value, an option or a name that is not accepted
    │   └── ShapeError                      shapes of arrays that do not fit together
    ├── GradientError                       a gradient that cannot be computed or stored
    │   ├── StaleError                      a leaf changed after the graph was recorded
    │   ├── GraphCycleError                 a node that depends on itself
    │   └── OperationError                  a formula of an operation raised; names op, input, line
    ├── DefinitionError (ValueError)        a row of the table that contradicts itself
    ├── UnknownOperationError (LookupError) a name that is not in the table
    ├── NumericalError (ArithmeticError)    nan or inf under ``errstate("raise")``
    ├── PicklingError (TypeError)           a node with history cannot be pickled
    ├── ExpressionError (ValueError)        text that is not an allowed expression
    ├── TraceError (ValueError)             a trace file that is damaged, or cannot be used
    ├── PictureError (ValueError)           a picture that cannot be drawn or saved
    ├── RenamedError (AttributeError)       a name of another library; says ours
    └── MissingDependencyError (ImportError) an optional package; says what to install

    MinigradWarning (UserWarning)
    ├── NumericalWarning (RuntimeWarning)   nan or inf arose here
    ├── DetachedWarning                     a node became a plain number and left the graph
    ├── ComparisonWarning                   ``node == 3`` compares identity
    ├── LogitsWarning                       a loss that takes logits was given probabilities
    └── MissingGradientWarning              there is no gradient where one is needed

Read next: nothing; this is the bottom of the tree.
"""

from __future__ import annotations

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "ComparisonWarning",
    "DefinitionError",
    "DetachedWarning",
    "ExpressionError",
    "GradientError",
    "GraphCycleError",
    "LogitsWarning",
    "MinigradError",
    "MinigradWarning",
    "MissingDependencyError",
    "MissingGradientWarning",
    "NumericalError",
    "NumericalWarning",
    "OperationError",
    "PicklingError",
    "PictureError",
    "RenamedError",
    "ShapeError",
    "StaleError",
    "TraceError",
    "UnknownOperationError",
]


class MinigradError(Exception):
    """The root: ``except MinigradError`` catches everything that minigrad raises on purpose."""


class ArgumentTypeError(MinigradError, TypeError):
    """The argument is of a kind that cannot be differentiated, such as ``str`` or ``None``."""


class ArgumentValueError(MinigradError, ValueError):
    """The argument is of the right kind, but its value is not accepted."""


class ShapeError(ArgumentValueError):
    """The shapes of arrays do not fit together; the message says which, and what would."""


class GradientError(MinigradError):
    """The gradient cannot be computed, or cannot be stored where it belongs."""


class StaleError(GradientError):
    """A leaf got a new ``.data`` after the graph was recorded, and the graph is needed as nodes."""


class GraphCycleError(GradientError):
    """A node is among its own inputs, directly or through others: there is no topological order."""


class OperationError(GradientError):
    """A formula of an operation raised an exception, which is kept as ``__cause__``."""


class DefinitionError(MinigradError, ValueError):
    """A row of the table contradicts itself, for example in its number of derivatives."""


class UnknownOperationError(MinigradError, LookupError):
    """No row of the table has this name."""


class NumericalError(MinigradError, ArithmeticError):
    """A nan or an infinity arose while ``errstate("raise")`` was in force."""


class PicklingError(MinigradError, TypeError):
    """A node with history cannot be pickled; ``detach()`` makes a leaf, which can."""


class ExpressionError(MinigradError, ValueError):
    """The text is not an expression that the command line accepts."""


class TraceError(MinigradError, ValueError):
    """A trace file is damaged, of another version, or cannot be read or written."""


class PictureError(MinigradError, ValueError):
    """The picture cannot be drawn or saved as asked."""


class RenamedError(MinigradError, AttributeError):
    """The name belongs to micrograd or PyTorch; the message says what it is called here."""


class MissingDependencyError(MinigradError, ImportError):
    """An optional package is needed; the message says which command installs it."""


class MinigradWarning(UserWarning):
    """The root of all warnings of minigrad."""


class NumericalWarning(MinigradWarning, RuntimeWarning):
    """A nan or an infinity arose at this operation (it is not repeated along the chain)."""


class DetachedWarning(MinigradWarning):
    """A node was turned into a plain number; gradients do not flow through that number."""


class ComparisonWarning(MinigradWarning):
    """A node was compared with a number by ``==``, which asks whether they are the same object."""


class LogitsWarning(MinigradWarning):
    """A loss that applies softmax or sigmoid itself was given the result of one."""


class MissingGradientWarning(MinigradWarning):
    """A gradient of whole numbers was asked for, or a step has no gradient to follow."""

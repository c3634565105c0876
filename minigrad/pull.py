"""What a node sends to its inputs: the two ways in which ``sweep`` asks for it.

``pull`` gives numbers, those that the node recorded; ``pull_graph`` gives nodes, so that the
gradient can be differentiated again. Both ask the same row.

Read next: ``ops/row.py``, ``Op.pull``.
"""

from __future__ import annotations

from minigrad import hooks, modes
from minigrad.errors import MinigradError, OperationError, StaleError
from minigrad.graph import Node, numbers, sources
from minigrad.nothing import NOTHING
from minigrad.ops.evaluate import LEAVES_FLOATS, check_product
from minigrad.ops.floats import IEEEFloat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["failed", "of_learner", "pull", "pull_graph", "quits"]


def pull(node: Node, upstream: Any) -> Sequence[tuple[Any, Any, str]]:
    """The edges of ``node`` in numbers.

    Raises:
        OperationError: if a formula raises; names the operation, its numbers and its line.
    """
    return _ask(node, upstream, node._out, numbers(node))


def pull_graph(node: Node, upstream: Any) -> Sequence[tuple[Any, Any, str]]:
    """The edges of ``node`` as nodes.

    Raises:
        OperationError: if a formula raises.
        StaleError: if a number changed since it was used, so that the node shows another one.
    """
    xs = [
        _total(number) if source is None else _fresh(source, number, node)
        for source, number in zip(sources(node), numbers(node), strict=True)
    ]
    # A formula may pass infinity on its way to a finite number, and must not leave the nodes.
    with modes.errstate("ignore"), modes.formula():
        edges = _ask(node, upstream, _fresh(node, node._out, node), xs)
    op: Any = node._row
    out, went_in = node._out, numbers(node)
    for i, (local, contribution, _) in enumerate(edges):
        if local is None or contribution is NOTHING:
            continue
        if out.__class__ is not float:
            hooks.check_array(op, i, out, went_in, upstream, local, contribution)
        elif isinstance(contribution, Node | float):
            check_product(op, i, out, went_in, _plain(upstream), _plain(local))
    return edges


def _total(number: Any) -> Any:
    """A constant in a formula on nodes: divided by 0 it gives an infinity, and no exception."""
    return IEEEFloat(number) if type(number) is float else number


def _plain(x: Any) -> Any:
    return x._data if isinstance(x, Node) else x


def _fresh(source: Node, number: Any, node: Node) -> Node:
    if source._data is number:
        return source
    same = source._data == number
    if same if isinstance(same, bool) else same.all():  # an array compares element by element
        return source
    raise StaleError(
        f"{source!r} was {number!r} when {node!r} was computed, so this graph cannot be "
        f"differentiated as nodes; compute it again after changing .data"
    )


def _ask(node: Node, upstream: Any, out: Any, xs: Sequence[Any]) -> Sequence[tuple[Any, Any, str]]:
    op: Any = node._row
    try:
        return op.pull(upstream, out, xs, sources(node))  # type: ignore[no-any-return]
    except (MinigradError, Warning):  # a warning, where a filter makes it an error
        raise
    except Exception as error:
        raise failed(node, error) from error


def of_learner(error: Exception) -> bool:
    """Whether a formula raised it that need not be run again, slowly, to say what is wrong.

    Float arithmetic that has no number may have one by the rules of IEEE 754, our own errors say
    which node they are about, and what a fast pass itself stumbles over is not about a formula.
    """
    inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
    return inside and not isinstance(error, (*LEAVES_FLOATS, MinigradError, Warning))


def quits(error: Exception) -> bool:
    """Whether somebody ended a session of ``pdb``."""
    return type(error).__name__ == "BdbQuit"


def failed(node: Node, error: Exception) -> Exception:
    """The error for a formula that raised one: names the operation, its numbers and its line.

    What ends a session of ``pdb`` stays what it is.
    """
    if quits(error):
        return error
    op: Any = node._row
    return OperationError(
        f"the derivative of {op.describe(numbers(node))} raised {type(error).__name__}: "
        f"{error}{modes.made_at(node)}"
    )

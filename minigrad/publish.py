"""The end of a pass: its gradients become ``.grad``, all of them or none.

Read next: ``value.py``, ``backward``.
"""

from __future__ import annotations

from _thread import RLock

from minigrad import hooks
from minigrad.errors import GradientError
from minigrad.graph import Node
from minigrad.nothing import NOTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["publish", "publishing", "restore", "write"]

publishing = RLock()  # one pass at a time adds to the leaves: threads may share them


def publish(order: Sequence[Node], cotangents: dict[Node, Any], as_nodes: bool) -> None:
    """Write the gradients of a pass: added at leaves, in place of the earlier ones elsewhere.

    Args:
        order: The nodes of the pass.
        cotangents: Their gradients.
        as_nodes: Whether they are to be nodes (``create_graph``).

    Raises:
        GradientError: if a number would be added to a node of an earlier pass; nothing is written.
    """
    with publishing:
        gradients = []
        for node in order:
            gradient = cotangents.get(node)
            if gradient is None:
                continue
            if hasattr(node, "_settled"):  # a node that holds an array has rules of its own
                gradient = node._settled(gradient, as_nodes)
                if gradient is None:
                    continue
            elif gradient is NOTHING:
                gradient = 0.0
            if as_nodes and not isinstance(gradient, Node):
                gradient = hooks.constant(gradient)
            if node._row is None and node._grad is not None:
                if isinstance(node._grad, Node) and not as_nodes:
                    raise GradientError(
                        f"{node!r}: .grad is a node of an earlier pass; zero_grad() it"
                    )
                gradient = node._grad + gradient
                if not as_nodes and hasattr(node, "_settled"):
                    gradient = node._settled(gradient, as_nodes)  # NumPy's sum may be a scalar
            gradients.append((node, gradient))
        write(gradients)


def write(gradients: Sequence[tuple[Any, Any]]) -> None:
    """Give each node its gradient; if somebody presses Ctrl-C meanwhile, none of them."""
    nodes = [node for node, _ in gradients]
    before = [node._grad for node in nodes]
    try:
        for node, gradient in gradients:
            node._grad = gradient
    except BaseException:
        restore(nodes, before)
        raise


def restore(nodes: Sequence[Node], gradients: Sequence[Any]) -> None:
    """Give the nodes back the gradients that they had."""
    for node, gradient in zip(nodes, gradients, strict=True):
        node._grad = gradient

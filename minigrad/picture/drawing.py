"""`Drawing`: one picture that shows itself in a notebook, a terminal and a file.

A drawing holds a diagram, that is numbers and text: no nodes of the engine, so keeping a picture
keeps no graph alive. Each form is written when it is asked for.

Read next: `minigrad.picture.diagram`, what a drawing holds; `minigrad.picture.svg`, how it looks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minigrad.errors import ArgumentTypeError, PictureError
from minigrad.events import Trace, trace
from minigrad.formatting import gist
from minigrad.picture.diagram import Diagram, separate_operations
from minigrad.picture.dot import to_dot
from minigrad.picture.fold import fold
from minigrad.picture.html import to_fragment, to_page
from minigrad.picture.sketch import RecordedSketch, Sketch
from minigrad.picture.svg import DIRECTIONS, to_svg
from minigrad.picture.text import to_text
from minigrad.picture.themes import AUTO, CHOICES

if TYPE_CHECKING:
    from minigrad.graph import Node

__all__ = ["Drawing", "draw"]

OPS = ("merged", "separate")
SHOW = ("value", "gradient", "local", "contribution")
OPTIONS = ("ops", "direction", "theme", "show", "max_nodes")
_outputs = count(1)  # tells the notebook outputs of one process apart


class Drawing:
    """A picture of a computation graph.

    Args:
        diagram: What to draw.
        ops: "merged": the operation is part of its result's card, and so is a constant used only
            by it; "separate": boxes of their own.
        direction: "LR", from left to right, or "TB", from top to bottom.
        theme: "light", "dark", "print", or "auto": in a notebook and on an HTML page as dark as
            the page around it, in other files light.
        show: What to write: of "value", "gradient" (on cards), "local", "contribution" (on edges).
        max_nodes: Fold what is repeated until at most so many cards are left; ``None``: never.

    Raises:
        PictureError: If an option has a value that does not exist; the message lists what does.
    """

    __slots__ = ("diagram", "direction", "show", "theme")

    def __init__(
        self,
        diagram: Diagram | Sketch,
        *,
        ops: str = "merged",
        direction: str = "LR",
        theme: str = AUTO,
        show: Sequence[str] = ("value", "gradient"),
        max_nodes: int | None = 150,
    ) -> None:
        _check("ops", ops, OPS)
        _check("direction", direction, DIRECTIONS)
        _check("theme", theme, CHOICES)
        self.show = tuple(show) if isinstance(show, list | tuple) else (show,)
        for part in self.show:
            _check("show", part, SHOW)
        if max_nodes is not None and (not isinstance(max_nodes, int) or max_nodes < 1):
            raise PictureError(f"max_nodes={max_nodes!r}: give a positive int, or None for all.")
        small = fold(diagram, max_nodes)
        self.diagram = separate_operations(small) if ops == "separate" else small
        self.direction, self.theme = direction, theme

    @property
    def svg(self) -> str:
        """The picture as SVG; the same bytes in every process."""
        return self._svg("", self._fixed_theme)

    @property
    def html(self) -> str:
        """The picture as a page of its own, with a table of the same numbers."""
        return to_page(self.diagram, self._svg("", self.theme), self.theme)

    @property
    def dot(self) -> str:
        """The picture in the DOT language of Graphviz."""
        return to_dot(self.diagram, direction=self.direction, theme=self._fixed_theme,
                      show=self.show)  # fmt: skip

    def __str__(self) -> str:
        """The picture as a tree of text."""
        return to_text(self.diagram, show=self.show)

    __repr__ = __str__  # at the prompt of Python it shows itself as well

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file; its ending says in which form.

        An existing file is replaced, and only when the new one is complete.

        Args:
            path: Ends in .svg, .html, .txt or .dot.

        Returns:
            The path that was written.

        Raises:
            PictureError: If the ending is unknown or the file cannot be written.
        """
        try:
            path = Path(path)
        except TypeError:
            raise PictureError(f"cannot save to {path!r}: give a name such as 'x.svg'.") from None
        writers: dict[str, Callable[[], str]] = {
            ".svg": lambda: self.svg,
            ".html": lambda: self.html,
            ".txt": lambda: str(self) + "\n",
            ".dot": lambda: self.dot,
        }
        writer = writers.get(path.suffix.lower())
        if writer is None:
            ending = f"the ending {path.suffix!r}" if path.suffix else "no ending"
            raise PictureError(
                f"cannot save {str(path)!r}: it has {ending}; a picture can be saved as "
                f"{', '.join(writers)}."
            )
        _write(path, writer())
        return path

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What a notebook shows. No ``image/svg+xml``: an untrusted notebook would hide it."""
        fragment = to_fragment(self.diagram, self._svg(f"mg{next(_outputs)}-", self.theme))
        return {"text/html": fragment, "text/plain": str(self)}

    @property
    def _fixed_theme(self) -> str:
        """For a file that may stand on any page or slide: the same for every reader."""
        return "light" if self.theme == AUTO else self.theme

    def _svg(self, prefix: str, theme: str) -> str:
        return to_svg(self.diagram, direction=self.direction, theme=theme, show=self.show,
                      prefix=prefix)  # fmt: skip


def draw(
    output: Node | Trace | Iterable[Node],
    *,
    seed: float | None = None,
    title: str = "",
    **look: Any,
) -> Drawing:
    """Draw the graph of ``output``, with value and gradient at every node.

    It runs a private pass, so no ``.grad`` is written.

    Args:
        output: A node, several in a list, or a trace.
        seed: ∂output/∂output at the start of the pass, 1.0 by default.
        title: A line above the picture.
        **look: ``ops direction theme show max_nodes``; see `Drawing`.

    Raises:
        PictureError: If an option has a value that does not exist; the message lists what does.
        ArgumentTypeError: If ``output`` is no node.

    >>> from minigrad import Value
    >>> x = Value(3.0, name="x")
    >>> print(draw(x * x + x).diagram.summary())
    Computation graph with 3 nodes and 4 edges. Output v2 = 12.0. Input x = 3.0, gradient 7.0.
    """
    for option in look:
        _check("option", option, OPTIONS)
    if isinstance(output, list | tuple) and not output:
        raise PictureError("draw([]): there is no node to draw.")
    if isinstance(output, Trace):
        record = output
    else:
        outputs: Any = output if isinstance(output, list | tuple) else [output]
        for node in outputs:
            if not hasattr(node, "local_derivatives"):
                raise ArgumentTypeError(
                    f"draw takes a node, several in a list, or a trace, not a "
                    f"{type(node).__name__}; of a model it draws what it computed, model(x)"
                )
        record = trace(*outputs, seed=seed)
    sketch = RecordedSketch(
        record.nodes,
        record.outputs,
        record.gradients,
        record.edges,
        flags=_flags(record),
        title=str(title or ""),
    )
    return Drawing(sketch, **look)


def _flags(record: Trace) -> dict[int, list[str]]:
    flags: dict[int, list[str]] = {}
    for id, numbers in _used_before(record).items():
        flags[id] = [f"stale: {numbers} was used" if numbers else "stale"]
    for node in record.nodes:
        if node.op == "where" and record.nodes[node.inputs[0]].role == "constant":
            flags.setdefault(node.id, []).append("recorded branch")
    if record.error is not None:
        flags.setdefault(record.error[0], []).append("not finite: its derivative raised an error")
    return flags


def _used_before(record: Trace) -> dict[int, str]:
    """Of each card that shows another number than what was computed with: which number that was."""
    used: dict[int, dict[str, None]] = {node.id: {} for node in record.nodes if node.stale}
    for node in record.nodes if used else ():
        for source, number in zip(node.inputs, node.numbers, strict=True):
            if source in used:
                used[source][gist(number)] = None
    for id, numbers in used.items():
        numbers.pop(gist(record.nodes[id].value), None)
    return {id: " and ".join(numbers) for id, numbers in used.items()}


def _check(option: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise PictureError(f"{option}={given!r} is not known; there is "
                           f"{', '.join(map(repr, known))}.")  # fmt: skip


def _write(path: Path, text: str) -> None:
    """Write a neighbour first and rename it, so that nobody ever finds half a file."""
    if path.is_dir():
        raise PictureError(f"cannot save {str(path)!r}: it is a folder.")
    if not path.parent.is_dir():
        raise PictureError(
            f"cannot save {str(path)!r}: there is no folder {str(path.parent)!r}; make it first."
        )
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise PictureError(f"cannot save {str(path)!r}: {error.strerror or error}.") from error

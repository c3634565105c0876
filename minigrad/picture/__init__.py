"""Pictures of computation graphs: as SVG, page, terminal tree or DOT text.

From data to pixels, each step in a module of its own, to be read in this order:

    diagram            cards and the edges between them
    sketch             a diagram from the record of a run
    fold               fewer cards where there are too many
    cards              what a card says and how large it is
    layout             where it stands, and the lines between
    themes, svg        how it looks
    html, script       on a page, alive where scripts run
    text, dot          as a tree of text; as input for Graphviz
    drawing            all of it behind one object: `Drawing`
"""

from minigrad.picture.diagram import Card, Diagram, Edge
from minigrad.picture.drawing import Drawing, draw

__all__ = ["Card", "Diagram", "Drawing", "Edge", "draw"]

"""The colours of a picture: light, dark and print; and "auto", which is light or dark.

Blue is a value, vermillion a gradient, green a local derivative (the Okabe-Ito hues, told apart by
colour-blind readers; darkened or lightened until text has a contrast of at least 4.5 to 1). A
colour never carries a meaning alone: the word stands beside it.

"auto" is written in the colours of "light", with rules beside them (`AUTO_STYLE`) that exchange
each for that of "dark" where the page is dark. Who does not know these rules shows "light".

Read next: `minigrad.picture.svg`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["AUTO", "AUTO_STYLE", "CHOICES", "THEMES", "Theme", "colour_of"]

AUTO = "auto"


class Theme(NamedTuple):
    """Colours as ``#rrggbb``.

    Attributes:
        paper: Behind everything.
        card: Behind the text of a card.
        border: Outline of a card.
        ink: Names.
        quiet: Labels, operations, words in small print.
        badge: Behind the sign of an operation.
        line: Edges.
        value: Numbers that are values.
        gradient: Numbers that are gradients, and contributions to them.
        local: Numbers that are local derivatives.
        leaf: The bar at the side of a leaf.
        warning: Text and outline of what is not finite or stale.
    """

    paper: str
    card: str
    border: str
    ink: str
    quiet: str
    badge: str
    line: str
    value: str
    gradient: str
    local: str
    leaf: str
    warning: str


THEMES = {
    "light": Theme(
        paper="#ffffff", card="#fbfcfe", border="#8794a5", ink="#16202c", quiet="#5a6675",
        badge="#e6ebf2", line="#8794a5", value="#0067a3", gradient="#b04a00", local="#00724f",
        leaf="#0072b2", warning="#a8322a",
    ),
    "dark": Theme(
        paper="#12171e", card="#1c242e", border="#7b8a9e", ink="#f2f5f9", quiet="#a9b5c4",
        badge="#303c4b", line="#7b8a9e", value="#6cc0f5", gradient="#ff9a57", local="#3fcf9f",
        leaf="#56b4e9", warning="#ff8f85",
    ),
    "print": Theme(
        paper="#ffffff", card="#ffffff", border="#000000", ink="#000000", quiet="#333333",
        badge="#ffffff", line="#000000", value="#00446e", gradient="#8a3a00", local="#004d36",
        leaf="#000000", warning="#7a0000",
    ),
}  # fmt: skip
"""The themes by name."""

CHOICES = (AUTO, *THEMES)
"""What can be chosen."""


def colour_of(theme: str, part: str) -> str:
    """A colour for a style sheet: of "auto" both, of which the browser takes one.

    >>> colour_of("dark", "ink"), colour_of("auto", "ink")
    ('#f2f5f9', 'light-dark(#16202c, #f2f5f9)')
    """
    if theme != AUTO:
        return str(getattr(THEMES[theme], part))
    return f"light-dark({colour_of('light', part)}, {colour_of('dark', part)})"


def _auto_style() -> str:
    """Rules that match presentation attributes by their colour: style sheets win over these."""
    light, dark = THEMES["light"], THEMES["dark"]
    pairs = dict(zip(light, dark, strict=True))  # a colour has one partner: a test says so
    rules = [
        f'[{what}="{one}"]{{{what}:light-dark({one},{other})}}'
        for one, other in pairs.items() for what in ("fill", "stroke")
    ]  # fmt: skip
    return "svg{color-scheme:light dark}" + "".join(rules)


AUTO_STYLE = _auto_style()
"""The style sheet that makes a light picture dark on a dark page."""

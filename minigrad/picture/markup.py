"""Text made safe for XML and HTML, at the place where it is written.

Read next: `minigrad.picture.svg` and `minigrad.picture.html`, which write nothing unescaped.
"""

from __future__ import annotations

import re

from minigrad.formatting import visible

__all__ = ["attribute", "escape"]

_HARMLESS = re.compile(r"[\w .,:()+\-×÷−→…·]*").fullmatch  # most text; the test saves time only
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;",
                           "`": "&#96;"})  # fmt: skip


def escape(text: str) -> str:
    """The text as it is to be read, inert in XML and HTML, inside and outside of attributes.

    >>> escape('</script><b>"x' + chr(0))
    '&lt;/script&gt;&lt;b&gt;&quot;x␀'
    """
    if _HARMLESS(text):
        return text
    return visible(text).translate(_ENTITIES)


def attribute(lines: str) -> str:
    """Like `escape`, for text of several lines: the line breaks stay.

    >>> attribute("e < 1\\nvalue 2")
    'e &lt; 1\\nvalue 2'
    """
    if _HARMLESS(lines.replace("\n", " ")):
        return lines
    return "\n".join(map(escape, lines.split("\n")))

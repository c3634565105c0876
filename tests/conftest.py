"""Settings for every test: reproducible random programs, and examples in Markdown."""

import doctest
import os
import re
from typing import Any

from hypothesis import settings

# The machine that runs the tests may be busy, so no example is failed for taking long. In CI the
# examples are the same in every run: a red build is never the luck of the draw.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

collect_ignore = ["benchmarks"]  # timings prove nothing about correctness; run them by hand

_FENCE = re.compile(r"^```.*$", re.MULTILINE)
_parse = doctest.DocTestParser.parse


def _parse_without_fences(self: doctest.DocTestParser, string: str, name: str = "<string>") -> Any:
    """Read a closing ``` as an empty line, where doctest would take it for expected output."""
    return _parse(self, _FENCE.sub("", string), name)


doctest.DocTestParser.parse = _parse_without_fences

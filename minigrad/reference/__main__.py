"""``python3 -m minigrad.reference`` writes ``docs/operations.md`` anew."""

from minigrad.reference.page import main

main()

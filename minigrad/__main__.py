"""``python3 -m minigrad``.

Read next: ``cli/__init__.py``.
"""

import sys

from minigrad.cli import main

sys.exit(main())

"""structlog without rich, which it imports when there is one, for tracebacks in colours that no log of ours has.

That is 4 MB and a tenth of a second in each process.
"""

import sys

_is_here = "rich" in sys.modules
if not _is_here:
    sys.modules["rich"] = None  # type: ignore[assignment]  # what cannot be imported
try:
    import structlog
finally:
    if not _is_here:
        del sys.modules["rich"]

__all__ = ["structlog"]

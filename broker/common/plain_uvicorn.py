"""uvicorn without its command line, which brings click and what starts several processes: 1.5 MB in each server."""

import sys
from types import ModuleType

_COMMAND_LINE = "uvicorn.main"
_is_here = _COMMAND_LINE in sys.modules
if not _is_here:
    _stand_in = ModuleType(_COMMAND_LINE)
    _stand_in.__dict__.update(main=None, run=None, Server=None)
    sys.modules[_COMMAND_LINE] = _stand_in
try:
    import uvicorn
    from uvicorn.server import Server
finally:
    if not _is_here:
        del sys.modules[_COMMAND_LINE]
uvicorn.Server = Server  # type: ignore[misc]

__all__ = ["uvicorn"]

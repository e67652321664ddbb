"""crc32c without its package, which reads its own version: email, zipfile and csv are imported for that.

That is 1.2 MB in each process. The compiled module is all that we use of it.
"""

from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING


def _compiled() -> ModuleType:
    package = find_spec("crc32c")
    found = package and PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if found is None or found.loader is None:
        raise ModuleNotFoundError("No module named 'crc32c._crc32c'", name="crc32c")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from crc32c import crc32c
else:
    crc32c = _compiled().crc32c

__all__ = ["crc32c"]

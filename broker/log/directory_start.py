"""`start.properties`: the id of a log directory, and at which start of its broker it was served last.

A backup of a log directory that is restored whole looks as a stop left it: its checkpoints agree with its logs. What
tells is that ZooKeeper notes a later start of the same directory. An id of its own (as KIP-858's directory.id) keeps
apart a directory that was away for a while, where nothing was served meanwhile, and the copy of an earlier time.
"""

from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from broker.common.errors import StartupError
from broker.common.logs import logger
from broker.log.checkpoints import read_meta_properties, write_meta_properties

START_FILE = "start.properties"
_ID, _NUMBER = "directory.id", "start.number"

_log = logger(__name__)


class DirectoryStart(NamedTuple):
    """A log directory, and the number of the start that served it last; 0 for none."""

    directory_id: str
    number: int


def new_directory_id() -> str:
    return uuid4().hex


def read_directory_start(directory: Path) -> DirectoryStart:
    """Return what is noted in `directory`; a new id without a start if nothing is, or nothing that can be understood.

    Raises OSError.
    """
    try:
        known = read_meta_properties(directory / START_FILE)
        if known:
            return DirectoryStart(known[_ID], int(known[_NUMBER]))
    except (StartupError, KeyError, ValueError) as error:
        _log.warning("start note of a log directory malformed, written again", path=str(directory), reason=str(error))
    return DirectoryStart(new_directory_id(), 0)


def write_directory_start(directory: Path, start: DirectoryStart) -> None:
    """Note `start` durably in `directory`. Raises OSError."""
    write_meta_properties(directory / START_FILE, {_ID: start.directory_id, _NUMBER: str(start.number)})

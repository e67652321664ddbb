"""Ends in ZooKeeper what a killed broker left there.

Killed, a broker leaves its session behind, and with it its registration and perhaps the controller's znode, until the
session times out. The next process on the same log directory holds that directory's lock, so it knows that the old one
is dead, and need not wait: it notes each session it opens beside the logs, and at start closes those it finds noted.
The note holds the session's password, hence its mode 600.

A note only shortens a wait: a disk that refuses it is worth a line in the log and no more. It then goes to the next
directory, so several may have one; closing a session that is long over does no harm.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from broker.common.logs import logger
from broker.zookeeper.session import ZooKeeperSession

NOTE_FILE = "zookeeper-session.json"

_log = logger(__name__)


class SessionNote:
    """The session note in a log directory. `directories` tells which are usable; the caller holds their locks."""

    def __init__(self, directories: Callable[[], Sequence[Path]]):
        self._directories = directories

    def write(self, session: ZooKeeperSession) -> None:
        """Note the session that is open now, in place of an earlier one, so that a power failure finds either."""
        for directory in self._directories():
            try:
                _write(directory / NOTE_FILE, *session.identity)
                return
            except OSError as error:
                _log.warning("zookeeper session not noted", directory=str(directory), reason=str(error))

    def remove(self) -> None:
        """Remove the note of a session that has ended well. If a power failure undoes that, the session is ended once
        more.
        """
        for directory in self._directories():
            _remove(directory / NOTE_FILE)

    async def end_earlier(self, session: ZooKeeperSession) -> None:
        """Have `session` close the noted sessions; others end by their timeout."""
        for directory in self._directories():
            path = directory / NOTE_FILE
            identity = _read(path)
            if identity is not None and await session.end_other(identity):
                _log.info("ended the session of an earlier life", session_id=f"{identity[0]:#x}")
                _remove(path)


def _write(path: Path, session_id: int, password: bytes) -> None:
    temporary = path.with_suffix(".tmp")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump({"session_id": session_id, "password": password.hex()}, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _read(path: Path) -> tuple[int, bytes] | None:
    """Read session id and password; None if there is no usable note."""
    try:
        note = json.loads(path.read_text())
        return note["session_id"], bytes.fromhex(note["password"])
    except FileNotFoundError:
        return None
    except OSError as error:
        _log.warning("earlier zookeeper session unknown", path=str(path), reason=str(error))
        return None
    except (ValueError, KeyError, TypeError):
        _remove(path)
        return None


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("note of a zookeeper session not removed", path=str(path), reason=str(error))

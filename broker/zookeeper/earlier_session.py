"""Ends in ZooKeeper what a killed broker left there.

Killed, a broker leaves its session behind, and with it its registration and perhaps the controller's znode, until the
session times out. The next process on the same log directory holds that directory's lock, so it knows that the old one
is dead, and need not wait: it notes each session it opens beside the logs, and at start closes the one it finds noted.
The note holds the session's password, hence its mode 600.
"""

import json
import os
from pathlib import Path

from broker.common.logs import logger
from broker.zookeeper.session import ZooKeeperSession

NOTE_FILE = "zookeeper-session.json"

_log = logger(__name__)


class SessionNote:
    """The note in a log directory whose lock the caller holds."""

    def __init__(self, directory: Path):
        self._path = directory / NOTE_FILE

    def write(self, session: ZooKeeperSession) -> None:
        """Note the session that is open now, in place of an earlier one, so that a power failure finds either."""
        session_id, password = session.identity
        temporary = self._path.with_suffix(".tmp")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump({"session_id": session_id, "password": password.hex()}, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path)
        self._sync_name()

    def remove(self) -> None:
        """The session has ended as it should. If that is forgotten by a power failure, it is ended once more."""
        self._path.unlink(missing_ok=True)

    def _sync_name(self) -> None:
        directory = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    async def end_earlier(self, session: ZooKeeperSession) -> None:
        """Have `session` close the one that is noted, if any; one that cannot be closed now ends by its timeout."""
        try:
            note = json.loads(self._path.read_text())
            identity = note["session_id"], bytes.fromhex(note["password"])
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError):
            self.remove()
            return
        if await session.end_other(identity):
            _log.info("ended the session of an earlier life", session_id=f"{identity[0]:#x}")
            self.remove()

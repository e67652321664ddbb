"""Doubts log directories that were restored from a backup of before the broker's last start.

Such a directory has logs that end where the backup was made, and nothing in it says so. Its replicas leave the ISRs
that have other members, and follow. Where this broker is the last of an ISR, other replicas may have what was
acknowledged since: see `LostLogs`.

The number of a start is noted in the directory first, then in ZooKeeper, so that a kill in between doubts nothing. What
a directory lost since that start is not seen here: a backup of the present life looks as a kill left it.
"""

import asyncio

from broker.common.logs import logger
from broker.log.manager import LogManager
from broker.zookeeper.directory_starts import read_directory_starts, write_directory_starts
from broker.zookeeper.errors import NotPermitted, OperationRefused, QuotaExceeded
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)


class RestoredDirectories:
    """Compares this broker's log directories with what ZooKeeper notes of them."""

    def __init__(self, store: ClusterStore, broker_id: int, logs: LogManager):
        self._session = store.session
        self._broker_id = broker_id
        self._logs = logs
        self._starts: dict[str, int] = {}

    async def doubt(self) -> None:
        """Have `LogManager.restored` name the logs of restored directories. Raises the errors of ZooKeeper."""
        self._starts = await read_directory_starts(self._session, self._broker_id)
        await asyncio.to_thread(self._logs.doubt_restored, self._starts)

    async def note_start(self) -> None:
        """Note this start, once nothing is left to be done for the doubts. Raises the errors of ZooKeeper."""
        noted = await asyncio.to_thread(self._logs.note_start, self._starts)
        try:
            await write_directory_starts(self._session, self._broker_id, self._starts | noted)
        except (NotPermitted, OperationRefused, QuotaExceeded) as error:
            _log.warning("start not noted: a backup of the log directories may pass for them", reason=str(error))

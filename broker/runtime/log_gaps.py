"""Says, once after a start, which logs lack offsets between two segments: readers pass over them without a word."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from weakref import WeakKeyDictionary

from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.log.gaps import Gap, find_gaps
from broker.log.log import Log
from broker.runtime.replication.hosted_partition import HostedPartition

#: Of the gaps of one log, those that are named in its line.
_NAMED_MAX = 5

_log = logger(__name__)


class LogGaps:
    """Of all logs of a broker. A log is looked at once: what is written later has no gaps."""

    def __init__(self, was_compacted: Callable[[Path, TopicPartition], bool]):
        """`was_compacted`: whether the log of that partition, in that log directory, ever was. May raise OSError."""
        self._was_compacted = was_compacted
        self._found: WeakKeyDictionary[Log, tuple[Gap, ...]] = WeakKeyDictionary()

    def __len__(self) -> int:
        """The gaps that are still in a log, and have not come before its start."""
        return sum(gap.next_offset > log.log_start_offset for log, gaps in self._found.items() for gap in gaps)

    async def look(self, hosted: HostedPartition) -> None:
        """Look at the partition's log, if that was not done, and warn of its gaps."""
        log, partition = hosted.log, hosted.partition.topic_partition
        if log in self._found or log.config.is_compacted or log.is_lent:
            return
        try:
            gaps = await asyncio.to_thread(self._find, log, partition)
        except OSError as error:
            if not log.is_offline:
                _log.info("gaps of the log not looked for yet", partition=str(partition), reason=str(error))
            return
        self._found[log] = gaps
        if gaps:
            _log.warning(
                "offsets are missing between segments: files were lost, or removed by hand",
                partition=str(partition),
                directory=str(log.directory),
                gaps=len(gaps),
                offsets=", ".join(map(str, gaps[:_NAMED_MAX])),
            )

    def _find(self, log: Log, partition: TopicPartition) -> tuple[Gap, ...]:
        if self._was_compacted(log.directory.parent, partition):
            return ()
        return find_gaps(log.segments, log.log_start_offset)

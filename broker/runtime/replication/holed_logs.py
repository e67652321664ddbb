"""Replaces logs that lack offsets between segments by copies of the leaders', before the broker registers.

A segment that was emptied or removed leaves a log that ends where it ended: the broker would join the ISR again, and
lead, without records that were acknowledged. `lost_logs` has taken the broker out of the ISR where another member has
them; such a log is set aside, with all that is in it, and fetched anew. The last member of the ISR keeps its log.
"""

from broker.common.errors import ApiError
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.log.gaps import describe_gaps
from broker.log.manager import LogManager
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)


class HoledLogs:
    """Looks once, when the ISRs in ZooKeeper no longer count on this broker's logs."""

    def __init__(self, store: ClusterStore, broker_id: int, logs: LogManager):
        self._store = store
        self._broker_id = broker_id
        self._logs = logs

    async def set_aside(self) -> None:
        """Set aside what an ISR without this broker has. Raises the errors of `broker.zookeeper.errors`."""
        lost_offsets = self._logs.lost_offsets
        states = await self._store.states(sorted(lost_offsets))
        for partition, state in states.items():
            if await self._is_compacted(partition):
                continue
            missing = describe_gaps(lost_offsets[partition])
            if self._broker_id not in state.isr:
                self._set_aside(partition, f"it lacks the offsets {missing}, and is fetched anew")
            else:
                _log.error(
                    "no other replica is in sync: the log stays without the missing offsets; a backup may have them",
                    partition=str(partition),
                    offsets=missing,
                )

    def _set_aside(self, partition: TopicPartition, reason: str) -> None:
        try:
            self._logs.set_aside_as_stray(partition, reason)
        except ApiError as error:
            _log.error("log without some offsets stays", partition=str(partition), reason=error.message)

    async def _is_compacted(self, partition: TopicPartition) -> bool:
        """Return whether the topic's cleanup.policy explains the gaps; a broker's default is known to the logs."""
        return "compact" in (await self._store.config("topics", partition.topic)).get("cleanup.policy", "")

"""What a broker does before it registers when its logs may lack what they had: it leaves the ISRs it is still in.

Every start compares ZooKeeper's assignment with the logs: a partition's directory that was removed, or one of several
log directories that was replaced or taken out of the configuration, leaves no other trace (KAFKA-14139). Checkpoints
name no partition that was made since they were written, and go with their directory. So a partition whose role had not
arrived when the broker was killed counts as lost as well. That is harmless: another member of the ISR leads it, or the
broker itself in a later epoch, once all others have left the ISR in the same way.

Nobody else can be relied upon to notice that it was away. If the controller dies at the same time, the next one finds
the broker registered, and what leaders write meanwhile names it as before; then it would lead on, or be elected, with a
log that has lost its end. So it corrects the states itself, after its earlier registration is gone and before there is
a new one. What counts as lost is `LogManager.has_whole`'s to say.

Leaders that are about to count the earlier life in are fenced by this: every state is written, even one that needs no
change, and a write to an ISR stands only over the version it was derived from (see `IsrUpdater`).
"""

import asyncio
from collections.abc import Iterable

from broker.common.cluster import LeaderAndIsr, TopicAssignment
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.controller.election import state_after_loss
from broker.log.manager import LogManager
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

_WRITES_AT_ONCE = 64


class LostLogs:
    """Takes this broker out of the ISRs of partitions whose logs are missing, or doubted by `LogManager`."""

    def __init__(self, store: ClusterStore, broker_id: int, logs: LogManager):
        self._store = store
        self._broker_id = broker_id
        self._logs = logs
        self._turn = asyncio.Semaphore(_WRITES_AT_ONCE)

    async def leave_isrs(self, topics: Iterable[TopicAssignment]) -> None:
        """Raises the errors of `broker.zookeeper.errors`; the next start then does it again, whatever was done."""
        lost = [
            TopicPartition(topic.topic, index)
            for topic in topics
            for index, replicas in topic.partitions.items()
            if self._broker_id in replicas
            and not self._logs.has_whole(TopicPartition(topic.topic, index), topic.topic_id)
        ]
        await asyncio.gather(*(self._leave(partition) for partition in lost))
        if self._logs.may_lack_records:
            await asyncio.to_thread(self._logs.note_machine_start)

    async def _leave(self, partition: TopicPartition) -> None:
        async with self._turn:
            found = await self._store.state(partition)
            while found is not None:
                wanted = state_after_loss(found, self._broker_id)
                before, found = found, await self._store.write_isr(partition, wanted)
                if found is not None and found == wanted.at_version(found.zk_version):
                    self._report(partition, before, wanted)
                    return

    def _report(self, partition: TopicPartition, before: LeaderAndIsr, after: LeaderAndIsr) -> None:
        if after.isr != before.isr:
            _log.warning("log may lack records, left the isr", partition=str(partition), isr=str(after.isr))
        elif self._broker_id in after.isr:
            _log.warning("log may lack records that no other replica is known to have", partition=str(partition))

"""What a broker does before it registers when its logs may lack what they had: it leaves the ISRs it is still in.

Nobody else can be relied upon to notice that it was away. If the controller dies at the same time, the next one finds
the broker registered, and what leaders write meanwhile names it as before; then it would lead on, or be elected, with a
log that has lost its end. So it corrects the states itself, after its earlier registration is gone and before there is
a new one. What counts as lost is `LogManager.has_whole`'s to say.

Leaders that are about to count the earlier life in are fenced by this: every state is written, even one that needs no
change, and a write to an ISR stands only over the version it was derived from (see `IsrUpdater`).
"""

import asyncio

from broker.common.cluster import LeaderAndIsr
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.controller.election import state_after_loss
from broker.log.manager import LogManager
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

_WRITES_AT_ONCE = 64


class LostLogs:
    """What is to be done about logs that `LogManager` doubts, once for each time."""

    def __init__(self, store: ClusterStore, broker_id: int, logs: LogManager):
        self._store = store
        self._broker_id = broker_id
        self._logs = logs
        self._turn = asyncio.Semaphore(_WRITES_AT_ONCE)

    @property
    def are_there(self) -> bool:
        return self._logs.may_lack_records

    async def leave_isrs(self) -> None:
        """Raises the errors of `broker.zookeeper.errors`; the next start then does it again, whatever was done."""
        topics = await self._store.topics(await self._store.topic_names())
        lost = [
            TopicPartition(topic.topic, index)
            for topic in topics
            for index, replicas in topic.partitions.items()
            if self._broker_id in replicas
            and not self._logs.has_whole(TopicPartition(topic.topic, index), topic.topic_id)
        ]
        await asyncio.gather(*(self._leave(partition) for partition in lost))
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
            _log.warning("log may lack records that nobody else is known to have", partition=str(partition))

"""Raises the leader epochs of partition states that are older than this broker's logs: ZooKeeper came from a backup.

A leader in such an epoch would write batches of a lower epoch behind those of a higher one; its followers refuse them,
for truncation compares epochs, and the partition would stay under-replicated until elections have made up for it.

The state gets an epoch well above the log's. Other replicas may have seen epochs that this log has not, and a leader
that wrote in one of those would give it two meanings, which no follower could tell apart. Where the backup's epoch is
not older than this log's, nothing here shows that it is a backup.

The partition's leader may run already. It and the controller learn of the epoch as of any that a broker wrote itself:
by an announcement, or when this broker registers.
"""

from collections.abc import Iterable
from dataclasses import replace

from broker.common.cluster import LeaderAndIsr, TopicAssignment
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.log.manager import LogManager
from broker.zookeeper.ask_each import ask_each
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

#: More elections than a partition has between two records of a replica that is not far behind.
_UNSEEN_EPOCHS = 1_000
_LEADER_EPOCH_MAX = 2**31 - 1
#: Of the partitions whose epochs were raised, those that are named in the line.
_NAMED_MAX = 5


class StaleEpochs:
    """The states whose leader epochs this broker's logs are ahead of."""

    def __init__(self, store: ClusterStore, broker_id: int, logs: LogManager):
        self._store = store
        self._broker_id = broker_id
        self._logs = logs

    async def raise_all(self, topics: Iterable[TopicAssignment]) -> dict[TopicPartition, LeaderAndIsr]:
        """Return the states, as they were, of the partitions whose logs here have records.

        Raises the errors of `broker.zookeeper.errors`; the next start then does the rest.
        """
        logged = {
            partition: epoch
            for topic in topics
            for partition in (TopicPartition(topic.topic, index) for index in topic.partitions)
            if self._broker_id in topic.partitions[partition.partition]
            and (epoch := self._latest_epoch(partition)) >= 0
        }
        states = await self._store.states(list(logged))
        stale = [partition for partition, state in states.items() if state.leader_epoch < logged[partition]]

        async def raise_one(partition: TopicPartition) -> bool:
            return await self._raise(partition, states[partition], logged[partition])

        outcomes = zip(stale, await ask_each(raise_one, stale), strict=True)
        raised = [partition for partition, is_raised in outcomes if is_raised]
        if raised:
            _log.warning(
                "leader epochs in ZooKeeper were older than those of logs here, and were raised. If ZooKeeper was "
                "restored from a backup, compare what replicas hold before -stray directories are removed",
                partitions=len(raised),
                first=", ".join(map(str, raised[:_NAMED_MAX])),
            )
        await self._store.announce_isr_changes(raised)
        return states

    def _latest_epoch(self, partition: TopicPartition) -> int:
        log = self._logs.get(partition)
        return -1 if log is None else log.leader_epochs.latest_epoch

    async def _raise(self, partition: TopicPartition, state: LeaderAndIsr, logged_epoch: int) -> bool:
        """Return whether the state has a later epoch than the log by this broker's doing."""
        wanted_epoch = logged_epoch + _UNSEEN_EPOCHS
        if wanted_epoch > _LEADER_EPOCH_MAX:
            _log.error(
                "the log's leader epoch leaves no room for a later one: restore the log from another replica",
                partition=str(partition),
                logged_epoch=logged_epoch,
                epoch=state.leader_epoch,
            )
            return False
        stored: LeaderAndIsr | None = state
        while stored is not None and stored.leader_epoch < logged_epoch:
            wanted = replace(stored, leader_epoch=wanted_epoch)
            stored = await self._store.write_isr(partition, wanted)
            if stored is not None and stored == wanted.at_version(stored.zk_version):
                return True
        return False

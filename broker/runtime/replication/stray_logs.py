"""Finds logs on this broker's disks that belong to no topic, and sets them aside.

A replica that was moved away, or whose topic was deleted, while this broker was down is deleted when the broker is
back, if whoever is controller then still knows of it. If not, its log would stay for ever, and come to life again
should the partition once return. Kafka calls such a log stray (KAFKA-14616) and renames its directory; nothing is
deleted, an operator may look first.

A log counts as stray when this broker was given no role in its partition from one look to the next, and the topic's
znode, read after that, does not name this broker as one of its replicas. A znode that cannot be read says nothing, nor
does one that lacks the partition: topics never lose partitions, so a tool has written too few, and will be corrected.

A topic whose znode lost its id between two controllers, and that is not in the second one's metadata cache, waits for
a broker in sync to restore the id: after each change of controller, brokers look at the znodes of topics in their logs.

A partition that is still in use, of a topic that was deleted while nobody could say so, is in the way of the next topic
of its name. A role in that one is refused, and asked for again; meanwhile the znode tells here which of both there is.
"""

import asyncio

from broker.common.errors import ApiError
from broker.common.logs import logger
from broker.common.types import TopicPartition, may_be_same_topic
from broker.log.manager import LogManager
from broker.runtime.periodic import rounds
from broker.runtime.replication.log_reconciliation import LoggedTopicIds
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.zookeeper.errors import ZooKeeperError
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.znodes import topic_path

_log = logger(__name__)

#: Longer than a controller takes to give a broker that starts all its roles.
_LOOK_EVERY_S = 60.0
#: How long a topic waits at most for an id that brokers know and a new controller does not.
_RESTORE_IDS_EVERY_S = 5.0


class StrayLogs:
    """Looks from `start` to `stop`."""

    def __init__(self, broker_id: int, replicas: ReplicaManager, logs: LogManager, store: ClusterStore):
        self._broker_id = broker_id
        self._replicas = replicas
        self._logs = logs
        self._store = store
        self._topic_ids = LoggedTopicIds(store, broker_id, logs)
        #: The controller epoch in which `_topic_ids` were looked at last.
        self._restored_in = -1
        self._without_role: set[TopicPartition] = set()
        #: Those of them that were reported as missing in their topic's znode.
        self._unnamed: set[TopicPartition] = set()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(rounds(item)) for item in (self._look_after_a_while, self._restore_after_a_while)
        ]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _look_after_a_while(self) -> None:
        await asyncio.sleep(_LOOK_EVERY_S)
        try:
            await self.look()
        except ZooKeeperError as error:
            _log.info("no look for stray logs", reason=str(error))

    async def _restore_after_a_while(self) -> None:
        await asyncio.sleep(_RESTORE_IDS_EVERY_S)
        try:
            await self.restore_ids()
        except ZooKeeperError as error:
            _log.info("no look for lost topic ids", reason=str(error))

    async def look(self) -> None:
        """Set aside what had no role at the last look and now, and is not this broker's. Raises ZooKeeperError."""
        await self.restore_ids()
        await self._let_go_of_earlier_topics()
        without_role = {partition for partition in self._logs.logs if not self._has_role(partition)}
        for partition in sorted(without_role & self._without_role):
            async with self._replicas.taking_roles:
                if not self._has_role(partition) and not await self._is_ours(partition):
                    self._set_aside(partition)
                    without_role.discard(partition)
        self._without_role = without_role
        self._unnamed &= without_role
        await asyncio.to_thread(self._logs.find_strays)

    async def restore_ids(self) -> None:
        """Write ids that znodes have lost, once for each controller. Raises ZooKeeperError."""
        controller_epoch = self._replicas.controller_epoch
        if controller_epoch != self._restored_in:
            await self._topic_ids.restored(sorted({partition.topic for partition in self._logs.logs}))
            self._restored_in = controller_epoch

    async def _let_go_of_earlier_topics(self) -> None:
        doubted = self._replicas.logs.doubted
        for partition in sorted(doubted):
            async with self._replicas.taking_roles:
                topic, hosted = await self._store.topic(partition.topic), self._replicas.get(*partition)
                if topic is not None and hosted is not None and not may_be_same_topic(hosted.topic_id, topic.topic_id):
                    _log.warning("a later topic has its name, not served any more", partition=str(partition))
                    self._replicas.stop_replica(partition, delete=True)
                doubted.discard(partition)

    def _has_role(self, partition: TopicPartition) -> bool:
        """Return whether the partition has a role here, or is being truncated in a former role, or is gone."""
        log = self._logs.get(partition)
        return log is None or log.is_lent or self._replicas.get(*partition) is not None

    async def _is_ours(self, partition: TopicPartition) -> bool:
        topic = await self._store.topic(partition.topic)
        if topic is None:
            return await self._store.has_unreadable_topic(partition.topic)
        if not may_be_same_topic(self._logs.topic_id_of(partition), topic.topic_id):
            return False
        replicas = topic.partitions.get(partition.partition)
        if replicas is None:
            self._report_unnamed(partition)
            return True
        return self._broker_id in replicas

    def _report_unnamed(self, partition: TopicPartition) -> None:
        if partition not in self._unnamed:
            self._unnamed.add(partition)
            _log.error(
                "log stays, and is not served: the topic's znode lacks its partition; write it back into the znode",
                partition=str(partition),
                znode=topic_path(partition.topic),
            )

    def _set_aside(self, partition: TopicPartition) -> None:
        try:
            self._logs.set_aside_as_stray(partition, "no partition of this broker needs it")
        except ApiError as error:
            _log.error("stray log stays where it is", partition=str(partition), reason=error.message)

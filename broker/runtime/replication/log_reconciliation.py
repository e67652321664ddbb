"""Compares the logs on this broker's disks with ZooKeeper before the broker registers, while it has no roles.

1. A topic whose znode has lost its id, or has the same as another topic's, gets the id back that the logs note: all
   brokers may have been down when a tool older than topic ids wrote the znode, and then no controller knows the id.
2. A log that another topic of its name wrote (a directory restored from a backup) is set aside as stray.
3. A state with an older leader epoch than the log (ZooKeeper restored from a backup) gets a later one: `stale_epochs`.
4. The broker leaves the ISRs of partitions whose logs are not here, have lost their end, or lie in a log directory that
   was restored from a backup: see `lost_logs` and `restored_directories`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from uuid import UUID

from broker.common.cluster import TopicAssignment
from broker.common.errors import ApiError, StartupError
from broker.common.logs import logger
from broker.common.types import NO_TOPIC_ID, TopicPartition, may_be_same_topic
from broker.log.manager import LogManager
from broker.runtime.replication.lost_logs import LostLogs
from broker.runtime.replication.replica_logs import set_aside_other_topic
from broker.runtime.replication.restored_directories import RestoredDirectories
from broker.runtime.replication.stale_epochs import StaleEpochs
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.topic_ids import restore_topic_id
from broker.zookeeper.znodes import TOPICS

_log = logger(__name__)


class LogReconciliation:
    """Runs once, between the end of the broker's earlier registration and its next one.

    After a lost session only the topic ids are restored again: no log was lost with it.
    """

    def __init__(
        self, store: ClusterStore, broker_id: int, logs: LogManager, keeps_eligible: Callable[[], bool] = lambda: False
    ):
        """`keeps_eligible`: whether the cluster keeps eligible leader replicas (KIP-966)."""
        self._store = store
        self._logs = logs
        self._topic_ids = LoggedTopicIds(store, broker_id, logs)
        self._stale_epochs = StaleEpochs(store, broker_id, logs)
        self._lost_logs = LostLogs(store, broker_id, logs, keeps_eligible)
        self._restored_directories = RestoredDirectories(store, broker_id, logs)

    async def run(self) -> int:
        """Return the zxid from which on the topic ids are restored: one that is lost later is not. -1 if an id that a
        log notes, or may note, could not be restored: the registration is no proof that none does.

        Raises the errors of `broker.zookeeper.errors`; the next start does all of it again. Raises StartupError if the
        last log directory has failed since the logs were loaded: a broker that registers is given partitions.
        """
        restored_at, topics = await self._restored_topics()
        for topic in topics:
            self._set_aside_other_topics(topic)
        states = await self._stale_epochs.raise_all(topics)
        await self._restored_directories.doubt()
        await self._lost_logs.leave_isrs(topics, states)
        await self._restored_directories.note_start()
        if not self._logs.online_directories:
            raise StartupError("every log directory is offline; mend one (the log says why) and start the broker again")
        return restored_at

    async def restore_topic_ids(self) -> int:
        """Return as `run` does, for a broker whose session was lost: it must take no roles before it has registered.

        Raises the errors of `broker.zookeeper.errors`.
        """
        restored_at, _ = await self._restored_topics()
        return restored_at

    async def _restored_topics(self) -> tuple[int, list[TopicAssignment]]:
        restored_at = await self._store.session.sync(TOPICS)
        topics = await self._topic_ids.restored(await self._store.topic_names())
        return restored_at if self._topic_ids.are_settled else -1, topics

    def _set_aside_other_topics(self, topic: TopicAssignment) -> None:
        for index in topic.partitions:
            partition = TopicPartition(topic.topic, index)
            if not may_be_same_topic(self._logs.topic_id_of(partition), topic.topic_id):
                try:
                    set_aside_other_topic(self._logs, partition, topic.topic_id)
                except ApiError as error:
                    _log.error("log of another topic stays", partition=str(partition), reason=error.message)


class LoggedTopicIds:
    """The topic ids that this broker's logs note, for znodes that have lost theirs."""

    def __init__(self, store: ClusterStore, broker_id: int, logs: LogManager):
        self._store = store
        self._broker_id = broker_id
        self._logs = logs
        #: False if `restored` could not write an id back, or a log in sync that may note one was out of reach.
        self.are_settled = True

    async def restored(self, names: Iterable[str]) -> list[TopicAssignment]:
        """Return these topics, having written ids into znodes where that is due. A topic has NO_TOPIC_ID if none is
        known of it here.
        """
        self.are_settled = True
        topics = await self._store.topics(list(names))
        times_used = Counter(topic.topic_id for topic in topics if topic.has_id)
        shared_ids = {topic_id for topic_id, times in times_used.items() if times > 1}
        return [
            topic if topic.has_id and topic.topic_id not in shared_ids else await self._restore(topic, shared_ids)
            for topic in topics
        ]

    async def _restore(self, topic: TopicAssignment, shared_ids: Collection[UUID]) -> TopicAssignment:
        """Return the topic with the id that most of its logs here note, of those in the ISR; without one if none does.

        A replica outside the ISR has no say, nor has a log in a partition without a state: its topic was made anew. One
        of the ISR that the znode does not name has: the hand that wrote it may have dropped the replicas as well.
        """
        partitions = [TopicPartition(topic.topic, index) for index in topic.partitions]
        noted = {
            partition: topic_id
            for partition in partitions
            if (topic_id := self._logs.noted_topic_id(partition)) is not None
        }
        unseen = {
            partition for partition in partitions if partition not in noted and self._logs.is_out_of_reach(partition)
        }
        states = await self._store.states(sorted(noted.keys() | unseen))
        in_sync = {
            partition
            for partition, state in states.items()
            if self._broker_id in state.leader_candidates or not state.has_known_isr
        }
        votes = Counter(noted[partition] for partition in in_sync - unseen)
        if not votes:
            self.are_settled = self.are_settled and not in_sync
            return replace(topic, topic_id=NO_TOPIC_ID)
        if len(votes) > 1:
            _log.warning("logs note several topic ids", topic=topic.topic, ids=", ".join(map(str, sorted(votes))))
        chosen, _ = max(votes.items(), key=lambda vote: (vote[1], vote[0]))
        restored = await restore_topic_id(self._store, topic.topic, chosen, shared_ids)
        self.are_settled = self.are_settled and (restored is None or restored.has_id)
        return restored or replace(topic, topic_id=NO_TOPIC_ID)

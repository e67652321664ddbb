"""Notes what ZooKeeper says of controllers, brokers and partitions while a run goes on, and answers what it says now.

Watches fire once and may miss what is replaced at once; what is noted is what was there at some time.
"""

from collections.abc import Iterable

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import NoNodeError
from kazoo.recipe.watchers import ChildrenWatch, DataWatch

from broker.common.cluster import LeaderAndIsr
from broker.common.types import TopicPartition
from broker.zookeeper.znodes import (
    BROKER_IDS,
    CONTROLLER,
    CONTROLLER_EPOCH,
    SECRET,
    broker_path,
    decode_controller,
    decode_controller_epoch,
    decode_secret,
    decode_state,
    decode_topic,
    state_path,
    topic_path,
)
from tests.faults.history import BrokersSeen, ControllerSeen, HistoryWriter, StateSeen, now

_NOBODY = -1


class ZooKeeperWatch:
    """A session of its own, from `start` to `close`."""

    def __init__(self, connect: str, history: HistoryWriter):
        self._client = KazooClient(
            hosts=connect, timeout=10, connection_retry={"max_tries": -1, "delay": 0.1, "max_delay": 0.5}
        )
        self._history = history
        self.states: dict[TopicPartition, LeaderAndIsr] = {}

    def start(self) -> None:
        self._client.start(timeout=20)
        for path in (CONTROLLER, CONTROLLER_EPOCH):
            DataWatch(self._client, path, lambda _data, _stat: self._note_controller())
        ChildrenWatch(self._client, BROKER_IDS, lambda _ids: self._note_brokers())

    def close(self) -> None:
        self._client.stop()
        self._client.close()

    @property
    def is_connected(self) -> bool:
        return self._client.state == KazooState.CONNECTED

    def secret(self) -> bytes:
        return decode_secret(self._client.get(SECRET)[0])

    def watch(self, partitions: Iterable[TopicPartition]) -> None:
        """Note every state of these partitions from now on."""
        for partition in partitions:
            DataWatch(self._client, state_path(partition), self._on_state(partition))

    def _on_state(self, partition: TopicPartition):
        def note(data: bytes | None, stat) -> None:
            if data is None:
                return
            state = decode_state(partition, data, stat.version)
            self.states[partition] = state
            seen = StateSeen(
                partition.topic,
                partition.partition,
                state.leader,
                state.leader_epoch,
                list(state.isr),
                state.controller_epoch,
                state.zk_version,
                stat.mzxid,
                now(),
            )
            self._history.note(seen)

        return note

    def _note_controller(self) -> None:
        """Only if epoch and controller were there together."""
        before = self.controller_epoch()
        broker = self.controller()
        if before == self.controller_epoch():
            self._history.note(ControllerSeen(broker, before, now()))

    def _note_brokers(self) -> None:
        ids, stat = self._client.get_children(BROKER_IDS, include_data=True)
        self._history.note(BrokersSeen(sorted(map(int, ids)), stat.pzxid, now()))

    # -- what there is now

    def controller(self) -> int:
        """The broker that is controller, -1 if none is."""
        try:
            return decode_controller(self._client.get(CONTROLLER)[0])
        except NoNodeError:
            return _NOBODY

    def controller_epoch(self) -> int:
        try:
            return decode_controller_epoch(self._client.get(CONTROLLER_EPOCH)[0])
        except NoNodeError:
            return _NOBODY

    def broker_epoch(self, broker_id: int) -> int:
        """czxid of its registration, -1 if it has none."""
        stat = self._client.exists(broker_path(broker_id))
        return stat.czxid if stat else _NOBODY

    def is_moving(self, topic: str, partition: int) -> bool:
        """Whether a reassignment of the partition is under way."""
        assignment = decode_topic(topic, self._client.get(topic_path(topic))[0])
        return partition in assignment.adding or partition in assignment.removing

    def state(self, partition: TopicPartition) -> LeaderAndIsr | None:
        """Read now, not remembered."""
        try:
            data, stat = self._client.get(state_path(partition))
        except NoNodeError:
            return None
        return decode_state(partition, data, stat.version)

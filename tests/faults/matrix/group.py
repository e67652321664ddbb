"""Members of consumer groups that read, commit what they have read, and write both down; and who asks from outside."""

import contextlib
import time
from collections.abc import Iterable

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.faults.history import Assigned, CommitSeen, CommitTried, HistoryWriter, Outcome, now
from tests.faults.load import Worker, seen
from tests.librdkafka import GROUP_IS_JOINED

_COMMIT_EVERY_S = 0.3
_ANSWER_DEADLINE_S = 40


class GroupMember(Worker):
    """Commits, a moment after it has read, exactly up to where it has read."""

    def __init__(
        self,
        group: str,
        name: str,
        topics: list[str],
        bootstrap_servers: str,
        history: HistoryWriter,
        session_timeout_ms: int = 6_000,
    ):
        super().__init__(f"{group}/{name}")
        self._group = group
        self._topics = topics
        self._history = history
        self._next: dict[tuple[str, int], int] = {}
        self.records = 0
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": group,
                "client.id": name,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": session_timeout_ms,
                "heartbeat.interval.ms": 500,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 200,
                "log_level": 0,
                **GROUP_IS_JOINED,
            }
        )

    def _work(self) -> None:
        self._consumer.subscribe(
            self._topics, on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )
        commit_at = time.monotonic() + _COMMIT_EVERY_S
        while not self._stopping.is_set():
            for message in self._consumer.consume(500, 0.1):
                if message.error() is None:
                    self._history.note(seen(self.name, message))
                    self._next[message.topic(), message.partition()] = message.offset() + 1
                    self.records += 1
            if time.monotonic() >= commit_at:
                self._commit()
                commit_at = time.monotonic() + _COMMIT_EVERY_S
        self._commit()
        self._consumer.close()

    def _on_assign(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        given = [[partition.topic, partition.partition] for partition in partitions]
        self._history.note(Assigned(self._group, self.name, given, now()))

    def _on_revoke(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        self._commit()
        self._next.clear()

    def _on_lost(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        self._next.clear()

    def _commit(self) -> None:
        wanted = [TopicPartition(topic, index, offset) for (topic, index), offset in self._next.items()]
        if not wanted:
            return
        began = now()
        try:
            answered = self._consumer.commit(offsets=wanted, asynchronous=False)
            outcomes = {(partition.topic, partition.partition): partition.error for partition in answered}
        except KafkaException as error:
            outcomes = {(partition.topic, partition.partition): error for partition in wanted}
        ended = now()
        for partition in wanted:
            is_committed = outcomes[partition.topic, partition.partition] is None
            if is_committed:
                self._next.pop((partition.topic, partition.partition), None)
            outcome = Outcome.OK if is_committed else Outcome.UNKNOWN
            self._history.note(
                CommitTried(
                    self._group,
                    self.name,
                    partition.topic,
                    partition.partition,
                    partition.offset,
                    outcome,
                    began,
                    ended,
                )
            )


def note_committed(bootstrap_servers: str, group: str, topics: Iterable[str], history: HistoryWriter) -> None:
    """What the group's coordinator says now of all partitions of `topics`; asks until it answers. AssertionError.

    Asks as a client that knows nothing yet: librdkafka's keeps asking a dead coordinator it has once been told of.
    """
    end = time.monotonic() + _ANSWER_DEADLINE_S
    while time.monotonic() < end:
        began = now()
        admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
        with contextlib.suppress(KafkaException, TimeoutError):
            offsets = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(5)
            for partition in offsets.topic_partitions:
                if partition.topic in topics:
                    offset = max(-1, partition.offset)
                    history.note(CommitSeen(group, partition.topic, partition.partition, offset, began, now()))
            return
    raise AssertionError(f"nobody says what {group} has committed, for {_ANSWER_DEADLINE_S} s")

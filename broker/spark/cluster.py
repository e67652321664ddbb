"""What Spark's side asks a cluster: which partitions there are, where they begin and end, the records of a range."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ConsumerPosition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from broker.common.quiet_clients import muted
from broker.common.types import TopicPartition
from broker.spark.offsets import DataLossError, OffsetRange, Offsets

ANSWER_TIMEOUT_S = 5.0
#: How long a range may bring nothing new before its reader gives up.
NO_PROGRESS_TIMEOUT_S = 60.0
#: How long a partition may end before a range that was promised to exist does: a new leader is still catching up.
CATCH_UP_TIMEOUT_S = 10.0
_MESSAGES_PER_CALL = 1_000

#: librdkafka settings, `bootstrap.servers` among them.
ClientConfig = dict[str, Any]


def connect_admin(config: ClientConfig) -> AdminClient:
    plain = {key: value for key, value in config.items() if key != "isolation.level"}
    return AdminClient(muted(plain | {"log.connection.close": False}))


def partitions_of(admin: AdminClient, topics: Iterable[str]) -> list[TopicPartition]:
    """Every partition of the topics; KafkaException when one cannot be described (UNKNOWN_TOPIC_OR_PART: not there)."""
    found: list[TopicPartition] = []
    for topic in topics:
        described = admin.list_topics(topic, timeout=ANSWER_TIMEOUT_S).topics[topic]
        if described.error is not None:
            raise KafkaException(described.error)
        if not described.partitions:
            raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
        found += [TopicPartition(topic, index) for index in sorted(described.partitions)]
    return found


def earliest_offsets(admin: AdminClient, partitions: Iterable[TopicPartition]) -> Offsets:
    return _list_offsets(admin, partitions, OffsetSpec.earliest(), False)


def latest_offsets(admin: AdminClient, partitions: Iterable[TopicPartition], committed_only: bool = False) -> Offsets:
    """The next offset of each partition; `committed_only`: the first offset of an open transaction, if there is one."""
    return _list_offsets(admin, partitions, OffsetSpec.latest(), committed_only)


def _list_offsets(
    admin: AdminClient, partitions: Iterable[TopicPartition], spec: OffsetSpec, committed_only: bool
) -> Offsets:
    question = {ConsumerPosition(topic, partition): spec for topic, partition in partitions}
    if not question:
        return {}
    level = IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED
    answers = admin.list_offsets(question, isolation_level=level, request_timeout=ANSWER_TIMEOUT_S)
    return {TopicPartition(asked.topic, asked.partition): future.result().offset for asked, future in answers.items()}


def create_topic(admin: AdminClient, topic: str, partitions: int, configs: dict[str, str]) -> bool:
    """Create a topic unless it is there; True when it was created. Configs the cluster refuses are left out."""
    if topic in admin.list_topics(timeout=ANSWER_TIMEOUT_S).topics:
        return False
    try:
        _create(admin, NewTopic(topic, partitions, config=configs))
    except KafkaException as error:
        code = error.args[0].code()
        if code == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        if code != KafkaError.INVALID_CONFIG or not configs:
            raise
        return create_topic(admin, topic, partitions, {})
    return True


def _create(admin: AdminClient, topic: NewTopic) -> None:
    admin.create_topics([topic], request_timeout=ANSWER_TIMEOUT_S)[topic.topic].result()


def read_range(config: ClientConfig, wanted: OffsetRange, fail_on_data_loss: bool = True) -> Iterator[list[Message]]:
    """The records of the range in order, in lists; offsets that hold no record (compacted, control) are passed over.

    Raises DataLossError when part of the range is gone and `fail_on_data_loss`, else leaves that part out. Raises
    TimeoutError when the brokers bring nothing new for NO_PROGRESS_TIMEOUT_S.
    """
    reader = _RangeReader(config, wanted, fail_on_data_loss)
    try:
        while not reader.finished:
            messages = reader.next_messages()
            if messages:
                yield messages
    finally:
        reader.close()


class _RangeReader:
    """One consumer on one partition. Its position moves by records, by the end of the partition and by lost parts."""

    def __init__(self, config: ClientConfig, wanted: OffsetRange, fail_on_data_loss: bool):
        self._consumer = Consumer(
            muted({"group.id": "barnabas-spark", "fetch.wait.max.ms": 100, "log.connection.close": False} | config)
            | {
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                "queued.max.messages.kbytes": 16_384,
            }
        )
        self._wanted = wanted
        self._fail_on_data_loss = fail_on_data_loss
        self._trouble = "no error was reported"
        self._assign(wanted.start)

    @property
    def finished(self) -> bool:
        return self._position >= self._wanted.end

    def close(self) -> None:
        self._consumer.close()

    def next_messages(self) -> list[Message]:
        """Records of the range that have arrived, perhaps none yet."""
        records: list[Message] = []
        still_to_come = min(self._wanted.end - self._position, _MESSAGES_PER_CALL)
        for message in self._consumer.consume(still_to_come, 0.2):
            if message.error() is not None:
                self._heed(message)
            else:
                self._move_to(message.offset() + 1)
                if message.offset() < self._wanted.end:
                    records.append(message)
        if not records and not self.finished:
            self._check_deadlines()
        return records

    def _assign(self, offset: int) -> None:
        self._ends_early_since: float | None = None
        self._move_to(offset)
        topic, partition = self._wanted.partition
        self._consumer.assign([ConsumerPosition(topic, partition, offset)])

    def _move_to(self, offset: int) -> None:
        self._position = offset
        self._moved_at = time.monotonic()

    def _heed(self, message: Message) -> None:
        code = message.error().code()
        if code == KafkaError._PARTITION_EOF:
            if message.offset() > self._position:
                self._move_to(message.offset())
            if not self.finished and self._ends_early_since is None:
                self._ends_early_since = time.monotonic()
        elif code == KafkaError._AUTO_OFFSET_RESET:
            self._skip_to_earliest()
        elif code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise KafkaException(message.error())
        else:
            self._trouble = message.error().str()

    def _skip_to_earliest(self) -> None:
        topic, partition = self._wanted.partition
        earliest, latest = self._consumer.get_watermark_offsets(ConsumerPosition(topic, partition), ANSWER_TIMEOUT_S)
        self._lose(f"it begins at {earliest} and ends at {latest}")
        if earliest > self._position:
            self._assign(min(earliest, self._wanted.end))
        else:
            self._move_to(self._wanted.end)

    def _check_deadlines(self) -> None:
        now = time.monotonic()
        if self._ends_early_since is not None and now - self._ends_early_since > CATCH_UP_TIMEOUT_S:
            self._lose(f"it ends at {self._position}")
            self._move_to(self._wanted.end)
        if now - self._moved_at > NO_PROGRESS_TIMEOUT_S:
            raise TimeoutError(
                f"{self._description()}: nothing after {self._position} in {NO_PROGRESS_TIMEOUT_S:g} s; {self._trouble}"
            )

    def _lose(self, finding: str) -> None:
        if self._fail_on_data_loss:
            raise DataLossError(f"{self._description()} is gone at {self._position}: {finding}")

    def _description(self) -> str:
        return f"{self._wanted.partition} from {self._wanted.start} to {self._wanted.end}"

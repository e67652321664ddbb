"""What Spark's side asks a cluster by librdkafka: which partitions there are, where they end, and topics to be made."""

from collections.abc import Iterable
from typing import Any

from confluent_kafka import IsolationLevel, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ConsumerPosition
from confluent_kafka.admin import AdminClient, OffsetSpec
from confluent_kafka.cimpl import NewTopic

from broker.common.quiet_clients import with_quiet_logging
from broker.common.types import TopicPartition
from broker.spark.offsets import Offsets

ANSWER_TIMEOUT_S = 5.0

#: librdkafka settings, `bootstrap.servers` among them.
ClientConfig = dict[str, Any]


def connect_admin(config: ClientConfig) -> AdminClient:
    plain = {key: value for key, value in config.items() if key != "isolation.level"}
    return AdminClient(with_quiet_logging(plain | {"log.connection.close": False}))


def partitions_of(admin: AdminClient, topics: Iterable[str]) -> list[TopicPartition]:
    """Return every partition of the topics; KafkaException if one cannot be described (UNKNOWN_TOPIC_OR_PART:
    missing).
    """
    partitions: list[TopicPartition] = []
    for topic in topics:
        described = admin.list_topics(topic, timeout=ANSWER_TIMEOUT_S).topics[topic]
        if described.error is not None:
            raise KafkaException(described.error)
        if not described.partitions:
            raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
        partitions += [TopicPartition(topic, index) for index in sorted(described.partitions)]
    return partitions


def latest_offsets(admin: AdminClient, partitions: Iterable[TopicPartition], committed_only: bool = False) -> Offsets:
    """Return the next offset of each partition; `committed_only`: the first offset of an open transaction, if there is
    one.
    """
    latest = OffsetSpec.latest()
    question = {ConsumerPosition(topic, partition): latest for topic, partition in partitions}
    if not question:
        return {}
    level = IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED
    answers = admin.list_offsets(question, isolation_level=level, request_timeout=ANSWER_TIMEOUT_S)
    return {
        TopicPartition(partition.topic, partition.partition): future.result().offset
        for partition, future in answers.items()
    }


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

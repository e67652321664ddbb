"""Tells of whole topics in the status topic: which are not copied and why, whose copies differ, which are nobody's now.

A topic that a mirror has left would look as if nobody copied it. So what has been said of it is taken back, one look
later: by then the tasks that copied it have ended.
"""

import time
from collections.abc import Collection, Mapping

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka import TopicPartition as Place

from broker.common.types import TopicPartition
from broker.mirror.status import STATUS_TOPIC, WHOLE_TOPIC, Status, topic_status, understood, written

_READ_S, _POLL_S, _AT_ONCE = 30.0, 1.0, 1_000


class TopicTeller:
    """Of one flow. `client`: settings of confluent-kafka for the target."""

    def __init__(self, flow: str, client: Mapping[str, object]):
        self._flow, self._client = flow, dict(client)
        self._producer = Producer(self._client)
        #: Of what is said that is not taken back; None before it was read.
        self._said: set[TopicPartition] | None = None
        #: Who copied them may speak of them once more.
        self._left: set[TopicPartition] = set()

    def tell(
        self,
        copies: Mapping[str, str],
        assigned: Collection[TopicPartition],
        errors: Mapping[str, str],
        notices: Mapping[str, str],
    ) -> None:
        """`copies`: topic → its copy's name, of all that are chosen. Raises KafkaException."""
        if self._said is None:
            self._said = said_of(self._flow, self._client)
        now_ms = int(time.time() * 1000)
        troubled = {TopicPartition(topic, WHOLE_TOPIC) for topic in errors.keys() | notices.keys()}
        for partition in troubled:
            topic = partition.topic
            self._write(partition, topic_status(copies[topic], errors.get(topic), notices.get(topic), now_ms))
        self._said |= troubled.union(assigned)
        gone = self._said - troubled - set(assigned)
        # Nobody but this one speaks of whole topics; of others whoever copied them until now might once more.
        for partition in {each for each in gone if each in self._left or each.partition == WHOLE_TOPIC}:
            self._write(partition, None)
            self._said.discard(partition)
        self._left = gone & self._said
        self._producer.flush(_READ_S)

    def _write(self, partition: TopicPartition, status: Status | None) -> None:
        key, value = written(self._flow, partition, status)
        self._producer.produce(STATUS_TOPIC, value, key)


def said_of(flow: str, client: Mapping[str, object]) -> set[TopicPartition]:
    """Partitions of which something stands there. Raises KafkaException."""
    own = {"group.id": "mirror", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer({**client, **own, "auto.offset.reset": "earliest"})
    try:
        consumer.assign([Place(STATUS_TOPIC, 0, OFFSET_BEGINNING)])
        found: set[TopicPartition] = set()
        until = time.monotonic() + _READ_S
        while time.monotonic() < until:
            for message in consumer.consume(_AT_ONCE, _POLL_S):
                error = message.error()
                if error is None:
                    _apply(found, flow, message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    return found
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{STATUS_TOPIC} was not read to its end"))
    finally:
        consumer.close()


def _apply(found: set[TopicPartition], flow: str, message: Message) -> None:
    said = understood(message.key(), message.value())
    if said is not None and said[0] == flow:
        (found.add if said[2] is not None else found.discard)(said[1])

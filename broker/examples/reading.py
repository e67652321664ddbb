"""The loop around `poll` that every consumer of the examples has, and where a group goes on after a record."""

import sys
from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition


def read(consumer: Consumer, count: int) -> Iterator[Message]:
    """Yield so many records, waited for, as a topic is that does not exist yet.

    What a consumer cannot get over is raised as KafkaException.
    """
    is_told = False
    while count > 0:
        message = consumer.poll(0.5)
        if message is None:
            continue
        if (error := message.error()) and error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            if not is_told:
                print(f"{error.str()}. Waiting for the topic.", file=sys.stderr)
                is_told = True
            continue
        if error:
            raise KafkaException(error)
        count -= 1
        yield message


def after(message: Message) -> TopicPartition:
    """Return the offset to commit after the message is processed."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if topic is None or partition is None or offset is None:
        raise ValueError("this record was read from nowhere")
    return TopicPartition(topic, partition, offset + 1)

"""The loop around `poll` that every consumer of the examples has, and where a group goes on after a record."""

from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition


def read(consumer: Consumer, count: int) -> Iterator[Message]:
    """So many records, waited for. What a consumer cannot get over is raised as KafkaException."""
    while count > 0:
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        count -= 1
        yield message


def after(message: Message) -> TopicPartition:
    """What to commit once it has been processed."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if topic is None or partition is None or offset is None:
        raise ValueError("this record was read from nowhere")
    return TopicPartition(topic, partition, offset + 1)

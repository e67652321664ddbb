"""Asynchronous commits while it runs, and a synchronous one before it closes.

A commit that failed is made up for by the next; the last one has no next, so it is waited for and tried again.
"""

from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException, TopicPartition

from broker.examples.command_line import parse_options
from broker.examples.reading import read

_TRIES = 3


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    settings = {"group.id": options.group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": options.bootstrap_server, **settings})
    consumer.subscribe([options.topic])
    try:
        for message in read(consumer, options.count):
            print(f"processed: {(message.value() or b'').decode()}")
            consumer.commit(asynchronous=True)
        for position in commit_at_last(consumer):
            print(f"committed: {position.offset} of partition {position.partition}")
    finally:
        consumer.close()


def commit_at_last(consumer: Consumer) -> list[TopicPartition]:
    for left in reversed(range(_TRIES)):
        try:
            return consumer.commit(asynchronous=False) or []
        except KafkaException:
            if not left:
                raise
    return []


if __name__ == "__main__":
    main()

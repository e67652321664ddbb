"""Demo of the slides, a simple consumer: one process reads all partitions of a topic, from the first record on."""

from collections.abc import Sequence

from confluent_kafka import Consumer

from broker.examples.command_line import parse_options
from broker.examples.reading import read


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    settings = {"group.id": options.group, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": options.bootstrap_server, **settings})
    consumer.subscribe([options.topic])
    try:
        for message in read(consumer, options.count):
            value = (message.value() or b"").decode()
            print(f"partition {message.partition()}, offset {message.offset()}: {value}")
    finally:
        consumer.close()  # commits where it is, and leaves the group at once


if __name__ == "__main__":
    main()

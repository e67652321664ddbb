"""A commit for each record: at most one is processed twice after a crash, and it takes its time."""

from collections.abc import Sequence

from confluent_kafka import Consumer

from broker.examples.command_line import parse_options
from broker.examples.reading import read


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    settings = {"group.id": options.group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": options.bootstrap_server, **settings})
    consumer.subscribe([options.topic])
    try:
        for message in read(consumer, options.count):
            print(f"processed: {(message.value() or b'').decode()}")
            consumer.commit(message=message, asynchronous=False)  # waits, and raises what went wrong
    finally:
        consumer.close()


if __name__ == "__main__":
    main()

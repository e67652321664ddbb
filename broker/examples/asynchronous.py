"""Asynchronous sending: records leave in batches, and a callback is told what became of each.

As fast as fire and forget, and nothing is lost without being noticed.
"""

from collections.abc import Sequence

from confluent_kafka import KafkaError, Message, Producer

from broker.examples.command_line import parse_options


def on_delivery(error: KafkaError | None, message: Message) -> None:
    if error is not None:
        print(f"not written: {error.str()}")
    else:
        print(f"written at offset {message.offset()} of partition {message.partition()}")


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    producer = Producer({"bootstrap.servers": options.bootstrap_server, "acks": "all"})
    for number in range(options.count):
        producer.produce(options.topic, f"message {number}", on_delivery=on_delivery)
        producer.poll(0)  # callbacks are called here, and in flush
    producer.flush()


if __name__ == "__main__":
    main()

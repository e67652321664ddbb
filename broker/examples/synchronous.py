"""Synchronous sending: each record is waited for before the next is sent.

Nothing is lost without being noticed, at the price of a round trip for each record.
"""

from collections.abc import Sequence

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from broker.examples.command_line import parse_options


def send(producer: Producer, topic: str, value: str) -> Message:
    """Return the record as it was written. Raises KafkaException if it was not."""
    reports: list[tuple[KafkaError | None, Message]] = []
    producer.produce(topic, value, on_delivery=lambda error, message: reports.append((error, message)))
    producer.flush()
    ((error, message),) = reports
    if error is not None:
        raise KafkaException(error)
    return message


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    producer = Producer({"bootstrap.servers": options.bootstrap_server, "acks": "all", "linger.ms": 0})
    for number in range(options.count):
        written = send(producer, options.topic, f"message {number}")
        print(f"message {number} is at offset {written.offset()} of partition {written.partition()}")


if __name__ == "__main__":
    main()

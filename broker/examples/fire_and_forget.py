"""Fire and forget: records are handed over without waiting for the result.

Most arrive, since Kafka is there nearly always; some may be lost without a word.
"""

from collections.abc import Sequence

from confluent_kafka import Producer

from broker.examples.command_line import parse_options


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    producer = Producer({"bootstrap.servers": options.bootstrap_server, "acks": 0})
    for number in range(options.count):
        producer.produce(options.topic, f"message {number}")
    # What is still waiting in this process is given its chance; whether it arrived is not looked at.
    producer.flush(10)
    print(f"{options.count} records were sent.")


if __name__ == "__main__":
    main()

"""Order in spite of retries: one request in flight for each broker.

With more, a batch that is tried again can be written behind the one that followed it. `enable.idempotence` keeps the
order with five requests in flight, and leaves no doubles: it is what one takes today.
"""

from collections.abc import Sequence

from confluent_kafka import Message, Producer

from broker.examples.command_line import parse_options


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    offsets: list[int] = []

    def on_delivery(error: object, message: Message) -> None:
        offset = message.offset()
        if error is None and offset is not None:
            offsets.append(offset)

    settings = {"acks": "all", "retries": 10, "max.in.flight.requests.per.connection": 1}
    producer = Producer({"bootstrap.servers": options.bootstrap_server, **settings})
    for number in range(options.count):
        producer.produce(options.topic, f"{number}", key="account-1", on_delivery=on_delivery)
    producer.flush()
    print(f"{len(offsets)} written, in order: {offsets == sorted(offsets)}")


if __name__ == "__main__":
    main()

"""Demo of the slides, producers: records with a key keep their order, since a key has one partition."""

from collections.abc import Sequence

from confluent_kafka import KafkaError, Message, Producer

from broker.examples.command_line import parse_options

_KEYS = ("zürich", "bern", "genf")


def on_delivery(error: KafkaError | None, message: Message) -> None:
    key, value = ((part or b"").decode() for part in (message.key(), message.value()))
    place = error.str() if error else f"partition {message.partition()}, offset {message.offset()}"
    print(f"{key} {value} -> {place}")


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    producer = Producer({"bootstrap.servers": options.bootstrap_server, "compression.type": "lz4"})
    for number in range(options.count):
        producer.produce(options.topic, f"{number}", key=_KEYS[number % len(_KEYS)], on_delivery=on_delivery)
        producer.poll(0)
    producer.flush()


if __name__ == "__main__":
    main()

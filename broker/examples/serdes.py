"""Serializers and deserializers: what is a value here is bytes in Kafka.

String, Integer and Double come with the client; Long and Bytes are written here, in the bytes of Java's own serdes.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import Consumer, Producer
from confluent_kafka.serialization import (
    DoubleDeserializer,
    DoubleSerializer,
    IntegerDeserializer,
    IntegerSerializer,
    StringDeserializer,
    StringSerializer,
)

from broker.examples.command_line import parse_options
from broker.examples.reading import read

_LONG = struct.Struct(">q")
Serde = tuple[Callable[[Any], bytes | None], Callable[[bytes | None], Any]]
SERDES: dict[str, Serde] = {
    "String": (StringSerializer("utf_8"), StringDeserializer("utf_8")),
    "Integer": (IntegerSerializer(), IntegerDeserializer()),
    "Long": (_LONG.pack, lambda data: None if data is None else _LONG.unpack(data)[0]),
    "Double": (DoubleSerializer(), DoubleDeserializer()),
    "Bytes": (bytes, lambda data: data),
}
VALUES = {"String": "grüße", "Integer": -7, "Long": 2**40, "Double": 2.5, "Bytes": b"\x00\xff"}


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    producer = Producer({"bootstrap.servers": options.bootstrap_server})
    for name, value in VALUES.items():
        producer.produce(options.topic, SERDES[name][0](value), key=name)
    producer.flush()
    settings = {"group.id": options.group, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": options.bootstrap_server, **settings})
    consumer.subscribe([options.topic])
    for message in read(consumer, len(VALUES)):
        name = (message.key() or b"").decode()
        print(f"{name}: {message.value()!r} is {SERDES[name][1](message.value())!r}")
    consumer.close()


if __name__ == "__main__":
    main()

"""Demo of the slides, acks: when a record counts as written.

0: as soon as it was sent, so nobody knows its offset. 1: when the leader has it. all: when every in-sync replica has.
"""

import time
from collections.abc import Sequence

from confluent_kafka import KafkaError, Message, Producer

from broker.examples.command_line import parse_options


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    for acks in ("0", "1", "all"):
        offsets: list[int | None] = []

        def on_delivery(error: KafkaError | None, message: Message, into: list[int | None] = offsets) -> None:
            into.append(None if error else message.offset())

        producer = Producer({"bootstrap.servers": options.bootstrap_server, "acks": acks})
        began = time.perf_counter()
        for number in range(options.count):
            producer.produce(options.topic, f"{acks} {number}", on_delivery=on_delivery)
        producer.flush()
        took_ms = (time.perf_counter() - began) * 1000
        known = [offset for offset in offsets if offset is not None and offset >= 0]
        print(f"acks={acks}: {len(offsets)} sent in {took_ms:.0f} ms, {len(known)} offsets known")


if __name__ == "__main__":
    main()

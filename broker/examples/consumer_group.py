"""Demo of the slides, a proper consumer group: one consumer for each thread, and each record read by one of them."""

import threading
from collections.abc import Sequence

from confluent_kafka import Consumer

from broker.examples.command_line import parse_options

_MEMBERS = 2


class Work:
    """What all members have read so far."""

    def __init__(self, wanted: int):
        self.read: list[str] = []
        self.is_done = threading.Event()
        self._wanted = wanted
        self._lock = threading.Lock()

    def add(self, text: str) -> None:
        with self._lock:
            self.read.append(text)
            if len(self.read) >= self._wanted:
                self.is_done.set()


def member(name: str, settings: dict[str, object], topic: str, work: Work) -> None:
    consumer = Consumer(settings)  # of this thread alone
    consumer.subscribe([topic])
    while not work.is_done.is_set():
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            print(f"{name} reads offset {message.offset()} of partition {message.partition()}")
            consumer.store_offsets(message)  # processed: the next commit by time may say so
            work.add((message.value() or b"").decode())
    consumer.close()


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    settings = {"group.id": options.group, "auto.offset.reset": "earliest", "enable.auto.offset.store": False}
    settings["bootstrap.servers"] = options.bootstrap_server
    work = Work(options.count)
    names = [f"member-{number}" for number in range(_MEMBERS)]
    threads = [threading.Thread(target=member, args=(name, settings, options.topic, work)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{len(work.read)} records were read by {_MEMBERS} members.")


if __name__ == "__main__":
    main()

"""Asynchronous commits that are tried again, but never over a newer one.

Each commit has a number that only grows. When one has failed, and its number is still the newest, it is sent again; if
not, a newer commit is under way that says more.
"""

from collections import deque
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaError, TopicPartition

from broker.examples.command_line import parse_options
from broker.examples.reading import after, read


class Commits:
    """Callbacks come in the order of the commits."""

    def __init__(self) -> None:
        self.newest = 0
        self.again: TopicPartition | None = None
        self._under_way: deque[tuple[int, TopicPartition]] = deque()

    def send(self, consumer: Consumer, position: TopicPartition) -> None:
        self.newest += 1
        self._under_way.append((self.newest, position))
        consumer.commit(offsets=[position], asynchronous=True)

    def on_commit(self, error: KafkaError | None, _partitions: list[TopicPartition]) -> None:
        number, position = self._under_way.popleft()
        self.again = position if error is not None and number == self.newest else None
        print(f"commit {number} of offset {position.offset}: {error.str() if error else 'done'}")


def main(words: Sequence[str] | None = None) -> None:
    options, commits = parse_options(__doc__, words), Commits()
    settings = {"group.id": options.group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": options.bootstrap_server, "on_commit": commits.on_commit, **settings})
    consumer.subscribe([options.topic])
    for message in read(consumer, options.count):
        commits.send(consumer, after(message))
        if commits.again is not None:
            commits.send(consumer, commits.again)
    consumer.close()  # what is under way is answered first


if __name__ == "__main__":
    main()

"""Demo of the slides, partition rebalancing: a second consumer joins the group, takes its share, and leaves again.

The topic needs several partitions.
"""

import time
from collections.abc import Callable, Sequence

from confluent_kafka import Consumer, TopicPartition

from broker.examples.command_line import parse_options

_DEADLINE_S = 60.0


class ExampleConsumer:
    """A consumer that tells what it is given and what is taken from it."""

    def __init__(self, name: str, server: str, group: str, topic: str):
        self.name = name
        self.partitions: list[int] = []
        self.consumer = Consumer({"bootstrap.servers": server, "group.id": group})
        self.consumer.subscribe([topic], on_assign=self._on_assign, on_revoke=self._on_revoke)

    def _on_assign(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.partitions = sorted(partition.partition for partition in partitions)
        print(f"{self.name} has {self.partitions}")

    def _on_revoke(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        print(f"{self.name} gives back {self.partitions}")
        self.partitions = []


def poll_until(members: list[ExampleConsumer], condition: Callable[[], bool]) -> None:
    """Poll until the condition holds; rebalances go on only while members poll."""
    deadline = time.monotonic() + _DEADLINE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the group did not settle")
        for member in members:
            member.consumer.poll(0.1)


def main(words: Sequence[str] | None = None) -> None:
    options = parse_options(__doc__, words)
    address = (options.bootstrap_server, options.group, options.topic)
    first = ExampleConsumer("first", *address)
    poll_until([first], lambda: bool(first.partitions))
    alone = first.partitions
    second = ExampleConsumer("second", *address)
    poll_until([first, second], lambda: bool(first.partitions and second.partitions))
    second.consumer.close()
    poll_until([first], lambda: first.partitions == alone)
    first.consumer.close()


if __name__ == "__main__":
    main()

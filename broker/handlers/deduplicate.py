"""Whatever a request names twice is answered once: a few bytes can name what takes kilobytes to tell.

Kafka reads most of what a request names into a map: what is said of anything last counts, in the place of the first.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

Partition = TypeVar("Partition")


def partitions_once(
    topics: Iterable[tuple[str, Iterable[Partition]]], index_of: Callable[[Partition], int]
) -> dict[str, list[Partition]]:
    """Return the partitions of each topic, the last of duplicates."""
    by_topic: dict[str, dict[int, Partition]] = {}
    for topic, partitions in topics:
        by_topic.setdefault(topic, {}).update((index_of(partition), partition) for partition in partitions)
    return {topic: list(partitions.values()) for topic, partitions in by_topic.items()}

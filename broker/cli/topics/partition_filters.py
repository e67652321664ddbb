"""Which partitions `kafka-get-offsets` is asked about: patterns of topics, with partitions or ranges of them. Pure."""

import re
from collections.abc import Callable

from broker.cli.frame.answers import pattern
from broker.cli.frame.declaration import CommandError
from broker.common.types import TopicPartition

_ONE = re.compile(r"(?P<topic>[^:,]*)(?::(?:(?P<only>\d*)|(?P<first>\d*)-(?P<end>\d*)))?")

Filter = Callable[[TopicPartition], bool]


def of_topics(topic: str | None, partitions: str | None) -> Filter:
    """Return the filter of `--topic` and `--partitions 0,1`. Raises CommandError."""
    wanted = pattern(topic) if topic else None
    try:
        numbers = None if partitions is None else {int(part) for part in partitions.split(",")}
    except ValueError:
        raise CommandError(
            f"Error occurred: --partitions expects a list of numeric partition ids, but was: {partitions}"
        ) from None

    def leaves(partition: TopicPartition) -> bool:
        return (wanted is None or wanted.fullmatch(partition.topic) is not None) and (
            numbers is None or partition.partition in numbers
        )

    return leaves


def of_topic_partitions(text: str) -> Filter:
    """Return the filter of `--topic-partitions t:0,u:1-3,v:5-,:2`; a range excludes its end. Raises CommandError."""
    filters = [_of_one(part) for part in text.split(",")]
    return lambda partition: any(leaves(partition) for leaves in filters)


def _of_one(text: str) -> Filter:
    match = _ONE.fullmatch(text)
    if match is None:
        raise CommandError(f"Error occurred: Invalid rule: {text}")
    topic = pattern(match["topic"]) if match["topic"] else None
    first, end = match["first"], match["end"]
    if match["only"]:
        first, end = match["only"], str(int(match["only"]) + 1)
    lowest, highest = int(first or 0), int(end) if end else None

    def leaves(partition: TopicPartition) -> bool:
        return (topic is None or topic.fullmatch(partition.topic) is not None) and (
            lowest <= partition.partition and (highest is None or partition.partition < highest)
        )

    return leaves

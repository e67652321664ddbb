"""What may be called a topic, and a partition of it: whoever makes a path or a znode of a name asks here first."""

import re

from broker.common.limits import TOPIC_NAME_LENGTH_MAX
from broker.common.types import TopicPartition

_NAME = re.compile(rf"[a-zA-Z0-9._-]{{1,{TOPIC_NAME_LENGTH_MAX}}}")
_INT32_MAX = 2**31 - 1


def is_topic_name(name: str) -> bool:
    """Tell whether Kafka's rule for topic names allows it."""
    return _NAME.fullmatch(name) is not None and name not in (".", "..")


def is_partition(partition: TopicPartition) -> bool:
    return 0 <= partition.partition <= _INT32_MAX and is_topic_name(partition.topic)

"""What may be called a topic, and a partition of it: whoever makes a path or a znode of a name asks here first."""

import re

from broker.common.limits import TOPIC_NAME_LENGTH_MAX
from broker.common.types import TopicPartition

_NAME = re.compile(rf"[a-zA-Z0-9._-]{{1,{TOPIC_NAME_LENGTH_MAX}}}")
_INT32_MAX = 2**31 - 1


def is_topic_name(name: str) -> bool:
    """Tell whether Kafka's rule for topic names allows it."""
    return _NAME.fullmatch(name) is not None and name not in (".", "..")


def why_no_topic_name(name: str) -> str:
    """Return Kafka's sentence for a name that `is_topic_name` refuses."""
    if not name:
        reason = "the empty string is not allowed"
    elif name in (".", ".."):
        reason = f"'{name}' is not allowed"
    elif len(name) > TOPIC_NAME_LENGTH_MAX:
        reason = f"the length of '{name}' is longer than the max allowed length {TOPIC_NAME_LENGTH_MAX}"
    else:
        reason = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return f"Topic name is invalid: {reason}"


def is_partition(partition: TopicPartition) -> bool:
    return 0 <= partition.partition <= _INT32_MAX and is_topic_name(partition.topic)

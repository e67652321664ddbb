"""The JSON objects that znodes hold."""

import json
from typing import Any

from broker.common.topic_names import is_partition
from broker.common.types import TopicPartition
from broker.zookeeper.errors import MalformedZnode

_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1


def encode_fields(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def decode_fields(path: str, data: bytes) -> dict[str, Any]:
    """Raises MalformedZnode, naming `path`, when it is no JSON object."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MalformedZnode(f"{path} is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise MalformedZnode(f"{path} is not a JSON object")
    return fields


def int32(value: Any, least: int = 0) -> int:
    """Return the value as a 32-bit integer; ValueError or TypeError for anything else."""
    return _integer_up_to(value, least, _INT32_MAX)


def int64(value: Any) -> int:
    """Return the value as a 64-bit integer, perhaps negative; errors as `int32`."""
    return _integer_up_to(value, -_INT64_MAX, _INT64_MAX)


def _integer_up_to(value: Any, least: int, most: int) -> int:
    try:
        number = int(value)
    except OverflowError as error:
        raise ValueError(value) from error
    if not least <= number <= most:
        raise ValueError(f"{number:d} is out of range" if abs(number) < 2**64 else "a number is out of range")
    return number


def named_partition(fields: Any) -> TopicPartition:
    """Return the partition that {"topic": …, "partition": …} names; KeyError, ValueError or TypeError if it is
    invalid.
    """
    partition = TopicPartition(str(fields["topic"]), int32(fields["partition"]))
    if not is_partition(partition):
        raise ValueError(f"{partition!s:.300} cannot be a partition")
    return partition

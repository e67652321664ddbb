"""Reads offsets of many partitions at once; a partition without a leader does not fail the others."""

from collections.abc import Iterable, Mapping

from broker.client.leaders import Leaders
from broker.client.offsets import list_offsets
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition


def led(leaders: Leaders, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
    """Return the partitions that exist and have a leader. Raises BrokerUnreachable, ApiError for any other reason."""
    return [partition for partition in partitions if _is_led(leaders, partition)]


def _is_led(leaders: Leaders, partition: TopicPartition) -> bool:
    try:
        leaders.address(partition)
    except ApiError as error:
        if error.code in (ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION):
            return False
        raise
    return True


def offsets_of_led(leaders: Leaders, question: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """List offsets as `list_offsets` does, without partitions that have no leader. Raises as it does."""
    led_offsets = {partition: question[partition] for partition in led(leaders, question)}
    return list_offsets(leaders, led_offsets) if led_offsets else {}

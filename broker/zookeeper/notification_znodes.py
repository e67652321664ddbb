"""Numbered znodes by which brokers call the controller: an ISR was changed, a log directory has failed. Pure.

Each is made once, read by the controller and removed by it; the number at its end comes from ZooKeeper.
"""

from collections.abc import Iterable

from broker.common.types import TopicPartition
from broker.zookeeper.errors import MalformedZnode
from broker.zookeeper.json_fields import decode_fields, encode_fields, int32, named_partition

ISR_CHANGES = "/isr_change_notification"
ISR_CHANGE_PREFIX = f"{ISR_CHANGES}/isr_change_"
LOG_DIR_EVENTS = "/log_dir_event_notification"
LOG_DIR_EVENT_PREFIX = f"{LOG_DIR_EVENTS}/log_dir_event_"

#: The one kind of event Kafka knows: a log directory of the broker has failed.
_LOG_DIR_FAILURE = 1


def encode_isr_change(partitions: Iterable[TopicPartition]) -> bytes:
    named = [{"topic": topic, "partition": index} for topic, index in partitions]
    return encode_fields({"version": 1, "partitions": named})


def decode_isr_change(path: str, data: bytes) -> list[TopicPartition]:
    try:
        return [named_partition(one) for one in decode_fields(path, data)["partitions"]]
    except (KeyError, ValueError, TypeError) as error:
        raise MalformedZnode(f"{path} names no partitions") from error


def encode_log_dir_event(broker_id: int) -> bytes:
    return encode_fields({"version": 1, "broker": broker_id, "event": _LOG_DIR_FAILURE})


def decode_log_dir_event(path: str, data: bytes) -> int:
    """Return the broker a log directory of which has failed."""
    try:
        return int32(decode_fields(path, data)["broker"])
    except (KeyError, ValueError, TypeError) as error:
        raise MalformedZnode(f"{path} names no broker") from error

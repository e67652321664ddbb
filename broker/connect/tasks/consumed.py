"""What a consumer hands over: records, each with its place, and what is none."""

from typing import Any

from confluent_kafka import KafkaError

from broker.client.retriable import is_retriable_error
from broker.connect.api import ConnectError, ConnectPartition


def is_passing(error: KafkaError | None) -> bool:
    """Return whether it is no record. Raises ConnectError for what does not pass."""
    if error is None:
        return False
    if error.code() != KafkaError._PARTITION_EOF and not is_retriable_error(error):
        raise ConnectError(f"records cannot be read: {error.str()}")
    return True


def partition_of(message: Any) -> ConnectPartition:
    place: ConnectPartition | None = getattr(message, "place", None)
    return place or ConnectPartition(message.topic(), message.partition())


def read_at(message: Any) -> str:
    return place_of(message.topic(), message.partition(), message.offset())


def place_of(topic: str, partition: int, offset: int) -> str:
    """Format the record's place, which pages of the console find in a trace and link to."""
    return f"{topic}-{partition}@{offset}"

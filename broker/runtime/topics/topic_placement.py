"""From what a client asks for to the replicas of each partition: numbers left open are filled in, brokers are drawn.

The brokers to choose from are those of the metadata cache: what this broker has been told is alive.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import PARTITIONS_PER_TOPIC_MAX
from broker.config.broker import BrokerConfig
from broker.controller.placement import check_assignment, place_replicas
from broker.runtime.metadata_cache import MetadataCache, TopicMetadata

USE_DEFAULT = -1


@dataclass(frozen=True, slots=True)
class NewTopic:
    """What a client asks for; -1 leaves a number to the broker, an assignment excludes both numbers."""

    name: str
    partitions: int = USE_DEFAULT
    replication_factor: int = USE_DEFAULT
    assignment: dict[int, tuple[int, ...]] = field(default_factory=dict)
    configs: dict[str, str] = field(default_factory=dict)
    #: Partitions that the request names more than once in its assignment.
    assigned_twice: tuple[int, ...] = ()


def place_topic(topic: NewTopic, metadata: MetadataCache, config: BrokerConfig) -> dict[int, tuple[int, ...]]:
    """Return the replicas of each partition of a new topic; raises ApiError saying what to change."""
    if topic.assignment:
        _check_manual(topic)
        return check_assignment(topic.assignment, metadata.brokers)
    partitions = config.num_partitions if topic.partitions == USE_DEFAULT else topic.partitions
    factor = config.default_replication_factor if topic.replication_factor == USE_DEFAULT else topic.replication_factor
    if factor < 1:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if partitions < 1:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.")
    if partitions > PARTITIONS_PER_TOPIC_MAX:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS, f"{partitions} partitions; 1 to {PARTITIONS_PER_TOPIC_MAX} are possible"
        )
    racks = _live_racks(metadata)
    return place_replicas(racks, partitions, factor, random.randrange(len(racks)), random.randrange(len(racks)))


def _check_manual(topic: NewTopic) -> None:
    for name, number in (("replication factor", topic.replication_factor), ("numPartitions", topic.partitions)):
        if number != USE_DEFAULT:
            reason = f"A manual partition assignment was specified, but {name} was not set to -1."
            raise ApiError(ErrorCode.INVALID_REQUEST, reason)
    for partition in topic.assigned_twice:
        reason = f"Found multiple manual partition assignments for partition {partition}"
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)


def place_added(
    topic: TopicMetadata, count: int, assignments: list[tuple[int, ...]] | None, metadata: MetadataCache
) -> dict[int, tuple[int, ...]]:
    """Return the replicas of the partitions that bring the topic to `count`; as many for each as its first partition
    has.

    Raises ApiError. The round robin goes on from the first partition's leader, as Kafka's does, so that a topic grown
    in steps is spread as one made at once.
    """
    present = len(topic.partitions)
    if not topic.is_whole:
        raise ApiError(ErrorCode.REQUEST_TIMED_OUT, f"not all partitions of {topic.name!r} are known yet; try again")
    if count == present:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if count < present:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {topic.name} currently has {present} partition(s); {count} would not be an increase.",
        )
    if count > PARTITIONS_PER_TOPIC_MAX:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS, f"{count} partitions; up to {PARTITIONS_PER_TOPIC_MAX} are possible"
        )
    first_replicas = topic.partitions[0].replicas
    if assignments is None:
        if not first_replicas:
            raise ApiError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"partition 0 of {topic.name!r} has no replicas, and new partitions get as many as it has; reassign it "
                "to brokers first",
            )
        racks = _live_racks(metadata)
        start = sum(broker_id < first_replicas[0] for broker_id in racks) % len(racks)
        return place_replicas(racks, count - present, len(first_replicas), start, start, present)
    if len(assignments) != count - present:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {count - present} additional partition(s), but only {len(assignments)} assignment(s) "
            "were specified.",
        )
    checked = check_assignment(dict(enumerate(assignments)), metadata.brokers, len(first_replicas))
    return {present + index: replicas for index, replicas in checked.items()}


def _live_racks(metadata: MetadataCache) -> Mapping[int, str | None]:
    if not metadata.brokers:
        raise ApiError(ErrorCode.BROKER_NOT_AVAILABLE, "no broker is known yet; try again")
    return {broker_id: broker.rack for broker_id, broker in metadata.brokers.items()}

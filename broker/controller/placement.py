"""Which brokers get the replicas of a new topic: Kafka's round robin over brokers.

The first replica of partition p goes to the broker p places after `start_index`; the others follow at a distance that
grows by one after each round, so that the followers of one leader are spread over the cluster. Both starting numbers
are arguments: whoever creates the topic draws them at random.
"""

from collections.abc import Collection, Mapping, Sequence

from broker.common.errors import ApiError, ErrorCode


def place_replicas(
    broker_ids: Sequence[int],
    partition_count: int,
    replication_factor: int,
    start_index: int,
    shift: int,
    first_partition: int = 0,
) -> dict[int, tuple[int, ...]]:
    """Replicas of each partition, preferred leader first.

    `first_partition` > 0 places partitions added to a topic. ApiError INVALID_PARTITIONS or
    INVALID_REPLICATION_FACTOR when it cannot be done.
    """
    _check_counts(broker_ids, partition_count, replication_factor)
    brokers = sorted(broker_ids)
    assignment = {}
    for partition in range(first_partition, first_partition + partition_count):
        first = (partition + start_index) % len(brokers)
        round_shift = shift + _rounds(first_partition, partition, len(brokers))
        assignment[partition] = tuple(
            brokers[_index(first, round_shift, number, len(brokers))] for number in range(replication_factor)
        )
    return assignment


def check_assignment(assignment: Mapping[int, Sequence[int]], live: Collection[int]) -> dict[int, tuple[int, ...]]:
    """An assignment somebody wrote by hand, if it can be used; else ApiError INVALID_REPLICA_ASSIGNMENT."""
    if sorted(assignment) != list(range(len(assignment))) or not assignment:
        raise _refused("Partitions must be numbered from 0 without a gap.")
    if len({len(replicas) for replicas in assignment.values()}) > 1:
        raise _refused("All partitions must have the same number of replicas.")
    for partition, replicas in assignment.items():
        if not replicas or len(set(replicas)) != len(replicas):
            raise _refused(f"Partition {partition} must name each of its replicas once.")
        unknown = sorted(set(replicas) - set(live))
        if unknown:
            raise _refused(f"Partition {partition} names brokers that are not alive: {unknown}.")
    return {partition: tuple(assignment[partition]) for partition in sorted(assignment)}


def _check_counts(broker_ids: Sequence[int], partition_count: int, replication_factor: int) -> None:
    if partition_count < 1:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, "The number of partitions must be at least 1.")
    if replication_factor < 1:
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, "The replication factor must be at least 1.")
    if replication_factor > len(broker_ids):
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor {replication_factor} is larger than the number of live brokers, {len(broker_ids)}.",
        )


def _rounds(first_partition: int, partition: int, broker_count: int) -> int:
    """How often a multiple of the number of brokers was reached from `first_partition` (0 itself excepted)."""
    before = max(first_partition - 1, 0)
    return partition // broker_count - before // broker_count


def _index(first: int, shift: int, number: int, broker_count: int) -> int:
    if number == 0:
        return first
    return (first + 1 + (shift + number - 1) % (broker_count - 1)) % broker_count


def _refused(why: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)

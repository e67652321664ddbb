"""Which brokers get the replicas of a new topic: Kafka's round robin over brokers, and over racks (KIP-36).

The first replica of partition p goes to the broker p places after `start_index`; the others follow at a distance that
grows by one after each round, so that the followers of one leader are spread over the cluster. Both starting numbers
are arguments: whoever creates the topic draws them at random.

With racks the brokers are first put in an order in which neighbours stand in different racks, and a candidate is passed
over while its rack has a replica and another rack has none. Racks count only when every broker names one: where just
some do (a rolling change of configuration), Kafka's tools may choose between refusing and this; a topic that can be
placed is worth more to the operator than a refusal.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count

from broker.common.errors import ApiError, ErrorCode


def place_replicas(
    racks: Mapping[int, str | None],
    partition_count: int,
    replication_factor: int,
    start_index: int,
    shift: int,
    first_partition: int = 0,
) -> dict[int, tuple[int, ...]]:
    """Return the replicas of each partition, preferred leader first. `racks` names the rack of every live broker.

    `first_partition` > 0 places partitions added to a topic. ApiError INVALID_PARTITIONS or
    INVALID_REPLICATION_FACTOR when it cannot be done.
    """
    _check_counts(len(racks), partition_count, replication_factor)
    is_by_rack = all(racks.values())
    brokers = alternate_racks(racks) if is_by_rack else sorted(racks)
    rack_of = racks if is_by_rack else dict.fromkeys(racks, "")
    rack_count = len(set(rack_of.values()))
    assignment = {}
    for partition in range(first_partition, first_partition + partition_count):
        first = (partition + start_index) % len(brokers)
        round_shift = shift + _rounds(first_partition, partition, len(brokers))
        candidates = _candidates(brokers, first, round_shift * rack_count)
        assignment[partition] = _choose(candidates, rack_of, rack_count, replication_factor)
    return assignment


def alternate_racks(racks: Mapping[int, str | None]) -> list[int]:
    """Return the brokers in turn from each rack, so that neighbours stand in different racks as long as there are
    some.
    """
    by_rack: dict[str | None, list[int]] = {}
    for broker_id in sorted(racks):
        by_rack.setdefault(racks[broker_id], []).append(broker_id)
    ordered = []
    while by_rack:
        for rack in sorted(by_rack, key=str):
            ordered.append(by_rack[rack].pop(0))
            if not by_rack[rack]:
                del by_rack[rack]
    return ordered


def check_assignment(
    assignment: Mapping[int, Sequence[int]], live: Collection[int], replication_factor: int | None = None
) -> dict[int, tuple[int, ...]]:
    """Return an assignment that a client wrote, by partition; each has `replication_factor` replicas, None: as many as
    the first. Raises ApiError INVALID_REPLICA_ASSIGNMENT, in Kafka's words, for one that cannot be used.
    """
    for replicas in assignment.values():
        check_replicas(sorted(replicas), live, replication_factor)
        replication_factor = len(replicas)
    if sorted(assignment) != list(range(len(assignment))) or not assignment:
        raise _refused("partitions should be a consecutive 0-based integer sequence")
    return {partition: tuple(assignment[partition]) for partition in sorted(assignment)}


def check_replicas(replicas: list[int], live: Collection[int], replication_factor: int | None = None) -> None:
    """Raise ApiError unless the sorted ids are of different brokers that are alive, as many as wanted."""
    includes = "The manual partition assignment includes"
    if not replicas:
        raise _refused(f"{includes} an empty replica list.")
    for before, broker_id in zip([None, *replicas], replicas, strict=False):
        if broker_id not in live:
            raise _refused(f"{includes} broker {broker_id}, but no such broker is registered.")
        if broker_id == before:
            raise _refused(f"{includes} the broker {broker_id} more than once.")
    if replication_factor not in (None, len(replicas)):
        raise _refused(
            f"{includes} a partition with {len(replicas)} replica(s), but this is not consistent with previous "
            f"partitions, which have {replication_factor} replica(s)."
        )


def _check_counts(broker_count: int, partition_count: int, replication_factor: int) -> None:
    if partition_count < 1:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, "The number of partitions must be at least 1.")
    if replication_factor < 1:
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, "The replication factor must be at least 1.")
    if replication_factor > broker_count:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): The target replication factor of "
            f"{replication_factor} cannot be reached because only {broker_count} broker(s) are registered.",
        )


def _rounds(first_partition: int, partition: int, broker_count: int) -> int:
    """Return how often a multiple of the number of brokers was reached from `first_partition` (0 itself excepted)."""
    before = max(first_partition - 1, 0)
    return partition // broker_count - before // broker_count


def _candidates(brokers: Sequence[int], first: int, shift: int) -> Iterator[int]:
    """Yield the first replica, then every other broker in the order of the rounds, without end."""
    yield brokers[first]
    others = len(brokers) - 1
    for number in count():
        yield brokers[(first + 1 + (shift + number) % others) % len(brokers)]


def _choose(
    candidates: Iterator[int], rack_of: Mapping[int, str | None], rack_count: int, replication_factor: int
) -> tuple[int, ...]:
    chosen: list[int] = [next(candidates)]
    racks = {rack_of[chosen[0]]}
    while len(chosen) < replication_factor:
        broker_id = next(candidates)
        is_new_rack = rack_of[broker_id] not in racks or len(racks) == rack_count
        if is_new_rack and broker_id not in chosen:
            chosen.append(broker_id)
            racks.add(rack_of[broker_id])
    return tuple(chosen)


def _refused(why: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)

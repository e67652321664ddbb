"""Which replica a consumer should read from instead of the leader (KIP-392): one in its own rack."""

from collections.abc import Mapping

from broker.replication.partition import ReplicaPartition


def closest_replica(
    partition: ReplicaPartition, rack: str, racks: Mapping[int, str | None], fetch_offset: int
) -> int | None:
    """Return the in-sync follower in `rack` that has come furthest and holds what is before `fetch_offset`.

    None when the leader is as close as any. `racks` are those of the live brokers.
    """
    state = partition.state
    if state is None or not rack or racks.get(partition.broker_id) == rack:
        return None
    near = [
        (follower.log_end_offset, -replica_id)
        for replica_id, follower in partition.followers.items()
        if replica_id in state.isr and racks.get(replica_id) == rack and follower.log_end_offset >= fetch_offset
    ]
    return -max(near)[1] if near else None

"""Partitions on the move, and the moves asked for here, as rows of a file."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from console.cluster.placement.models import OngoingMove, Reassignment

MOVE_TITLES = (
    "topic",
    "partition",
    "replicas",
    "adding",
    "removing",
    "bytes_of_one_replica",
    "copied_by_broker",
    "percent",
    "bytes_per_second",
    "ms_to_go",
    "seen_since",
)
REASSIGNMENT_TITLES = (
    "action",
    "object",
    "state",
    "sentence",
    "partitions",
    "bytes_to_copy",
    "throttle_bytes_per_second",
    "asked_by",
    "begun",
    "ended",
)


def move_rows(moves: Iterable[OngoingMove]) -> Iterator[tuple[object, ...]]:
    for each in moves:
        yield (
            each.topic,
            each.partition,
            each.replicas,
            each.adding,
            each.removing,
            each.size_bytes,
            [f"{broker_id}:{size}" for broker_id, size in each.copied],
            each.percent,
            each.bytes_per_second,
            each.left_ms,
            datetime.fromtimestamp(each.since_ms / 1_000, UTC),
        )


def reassignment_rows(reassignments: Iterable[Reassignment]) -> Iterator[tuple[object, ...]]:
    for each in reassignments:
        yield (
            each.action,
            each.object_name,
            each.state,
            each.sentence,
            each.partition_count,
            each.copied_bytes,
            each.rate,
            each.actor_name,
            each.began_at,
            each.ended_at,
        )

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
    for move in moves:
        yield (
            move.topic,
            move.partition,
            move.replicas,
            move.adding,
            move.removing,
            move.size_bytes,
            [f"{broker_id}:{size}" for broker_id, size in move.copied],
            move.percent,
            move.bytes_per_second,
            move.left_ms,
            datetime.fromtimestamp(move.since_ms / 1_000, UTC),
        )


def reassignment_rows(reassignments: Iterable[Reassignment]) -> Iterator[tuple[object, ...]]:
    for reassignment in reassignments:
        yield (
            reassignment.action,
            reassignment.object_name,
            reassignment.state,
            reassignment.sentence,
            reassignment.partition_count,
            reassignment.copied_bytes,
            reassignment.rate,
            reassignment.actor_name,
            reassignment.began_at,
            reassignment.ended_at,
        )

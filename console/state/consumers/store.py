"""The groups' tables: only what changed is written."""

from collections.abc import Iterable, Mapping
from operator import attrgetter

from console.kit.common.databases import cluster_atomic
from console.kit.common.many_rows import keys_of, put_rows
from console.state.consumers.members import member_of
from console.state.consumers.models import ConsumerGroup, GroupPartition, LagSample
from console.state.consumers.rows import GroupPartitionRow, GroupRow, GroupRowChanges, details_of
from console.state.consumers.verdict import LagVerdict

_GROUP_FIELDS = [
    "state",
    "protocol_type",
    "coordinator",
    "member_count",
    "members",
    "topics",
    "partition_count",
    "lag",
    "behind_since_ms",
    "expires_at_ms",
    "lag_per_second",
    "arriving_per_second",
    "read_per_second",
    "lost",
    "lost_since_ms",
    "lost_at_ms",
    "verdict",
    "verdict_since_ms",
    "empty_since_ms",
    "severity",
    "is_silent",
    "group_type",
    "details",
]
_PARTITION_FIELDS = [
    "committed",
    "first_offset",
    "next_offset",
    "lag",
    "behind_since_ms",
    "expires_at_ms",
    "lost",
    "lost_since_ms",
    "lost_at_ms",
    "lost_until",
    "read_per_second",
    "verdict",
    "member_id",
]
_STORED_AS = {
    "details": "details_as_json",
    "verdict": "verdict.value",
    "severity": "verdict.severity",
}
_group_values = attrgetter("name", *(_STORED_AS.get(name, name) for name in _GROUP_FIELDS))
_partition_values = attrgetter("topic", "partition", *(_STORED_AS.get(name, name) for name in _PARTITION_FIELDS))
#: Rows of one statement: SQLite takes no more than 32,766 values.
_ROWS_PER_STATEMENT = 1_000


def load_groups() -> dict[str, GroupRow]:
    places: dict[int, list[GroupPartitionRow]] = {}
    for partition in GroupPartition.objects.order_by("topic", "partition"):
        row = GroupPartitionRow(
            topic=partition.topic,
            partition=partition.partition,
            committed=partition.committed,
            first_offset=partition.first_offset,
            next_offset=partition.next_offset,
            lag=partition.lag,
            behind_since_ms=partition.behind_since_ms,
            expires_at_ms=partition.expires_at_ms,
            verdict=LagVerdict(partition.verdict),
            member_id=partition.member_id,
            lost=partition.lost,
            lost_since_ms=partition.lost_since_ms,
            lost_at_ms=partition.lost_at_ms,
            lost_until=partition.lost_until,
            read_per_second=partition.read_per_second,
        )
        places.setdefault(partition.group_id, []).append(row)
    return {
        group.name: GroupRow(
            group.name,
            group.state,
            group.protocol_type,
            group.coordinator,
            tuple(map(member_of, group.members)),
            tuple(places.get(group.pk, ())),
            group.lag_per_second,
            group.arriving_per_second,
            group.is_silent,
            group.group_type,
            details_of(group.details),
            group.verdict_since_ms,
            group.empty_since_ms,
        )
        for group in ConsumerGroup.objects.all()
    }


def apply_group_changes(changes: GroupRowChanges) -> list[int]:
    """Return the primary keys of what was created or changed."""
    with cluster_atomic():
        if changes.deleted:
            ConsumerGroup.objects.filter(name__in=changes.deleted).delete()
        whole = [*changes.created, *changes.reshaped]
        written = [*((row, row.partitions) for row in whole), *changes.changed]
        put_rows(ConsumerGroup, ["name"], _GROUP_FIELDS, (_group_values(row) for row, _ in written))
        keys = keys_of(ConsumerGroup, "name", [row.name for row, _ in written])
        if changes.reshaped:
            GroupPartition.objects.filter(group__in=[keys[row.name] for row in changes.reshaped]).delete()
        places = (
            (keys[row.name], *_partition_values(partition_row))
            for row, partition_rows in written
            for partition_row in partition_rows
        )
        put_rows(GroupPartition, ["group", "topic", "partition"], _PARTITION_FIELDS, places)
    return list(keys.values())


def add_samples(rows: Iterable[GroupRow], at_ms: int) -> None:
    """Keep the lag of these groups at this moment, also that it is not known: a chart has a gap there."""
    wanted = {row.name: (row, row.lag) for row in rows}
    known: Mapping[str, int] = dict(ConsumerGroup.objects.filter(name__in=wanted).values_list("name", "pk"))
    LagSample.objects.bulk_create(
        [
            LagSample(
                group_id=known[name],
                at_ms=at_ms,
                lag=lag,
                behind_ms=None if row.behind_since_ms is None else max(0, at_ms - row.behind_since_ms),
            )
            for name, (row, lag) in wanted.items()
            if name in known
        ],
        batch_size=_ROWS_PER_STATEMENT,
    )


def forget_samples(before_ms: int) -> None:
    LagSample.objects.filter(at_ms__lt=before_ms).delete()

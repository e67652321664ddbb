"""The groups' tables: only what changed is written."""

from collections.abc import Iterable, Mapping
from operator import attrgetter

from console.common.databases import cluster_atomic, cluster_connection
from console.consumers.models import ConsumerGroup, GroupPartition, LagSample
from console.consumers.rows import GroupChanges, GroupPartitionRow, GroupRow
from console.consumers.verdict import Verdict

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
    "lost",
    "verdict",
    "severity",
    "is_silent",
]
_PARTITION_FIELDS = [
    "committed",
    "first_offset",
    "next_offset",
    "lag",
    "behind_since_ms",
    "expires_at_ms",
    "lost",
    "verdict",
    "member_id",
]
_partition_values = attrgetter(*(f"{name}.value" if name == "verdict" else name for name in _PARTITION_FIELDS))
#: Rows of one statement: SQLite takes no more than 32,766 values.
_ROWS_PER_STATEMENT = 1_000


def load_groups() -> dict[str, GroupRow]:
    places: dict[int, list[GroupPartitionRow]] = {}
    for each in GroupPartition.objects.order_by("topic", "partition"):
        row = GroupPartitionRow(
            topic=each.topic,
            partition=each.partition,
            committed=each.committed,
            first_offset=each.first_offset,
            next_offset=each.next_offset,
            lag=each.lag,
            behind_since_ms=each.behind_since_ms,
            expires_at_ms=each.expires_at_ms,
            verdict=Verdict(each.verdict),
            member_id=each.member_id,
            lost=each.lost,
        )
        places.setdefault(each.group_id, []).append(row)
    return {
        group.name: GroupRow(
            group.name,
            group.state,
            group.protocol_type,
            group.coordinator,
            tuple(tuple(member) for member in group.members),
            tuple(places.get(group.pk, ())),
            group.lag_per_second,
            group.arriving_per_second,
            group.is_silent,
        )
        for group in ConsumerGroup.objects.all()
    }


def apply_group_changes(changes: GroupChanges) -> list[int]:
    """The primary keys of what was created or changed."""
    with cluster_atomic():
        ConsumerGroup.objects.filter(name__in=changes.deleted).delete()
        rows = [*changes.created, *changes.reshaped, *(row for row, _ in changes.changed)]
        groups = ConsumerGroup.objects.bulk_create(
            [_group(row) for row in rows],
            update_conflicts=True,
            unique_fields=["name"],
            update_fields=_GROUP_FIELDS,
            batch_size=_ROWS_PER_STATEMENT,
        )
        by_name = {group.name: group for group in groups}
        GroupPartition.objects.filter(group__in=[by_name[row.name] for row in changes.reshaped]).delete()
        GroupPartition.objects.bulk_create(
            [
                _partition(by_name[row.name], each)
                for row in (*changes.created, *changes.reshaped)
                for each in row.partitions
            ],
            batch_size=_ROWS_PER_STATEMENT,
        )
        _update_partitions((by_name[row.name].pk, each) for row, places in changes.changed for each in places)
    return [group.pk for group in groups]


def _update_partitions(changed: Iterable[tuple[int, GroupPartitionRow]]) -> None:
    """(group's key, row) each. By hand: of everything the collector writes this is the most, five times faster so."""
    connection = cluster_connection()
    table = connection.ops.quote_name(GroupPartition._meta.db_table)
    values = ", ".join(f"{connection.ops.quote_name(name)} = %s" for name in _PARTITION_FIELDS)
    where = " AND ".join(f"{connection.ops.quote_name(name)} = %s" for name in ("group_id", "topic", "partition"))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {table} SET {values} WHERE {where}",
            [(*_partition_values(row), key, row.topic, row.partition) for key, row in changed],
        )


def add_samples(rows: Iterable[GroupRow], at_ms: int) -> None:
    """The lag of these groups at this moment."""
    wanted = {row.name: row for row in rows if row.lag is not None}
    known: Mapping[str, int] = dict(ConsumerGroup.objects.filter(name__in=wanted).values_list("name", "pk"))
    LagSample.objects.bulk_create(
        [
            LagSample(
                group_id=known[name],
                at_ms=at_ms,
                lag=row.lag,
                behind_ms=None if row.behind_since_ms is None else max(0, at_ms - row.behind_since_ms),
            )
            for name, row in wanted.items()
            if name in known
        ],
        batch_size=_ROWS_PER_STATEMENT,
    )


def forget_samples(before_ms: int) -> None:
    LagSample.objects.filter(at_ms__lt=before_ms).delete()


def _group(row: GroupRow) -> ConsumerGroup:
    return ConsumerGroup(
        name=row.name,
        state=row.state,
        protocol_type=row.protocol_type,
        coordinator=row.coordinator,
        member_count=len(row.members),
        members=[list(member) for member in row.members],
        topics=row.topics,
        partition_count=len(row.partitions),
        lag=row.lag,
        behind_since_ms=row.behind_since_ms,
        expires_at_ms=row.expires_at_ms,
        lag_per_second=row.lag_per_second,
        arriving_per_second=row.arriving_per_second,
        lost=row.lost,
        verdict=row.verdict.value,
        severity=row.verdict.severity,
        is_silent=row.is_silent,
    )


def _partition(group: ConsumerGroup, row: GroupPartitionRow) -> GroupPartition:
    fields = {name: getattr(row, name) for name in _PARTITION_FIELDS if name != "verdict"}
    return GroupPartition(group=group, topic=row.topic, partition=row.partition, verdict=row.verdict.value, **fields)

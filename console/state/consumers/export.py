"""Groups and their partitions as rows of a file."""

from collections.abc import Iterable, Iterator

from console.state.consumers.models import ConsumerGroup, GroupPartition

GROUP_TITLES = (
    "group",
    "verdict",
    "state",
    "members",
    "coordinator",
    "topics",
    "partitions",
    "lag_records",
    "lag_ms",
    "lag_change_per_second",
    "arriving_per_second",
    "trend",
    "catch_up_ms",
    "oldest_unread_expires_in_ms",
    "records_lost",
)
PLACE_TITLES = (
    "group",
    "topic",
    "partition",
    "verdict",
    "member",
    "committed_offset",
    "log_start_offset",
    "log_end_offset",
    "lag_records",
    "lag_ms",
    "records_lost",
)
MEMBER_TITLES = ("group", "client", "host", "partitions", "static_id", "member")


def group_rows(groups: Iterable[ConsumerGroup]) -> Iterator[tuple[object, ...]]:
    for group in groups:
        yield (
            group.name,
            group.verdict,
            group.state,
            group.member_count,
            group.coordinator,
            group.topics,
            group.partition_count,
            group.lag,
            group.behind_ms,
            group.lag_per_second,
            group.arriving_per_second,
            group.trend.value,
            group.catch_up_ms,
            group.expires_in_ms,
            group.lost,
        )


def partition_rows(places: Iterable[GroupPartition]) -> Iterator[tuple[object, ...]]:
    for each in places:
        yield (
            each.group.name,
            each.topic,
            each.partition,
            each.verdict,
            each.member_id,
            each.committed,
            each.first_offset,
            each.next_offset,
            each.lag,
            each.behind_ms,
            each.lost,
        )


def member_rows(group: ConsumerGroup) -> Iterator[tuple[object, ...]]:
    for member_id, client_id, host, instance_id, partitions in group.members:
        yield group.name, client_id, host, partitions, instance_id, member_id

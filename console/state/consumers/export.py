"""Groups and their partitions as rows of a file."""

from collections.abc import Iterable, Iterator

from console.state.consumers.members import MemberRow
from console.state.consumers.models import ConsumerGroup, GroupPartition

GROUP_TITLES = (
    "group",
    "type",
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
    "read_per_second",
    "trend",
    "catch_up_ms",
    "oldest_unread_expires_in_ms",
    "records_lost",
    "group_epoch",
    "assignment_epoch",
    "assignor",
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
MEMBER_TITLES = (
    *("group", "client", "host", "partitions", "static_id", "member", "epoch"),
    *("assigned", "target", "rack", "subscription"),
)


def group_rows(groups: Iterable[ConsumerGroup]) -> Iterator[tuple[object, ...]]:
    for group in groups:
        yield (
            group.name,
            group.group_type,
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
            group.read_per_second,
            group.trend.value,
            group.catch_up_ms,
            group.expires_in_ms,
            group.lost,
            group.details.get("group_epoch"),
            group.details.get("assignment_epoch"),
            group.details.get("assignor") or None,
        )


def partition_rows(places: Iterable[GroupPartition]) -> Iterator[tuple[object, ...]]:
    for place in places:
        yield (
            place.group.name,
            place.topic,
            place.partition,
            place.verdict,
            place.member_id,
            place.committed,
            place.first_offset,
            place.next_offset,
            place.lag,
            place.behind_ms,
            place.lost,
        )


def member_rows(group: str, members: Iterable[MemberRow]) -> Iterator[tuple[object, ...]]:
    for member in members:
        yield (
            group,
            member.client_id,
            member.host,
            member.partition_count,
            member.instance_id,
            member.member_id,
            member.epoch,
            member.assigned_text,
            member.target_text or member.assigned_text,
            member.rack,
            member.subscription_text,
        )

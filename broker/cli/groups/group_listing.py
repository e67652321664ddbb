"""What `kafka-consumer-groups` prints: the tables of Kafka 4.4, one row a line. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from broker.client.groups import CoordinatorAddress
from broker.client.typed_groups import CLASSIC, GroupMember, ShareOffset, TypedGroup
from broker.common.types import TopicPartition

MISSING = "-"
#: Columns are at least so wide.
_WIDTH = 15
_INSTANCE_WIDTH = 17
_COORDINATOR_WIDTH = 25


@dataclass(frozen=True, slots=True)
class OffsetRow:
    """A partition that a group has read or is assigned; None is unknown."""

    partition: TopicPartition
    current: int | None
    log_end: int | None
    member: GroupMember | None

    @property
    def lag(self) -> int | None:
        return None if self.current is None or self.log_end is None else self.log_end - self.current


def offset_rows(
    group: TypedGroup, committed: Mapping[TopicPartition, int], log_ends: Mapping[TopicPartition, int]
) -> list[OffsetRow]:
    """Return the rows of assigned partitions, members with most of them first; then unassigned partitions."""
    rows, assigned = [], set()
    for member in sorted(group.members, key=lambda member: -len(member.assignment)):
        for partition in member.assignment:
            assigned.add(partition)
            rows.append(OffsetRow(partition, committed.get(partition), log_ends.get(partition), member))
    rest = [
        OffsetRow(partition, offset, log_ends.get(partition), None)
        for partition, offset in sorted(committed.items())
        if partition not in assigned
    ]
    return rows + rest


def offset_lines(group_id: str, rows: Iterable[OffsetRow]) -> list[str]:
    cells = [
        (
            group_id,
            row.partition.topic,
            str(row.partition.partition),
            _text(row.current),
            _text(row.log_end),
            _text(row.lag),
            row.member.member_id if row.member else MISSING,
            row.member.host if row.member else MISSING,
            row.member.client_id if row.member else MISSING,
        )
        for row in rows
    ]
    head = (
        "GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"
    )  # fmt: skip
    group, topic, member, host = (_widest(cells, at) for at in (0, 1, 6, 7))
    return _table(head, cells, (group, topic, 10, 15, 15, 15, member, host, 0))


def share_lines(group_id: str, offsets: Mapping[TopicPartition, ShareOffset]) -> list[str]:
    """Format the lines as `kafka-share-groups --describe` of Kafka 4.4 does."""
    cells = [
        (group_id, partition.topic, str(partition.partition), str(offset.start), _text(offset.lag))
        for partition, offset in sorted(offsets.items())
    ]
    head = ("GROUP", "TOPIC", "PARTITION", "START-OFFSET", "LAG")
    return _table(head, cells, (_widest(cells, 0), _widest(cells, 1), 10, 15, 0))


def member_lines(group: TypedGroup, *, verbose: bool) -> list[str]:
    """Return lines of members; with instance ids only if a member has one, and with epochs and targets for groups of
    Kafka 4 (KIP-848). While members of a consumer group use the classic protocol, a column tells which do not.
    """
    has_instances = any(member.instance_id for member in group.members)
    if verbose and group.group_type != CLASSIC:
        return _typed_member_lines(group, has_instances)
    cells = [_member_cells(group.group_id, member, has_instances, verbose) for member in group.members]
    head = ("GROUP", "CONSUMER-ID", *(["GROUP-INSTANCE-ID"] if has_instances else []), "HOST", "CLIENT-ID")
    widths = [_widest(cells, at) for at in range(len(head))]
    if has_instances:
        widths[2] = max(widths[2], _INSTANCE_WIDTH)
    return _table((*head, "#PARTITIONS", "ASSIGNMENT" if verbose else ""), cells, (*widths, _WIDTH, 0))


def _typed_member_lines(group: TypedGroup, has_instances: bool) -> list[str]:
    is_migrating = any(member.is_upgraded is False for member in group.members)
    cells = [
        (
            group.group_id,
            member.member_id,
            *([member.instance_id or MISSING] if has_instances else []),
            member.host,
            member.client_id,
            str(len(member.assignment)),
            _text(member.epoch),
            member.tasks or _typed_assignment(member.assignment),
            _text(group.assignment_epoch),
            member.target_tasks or _typed_assignment(member.assignment if member.target is None else member.target),
            *([MISSING if member.is_upgraded is None else str(member.is_upgraded).lower()] if is_migrating else []),
        )
        for member in group.members
    ]
    head = (
        *("GROUP", "CONSUMER-ID", *(["GROUP-INSTANCE-ID"] if has_instances else [])),
        *("HOST", "CLIENT-ID", "#PARTITIONS"),
        *("CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"),
        *(["UPGRADED"] if is_migrating else []),
    )
    widths = [max(_widest(cells, at), len(name)) for at, name in enumerate(head)]
    return _table(head, cells, (*widths[:-1], 0))


def _member_cells(group_id: str, member: GroupMember, has_instances: bool, verbose: bool) -> tuple[str, ...]:
    return (
        group_id,
        member.member_id,
        *([member.instance_id or MISSING] if has_instances else []),
        member.host,
        member.client_id,
        str(len(member.assignment)),
        assignment_text(member.assignment) if verbose else "",
    )


def assignment_text(partitions: Iterable[TopicPartition]) -> str:
    """Return the assignment as `t(0,1), u(2)`."""
    return ", ".join(f"{topic}({numbers})" for topic, numbers in _by_topic(partitions).items()) or MISSING


def _typed_assignment(partitions: Iterable[TopicPartition]) -> str:
    """Return `t:0,1;u:2`, as Kafka 4 prints an assignment beside its target."""
    return ";".join(f"{topic}:{numbers}" for topic, numbers in _by_topic(partitions).items()) or MISSING


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, str]:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        by_topic.setdefault(topic, []).append(partition)
    return {topic: ",".join(map(str, numbers)) for topic, numbers in by_topic.items()}


def state_lines(group: TypedGroup, coordinator: CoordinatorAddress, *, verbose: bool = False) -> list[str]:
    """Format the group's state, with epochs if they are wanted and its type has them."""
    where = f"{coordinator.host}:{coordinator.port}  ({coordinator.broker_id})"
    columns = [
        ("GROUP", group.group_id, max(_WIDTH, len(group.group_id))),
        ("COORDINATOR (ID)", where, max(_COORDINATOR_WIDTH, len(where))),
        ("ASSIGNMENT-STRATEGY", group.strategy or MISSING, 20),
        ("STATE", group.state, 20),
        ("#MEMBERS", str(len(group.members)), 0),
    ]
    if verbose and group.group_type != CLASSIC:
        columns[4:4] = [
            ("GROUP-EPOCH", _text(group.group_epoch), 15),
            ("TARGET-ASSIGNMENT-EPOCH", _text(group.assignment_epoch), 25),
        ]
    head, cells, widths = zip(*columns, strict=True)
    return _table(head, [cells], widths)


def list_lines(groups: Iterable[Mapping[str, str]], columns: tuple[str, ...]) -> list[str]:
    """Return the lines of `--list` with `--state` or `--type`."""
    cells = [tuple(group[column] for column in ("group", *columns)) for group in groups]
    widths = (_widest(cells, 0) + 10, *(20 for _ in columns))
    return [_row(cell, widths) for cell in (("GROUP", *(column.upper() for column in columns)), *cells)]


def reset_lines(resets: Mapping[str, Mapping[TopicPartition, int]]) -> list[str]:
    cells = [
        (group, topic, str(partition), str(offset))
        for group, offsets in resets.items()
        for (topic, partition), offset in sorted(offsets.items())
    ]
    head = ("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET")
    return _table(head, cells, (_widest(cells, 0), _widest(cells, 1), 10, 0))


def deleted_lines(statuses: Mapping[TopicPartition, str]) -> list[str]:
    """Return a table of what became of each partition's offsets; -1 stands for a topic without known partitions."""
    cells = [
        (topic, str(partition) if partition >= 0 else MISSING, status)
        for (topic, partition), status in sorted(statuses.items())
    ]
    return _table(("TOPIC", "PARTITION", "STATUS"), cells, (_widest(cells, 0), 10, _WIDTH))


def as_json(group: TypedGroup, coordinator: CoordinatorAddress, rows: Iterable[OffsetRow]) -> dict[str, Any]:
    return {
        "group": group.group_id,
        "type": group.group_type,
        "state": group.state,
        "groupEpoch": group.group_epoch,
        "assignmentEpoch": group.assignment_epoch,
        "coordinator": {"id": coordinator.broker_id, "host": coordinator.host, "port": coordinator.port},
        "assignmentStrategy": group.strategy,
        "members": [
            {
                "consumerId": member.member_id,
                "groupInstanceId": member.instance_id or None,
                "host": member.host,
                "clientId": member.client_id,
                "assignment": [partition._asdict() for partition in member.assignment],
                "epoch": member.epoch,
                "targetAssignment": None if member.target is None else [place._asdict() for place in member.target],
            }
            for member in group.members
        ],
        "offsets": [
            {
                **row.partition._asdict(),
                "currentOffset": row.current,
                "logEndOffset": row.log_end,
                "lag": row.lag,
                "consumerId": row.member.member_id if row.member else None,
            }
            for row in rows
        ],
    }


def _table(head: tuple[str, ...], cells: Iterable[tuple[str, ...]], widths: tuple[int, ...]) -> list[str]:
    return ["", *(_row(cell, widths) for cell in (head, *cells))]


def _row(cells: Iterable[str], widths: Iterable[int]) -> str:
    return " ".join(f"{cell:<{width}}" if width else cell for cell, width in zip(cells, widths, strict=True))


def _widest(cells: Iterable[tuple[str, ...]], at: int) -> int:
    return max(_WIDTH, *(len(cell[at]) for cell in cells), 0)


def _text(number: int | None) -> str:
    return MISSING if number is None else str(number)

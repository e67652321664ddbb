"""Assignors of packages that are installed beside the broker, by their entry points; what they return is checked."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from uuid import UUID

from broker.coordinator.consumer_group.assignors import ASSIGNORS, AssignableMember, Assignor, Partitions

#: An entry point's name is the assignor's, its object a function as `assign_range` is.
GROUP = "barnabas.consumer_group_assignors"


class AssignorError(Exception):
    """An assignor failed, or returned what is no assignment; the message says which and why."""


def assign(
    name: str, members: Sequence[AssignableMember], partition_counts: Mapping[UUID, int]
) -> Mapping[str, Partitions]:
    """Return what each member is to own by the named assignor. Raises AssignorError."""
    if name in ASSIGNORS:
        return ASSIGNORS[name](members, partition_counts)
    try:
        assigned = {
            member_id: {topic_id: frozenset(indexes) for topic_id, indexes in target.items() if indexes}
            for member_id, target in _load(name)(members, partition_counts).items()
        }
        _check(assigned, members, partition_counts)
    except AssignorError:
        raise
    except Exception as error:  # it is somebody else's code
        raise AssignorError(f"assignor {name}: {type(error).__name__}: {error}") from error
    return {member.member_id: assigned.get(member.member_id, {}) for member in members}


@cache
def _load(name: str) -> Assignor:
    for point in entry_points(group=GROUP):
        if point.name == name:
            assignor: Assignor = point.load()
            return assignor
    raise AssignorError(f"assignor {name} is not installed")


def _check(
    assigned: Mapping[str, Partitions], members: Sequence[AssignableMember], partition_counts: Mapping[UUID, int]
) -> None:
    topic_ids = {member.member_id: member.topic_ids for member in members}
    owners: dict[tuple[UUID, int], str] = {}
    for member_id, target in assigned.items():
        for topic_id, indexes in target.items():
            if topic_id not in topic_ids.get(member_id, ()):
                raise AssignorError(f"member {member_id} is not subscribed to topic {topic_id}")
            for index in indexes:
                if not 0 <= index < partition_counts[topic_id]:
                    raise AssignorError(f"topic {topic_id} has no partition {index}")
                if owners.setdefault((topic_id, index), member_id) != member_id:
                    raise AssignorError(f"partition {index} of topic {topic_id} is given to two members")

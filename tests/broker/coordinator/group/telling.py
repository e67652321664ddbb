"""Puts what a coordinator does into the words of the transcripts, one line for each thing that happens."""

from collections.abc import Iterator

from broker.common.errors import ErrorCode
from broker.coordinator.group.records import OffsetKey, decode_group_value, decode_key, decode_offset_value
from broker.coordinator.outcome import CoordinatorOutcome
from tests.broker.coordinator.group.world import World


def lines_since(world: World) -> list[str]:
    """What has happened since the last time."""
    lines = [line for outcome in world.outcomes for line in _tell_outcome(world, outcome)]
    world.outcomes.clear()
    return lines


def _tell_outcome(world: World, outcome: CoordinatorOutcome) -> Iterator[str]:
    for note in outcome.notes:
        facts = " ".join(f"{name}={value}" for name, value in note.facts.items())
        yield f"note: {note.event}, {facts}"
    for record in outcome.records:
        yield f"log: {_tell_record(record.key, record.value)}"
    for answer in outcome.responses:
        sent = world.sent[answer.token]
        yield f"{sent.name}: {_tell_response(sent.response)}"


def _tell_record(key: bytes, value: bytes | None) -> str:
    decoded = decode_key(key)
    if isinstance(decoded, OffsetKey):
        what = "forgotten" if value is None else f"at {decode_offset_value(value).offset}"
        return f"{decoded.group_id}, {decoded.partition} {what}"
    if value is None:
        return f"{decoded.group_id}, deleted"
    generation = decode_group_value(value)
    words = [f"{decoded.group_id}, generation {generation.generation_id}"]
    if not generation.members:
        return f"{words[0]}, empty"
    words += [f"{generation.protocol_type}/{generation.protocol_name}", f"leader {generation.leader_id}"]
    words += [f"{member.member_id}={_text(member.assignment)}" for member in generation.members]
    return ", ".join(words)


def _tell_response(response) -> str:
    return _TELL[type(response).__name__](response)


def _tell_join(response) -> str:
    if response.error_code != ErrorCode.NONE:
        return f"JoinGroup {ErrorCode(response.error_code).name}, member {response.member_id or 'none'}"
    words = [
        f"JoinGroup generation {response.generation_id}",
        f"member {response.member_id}",
        f"leader {response.leader}",
        f"protocol {response.protocol_name}",
    ]
    if response.members:
        words.append(
            "members " + " ".join(f"{member.member_id}={_text(member.metadata)}" for member in response.members)
        )
    if response.skip_assignment:
        words.append("skip assignment")
    return ", ".join(words)


def _tell_sync(response) -> str:
    outcome = (
        _text(response.assignment) if response.error_code == ErrorCode.NONE else ErrorCode(response.error_code).name
    )
    return f"SyncGroup {outcome}"


def _tell_leave(response) -> str:
    members = [f"{m.member_id or m.group_instance_id} {ErrorCode(m.error_code).name}" for m in response.members]
    return "LeaveGroup " + (", ".join(members) or ErrorCode(response.error_code).name)


def _tell_partitions(response) -> str:
    partitions = [
        f"{topic.name}-{partition.partition_index} {ErrorCode(partition.error_code).name}"
        for topic in response.topics
        for partition in topic.partitions
    ]
    return ", ".join(partitions)


def _tell_offset_delete(response) -> str:
    return "OffsetDelete " + (_tell_partitions(response) or ErrorCode(response.error_code).name)


def _tell_fetch(response) -> str:
    partitions = [
        f"{topic.name}-{partition.partition_index} " + _tell_position(partition)
        for topic in response.groups[0].topics
        for partition in topic.partitions
    ]
    return "OffsetFetch " + (", ".join(partitions) or "nothing")


def _tell_position(partition) -> str:
    is_told = partition.error_code == ErrorCode.NONE
    return f"at {partition.committed_offset}" if is_told else ErrorCode(partition.error_code).name


def _tell_describe(response) -> str:
    group = response.groups[0]
    words = [f"DescribeGroups {group.group_id} is {group.group_state}"]
    if group.protocol_data:
        words.append(f"{group.protocol_type}/{group.protocol_data}")
    words += [f"{member.member_id}={_text(member.member_assignment)}" for member in group.members]
    return ", ".join(words)


def _tell_list(response) -> str:
    return "ListGroups " + (", ".join(f"{group.group_id} {group.group_state}" for group in response.groups) or "none")


def _tell_delete(response) -> str:
    return "DeleteGroups " + ", ".join(f"{r.group_id} {ErrorCode(r.error_code).name}" for r in response.results)


def _text(data: bytes) -> str:
    return f"<{bytes(data).decode()}>"


_TELL = {
    "JoinGroupResponse": _tell_join,
    "SyncGroupResponse": _tell_sync,
    "HeartbeatResponse": lambda response: f"Heartbeat {ErrorCode(response.error_code).name}",
    "LeaveGroupResponse": _tell_leave,
    "OffsetCommitResponse": lambda response: f"OffsetCommit {_tell_partitions(response)}",
    "TxnOffsetCommitResponse": lambda response: f"TxnOffsetCommit {_tell_partitions(response)}",
    "OffsetDeleteResponse": _tell_offset_delete,
    "OffsetFetchResponse": _tell_fetch,
    "DescribeGroupsResponse": _tell_describe,
    "ListGroupsResponse": _tell_list,
    "DeleteGroupsResponse": _tell_delete,
}

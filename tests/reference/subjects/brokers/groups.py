"""Classic groups: members that join, synchronise, beat and leave, committed offsets, and what is listed of it."""

from random import Random

from tests.reference.subjects.brokers.drawing import mostly, named, of, step
from tests.reference.subjects.brokers.topics import create

_GROUP = "{n}g"
_MEMBER = of("joined.member_id")


def _subscription(drawn: Random, protocol: str) -> str:
    """Return what consumers hand over (version 0): a topic, and the protocol's name as their own data."""
    topic = mostly(drawn, "{n}a", "{n}b")
    return f"\0\0\0\0\0\1\0\x08{topic}\0\0\0{chr(len(protocol))}{protocol}"


def _group(drawn: Random) -> str:
    return mostly(drawn, _GROUP, "{n}none", "", chance=0.08)


def _join(drawn: Random, member: object, instance: str | None, on: str = "a") -> dict:
    names = drawn.sample(["range", "roundrobin"], drawn.randint(1, 2))
    protocols = [{"name": name, "metadata": _subscription(drawn, name)} for name in names]
    made = step(
        drawn, "JOIN_GROUP", since=5 if instance else 0, group_id=_group(drawn),
        session_timeout_ms=mostly(drawn, 10_000, 1, 99_999_999, 0, chance=0.06),
        rebalance_timeout_ms=6_000,
        member_id=member, group_instance_id=instance, protocol_type=mostly(drawn, "consumer", "", "other", chance=0.06),
        protocols=mostly(drawn, protocols, [], chance=0.06), reason=mostly(drawn, None, "why"),
    )  # fmt: skip
    return {**made, "on": on}


def _generation(drawn: Random) -> object:
    return mostly(drawn, of("joined.generation_id"), of("joined.generation_id", plus=1), -1, 0, chance=0.12)


def _member(drawn: Random) -> object:
    return mostly(drawn, _MEMBER, "unknown", "", chance=0.12)


def _sync(drawn: Random, instance: str | None) -> dict:
    given = [{"member_id": _MEMBER, "assignment": "x"}]
    return step(
        drawn, "SYNC_GROUP", since=3 if instance else 0, group_id=_group(drawn), generation_id=_generation(drawn),
        member_id=_member(drawn), group_instance_id=mostly(drawn, instance, "{n}other", chance=0.05),
        protocol_type=mostly(drawn, "consumer", None, "other", chance=0.06),
        protocol_name=mostly(drawn, of("joined.protocol_name"), "other", None, chance=0.06),
        assignments=mostly(drawn, given, [], [{"member_id": "odd", "assignment": "y"}], chance=0.1),
    )  # fmt: skip


def _beat(drawn: Random) -> dict:
    instance = mostly(drawn, None, "{n}i", chance=0.1)
    return step(
        drawn, "HEARTBEAT", group_id=_group(drawn), generation_id=_generation(drawn), member_id=_member(drawn),
        group_instance_id=instance,
    )  # fmt: skip


def _leave(drawn: Random) -> dict:
    members = [{"member_id": _member(drawn), "group_instance_id": mostly(drawn, None, "{n}i", "{n}other")}]
    if drawn.random() < 0.2:
        members.append({"member_id": "", "group_instance_id": "{n}i"})
    return step(drawn, "LEAVE_GROUP", group_id=_group(drawn), member_id=_member(drawn), members=members)


def _commit(drawn: Random) -> dict:
    partitions = [
        {
            "partition_index": mostly(drawn, drawn.choice([0, 1]), 9, -1),
            "committed_offset": mostly(drawn, drawn.choice([0, 5]), -1, -2),
            "committed_leader_epoch": mostly(drawn, -1, 0, 4),
            "committed_metadata": mostly(drawn, drawn.choice(["", "text"]), None, "x" * 5000),
        }
        for _ in range(mostly(drawn, 1, 2, 0))
    ]
    topics = [{"name": mostly(drawn, "{n}a", "{n}none", "a b", chance=0.1), "partitions": partitions}]
    is_member = drawn.random() < 0.4
    return step(
        drawn, "OFFSET_COMMIT", group_id=_group(drawn),
        generation_id_or_member_epoch=_generation(drawn) if is_member else mostly(drawn, -1, 0, 7, chance=0.1),
        member_id=_member(drawn) if is_member else mostly(drawn, "", "unknown", chance=0.1),
        group_instance_id=mostly(drawn, None, "{n}i", chance=0.06), topics=topics,
    )  # fmt: skip


def _offsets(drawn: Random) -> dict:
    topics = [{"name": mostly(drawn, "{n}a", "{n}none", "a b"), "partition_indexes": mostly(drawn, [0, 1], [9], [])}]
    partitions: list | None = mostly(drawn, topics, None, [])
    group = {"group_id": _group(drawn), "topics": partitions, "member_id": None, "member_epoch": -1}
    groups = mostly(drawn, [group], [group, {**group, "group_id": "{n}none"}], [], chance=0.1)
    body = {
        "groups": groups,
        "group_id": _group(drawn),
        "topics": partitions,
        "require_stable": mostly(drawn, True, False),
    }
    return step(drawn, "OFFSET_FETCH", since=2 if partitions is None else 1, **body)


def _offsets_deleted(drawn: Random) -> dict:
    topics = [
        {"name": mostly(drawn, "{n}a", "{n}none"), "partitions": [{"partition_index": mostly(drawn, 0, 1, 9)}]}
        for _ in range(mostly(drawn, 1, 2, 0))
    ]
    return step(drawn, "OFFSET_DELETE", group_id=_group(drawn), topics=topics)


def _deleted(drawn: Random) -> dict:
    names = mostly(drawn, [_GROUP], [_GROUP, "{n}none"], [""], [_GROUP, _GROUP], [])
    return step(drawn, "DELETE_GROUPS", groups_names=names)


def _described(drawn: Random) -> dict:
    groups = mostly(drawn, [_GROUP], [_GROUP, "{n}none"], [""], [], [_GROUP, _GROUP])
    return step(drawn, "DESCRIBE_GROUPS", groups=groups, include_authorized_operations=mostly(drawn, False, True))


def _listed(drawn: Random) -> dict:
    states = mostly(drawn, [], ["Stable"], ["Empty"], ["stable", "Dead"], ["odd"])
    types = mostly(drawn, [], ["classic"], ["consumer"], ["Classic"], ["odd"])
    return step(drawn, "LIST_GROUPS", states_filter=states, types_filter=types)


def _coordinator(drawn: Random) -> dict:
    keys = mostly(drawn, [_GROUP], [_GROUP, "{n}none"], [""], [])
    kind = mostly(drawn, 0, 1, 5, -1)
    return step(drawn, "FIND_COORDINATOR", key=mostly(drawn, _GROUP, ""), key_type=kind, coordinator_keys=keys)


def _second_member(drawn: Random) -> list[dict]:
    """Another one joins, which the first learns of at its next heartbeat."""
    other = named(_join(drawn, "", None, "b"), "other")
    again = {**_join(drawn, of("other.member_id"), None, "b"), "later": True, "as": "waits"}
    beat = {**_beat(drawn), "until": 27}
    return [other, again, beat, named(_join(drawn, _MEMBER, None), "joined"), {"take": "waits"}, _described(drawn)]


_KINDS = [
    *(_beat, _leave, _commit, _offsets, _offsets_deleted, _deleted, _described, _listed, _coordinator),
]
_WEIGHTS = [2, 2, 4, 4, 2, 2, 3, 1, 1]


def dialogue(drawn: Random) -> list[dict]:
    """Return what happens in a group: of members mostly, or of offsets alone."""
    steps = [create(drawn, "{n}a", num_partitions=2)]
    has_members = drawn.random() < 0.65
    if has_members:
        instance = "{n}i" if drawn.random() < 0.25 else None
        steps.append(named(_join(drawn, mostly(drawn, "", "unknown", chance=0.08), instance), "joined"))
        if instance is None:
            steps.append(named(_join(drawn, _MEMBER, None), "joined"))
        if drawn.random() < 0.85:
            steps.append(_sync(drawn, instance))
        if drawn.random() < 0.2 and instance is None:
            steps += _second_member(drawn)
    for kind in drawn.choices(_KINDS, _WEIGHTS, k=drawn.randint(1, 5)):
        made = kind(drawn)
        steps.append(made if has_members else {**made, "body": _of_nobody(made["body"])})
    return [*steps, step(drawn, "DESCRIBE_GROUPS", groups=[_GROUP]), _offsets(drawn)]


def _of_nobody(node: object) -> object:
    """Return a body with an unknown member's id and a simple commit's generation where no member has joined."""
    if isinstance(node, list):
        return [_of_nobody(part) for part in node]
    if not isinstance(node, dict):
        return node
    if "$" in node:
        return "unknown" if node == _MEMBER else -1
    return {name: _of_nobody(part) for name, part in node.items()}

"""Where replicas are: moves, elections, log directories; and what a cluster and its coordinators tell of themselves."""

from random import Random

from tests.reference.dialogues.messages import FIRST_TIMESTAMP_MS
from tests.reference.subjects.brokers.drawing import mostly, some, step
from tests.reference.subjects.brokers.topics import create

_TOPICS = ["{n}a", "{n}none", "a b", ""]


def _topic(drawn: Random) -> str:
    return mostly(drawn, "{n}a", *_TOPICS, chance=0.2)


def _index(drawn: Random) -> int:
    return mostly(drawn, drawn.choice([0, 1]), 9, -1, chance=0.15)


def _moved(drawn: Random) -> dict:
    topics = []
    for _ in range(mostly(drawn, 1, 2, 0, chance=0.15)):
        replicas = mostly(drawn, [1], None, [], [2], [1, 1], [1, 2], [-1], chance=0.7)
        topics.append({"name": _topic(drawn), "partitions": [{"partition_index": _index(drawn), "replicas": replicas}]})
    return step(drawn, "ALTER_PARTITION_REASSIGNMENTS", topics=topics, timeout_ms=5000)


def _moving(drawn: Random) -> dict:
    topics = [{"name": _topic(drawn), "partition_indexes": mostly(drawn, [0], [0, 9], [])}]
    return step(drawn, "LIST_PARTITION_REASSIGNMENTS", topics=mostly(drawn, topics, None, []), timeout_ms=5000)


def _elected(drawn: Random) -> dict:
    topics = [{"topic": _topic(drawn), "partitions": mostly(drawn, [_index(drawn)], [0, 1], [])}]
    kind = mostly(drawn, 0, 1, 2, chance=0.3)
    return step(drawn, "ELECT_LEADERS", election_type=kind, topic_partitions=mostly(drawn, topics, []), timeout_ms=5000)


def _directories(drawn: Random) -> dict:
    topics = [{"topic": _topic(drawn), "partitions": mostly(drawn, [0], [0, 1], [9], [])}]
    return step(drawn, "DESCRIBE_LOG_DIRS", topics=mostly(drawn, topics, topics * 2, [], chance=0.2))


def _directory_changed(drawn: Random) -> dict:
    topics = [{"name": _topic(drawn), "partitions": mostly(drawn, [0], [9], [])}]
    return step(drawn, "ALTER_REPLICA_LOG_DIRS", dirs=[{"path": mostly(drawn, "/none", "", "none"), "topics": topics}])


def _written(drawn: Random) -> dict:
    batch = {"records": [{"value": "v", "timestamp": FIRST_TIMESTAMP_MS}]}
    data = [{"name": "{n}a", "partition_data": [{"index": 0, "records": [batch]}]}]
    return step(drawn, "PRODUCE", acks=-1, timeout_ms=3000, topic_data=data)


def _cluster(drawn: Random) -> dict:
    return step(
        drawn, "DESCRIBE_CLUSTER", include_cluster_authorized_operations=mostly(drawn, True, False),
        endpoint_type=mostly(drawn, 1, 0, 3),
    )  # fmt: skip


def _handshake(drawn: Random) -> dict:
    return {**step(drawn, "SASL_HANDSHAKE", mechanism=mostly(drawn, "PLAIN", "GSSAPI", "")), "on": "login"}


def dialogue(drawn: Random) -> list[dict]:
    """Return moves and elections where there is one broker, which none of them changes."""
    steps = [create(drawn, "{n}a", num_partitions=2)]
    kinds = [_moved, _moving, _elected, _directories, _directory_changed, _written, _cluster, _handshake]
    steps += [kind(drawn) for kind in drawn.choices(kinds, [5, 2, 3, 2, 2, 1, 1, 1], k=drawn.randint(1, 4))]
    seen = [{"name": name} for name in some(drawn, ["{n}a"])]
    return [*steps, step(drawn, "METADATA", since=4, topics=seen, allow_auto_topic_creation=False)]

"""CreateTopics, CreatePartitions, DeleteTopics, and what Metadata and DescribeTopicPartitions show of them."""

from random import Random

from tests.reference.subjects.brokers.drawing import mostly, named, of, some, step

_NAMES = ["{n}a", "{n}b", "{n}c"]
_ODD_NAMES = ["", ".", "..", "a b", "x" * 250, "{n}ä", "__consumer_offsets", "{n}a.b", "{n}a_b", "{n}/", "__{n}"]
_CONFIGS = [
    ("retention.ms", "1000"), ("retention.ms", "-1"), ("cleanup.policy", "compact"),
    ("cleanup.policy", "compact,delete"),
    ("segment.bytes", "1048576"), ("max.message.bytes", "2000"), ("compression.type", "zstd"),
]  # fmt: skip
_BAD_CONFIGS = [
    ("bad_option", "1"), ("retention.ms", "x"), ("retention.ms", "-2"), ("cleanup.policy", "none"),
    ("cleanup.policy", ""),
    ("compression.type", "br"), ("segment.bytes", "0"), ("max.message.bytes", None), ("min.insync.replicas", "0"),
    ("retention.ms", ""), ("unclean.leader.election.enable", "yes"), ("min.cleanable.dirty.ratio", "2"),
    ("segment.bytes", "1"), ("log.retention.ms", "1"), ("max.message.bytes", "1.5"),
    ("leader.replication.throttled.replicas", "x"), ("message.timestamp.type", "Never"), ("retention.ms", " 1000 "),
]  # fmt: skip
NO_ID = "00000000-0000-0000-0000-000000000000"
_SOME_ID = "11111111-2222-3333-4444-555555555555"


def create(drawn: Random, name: str, **fields: object) -> dict:
    """Return a step that creates a topic, well made if its fields are."""
    topic = {"name": name, "num_partitions": 1, "replication_factor": 1, **fields}
    return {"api": "CREATE_TOPICS", "version": 4, "body": {"topics": [topic], "timeout_ms": 10_000}}


def look(*names: str) -> dict:
    """Return a step that shows topics, by whose response later steps name their ids: `of("made.topics.0.topic_id")`."""
    topics = [{"name": name} for name in names]
    body = {"topics": topics, "allow_auto_topic_creation": False}
    return {"api": "METADATA", "version": 12, "body": body, "as": "made"}


def _topic(drawn: Random) -> dict:
    name = mostly(drawn, drawn.choice(_NAMES), *_ODD_NAMES)
    topic: dict = {
        "name": name,
        "num_partitions": mostly(drawn, drawn.choice([1, 2, -1]), 0, -2, chance=0.15),
        "replication_factor": mostly(drawn, drawn.choice([1, -1]), 0, 2, -2, 3, chance=0.15),
    }
    if drawn.random() < 0.2:
        topic["assignments"] = _assignments(drawn)
        topic |= mostly(drawn, {"num_partitions": -1, "replication_factor": -1}, {})
    if drawn.random() < 0.4:
        # Of several bad ones Kafka names the first in the order of a hash.
        pairs = some(drawn, _CONFIGS, 1, 2) if drawn.random() < 0.5 else [drawn.choice(_BAD_CONFIGS)]
        topic["configs"] = [{"name": key, "value": value} for key, value in pairs]
    return topic


def _assignments(drawn: Random) -> list[dict]:
    odd = [[2], [], [1, 1], [1, 2], [-1]]
    count = drawn.randint(1, 3)
    indexes = mostly(drawn, list(range(count)), [0, 2], [1], [0, 0], [-1])
    return [{"partition_index": index, "broker_ids": mostly(drawn, [1], *odd)} for index in indexes]


def _creation(drawn: Random) -> dict:
    return step(
        drawn, "CREATE_TOPICS", topics=[_topic(drawn) for _ in range(mostly(drawn, 1, 0, 2, 3))],
        timeout_ms=10_000, validate_only=mostly(drawn, False, True),
    )  # fmt: skip


def _more_partitions(drawn: Random) -> dict:
    topics = []
    for name in some(drawn, [*_NAMES, "{n}none", ""], 1, 2):
        topic: dict = {"name": name, "count": mostly(drawn, drawn.choice([2, 3]), 0, -1, 1), "assignments": None}
        if drawn.random() < 0.3:
            rows = [mostly(drawn, [1], [2], [], [1, 1], [1, 2], chance=0.4) for _ in range(drawn.randint(0, 3))]
            topic["assignments"] = [{"broker_ids": row} for row in rows]
        topics.append(topic)
    is_tried = mostly(drawn, False, True)
    return step(drawn, "CREATE_PARTITIONS", topics=topics, timeout_ms=10_000, validate_only=is_tried)


def _deletion(drawn: Random) -> dict:
    names = some(drawn, [*_NAMES, "{n}none", ""], 1, 2)
    if drawn.random() < 0.5:
        return step(drawn, "DELETE_TOPICS", until=5, topic_names=names, timeout_ms=10_000)
    topics: list[dict] = [{"name": name} for name in names]
    if drawn.random() < 0.4:
        topics.append(drawn.choice([{"topic_id": _SOME_ID}, {}, {"name": "{n}a", "topic_id": _SOME_ID}]))
    if drawn.random() < 0.3:
        topics = [{"topic_id": of("seen.topics.0.topic_id")}]
    return step(drawn, "DELETE_TOPICS", since=6, topics=topics, timeout_ms=10_000)


def _metadata(drawn: Random) -> dict:
    names = some(drawn, [*_NAMES, "{n}none", "a b", "__consumer_offsets"], 0, 3)
    topics: list[dict] | None = [{"name": name} for name in names]
    if drawn.random() < 0.3:
        topics = [{"name": None, "topic_id": drawn.choice([of("seen.topics.0.topic_id"), _SOME_ID, NO_ID])}]
    return step(
        drawn, "METADATA", since=4, topics=topics, allow_auto_topic_creation=False,
        include_cluster_authorized_operations=mostly(drawn, False, True),
        include_topic_authorized_operations=mostly(drawn, False, True),
    )  # fmt: skip


def _partitions(drawn: Random) -> dict:
    cursor = mostly(drawn, None, *({"topic_name": name, "partition_index": at} for name in _NAMES for at in (0, 1, -1)))
    topics = [{"name": name} for name in some(drawn, [*_NAMES, "{n}none", "a b"])]
    limit = mostly(drawn, 2000, 1, 0, -1)
    return step(drawn, "DESCRIBE_TOPIC_PARTITIONS", topics=topics, response_partition_limit=limit, cursor=cursor)


def _everything(drawn: Random) -> dict:
    topics = [{"name": name} for name in _NAMES]
    return named(step(drawn, "METADATA", since=4, topics=topics, allow_auto_topic_creation=False), "seen")


def dialogue(drawn: Random) -> list[dict]:
    """Return some changes, with a look after each."""
    steps = [_creation(drawn), _everything(drawn)]
    kinds = [_creation, _more_partitions, _deletion, _metadata, _partitions]
    for kind in drawn.choices(kinds, [3, 3, 2, 2, 1], k=drawn.randint(0, 3)):
        steps += [kind(drawn), _everything(drawn)]
    return steps

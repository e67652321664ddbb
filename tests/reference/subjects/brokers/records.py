"""Produce, Fetch with and without sessions, ListOffsets, OffsetForLeaderEpoch and DeleteRecords."""

from random import Random

from tests.reference.dialogues.messages import FIRST_TIMESTAMP_MS
from tests.reference.subjects.brokers.drawing import mostly, named, of, some, step
from tests.reference.subjects.brokers.topics import NO_ID, create, look

_TOPIC = "{n}a"
_CODECS = ["GZIP", "SNAPPY", "LZ4", "ZSTD"]
_CONFIGS = [
    ("max.message.bytes", "200"), ("message.timestamp.type", "LogAppendTime"), ("cleanup.policy", "compact"),
    ("compression.type", "gzip"), ("message.timestamp.before.max.ms", "1000"),
    ("message.timestamp.after.max.ms", "1000"), ("min.insync.replicas", "2"), ("segment.bytes", "1048576"),
]  # fmt: skip
#: Places in a batch: its length, magic, attributes, last offset delta, count of records.
_PATCHES = [(11, 9), (16, 1), (16, 3), (22, 7), (22, 32), (26, 9), (60, 9), (60, 0), (8, 128)]


def _made(drawn: Random) -> dict:
    pairs = some(drawn, _CONFIGS, 1, 2) if drawn.random() < 0.4 else []
    configs = [{"name": key, "value": value} for key, value in dict(pairs).items()]
    return create(drawn, _TOPIC, num_partitions=2, configs=configs)


def _records(drawn: Random) -> list[dict]:
    records = []
    for at in range(mostly(drawn, drawn.randint(1, 3), 10)):
        record: dict = {"value": mostly(drawn, f"v{at}", None, "x" * 300)}
        if drawn.random() < 0.6:
            record["key"] = mostly(drawn, f"k{drawn.randint(0, 2)}", "")
        if drawn.random() < 0.3:
            record["timestamp"] = drawn.choice(
                [-1, 0, FIRST_TIMESTAMP_MS - 5, FIRST_TIMESTAMP_MS + 50, 4_000_000_000_000]
            )
        if drawn.random() < 0.15:
            record["headers"] = [["h", "1"], ["h", None]]
        records.append(record)
    return records


def batch(drawn: Random, **fields: object) -> dict:
    """Return a batch, damaged now and then."""
    made: dict = {"records": _records(drawn), **fields}
    if drawn.random() < 0.3:
        made["compression"] = drawn.choice(_CODECS)
    odd = drawn.random()
    if odd < 0.06:
        made["is_damaged"] = True
    elif odd < 0.12:
        made["patches"] = [list(drawn.choice(_PATCHES))]
    elif odd < 0.15:
        made["cut"] = drawn.choice([5, 40, 70])
    elif odd < 0.18:
        made["is_control"] = True
    elif odd < 0.22:
        made["base_offset"] = 7
    elif odd < 0.26:
        made |= {"producer_id": 5, "producer_epoch": 0, "base_sequence": drawn.choice([0, 3, -1])}
    return made


def _produced(drawn: Random) -> dict:
    topic = mostly(drawn, _TOPIC, "{n}none", "a b", "", "__consumer_offsets", chance=0.1)
    records = mostly(drawn, [batch(drawn)], [], [batch(drawn), batch(drawn)], chance=0.1)
    partition = {"index": mostly(drawn, 0, 1, 5, -1), "records": records}
    partitions = mostly(drawn, [partition], [partition, partition], [], chance=0.06)
    return step(
        drawn, "PRODUCE", transactional_id=mostly(drawn, None, "{n}x", "", chance=0.06),
        acks=mostly(drawn, drawn.choice([-1, 1]), 2, -2, chance=0.06),
        timeout_ms=mostly(drawn, 3000, 0, -1, chance=0.06),
        topic_data=[{"name": topic, "partition_data": partitions}],
    )  # fmt: skip


def _idempotent(drawn: Random) -> list[dict]:
    """A producer of its own, whose sequence numbers now and then leave a gap or come again."""
    steps = [named(step(drawn, "INIT_PRODUCER_ID", transactional_id=None, transaction_timeout_ms=1000), "id")]
    producer = {"producer_id": of("id.producer_id"), "producer_epoch": mostly(drawn, 0, 1, -1, chance=0.1)}
    sequence = 0
    for _ in range(drawn.randint(1, 3)):
        at = max(0, mostly(drawn, sequence, sequence + 2, sequence - 1, 0))
        made = {"records": [{"value": "v"}], "base_sequence": at, **producer}
        data = [{"name": _TOPIC, "partition_data": [{"index": 0, "records": [made]}]}]
        steps.append(step(drawn, "PRODUCE", acks=-1, timeout_ms=3000, topic_data=data))
        sequence = at + 1
    producers = [{"name": _TOPIC, "partition_indexes": [0, mostly(drawn, 1, 7)]}]
    return [*steps, step(drawn, "DESCRIBE_PRODUCERS", topics=producers)]


def _listed(drawn: Random) -> dict:
    times = [-1, -2, -3, -4, -5, -6, -7, 0, FIRST_TIMESTAMP_MS, FIRST_TIMESTAMP_MS + 1, FIRST_TIMESTAMP_MS + 60]
    partitions = [
        {
            "partition_index": mostly(drawn, 0, 1, 9, -1),
            "current_leader_epoch": mostly(drawn, -1, 0, 5, -2),
            "timestamp": drawn.choice(times),
        }
        for _ in range(mostly(drawn, 1, 2, 0))
    ]
    topic = {"name": mostly(drawn, _TOPIC, "{n}none", "a b", chance=0.1), "partitions": partitions}
    replica = mostly(drawn, -1, -2, 1, chance=0.08)
    level = mostly(drawn, 0, 1, chance=0.2)
    return step(drawn, "LIST_OFFSETS", replica_id=replica, isolation_level=level, topics=[topic])


def _fetched(drawn: Random, **session: object) -> dict:
    partitions = [
        {
            "partition": mostly(drawn, 0, 1, 9, chance=0.2),
            "current_leader_epoch": mostly(drawn, -1, 0, 5, chance=0.2),
            "fetch_offset": mostly(drawn, drawn.choice([0, 1, 2]), 99, -1, chance=0.2),
            "last_fetched_epoch": mostly(drawn, -1, 0, 3, chance=0.1),
            "partition_max_bytes": mostly(drawn, 1_000_000, 1, 0, chance=0.15),
        }
    ]
    ids = mostly(drawn, of("made.topics.0.topic_id"), "11111111-2222-3333-4444-555555555555", NO_ID, chance=0.1)
    topic = {"topic": mostly(drawn, _TOPIC, "{n}none", "a b", chance=0.1), "topic_id": ids, "partitions": partitions}
    return step(
        drawn, "FETCH", max_wait_ms=mostly(drawn, 0, 20), min_bytes=mostly(drawn, 0, 1, 9_999_999),
        max_bytes=mostly(drawn, 10_000_000, 1, 0, chance=0.1), isolation_level=mostly(drawn, 0, 1),
        topics=[topic], **session,
    )  # fmt: skip


def _session(drawn: Random) -> list[dict]:
    """A session that is opened, gone on with, and now and then broken."""
    steps = [named(_fetched(drawn, session_id=0, session_epoch=0), "session")]
    version = max(steps[0]["version"], 7)
    steps[0]["body"]["topics"][0] |= {"topic": _TOPIC, "topic_id": of("made.topics.0.topic_id")}
    epoch = 1
    for _ in range(drawn.randint(1, 3)):
        identity = mostly(drawn, of("session.session_id"), 12345, 0, chance=0.15)
        following = _fetched(
            drawn, session_id=identity, session_epoch=mostly(drawn, epoch, epoch + 1, -1, 0, chance=0.2)
        )
        # Kafka's answers about several topics are in the order of a hash.
        following["body"]["topics"][0] |= {"topic": _TOPIC, "topic_id": of("made.topics.0.topic_id")}
        if drawn.random() < 0.6:
            following["body"]["topics"] = []
        if drawn.random() < 0.2:
            forgotten = {"topic": _TOPIC, "topic_id": of("made.topics.0.topic_id"), "partitions": [0]}
            following["body"]["forgotten_topics_data"] = [forgotten]
        steps.append({**following, "version": mostly(drawn, version, 12, 13, chance=0.1)})
        epoch += 1
    steps[0]["version"] = version
    return steps


def _epochs(drawn: Random) -> dict:
    partition = {
        "partition": mostly(drawn, 0, 1, 9),
        "current_leader_epoch": mostly(drawn, -1, 0, 3),
        "leader_epoch": mostly(drawn, 0, -1, 1, 5),
    }
    topics = [{"topic": mostly(drawn, _TOPIC, "{n}none"), "partitions": [partition]}]
    return step(drawn, "OFFSET_FOR_LEADER_EPOCH", replica_id=mostly(drawn, -1, -2), topics=topics)


def _cut(drawn: Random) -> dict:
    partitions = [
        {"partition_index": mostly(drawn, 0, 1, 9, -1), "offset": mostly(drawn, drawn.choice([-1, 0, 1, 2]), 99, -2)}
        for _ in range(mostly(drawn, 1, 2))
    ]
    topics = [{"name": mostly(drawn, _TOPIC, "{n}none", "a b", "__consumer_offsets"), "partitions": partitions}]
    return step(drawn, "DELETE_RECORDS", topics=topics, timeout_ms=3000)


def dialogue(drawn: Random) -> list[dict]:
    """Return what is written into a topic, read and cut off there."""
    steps = [_made(drawn), look(_TOPIC), _produced(drawn)]
    for kind in drawn.choices([_produced, _listed, _fetched, _epochs, _cut], [4, 3, 3, 1, 2], k=drawn.randint(1, 4)):
        steps.append(kind(drawn))
    if drawn.random() < 0.3:
        steps += _idempotent(drawn)
    if drawn.random() < 0.3:
        steps += _session(drawn)
    return [*steps, _fetched(drawn)]

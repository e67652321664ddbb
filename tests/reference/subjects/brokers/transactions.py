"""Transactions: their producers, partitions and offsets, their ends, and what is described of them."""

from random import Random

from tests.reference.subjects.brokers.drawing import mostly, named, of, some, step
from tests.reference.subjects.brokers.topics import create, look

_ID, _GROUP = "{n}x", "{n}g"
_NO_TOPIC = "00000000-0000-0000-0000-000000000404"


def _begin(drawn: Random, held: bool = False) -> dict:
    body: dict = {
        "transactional_id": mostly(drawn, _ID, "", None, chance=0.04),
        "transaction_timeout_ms": mostly(drawn, 60_000, 0, -1, 99_999_999, 50_000, chance=0.06),
    }
    if held:
        body |= {"producer_id": of("init.producer_id"), "producer_epoch": of("init.producer_epoch")}
        body |= mostly(drawn, {}, {"producer_epoch": -1}, {"producer_id": 77}, {"producer_epoch": 5}, chance=0.2)
    return named(step(drawn, "INIT_PRODUCER_ID", since=3 if held else 0, **body), "init")


def _producer(drawn: Random) -> dict:
    usual = {"producer_id": of("init.producer_id"), "producer_epoch": of("init.producer_epoch")}
    odd = [
        {**usual, "producer_epoch": of("init.producer_epoch", plus=1)},
        {**usual, "producer_epoch": of("init.producer_epoch", plus=-1)},
        {**usual, "producer_id": 77},
        {"producer_id": -1, "producer_epoch": -1},
    ]
    return mostly(drawn, usual, *odd, chance=0.1)


def _id(drawn: Random) -> str:
    return mostly(drawn, _ID, "{n}other", "", chance=0.06)


def _partitions(drawn: Random) -> dict:
    names = some(drawn, ["{n}a", "{n}none", "a b"], 1, 2) if drawn.random() < 0.15 else ["{n}a"]
    topics = [{"name": name, "partitions": mostly(drawn, [0], [0, 1], [9], [], chance=0.3)} for name in names]
    producer = _producer(drawn)
    return step(
        drawn, "ADD_PARTITIONS_TO_TXN", v3_and_below_transactional_id=_id(drawn),
        v3_and_below_producer_id=producer["producer_id"], v3_and_below_producer_epoch=producer["producer_epoch"],
        v3_and_below_topics=topics,
    )  # fmt: skip


def _topic(drawn: Random, *, is_known: bool = True) -> dict:
    """Return the topic by its name and by its id; a version has one of them."""
    usual = {"name": "{n}a", "topic_id": of("made.topics.0.topic_id")}
    return usual if is_known else mostly(drawn, usual, {"name": "{n}none", "topic_id": _NO_TOPIC})


def _written(drawn: Random, since: int = 0) -> dict:
    producer = _producer(drawn)
    batch = {
        "records": [{"value": "v"}],
        **producer,
        "base_sequence": mostly(drawn, 0, 1, 2),
        "is_transactional": mostly(drawn, True, False, chance=0.06),
    }
    partitions = [{"index": mostly(drawn, 0, 1), "records": [batch]}]
    data = [{**_topic(drawn, is_known=drawn.random() < 0.9), "partition_data": partitions}]
    identity = mostly(drawn, _ID, None, "{n}other", chance=0.06)
    return step(drawn, "PRODUCE", since=since, transactional_id=identity, acks=-1, timeout_ms=3000, topic_data=data)


def _group_added(drawn: Random) -> dict:
    group = mostly(drawn, _GROUP, "", chance=0.05)
    return step(drawn, "ADD_OFFSETS_TO_TXN", transactional_id=_id(drawn), group_id=group, **_producer(drawn))


def _offsets_committed(drawn: Random, since: int = 0) -> dict:
    partition = {
        "partition_index": mostly(drawn, 0, 9),
        "committed_offset": mostly(drawn, 3, -1),
        "committed_leader_epoch": mostly(drawn, -1, 0),
        "committed_metadata": mostly(drawn, "", None, "x" * 5000),
    }
    topics = [{**_topic(drawn, is_known=False), "partitions": [partition]}]
    member: dict = mostly(drawn, {}, {"generation_id": 1, "member_id": "m"}, {"generation_id": 4}, chance=0.15)
    return step(
        drawn, "TXN_OFFSET_COMMIT", since=max(since, 3 if member else 0), transactional_id=_id(drawn), group_id=_GROUP,
        topics=topics, **_producer(drawn), **member,
    )  # fmt: skip


def _end(drawn: Random) -> dict:
    return step(drawn, "END_TXN", transactional_id=_id(drawn), committed=mostly(drawn, True, False), **_producer(drawn))


def _described(drawn: Random) -> dict:
    identities = mostly(drawn, [_ID], [_ID, "{n}none"], [""], [_ID, _ID])
    return step(drawn, "DESCRIBE_TRANSACTIONS", transactional_ids=identities)


def _listed(drawn: Random) -> dict:
    states = mostly(drawn, [], ["Ongoing"], ["CompleteCommit", "odd"], ["Empty", "Dead"], ["ongoing"])
    producers = mostly(drawn, [], [of("init.producer_id")], [77])
    return step(
        drawn, "LIST_TRANSACTIONS", state_filters=states, producer_id_filters=producers,
        duration_filter=mostly(drawn, -1, 0, 9_999_999),
    )  # fmt: skip


def _producers(drawn: Random) -> dict:
    topics = [{"name": mostly(drawn, "{n}a", "{n}none"), "partition_indexes": mostly(drawn, [0], [0, 9], [])}]
    return step(drawn, "DESCRIBE_PRODUCERS", topics=topics)


def _read(drawn: Random) -> dict:
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1_000_000}
    topics = [{"topic": "{n}a", "topic_id": of("made.topics.0.topic_id"), "partitions": [partition]}]
    level = mostly(drawn, 1, 0)
    return step(drawn, "FETCH", max_wait_ms=0, min_bytes=0, max_bytes=10_000_000, isolation_level=level, topics=topics)


def _offsets(drawn: Random) -> dict:
    group = {"group_id": _GROUP, "topics": None, "member_id": None, "member_epoch": -1}
    is_stable = mostly(drawn, False, True, chance=0.4)
    return step(drawn, "OFFSET_FETCH", since=2, groups=[group], group_id=_GROUP, topics=None, require_stable=is_stable)


def _marker(drawn: Random) -> dict:
    """As kafka-transactions aborts one that hangs."""
    marker = {
        **_producer(drawn),
        "transaction_result": False,
        "coordinator_epoch": mostly(drawn, -1, 0),
        "topics": [{"name": mostly(drawn, "{n}a", "{n}none"), "partition_indexes": mostly(drawn, [0], [9])}],
    }
    return step(drawn, "WRITE_TXN_MARKERS", markers=mostly(drawn, [marker], []))


def _again(drawn: Random) -> dict:
    return _begin(drawn, held=drawn.random() < 0.5)


_KINDS = [
    *(_partitions, _written, _group_added, _offsets_committed, _end, _described, _listed, _producers, _read, _offsets),
    *(_marker, _again),
]
_WEIGHTS = [3, 4, 2, 3, 4, 2, 1, 2, 2, 2, 1, 2]


def _raised(drawn: Random) -> list[dict]:
    """Return what a producer does that adds no partitions itself, and goes on with what each end answers (KIP-890)."""
    steps = []
    for _ in range(drawn.randint(1, 3)):
        doings = [lambda: _written(drawn, since=12), lambda: _offsets_committed(drawn, since=5)]
        steps += [mostly(drawn, doings[0], doings[1], chance=0.35)() for _ in range(drawn.randint(0, 2))]
        end = step(
            drawn,
            "END_TXN",
            since=5,
            transactional_id=_id(drawn),
            committed=mostly(drawn, True, False),
            **_producer(drawn),
        )
        repeated = [{**end}] if drawn.random() < 0.25 else []
        steps += [*repeated, named(end, "init") if drawn.random() < 0.85 else end]
        if drawn.random() < 0.3:
            steps.append(_described(drawn))
    return steps


def dialogue(drawn: Random) -> list[dict]:
    """Return a producer's doings, in their usual order mostly."""
    steps = [create(drawn, "{n}a", num_partitions=2), look("{n}a"), _begin(drawn)]
    if drawn.random() < 0.4:
        return [*steps, *_raised(drawn), _described(drawn), _read(drawn), _offsets(drawn)]
    if drawn.random() < 0.6:
        steps += [_partitions(drawn), _written(drawn)]
    if drawn.random() < 0.3:
        steps += [_group_added(drawn), _offsets_committed(drawn)]
    for kind in drawn.choices(_KINDS, _WEIGHTS, k=drawn.randint(1, 5)):
        steps.append(kind(drawn))
    return [*steps, _described(drawn), _read(drawn)]

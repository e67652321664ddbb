"""The same command lines through our tools and through Kafka's, each at home or both at one cluster."""

from random import Random

from tests.reference.comparison import Subject
from tests.reference.dialogues.pieces import pieces, smaller
from tests.reference.dialogues.sides import BROKERS, outcome_of_ours
from tests.reference.subjects.brokers.drawing import mostly
from tests.reference.subjects.brokers.topics import create

_TOPIC, _GROUP = "{n}a", "{n}g"


def _typed(tool: str, *words: str | list[str]) -> dict:
    flat = [part for word in words for part in ([word] if isinstance(word, str) else word)]
    return {"tool": tool, "words": flat}


def _maybe(drawn: Random, *words: str, chance: float = 0.3) -> list[str]:
    return list(words) if drawn.random() < chance else []


def _written(drawn: Random) -> dict:
    records = [{"key": f"k{at}", "value": f"v{at}"} for at in range(drawn.randint(1, 4))]
    data = [{"name": _TOPIC, "partition_data": [{"index": 0, "records": [{"records": records}]}]}]
    return {"api": "PRODUCE", "version": 9, "body": {"acks": -1, "timeout_ms": 3000, "topic_data": data}}


def _committed(drawn: Random) -> dict:
    partition = {"partition_index": 0, "committed_offset": drawn.randint(0, 2), "committed_metadata": ""}
    topics = [{"name": _TOPIC, "partitions": [partition]}]
    body = {"group_id": _GROUP, "generation_id_or_member_epoch": -1, "member_id": "", "topics": topics}
    return {"api": "OFFSET_COMMIT", "version": 8, "body": body}


def _topic_name(drawn: Random) -> str:
    return mostly(drawn, _TOPIC, "{n}none", "{n}.*", "a b", "", chance=0.2)


def _of_topics(drawn: Random) -> dict:
    name = _topic_name(drawn)
    match drawn.choice(["create", "describe", "alter", "delete", "odd"]):
        case "create":
            return _typed(
                "kafka-topics", "--create", "--topic", mostly(drawn, "{n}b", _TOPIC, "{n}b.c", "a b", ""),
                _maybe(drawn, "--partitions", drawn.choice(["1", "2", "0", "x", "-1"])),
                _maybe(drawn, "--replication-factor", drawn.choice(["1", "2", "0", "x"])),
                _maybe(drawn, "--config", drawn.choice(["retention.ms=1000", "retention.ms=x", "bad=1", "x", "a=b=c"])),
                _maybe(drawn, "--if-not-exists"),
                _maybe(drawn, "--replica-assignment", drawn.choice(["1", "1:1", "2", "1,1", "x"]), chance=0.1),
            )  # fmt: skip
        case "describe":
            kinds = ["--under-replicated-partitions", "--topics-with-overrides", "--unavailable-partitions"]
            kinds += ["--exclude-internal", "--at-min-isr-partitions", "--under-min-isr-partitions", "--if-exists"]
            return _typed("kafka-topics", "--describe", "--topic", name, _maybe(drawn, drawn.choice(kinds), chance=0.4))
        case "alter":
            count = drawn.choice(["2", "3", "1", "0", "x"])
            return _typed(
                "kafka-topics", "--alter", "--topic", name, "--partitions", count, _maybe(drawn, "--if-exists")
            )
        case "delete":
            return _typed("kafka-topics", "--delete", "--topic", name, _maybe(drawn, "--if-exists"))
    odd = [
        ["--create"],
        ["--create", "--list"],
        ["--describe", "--create", "--topic", "x"],
        ["--delete"],
        ["--nonsense"],
    ]
    odd += [["--list", "--topic", _TOPIC], ["--list", "--partitions", "1"], ["--alter", "--topic", _TOPIC], ["--alter"]]
    odd += [["--create", "--topic", _TOPIC, "--if-exists"], ["--delete", "--topic", _TOPIC, "--if-not-exists"], []]
    odd += [["--describe", "--topic-id", "x"], ["--alter", "--topic", _TOPIC, "--config", "a=b"], ["--partitions"]]
    return _typed("kafka-topics", drawn.choice(odd))


def _of_configs(drawn: Random) -> dict:
    entities = [
        ["--entity-type", "topics", "--entity-name", _TOPIC], ["--topic", _TOPIC], ["--entity-type", "topics"],
        ["--entity-type", "brokers", "--entity-name", "1"], ["--entity-type", "brokers", "--entity-default"],
        ["--broker", "1"], ["--broker-defaults"], ["--entity-type", "users", "--entity-name", "{n}u"],
        ["--user", "{n}u"], ["--client", "{n}c"], ["--user", "{n}u", "--client", "{n}c"], ["--user-defaults"],
        ["--entity-type", "clients", "--entity-default"], ["--ip", "127.0.0.1"],
        ["--entity-type", "ips", "--entity-default"],
        ["--entity-type", "topics", "--entity-name", "{n}none"], ["--entity-type", "brokers", "--entity-name", "x"],
        ["--entity-type", "odd"], ["--entity-name", "x"],
        ["--entity-type", "topics", "--entity-default"], ["--topic", _TOPIC, "--broker", "1"],
    ]  # fmt: skip
    entity = drawn.choice(entities)
    if drawn.random() < 0.4 and entity != ["--entity-type", "topics"]:
        return _typed("kafka-configs", "--describe", entity)
    settings = ["retention.ms=1000", "retention.ms=x", "bad=1", "cleanup.policy=[compact,delete]", "x", "", "a=b=c"]
    settings += ["log.cleaner.threads=2", "producer_byte_rate=10", "consumer_byte_rate=x", "connection_creation_rate=5"]
    settings += [
        "request_percentage=5,producer_byte_rate=7",
        "SCRAM-SHA-256=[iterations=4096,password=p]",
        "broker.id=3",
    ]
    settings += ["SCRAM-SHA-256=[iterations=1,password=p]", "log.dirs=/x", "retention.ms="]
    added = ["--add-config", drawn.choice(settings)]
    deleted = [
        "--delete-config",
        drawn.choice(["retention.ms", "bad", "producer_byte_rate", "log.cleaner.threads", ""]),
    ]
    what = mostly(drawn, added, deleted, [*added, *deleted], [])
    return _typed("kafka-configs", "--alter", entity, what)


def _of_groups(drawn: Random) -> dict:
    group = ["--group", mostly(drawn, _GROUP, "{n}none", "")]
    match drawn.choice(["describe", "reset", "delete", "offsets", "odd"]):
        case "describe":
            kinds = [
                "--members",
                "--state",
                "--offsets",
                "--verbose",
                "--members --verbose",
                "--state Stable",
                "--all-groups",
            ]
            return _typed(
                "kafka-consumer-groups", "--describe", group, _maybe(drawn, *drawn.choice(kinds).split(), chance=0.6)
            )
        case "reset":
            goals = ["--to-earliest", "--to-latest", "--shift-by 1", "--shift-by -1", "--to-offset 1", "--to-offset 99"]
            goals += ["--to-datetime 2023-11-14T22:13:20.000", "--by-duration PT1S", "--to-current", "--to-offset x"]
            goals += ["--by-duration x", "--to-datetime x", "--to-earliest --to-latest", ""]
            topics = mostly(
                drawn, ["--topic", _TOPIC], ["--topic", f"{_TOPIC}:0"], ["--all-topics"], ["--topic", f"{_TOPIC}:9"], []
            )
            ends = mostly(drawn, "--execute", "--dry-run", "--export", "", "--export --dry-run").split()
            return _typed("kafka-consumer-groups", "--reset-offsets", group, topics, drawn.choice(goals).split(), ends)
        case "delete":
            return _typed("kafka-consumer-groups", "--delete", group)
        case "offsets":
            topic = mostly(drawn, _TOPIC, f"{_TOPIC}:0", f"{_TOPIC}:9", "{n}none")
            return _typed("kafka-consumer-groups", "--delete-offsets", group, "--topic", topic)
    odd = [
        ["--describe"],
        ["--delete"],
        ["--reset-offsets"],
        ["--list", "--describe"],
        [],
        ["--describe", "--topic", "x"],
    ]
    odd += [
        ["--validate-regex", "a.*"],
        ["--describe", "--group", _GROUP, "--all-groups"],
        ["--delete-offsets", *group],
    ]
    odd += [["--list", "--state", "odd"], ["--describe", "--group", _GROUP, "--members", "--state"]]
    return _typed("kafka-consumer-groups", drawn.choice(odd))


def _of_acls(drawn: Random) -> dict:
    resource = drawn.choice(
        [["--topic", _TOPIC], ["--group", _GROUP], ["--cluster"], ["--transactional-id", "{n}x"], ["--topic", "*"], []]
        + [["--topic", _TOPIC, "--resource-pattern-type", kind] for kind in ("prefixed", "any", "match", "odd")]
        + [["--topic", _TOPIC, "--group", _GROUP], ["--delegation-token", "x"], ["--user-principal", "User:{n}v"]]
    )
    if drawn.random() < 0.3:
        return _typed("kafka-acls", "--list", resource, _maybe(drawn, "--principal", "User:{n}u"))
    whom = mostly(
        drawn, ["--allow-principal", "User:{n}u"], ["--deny-principal", "User:{n}u"], ["--allow-principal", "u"], []
    )
    operations = [
        ["--operation", name] for name in ("Read", "All", "write", "Describe", "odd", "Create", "ClusterAction")
    ]
    operations += [
        ["--producer"],
        ["--consumer"],
        ["--producer", "--idempotent"],
        [],
        ["--operation", "Read", "--operation", "Write"],
    ]
    hosts = _maybe(drawn, mostly(drawn, "--allow-host", "--deny-host"), mostly(drawn, "127.0.0.1", "x"))
    action = mostly(drawn, "--add", "--remove", "--list", chance=0.4)
    force = ["--force"] if action == "--remove" else []
    return _typed("kafka-acls", action, force, resource, whom, drawn.choice(operations), hosts)


def _of_offsets(drawn: Random) -> dict:
    time = mostly(
        drawn, [], *(["--time", value] for value in ("-1", "earliest", "-2", "latest", "max-timestamp", "x", "-3"))
    )
    topic = mostly(
        drawn, ["--topic", _TOPIC], ["--topic", "{n}none"], ["--topic", "{n}.*"], ["--topic-partitions", f"{_TOPIC}:0"]
    )
    partitions = _maybe(drawn, "--partitions", drawn.choice(["0", "0,1", "9", "x"]))
    odd = _maybe(drawn, drawn.choice(["--exclude-internal-topics", "--nonsense"]), chance=0.15)
    return _typed("kafka-get-offsets", topic, time, partitions, odd)


_OTHERS = """
kafka-log-dirs --describe --topic-list {n}a
kafka-log-dirs --describe --topic-list {n}none
kafka-log-dirs --describe --broker-list 1 --topic-list {n}a
kafka-log-dirs
kafka-transactions list
kafka-transactions describe --transactional-id {n}x
kafka-transactions describe-producers --topic {n}a --partition 0
kafka-transactions describe-producers --topic {n}a --partition 9
kafka-transactions describe-producers --topic {n}a --partition x
kafka-transactions find-hanging --topic {n}a
kafka-transactions find-hanging
kafka-transactions odd
kafka-transactions describe
kafka-transactions abort
kafka-features odd
kafka-features upgrade
kafka-cluster odd
kafka-cluster cluster-id --nonsense
kafka-leader-election --election-type preferred --topic {n}a --partition 0
kafka-leader-election --election-type unclean --topic {n}a --partition 0
kafka-leader-election --election-type odd --topic {n}a --partition 0
kafka-leader-election --election-type preferred --topic {n}none --partition 0
kafka-leader-election --election-type preferred --topic {n}a --partition 9
kafka-leader-election --election-type preferred --topic {n}a
kafka-leader-election --election-type preferred --all-topic-partitions
kafka-leader-election --election-type preferred
kafka-leader-election --all-topic-partitions
kafka-reassign-partitions --list
kafka-reassign-partitions --execute
kafka-reassign-partitions --verify
kafka-reassign-partitions --generate
kafka-reassign-partitions --cancel
kafka-reassign-partitions
kafka-delete-records
kafka-delete-records --offset-json-file /none
"""


def _of_others(drawn: Random) -> dict:
    tool, *words = drawn.choice(_OTHERS.split("\n")[1:-1]).split()
    return _typed(tool, words)


_TOOLS = {
    "topics": _of_topics,
    "configs": _of_configs,
    "groups": _of_groups,
    "acls": _of_acls,
    "offsets": _of_offsets,
    "others": _of_others,
}


def _subject(name: str, cases: int) -> Subject:
    def make(drawn: Random) -> dict:
        steps = [create(drawn, _TOPIC, num_partitions=2)]
        if name in ("groups", "offsets", "others"):
            steps += [_written(drawn), *([_committed(drawn)] if name == "groups" and drawn.random() < 0.8 else [])]
        steps += [_TOOLS[name](drawn) for _ in range(drawn.randint(1, 3))]
        where = {} if drawn.random() < 0.6 else {"at": drawn.choice(["ours", "kafka"])}
        return {"op": "commands", **where, "steps": steps}

    return Subject(f"commands_{name}", make, outcome_of_ours, cases, BROKERS, pieces, smaller)


COMMANDS = [
    _subject(name, cases)
    for name, cases in (
        ("topics", 200),
        ("configs", 200),
        ("groups", 200),
        ("acls", 150),
        ("offsets", 100),
        ("others", 100),
    )
]

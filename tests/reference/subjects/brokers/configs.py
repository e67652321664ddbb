"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs of topics and brokers."""

from random import Random

from tests.reference.subjects.brokers.drawing import mostly, some, step
from tests.reference.subjects.brokers.topics import create

_TOPIC, _BROKER, _LOGGER = 2, 4, 8
_OF_TOPICS = {
    "retention.ms": ["1000", "-1", "x", "-2", "", " 5 ", "9223372036854775808"],
    "cleanup.policy": ["compact", "delete", "compact,delete", "delete,", "none", "", "delete,delete"],
    "compression.type": ["gzip", "producer", "uncompressed", "br", "GZIP"],
    "segment.bytes": ["1048576", "14", "1", "0", "2147483648"],
    "max.message.bytes": ["0", "100", "-1", "1.0"],
    "min.insync.replicas": ["1", "2", "0", "-1"],
    "unclean.leader.election.enable": ["true", "TRUE", "false", "yes"],
    "min.cleanable.dirty.ratio": ["0.5", "0", "1", "2", "-0.1", "1e-1", "NaN"],
    "message.timestamp.type": ["CreateTime", "LogAppendTime", "createtime"],
    "leader.replication.throttled.replicas": ["*", "0:1", "0:1,1:1", "", "x", "0-1", "none"],
    "preallocate": ["true", "0"],
    "message.timestamp.before.max.ms": ["1000", "-1"],
    "compression.gzip.level": ["-1", "1", "10", "0"],
    "compression.zstd.level": ["3", "-131073", "23"],
    "remote.storage.enable": ["false", "true"],
    "local.retention.ms": ["-2", "-1", "1000"],
    "remote.log.copy.disable": ["false", "true"],
    "remote.log.delete.on.disable": ["false", "true"],
    "segment.ms": ["1", "0"],
    "flush.messages": ["1", "0"],
    "index.interval.bytes": ["4096", "-1"],
    "file.delete.delay.ms": ["0", "-1"],
    "bad_option": ["1"],
    "": ["1"],
    "message.format.version": ["3.0"],
    "message.downconversion.enable": ["true"],
    "log.retention.ms": ["1"],
}
_OF_BROKERS = {
    "log.retention.ms": ["1000", "-1", "x", "-2"],
    "log.cleaner.threads": ["1", "2", "0", "x"],
    "message.max.bytes": ["1000", "-1", "2000000"],
    "num.io.threads": ["8", "9", "1", "0"],
    "background.threads": ["10", "11", "0"],
    "max.connections": ["100", "-1"],
    "max.connections.per.ip": ["100", "0"],
    "max.connections.per.ip.overrides": ["127.0.0.1:100", "x", ""],
    "compression.type": ["gzip", "br"],
    "log.segment.bytes": ["1048576", "1"],
    "min.insync.replicas": ["1", "0"],
    "unclean.leader.election.enable": ["true", "x"],
    "log.cleanup.policy": ["compact", "none"],
    "leader.replication.throttled.rate": ["1000", "-1"],
    "follower.replication.throttled.rate": ["1000"],
    "broker.id": ["5"],
    "log.dirs": ["/x"],
    "num.partitions": ["3"],
    "auto.create.topics.enable": ["false"],
    "bad_option": ["1"],
    "listeners": ["PLAINTEXT://127.0.0.1:1"],
    "ssl.keystore.location": ["/none"],
    "metric.reporters": [""],
    "log.message.timestamp.type": ["LogAppendTime", "x"],
    "log.roll.ms": ["1", "0"],
}
_KEYS_SHOWN = [key for key in _OF_TOPICS if key]
#: What a broker is asked for: keys that both kinds have.
_BROKER_KEYS = [
    *_OF_BROKERS,
    "log.retention.hours",
    "log.retention.bytes",
    "offsets.topic.num.partitions",
    "num.network.threads",
]
_BROKER_KEYS = [key for key in _BROKER_KEYS if key not in ("listeners", "broker.id", "log.dirs")]


def _topic_resource(drawn: Random) -> tuple[int, str]:
    name = mostly(drawn, "{n}a", "{n}none", "", "a b", "__consumer_offsets", chance=0.15)
    return _TOPIC, name


def _broker_resource(drawn: Random) -> tuple[int, str]:
    return _BROKER, mostly(drawn, drawn.choice(["1", ""]), "2", "x", "-1", chance=0.15)


def _described(drawn: Random) -> dict:
    resources = []
    for _ in range(mostly(drawn, 1, 0, 2)):
        kind, name = mostly(drawn, _topic_resource(drawn), _broker_resource(drawn), (0, "x"), (3, "x"), chance=0.3)
        # All the keys of a broker: those of KRaft, of ZooKeeper, and what each side was started with.
        keys: list[str] | None = some(drawn, _BROKER_KEYS, 1, 4) if kind == _BROKER else some(drawn, _KEYS_SHOWN, 0, 4)
        resources.append({"resource_type": kind, "resource_name": name, "configuration_keys": keys})
    return step(drawn, "DESCRIBE_CONFIGS", resources=resources, include_synonyms=mostly(drawn, True, False))


def _incremental(drawn: Random) -> dict:
    resources = []
    for _ in range(mostly(drawn, 1, 0, 2, chance=0.1)):
        kind, name = _topic_resource(drawn) if drawn.random() < 0.6 else _broker_resource(drawn)
        values = _OF_TOPICS if kind == _TOPIC else _OF_BROKERS
        configs = [
            {
                "name": key,
                "config_operation": mostly(drawn, 0, 1, 2, 3, 4, -1, chance=0.4),
                "value": mostly(drawn, drawn.choice(values[key]), None, chance=0.1),
            }
            for key in some(drawn, list(values), 1, 2)
        ]
        kind = mostly(drawn, kind, 0, 3, chance=0.05)
        resources.append({"resource_type": kind, "resource_name": name, "configs": configs})
    return step(drawn, "INCREMENTAL_ALTER_CONFIGS", resources=resources, validate_only=mostly(drawn, False, True))


def _replaced(drawn: Random) -> dict:
    kind, name = _topic_resource(drawn) if drawn.random() < 0.7 else _broker_resource(drawn)
    values = _OF_TOPICS if kind == _TOPIC else _OF_BROKERS
    configs = [
        {"name": key, "value": mostly(drawn, drawn.choice(values[key]), None, chance=0.1)}
        for key in some(drawn, list(values), 0, 2)
    ]
    resource = {"resource_type": kind, "resource_name": name, "configs": configs}
    return step(drawn, "ALTER_CONFIGS", resources=[resource], validate_only=mostly(drawn, False, True))


def _look(drawn: Random, changed: dict) -> dict:
    """What was to be changed is described with all its synonyms."""
    resources = [
        {
            "resource_type": resource["resource_type"],
            "resource_name": resource["resource_name"],
            "configuration_keys": [config["name"] for config in resource["configs"]],
        }
        for resource in changed["body"]["resources"]
    ]
    return step(drawn, "DESCRIBE_CONFIGS", resources=resources, include_synonyms=True)


def dialogue(drawn: Random) -> list[dict]:
    """Return changes of configurations, each with what it has become."""
    steps = [create(drawn, "{n}a")]
    if drawn.random() < 0.3:
        steps.append(_described(drawn))
    for _ in range(drawn.randint(1, 3)):
        changed = _incremental(drawn) if drawn.random() < 0.7 else _replaced(drawn)
        steps += [changed, _look(drawn, changed)]
    return steps

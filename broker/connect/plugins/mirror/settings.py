"""The settings of the mirror's connectors, under Kafka's names, and what they mean."""

import re
from collections.abc import Mapping
from typing import Any

from broker.client.security.errors import ClientConfigError
from broker.common.bounded_patterns import BoundedPattern
from broker.common.errors import ApiError
from broker.connect.api import ConfigDef, ConfigError, ConfigKey, ConfigType, ConfigValue, Importance
from broker.connect.api.config import OneOf, between, not_empty
from broker.connect.api.plugin import Props
from broker.connect.plugins.paths import check_option
from broker.connect.transforms.patterns import java_regex
from broker.mirror.clusters import ClusterAddress, read_address
from broker.mirror.naming import NameFilter, TopicNaming
from broker.mirror.topics import SETTINGS_EXCLUDED

_POLICIES = ("DefaultReplicationPolicy", "IdentityReplicationPolicy")
#: Policies of others that keep topics' names.
_IDENTITIES = frozenset(
    {
        "io.strimzi.kafka.connect.mirror.IdentityReplicationPolicy",
        "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy",
    }
)
_OF_KAFKA = "org.apache.kafka.connect.mirror."
_SOURCE, _TARGET = "source.cluster.", "target.cluster."
TOPICS_EXCLUDED = [r".*[\-\.]internal", r".*\.replica", "__.*"]
_FILTERS = {
    "topic.filter.class": "DefaultTopicFilter",
    "group.filter.class": "DefaultGroupFilter",
    "config.property.filter.class": "DefaultConfigPropertyFilter",
}
GROUPS_EXCLUDED = ["console-consumer-.*", "connect-.*", "__.*"]


def _is_policy(name: str, value: str) -> None:
    if value.removeprefix(_OF_KAFKA) not in _POLICIES and value not in _IDENTITIES:
        raise ConfigError(name, f"Invalid value {value} for configuration {name}: one of {', '.join(_POLICIES)}")


def _are_patterns(name: str, values: list[str]) -> None:
    for value in values:
        java_regex(name, value)


def _is_alias(name: str, value: str) -> None:
    not_empty(name, value)
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", value):
        raise ConfigError(name, f"Invalid value {value} for configuration {name}: letters, digits, _ and -")


def _is_default_filter(name: str, value: str) -> None:
    """Refuse another class: what it would leave out would be copied."""
    kind = _FILTERS[name]
    if value.removeprefix(_OF_KAFKA) != kind:
        reason = f"only {kind} is there; say what is meant by patterns in the settings beside it"
        raise ConfigError(name, f"Invalid value {value} for configuration {name}: {reason}")


def _filter(name: str) -> ConfigKey:
    documentation = "Kafka's own, which goes by the patterns; no other class is there."
    return ConfigKey(name, ConfigType.CLASS, _OF_KAFKA + _FILTERS[name], _L, documentation, _is_default_filter)


def _former(name: str, now: str) -> ConfigKey:
    """Return the key as it was called before Kafka 3.0; counts where `now` is not set."""
    return ConfigKey(name, ConfigType.LIST, None, _L, f"The former name of {now}.", _are_patterns)


def _replicas_of(what: str) -> ConfigKey:
    name = f"{what}.topic.replication.factor"
    documentation = f"Replicas of the topic of {what}; without it as many as replication.factor says."
    return ConfigKey(name, ConfigType.INT, None, _L, documentation, between(1, 100))


_H, _M, _L = Importance.HIGH, Importance.MEDIUM, Importance.LOW
COMMON = ConfigDef(
    ConfigKey(
        "source.cluster.alias", importance=_H, validator=_is_alias, documentation="What copies are named by."
    ),
    ConfigKey("target.cluster.alias", importance=_H, validator=_is_alias, documentation="What the target is called."),
    ConfigKey(
        "source.cluster.bootstrap.servers",
        importance=_H,
        validator=not_empty,
        documentation="Brokers of the source. Its security is source.cluster.security.protocol and so on.",
    ),
    ConfigKey(
        "target.cluster.bootstrap.servers",
        importance=_H,
        validator=not_empty,
        documentation="Brokers of the target. Its security is target.cluster.security.protocol and so on.",
    ),
    ConfigKey(
        "replication.policy.class",
        default=_POLICIES[0],
        importance=_L,
        validator=_is_policy,
        documentation="DefaultReplicationPolicy: a copy is SOURCE.topic. IdentityReplicationPolicy: it keeps its name.",
        recommender=OneOf(*_POLICIES),
    ),
    ConfigKey(
        "replication.policy.separator", default=".", importance=_L, validator=not_empty,
        documentation="Between source and topic in a copy's name.",
    ),
    ConfigKey(
        "replication.factor", ConfigType.INT, 2, _L, "Replicas of topics that are made in the target.", between(1, 100)
    ),
)  # fmt: skip
SOURCE = COMMON + ConfigDef(
    ConfigKey("topics", ConfigType.LIST, [".*"], _H, "Topics that are copied: names or patterns.", _are_patterns),
    ConfigKey("topics.exclude", ConfigType.LIST, TOPICS_EXCLUDED, _H, "Those of them that are not.", _are_patterns),
    _former("topics.blacklist", "topics.exclude"),
    _filter("topic.filter.class"),
    ConfigKey(
        "exactly.once.enabled", ConfigType.BOOLEAN, False, _M,
        "Records and positions in one transaction of the target; readers of committed records see each once.",
    ),
    ConfigKey(
        "commit.interval.ms", ConfigType.INT, 1_000, _L,
        "How often positions are kept, with exactly.once.enabled how long a transaction is.", between(10, 60_000),
    ),
    ConfigKey(
        "consumer.auto.offset.reset", ConfigType.STRING, "earliest", _M, "Where a topic begins: earliest or latest.",
        OneOf("earliest", "latest"), recommender=OneOf("earliest", "latest"),
    ),
    ConfigKey(
        "audit.enable", ConfigType.BOOLEAN, False, _L,
        "Whether copied records are counted for the source's message audit, which needs to decompress them.",
    ),
    ConfigKey(
        "refresh.topics.enabled", ConfigType.BOOLEAN, True, _L, "Whether later topics and partitions are copied."
    ),
    ConfigKey("refresh.topics.interval.seconds", ConfigType.INT, 60, _L, "Between looks for new ones.", between(1)),
    ConfigKey("sync.topic.configs.enabled", ConfigType.BOOLEAN, True, _L, "Whether settings of copies follow."),
    ConfigKey("sync.topic.acls.enabled", ConfigType.BOOLEAN, True, _L, "Whether ACLs for reading are copied."),
    ConfigKey(
        "config.properties.exclude", ConfigType.LIST, list(SETTINGS_EXCLUDED), _L, "Settings that do not follow.",
        _are_patterns,
    ),
    _former("config.properties.blacklist", "config.properties.exclude"),
    _filter("config.property.filter.class"),
)  # fmt: skip
CHECKPOINT = COMMON + ConfigDef(
    ConfigKey("groups", ConfigType.LIST, [".*"], _H, "Groups that are followed: names or patterns.", _are_patterns),
    ConfigKey("groups.exclude", ConfigType.LIST, GROUPS_EXCLUDED, _H, "Those of them that are not.", _are_patterns),
    _former("groups.blacklist", "groups.exclude"),
    _filter("group.filter.class"),
    _replicas_of("checkpoints"),
    ConfigKey("emit.checkpoints.enabled", ConfigType.BOOLEAN, True, _L, "Whether groups are followed at all."),
    ConfigKey("emit.checkpoints.interval.seconds", ConfigType.INT, 60, _L, "Between two looks at groups.", between(1)),
    ConfigKey(
        "sync.group.offsets.enabled", ConfigType.BOOLEAN, False, _M,
        "Whether offsets are committed in the target for groups that have no members there.",
    ),
)  # fmt: skip
HEARTBEAT = COMMON + ConfigDef(
    _replicas_of("heartbeats"),
    ConfigKey("emit.heartbeats.enabled", ConfigType.BOOLEAN, True, _L, "Whether there are beats at all."),
    ConfigKey("emit.heartbeats.interval.seconds", ConfigType.INT, 1, _L, "Between two beats.", between(1)),
)

_EXCLUDED = {
    "topics": TOPICS_EXCLUDED, "groups": GROUPS_EXCLUDED, "config.properties": list(SETTINGS_EXCLUDED),
}  # fmt: skip


def validated(definition: ConfigDef, props: Props) -> list[ConfigValue]:
    """Validate each key, and the security settings of both clusters."""
    values = definition.validate(props)
    by_name = {value.name: value for value in values}
    for prefix in (_SOURCE, _TARGET):
        key = f"{prefix}bootstrap.servers"
        if not by_name[key].errors:
            try:
                _address(prefix, props)
            except ConfigError as error:
                by_name[key].errors.append(str(error))
    if by_name["source.cluster.alias"].value == by_name["target.cluster.alias"].value is not None:
        by_name["target.cluster.alias"].errors.append("It is the source's alias: a cluster is not its own mirror")
    return values


def addresses(props: Props) -> tuple[ClusterAddress, ClusterAddress]:
    """Return the addresses of source and target. Raises ConfigError."""
    return _address(_SOURCE, props), _address(_TARGET, props)


def _address(prefix: str, props: Props) -> ClusterAddress:
    own = {key.removeprefix(prefix): value for key, value in props.items() if key.startswith(prefix)}
    try:
        for option, value in own.items():
            check_option(option, str(value))
        return read_address(own.get("alias", ""), own)
    except (ValueError, ApiError, ClientConfigError, ConfigError) as error:
        raise ConfigError(f"{prefix}bootstrap.servers", f"{prefix}*: {error}") from None


def naming(values: Mapping[str, Any]) -> TopicNaming:
    return TopicNaming(
        values["source.cluster.alias"],
        values["target.cluster.alias"],
        values["replication.policy.separator"],
        keeps_names(values["replication.policy.class"]),
    )


def keeps_names(policy: str) -> bool:
    return policy.removeprefix(_OF_KAFKA) == _POLICIES[1] or policy in _IDENTITIES


def flow_name(values: Mapping[str, Any]) -> str:
    return f"{values['source.cluster.alias']}->{values['target.cluster.alias']}"


def chosen(values: Mapping[str, Any], what: str) -> NameFilter:
    """Return the filter. `what`: topics or groups."""
    return NameFilter(patterns(what, values[what]), excluded(values, what))


def excluded(values: Mapping[str, Any], what: str) -> tuple[BoundedPattern, ...]:
    """Return what `what`.exclude says, or, where it is not set, its former name."""
    former, now = f"{what}.blacklist", f"{what}.exclude"
    is_former = values[former] is not None and values[now] == _EXCLUDED[what]
    name = former if is_former else now
    return patterns(name, values[name])


def replicas_of(values: Mapping[str, Any], what: str) -> int:
    """Return how many replicas the topic of `what`, checkpoints or heartbeats, is to have."""
    replicas: int = values[f"{what}.topic.replication.factor"] or values["replication.factor"]
    return replicas


def patterns(name: str, texts: list[str]) -> tuple[BoundedPattern, ...]:
    return tuple(java_regex(name, text) for text in texts)

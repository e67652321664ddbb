"""Which of a broker's keys may change while brokers run, for all of them or for one, and the check of such a change.

The modes are Kafka's (KIP-226) for the keys this broker reads; whoever reads a key listed here must read it anew, or
hear of changes. This broker lets replica.lag.time.max.ms change, which Kafka reads at the start. Secrets are read from
files only: ZooKeeper would show them.
"""

from collections.abc import Mapping
from typing import Any

from broker.common.errors import ApiError, ErrorCode
from broker.config.broker import key_of
from broker.config.definition import ConfigError, ConfigType, UpdateMode
from broker.config.listener_settings import prefixed
from broker.config.without_effect import DYNAMIC as DYNAMIC_WITHOUT_EFFECT

#: May be set for all brokers, or for one.
CLUSTER_WIDE = frozenset(
    {
        "barnabas.audit.enable",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.type",
        "compression.zstd.level",
        "follower.replication.throttled.rate",
        "leader.replication.throttled.rate",
        "log.cleaner.backoff.ms",
        "log.cleaner.dedupe.buffer.size",
        "log.cleaner.delete.retention.ms",
        "log.cleaner.io.max.bytes.per.second",
        "log.cleaner.max.compaction.lag.ms",
        "log.cleaner.min.cleanable.ratio",
        "log.cleaner.min.compaction.lag.ms",
        "log.cleanup.policy",
        "log.flush.interval.messages",
        "log.flush.interval.ms",
        "log.index.interval.bytes",
        "log.index.size.max.bytes",
        "log.message.timestamp.after.max.ms",
        "log.message.timestamp.before.max.ms",
        "log.message.timestamp.difference.max.ms",
        "log.message.timestamp.type",
        "log.retention.bytes",
        "log.retention.ms",
        "log.roll.ms",
        "log.segment.bytes",
        "log.segment.delete.delay.ms",
        "max.connection.creation.rate",
        "max.connections",
        "max.connections.per.ip",
        "max.connections.per.ip.overrides",
        "max.partitions",
        "message.max.bytes",
        "min.insync.replicas",
        "producer.id.expiration.ms",
        "replica.alter.log.dirs.io.max.bytes.per.second",
        "replica.lag.time.max.ms",
        "transaction.partition.verification.enable",
        "unclean.leader.election.enable",
        *DYNAMIC_WITHOUT_EFFECT,
    }
)
#: May be set for one broker only, because it makes no sense for two.
PER_BROKER = frozenset({"advertised.listeners", "listener.security.protocol.map", "listeners"})
#: May be set for one listener of one broker: a new certificate.
OF_LISTENER = frozenset(
    {"ssl.keystore.location", "ssl.keystore.type", "ssl.truststore.location", "ssl.truststore.type"}
)


class NotDynamicError(ConfigError):
    """The key cannot be changed so while a broker runs, whatever the value."""

    def __init__(self, message: str):
        ApiError.__init__(self, ErrorCode.INVALID_REQUEST, message)


def update_mode(name: str) -> UpdateMode:
    parsed = prefixed(name)
    if (parsed.key.name if parsed else name) in CLUSTER_WIDE:
        return UpdateMode.CLUSTER_WIDE
    if name in PER_BROKER or (parsed and parsed.key.name in OF_LISTENER):
        return UpdateMode.PER_BROKER
    return UpdateMode.READ_ONLY


def read_broker_change(name: str, text: str, *, is_for_all: bool) -> Any:
    """Return the value of a key set while brokers run; ConfigError says why it cannot be.

    A key nobody knows may be a plug-in's, as in Kafka: its text is kept. What is said for a listener may be read by one
    that is added (`listener_changes.py` looks whether it is).
    """
    key = key_of(name)
    if key is None:
        return text
    mode, of_listener = update_mode(name), prefixed(name) is not None
    if key.config_type is ConfigType.PASSWORD:
        raise NotDynamicError(
            f"{name} is a secret, which is not kept in ZooKeeper; change the file and restart the broker"
        )
    if name in OF_LISTENER:
        raise NotDynamicError(f"{name} changes for one listener at a time; set listener.name.<listener>.{name}")
    if mode is UpdateMode.READ_ONLY and not of_listener:
        raise NotDynamicError(f"{name} cannot change while a broker runs; change its file and restart it")
    if mode is not UpdateMode.CLUSTER_WIDE and is_for_all:
        raise NotDynamicError(f"{name} cannot be the same for all brokers; name the broker to set it for")
    return key.read(text)


def check_broker_change(texts: Mapping[str, str], *, is_for_all: bool) -> None:
    """Raise ConfigError if one of `texts`, by key, cannot be set."""
    for name, text in texts.items():
        read_broker_change(name, text, is_for_all=is_for_all)

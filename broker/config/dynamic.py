"""Which of a broker's keys may change while brokers run, for all of them or for one, and the check of such a change.

The modes are Kafka's (KIP-226) for the keys this broker reads; whoever reads a key listed here must read it anew, or
hear of changes. Kafka also moves listeners and their TLS files while it runs; this broker reads those at its start. It
lets replica.lag.time.max.ms change, which Kafka reads at the start.
"""

from collections.abc import Mapping
from typing import Any

from broker.config.broker import BY_NAME
from broker.config.definition import ConfigError, UpdateMode
from broker.config.without_effect import DYNAMIC as DYNAMIC_WITHOUT_EFFECT

#: May be set for all brokers, or for one.
CLUSTER_WIDE = frozenset(
    {
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
PER_BROKER: frozenset[str] = frozenset()


def update_mode(name: str) -> UpdateMode:
    if name in CLUSTER_WIDE:
        return UpdateMode.CLUSTER_WIDE
    return UpdateMode.PER_BROKER if name in PER_BROKER else UpdateMode.READ_ONLY


def read_broker_change(name: str, text: str, *, is_for_all: bool) -> Any:
    """The value of a key set while brokers run; ConfigError says why it cannot be.

    A key nobody knows may be a plug-in's, as in Kafka: its text is kept.
    """
    if name not in BY_NAME:
        return text
    mode = update_mode(name)
    if mode is UpdateMode.READ_ONLY:
        raise ConfigError(f"{name} cannot change while a broker runs; change its file and restart it")
    if mode is UpdateMode.PER_BROKER and is_for_all:
        raise ConfigError(f"{name} cannot be the same for all brokers; name the broker to set it for")
    return BY_NAME[name].read(text)


def check_broker_change(texts: Mapping[str, str], *, is_for_all: bool) -> None:
    """Raise ConfigError if one of `texts`, by key, cannot be set."""
    for name, text in texts.items():
        read_broker_change(name, text, is_for_all=is_for_all)

"""Where a topic's configuration value comes from: the topic itself, the broker's file, or the default (KIP-226).

A topic key has synonyms among the broker's keys. Of several synonyms the most precise one that is set wins:
`log.retention.ms` before `.minutes` before `.hours`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from broker.config import topic
from broker.config.broker import BY_NAME as BROKER_KEYS
from broker.config.broker import BrokerConfig
from broker.config.definition import Key, render_value

#: Topic key -> broker keys with the factor that turns their unit into the topic key's, most precise first.
SYNONYMS: dict[str, tuple[tuple[str, int], ...]] = {
    "cleanup.policy": (("log.cleanup.policy", 1),),
    "compression.type": (("compression.type", 1),),
    "delete.retention.ms": (("log.cleaner.delete.retention.ms", 1),),
    "file.delete.delay.ms": (("log.segment.delete.delay.ms", 1),),
    "flush.messages": (("log.flush.interval.messages", 1),),
    "flush.ms": (("log.flush.interval.ms", 1),),
    "index.interval.bytes": (("log.index.interval.bytes", 1),),
    "max.compaction.lag.ms": (("log.cleaner.max.compaction.lag.ms", 1),),
    "max.message.bytes": (("message.max.bytes", 1),),
    "message.timestamp.after.max.ms": (("log.message.timestamp.after.max.ms", 1),),
    "message.timestamp.before.max.ms": (("log.message.timestamp.before.max.ms", 1),),
    "message.timestamp.type": (("log.message.timestamp.type", 1),),
    "min.cleanable.dirty.ratio": (("log.cleaner.min.cleanable.ratio", 1),),
    "min.compaction.lag.ms": (("log.cleaner.min.compaction.lag.ms", 1),),
    "min.insync.replicas": (("min.insync.replicas", 1),),
    "retention.bytes": (("log.retention.bytes", 1),),
    "retention.ms": (("log.retention.ms", 1), ("log.retention.minutes", 60_000), ("log.retention.hours", 3_600_000)),
    "segment.bytes": (("log.segment.bytes", 1),),
    "segment.index.bytes": (("log.index.size.max.bytes", 1),),
    "segment.ms": (("log.roll.ms", 1), ("log.roll.hours", 3_600_000)),
    "unclean.leader.election.enable": (("unclean.leader.election.enable", 1),),
}


class ConfigSource(IntEnum):
    """Values of `config_source` on the wire."""

    TOPIC = 1
    BROKER_FILE = 4
    DEFAULT = 5


@dataclass(frozen=True, slots=True)
class Setting:
    """One place that says a value: under which name, from which source."""

    name: str
    value: Any
    source: ConfigSource

    @property
    def text(self) -> str | None:
        return render_value(self.value)


def settings_of(key: Key, overrides: Mapping[str, str], broker: BrokerConfig) -> list[Setting]:
    """Every place that says a value for a topic key, the one that counts first; never empty."""
    found = []
    if key.name in overrides:
        found.append(Setting(key.name, key.read(overrides[key.name]), ConfigSource.TOPIC))
    synonyms = SYNONYMS.get(key.name, ())
    for name, factor in synonyms:
        if name in broker.given:
            value = broker.values[BROKER_KEYS[name].attribute]
            found.append(Setting(name, _scaled(value, factor), ConfigSource.BROKER_FILE))
    default_name = synonyms[-1][0] if synonyms else key.name
    found.append(Setting(default_name, key.default, ConfigSource.DEFAULT))
    return found


def _scaled(value: Any, factor: int) -> Any:
    """-1 means "no limit" in every unit."""
    return value * factor if isinstance(value, int) and not isinstance(value, bool) and value > 0 else value


def topic_values(overrides: Mapping[str, str], broker: BrokerConfig) -> dict[str, Any]:
    """The values that count for a topic, by attribute name."""
    return {key.attribute: settings_of(key, overrides, broker)[0].value for key in topic.KEYS}

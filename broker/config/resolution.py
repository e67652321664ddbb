"""Where a configuration value comes from (KIP-226): the topic itself, one broker or all brokers as changed while they
run, the broker's file, or the default.

A topic key has synonyms among the broker's keys. Of several synonyms from one source the most precise one that is set
wins: `log.retention.ms` before `.minutes` before `.hours`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from broker.config import topic
from broker.config.broker import BY_NAME as BROKER_KEYS
from broker.config.broker import BrokerConfig
from broker.config.definition import REQUIRED, ConfigSource, Key, render_value

#: Topic key -> broker keys with the factor that turns their unit into the topic key's, most precise first.
SYNONYMS: dict[str, tuple[tuple[str, int], ...]] = {
    "barnabas.audit.enable": (("barnabas.audit.enable", 1),),
    "cleanup.policy": (("log.cleanup.policy", 1),),
    "compression.gzip.level": (("compression.gzip.level", 1),),
    "compression.lz4.level": (("compression.lz4.level", 1),),
    "compression.type": (("compression.type", 1),),
    "compression.zstd.level": (("compression.zstd.level", 1),),
    "delete.retention.ms": (("log.cleaner.delete.retention.ms", 1),),
    "file.delete.delay.ms": (("log.segment.delete.delay.ms", 1),),
    "flush.messages": (("log.flush.interval.messages", 1),),
    "flush.ms": (("log.flush.interval.ms", 1),),
    "index.interval.bytes": (("log.index.interval.bytes", 1),),
    "local.retention.bytes": (("log.local.retention.bytes", 1),),
    "local.retention.ms": (("log.local.retention.ms", 1),),
    "max.compaction.lag.ms": (("log.cleaner.max.compaction.lag.ms", 1),),
    "max.message.bytes": (("message.max.bytes", 1),),
    "message.timestamp.after.max.ms": (("log.message.timestamp.after.max.ms", 1),),
    "message.timestamp.before.max.ms": (("log.message.timestamp.before.max.ms", 1),),
    "message.timestamp.difference.max.ms": (("log.message.timestamp.difference.max.ms", 1),),
    "message.timestamp.type": (("log.message.timestamp.type", 1),),
    "min.cleanable.dirty.ratio": (("log.cleaner.min.cleanable.ratio", 1),),
    "min.compaction.lag.ms": (("log.cleaner.min.compaction.lag.ms", 1),),
    "min.insync.replicas": (("min.insync.replicas", 1),),
    "remote.copy.lag.bytes": (("log.remote.copy.lag.bytes", 1),),
    "remote.copy.lag.ms": (("log.remote.copy.lag.ms", 1),),
    "retention.bytes": (("log.retention.bytes", 1),),
    "retention.ms": (("log.retention.ms", 1), ("log.retention.minutes", 60_000), ("log.retention.hours", 3_600_000)),
    "segment.bytes": (("log.segment.bytes", 1),),
    "segment.index.bytes": (("log.index.size.max.bytes", 1),),
    "segment.ms": (("log.roll.ms", 1), ("log.roll.hours", 3_600_000)),
    "unclean.leader.election.enable": (("unclean.leader.election.enable", 1),),
    # Without effect:
    "message.downconversion.enable": (("log.message.downconversion.enable", 1),),
    "message.format.version": (("log.message.format.version", 1),),
    "preallocate": (("log.preallocate", 1),),
    "segment.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", 3_600_000)),
}


#: Broker key -> itself and those it is said instead of in another unit, most precise first.
BROKER_SYNONYMS: dict[str, tuple[str, ...]] = {
    name: tuple(text for text, _ in names) for names in SYNONYMS.values() if len(names) > 1 for name, _ in names
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One place that says a value: under which name, from which source."""

    name: str
    value: Any
    source: ConfigSource
    #: In the unit of `name`, where that is another than the key's own unit.
    own_unit_value: Any = None

    @property
    def text(self) -> str | None:
        return render_value(self.value)

    @property
    def own_unit_text(self) -> str | None:
        return self.text if self.own_unit_value is None else render_value(self.own_unit_value)


def settings_of(key: Key, overrides: Mapping[str, str], broker: BrokerConfig) -> list[Setting]:
    """Return every source of a topic key's value, the one in effect first; never empty."""
    settings = []
    if key.name in overrides:
        settings.append(Setting(key.name, key.read(overrides[key.name]), ConfigSource.TOPIC))
    synonyms = SYNONYMS.get(key.name, ())
    settings += _in_layers(synonyms, broker)
    default_name, factor = synonyms[-1] if synonyms else (key.name, 1)
    default = key.default // factor if factor > 1 else None
    settings.append(Setting(default_name, key.default, ConfigSource.DEFAULT, default))
    return settings


def listed_synonyms(key: Key, settings: list[Setting]) -> list[Setting]:
    """Return the synonyms of a topic key that DescribeConfigs lists, as Kafka does: only a broker's own value, from the
    most precise name on. A default in hours, alone, is no synonym of milliseconds.
    """
    most_precise = SYNONYMS.get(key.name, ((None, 1),))[0][0]
    first = next((at for at, setting in enumerate(settings) if setting.name in (key.name, most_precise)), len(settings))
    return [
        item for item in settings[first:] if item.source is not ConfigSource.DEFAULT or _has_default(key, item.name)
    ]


def _has_default(key: Key, broker_key: str) -> bool:
    """Whether the broker's key says something where nobody has set it: log.flush.interval.ms does not."""
    return key.name in SYNONYMS and BROKER_KEYS[broker_key].default is not None


def broker_key_settings(name: str, broker: BrokerConfig) -> list[Setting]:
    """Return every source of the value of a broker's key that has no synonyms, the one in effect first."""
    default = Setting(name, BROKER_KEYS[name].default, ConfigSource.DEFAULT)
    return [*_in_layers([(name, 1)], broker), default]


def broker_settings_of(key: Key, broker: BrokerConfig) -> tuple[Setting, list[Setting]]:
    """Return the value in effect for a broker key, and every source of a value, the one in effect first.

    Each in the unit of the name it is said under: log.retention.ms may count where log.retention.hours is asked for.
    """
    names = [(name, 1) for name in BROKER_SYNONYMS.get(key.name, (key.name,))]
    settings = list(_in_layers(names, broker))
    if key.default is not REQUIRED:
        settings.append(Setting(key.name, key.default, ConfigSource.DEFAULT))
    return next(setting for setting in settings if setting.name == key.name), settings


def _in_layers(names: Iterable[tuple[str, int]], broker: BrokerConfig) -> Iterator[Setting]:
    for source, values in broker.layers.items():
        for name, factor in names:
            if name in values:
                yield Setting(name, _scaled(values[name], factor), source, values[name])


def _scaled(value: Any, factor: int) -> Any:
    """Scale a value; -1 means "no limit" in every unit."""
    return value * factor if isinstance(value, int) and not isinstance(value, bool) and value > 0 else value


def topic_values(overrides: Mapping[str, str], broker: BrokerConfig) -> dict[str, Any]:
    """Return the values that count for a topic, by attribute name."""
    values = {key.attribute: settings_of(key, overrides, broker)[0].value for key in topic.KEYS}
    difference = values["message_timestamp_difference_max_ms"]
    for bound in ("message.timestamp.before.max.ms", "message.timestamp.after.max.ms"):
        # The older key, where it is set, stands for each of them that is not (KIP-937).
        key = topic.BY_NAME[bound]
        if difference != topic.UNLIMITED and values[key.attribute] == key.default:
            values[key.attribute] = difference
    return values

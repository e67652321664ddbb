"""What `kafka-configs --describe` prints, in the words of today and of the ZooKeeper generation. Pure."""

from collections.abc import Iterable
from decimal import Decimal
from math import isfinite
from typing import Any

from broker.cli.configs.config_changes import SCRAM
from broker.cli.configs.config_entities import BROKERS, CLIENTS, GROUPS, IPS, TOPICS, USERS, Entity
from broker.protocol.messages.describe_client_quotas import EntryData
from broker.protocol.messages.describe_configs import DescribeConfigsResourceResult
from broker.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsResult

SOURCES = {
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
    6: "DYNAMIC_BROKER_LOGGER_CONFIG",
    7: "DYNAMIC_CLIENT_METRICS_CONFIG",
    8: "DYNAMIC_GROUP_CONFIG",
}
_OF_TOPIC, _OF_BROKER, _OF_ALL_BROKERS, _OF_GROUP = 1, 2, 3, 8
_MECHANISMS: dict[int, str] = {number: name for name, number in SCRAM.items()}
_ENTITY_TYPES = {"user": USERS, "client-id": CLIENTS, "ip": IPS}
_FRACTIONAL = ("request_percentage", "controller_mutation_rate")
_QUOTA_WORDS = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}

Settings = Iterable[DescribeConfigsResourceResult]


def own(entity: Entity, settings: Settings) -> list[DescribeConfigsResourceResult]:
    """Return the settings of the entity itself, sorted by name; of loggers all."""
    of_brokers = _OF_BROKER if entity.name else _OF_ALL_BROKERS
    source = {TOPICS: _OF_TOPIC, BROKERS: of_brokers, GROUPS: _OF_GROUP}.get(entity.type)
    return in_order(setting for setting in settings if source is None or setting.config_source == source)


def in_order(settings: Settings) -> list[DescribeConfigsResourceResult]:
    return sorted(settings, key=lambda setting: setting.name)


def head(entity: Entity, *, of_all: bool) -> str:
    if not entity.name:
        return f"Default configs for {entity.type} in the cluster are:"
    return f"{'All' if of_all else 'Dynamic'} configs for {entity.kind} {entity.name} are:"


def setting_line(setting: DescribeConfigsResourceResult) -> str:
    synonyms = ", ".join(
        f"{SOURCES.get(synonym.source, 'UNKNOWN')}:{synonym.name}={_text(synonym.value)}"
        for synonym in setting.synonyms
    )
    sensitive = str(bool(setting.is_sensitive)).lower()
    return f"  {setting.name}={_text(setting.value)} sensitive={sensitive} synonyms={{{synonyms}}}"


def zookeeper_line(entity: Entity, settings: Settings) -> str:
    text = ",".join(f"{setting.name}={_text(setting.value)}" for setting in settings)
    return f"Configs for {entity.in_zookeeper_generation} are {text}"


def quota_line(entry: EntryData) -> str:
    names = {data.entity_type: data.entity_name for data in entry.entity}
    whose = ", ".join(
        f"the default {word}" if names[type_] is None else f"{word} '{names[type_]}'"
        for type_, word in _QUOTA_WORDS.items()
        if type_ in names
    )
    values = ", ".join(
        f"{value.key}={double_text(value.value)}" for value in sorted(entry.values, key=lambda data: data.key)
    )
    return f"Quota configs for {whose} are {values}"


def zookeeper_quota_line(entry: EntryData) -> str:
    """Format the entry's quotas as its znode has them."""
    names = {data.entity_type: data.entity_name for data in entry.entity}
    parts = [Entity(type_, names[wire] or "") for wire, type_ in _ENTITY_TYPES.items() if wire in names]
    values = ",".join(
        f"{value.key}={double_text(value.value) if value.key in _FRACTIONAL else int(value.value)}"
        for value in sorted(entry.values, key=lambda data: data.key)
    )
    return f"Configs for {', '.join(part.in_zookeeper_generation for part in parts)} are {values}"


def double_text(value: float) -> str:
    """Format a number as Java formats a double: `2048.0`, `1.048576E7`."""
    if value == 0 or 1e-3 <= abs(value) < 1e7 or not isfinite(value):
        return str(value)
    sign, digits, _ = Decimal(repr(value)).normalize().as_tuple()
    exponent = Decimal(repr(value)).adjusted()
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{exponent}"


def scram_line(result: DescribeUserScramCredentialsResult) -> str:
    credentials = ", ".join(
        f"{_MECHANISMS.get(info.mechanism, 'UNKNOWN')}=iterations={info.iterations}" for info in result.credential_infos
    )
    return f"SCRAM credential configs for user-principal '{result.user}' are {credentials}"


def as_json(entity: Entity, settings: Settings) -> dict[str, Any]:
    return {
        "entityType": entity.type,
        "entityName": entity.name or None,
        "configs": [
            {
                "name": setting.name,
                "value": setting.value,
                "source": SOURCES.get(setting.config_source, "UNKNOWN"),
                "sensitive": bool(setting.is_sensitive),
                "readOnly": bool(setting.read_only),
            }
            for setting in settings
        ],
    }


def quota_as_json(entry: EntryData) -> dict[str, Any]:
    return {
        "entity": {data.entity_type: data.entity_name for data in entry.entity},
        "quotas": {value.key: value.value for value in entry.values},
    }


def _text(value: str | None) -> str:
    return "null" if value is None else value

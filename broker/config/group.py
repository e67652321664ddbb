"""Keys that are set for one group (KIP-848): what `kafka-configs --entity-type groups` changes."""

from collections.abc import Mapping

from broker.config.broker import BrokerConfig
from broker.config.definition import ConfigError, ConfigSource, Key, parse_int32
from broker.config.resolution import Setting, broker_key_settings

SESSION_TIMEOUT, HEARTBEAT_INTERVAL = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
ASSIGNMENT_INTERVAL = "consumer.assignment.interval.ms"

KEYS = [
    Key(HEARTBEAT_INTERVAL, parse_int32, 5_000, "How often members are told to send a heartbeat.", at_least=1),
    Key(SESSION_TIMEOUT, parse_int32, 45_000, "Silence after which a member is removed.", at_least=1),
    Key(ASSIGNMENT_INTERVAL, parse_int32, 1_000, "Shortest time between two assignments.", at_least=0),
]
BY_NAME = {key.name: key for key in KEYS}


def synonym_of(key: str) -> str:
    """Return the broker's key that holds for groups of which nothing is set."""
    return f"group.{key}"


def bounds_of(key: str, broker: BrokerConfig) -> tuple[int, int]:
    """Return the least and the greatest value that the broker allows."""
    kind, name = key.split(".", 1)
    least, greatest = (broker.values[f"group_{kind}_{end}_{name.replace('.', '_')}"] for end in ("min", "max"))
    return least, greatest


def read_group_config(name: str, text: str) -> int:
    """Raises ConfigError for an unknown key, and for a value that is none of it."""
    if name not in BY_NAME:
        raise ConfigError(f"Unknown group config name: {name}")
    value: int = BY_NAME[name].read(text)
    return value


def check_group_configs(texts: Mapping[str, str], broker: BrokerConfig) -> None:
    """Raises ConfigError, with Kafka's sentences, if these cannot be all that is set for a group."""
    values = {name: read_group_config(name, text) for name, text in texts.items()}
    for key in KEYS:
        least, greatest = bounds_of(key.name, broker)
        if key.name in values and not least <= values[key.name] <= greatest:
            raise ConfigError(f"{key.name} must be in the range {least} to {greatest} inclusive.")
    if not values.keys().isdisjoint((SESSION_TIMEOUT, HEARTBEAT_INTERVAL)):
        session_ms, heartbeat_ms = (
            values.get(name, broker.values[synonym_of(name).replace(".", "_")])
            for name in (SESSION_TIMEOUT, HEARTBEAT_INTERVAL)
        )
        if session_ms <= heartbeat_ms:
            raise ConfigError(f"{SESSION_TIMEOUT} must be greater than {HEARTBEAT_INTERVAL}")


def group_settings_of(key: Key, overrides: Mapping[str, str], broker: BrokerConfig) -> list[Setting]:
    """Return every source of the key's value, the one in effect first."""
    own = [Setting(key.name, overrides[key.name], ConfigSource.GROUP)] if key.name in overrides else []
    return [*own, *broker_key_settings(synonym_of(key.name), broker)]

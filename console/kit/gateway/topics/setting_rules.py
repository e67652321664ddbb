"""Which values a setting takes, by the table the brokers themselves check them by.

A key the table does not know is left to the broker, which has the last word in any case.
"""

from collections.abc import Mapping

from broker.config.broker import BY_NAME as BROKER_KEYS
from broker.config.definition import ConfigError, ConfigType, Key
from broker.config.topic import BY_NAME as TOPIC_KEYS


def choices_of(key: Key | None) -> tuple[str, ...]:
    """Every value, where a key has one of a few; nothing for other keys."""
    if key is None or key.config_type is ConfigType.LIST:
        return ()
    return ("true", "false") if key.config_type is ConfigType.BOOLEAN else key.choices


def topic_value_refusal(name: str, text: str) -> str:
    """Why a topic cannot have it, in a sentence; empty: it can."""
    return _refusal(TOPIC_KEYS, name, text)


def broker_value_refusal(name: str, text: str) -> str:
    """As `topic_value_refusal`, of a broker."""
    return _refusal(BROKER_KEYS, name, text)


def _refusal(keys: Mapping[str, Key], name: str, text: str) -> str:
    try:
        if name in keys:
            keys[name].read(text)
    except ConfigError as error:
        return f"{error.message}."
    return ""

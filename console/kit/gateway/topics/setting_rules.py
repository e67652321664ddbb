"""Which values a setting takes, by the table the brokers themselves check them by.

A key the table does not know is left to the broker, which has the last word in any case.
"""

from broker.config.broker import BY_NAME as BROKER_KEYS
from broker.config.definition import ConfigError, ConfigType, Key


def choices_of(key: Key | None) -> tuple[str, ...]:
    """Return the allowed values of a key with few; none for other keys."""
    if key is None or key.config_type is ConfigType.LIST:
        return ()
    return ("true", "false") if key.config_type is ConfigType.BOOLEAN else key.choices


def broker_value_refusal(name: str, text: str) -> str:
    """Return why a broker cannot have the value, in a sentence; empty: it can."""
    try:
        if name in BROKER_KEYS:
            BROKER_KEYS[name].read(text)
    except ConfigError as error:
        return f"{error.message}."
    return ""

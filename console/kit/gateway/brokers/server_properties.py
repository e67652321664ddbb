"""A broker's server.properties as the broker itself would say it in an answer."""

from collections.abc import Mapping

from broker.config.broker import key_of
from broker.config.definition import ConfigError, render_value
from broker.config.properties import parse_properties


def read_server_properties(text: str) -> Mapping[str, str | None]:
    """Return values by key, secrets hidden; an invalid one stands as it is written."""
    return {name: _rendered(name, value) for name, value in parse_properties(text).items()}


def _rendered(name: str, text: str) -> str | None:
    key = key_of(name)
    try:
        return render_value(key.read(text)) if key else text
    except ConfigError:
        return text

"""Reading the `server.properties` that somebody names on a command line."""

from collections.abc import Mapping
from pathlib import Path

from broker.common.errors import StartupError
from broker.config.broker import BrokerConfig, read_broker_config


def read_server_properties(path: Path, overrides: Mapping[str, str]) -> BrokerConfig:
    """Read the file's settings, except for the keys of `overrides`. Raises StartupError."""
    try:
        return read_broker_config(path.read_text(), overrides)
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no text'}") from None

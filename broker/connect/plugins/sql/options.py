"""What an address of PostgreSQL may say after its question mark, where connectors are held to directories.

libpq reads whatever files its options name, as the worker's user. So where that is held, an option is one that is known
to name no file, or its file is checked; one that nobody knows here is refused, and so are those that bring others.
"""

from collections.abc import Mapping

from broker.connect.api import ConfigError
from broker.connect.plugins.paths import checked_path, is_held

_FILES = frozenset({"passfile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir"})
#: Of sslrootcert: what the host trusts.
_SYSTEM = "system"
_HARMLESS = frozenset(
    {
        *("application_name", "fallback_application_name", "client_encoding", "connect_timeout", "options"),
        *("keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval", "tcp_user_timeout"),
        *("channel_binding", "gssencmode", "require_auth", "sslmode", "sslsni", "sslnegotiation", "sslcompression"),
        *("ssl_min_protocol_version", "ssl_max_protocol_version", "target_session_attrs", "load_balance_hosts"),
        *("hostaddr", "port"),
    }
)
#: Secrets are told in configuration that is masked.
_SECRETS = frozenset({"password", "sslpassword"})


def check_options(name: str, database: str, query: Mapping[str, str | tuple[str, ...]]) -> None:
    """Check the query options of a database URL. Raises ConfigError for the key `name`."""
    options = {option: (value,) if isinstance(value, str) else value for option, value in query.items()}
    if secret := sorted(_SECRETS & options.keys()):
        raise ConfigError(name, f"Invalid value for configuration {name}: {secret[0]} is no part of an address")
    if not is_held():
        return
    if "=" in database or "://" in database:
        raise ConfigError(
            name, f"Invalid value for configuration {name}: this worker allows no options in the name of a database"
        )
    for place in options.pop("host", ()):
        _check_host(name, place)
    for option, values in options.items():
        if option not in _FILES | _HARMLESS:
            raise ConfigError(name, f"Invalid value for configuration {name}: this worker allows no option {option}")
        for value in values if option in _FILES else ():
            if value and (option, value) != ("sslrootcert", _SYSTEM):
                checked_path(name, value)


def _check_host(name: str, host: str) -> None:
    """Check the host. One that begins with a slash is the directory of a socket, one with @ a socket without a file."""
    for part in host.split(","):
        if part.startswith("/"):
            checked_path(name, part)
        elif part.startswith("@"):
            raise ConfigError(name, f"Invalid value for configuration {name}: this worker allows no socket {part}")

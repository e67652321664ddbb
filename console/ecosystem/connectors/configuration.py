"""What BARNABAS_CONNECT… says of the workers of Kafka Connect: read once, with the settings; it ends the program with
one sentence if it cannot be. Only an administrator who adds a cluster (`fleet`) names such addresses in a form.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from console.kit.common.owned_files import FileError, read_secret

PREFIX = "BARNABAS_CONNECT"
#: Of one group; each is asked every few seconds.
WORKERS_MAX = 16
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class ConnectSettings:
    """The workers of one group, any of which answers for all; their REST needs a password if a file is named."""

    addresses: tuple[str, ...] = ()
    authentication_file: Path | None = None
    authority_file: Path | None = None

    @property
    def authentication(self) -> tuple[str, str] | None:
        """User and password, as the file says now. Raises FileError."""
        if self.authentication_file is None:
            return None
        user, colon, password = read_secret(self.authentication_file, "user:password").partition(":")
        if not user or not colon:
            raise FileError(f"{self.authentication_file} must hold one line, user:password.")
        return user, password


def read_connect(environment: Mapping[str, str]) -> ConnectSettings:
    """Read the settings of Connect; without addresses there is none."""
    values = {name: environment.get(f"{PREFIX}{name}", "").strip() for name in ("", "_AUTHENTICATION_FILE", "_CA_FILE")}
    addresses = tuple(part.strip().rstrip("/") for part in values.pop("").split(",") if part.strip())
    if not addresses:
        if unused := [name for name, value in values.items() if value]:
            sys.exit(f"{PREFIX}{unused[0]} is set without {PREFIX}.")
        return ConnectSettings()
    if len(addresses) > WORKERS_MAX:
        sys.exit(f"{PREFIX} names {len(addresses)} workers; {WORKERS_MAX} are enough, for each answers for all.")
    connect_settings = ConnectSettings(addresses, _path(values["_AUTHENTICATION_FILE"]), _path(values["_CA_FILE"]))
    try:
        has_password = connect_settings.authentication is not None
    except FileError as error:
        sys.exit(f"{PREFIX}_AUTHENTICATION_FILE: {error}")
    for address in addresses:
        if problem := _problem(address, has_password):
            sys.exit(f"{PREFIX}: {address[:300]} {problem}.")
    return connect_settings


def _problem(address: str, has_password: bool) -> str:
    """Return why it is no address to ask; empty: it is one."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https") or not host or not address.isprintable() or " " in address:
        return "must be http://host:port or https://host:port"
    if parts.username is not None or parts.query or parts.fragment:
        return "must have no user, query or fragment; a password is in the file of _AUTHENTICATION_FILE"
    if has_password and parts.scheme == "http" and host not in _LOOPBACK:
        return "would be sent the password readably: it must be https"
    return ""


def _path(text: str) -> Path | None:
    return Path(text).expanduser().resolve() if text else None

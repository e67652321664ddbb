"""What BARNABAS_SCHEMA_REGISTRY_… says, read with the settings. Only an administrator who adds a cluster
(`fleet`) names an address in a form, for the console asks it.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from console.kit.common.owned_files import FileError, read_secret

PREFIX = "BARNABAS_SCHEMA_REGISTRY_"
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class RegistryAddress:
    """`url` has no slash at its end. Without `user` the console does not log in."""

    url: str
    user: str = ""
    password_file: Path | None = None
    authority_file: Path | None = None

    @property
    def login(self) -> tuple[str, str] | None:
        """Raises FileError. The file is read when it is asked for: a password may change while the console runs."""
        return (self.user, read_secret(self.password_file)) if self.password_file else None


def read_registry_address(environment: Mapping[str, str]) -> RegistryAddress | None:
    """Return the address of the registry; None if there is none."""
    values = {key.removeprefix(PREFIX): value for key, value in environment.items() if key.startswith(PREFIX) and value}
    if "URL" not in values:
        if values:
            sys.exit(f"{PREFIX}{min(values)} is set without {PREFIX}URL.")
        return None
    if not _is_address(values["URL"]):
        sys.exit(
            f"{PREFIX}URL={values['URL'][:300]} must be http://host:port or https://host:port, without a password."
        )
    if ("USER" in values) != ("PASSWORD_FILE" in values):
        sys.exit(f"{PREFIX}USER and {PREFIX}PASSWORD_FILE are set together or not at all.")
    if "USER" in values and _is_readable_on_the_way(values["URL"]):
        sys.exit(f"{PREFIX}URL={values['URL'][:300]} would be sent the password readably: it must be https.")
    files = {name: Path(values[name]).expanduser().resolve() for name in ("PASSWORD_FILE", "CA_FILE") if name in values}
    address = RegistryAddress(
        values["URL"].rstrip("/"), values.get("USER", ""), files.get("PASSWORD_FILE"), files.get("CA_FILE")
    )
    try:
        _ = address.login
    except FileError as error:
        sys.exit(f"Schema registry: {error}")
    return address


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    is_odd = parts.username is not None or parts.query or parts.fragment or not text.isprintable() or " " in text
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not is_odd


def _is_readable_on_the_way(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in _LOOPBACK

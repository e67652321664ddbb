"""A client's properties as a file, and whether others than its owner may read it."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from broker.client.security.errors import ClientConfigError
from broker.client.security.properties import ClientSecurity, is_secret, read_security
from broker.config.properties import parse_properties

#: Where a process that is told of no file by its options looks, as one that Spark starts.
CONFIG_VARIABLE = "BARNABAS_CLIENT_CONFIG"


def read_client_properties(path: str) -> dict[str, str]:
    """Raises ClientConfigError."""
    try:
        return parse_properties(Path(path).read_text())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise ClientConfigError(f"the properties file {path} cannot be read: {reason}") from None


def read_own_security(path: str) -> ClientSecurity:
    """Read this installation's own client properties; plaintext without a path. Raises ClientConfigError."""
    return read_security(read_own_properties(path))


def read_own_properties(path: str) -> dict[str, str]:
    """Read this installation's own client properties; none without a path.

    Raises ClientConfigError, also for one that holds a secret and is open to others: as ssh, for whoever keeps it has
    the right to close it, and nobody waits for this process. Commands only warn (`exposure`): their file may be another
    tool's, or a mount whose mode nobody can change.
    """
    if not path:
        return {}
    properties = read_client_properties(path)
    if exposed := exposure(path, properties):
        raise ClientConfigError(exposed)
    return properties


def exposure(path: str, properties: Mapping[str, str]) -> str:
    """Return a warning if the file holds a secret and others than owner and group may read it; else nothing."""
    if not any(map(is_secret, properties)):
        return ""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return ""
    if not mode & (stat.S_IROTH | stat.S_IWOTH):
        return ""
    return f"{path} holds a password and has mode {mode:04o}: others may read it; chmod 600 {path}"

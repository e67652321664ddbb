"""A `zookeeper.properties` or `zoo.cfg` that a person wrote, from which a server is started as it stands.

ZooKeeper reads the file itself, with all its keys. Here is looked up what has to be known before: where it keeps its
data, whether it can listen, and whether a member of an ensemble knows which it is.
"""

from dataclasses import dataclass
from pathlib import Path

from broker.common.errors import StartupError
from broker.config.properties import parse_properties

_MYID = "myid"


@dataclass(frozen=True, slots=True)
class ServerFile:
    """`client_host` is empty where every address is listened on, `client_port` None where a member's line has it."""

    data_dir: Path
    client_host: str
    client_port: int | None
    members: tuple[str, ...]


def read_server_file(text: str) -> ServerFile:
    """Raises StartupError with one sentence."""
    pairs = parse_properties(text)
    members = tuple(sorted(key.removeprefix("server.") for key in pairs if key.startswith("server.")))
    if not pairs.get("dataDir"):
        raise StartupError("dataDir is missing: the directory where ZooKeeper keeps its data.")
    port = pairs.get("clientPort", "")
    if port and not (port.isdecimal() and 0 < int(port) <= 65535):
        raise StartupError(f"clientPort={port} is not a port, 1 to 65535.")
    if not (port or members or "secureClientPort" in pairs or "dynamicConfigFile" in pairs):
        raise StartupError("clientPort is missing: the port that clients connect to, usually 2181.")
    return ServerFile(Path(pairs["dataDir"]), pairs.get("clientPortAddress", ""), int(port) if port else None, members)


def check_number(file: ServerFile) -> None:
    """Check that the data directory holds the member's number. Raises StartupError."""
    if len(file.members) < 2:
        return
    path = file.data_dir / _MYID
    try:
        number = path.read_text().strip()
    except OSError:
        raise StartupError(
            f"{path} is missing: write this server's number into it, one of {', '.join(file.members)}."
        ) from None
    if number not in file.members:
        raise StartupError(f"{path} says {number!r}, which is none of the servers {', '.join(file.members)}.")

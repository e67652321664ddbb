"""By which client configuration a process of ours reaches the cluster: its user's or the console's own, by its path.

It is this host's, like a directory: what a spec says of it is not heeded, and it may change between two starts.
"""

from pathlib import Path

from broker.config.properties import parse_properties, properties_text
from console.processes.job_users import client_config_of
from console.processes.properties_file import set_properties

CLIENT_CONFIG = "client.config"


def tell_client_config(file: Path, user: str = "") -> None:
    """Write the path into the properties file of a process, or take out one that is not in use any more.

    `user` is whose it is, where that is not the console.
    """
    path = client_config_of(user)
    if path or (file.exists() and f"{CLIENT_CONFIG}=" in file.read_text()):
        set_properties(file, {CLIENT_CONFIG: path})


def client_lines(user: str, prefix: str = "") -> str:
    """Return the client lines of a process's properties, with `prefix` before each key.

    Among them may be a password: they are for a file of mode 600 alone.
    """
    path = client_config_of(user)
    pairs = parse_properties(Path(path).read_text()) if path else {}
    return properties_text({prefix + key: value for key, value in pairs.items()})

"""The server.properties of a broker that the console runs on its own host."""

from collections.abc import Mapping

from django.conf import settings

from console.kit.gateway.brokers.server_properties import read_server_properties
from console.processes.models import ManagedProcess

#: A file of settings is no larger.
FILE_BYTES_MAX = 1_000_000


def file_values(process: ManagedProcess | None) -> Mapping[str, str | None] | None:
    """Return the file's current values by key; None if it is missing, unreadable or on another host."""
    if process is None or process.host != settings.HOST_NAME or process.kind != ManagedProcess.Kind.BROKER:
        return None
    try:
        with (process.data_dir / "server.properties").open(encoding="utf-8") as file:
            return read_server_properties(file.read(FILE_BYTES_MAX))
    except (OSError, UnicodeDecodeError):
        return None

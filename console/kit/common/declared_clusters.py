"""What clusters.toml says of the clusters besides the first: how each is reached, what it is called, its colour. Pure.

The file is read once, with the settings.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from console.kit.common.current_cluster import MAIN

#: Each costs a collector of some 60 MB.
CLUSTERS_MAX = 32
#: In addresses, file names, names of schemas and of groups of the channel layer, which are shorter than 100 characters.
NAME = re.compile(r"[a-z][a-z0-9-]{0,23}")
TITLE_LENGTH_MAX = 40
COLOURS = ("grey", "blue", "green", "yellow", "orange", "red", "purple")
_SERVERS = re.compile(r"[^\s,=]+:\d{1,5}(,[^\s,=]+:\d{1,5})*")
_SERVERS_LENGTH_MAX = 2_000
#: How the first cluster is reached is said by the environment.
_OF_MAIN = ("title", "colour")
_OF_OTHERS = (
    *(*_OF_MAIN, "bootstrap", "client_config", "read_only", "zookeeper", "zookeeper_digest_file", "zookeeper_tls_file"),
    *("connect", "connect_authentication_file", "connect_ca_file"),
    *("schema_registry", "schema_registry_user", "schema_registry_password_file", "schema_registry_ca_file"),
)


class ClustersError(Exception):
    """One sentence for the operator."""


@dataclass(frozen=True, slots=True)
class DeclaredCluster:
    """`values`: settings that are this cluster's own, by the names they have in `console/settings.py`."""

    name: str
    title: str
    colour: str = "grey"
    values: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def words(self) -> str:
        """Beside others; titles may be alike, names are not."""
        return self.name if self.title == self.name else f"{self.title} ({self.name})"


@dataclass(frozen=True, slots=True)
class ClusterTable:
    """One table of the file. `texts` without those keys that say nothing."""

    name: str
    title: str
    colour: str
    is_read_only: bool
    texts: Mapping[str, str]

    def path(self, key: str, beside: Path) -> str:
        """Return a path relative to `beside`; empty if not set."""
        text = self.texts.get(key, "")
        return str((beside / Path(text).expanduser()).resolve()) if text else ""


def parse_clusters(text: str) -> list[ClusterTable]:
    """Parse the tables in the file's order; that of the first cluster has no `bootstrap`. Raises ClustersError."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ClustersError(f"is no TOML: {error}.") from None
    if unknown := sorted(document.keys() - {"clusters"}):
        raise ClustersError(f"has {_shown(unknown[0])}; there are only tables [clusters.NAME].")
    tables = document.get("clusters", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ClustersError("must consist of tables [clusters.NAME].")
    if len(tables) > CLUSTERS_MAX:
        raise ClustersError(f"names {len(tables)} clusters; at most {CLUSTERS_MAX} can be looked at.")
    return [said_of(name, table) for name, table in tables.items()]


def said_of(name: str, table: Mapping[str, object]) -> ClusterTable:
    """Parse one table of the file. Raises ClustersError."""
    if not NAME.fullmatch(name):
        raise ClustersError(f"calls a cluster {_shown(name)}: at most 24 of a-z, 0-9 and -, a letter first.")
    known = _OF_MAIN if name == MAIN else _OF_OTHERS
    if unknown := sorted(table.keys() - set(known)):
        raise ClustersError(f"says {_shown(unknown[0])} of {name}; it may say {', '.join(known)}.")
    is_read_only = table.get("read_only", False)
    if not isinstance(is_read_only, bool):
        raise ClustersError(f"must say true or false for read_only of {name}.")
    texts = {key: _text(name, key, value) for key, value in table.items() if key != "read_only"}
    if name != MAIN and not _are_servers(texts.get("bootstrap", "")):
        raise ClustersError(f'must say bootstrap = "HOST:PORT,…" of {name}.')
    title, colour = texts.pop("title", "") or name, texts.pop("colour", "") or "grey"
    if len(title) > TITLE_LENGTH_MAX:
        raise ClustersError(f"gives {name} a title of more than {TITLE_LENGTH_MAX} characters.")
    if colour not in COLOURS:
        raise ClustersError(f"gives {name} the colour {_shown(colour)}; there are {', '.join(COLOURS)}.")
    return ClusterTable(name, title, colour, is_read_only, {key: value for key, value in texts.items() if value})


def _text(name: str, key: str, value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ClustersError(f"must say a text of one line for {key} of {name}.")
    return value.strip()


def _are_servers(text: str) -> bool:
    ports = (int(part.rpartition(":")[2]) for part in text.split(",")) if _SERVERS.fullmatch(text) else (0,)
    return len(text) <= _SERVERS_LENGTH_MAX and all(1 <= port <= 65_535 for port in ports)


def _shown(text: str) -> str:
    """Return the text on one line."""
    return repr(text[:60] + ("…" if len(text) > 60 else ""))

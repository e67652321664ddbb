"""What BARNABAS_MIRROR_CLUSTERS says of clusters that mirrors copy this one's topics into: what mirrors tell of their
work lies in the target. Read once, with the settings; it ends the program with one sentence if it cannot be.
"""

import re
import sys
from collections.abc import Mapping

VARIABLE = "BARNABAS_MIRROR_CLUSTERS"
#: Each is asked every few seconds.
CLUSTERS_MAX = 8
_ALIAS = re.compile(r"[A-Za-z0-9._-]{1,100}")
_SERVERS = re.compile(r"[^\s,:=]+:\d{1,5}(,[^\s,:=]+:\d{1,5})*")


def read_mirror_clusters(environment: Mapping[str, str]) -> dict[str, str]:
    """Bootstrap servers by alias, from `ALIAS=HOST:PORT,…` separated by spaces."""
    by_alias: dict[str, str] = {}
    for part in environment.get(VARIABLE, "").split():
        alias, _, servers = part.partition("=")
        if not _ALIAS.fullmatch(alias) or not _SERVERS.fullmatch(servers) or alias in by_alias:
            sys.exit(f"{VARIABLE}: {part[:300]} is not ALIAS=HOST:PORT,… of a cluster that is named once.")
        by_alias[alias] = servers
    if len(by_alias) > CLUSTERS_MAX:
        sys.exit(f"{VARIABLE} names {len(by_alias)} clusters; at most {CLUSTERS_MAX} can be looked at.")
    return by_alias

"""Names of internal topics: those in which Kafka and its services keep what they know. Pure.

Whoever writes the configurations of a Connect worker runs connectors with the worker's credentials; whoever writes
`_schemas` changes every subject. Their records name topics, groups and connectors, and quote other records. So these
records are for administrators, no person writes them here, and to change or delete such a topic is for administrators.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from console.kit.access.patterns import matches, matches_one

_SERVICES = (
    *(f"connect*{kind}" for kind in ("config", "configs", "offset", "offsets", "status")),
    *("mm2-*", "checkpoints?internal", "kafkasql-*", "barnabas.probe", "barnabas-sinks"),
    *("_schemas", "__consumer_offsets", "__transaction_state", "__cluster_metadata", "__share_group_state"),
    *("_confluent*", "_barnabas*", "_redpanda*", "__amazon_msk*", "__strimzi*"),
)
#: Of Kafka, Connect, MirrorMaker 2, schema registries and this product, and the same behind the alias of a mirror with
#: any separator. A leading underscore is how Kafka, Confluent, MSK and most consoles mark topics of services.
CONVENTIONS = ("_*", "*._*", "*-_*", "*.internal", *(f"*{service}" for service in _SERVICES))
ONLY_ADMINISTRATORS = (
    "This is an internal topic, in which Kafka or one of its services keeps what it knows: only administrators read "
    "its records, change it or delete it."
)
NOT_WRITTEN = (
    "This is an internal topic: its service writes it, and the console writes nothing to it, for any user. Use the "
    "pages or the REST of that service."
)


def _no_names() -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True, slots=True)
class InternalTopics:
    """Names that match one of `patterns`, whatever their capitals, and copies of those that `read_names` returns, but
    for `exceptions`; and the names that `read_names` returns, which is called when it is needed."""

    read_names: Callable[[], frozenset[str]] = _no_names
    patterns: tuple[str, ...] = CONVENTIONS
    exceptions: tuple[str, ...] = ()

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        names = self.read_names()
        if name in names:
            return True
        is_named = matches_one(self.patterns, name) or any(item in names for item in origins_by_name(name))
        return is_named and not any(matches(exception, name) for exception in self.exceptions)


def origins_by_name(name: str) -> list[str]:
    """Return what a topic may be called at its origin if `name` is a copy: what is behind each possible alias of a
    mirror. The separator may be any (`replication.policy.separator` of MirrorMaker 2)."""
    return [name[end:] for end in range(1, len(name)) if name[end - 1] in "._-"]


@lru_cache(64)
def copies_of(names: frozenset[str]) -> str:
    """Return a regular expression of the names whose `origins_by_name` has one of `names`, of which there is one."""
    return f"[._-]({'|'.join(map(re.escape, sorted(names)))})$"


BY_CONVENTION = InternalTopics()

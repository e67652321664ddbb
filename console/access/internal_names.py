"""Names of internal topics: those in which Kafka and its services keep what they know. Pure.

Whoever writes the configurations of a Connect worker runs connectors with the worker's credentials; whoever writes
`_schemas` changes every subject. Their records name topics, groups and connectors, and quote other records. So these
records are for administrators, no person writes them here, and to change or delete such a topic is for administrators.
"""

from collections.abc import Callable
from dataclasses import dataclass

from console.access.patterns import matches_any

#: Of Kafka, Connect, MirrorMaker 2, schema registries and this product. A leading underscore is how Kafka, Confluent,
#: MSK and most consoles mark topics of services.
CONVENTIONS = (
    "_*",
    *(f"*connect*{kind}" for kind in ("config", "configs", "offset", "offsets", "status")),
    *("mm2-*", "*.internal", "*checkpoints-internal"),
    *("kafkasql-*", "barnabas.probe", "barnabas-sinks"),
)
ONLY_ADMINISTRATORS = (
    "This is an internal topic, in which Kafka or one of its services keeps what it knows: only administrators read "
    "its records, change it or delete it."
)
NOT_WRITTEN = (
    "This is an internal topic: its service writes it, and nothing is written to it from here, whoever asks. Use the "
    "pages or the REST of that service."
)


def _no_names() -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True, slots=True)
class InternalTopics:
    """Names that match one of `patterns` and none of `exceptions`, and those that `read_names` returns, which is called
    when it is needed."""

    read_names: Callable[[], frozenset[str]] = _no_names
    patterns: tuple[str, ...] = CONVENTIONS
    exceptions: tuple[str, ...] = ()

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        is_named = matches_any(self.patterns, name) and not matches_any(self.exceptions, name)
        return is_named or name in self.read_names()


BY_CONVENTION = InternalTopics()

"""Which topics are copied, and under which names. Pure.

The policies of Kafka's mirror (KIP-382, KIP-690): a copy is called `SOURCE.topic`, or keeps its name. A topic that came
from the target is not sent back to it: told by its name with the first policy, and record by record with both.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from broker.common.bounded_patterns import BoundedPattern, TooManyWays

#: Kafka's limit of a topic's name.
NAME_LENGTH_MAX = 249
HEARTBEATS = "heartbeats"
#: What the audit of one cluster has counted says nothing of another one.
_INTERNAL = re.compile(r"__.*|_barnabas_.*|\..*|.*[-.]internal", re.DOTALL)


@dataclass(frozen=True)
class TopicNaming:
    """`source`, `target` are the clusters' aliases."""

    source: str
    target: str
    separator: str = "."
    keeps_names: bool = False

    def copy_of(self, topic: str) -> str:
        if self.keeps_names and topic != HEARTBEATS:
            return topic
        return f"{self.source}{self.separator}{topic}"

    def came_from_target(self, topic: str) -> bool:
        """Return whether one of the clusters in its name is the target."""
        if self.keeps_names:
            return False
        # An alias may hold the separator.
        return f"{self.separator}{self.target}{self.separator}" in f"{self.separator}{topic}"

    @property
    def flow(self) -> str:
        return f"{self.source}->{self.target}"

    @property
    def reverse_flow(self) -> str:
        return f"{self.target}->{self.source}"

    @property
    def checkpoints(self) -> str:
        """Kafka's topic of translated offsets, in the target."""
        return f"{self.source}.checkpoints.internal"


@dataclass(frozen=True)
class NameFilter:
    """Name filter of names of topics or of groups: those that match one of `include` whole and none of `exclude`.

    A name of which that cannot be said in time is none of them: one made for that holds up no other.
    """

    include: tuple[BoundedPattern, ...]
    exclude: tuple[BoundedPattern, ...]

    def __contains__(self, name: str) -> bool:
        return self._why_not_said(name) is None and self._takes(name)

    def not_said(self, names: Iterable[str]) -> dict[str, str]:
        """Return the names that the filter cannot decide, with the reason."""
        return {name: why for name in sorted(names) if (why := self._why_not_said(name))}

    def _why_not_said(self, name: str) -> str | None:
        try:
            self._takes(name)
        except TooManyWays as error:
            return str(error)
        return None

    def _takes(self, name: str) -> bool:
        return any(pattern.fullmatch(name) for pattern in self.include) and not any(
            pattern.fullmatch(name) for pattern in self.exclude
        )


def is_internal(topic: str) -> bool:
    return bool(_INTERNAL.fullmatch(topic))


def copied_topics(topics: Iterable[str], chosen: NameFilter, naming: TopicNaming) -> dict[str, str]:
    """Return the source's topics with their names in the target."""
    return {
        topic: naming.copy_of(topic)
        for topic in sorted(topics)
        if (topic in chosen or topic == HEARTBEATS) and not is_internal(topic) and not naming.came_from_target(topic)
    }

"""What the palette offers to do with one object, as a feature declares it: `restart broker 2`, `reset slow-export`."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from console.kit.access.roles import Right


class ObjectKind(StrEnum):
    """The kinds of objects that the palette finds by name. A principal is a user of Kafka, or a client id."""

    TOPIC = "topic"
    GROUP = "group"
    BROKER = "broker"
    PROCESS = "process"
    CONNECTOR = "connector"
    PRINCIPAL = "principal"


class PartitionIn(StrEnum):
    """Where an address takes the partition that is typed behind a topic: its last path argument, or `?partition=`."""

    PATH = "path"
    QUERY = "query"


@dataclass(frozen=True, slots=True)
class Verb:
    """An action on one object, or a page of it. `{name}` and `{partition}` in the title stand for what is typed.

    The route takes the object's name and `arguments` behind it; with `query` the name goes into that parameter instead.
    `words` are found, too, but not shown. `right` is needed on the object; `by_role` on the cluster, too, and with
    `all_topics` on every topic there may be. `process_kind` leaves a verb to processes of one kind.
    """

    title: str
    of: ObjectKind
    route: str
    words: str = ""
    right: Right = Right.OPERATE
    arguments: tuple[str, ...] = ()
    query: str = ""
    partition_in: PartitionIn | None = None
    by_role: bool = False
    all_topics: bool = False
    process_kind: str = ""
    #: The key of the verb behind which it is listed (`console/kit/features/order.py`).
    after: str = ""

    @property
    def key(self) -> str:
        return f"{self.of}: {self.title}"

    def matches(self, words: Iterable[str]) -> bool:
        """Return whether each word is part of the title or of the words behind it."""
        text = f"{self.title.format(name='', partition='')} {self.words}".lower()
        return all(word in text for word in words)

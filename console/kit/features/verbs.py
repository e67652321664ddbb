"""What the palette and the header of an object's pages offer to do with it: `restart broker 2`, `Reset offsets…`."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from console.kit.access.reach import Reach, Resource
from console.kit.access.roles import Right


class ObjectKind(StrEnum):
    """The kinds of objects with verbs. A principal is a user of Kafka, or a client id; a user is one of the console.

    The palette finds subjects, users, rules of alerts and SCRAM users by no name.
    """

    TOPIC = "topic"
    GROUP = "group"
    BROKER = "broker"
    PROCESS = "process"
    CONNECTOR = "connector"
    PRINCIPAL = "principal"
    SUBJECT = "subject"
    USER = "user"
    ALERT_RULE = "alert rule"
    SCRAM_USER = "SCRAM user"


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
    #: Its words in the header of the object (`Add partitions…`); without them, it is in the palette alone.
    button: str = ""
    #: In the header it stands apart, behind the others.
    is_deletion: bool = False
    #: Parameters of the address that are always the same, and the part of the page behind `#`.
    fixed: tuple[tuple[str, str], ...] = ()
    fragment: str = ""
    #: The key of the verb behind which it is listed (`console/kit/features/order.py`).
    after: str = ""

    @property
    def key(self) -> str:
        return f"{self.of}: {self.title}"

    def is_for(self, rights: Collection[Right], reach: Reach) -> bool:
        """Return whether a person of that reach, with these rights on the object, may do it."""
        if self.right not in rights or (self.by_role and self.right not in reach.role):
            return False
        return not (self.all_topics and reach.is_limited(Resource.TOPIC, self.right))

    def matches(self, words: Iterable[str]) -> bool:
        """Return whether each word is part of the title or of the words behind it."""
        text = f"{self.title.format(name='', partition='')} {self.words}".lower()
        return all(word in text for word in words)

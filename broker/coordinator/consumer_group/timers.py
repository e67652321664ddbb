"""What consumer groups wait for."""

from enum import Enum
from typing import NamedTuple


class ConsumerTimerKind(Enum):
    SESSION = "session"  #: a member has been silent too long
    REVOCATION = "revocation"  #: a member has had long enough to give partitions up
    ASSIGNMENT = "assignment"  #: the next assignment of the group may be made


class ConsumerTimerKey(NamedTuple):
    kind: ConsumerTimerKind
    group_id: str
    member_id: str = ""

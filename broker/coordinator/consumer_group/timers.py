"""What consumer groups wait for."""

from enum import Enum
from typing import NamedTuple


class ConsumerTimerKind(Enum):
    SESSION = "session"  #: a member has been silent too long
    REVOCATION = "revocation"  #: a member has had long enough to give partitions up
    ASSIGNMENT = "assignment"  #: the next assignment of the group may be made
    JOIN = "join"  #: a member of the classic protocol has had long enough to join again
    SYNC = "sync"  #: … to ask for its assignment
    DOWNGRADE = "downgrade"  #: the group has only members of the classic protocol


class ConsumerTimerKey(NamedTuple):
    kind: ConsumerTimerKind
    group_id: str
    member_id: str = ""


#: What may end the membership of a member.
OF_MEMBERS = (ConsumerTimerKind.SESSION, ConsumerTimerKind.REVOCATION, ConsumerTimerKind.JOIN, ConsumerTimerKind.SYNC)

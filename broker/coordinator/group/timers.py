"""What a group coordinator waits for."""

from enum import Enum
from typing import NamedTuple


class TimerKind(Enum):
    SESSION = "session"  #: a member, or a member id handed out, has been silent too long
    JOIN = "join"  #: the group has waited long enough for members to join
    SYNC = "sync"  #: the members of a generation have had long enough to ask for their assignment


class TimerKey(NamedTuple):
    kind: TimerKind
    group_id: str
    member_id: str = ""

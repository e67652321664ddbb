"""What a drill will come to, said before it begins. Pure.

A broker that does not answer is missed when its session at ZooKeeper ends: until then its partitions have a leader that
nobody reaches, then others lead. A fault shorter than that goes unnoticed but by who waits. Everything is said as from
and to: which it is near the edge nobody can know.
"""

from dataclasses import asdict, dataclass
from typing import Any

from console.automation.drill.faults import Fault
from console.automation.drill.samples import tupled
from console.kit.common.stored_fields import from_stored
from console.processes.guard import Absence, ServerAbsence

#: What an election takes once somebody is missed, and how far a session's end may come late.
ELECTION_S, EDGE_S = 5, 2
#: What it takes to catch up after that.
CATCH_UP_S = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedEffects:
    """Each pair is from and to. `unanswered_s`: how long its leaders do not answer; `below`: partitions under their
    minimum meanwhile; `notices`: whether the cluster misses it at all; `quorumless_s`: how long no ZooKeeper server
    serves."""

    notices: bool
    leaders_moved: tuple[int, int] = (0, 0)
    controller_moves: tuple[int, int] = (0, 0)
    unanswered_s: tuple[float, float] = (0, 0)
    leaderless_s: tuple[float, float] = (0, 0)
    under_replicated_s: tuple[float, float] = (0, 0)
    below: tuple[int, int] = (0, 0)
    groups: int = 0
    back_s: float = CATCH_UP_S
    zookeeper_left: int = 0
    quorumless_s: tuple[float, float] = (0, 0)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def read_expected(kept: dict[str, Any]) -> ExpectedEffects:
    return from_stored(ExpectedEffects, tupled(kept))


def of_broker(fault: Fault, seconds: int, absence: Absence, session_s: float, lag_s: float) -> ExpectedEffects:
    """Return expected effects. `lag_s`: after which a follower that does not fetch is out of sync
    (replica.lag.time.max.ms).
    """
    leads = absence.moved + len(absence.below)
    offices, below = int(absence.is_controller), len(absence.below)
    if fault is Fault.SLOW:
        return ExpectedEffects(notices=False, unanswered_s=(0, seconds), groups=len(absence.groups))
    surely, perhaps = seconds > session_s + EDGE_S, seconds > session_s - EDGE_S
    if fault is Fault.KILL:
        # The next process ends the session of the one before it, so it is missed in any case.
        surely, perhaps = True, True
    shrinks = perhaps or seconds > lag_s
    away_s = seconds if fault is Fault.PAUSE else max(seconds, 0) + ELECTION_S
    return ExpectedEffects(
        notices=perhaps,
        leaders_moved=(0, leads if perhaps else 0),
        controller_moves=(offices if surely and seconds > session_s + EDGE_S else 0, offices if perhaps else 0),
        unanswered_s=(0, min(away_s, session_s + EDGE_S) + ELECTION_S),
        leaderless_s=(0, ELECTION_S if perhaps else 0),
        under_replicated_s=(0, away_s + CATCH_UP_S if shrinks else 0),
        below=(0, below if shrinks else 0),
        groups=len(absence.groups),
    )


def of_server(fault: Fault, seconds: int, absence: ServerAbsence) -> ExpectedEffects:
    """Return the effects of losing one ZooKeeper server: brokers use the others, and no session ends.

    Without their leader the others serve nobody until they have elected one, and a broker that finds nobody for so long
    may have to begin another session, as if it had been away.
    """
    elect_s, catch_up_s = (ELECTION_S, CATCH_UP_S) if absence.is_leader else (0, 0)
    return ExpectedEffects(
        notices=fault is not Fault.SLOW,
        zookeeper_left=absence.left,
        unanswered_s=(0, ELECTION_S + elect_s),
        quorumless_s=(0, elect_s),
        controller_moves=(0, int(absence.is_leader)),
        leaderless_s=(0, elect_s),
        under_replicated_s=(0, elect_s + catch_up_s),
    )

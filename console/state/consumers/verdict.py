"""How a group does in a partition: by how long the oldest unread record has waited, and whether it gets nearer. Pure.

Burrow asks whether a lag shrank in any of the last ten commits; so one commit that jitters makes a drowning group fine,
and a quiet topic a dead one. Here nobody is in trouble who is behind by less than `BEHIND_MS`, or than three of its own
pauses; whoever is behind by more, and does not catch up over minutes, is, and the rest only tells in which way.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from console.state.consumers.commits import CommitRing

#: A rebalance, a restart of a consumer, a commit once a minute take less.
BEHIND_MS = 120_000
#: Who was behind by more is so until it is behind by less than this: nobody goes in and out of trouble at each look.
CALM_MS = 90_000
#: A group is late after this many of its own usual pauses between commits.
PAUSES = 3
#: A group without members is given no more than this, whatever its pauses were.
NO_MEMBERS_MS_MAX = 600_000
#: Held for so long without any commit, what is unread will not be committed.
NO_COMMIT_MS = 300_000
#: A pace is told of the last five minutes, and of no less than one, or of the newest three commits if they are further.
PACE_MS, PACE_MIN_MS, PACE_COMMITS = 300_000, 60_000, 3
#: A commit may be told before the end of the log that it was made at.
ENDS_LATE_MS = 5_000
#: Who reads by so much more than what arrives gets nearer.
GAIN = 1.05
#: Behind by more than this in a partition, a member that moves on there has enough to do.
BUSY_MS = 30_000
#: A member that works off other partitions comes back to one within this time, or does not get on in it.
TURN_MS = 600_000

#: The same for people, in one sentence.
RULE = (
    "A group is in trouble when it lost records or soon will. Also when its oldest unread record has waited for more "
    "than 2 minutes (or three of its usual pauses between commits) and it does not catch up. "
    "Also when it has unread records and has not committed for 5 minutes."
)


class LagVerdict(StrEnum):
    """Worse ones come later."""

    OK = "ok"
    IDLE = "idle"
    CATCHING_UP = "catching up"
    UNKNOWN = "unknown"
    ABANDONED = "abandoned"
    WENT_BACK = "went back"
    NO_COMMIT = "no commit"
    SLOW = "slow"
    STOPPED = "stopped"
    STALLED = "stalled"
    BEYOND = "beyond the end"
    LOST = "lost records"

    @property
    def severity(self) -> int:
        return _SEVERITIES[self]

    @property
    def is_bad(self) -> bool:
        """Whether the verdict means trouble, shown on the overview."""
        return self.severity >= LagVerdict.ABANDONED.severity

    @property
    def tone(self) -> str:
        """ok, warning, critical, or idle."""
        if self is LagVerdict.OK:
            return "ok"
        if not self.is_bad:
            return "idle"
        return "warning" if self in _WARNINGS else "critical"

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_SEVERITIES = {verdict: number for number, verdict in enumerate(LagVerdict)}
_WARNINGS = (LagVerdict.ABANDONED, LagVerdict.NO_COMMIT, LagVerdict.SLOW, LagVerdict.WENT_BACK)
_MEANINGS = {
    LagVerdict.OK: "It keeps up: what is unread has not waited for longer than usual.",
    LagVerdict.IDLE: "It reads now and then, as a nightly job does, and is not late yet: "
    "records wait for its next time.",
    LagVerdict.CATCHING_UP: "It is behind, and reads faster than records arrive.",
    LagVerdict.UNKNOWN: "It has not been watched for long enough to say.",
    LagVerdict.ABANDONED: "Records wait, and no member reads them.",
    LagVerdict.NO_COMMIT: "A member holds the partition, records wait in it, and none has been committed for minutes.",
    LagVerdict.SLOW: "It is behind, and does not read faster than records arrive.",
    LagVerdict.STOPPED: "Records wait, and the group commits nothing any more.",
    LagVerdict.STALLED: "The group commits, and gets no further here while records wait.",
    LagVerdict.WENT_BACK: "It committed a lower offset than before, and is not back yet: records are read twice.",
    LagVerdict.BEYOND: "Its offset lies beyond the log's end: the topic was recreated or truncated. It will start as "
    "auto.offset.reset says.",
    LagVerdict.LOST: "Records were deleted before it read them.",
}


@dataclass(slots=True)
class Evidence:
    """What is known of a group in a partition. Offsets are None where they are not known."""

    commits: CommitRing
    committed: int | None
    first_offset: int | None
    next_offset: int | None
    #: Unread records; 0 also where only markers of transactions are left.
    lag: int | None
    #: When the oldest unread record was appended; without a commit since when it is held and unread. None: not known.
    behind_since_ms: int | None
    #: The oldest unread record is no younger; None: nobody has looked at the log.
    older_than_ms: int | None
    has_reader: bool
    now_ms: int
    member_id: str = ""
    #: Records that were deleted though they were not committed, and when the first of them was appended.
    lost: int = 0
    lost_since_ms: int | None = None

    @property
    def is_caught_up(self) -> bool:
        return self.lag == 0 and not self.lost

    @property
    def behind_ms(self) -> int:
        """The least time behind; 0 if nothing is unread, or unknown."""
        if not self.lag:
            return 0
        since_ms = self.older_than_ms if self.behind_since_ms is None else self.behind_since_ms
        return 0 if since_ms is None else max(0, self.now_ms - since_ms)

    @property
    def limit_ms(self) -> int:
        return CALM_MS if self.commits.was_late else BEHIND_MS

    @property
    def patience_ms(self) -> int:
        """How long silence is tolerated: without members at most NO_MEMBERS_MS_MAX, and only for habitual pauses."""
        if self.has_reader:
            return max(self.limit_ms, PAUSES * self.commits.usual_pause_ms)
        return max(self.limit_ms, min(NO_MEMBERS_MS_MAX, PAUSES * self.commits.habitual_pause_ms))


@dataclass(frozen=True, slots=True)
class Company:
    """What the group does in all its partitions: one of them alone does not tell that it stopped."""

    committed_ms: int = 0
    #: Member → when it last moved on in a partition in which it has enough to do.
    worked_ms: Mapping[str, int] = field(default_factory=dict)
    is_shrinking: bool = False


def company_of(places: Iterable[Evidence], is_shrinking: bool) -> Company:
    committed_ms = 0
    worked_ms: dict[str, int] = {}
    for place in places:
        last = place.commits.last
        if last is None:
            continue
        committed_ms = max(committed_ms, last.at_ms)
        if place.behind_ms > BUSY_MS:
            worked_ms[place.member_id] = max(place.commits.moved_ms or 0, worked_ms.get(place.member_id, 0))
    return Company(committed_ms, worked_ms, is_shrinking)


def is_late(evidence: Evidence) -> bool:
    """Return whether the lag exceeds the tolerated one, so that the group's other partitions must be considered."""
    return evidence.behind_ms > evidence.limit_ms


def judge(evidence: Evidence, company: Company) -> LagVerdict:
    """Return the verdict on the group; `company`, its other partitions, matters only if it `is_late`."""
    if evidence.committed is None:
        return _judge_uncommitted(evidence)
    if evidence.next_offset is None:
        return LagVerdict.UNKNOWN
    if evidence.committed > evidence.next_offset:
        return LagVerdict.BEYOND
    if evidence.is_caught_up:
        return LagVerdict.OK
    if evidence.lost and _is_lost(evidence):
        return LagVerdict.LOST
    if not is_late(evidence) or evidence.behind_ms <= evidence.patience_ms:
        return LagVerdict.UNKNOWN if evidence.lag and evidence.behind_since_ms is None else LagVerdict.OK
    return _judge_late(evidence, company, evidence.patience_ms)


def worst(verdicts: Iterable[LagVerdict]) -> LagVerdict:
    """Return the worst verdict of a group's partitions; a group without any is fine."""
    return max(verdicts, key=lambda alert: alert.severity, default=LagVerdict.OK)


def _judge_uncommitted(evidence: Evidence) -> LagVerdict:
    if evidence.lag == 0:
        return LagVerdict.OK
    is_known = evidence.lag is not None and evidence.behind_since_ms is not None
    return LagVerdict.NO_COMMIT if is_known and evidence.behind_ms > NO_COMMIT_MS else LagVerdict.UNKNOWN


def _is_lost(evidence: Evidence) -> bool:
    """Return whether records were lost; those deleted shortly after they came may have been read, and be committed in a
    moment.
    """
    return evidence.lost_since_ms is None or evidence.now_ms - evidence.lost_since_ms > evidence.patience_ms


def _judge_late(evidence: Evidence, company: Company, patience_ms: int) -> LagVerdict:
    ring, now_ms = evidence.commits, evidence.now_ms
    last_ms = ring.last_alive_ms
    if not evidence.has_reader and now_ms - last_ms > patience_ms:
        return LagVerdict.IDLE if _rests(evidence) else LagVerdict.ABANDONED
    watched_ms = max(ring.since_ms, ring.reader_since_ms)
    silence_ms = now_ms - max(last_ms, watched_ms)
    if silence_ms > patience_ms:
        return _judge_silent(evidence, company, patience_ms, silence_ms)
    if ring.last is None or ring.last.at_ms < ring.reader_since_ms:
        return LagVerdict.UNKNOWN
    if now_ms - max(ring.moved_ms or 0, watched_ms) > patience_ms:
        return LagVerdict.STALLED
    return LagVerdict.WENT_BACK if ring.left_offset is not None else _judge_pace(evidence)


def _judge_silent(evidence: Evidence, company: Company, patience_ms: int, silence_ms: int) -> LagVerdict:
    """Judge a place without commits for `silence_ms`: does the group commit elsewhere?"""
    works_elsewhere = evidence.now_ms - company.worked_ms.get(evidence.member_id, 0) <= patience_ms
    if works_elsewhere and silence_ms <= max(TURN_MS, patience_ms):
        return LagVerdict.CATCHING_UP if company.is_shrinking else LagVerdict.SLOW
    return LagVerdict.STALLED if evidence.now_ms - company.committed_ms <= patience_ms else LagVerdict.STOPPED


def _judge_pace(evidence: Evidence) -> LagVerdict:
    """Judge the pace since the oldest unread record came: the time before a burst says nothing about how it is worked
    off.
    """
    ring = evidence.commits
    behind_ms = max(evidence.behind_ms, BEHIND_MS)
    third_ms = ring.commits[max(-PACE_COMMITS, -len(ring.commits))].at_ms
    from_ms = max(evidence.now_ms - behind_ms + ENDS_LATE_MS, min(evidence.now_ms - PACE_MS, third_ms))
    progress = ring.progress(from_ms, PACE_MIN_MS)
    if progress is None:
        return LagVerdict.UNKNOWN
    read, appended = progress
    return LagVerdict.CATCHING_UP if read > GAIN * appended else LagVerdict.SLOW


def _rests(evidence: Evidence) -> bool:
    """Return whether the group rests: it has no members and needs none yet. A silent member is no pause."""
    rests_until_ms = evidence.commits.rhythm.rests_until_ms()
    return rests_until_ms is not None and evidence.now_ms <= rests_until_ms

"""How a group does in a partition: Burrow's rules, which need no threshold, and the traps they fall into. Pure.

Burrow's order is kept: caught up, stopped, went back, caught up at least once, stalled, slow. Added are what Burrow
cannot know or gets wrong: records deleted before they were read, a commit beyond the log's end, markers of transactions
that look unread, a quiet topic whose first new record is no reason to call the reader dead, too short a ring, and a
job that reads once a night.
"""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from console.consumers.commits import CommitRing

#: Fewer commits than these are no evidence yet, unless nothing has come for so long.
COMMITS_MIN = 3
SILENCE_MS = 300_000
#: Nobody is called silent sooner: a consumer commits every five seconds by default.
PATIENCE_MS = 15_000
#: A group is silent after this many of its own usual gaps.
GAPS = 3


class Verdict(StrEnum):
    """Worse ones come later."""

    OK = "ok"
    IDLE = "idle"
    NO_COMMIT = "no commit"
    UNKNOWN = "unknown"
    SLOW = "slow"
    STOPPED = "stopped"
    STALLED = "stalled"
    WENT_BACK = "went back"
    BEYOND = "beyond the end"
    LOST = "lost records"

    @property
    def severity(self) -> int:
        return _SEVERITIES[self]

    @property
    def is_bad(self) -> bool:
        return self.severity >= Verdict.STOPPED.severity

    @property
    def tone(self) -> str:
        """ok, warning, critical, or idle."""
        if self is Verdict.OK:
            return "ok"
        if self in (Verdict.IDLE, Verdict.NO_COMMIT, Verdict.UNKNOWN):
            return "idle"
        return "warning" if self in (Verdict.SLOW, Verdict.WENT_BACK) else "critical"

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_SEVERITIES = {verdict: number for number, verdict in enumerate(Verdict)}
_MEANINGS = {
    Verdict.OK: "It has read everything, or is getting there.",
    Verdict.IDLE: "It reads now and then, as a nightly job does, and is not late yet: records wait for its next time.",
    Verdict.NO_COMMIT: "A member holds the partition and has not committed anything in it.",
    Verdict.UNKNOWN: "There are too few commits yet to say.",
    Verdict.SLOW: "It commits and moves on, and what is unread never gets less.",
    Verdict.STOPPED: "Records wait, and nothing is committed any more.",
    Verdict.STALLED: "It commits the same offset again and again while records wait.",
    Verdict.WENT_BACK: "It committed a lower offset than before, and is not back yet: records are read twice.",
    Verdict.BEYOND: "Its offset lies beyond the log's end: the topic was created anew or cut. It will start as "
    "auto.offset.reset says.",
    Verdict.LOST: "Records were deleted before it read them.",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a group in a partition. Offsets are None where they are not known."""

    commits: CommitRing
    committed: int | None
    first_offset: int | None
    next_offset: int | None
    #: Between the commit and the log's end is nothing, or nothing but markers of transactions.
    is_caught_up: bool
    #: When the oldest unread record was appended, if that is known.
    behind_since_ms: int | None
    has_members: bool
    now_ms: int


def judge(evidence: Evidence) -> Verdict:
    if evidence.committed is None:
        return Verdict.OK if evidence.is_caught_up else Verdict.NO_COMMIT
    if evidence.next_offset is None:
        return Verdict.UNKNOWN
    if evidence.committed > evidence.next_offset:
        return Verdict.BEYOND
    if evidence.is_caught_up:
        return Verdict.OK
    if evidence.first_offset is not None and evidence.committed < evidence.first_offset:
        return Verdict.LOST
    return _judge_commits(evidence)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """A group does as badly as in its worst partition; one without any is fine."""
    return max(verdicts, key=lambda each: each.severity, default=Verdict.OK)


def _judge_commits(evidence: Evidence) -> Verdict:
    ring, commits = evidence.commits, evidence.commits.commits
    if len(commits) < COMMITS_MIN:
        return _judge_few(evidence)
    patience_ms = max(ring.span_ms, GAPS * ring.usual_gap_ms, PATIENCE_MS)
    has_waited = _has_waited(evidence, patience_ms)
    if evidence.now_ms - commits[-1].at_ms > patience_ms and has_waited:
        return Verdict.IDLE if _rests(evidence) else Verdict.STOPPED
    if _went_back(ring):
        return Verdict.WENT_BACK
    known = [each.lag for each in commits if each.lag is not None]
    if 0 in known:
        return Verdict.OK
    if has_waited and all(each.offset == commits[0].offset for each in commits):
        return Verdict.STALLED
    never_less = all(after >= before for before, after in itertools.pairwise(known))
    return Verdict.SLOW if len(known) > 1 and never_less and has_waited else Verdict.OK


def _judge_few(evidence: Evidence) -> Verdict:
    """One commit has no span: by Burrow's first rule a new group that starts behind would be dead at once."""
    commits = evidence.commits.commits
    patience_ms = SILENCE_MS if evidence.has_members else PATIENCE_MS
    last_ms = commits[-1].at_ms if commits else None
    is_silent = last_ms is None or evidence.now_ms - last_ms > patience_ms
    if evidence.has_members and last_ms is None and evidence.behind_since_ms is None:
        return Verdict.UNKNOWN
    return Verdict.STOPPED if is_silent and _has_waited(evidence, patience_ms) else Verdict.UNKNOWN


def _rests(evidence: Evidence) -> bool:
    """Nobody is there and nobody would be yet. A member that is there and silent is no pause."""
    rests_until_ms = evidence.commits.rhythm.rests_until_ms()
    return not evidence.has_members and rests_until_ms is not None and evidence.now_ms <= rests_until_ms


def _has_waited(evidence: Evidence, patience_ms: int) -> bool:
    """Until there is something to read no commit is due. What is older than our own memory has waited."""
    return evidence.behind_since_ms is None or evidence.now_ms - evidence.behind_since_ms > patience_ms


def _went_back(ring: CommitRing) -> bool:
    """Only the first drop counts, until a later commit has reached the offset from before it."""
    offsets = [each.offset for each in ring.commits]
    for at, (before, after) in enumerate(itertools.pairwise(offsets)):
        if after < before:
            return max(offsets[at + 1 :]) < before
    return False

"""Unclean elections of the last days as a reason that counts until somebody has acknowledged it. Pure."""

from collections.abc import Iterable, Sequence

from console.signals.overview.health import HealthLevel, HealthReason, PastElection
from console.signals.overview.next_action import NextAction

#: As long as anything can be quiet: what was acknowledged is not heard again by getting old.
TOLD_FOR_MS = 30 * 24 * 3_600_000
_EXAMPLES_MAX = 3
_TOPICS_NAMED_MAX = 2
_SENTENCE_LENGTH_MAX = 300


def unclean_reason(elections: Sequence[PastElection]) -> Iterable[HealthReason]:
    """Return one reason for all unclean elections; another election is a new part, and counts again."""
    if not elections:
        return
    is_certain = any(election.is_certain for election in elections)
    text = f"{_election_text(elections, is_certain)}: acknowledged records may be lost."
    yield HealthReason(
        HealthLevel.CRITICAL if is_certain else HealthLevel.WARNING,
        "Unclean elections",
        text,
        NextAction("See in the history what it cost, have its producers send again, then acknowledge it", "history"),
        _evidence(elections),
        elections[0].at_ms,
        key="unclean elections",
        parts=tuple(sorted(str(election.number) for election in elections)),
        is_past=True,
    )


def _election_text(elections: Sequence[PastElection], is_certain: bool) -> str:
    topics = list(dict.fromkeys(election.topic for election in elections))
    named = " and ".join(topic[:40] for topic in topics[:_TOPICS_NAMED_MAX])
    more = len(topics) - _TOPICS_NAMED_MAX
    named += f" and {more} more" if more > 0 else ""
    what = "Unclean election" if is_certain else "Possibly an unclean election"
    return f"{what} in {named}"


def _evidence(elections: Sequence[PastElection]) -> str:
    sentences = [election.sentence[:_SENTENCE_LENGTH_MAX] for election in elections[:_EXAMPLES_MAX]]
    more = len(elections) - len(sentences)
    return " · ".join(sentences) + (f" · {more} more" if more > 0 else "")

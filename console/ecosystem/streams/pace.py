"""Whether a job keeps up, from its lag over the last minute. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Required, TypedDict

WINDOW_MS = 60_000
#: With less than this nobody waits: a batch is always under way.
SECONDS_OF_INPUT = 5
RECORDS_MIN = 1_000


class StreamPace(StrEnum):
    UNKNOWN = "not known yet"
    KEEPING_UP = "keeping up"
    CATCHING_UP = "catching up"
    FALLING_BEHIND = "falling behind"
    STANDING = "standing"


#: Colour of a pace; never alone, always beside its word.
TONES = {
    StreamPace.UNKNOWN: "plain",
    StreamPace.KEEPING_UP: "ok",
    StreamPace.CATCHING_UP: "busy",
    StreamPace.FALLING_BEHIND: "warning",
    StreamPace.STANDING: "critical",
}


@dataclass(frozen=True, slots=True)
class PaceView:
    """`catch_up_ms` is how long it takes at this pace; None if it does not, or is not known."""

    pace: StreamPace
    catch_up_ms: int | None = None

    @property
    def tone(self) -> str:
        return TONES[self.pace]


class PacePoint(TypedDict, total=False):
    """As the driver reports it, and it is stored: arrived and processed are a second's."""

    at_ms: Required[int]
    arrived: float | None
    processed: float | None
    lag: int | None


def pace_of(points: Sequence[PacePoint]) -> PaceView:
    """Return the pace; `points` in the order of time."""
    known = [(point, lag) for point in points if (lag := point.get("lag")) is not None]
    lags = [lag for point, lag in known if point["at_ms"] >= known[-1][0]["at_ms"] - WINDOW_MS]
    recent = [point for point, _ in known[len(known) - len(lags) :]]
    if len(recent) < 3:
        return PaceView(StreamPace.UNKNOWN)
    lag, span_s = lags[-1], (recent[-1]["at_ms"] - recent[0]["at_ms"]) / 1000
    arrived = sum(point.get("arrived") or 0 for point in recent) / len(recent)
    processed = sum(point.get("processed") or 0 for point in recent) / len(recent)
    if lag <= max(RECORDS_MIN, SECONDS_OF_INPUT * arrived):
        return PaceView(StreamPace.KEEPING_UP)
    if not processed:
        return PaceView(StreamPace.STANDING)
    gained_per_s = (lags[0] - lag) / max(span_s, 0.001)
    if gained_per_s <= 0:
        return PaceView(StreamPace.FALLING_BEHIND)
    return PaceView(StreamPace.CATCHING_UP, round(lag / gained_per_s * 1000))

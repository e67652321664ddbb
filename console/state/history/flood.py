"""A flood of changes of one kind, as that of a thousand topics' settings at once, is a few lines and a count. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from console.state.history.configuration import in_sentence
from console.state.history.differences import HistoryEvent

#: Lines of a kind until it has been quiet for so long; what is beyond them is one line with a count.
LINES_MAX, QUIET_MS = 30, 60_000
#: Kinds whose values have names of settings, not of topics, groups or users.
_NAMELESS = ("settings", "brokerconfig")
#: The object of that line. No topic and no group can be called so.
MANY = "many objects"


@dataclass(slots=True)
class _Flood:
    began_ms: int
    last_ms: int
    lines: int = 0
    beyond: int = 0
    same: Counter[str] = field(default_factory=Counter)


class FloodGate:
    """For one thread and one kind of events."""

    def __init__(self) -> None:
        self._flood: _Flood | None = None

    def admit(self, events: Sequence[HistoryEvent], at_ms: int) -> tuple[list[HistoryEvent], HistoryEvent | None, int]:
        """Return the events that are lines of their own, the line of the others, and since when that line counts.

        The line of the others replaces the one that was written for the same flood before.
        """
        if not events:
            return [], None, 0
        if self._flood is None or at_ms - self._flood.last_ms >= QUIET_MS:
            self._flood = _Flood(at_ms, at_ms)
        flood = self._flood
        flood.last_ms = at_ms
        room = max(0, LINES_MAX - flood.lines)
        lines, others = list(events[:room]), events[room:]
        flood.lines += len(lines)
        if not others:
            return lines, None, flood.began_ms
        flood.beyond += len(others)
        flood.same.update(in_sentence(event.values) for event in others if event.values and event.kind in _NAMELESS)
        return lines, _summary(flood, others[-1]), flood.began_ms


def _summary(flood: _Flood, last: HistoryEvent) -> HistoryEvent:
    """Return a summary without names of what changed: they may be out of a reader's reach."""
    sentence = f"{flood.beyond:,} more changes of this kind at the same time"
    values = None
    if flood.same and flood.same.most_common(1)[0][1] > 1:
        words, count = flood.same.most_common(1)[0]
        sentence += f", {count:,} of them: {words}"
        values = last.values if last.values and in_sentence(last.values) == words else None
    return replace(last, object_name=MANY, topic="", partition=None, sentence=sentence, values=values, tone="warning")

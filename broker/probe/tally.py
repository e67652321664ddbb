"""What was measured of the whole, of each broker and of each partition, minute by minute. Pure."""

from collections import OrderedDict
from dataclasses import dataclass, field, fields

from broker.common.sketch import Sketch

MINUTE_MS = 60_000
#: Minutes that are kept for a reader who was away.
MINUTES_KEPT = 30
WHOLE, MIRROR = "whole", "mirror"


@dataclass(slots=True)
class ProbeTally:
    """Counts of attempts and records. Latencies are those of acknowledged records, and until they were read."""

    written: int = 0  #: acknowledged
    not_written: int = 0  #: refused, or nobody said
    fetched: int = 0  #: the partition could be read
    not_fetched: int = 0
    read: int = 0
    lost: int = 0  #: may go down again when one comes late
    duplicated: int = 0
    reordered: int = 0
    answered: int = 0  #: of what a broker was asked
    unanswered: int = 0
    silent_ms: float = 0.0  #: for how long a broker was blamed, from its first unanswered request on
    produce: Sketch = field(default_factory=Sketch)
    end_to_end: Sketch = field(default_factory=Sketch)

    def as_json(self) -> dict[str, object]:
        """Return the counts that are not zero."""
        document: dict[str, object] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            content = value.as_json() if isinstance(value, Sketch) else round(value)
            if content:
                document[item.name] = content
        return document


Parts = dict[str, ProbeTally]


class Tallies:
    """`total` is of this life; minutes are of the clock on the wall."""

    def __init__(self) -> None:
        self.total: Parts = {}
        self._minutes: OrderedDict[int, Parts] = OrderedDict()
        self._now_ms = 0

    def at(self, now_ms: int) -> None:
        """Count for this minute from now on. A clock that goes back keeps counting in the newest minute."""
        self._now_ms = max(self._now_ms, now_ms)
        self._minutes.setdefault(self._now_ms - self._now_ms % MINUTE_MS, {})
        while len(self._minutes) > MINUTES_KEPT + 1:
            self._minutes.popitem(last=False)

    def of(self, broker: int | None, partition: int | None) -> list[ProbeTally]:
        """Return the tallies that count an event of this partition, led by this broker."""
        names = [WHOLE] if partition is not None else []
        names += [f"broker/{broker}"] if broker is not None else []
        names += [f"partition/{partition}"] if partition is not None else []
        return self._named(names)

    def _named(self, names: list[str]) -> list[ProbeTally]:
        minute = next(reversed(self._minutes.values())) if self._minutes else {}
        return [parts.setdefault(name, ProbeTally()) for parts in (self.total, minute) for name in names]

    def at_mirror(self, partition: int | None = None) -> list[ProbeTally]:
        """Return the tallies that count an event of the partition in a mirror."""
        names = [MIRROR] if partition is None else [MIRROR, f"{MIRROR}/{partition}"]
        return self._named(names)

    def forget(self, names: set[str]) -> None:
        """Forget brokers and partitions that no longer exist."""
        for name in names:
            self.total.pop(name, None)

    def minutes(self, since_ms: int) -> list[tuple[int, Parts]]:
        """Return the complete minutes that begin at `since_ms` or later, oldest first."""
        over = list(self._minutes.items())[:-1]
        return [(begins_ms, parts) for begins_ms, parts in over if begins_ms >= since_ms]

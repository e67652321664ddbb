"""Counts of the probe as it tells them, added up, and what follows from them. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from broker.common.sketch import Sketch

Tally = dict[str, Any]
COUNTS = (
    "written", "not_written", "fetched", "not_fetched", "read", "lost", "duplicated", "reordered", "answered",
    "unanswered", "silent_ms",
)  # fmt: skip
SKETCHES = ("produce", "end_to_end")


def checked(document: object) -> Tally:
    """Return a valid tally. Raises ValueError for an invalid one."""
    if not isinstance(document, Mapping):
        raise ValueError("a tally is no object")
    tally: Tally = {name: int(document[name]) for name in COUNTS if name in document}
    for name in SKETCHES:
        if name in document:
            tally[name] = {str(int(bucket)): int(count) for bucket, count in document[name].items()}
    return tally


def added(tallies: Iterable[Tally]) -> Tally:
    total: Tally = {}
    for tally in tallies:
        for name, value in tally.items():
            if name in SKETCHES:
                counts = total.setdefault(name, {})
                for bucket, count in value.items():
                    counts[bucket] = counts.get(bucket, 0) + count
            else:
                total[name] = total.get(name, 0) + value
    return total


@dataclass(frozen=True, slots=True)
class ProbeFigures:
    tally: Tally

    @property
    def is_known(self) -> bool:
        return bool(self.tally)

    @property
    def produce_availability(self) -> float | None:
        """0 to 1, as all shares here; None when nothing was tried."""
        return self._share("written", "not_written")

    @property
    def consume_availability(self) -> float | None:
        return self._share("fetched", "not_fetched")

    @property
    def answer_availability(self) -> float | None:
        return self._share("answered", "unanswered")

    @property
    def lost(self) -> int:
        """A record may be called lost in one window and found in the next."""
        return max(0, self.tally.get("lost", 0))

    @property
    def duplicated(self) -> int:
        return int(self.tally.get("duplicated", 0))

    @property
    def reordered(self) -> int:
        return int(self.tally.get("reordered", 0))

    @property
    def read(self) -> int:
        return int(self.tally.get("read", 0))

    @property
    def produce_p99(self) -> float | None:
        return self.percentile("produce", 0.99)

    @property
    def p50(self) -> float | None:
        return self.percentile("end_to_end", 0.5)

    @property
    def p95(self) -> float | None:
        return self.percentile("end_to_end", 0.95)

    @property
    def p99(self) -> float | None:
        return self.percentile("end_to_end", 0.99)

    def percentile(self, name: str, share: float) -> float | None:
        return Sketch({int(bucket): count for bucket, count in self.tally.get(name, {}).items()}).percentile(share)

    def _share(self, good: str, bad: str) -> float | None:
        tried = self.tally.get(good, 0) + self.tally.get(bad, 0)
        return self.tally.get(good, 0) / tried if tried else None


def silent_brokers(parts: Mapping[str, Tally]) -> list[int]:
    """Return the brokers that the probe blamed for not answering."""
    return sorted(
        int(name.partition("/")[2])
        for name, tally in parts.items()
        if name.startswith("broker/") and tally.get("silent_ms")
    )

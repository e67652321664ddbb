"""What happened in a run, in order: one line for each event, with the simulated time. The checkers read it afterwards;
two runs of one seed have the same."""

import hashlib
from dataclasses import dataclass
from typing import Any

from tests.simulation.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Entry:
    at_us: int
    who: str
    what: str
    facts: dict[str, Any]

    def __str__(self) -> str:
        facts = " ".join(f"{key}={value}" for key, value in self.facts.items())
        return f"{self.at_us / 1_000_000:10.6f} {self.who:<12} {self.what} {facts}".rstrip()


class History:
    def __init__(self, timeline: Timeline):
        self._timeline = timeline
        self.entries: list[Entry] = []
        #: What must not happen, found while the run went on.
        self.violations: list[str] = []

    def add(self, who: str, what: str, **facts: Any) -> None:
        self.entries.append(Entry(self._timeline.elapsed_us, who, what, facts))

    def violate(self, what: str) -> None:
        self.add("CHECK", what)
        self.violations.append(f"{self._timeline.elapsed_us / 1_000_000:.6f} {what}")

    def of(self, what: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.what == what]

    def digest(self) -> str:
        """Of every line and of how many steps the run took: two runs with the same digest were the same."""
        digest = hashlib.sha256(str(self._timeline.steps).encode())
        for entry in self.entries:
            digest.update(str(entry).encode() + b"\n")
        return digest.hexdigest()[:16]

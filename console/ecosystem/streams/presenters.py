"""A stream job as a page shows it: its process, what its driver last said, and what follows from that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict

from console.ecosystem.streams.pace import PacePoint, PaceView, pace_of
from console.processes.models import ManagedProcess
from console.processes.presenters import ManagedProcessRow

#: Parts of a batch in the order in which Spark does them: its name for the part → what it is.
PARTS = {
    "latestOffset": "ask for offsets",
    "queryPlanning": "plan",
    "getBatch": "prepare",
    "walCommit": "log the offsets",
    "addBatch": "read, work and write",
    "commitOffsets": "commit the batch",
}
PARTITIONS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class BarPart:
    """`x` and `width` of 1000, for a bar."""

    name: str
    label: str
    ms: int
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class PartitionLag:
    topic: str
    partition: int
    position: int | None
    lag: int


class SourceReport(TypedDict, total=False):
    """`end`: topic → partition → offset for Kafka topics; other sources of Spark have forms of their own."""

    end: object


class DriverReport(TypedDict, total=False):
    """The driver's progress.json (broker/spark/progress.py), as far as a page shows it."""

    pid: int
    state: str
    error: str | None
    waiting_for: str
    recent: list[PacePoint]
    lag: int | None
    #: Topic → partition → records that are not read.
    lags: Mapping[str, Mapping[str, int]] | None
    batch_id: int | None
    input_rows: int | None
    late_rows: int | None
    dead_records: int | None
    is_stateful: bool
    state_rows: int | None
    state_bytes: int | None
    watermark: str | None
    #: Part of a batch → ms.
    duration_ms: Mapping[str, int] | None
    sources: Sequence[SourceReport]


@dataclass(frozen=True)
class ShownStream:
    """`facts` of an earlier run stay, as what is known last. quotes: whether the reader may see what errors quote."""

    shown: ManagedProcessRow
    facts: DriverReport
    quotes: bool = False

    @property
    def process(self) -> ManagedProcess:
        return self.shown.process

    @property
    def name(self) -> str:
        return self.process.name

    @property
    def job(self) -> str:
        return self.process.spec.get("properties", {}).get("job", "")

    @property
    def runs(self) -> bool:
        """Whether the driver's report is of the running process."""
        return self.process.pid is not None and self.facts.get("pid") == self.process.pid

    @property
    def waiting_for(self) -> str:
        return self.facts.get("waiting_for", "") if self.runs else ""

    @property
    def failed(self) -> bool:
        return self.facts.get("state") == "failed" and bool(str(self.facts.get("error") or "").strip())

    @property
    def error(self) -> str:
        """Return the last line of what ended the query; nothing for a reader who may not read the driver's log."""
        if not (self.failed and self.quotes):
            return ""
        return str(self.facts.get("error")).strip().splitlines()[-1][:500]

    @property
    def points(self) -> list[PacePoint]:
        return self.facts.get("recent") or []

    @cached_property
    def pace(self) -> PaceView:
        return pace_of(self.points if self.runs else [])

    @property
    def arrived(self) -> float | None:
        return self.points[-1].get("arrived") if self.points and self.runs else None

    @property
    def processed(self) -> float | None:
        return self.points[-1].get("processed") if self.points and self.runs else None

    @property
    def lag(self) -> int | None:
        return self.facts.get("lag")

    @property
    def batch(self) -> int | None:
        return self.facts.get("batch_id")

    @property
    def input_rows(self) -> int | None:
        return self.facts.get("input_rows")

    @property
    def late_rows(self) -> int | None:
        return self.facts.get("late_rows")

    @property
    def dead_records(self) -> int | None:
        """Dead letters since the job was first started; None if it does not count them."""
        return self.facts.get("dead_records")

    @property
    def dead_letter_topic(self) -> str:
        return self.process.spec.get("properties", {}).get("dead.letter.topic", "")

    @property
    def state_rows(self) -> int | None:
        """Rows of state; None for a stateless job."""
        return self.facts.get("state_rows") if self.facts.get("is_stateful") else None

    @property
    def state_bytes(self) -> int | None:
        return self.facts.get("state_bytes")

    @property
    def watermark(self) -> str:
        written = (self.facts.get("watermark") or "").replace("T", " ").removesuffix(".000Z").removesuffix("Z")
        return written and f"{written} UTC"

    @property
    def batch_ms(self) -> int | None:
        return (self.facts.get("duration_ms") or {}).get("triggerExecution")

    @cached_property
    def parts(self) -> list[BarPart]:
        durations = self.facts.get("duration_ms") or {}
        whole = max(1, sum(durations.get(name, 0) for name in PARTS))
        parts, x = [], 0
        for name, label in PARTS.items():
            width = round(1000 * durations.get(name, 0) / whole)
            parts.append(BarPart(name, label, durations.get(name, 0), x, width))
            x += width
        return parts if durations else []

    @cached_property
    def lags(self) -> list[PartitionLag]:
        """The furthest behind first."""
        ends = [source.get("end") for source in self.facts.get("sources") or ()]
        lags = [
            PartitionLag(topic, int(partition), _position(ends, topic, partition), lag)
            for topic, partitions in (self.facts.get("lags") or {}).items()
            for partition, lag in partitions.items()
        ]
        return sorted(lags, key=lambda partition: (-partition.lag, partition.topic, partition.partition))[
            :PARTITIONS_SHOWN
        ]


def _position(ends: Sequence[object], topic: str, partition: str) -> int | None:
    positions = [
        end[topic].get(partition) for end in ends if isinstance(end, dict) and isinstance(end.get(topic), dict)
    ]
    return positions[0] if positions else None

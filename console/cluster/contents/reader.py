"""A reading that counts: one step of a scan at a time, as the websocket asks for it. Blocking."""

from dataclasses import dataclass, replace
from typing import Any

from console.cluster.contents.batches import told_of
from console.cluster.contents.counting import Contents
from console.cluster.contents.window import ProfileWindow, newest_starts
from console.cluster.records.matching import EVERY_RECORD
from console.cluster.records.query import RecordQuery
from console.cluster.records.reading import ReadRanges, RecordSource, find_range, open_scan, reading_of
from console.cluster.records.scan import ScanBudget
from console.cluster.records.turns import ReadTurn
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.records.interface import OffsetSpan

BYTES_MAX = 256 * 1024 * 1024
MILLISECONDS = 60_000


@dataclass(frozen=True, slots=True)
class CountedTurn(ReadTurn):
    """With the last comes what was counted, as JSON keeps it."""

    profile: dict[str, Any] | None = None


class ContentsReader:
    """A Reader of `console/cluster/records/turns.py` that keeps no record."""

    cursor = ""

    def __init__(
        self, gateway: RecordSource, topic: str, partition_count: int, query: RecordQuery, window: ProfileWindow
    ):  # fmt: skip
        offsets = find_range(gateway, topic, partition_count, _query_of(query, window))
        if window.range.start is None:
            offsets = replace(offsets, starts=newest_starts(_bounded(offsets), window.count))
        self._silent = list(offsets.silent)
        budget = ScanBudget(window.count, BYTES_MAX, MILLISECONDS)
        self._batches = _batches(gateway, topic, offsets)
        self._scan, self.close = open_scan(gateway, topic, query.committed_only, offsets, budget, EVERY_RECORD)
        expected = min(window.count, self._scan.progress.left)
        self._contents = Contents(topic, expected)
        self.outlook = (
            f"Reading {expected:,} records at most; it ends at {BYTES_MAX // 1024**2} MB or {MILLISECONDS // 1000} s."
        )

    def turn(self) -> CountedTurn:
        if not self._scan.stopped:
            self._contents.add(self._scan.step())
        if self._scan.stopped is None:
            return CountedTurn((), self._scan.progress, waits=self._scan.waits)
        profile = {**self._contents.as_json(), "batches": self._batches, "silent": self._silent}
        return CountedTurn((), self._scan.progress, ended=str(self._scan.stopped), profile=profile)


def _bounded(offsets: ReadRanges) -> dict[int, OffsetSpan]:
    return {item: OffsetSpan(span.first, offsets.ends[item]) for item, span in offsets.spans.items()}


def _query_of(query: RecordQuery, window: ProfileWindow) -> RecordQuery:
    """Return the query with the parameters that count for a profile: a search would count only its matches."""
    return RecordQuery("oldest", range=window.range, partition=query.partition, committed_only=query.committed_only)


def _batches(gateway: RecordSource, topic: str, offsets: ReadRanges) -> dict[str, Any]:
    starts = {start: offsets.starts[start] for start in reading_of(offsets.starts, offsets.ends)}
    try:
        return told_of(gateway.batches_at(topic, starts))
    except GatewayError as error:
        return told_of(()) | {"error": str(error)}

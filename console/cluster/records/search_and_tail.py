"""What goes over the websocket: a search that comes to an end, or the live tail. Blocking: for a thread of its own.

Each `turn` reads once and says what to show. It is called again only when the browser has taken what was sent, so a
slow or paused page reads nothing more and holds nothing more than the library's bounded queue.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from console.cluster.records.query import RecordQuery, write_cursor
from console.cluster.records.reading import OffsetRange, RecordSource, find_range, matcher, open_scan
from console.cluster.records.scan import Budget, Progress, Stop, note_of, waits_of
from console.kit.common.clock import now_ms
from console.kit.gateway.records.interface import RecordStream, RecordView

#: What one search may read; it ends with the records a page shows.
SEARCH_BYTES_MAX = 512 * 1024 * 1024
SEARCH_MILLISECONDS = 60_000
#: A file of what was found holds no more than this, in records and in bytes.
FILE_FOUND_MAX = 10_000
FILE_BYTES_MAX = 32 * 1024 * 1024
TAIL_READ_SECONDS = 0.4
TAIL_RECORDS_PER_TURN = 100
#: A tail that is further behind than this goes to the end and says how much it left out.
TAIL_BEHIND_MAX = 2_000
TAIL_MILLISECONDS_MAX = 30 * 60_000


@dataclass(frozen=True, slots=True)
class Turn:
    """`records` in the order they are to be shown; with `ended` it was the last. `cursor`: where to go on."""

    records: tuple[RecordView, ...]
    progress: Progress | None = None
    skipped: int = 0
    ended: str = ""
    cursor: str = ""
    note: str = ""
    #: What reading waits for.
    waits: str = ""


class Reader(Protocol):
    @property
    def outlook(self) -> str:
        """Say what the reader is about to do and where it ends; empty if that is plain."""
        ...

    @property
    def cursor(self) -> str:
        """Say where a tail has begun, so that one that drops at once resumes there."""
        ...

    def turn(self) -> Turn: ...

    def close(self) -> None: ...


class SearchReader:
    """Up to `found_max` records that match; the query's limit if nothing else is asked for."""

    cursor = ""

    def __init__(
        self,
        gateway: RecordSource,
        topic: str,
        partition_count: int,
        query: RecordQuery,
        found_max: int | None = None,
    ):
        offsets = find_range(gateway, topic, partition_count, query)
        budget = Budget(found_max or query.limit, SEARCH_BYTES_MAX, SEARCH_MILLISECONDS)
        self._scan, self.close = open_scan(gateway, topic, query, offsets, budget)
        self._starts = offsets.starts
        self.outlook = (
            f"Searching {self._scan.progress.left:,} records at most; it ends at {budget.found_max:,} found, "
            f"{budget.bytes_max // 1024**2} MB read or {budget.milliseconds // 1000} s."
        )

    def turn(self) -> Turn:
        found = [] if self._scan.stopped else self._scan.step()
        stop = self._scan.stopped
        is_more = stop not in (None, Stop.END)
        cursor = write_cursor({**self._starts, **self._scan.positions}) if is_more else ""
        scan = self._scan
        return Turn(tuple(found), scan.progress, ended=str(stop or ""), cursor=cursor, note=scan.note, waits=scan.waits)


def search_for_file(
    gateway: RecordSource, topic: str, partition_count: int, query: RecordQuery
) -> tuple[list[RecordView], bool]:
    """What a search finds, at most FILE_FOUND_MAX records, and whether that is all of it. Raises GatewayError."""
    reader = SearchReader(gateway, topic, partition_count, query, FILE_FOUND_MAX)
    found: list[RecordView] = []
    found_bytes = 0
    try:
        while True:
            turn = reader.turn()
            found += turn.records
            found_bytes += sum(each.held_bytes for each in turn.records)
            if turn.ended or found_bytes > FILE_BYTES_MAX:
                return found, turn.ended == Stop.END and not turn.note
    finally:
        reader.close()


class TailReader:
    """From the end on, or from where a tail that dropped has been; what matches the search if there is one."""

    outlook = ""

    def __init__(
        self,
        gateway: RecordSource,
        topic: str,
        partition_count: int,
        query: RecordQuery,
        clock_ms: Callable[[], int] = now_ms,
    ):
        self._gateway, self._topic, self._partition_count, self._query = gateway, topic, partition_count, query
        self._now_ms = clock_ms
        self._began_ms = clock_ms()
        look = self._look()
        resumed = {each: min(offset, look.ends[each]) for each, offset in query.cursor if each in look.ends}
        self._matches = matcher(query.search, query.searched)
        self._stream = self._open({each: resumed.get(each, end) for each, end in look.ends.items()})

    @property
    def cursor(self) -> str:
        return write_cursor(dict(self._stream.positions))

    def turn(self) -> Turn:
        if self._now_ms() - self._began_ms >= TAIL_MILLISECONDS_MAX:
            return Turn((), ended="followed for 30 minutes")
        records = self._stream.read(TAIL_READ_SECONDS, TAIL_RECORDS_PER_TURN)
        skipped = self._catch_up() if len(records) == TAIL_RECORDS_PER_TURN else 0
        shown = sorted((each for each in records if self._matches(each)), key=lambda each: each.at_ms or 0)
        cursor = self.cursor if records else ""
        waits = waits_of(self._stream)
        note = " ".join(filter(None, (note_of(self._stream), self._matches.note)))
        return Turn(tuple(shown), skipped=skipped, cursor=cursor, note=note, waits=waits)

    def close(self) -> None:
        self._stream.close()
        self._matches.close()

    def _catch_up(self) -> int:
        """How many records were left out to be at the end again."""
        ends = self._look().ends
        behind = sum(max(0, end - self._stream.positions.get(each, end)) for each, end in ends.items())
        if behind <= TAIL_BEHIND_MAX:
            return 0
        self._stream.close()
        self._stream = self._open(ends)
        return behind

    def _look(self) -> OffsetRange:
        everything = replace(self._query, place="oldest", cursor=())
        return find_range(self._gateway, self._topic, self._partition_count, everything)

    def _open(self, starts: dict[int, int]) -> RecordStream:
        return self._gateway.open_records(self._topic, starts, self._query.committed_only)

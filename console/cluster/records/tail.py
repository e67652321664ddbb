"""The live tail of a topic. Blocking: for a thread of its own."""

from collections.abc import Callable
from dataclasses import replace

from console.cluster.records.matching import matcher
from console.cluster.records.query import RecordQuery, write_cursor
from console.cluster.records.reading import ReadRanges, RecordSource, find_range
from console.cluster.records.scan import note_of, waits_of
from console.cluster.records.turns import ReadTurn
from console.kit.common.clock import now_ms
from console.kit.common.time_range import ANY_TIME
from console.kit.gateway.records.interface import RecordStream

TAIL_READ_SECONDS = 0.4
TAIL_RECORDS_PER_TURN = 100
#: A tail that is further behind than this goes to the end and says how much it left out.
TAIL_BEHIND_MAX = 2_000
TAIL_MILLISECONDS_MAX = 30 * 60_000


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
        resumed = {number: min(offset, look.ends[number]) for number, offset in query.cursor if number in look.ends}
        self._matches = matcher(topic, query.search, query.searched)
        self._stream = self._open({item: resumed.get(item, end) for item, end in look.ends.items()})

    @property
    def cursor(self) -> str:
        return write_cursor(dict(self._stream.positions))

    def turn(self) -> ReadTurn:
        if self._now_ms() - self._began_ms >= TAIL_MILLISECONDS_MAX:
            return ReadTurn((), ended="followed for 30 minutes")
        records = self._stream.read(TAIL_READ_SECONDS, TAIL_RECORDS_PER_TURN)
        skipped = self._catch_up() if len(records) == TAIL_RECORDS_PER_TURN else 0
        self._matches.renew()
        shown = sorted((record for record in records if self._matches(record)), key=lambda record: record.at_ms or 0)
        cursor = self.cursor if records else ""
        waits = waits_of(self._stream)
        note = " ".join(filter(None, (note_of(self._stream), self._matches.note)))
        return ReadTurn(tuple(shown), skipped=skipped, cursor=cursor, note=note, waits=waits)

    def close(self) -> None:
        self._stream.close()
        self._matches.close()

    def _catch_up(self) -> int:
        """Return how many records were skipped to be at the end again."""
        ends = self._look().ends
        behind = sum(max(0, end - self._stream.positions.get(item, end)) for item, end in ends.items())
        if behind <= TAIL_BEHIND_MAX:
            return 0
        self._stream.close()
        self._stream = self._open(ends)
        return behind

    def _look(self) -> ReadRanges:
        everything = replace(self._query, place="oldest", cursor=(), range=ANY_TIME)
        return find_range(self._gateway, self._topic, self._partition_count, everything)

    def _open(self, starts: dict[int, int]) -> RecordStream:
        return self._gateway.open_records(self._topic, starts, self._query.committed_only)

"""What a pass must know of a log: taken at the log's owner, used on the cleaner's thread."""

from dataclasses import dataclass

from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.log.compaction.plan import CleanableSegment
from broker.log.config import LogConfig
from broker.log.files import SharedFile
from broker.log.log import Log
from broker.log.scan import BadBatchError, scan_batches
from broker.log.segment import Segment
from broker.records.batch import NO_TIMESTAMP


@dataclass(frozen=True, slots=True)
class LogToClean:
    """A moment of a log. Sealed segments never change; that they are still the log's is checked before the exchange."""

    partition: TopicPartition
    log: Log
    #: In offset order, without the active one.
    sealed: tuple[Segment, ...]
    active: Segment
    log_start_offset: int
    active_base_offset: int
    #: The lower of high watermark and last stable offset (exclusive).
    end_offset_max: int
    config: LogConfig
    #: Of the last batch of each producer that the partition remembers: those batches stay, perhaps without records.
    last_offsets_of_producers: frozenset[int]
    #: `Log.cuts_count` at that moment.
    cuts_count: int = 0

    @classmethod
    def of(
        cls,
        partition: TopicPartition,
        log: Log,
        end_offset_max: int,
        last_offsets_of_producers: frozenset[int],
        config: LogConfig | None = None,
    ) -> "LogToClean":
        """Return the log for cleaning; called by its owner.

        With another `config`, planning tells the effect of that configuration.
        """
        *sealed, active = log.segments
        return cls(
            partition=partition,
            log=log,
            sealed=tuple(sealed),
            active=active,
            log_start_offset=log.log_start_offset,
            active_base_offset=active.base_offset,
            end_offset_max=end_offset_max,
            config=config or log.config,
            last_offsets_of_producers=last_offsets_of_producers,
            cuts_count=log.cuts_count,
        )

    @property
    def is_cut(self) -> bool:
        """Whether the log's end was cut off since: what was read may be gone, and something else be in its place."""
        return self.log.cuts_count != self.cuts_count

    def facts(self, first_dirty_offset: int) -> list[CleanableSegment]:
        """Return facts about the sealed segments; timestamps only for dirty ones, which retention by time judges.

        Reads indexes and headers. Raises ApiError(CORRUPT_MESSAGE), OSError.
        """
        next_offsets = [*(segment.base_offset for segment in self.sealed[1:]), self.active_base_offset]
        facts = []
        for segment, next_offset in zip(self.sealed, next_offsets, strict=False):
            times = (NO_TIMESTAMP, NO_TIMESTAMP)
            if next_offset > first_dirty_offset:
                times = _first_timestamp(segment), segment.max_timestamp
            facts.append(CleanableSegment(segment.base_offset, next_offset, segment.size_bytes, *times))
        return facts


def is_closed(log: Log) -> bool:
    """Return whether its owner has let go of it: a closed log refuses to be read."""
    try:
        log.read(log.log_end_offset, 0, log.log_end_offset)
    except ApiError:
        return True
    return False


def _first_timestamp(segment: Segment) -> int:
    """Return the timestamp of the segment's first batch, as Kafka takes it for max.compaction.lag.ms."""
    try:
        batches = scan_batches(SharedFile(segment.files.log), 0, segment.size_bytes, segment.base_offset)
        return next((header.max_timestamp for _, header in batches), NO_TIMESTAMP)
    except BadBatchError:
        return NO_TIMESTAMP

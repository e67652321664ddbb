"""Makes the increments of one source: gives them their ids, and knows what is to be said when it ends."""

from collections.abc import Iterable, Mapping

from broker.audit.increment import NO_RANGE, NO_TERM, AuditTier, Chain, Increment
from broker.audit.latency import Latency
from broker.audit.tally import WINDOW_MS, RecordTally
from broker.common.types import TopicPartition

Range = tuple[int, int]
NO_OFFSETS: Range = (NO_RANGE, NO_RANGE)


class SourceReporter:
    """One epoch of a source. Whoever undoes what was said takes `sequences` back to what they were."""

    def __init__(self, tier: AuditTier, source: str, epoch: str, window_ms: int = WINDOW_MS):
        self._tier, self._source, self._epoch, self._window_ms = tier, source, epoch, window_ms
        self.sequences: dict[Chain, int] = {}

    def tell(
        self,
        partition: TopicPartition,
        windows: Mapping[int, RecordTally],
        now_ms: int,
        *,
        offsets: Range = NO_OFFSETS,
        is_last: bool = False,
        aside: Mapping[str, Mapping[int, RecordTally]] | None = None,
        latencies: Mapping[int, Latency] | None = None,
        term: int = NO_TERM,
        is_by_header: bool = False,
    ) -> Increment:
        chain = Chain(self._tier, self._source, *partition)
        sequence = self.sequences.get(chain, -1) + 1
        self.sequences[chain] = sequence
        return Increment(
            chain, self._epoch, sequence, now_ms, windows, *offsets, is_last=is_last, window_ms=self._window_ms,
            aside=aside or {}, latencies=latencies or {}, term=term, is_by_header=is_by_header,
        )  # fmt: skip

    def partitions(self) -> Iterable[TopicPartition]:
        """Return every partition the source has reported on."""
        return [chain.topic_partition for chain in self.sequences]

"""Reads the audit topic on and on: what is new to the sums, and what is only needed to understand it.

Who starts anew reads from KEPT_MS ago, or from where the sums end if that is further back: never from the beginning of
a topic that holds a week. What lies before the end of the sums goes to the ledger alone, which has to know what an
increment replaces.
"""

from collections.abc import Mapping

from broker.audit.increment import AUDIT_TOPIC, BadIncrement, Increment
from console.ecosystem.completeness.delivery_store import positions
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.records.interface import OffsetSpan, RecordStream
from console.state.clusters.models import Topic

#: What was counted of windows before is forgotten; the audit topic keeps it for a week, `barnabas audit` reads that.
KEPT_MS = 6 * 3_600_000
_AT_ONCE = 2_000
_WAIT_S = 0.3


class AuditReader:
    """Used by one thread. `read_to`: all before it was taken, by partition; `topic_id`: of which topic of the name."""

    def __init__(self, gateway: ClusterGateway):
        self._gateway = gateway
        self._stream: RecordStream | None = None
        self._summed: dict[int, int] = {}
        self._is_taken = True
        self.read_to: dict[int, int] = {}
        self.topic_id = ""
        #: Whether there was as much as fits.
        self.is_behind = False

    def batch(self, now_ms: int) -> list[tuple[Increment, bool]]:
        """Return the next increments, and whether the sums lack them. They come again after GatewayError, and until
        `taken` is called.
        """
        if not self._is_taken:
            self._close()
        stream = self._stream or self._open(now_ms)
        self._is_taken = False
        records = stream.read(_WAIT_S, _AT_ONCE)
        self.is_behind = len(records) >= _AT_ONCE
        increments = []
        for record in records:
            try:
                increment = Increment.from_bytes(record.value)
            except BadIncrement:
                continue  # who may write the topic may not end the audit
            increments.append((increment, record.offset >= self._summed.get(record.partition, 0)))
        return increments

    def taken(self) -> None:
        """Note that the last batch has been stored."""
        if self._stream is not None:
            self.read_to, self._is_taken = dict(self._stream.positions), True

    def look_for_partitions(self) -> None:
        """Add partitions that are new, or whose leader did not answer before. Raises GatewayError."""
        if self._stream is not None and self._gateway.record_spans(AUDIT_TOPIC, True).keys() - self.read_to.keys():
            self._close()

    def forget(self) -> None:
        """Forget all positions: the topic does not exist now."""
        self._close()
        self.read_to = {}

    def _close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _open(self, now_ms: int) -> RecordStream:
        topic_id = Topic.objects.filter(name=AUDIT_TOPIC).values_list("topic_id", flat=True).first() or ""
        if self.topic_id and topic_id != self.topic_id:
            self.read_to = {}
        spans, known = self._gateway.record_spans(AUDIT_TOPIC, True), positions(topic_id)
        recent = self._gateway.offsets_at(AUDIT_TOPIC, now_ms - KEPT_MS, spans)
        starts = {
            partition: min(self.read_to[partition], span.next)
            if partition in self.read_to
            else start_of(span, known.get(partition), recent.get(partition))
            for partition, span in spans.items()
        }
        self._summed = {item: min(known.get(item, starts[item]), span.next) for item, span in spans.items()}
        self._stream = self._gateway.open_records(AUDIT_TOPIC, starts, True)
        self.read_to, self.topic_id = starts, topic_id
        return self._stream


def start_of(span: OffsetSpan, summed: int | None, recent: int | None) -> int:
    """Return where to start. `recent`: the first offset that is needed; None: all is older. Pure."""
    wanted = span.next if recent is None else recent
    return min(max(wanted if summed is None else min(wanted, summed), span.first), span.next)


def is_further(read_to: Mapping[int, int], written: Mapping[int, int]) -> bool:
    """Return whether anything was read since."""
    return any(offset != written.get(partition) for partition, offset in read_to.items())

"""The collector's look at the audit topic: increments are read on from where the last look ended, and topics of which
something new was said, or whose windows may be over now, are judged again.
"""

from collections.abc import Callable, Collection

from console.completeness.models import AuditedTopic
from console.completeness.rows import columns
from console.gateway.errors import GatewayError
from console.gateway.interface import ClusterGateway
from console.gateway.message_audit import AUDIT_TOPIC, BadIncrement, Increment, Ledger, judge
from console.gateway.record_views import RecordStream
from console.live import groups
from console.live.push import push_partial

INTERVAL_SECONDS = 5.0
#: What was counted of windows before is forgotten; the audit topic keeps it for a week, `barnabas audit` reads that.
KEPT_MS = 6 * 3_600_000
#: Judged at one look, those in turn that wait longest.
TOPICS_AT_ONCE = 20
_JUDGED_AGAIN_MS = 30_000
_FORGOTTEN_EVERY_MS = 600_000
_AT_ONCE = 2_000
_WAIT_S = 0.3
_ROUNDS_MAX = 50


class CompletenessCollector:
    """For one thread."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int]):
        self._gateway, self._now_ms = gateway, clock_ms
        self._stream: RecordStream | None = None
        self._ledger = Ledger()
        self._heard_ms: dict[str, int] = {}
        #: When a topic was judged last; what is said of it makes it due at once.
        self._judged_ms: dict[str, int] = {}
        self._forgot_ms = 0

    def look(self, topics: Collection[str]) -> bool:
        """Whether something was found. `topics`: all there are. Raises GatewayError."""
        if AUDIT_TOPIC not in topics:
            self._begin_anew()
            if AuditedTopic.objects.all().delete()[0]:
                self._tell()
            return False
        try:
            self._read()
        except GatewayError:
            self._begin_anew()
            raise
        self._forget()
        if self._judge() + AuditedTopic.objects.exclude(name__in=topics).delete()[0]:
            self._tell()
        return AuditedTopic.objects.filter(finding_count__gt=0).exists()

    def _read(self) -> None:
        if self._stream is None:
            spans = self._gateway.record_spans(AUDIT_TOPIC, True)
            starts = {partition: span.first for partition, span in spans.items()}
            self._stream = self._gateway.open_records(AUDIT_TOPIC, starts, True)
        for _ in range(_ROUNDS_MAX):
            records = self._stream.read(_WAIT_S, _AT_ONCE)
            for record in records:
                try:
                    increment = Increment.from_bytes(record.value)
                except BadIncrement:
                    continue  # who may write the topic may not end the audit
                if self._ledger.add(increment):
                    topic = increment.chain.topic
                    self._heard_ms[topic] = max(self._heard_ms.get(topic, 0), increment.at_ms)
                    self._judged_ms[topic] = 0
            if len(records) < _AT_ONCE:
                break

    def _judge(self) -> int:
        """How many rows are others now."""
        now_ms, changed = self._now_ms(), 0
        due = [topic for topic, at_ms in self._judged_ms.items() if at_ms + _JUDGED_AGAIN_MS <= now_ms]
        for topic in sorted(due, key=self._judged_ms.__getitem__)[:TOPICS_AT_ONCE]:
            self._judged_ms[topic] = now_ms
            wanted = columns(judge(self._ledger, topic, now_ms)) | {"at_ms": self._heard_ms.get(topic, 0)}
            row = AuditedTopic.objects.filter(name=topic).first() or AuditedTopic(name=topic)
            if row.pk is None or any(getattr(row, name) != value for name, value in wanted.items()):
                for name, value in wanted.items():
                    setattr(row, name, value)
                row.save()
                changed += 1
        return changed

    def _forget(self) -> None:
        now_ms = self._now_ms()
        if now_ms - self._forgot_ms >= _FORGOTTEN_EVERY_MS:
            self._forgot_ms = now_ms
            self._ledger.forget(now_ms - KEPT_MS)

    def _begin_anew(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        self._ledger = Ledger()
        self._heard_ms.clear()
        self._judged_ms.clear()

    def _tell(self) -> None:
        push_partial(groups.COMPLETENESS, "completeness/partials/version.html", {"version": self._now_ms()})

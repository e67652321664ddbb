"""The collector's look at the audit topic: increments are read on from where the last look ended, what they tell of
deliveries is added up, and topics of which something new was said, or whose windows may be over now, are judged again.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

from broker.audit.increment import AUDIT_TOPIC, AuditTier, Increment
from broker.audit.ledger import AuditState
from broker.audit.verdict import judge
from console.ecosystem.completeness.contributions import SeriesKey, contribution, series_of
from console.ecosystem.completeness.delivery_store import SeriesUpdate, forget, write
from console.ecosystem.completeness.feature import LIVE_GROUP
from console.ecosystem.completeness.models import AuditedTopic
from console.ecosystem.completeness.points import add
from console.ecosystem.completeness.reader import KEPT_MS, AuditReader, is_further
from console.ecosystem.completeness.rows import columns
from console.kit.gateway.interface import ClusterGateway
from console.kit.live.push import push_partial
from console.state.consumers.tiers import TierContext, TierLook

#: Judged at one look, those in turn that wait longest.
TOPICS_AT_ONCE = 20
_JUDGED_AGAIN_MS = 30_000
_FORGOTTEN_EVERY_MS = 600_000
_ROUNDS_MAX = 50
#: Increments of so long become one; a window may be ahead of us by a day; tallies of some 300 bytes.
_FOLDED_MS, FUTURE_MS = 600_000, 24 * 3_600_000
LEDGER_MAX = 500_000
#: Sums are written as often as that while they are few, and seldom while they are many; with so many steps at once.
WRITTEN_EVERY_MS, SELDOM_MS = 10_000, 60_000
FEW_STEPS, STEPS_MAX = 1_000, 50_000


def for_ledger(increment: Increment, now_ms: int) -> Increment:
    """Return what judging needs: no latencies, and no windows so far ahead that they would be kept for years. Pure."""
    is_far = increment.newest > now_ms + FUTURE_MS
    windows = {at: tally for at, tally in increment.windows.items() if at <= now_ms + FUTURE_MS}
    return replace(increment, latencies={}, windows=windows if is_far else increment.windows)


def keep(ledger: AuditState, now_ms: int) -> None:
    """Keep the last six hours, or less where that is too much. Pure."""
    kept_ms = KEPT_MS
    ledger.forget(now_ms - kept_ms)
    ledger.fold(now_ms - _FOLDED_MS, _FOLDED_MS)
    while ledger.size > LEDGER_MAX and kept_ms > _FOLDED_MS:
        kept_ms //= 2
        ledger.forget(now_ms - kept_ms)


class CompletenessCollector:
    """Not thread-safe: one thread uses it."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int]):
        self._now_ms = clock_ms
        self._reader = AuditReader(gateway)
        self._ledger = AuditState()
        self._heard_ms: dict[str, int] = {}
        #: When a topic was judged last; what is said of it makes it due at once.
        self._judged_ms: dict[str, int] = {}
        self._forgot_ms = 0
        #: What the sums lack of what was read, and how far they are read.
        self._heard: dict[SeriesKey, SeriesUpdate] = {}
        self._steps = 0
        self._written_to: dict[int, int] = {}
        self._written_ms = 0

    def look(self, topics: Collection[str]) -> bool:
        """Return whether something was found. `topics`: all there are. Raises GatewayError."""
        if AUDIT_TOPIC not in topics:
            self._begin_anew()
            if AuditedTopic.objects.all().delete()[0]:
                self._push_changes()
            return False
        self._read(topics)
        self._forget(topics)
        written = self._write()
        if self._judge() + AuditedTopic.objects.exclude(name__in=topics).delete()[0] or written:
            self._push_changes()
        return AuditedTopic.objects.filter(finding_count__gt=0).exists()

    def _read(self, topics: Collection[str]) -> None:
        now_ms = self._now_ms()
        for _ in range(_ROUNDS_MAX):
            for increment, is_lacking in self._reader.batch(now_ms):
                self._take(increment, now_ms, is_lacking=is_lacking and increment.chain.topic in topics)
            self._reader.taken()
            if not self._reader.is_behind or self._steps >= STEPS_MAX:
                break

    def _take(self, increment: Increment, now_ms: int, *, is_lacking: bool) -> None:
        if not self._ledger.add(for_ledger(increment, now_ms)):
            return
        topic = increment.chain.topic
        self._heard_ms[topic] = max(self._heard_ms.get(topic, 0), increment.at_ms)
        self._judged_ms[topic] = 0
        if is_lacking and increment.chain.tier is not AuditTier.COMMITTED:
            self._hear(increment, now_ms)

    def _hear(self, increment: Increment, now_ms: int) -> None:
        undone = self._ledger.stories[increment.chain].undone
        heard = self._heard.setdefault(series_of(increment), SeriesUpdate())
        heard.at_ms, heard.window_ms = max(heard.at_ms, increment.at_ms), increment.window_ms
        before = len(heard.points)
        for at_ms, point in contribution(increment, undone, now_ms).items():
            add(heard.points, at_ms, point)
        self._steps += len(heard.points) - before

    def _write(self) -> bool:
        """Return whether it was time."""
        now_ms = self._now_ms()
        every_ms = WRITTEN_EVERY_MS if self._steps <= FEW_STEPS else SELDOM_MS
        is_due = now_ms - self._written_ms >= every_ms or self._steps >= STEPS_MAX
        if not is_due or not is_further(self._reader.read_to, self._written_to):
            return False
        write(self._heard, self._reader.read_to, self._reader.topic_id, now_ms)
        self._written_to, self._written_ms = dict(self._reader.read_to), now_ms
        self._heard, self._steps = {}, 0
        return True

    def _judge(self) -> int:
        """Judge the topics; return how many rows changed."""
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

    def _forget(self, topics: Collection[str]) -> None:
        now_ms = self._now_ms()
        if now_ms - self._forgot_ms >= _FORGOTTEN_EVERY_MS:
            self._forgot_ms = now_ms
            keep(self._ledger, now_ms)
            forget(topics, now_ms)
            self._reader.look_for_partitions()

    def _begin_anew(self) -> None:
        self._reader.forget()
        self._ledger = AuditState()
        self._heard_ms.clear()
        self._judged_ms.clear()
        self._heard, self._steps, self._written_to = {}, 0, {}

    def _push_changes(self) -> None:
        push_partial(LIVE_GROUP, "completeness/partials/version.html", {"version": self._now_ms()})


def tier(context: TierContext) -> TierLook:
    """Return the tier, which waits for the first look at the topics: what is counted lies in one."""
    collector = CompletenessCollector(context.gateway, context.clock_ms)
    return TierLook(lambda: bool(context.topics_at_ms) and collector.look(context.topics))

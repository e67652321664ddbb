"""From what brokers say to rows: whose quota each use is of, and how long those who share it are told to wait. Pure."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from console.cluster.quotas.models import ObservedQuotaUse
from console.kit.gateway.quotas.interface import QuotaEntity, Quotas, QuotaUse, Values, rank_of, source_of

#: Uses kept of one entity: a default stands for many users.
USES_KEPT = 10
#: A producer that is held back in bursts is held back on, as long as the next burst comes within this time.
HELD_PAUSE_MS = 120_000
#: A rate's maximum is of the last minutes.
RATE_WINDOW_MS = 300_000
_Sharing = tuple[int, str, str, str, str]


@dataclass(frozen=True, slots=True)
class QuotaEntityRow:
    entity: QuotaEntity
    values: Values
    uses: tuple[ObservedQuotaUse, ...]
    use_counts: Mapping[str, int]

    @property
    def held_since_ms(self) -> int | None:
        return min((use.held_since_ms for use in self.uses if use.held_since_ms is not None), default=None)

    @property
    def rank(self) -> int:
        return rank_of(self.entity)


@dataclass(slots=True)
class _Recent:
    """Clients that share a quota, over the last minutes: since when and until when they waited, and their rates."""

    held_since_ms: int | None = None
    held_at_ms: int = 0
    rates: deque[tuple[int, float]] = field(default_factory=deque)

    def observe(self, rate: float, waited_ms: int, at_ms: int) -> None:
        if waited_ms > 0:
            self.held_since_ms = at_ms if self.held_since_ms is None else self.held_since_ms
            self.held_at_ms = at_ms
        elif not 0 <= at_ms - self.held_at_ms <= HELD_PAUSE_MS:
            self.held_since_ms = None
        while self.rates and (self.rates[-1][1] <= rate or self.rates[-1][0] > at_ms):
            self.rates.pop()
        self.rates.append((at_ms, rate))
        while self.rates[0][0] < at_ms - RATE_WINDOW_MS:
            self.rates.popleft()


@dataclass(slots=True)
class UseWatch:
    """Remembers the last look's figures, since brokers report sums."""

    _before: dict[_Sharing, int] = field(default_factory=dict)
    _recent: dict[_Sharing, _Recent] = field(default_factory=dict)
    _at_ms: int = 0

    def look(
        self, quota_uses: Mapping[int, tuple[QuotaUse, ...]], at_ms: int
    ) -> list[tuple[QuotaUse, ObservedQuotaUse]]:
        elapsed_ms, before, recent = at_ms - self._at_ms, self._before, self._recent
        self._before, self._recent, self._at_ms = {}, {}, at_ms
        seen = []
        for broker_id, uses in quota_uses.items():
            for use in uses:
                sharing = (broker_id, use.key, use.user, use.client_id, use.ip)
                self._before[sharing] = use.throttled_ms
                self._recent[sharing] = of_use = recent.get(sharing) or _Recent()
                wait_ms, waited_ms = None, 0
                if sharing in before and elapsed_ms > 0:
                    # Less than before: the broker has forgotten them meanwhile, or was started again.
                    waited_ms = use.throttled_ms - before[sharing]
                    waited_ms = waited_ms if waited_ms >= 0 else use.throttled_ms
                    # Each of several connections waits for itself: their sum may be more than the time that passed.
                    wait_ms = min(1_000, round(1_000 * waited_ms / elapsed_ms))
                of_use.observe(use.rate, waited_ms, at_ms)
                seen.append((use, _seen(broker_id, use, wait_ms, of_use)))
        return seen


def rows_of(quotas: Quotas, seen: list[tuple[QuotaUse, ObservedQuotaUse]]) -> dict[QuotaEntity, QuotaEntityRow]:
    by_entity: dict[QuotaEntity, list[ObservedQuotaUse]] = {}
    for use, seen_use in seen:
        entity = source_of(use, quotas)
        if entity is not None:
            by_entity.setdefault(entity, []).append(seen_use)
    return {entity: _row(entity, values, by_entity.get(entity, [])) for entity, values in quotas.items()}


def _row(entity: QuotaEntity, values: Values, uses: list[ObservedQuotaUse]) -> QuotaEntityRow:
    nearest = sorted(uses, key=lambda use: (use.held_since_ms is None, -use.share, use.who, use.broker_id))
    counts = {key: sum(use.key == key for use in uses) for key in values}
    return QuotaEntityRow(
        entity, values, tuple(nearest[:USES_KEPT]), {key: count for key, count in counts.items() if count}
    )


def _seen(broker_id: int, use: QuotaUse, wait_ms: int | None, recent: _Recent) -> ObservedQuotaUse:
    rate = round(use.rate, 2)
    return ObservedQuotaUse(
        broker_id,
        use.key,
        use.who,
        use.user,
        use.client_id,
        use.ip,
        use.limit,
        rate,
        wait_ms,
        recent.held_since_ms,
        round(max((rate for _, rate in recent.rates), default=rate), 2),
    )

"""From what brokers say to rows: whose quota each use is of, and how long those who share it are told to wait. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from console.cluster.quotas.models import SeenUse
from console.kit.gateway.quotas.interface import QuotaEntity, Quotas, QuotaUse, Values, rank_of, source_of

#: Uses kept of one entity: a default stands for many users.
USES_KEPT = 10
_Sharing = tuple[int, str, str, str, str]


@dataclass(frozen=True, slots=True)
class QuotaEntityRow:
    entity: QuotaEntity
    values: Values
    uses: tuple[SeenUse, ...]
    use_counts: Mapping[str, int]

    @property
    def rank(self) -> int:
        return rank_of(self.entity)


@dataclass(slots=True)
class UseWatch:
    """Remembers what was told at the last look: brokers tell sums."""

    _before: dict[_Sharing, int] = field(default_factory=dict)
    _at_ms: int = 0

    def look(self, told: Mapping[int, tuple[QuotaUse, ...]], at_ms: int) -> list[tuple[QuotaUse, SeenUse]]:
        elapsed_ms, before = at_ms - self._at_ms, self._before
        self._before, self._at_ms = {}, at_ms
        seen = []
        for broker_id, uses in told.items():
            for use in uses:
                sharing = (broker_id, use.key, use.user, use.client_id, use.ip)
                self._before[sharing] = use.throttled_ms
                wait_ms = None
                if sharing in before and elapsed_ms > 0:
                    # Less than before: the broker has forgotten them meanwhile, or was started again.
                    waited_ms = use.throttled_ms - before[sharing]
                    wait_ms = round(1_000 * (waited_ms if waited_ms >= 0 else use.throttled_ms) / elapsed_ms)
                seen.append((use, _seen(broker_id, use, wait_ms)))
        return seen


def rows_of(quotas: Quotas, seen: list[tuple[QuotaUse, SeenUse]]) -> dict[QuotaEntity, QuotaEntityRow]:
    by_entity: dict[QuotaEntity, list[SeenUse]] = {}
    for use, seen_use in seen:
        entity = source_of(use, quotas)
        if entity is not None:
            by_entity.setdefault(entity, []).append(seen_use)
    return {entity: _row(entity, values, by_entity.get(entity, [])) for entity, values in quotas.items()}


def _row(entity: QuotaEntity, values: Values, uses: list[SeenUse]) -> QuotaEntityRow:
    nearest = sorted(uses, key=lambda use: (-use.share, use.who, use.broker_id))
    counts = {key: sum(use.key == key for use in uses) for key in values}
    return QuotaEntityRow(
        entity, values, tuple(nearest[:USES_KEPT]), {key: count for key, count in counts.items() if count}
    )


def _seen(broker_id: int, use: QuotaUse, wait_ms: int | None) -> SeenUse:
    rate = round(use.rate, 2)
    return SeenUse(broker_id, use.key, use.who, use.user, use.client_id, use.ip, use.limit, rate, wait_ms)

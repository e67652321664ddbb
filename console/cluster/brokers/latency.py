"""How long a broker's requests took of late: what was counted between two of its answers. Pure."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from console.kit.gateway.brokers.interface import ApiRequestTimes

#: Percentiles are of the requests of about this long.
WINDOW_MS = 60_000
#: Requests that are answered when something happens (records, members): their times say how long nothing did.
WAITING = frozenset({"Fetch", "JoinGroup", "SyncGroup"})


@dataclass(frozen=True, slots=True)
class ApiErrorCount:
    """Answers of one API with one error: since the broker started, and of the last minute."""

    name: str
    meaning: str
    count: int
    recent: int


@dataclass(frozen=True, slots=True)
class ApiLatency:
    """One API at one broker. Percentiles are upper bounds, in ms, of the last minute; None without requests in it."""

    api: str
    #: Since the broker started.
    count: int
    error_count: int
    max_ms: float
    per_second: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    #: Those of the last minute first, then the most frequent.
    errors: tuple[ApiErrorCount, ...] = ()


@dataclass(slots=True)
class LatencyWindow:
    """The answers of one broker over the last minute."""

    _seen: deque[tuple[int, dict[str, ApiRequestTimes]]] = field(default_factory=deque)

    def observe(self, times: Iterable[ApiRequestTimes], at_ms: int) -> list[ApiLatency]:
        """Return the APIs with requests, the most frequent first; those that wait for an event come last."""
        now = {time_.api: time_ for time_ in times}
        if self._seen and (at_ms <= self._seen[-1][0] or _has_restarted(self._seen[-1][1], now)):
            self._seen.clear()
        self._seen.append((at_ms, now))
        while len(self._seen) > 2 and self._seen[1][0] <= at_ms - WINDOW_MS:
            self._seen.popleft()
        from_ms, before = self._seen[0]
        latencies = [
            _latency(handler, before.get(handler.api), at_ms - from_ms) for handler in now.values() if handler.count
        ]
        return sorted(
            latencies,
            key=lambda handler: (handler.api in WAITING, -(handler.per_second or 0), -handler.count, handler.api),
        )


def _has_restarted(before: dict[str, ApiRequestTimes], now: dict[str, ApiRequestTimes]) -> bool:
    return any(name not in now or now[name].count < item.count for name, item in before.items())


def _latency(now: ApiRequestTimes, before: ApiRequestTimes | None, span_ms: int) -> ApiLatency:
    known = ApiLatency(now.api, now.count, now.error_count, now.max_us / 1_000, errors=_errors(now, before))
    if not span_ms:
        return known
    earlier = dict(before.buckets) if before is not None else {}
    recent = [(up_to, count - earlier.get(up_to, 0)) for up_to, count in sorted(now.buckets)]
    total = sum(count for _, count in recent)
    percentiles = (percentile_ms(recent, share, now.max_us) for share in (0.50, 0.95, 0.99))
    p50_ms, p95_ms, p99_ms = percentiles
    per_second = round(total * 1_000 / span_ms, 1)
    return replace(known, per_second=per_second, p50_ms=p50_ms, p95_ms=p95_ms, p99_ms=p99_ms)


def _errors(now: ApiRequestTimes, before: ApiRequestTimes | None) -> tuple[ApiErrorCount, ...]:
    """Return error counts; all errors of an API that is new in the report count for the last minute."""
    earlier = {error.name: error.count for error in before.errors} if before is not None else {}
    counts = [
        ApiErrorCount(error.name, error.meaning, error.count, error.count - earlier.get(error.name, 0))
        for error in now.errors
    ]
    return tuple(sorted(counts, key=lambda error: (-error.recent, -error.count, error.name)))


def percentile_ms(buckets: Sequence[tuple[int, int]], share: float, max_us: int) -> float | None:
    """Return the time that only a `share` of the requests exceeded.

    `buckets` are (no answer took longer, µs; count), ascending.
    """
    wanted = share * sum(count for _, count in buckets)
    passed = 0
    for up_to, count in buckets:
        passed += count
        if count and passed >= wanted:
            return min(up_to, max_us) / 1_000
    return None

"""Clients that push metrics, by the instance id a broker gave them: what they are to push, and when they may."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from crc32c import crc32c

from broker.common.errors import ApiError, ErrorCode
from broker.common.shared_budget import Owner, SharedBudget
from broker.common.telemetry_limits import TELEMETRY_INSTANCES_MAX
from broker.config.client_metrics import ALL_METRICS, CLIENT_INSTANCE_ID, DEFAULT_INTERVAL_MS, MetricsSubscription

_FORGOTTEN_AFTER_MS = 60_000
#: An instance is forgotten when it has not pushed for so many intervals.
_INTERVALS_MISSED = 3
#: Instances that an address has in any case.
_FLOOR = 16
_INT32 = 1 << 32


@dataclass(slots=True)
class ClientInstance:
    """One client; times are milliseconds of the steady clock, -1 before the first request of the kind."""

    instance_id: UUID
    owner: Owner
    attributes: Mapping[str, str]
    version: int
    metrics: tuple[str, ...]
    interval_ms: int
    subscription_id: int
    got_at_ms: int = -1
    pushed_at_ms: int = -1
    seen_at_ms: int = 0
    is_terminating: bool = False
    last_error: ErrorCode = ErrorCode.NONE

    def take_get(self, now_ms: int) -> None:
        """Note a request for the subscription. Raises ApiError THROTTLING_QUOTA_EXCEEDED before one is due."""
        last_ms = max(self.got_at_ms, self.pushed_at_ms)
        is_due = last_ms < 0 or now_ms - last_ms >= self.interval_ms
        if not is_due and self.last_error not in (
            ErrorCode.UNKNOWN_SUBSCRIPTION_ID,
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        ):
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        self.got_at_ms = now_ms

    def take_push(self, now_ms: int, *, is_last: bool) -> None:
        """Note a push; the first one after a Get may come at any time, as clients draw when they begin.

        Raises ApiError INVALID_REQUEST after a last push, THROTTLING_QUOTA_EXCEEDED before the next push is due.
        """
        if self.is_terminating:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        is_due = self.got_at_ms > self.pushed_at_ms or now_ms - self.pushed_at_ms >= self.interval_ms
        if is_due:
            self.pushed_at_ms = now_ms
        elif not is_last:
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)

    def is_forgotten(self, now_ms: int) -> bool:
        return now_ms - self.seen_at_ms > max(_FORGOTTEN_AFTER_MS, _INTERVALS_MISSED * self.interval_ms)


class ClientInstances:
    """Those seen lately, the one seen last at the end."""

    def __init__(self) -> None:
        self._instances: OrderedDict[UUID, ClientInstance] = OrderedDict()
        self.budget = SharedBudget(TELEMETRY_INSTANCES_MAX, _FLOOR)

    def __len__(self) -> int:
        return len(self._instances)

    def of(
        self,
        instance_id: UUID,
        owner: Owner,
        attributes: Mapping[str, str],
        subscriptions: Iterable[MetricsSubscription],
        version: int,
        now_ms: int,
    ) -> ClientInstance:
        """Return the instance, with what it is to push by the subscriptions of this version.

        Raises ApiError THROTTLING_QUOTA_EXCEEDED where its address has its share of what a broker remembers.
        """
        self._forget(now_ms)
        instance = self._instances.get(instance_id)
        if instance is None or instance.version != version:
            instance = self._made(instance_id, owner, attributes, subscriptions, version, instance)
        instance.seen_at_ms = now_ms
        self._instances.move_to_end(instance_id)
        return instance

    def _made(
        self,
        instance_id: UUID,
        owner: Owner,
        attributes: Mapping[str, str],
        subscriptions: Iterable[MetricsSubscription],
        version: int,
        former: ClientInstance | None,
    ) -> ClientInstance:
        if former is None:
            if not self.budget.has_room_for(owner):
                raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
            self.budget.hold(owner, 1)
        attributes = former.attributes if former else {**attributes, CLIENT_INSTANCE_ID: str(instance_id)}
        metrics, interval_ms = _subscribed(attributes, subscriptions)
        subscription_id = _subscription_id(metrics, interval_ms, instance_id)
        owner = former.owner if former else owner
        made = ClientInstance(instance_id, owner, attributes, version, metrics, interval_ms, subscription_id)
        self._instances[instance_id] = made
        return made

    def _forget(self, now_ms: int) -> None:
        while self._instances:
            oldest = next(iter(self._instances.values()))
            if not oldest.is_forgotten(now_ms):
                return
            del self._instances[oldest.instance_id]
            self.budget.hold(oldest.owner, -1)


def _subscribed(
    attributes: Mapping[str, str], subscriptions: Iterable[MetricsSubscription]
) -> tuple[tuple[str, ...], int]:
    """Return which metrics the client pushes, and every how many milliseconds: the shortest interval counts."""
    matching = [subscription for subscription in subscriptions if subscription.matches(attributes)]
    metrics = {metric for subscription in matching for metric in subscription.metrics}
    interval_ms = min((subscription.interval_ms for subscription in matching), default=DEFAULT_INTERVAL_MS)
    return ((ALL_METRICS,) if ALL_METRICS in metrics else tuple(sorted(metrics))), min(interval_ms, DEFAULT_INTERVAL_MS)


def _subscription_id(metrics: tuple[str, ...], interval_ms: int, instance_id: UUID) -> int:
    """Return a number that is another one for another subscription or client, in 32 bits with a sign."""
    number = (crc32c(f"{metrics}{interval_ms}".encode()) ^ crc32c(instance_id.bytes)) % _INT32
    return number - _INT32 if number >= _INT32 // 2 else number

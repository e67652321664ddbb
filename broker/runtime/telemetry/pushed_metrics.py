"""The numbers that clients pushed last, within bounds for all clients and for each address."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from broker.common.shared_budget import SharedBudget
from broker.common.telemetry_limits import TELEMETRY_SERIES_FLOOR, TELEMETRY_SERIES_MAX
from broker.protocol.otlp import PushedPoint
from broker.runtime.telemetry.client_instances import ClientInstance

#: Pushes that may be missing before the numbers of a client are forgotten.
_INTERVALS_MISSED = 3
_KEPT_MS_MIN = 60_000


class PushedSeriesKey(NamedTuple):
    """A metric of a client, with its attributes such as the topic."""

    name: str
    attributes: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class PushedClient:
    """The numbers of one client instance; sums since it began to push."""

    instance: ClientInstance
    pushed_at_ms: int
    values: dict[PushedSeriesKey, float] = field(default_factory=dict)
    sums: set[PushedSeriesKey] = field(default_factory=set)


class PushedMetrics:
    """What clients pushed, the last one at the end. A number beyond the bounds is left out, and counted."""

    def __init__(self) -> None:
        self._clients: OrderedDict[UUID, PushedClient] = OrderedDict()
        self.budget = SharedBudget(TELEMETRY_SERIES_MAX, TELEMETRY_SERIES_FLOOR)
        self.left_out = 0

    def __iter__(self) -> Iterator[PushedClient]:
        return iter(self._clients.values())

    def take(self, instance: ClientInstance, points: Iterable[PushedPoint], now_ms: int) -> Iterator[None]:
        """Take the points, one in each step. Raises ProtocolError as `points` does; what was taken before stays."""
        self.forget(now_ms)
        client = self._clients.get(instance.instance_id)
        if client is None:
            client = self._clients[instance.instance_id] = PushedClient(instance, now_ms)
        client.instance, client.pushed_at_ms = instance, now_ms
        self._clients.move_to_end(instance.instance_id)
        for point in points:
            self._take_point(client, point)
            yield

    def _take_point(self, client: PushedClient, point: PushedPoint) -> None:
        key, owner = PushedSeriesKey(point.name, point.attributes), client.instance.owner
        if key not in client.values:
            if not self.budget.has_room_for(owner):
                self.left_out += 1
                return
            self.budget.hold(owner, 1)
        before = client.values.get(key, 0.0) if point.is_delta else 0.0
        client.values[key] = before + point.value
        if point.is_sum:
            client.sums.add(key)

    def forget(self, now_ms: int) -> None:
        """Forget clients that do not push any more."""
        while self._clients:
            instance_id, client = next(iter(self._clients.items()))
            kept_ms = max(_KEPT_MS_MIN, _INTERVALS_MISSED * client.instance.interval_ms)
            if now_ms - client.pushed_at_ms <= kept_ms:
                return
            del self._clients[instance_id]
            self.budget.hold(client.instance.owner, -len(client.values))

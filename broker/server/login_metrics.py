"""What Prometheus is told of logins."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from broker.server.waiting_room import WaitingRoom

_PREFIX = "barnabas_broker_"


class LoginMetrics:
    """Read from the waiting room when somebody asks."""

    def __init__(self, room: WaitingRoom):
        self._room = room

    def collect(self) -> Iterable[Metric]:
        room = self._room
        yield GaugeMetricFamily(_PREFIX + "logins_waiting", "Connections that have not logged in.", value=room.count)
        for name, what, value in (
            ("logins", "Logins that succeeded.", room.succeeded),
            ("failed_logins", "Logins that failed, or took too long.", room.failed),
            ("expired_sessions", "Connections closed because their login had ended (KIP-368).", room.expired),
        ):
            yield CounterMetricFamily(_PREFIX + name, what, value=value)

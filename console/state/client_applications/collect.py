"""The collector's look at clients: what every broker counts of them."""

from collections.abc import Callable

from console.kit.gateway.clients.interface import ClientGateway
from console.kit.gateway.errors import GatewayError
from console.kit.live.push import push_partial
from console.state.client_applications import store
from console.state.client_applications.feature import LIVE_GROUP
from console.state.client_applications.rows import silent_brokers, traffic_rows


class ClientCollector:
    """Not thread-safe: one thread uses it."""

    def __init__(self, gateway: ClientGateway, clock_ms: Callable[[], int]):
        self._gateway = gateway
        self._now_ms = clock_ms

    def look(self) -> None:
        """Raises GatewayError while no broker can be asked."""
        try:
            traffic = self._gateway.traffic()
        except GatewayError as error:
            store.save_error(str(error))
            raise
        at_ms = self._now_ms()
        is_told = any(views is not None for views in traffic.values())
        store.keep(traffic_rows(traffic, at_ms), at_ms, is_told=is_told, silent=silent_brokers(traffic))
        push_partial(LIVE_GROUP, "live/resync.html", {"version": at_ms})

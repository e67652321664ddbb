"""The collector's look at whom the brokers have denied something."""

from collections.abc import Callable
from dataclasses import asdict

from console.cluster.acls.denied import DenialWindow
from console.kit.gateway.acls.interface import AclGateway
from console.kit.gateway.errors import RefusedError
from console.state.clusters.store import update_state
from console.state.consumers.tiers import TierContext, TierLook


class DenialCollector:
    """Not thread-safe: one thread uses it."""

    def __init__(self, gateway: AclGateway, clock_ms: Callable[[], int]):
        self._gateway, self._now_ms = gateway, clock_ms
        self._window: DenialWindow | None = None
        self._kept: list[dict[str, object]] | None = None

    def look(self) -> None:
        """Raises GatewayError while nobody answers. Brokers that do not tell have denied nobody."""
        window = self._window = self._window or DenialWindow(self._own())
        clients = [asdict(client) for client in window.observe(self._gateway.denials() or (), self._now_ms())]
        if clients != self._kept:
            update_state(denied=clients)
            self._kept = clients

    def _own(self) -> str:
        """Return the principal of the console, empty where there is no authorizer."""
        try:
            return self._gateway.look().own_principal
        except RefusedError:
            return ""


def tier(context: TierContext) -> TierLook:
    return TierLook(DenialCollector(context.gateway.acls, context.clock_ms).look)

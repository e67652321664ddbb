"""The collector's look at Kafka's users."""

from collections.abc import Callable

from console.cluster.credentials import store
from console.kit.common.idle_timers import IdleTimers
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, RefusedError
from console.kit.gateway.interface import ClusterGateway
from console.kit.live.changes import ChangeSender
from console.state.consumers.tiers import TierContext, TierLook


class CredentialCollector:
    """Not thread-safe: one thread uses it."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int]):
        self._gateway = gateway
        self._now_ms = clock_ms
        self._rests = IdleTimers(clock_ms)
        self._changes = ChangeSender("credentials")

    def look(self) -> None:
        """Raises GatewayError while nobody answers."""
        if not self._rests.is_over:
            return
        try:
            with self._rests.after():
                view = self._gateway.credentials.describe()
        except GatewayError as error:
            self._refused(error)
            return
        was_refused = bool(store.ensure_look().error)
        changes = store.keep(view, self._now_ms())
        is_news = changes.is_list_changed or was_refused
        self._changes.send({"scram-row": changes.keys}, ["credentials"] if is_news else [])

    def _refused(self, error: GatewayError) -> None:
        """Keep the known clients after an error; they grow old."""
        code = error.code if isinstance(error, RefusedError) else ""
        if store.save_refusal(str(error), code):
            self._changes.send({}, ["credentials"])
        if isinstance(error, ClusterUnreachableError):
            raise error


def tier(context: TierContext) -> TierLook:
    return TierLook(CredentialCollector(context.gateway, context.clock_ms).look)

"""The collector's look at quotas, and at what is used of them as brokers have told with their requests."""

from collections.abc import Callable

from console.cluster.quotas import store
from console.cluster.quotas.rows import UseWatch, rows_of
from console.kit.common.idle_timers import IdleTimers
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, RefusedError
from console.kit.gateway.interface import ClusterGateway
from console.kit.live.changes import ChangeSender
from console.state.consumers.tiers import TierContext, TierLook


class QuotaCollector:
    """Not thread-safe: one thread uses it."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int]):
        self._gateway = gateway
        self._now_ms = clock_ms
        self._rests = IdleTimers(clock_ms)
        self._uses = UseWatch()
        self._changes = ChangeSender("quotas")

    def look(self) -> None:
        """Raises GatewayError while nobody answers."""
        if not self._rests.is_over:
            return
        try:
            with self._rests.after():
                quotas = self._gateway.quotas.describe()
        except GatewayError as error:
            self._refused(error)
            return
        at_ms = self._now_ms()
        rows = rows_of(quotas, self._uses.look(self._gateway.brokers.quota_uses(), at_ms))
        was_refused = bool(store.ensure_look().error)
        changes = store.keep(rows, at_ms)
        is_news = changes.is_list_changed or was_refused
        self._changes.send({"quota-row": changes.keys}, ["quotas"] if is_news else [])

    def _refused(self, error: GatewayError) -> None:
        """Keep the known quotas after an error; they grow old."""
        code = error.code if isinstance(error, RefusedError) else ""
        if store.save_refusal(str(error), code):
            self._changes.send({}, ["quotas"])
        if isinstance(error, ClusterUnreachableError):
            raise error


def tier(context: TierContext) -> TierLook:
    return TierLook(QuotaCollector(context.gateway, context.clock_ms).look)

"""The collector's look at Kafka Connect: one request tells all connectors, and one each of its workers."""

from collections.abc import Callable
from dataclasses import replace

from console.ecosystem.connectors import store
from console.ecosystem.connectors.client import ConnectClient, connect_client
from console.ecosystem.connectors.declarations import DeclaredSecrets, declared_secrets
from console.ecosystem.connectors.models import ConnectLook, Connector
from console.ecosystem.connectors.sink_topics import UnassignedSince
from console.kit.common.idle_timers import IdleTimers
from console.kit.gateway.errors import GatewayError, OtherClusterError
from console.kit.live.changes import ChangeSender
from console.state.clusters.queries import cluster_state
from console.state.clusters.store import update_state
from console.state.consumers.tiers import TierContext, TierLook


class ConnectorCollector:
    """Not thread-safe: one thread uses it."""

    def __init__(self, clock_ms: Callable[[], int]):
        self._now_ms = clock_ms
        self._rests = IdleTimers(clock_ms)
        self._changes = ChangeSender("connectors")
        self._error = ""
        self._unassigned = UnassignedSince()

    def look(self) -> bool:
        """Return whether something has failed that should be watched. Raises GatewayError while nobody answers."""
        client = connect_client()
        if not client.is_configured:
            _forget()
            return False
        if not self._rests.is_over:
            return False
        has_news = store.save_workers(client.workers())
        try:
            with self._rests.after():
                changes = look_once(client, declared_secrets(), self._now_ms())
        except GatewayError as error:
            if isinstance(error, OtherClusterError):
                Connector.objects.all().delete()
            update_state(connectors_error=str(error))
            is_news, self._error = str(error) != self._error or has_news, str(error)
            self._changes.send({}, ["connectors"] if is_news else [])
            raise
        has_news, self._error = has_news or bool(self._error), ""
        unassigned = store.keep_unassigned(self._unassigned.look(self._now_ms()))
        self._push_changes(replace(changes, keys=tuple({*changes.keys, *unassigned})), has_news)
        return store.has_failed()

    def _push_changes(self, changes: store.ConnectorChanges, has_news: bool) -> None:
        rows = {"connector-row": changes.keys, "connector-page": changes.keys}
        self._changes.send(rows, ["connectors"] if has_news or changes.is_list_changed else [])


def _forget() -> None:
    """Forget the workers, which were removed from the configuration."""
    state = cluster_state()
    if state.connectors_at_ms or state.connectors_error:
        Connector.objects.all().delete()
        ConnectLook.objects.all().delete()
        update_state(connectors_at_ms=0, connectors_error="")


def look_once(client: ConnectClient, declared: DeclaredSecrets, at_ms: int) -> store.ConnectorChanges:
    """Raises GatewayError."""
    listing = client.connectors()
    classes = {connector.class_name for connector in listing.connectors} - {""}
    changes = store.keep(listing, declared.of(classes), at_ms)
    update_state(connectors_at_ms=at_ms, connectors_error="")
    return changes


def tier(context: TierContext) -> TierLook:
    return TierLook(ConnectorCollector(context.clock_ms).look)

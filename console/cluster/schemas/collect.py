"""The collector's look at the schema registry. Its topic tells what has changed there; while a page of schemas is open,
the registry is asked, too.

What stands in a registry stands in a topic, which grows by whatever is changed, by whomever. A registry of another
cluster is asked for its names alone.
"""

import hashlib
import json
from collections.abc import Collection

from console.cluster.schemas.changes import TOPIC, SchemaChanges
from console.cluster.schemas.feature import LIVE_GROUP
from console.cluster.schemas.refused import RefusalWatch
from console.cluster.schemas.registry import registry
from console.kit.common.current_cluster import here
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.interface import ClusterGateway
from console.kit.live.audience import listened
from console.kit.live.push import push_partial
from console.state.consumers.tiers import TierContext, TierLook

_AWAY = "away"


class SchemaWatch:
    """Not thread-safe: one thread uses it."""

    def __init__(self, gateway: ClusterGateway):
        self._gateway = gateway
        self._before = ""

    def look(self, topics: Collection[str]) -> None:
        """Push the registry's state to every page, so that an outdated page notices.

        Raises GatewayError while the registry does not answer.
        """
        if here.SCHEMA_REGISTRY is None or not listened([LIVE_GROUP]):
            return
        try:
            self._push_changes(self._fingerprint(topics))
        except GatewayError:
            self._push_changes(_AWAY)
            raise

    def _push_changes(self, now: str) -> None:
        """Push the subjects, with those before: a change is sent twice, for the registry may read it a moment after
        us.
        """
        push_partial(LIVE_GROUP, "schemas/partials/version.html", {"version": f"{self._before}.{now}"})
        self._before = now

    def _fingerprint(self, topics: Collection[str]) -> str:
        gateway = registry()
        ends = self._gateway.record_spans(TOPIC, False) if TOPIC in topics else {}
        fingerprint = [
            gateway.subjects(),
            gateway.subjects(deleted=True),
            sorted((at, span.next) for at, span in ends.items()),
        ]
        return hashlib.sha256(json.dumps(fingerprint).encode()).hexdigest()[:16]


def tier(context: TierContext) -> TierLook:
    watch, changes = SchemaWatch(context.gateway), SchemaChanges(context.gateway, context.clock_ms)
    refusals = RefusalWatch(context.clock_ms)

    def look() -> None:
        refusals.look()
        changes.look(context.topics)
        watch.look(context.topics)

    return TierLook(look)

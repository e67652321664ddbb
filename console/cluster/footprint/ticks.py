"""What is done now and then in each process: librdkafka's clients are heard, and what was counted is told."""

import logging

from console.cluster.footprint.feature import LIVE_GROUP
from console.cluster.footprint.store import poll, publish
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import all_clusters, in_cluster
from console.kit.live.push import push_partial
from console.state.consumers.tiers import TierContext, TierLook

logger = logging.getLogger(__name__)


def tick() -> None:
    """Store the requests of every cluster this process may have asked."""
    for name in all_clusters():
        with in_cluster(name):
            _hear_and_publish()


def _hear_and_publish() -> None:
    """Collect and publish; an error never ends the worker."""
    try:
        poll()
        publish()
    except Exception:
        logger.exception("requests to the cluster are not counted")


def tick_and_tell() -> None:
    """Store the collector's requests, and refresh open pages."""
    _hear_and_publish()
    push_partial(LIVE_GROUP, "footprint/partials/version.html", {"version": now_ms()})


def tier(_context: TierContext) -> TierLook:
    return TierLook(tick_and_tell)

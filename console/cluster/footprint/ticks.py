"""What is done now and then in each process: librdkafka's clients are heard, and what was counted is told.

Nobody has a thread for it: the collector's look at brokers' requests, the worker's timer and the web server's tick do.
"""

import asyncio
import logging

from console.cluster.footprint.store import poll, publish
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import all_clusters, in_cluster
from console.kit.live import groups
from console.kit.live.push import push_partial

logger = logging.getLogger(__name__)

#: Whole seconds, as uvicorn has its `timeout_notify`.
EVERY_S = 5


def tick() -> None:
    """For every cluster this process may have asked."""
    for name in all_clusters():
        with in_cluster(name):
            _hear_and_publish()


def _hear_and_publish() -> None:
    """Whatever goes wrong: nobody ends for it."""
    try:
        poll()
        publish()
    except Exception:
        logger.exception("what was asked of the cluster is not counted")


async def tick_beside() -> None:
    """The same on a thread of the pool, since Redis may be slow."""
    await asyncio.to_thread(tick)


def tick_and_tell() -> None:
    """For the collector, of its own cluster: pages that are open fetch what there is."""
    _hear_and_publish()
    push_partial(groups.FOOTPRINT, "footprint/partials/version.html", {"version": now_ms()})

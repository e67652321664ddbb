"""What each process of the console has counted of its own requests, where all of them find it: in Redis, for a minute.

Without Redis a process knows of itself alone.
"""

import json
import logging
import os
from collections.abc import Mapping
from typing import Any

import redis
from django.conf import settings

from console.kit.common.clock import now_ms
from console.kit.gateway.connection.own_requests import PROCESS, own_requests
from console.kit.live import groups
from console.kit.live.audience import redis_of_layer

logger = logging.getLogger(__name__)

#: A process that has told nothing for so long has ended, or asks nothing.
SILENT_MS = 60_000
_KEPT_SECONDS = 600
#: Of processes that are remembered; beyond it those that are silent are forgotten.
PROCESSES_MAX = 64


def poll() -> None:
    """Collect the statistics of librdkafka's clients."""
    for client in list(own_requests().clients):
        client.poll_statistics()


def publish() -> None:
    """Store the counts. Never raises."""
    client, name = redis_of_layer(), _name()
    if client is None or not own_requests().clients:
        return
    try:
        with client.pipeline() as pipe:
            pipe.hset(_key(), name, json.dumps(_own_figures()))
            pipe.expire(_key(), _KEPT_SECONDS)
            pipe.hlen(_key())
            *_, count = pipe.execute()
        if count > PROCESSES_MAX:
            _forget_silent(client)
    except redis.RedisError as error:
        logger.debug("request counts not published: %s", error)


def reports_of_processes() -> list[dict[str, Any]]:
    """Return the newest of each process, this one's as it is now; sorted by name."""
    usage = {_name(): _own_figures()} if PROCESS.is_polled else {}
    client = redis_of_layer()
    if client is not None:
        try:
            usage = {**_read(client.hgetall(_key())), **usage}
        except redis.RedisError as error:
            logger.debug("request counts of other processes unknown: %s", error)
    since_ms = now_ms() - SILENT_MS
    return [item for _, item in sorted(usage.items()) if item["at_ms"] >= since_ms]


def _own_figures() -> dict[str, Any]:
    who = {"process": PROCESS.name, "host": settings.HOST_NAME, "pid": os.getpid(), "at_ms": now_ms()}
    return who | own_requests().snapshot()


def _read(hash_: Mapping[Any, str | bytes]) -> dict[str, dict[str, Any]]:
    return {name.decode(): json.loads(text) for name, text in hash_.items()}


def _forget_silent(client: redis.Redis) -> None:
    since_ms = now_ms() - SILENT_MS
    silent = [name for name, item in _read(client.hgetall(_key())).items() if item["at_ms"] < since_ms]
    if silent:
        client.hdel(_key(), *silent)


def _name() -> str:
    return f"{PROCESS.name} {settings.HOST_NAME} {os.getpid()}"


def _key() -> str:
    return groups.on_layer("barnabas.requests")

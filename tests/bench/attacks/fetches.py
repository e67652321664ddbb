"""Attacks by fetches: that wait, that open sessions, that name thousands of partitions."""

import time
from collections.abc import Iterator

from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.bench.attacks.aim import Aim, Line, connections, request, send_some

_VERSION = 11
_FIVE_MINUTES_MS = 300_000


def fetch(topic: str, partitions: int, **options) -> bytes:
    fetch_partitions = [FetchPartition(partition=index, partition_max_bytes=1) for index in range(partitions)]
    return request(FetchRequest(topics=[FetchTopic(topic=topic, partitions=fetch_partitions)], **options), _VERSION)


def parked(aim: Aim) -> Iterator[None]:
    """57,000 fetches of the partition that others write to, to be answered when there is a gigabyte."""
    request = fetch(aim.topic, 1, max_wait_ms=_FIVE_MINUTES_MS, min_bytes=2**30, max_bytes=2**30)
    opened = connections(aim, 60)
    waiting = dict.fromkeys(opened, request * 950)
    deadline = time.monotonic() + 20
    while any(waiting.values()) and time.monotonic() < deadline:
        for item, rest in waiting.items():
            sent = send_some(item, rest) if rest else 0
            waiting[item] = b"" if sent < 0 else rest[sent:]
        time.sleep(0.01)
    while True:
        yield
        time.sleep(0.2)
        opened.pop(0).close()
        opened += connections(aim, 1)
        send_some(opened[-1], request * 950)


def woken(aim: Aim) -> Iterator[None]:
    """10,000 fetches that every record of others wakes, and that come again."""
    request = fetch(aim.topic, 1, max_wait_ms=_FIVE_MINUTES_MS, min_bytes=1, max_bytes=1)
    opened = connections(aim, 20)
    while True:
        for item in opened:
            send_some(item, request * 25)
            try:
                item.recv(1 << 20)
            except OSError:
                continue
        yield
        time.sleep(0.02)


def sessions(aim: Aim) -> Iterator[None]:
    """50 fetch sessions at a time, opened and left."""
    request = fetch(aim.topic, 50, max_wait_ms=0, min_bytes=0, max_bytes=100, session_id=0, session_epoch=0)
    line = Line(aim)
    while True:
        line.send(request * 50)
        line.take(50)
        yield
        time.sleep(0.02)


ATTACKS = {
    "57,000 parked fetches": parked,
    "fetches that every record wakes": woken,
    "fetch sessions without end": sessions,
}

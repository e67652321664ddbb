"""Open pages that say what they show, and looks of a collector that is not there."""

import asyncio
import json

from channels.layers import get_channel_layer

from console.kit.live import groups
from console.shell.web import feed
from console.shell.web.page_socket import PageConsumer
from console.shell.web.watched import LivePage, PageState
from console.state.clusters.models import Partition, Topic
from tests.console.websocket import Websocket

DEADLINE_S = 20


def make_topic(name: str) -> Topic:
    topic = Topic.objects.create(name=name, partition_count=2)
    for number in range(2):
        Partition.objects.create(topic=topic, partition=number, leader=1, replicas=[1], isr=[1], next_offset=5)
    return topic


async def open_page(user, page: str, *rows: str, moves: bool = False) -> Websocket:
    """Returns when the console knows what the page shows."""
    websocket = Websocket(PageConsumer.as_asgi(), "/ws/live/", f"page={page}", user=user)
    assert await websocket.connect()
    known = len(watched_pages())
    await websocket.send_text(json.dumps({"rows": list(rows), "moves": moves}))
    async with asyncio.timeout(DEADLINE_S):
        while rows and not any(len(page.keys) == len(rows) for page in list(watched_pages().values())[known - 1 :]):
            await asyncio.sleep(0)
    return websocket


def watched_pages() -> dict[LivePage, PageState]:
    return feed.feed_here()._watched.shown


async def look(number: int, rows: dict, pages=(), partitions=(), tier: str = "topics") -> None:
    message = {"type": "rows.changed", "tier": tier, "number": number, "rows": rows, "pages": list(pages)}
    await get_channel_layer().group_send(groups.CHANGES, {**message, "partitions": list(partitions)})

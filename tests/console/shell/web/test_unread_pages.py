"""A person who asks for long pages on many connections and reads none takes no more memory than a share."""

import asyncio
from collections import Counter

from broker.common.unread_answers import SharedAnswers
from console.asgi import application
from console.shell.web.unread_pages import counted_pages

_MEGABYTE = b"x" * 2**20


async def _page(_scope, _receive, send):
    """As Django gives one: its length first, then pieces."""
    length = [(b"Content-Length", str(len(_MEGABYTE)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    for at in range(16):
        piece = _MEGABYTE[at * 2**16 : (at + 1) * 2**16]
        await send({"type": "http.response.body", "body": piece, "more_body": at < 15})


async def _stream(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(5):
        await send({"type": "http.response.body", "body": b"event", "more_body": True})


async def statuses_unread(app, count: int) -> Counter[int]:
    """Of so many answers of which each client takes the head alone."""
    counts: Counter[int] = Counter()

    async def send(message):
        if message["type"] == "http.response.start":
            counts[message["status"]] += 1
        elif counts[503] == 0 or b"memory" not in message["body"]:
            await asyncio.Event().wait()

    scope = {"type": "http", "client": ("10.0.0.1", 1)}
    tasks = [asyncio.create_task(app(scope, None, send)) for _ in range(count)]
    for _ in range(10):
        await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return counts


async def test_long_pages_that_are_not_read_are_bounded():
    result = await statuses_unread(counted_pages(_page), 200)
    assert 10 < result[200] < 60, "no more than a share of 64 MB"
    assert result[200] + result[503] == 200


async def test_streams_that_are_open_are_never_refused():
    assert await statuses_unread(counted_pages(_stream), 200) == {200: 200}


def test_the_web_process_counts_its_pages():
    routes = application._application._application
    assert isinstance(routes.application_mapping["http"], SharedAnswers)

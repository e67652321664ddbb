"""The stream of what happens: each line once, in order, for who may see it, and for as long as the token holds."""

import json

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.utils import timezone

from console.kit.access.models import ApiToken, NameRule
from console.shell.api import events
from console.state.history.models import Change

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(events, "LOOK_EVERY_S", 0.01)
    yield
    assert not events.STREAMS.by_person.total()


def happen(sentence, topic="orders"):
    return Change.objects.create(at_ms=1, kind="topic", object_name=topic, sentence=sentence, tone="plain").pk


class Listener:
    def __init__(self, response):
        self._response, self._parts = response, response.streaming_content.__aiter__()

    async def next(self):
        text = (await anext(self._parts)).decode()
        if "data: " not in text:
            return await self.next()
        return [json.loads(line[6:])["what"] for line in text.splitlines() if line.startswith("data: ")]

    async def is_over(self):
        try:
            while True:
                await anext(self._parts)
        except StopAsyncIteration:
            return True

    async def leave(self):
        await self._parts.aclose()
        self._response.close()


async def ask(secret, **headers):
    return await AsyncClient().get("/api/v1/events", headers={"Authorization": f"Bearer {secret}", **headers})


async def listening(secret, **headers):
    response = await ask(secret, **headers)
    assert response.status_code == 200, response.content
    return Listener(response)


async def test_what_happens_from_now_on_is_told_in_order(program, viewer):
    api = await sync_to_async(program)(viewer)
    await sync_to_async(happen)("before")
    listener = await listening(api.secret)
    await anext(listener._parts)  # it listens
    stream = events.STREAMS.by_person.total()
    assert stream == 1
    look = listener.next()
    await sync_to_async(happen)("one")
    await sync_to_async(happen)("two")
    heard = await look
    while len(heard) < 2:
        heard += await listener.next()
    assert heard == ["one", "two"]
    await listener.leave()


async def test_who_was_cut_off_goes_on_behind_what_was_heard(program, viewer):
    api = await sync_to_async(program)(viewer)
    heard = await sync_to_async(happen)("heard")
    await sync_to_async(happen)("missed")
    listener = await listening(api.secret, **{"Last-Event-ID": str(heard)})
    assert await listener.next() == ["missed"]
    await listener.leave()


async def test_what_is_hidden_from_a_person_is_not_told(program, viewer):
    await NameRule.objects.acreate(user=viewer, resource="topic", pattern="secret*", level="nothing")
    api = await sync_to_async(program)(viewer)
    listener = await listening(api.secret, **{"Last-Event-ID": "0"})
    await sync_to_async(happen)("of a secret", topic="secret-plans")
    await sync_to_async(happen)("of orders")
    assert await listener.next() == ["of orders"]
    await listener.leave()


@pytest.mark.parametrize("way", ["token", "account", "role"])
async def test_a_stream_ends_with_what_opened_it(program, viewer, way):
    api = await sync_to_async(program)(viewer)
    listener = await listening(api.secret)
    await anext(listener._parts)
    if way == "token":
        await ApiToken.objects.all().adelete()
    elif way == "account":
        await type(viewer).objects.filter(pk=viewer.pk).aupdate(is_active=False)
    else:
        await viewer.groups.aclear()
    assert await listener.is_over()


async def test_a_person_has_so_many_streams_and_no_more(program, viewer):
    api = await sync_to_async(program)(viewer)
    open_ones = [await listening(api.secret) for _ in range(events.STREAMS_PER_PERSON_MAX)]
    assert (await ask(api.secret)).status_code == 429
    for one in open_ones:
        await one.leave()
    again = await listening(api.secret)
    await again.leave()


async def test_without_the_scope_nothing_is_told(program, viewer):
    api = await sync_to_async(program)(viewer, ("plan",))
    assert (await ask(api.secret)).status_code == 403


async def test_a_token_that_ends_while_somebody_listens_ends_the_stream(program, viewer):
    api = await sync_to_async(program)(viewer)
    listener = await listening(api.secret)
    await anext(listener._parts)
    await ApiToken.objects.aupdate(ends_at=timezone.now())
    assert await listener.is_over()

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.db import transaction

from console.kit.common.current_cluster import in_cluster
from console.kit.live import groups
from console.kit.live.push import push_partial, send_message, send_now
from console.people.users import announce
from console.state.clusters.models import Topic
from console.state.history.feature import LIVE_GROUP


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr("console.kit.live.push.send_now", messages.extend)
    return messages


@pytest.fixture
def row(db):
    return {"topic": Topic(pk=7, name="orders", partition_count=3)}


@pytest.mark.usefixtures("listeners")
def test_a_partial_is_sent_when_the_transaction_commits(row, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        push_partial("topics", "topics/partials/topic-row.html", row)
    assert sent == []
    callbacks[0]()

    ((group, html),) = sent
    assert group == "topics"
    assert 'id="topic-row-7"' in html


@pytest.mark.django_db(transaction=True)
def test_a_change_that_is_rolled_back_is_not_pushed(row, sent):
    with transaction.atomic():
        push_partial("topics", "topics/partials/topic-row.html", row)
        transaction.set_rollback(True)

    assert sent == []


def test_a_broken_channel_layer_costs_a_log_line_and_nothing_else(monkeypatch, caplog):
    class BrokenLayer:
        async def group_send(self, group: str, message: dict) -> None:
            raise ConnectionError("redis is gone")

    monkeypatch.setattr("console.kit.live.push.get_channel_layer", BrokenLayer)
    send_now([("topics", "<p></p>")])

    assert "redis is gone" in caplog.text


async def test_who_listens_by_redis_is_told_everything_in_its_order(layer):
    channel = await layer.new_channel()
    for group in (groups.BROKERS, groups.CHANGES):
        await layer.group_add(group, channel)
    html = [f"<p>{number} \N{BULLET}</p>" for number in range(3)]
    await sync_to_async(send_now)([(groups.BROKERS, item) for item in html] + [(LIVE_GROUP, "<p>unheard</p>")])
    await sync_to_async(send_message)(groups.CHANGES, {"type": "rows.changed", "number": 2**40, "pages": ["topics"]})

    for item in html:
        assert await layer.receive(channel) == {"type": "push.html", "group": groups.BROKERS, "html": item}
    assert await layer.receive(channel) == {"type": "rows.changed", "number": 2**40, "pages": ["topics"]}
    await layer.flush()


async def test_a_person_is_told_of_other_rights_without_a_loop_of_its_own(layer, monkeypatch):
    def refuse():
        raise AssertionError("a loop, and in it a connection, for one message")

    channel = await layer.new_channel()
    await layer.group_add(groups.person(7), channel)
    monkeypatch.setattr(announce.transaction, "on_commit", lambda tell: tell())
    with monkeypatch.context() as patched:
        patched.setattr(asyncio.events, "new_event_loop", refuse)
        patched.setattr(asyncio, "new_event_loop", refuse)
        await asyncio.to_thread(announce.announce_rights, 7)
    await asyncio.to_thread(send_message, groups.person(7), {"type": "later"})

    assert await layer.receive(channel) == {"type": "rights.changed"}
    assert await layer.receive(channel) == {"type": "later"}
    await layer.flush()


async def test_of_another_cluster_those_are_told_who_listen_to_it(layer):
    def send() -> None:
        with in_cluster("north"):
            send_now([(groups.BROKERS, "<p>north</p>")])

    channel = await layer.new_channel()
    await layer.group_add("c.north.brokers", channel)
    await sync_to_async(send)()

    assert (await layer.receive(channel))["html"] == "<p>north</p>"
    await layer.flush()


def test_a_redis_that_is_gone_costs_a_log_line_and_nothing_else(layer, settings, redis_url, caplog):
    settings.REDIS_URL = f"{redis_url}.gone"
    send_now([(groups.BROKERS, "<p></p>")])

    assert "push failed" in caplog.text

"""Watches that go on, on a real server."""

import pytest

from broker.zookeeper import watches
from broker.zookeeper.election import read_controller, try_become_controller
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.watches import ConfigChanges, ZnodeWatch
from tests.eventually import eventually
from tests.severable_proxy import SeverableProxy


@pytest.fixture
def watch():
    """Starts watches that end with the test."""
    started = []

    def start(session, read, deliver):
        started.append(ZnodeWatch(session, read, deliver))
        return started[-1]

    yield start
    for item in started:
        item.close()


async def test_watch_tells_what_is_there_and_what_comes(store, watch):
    seen = []
    watch(store.session, store.topic_names, seen.append)
    await eventually(lambda: seen == [[]], "first look")
    for topic in ("a", "b"):
        await store.create_topic(topic, {0: (1,)}, {})
        await eventually(lambda: topic in seen[-1], "next look")  # noqa: B023
    assert seen[-1] == ["a", "b"]


async def test_closed_watch_tells_nothing_more(store, watch):
    seen = []
    one, other = watch(store.session, store.topic_names, seen.append), []
    watch(store.session, store.topic_names, other.append)
    await eventually(lambda: seen and other, "first look")
    one.close()
    await store.create_topic("a", {0: (1,)}, {})
    await eventually(lambda: ["a"] in other, "the other watch")
    assert seen == [[]]


async def test_topic_watch_sees_the_topic_go_and_come_back_as_another(store, watch):
    seen = []
    created = await store.create_topic("t", {0: (1,)}, {})
    watch(store.session, lambda watcher: store.topic("t", watcher), seen.append)
    await eventually(lambda: seen == [created], "first look")
    await store.session.delete("/brokers/topics/t")
    await eventually(lambda: seen[-1] is None, "it is gone")
    again = await store.create_topic("t", {0: (1,)}, {})
    await eventually(lambda: seen[-1] == again, "it is another")
    assert again.topic_id != created.topic_id


async def test_controller_watch_sees_every_change(new_session, session, watch):
    seen = []
    watch(session, lambda watcher: read_controller(session, watcher), seen.append)
    await eventually(lambda: seen == [-1], "nobody")
    other = await new_session()
    await try_become_controller(other, 2, 5)
    await eventually(lambda: seen[-1] == 2, "2 is controller")
    await other.close()
    await eventually(lambda: seen[-1] == -1, "nobody again")


async def test_watch_survives_a_broken_connection(zookeeper, store, new_session, watch):
    async with SeverableProxy(zookeeper.port) as proxy:
        cut_off = ClusterStore(await new_session(port=proxy.port), None)
        seen = []
        watch(cut_off.session, cut_off.topic_names, seen.append)
        await eventually(lambda: seen == [[]], "first look")
        proxy.cut()
        await store.create_topic("a", {0: (1,)}, {})
        proxy.mend()
        await eventually(lambda: seen[-1] == ["a"], "what changed meanwhile")
        await store.create_topic("b", {0: (1,)}, {})
        await eventually(lambda: seen[-1] == ["a", "b"], "watching again")
        await cut_off.session.close()


async def test_config_changes_are_told_once_each_and_not_those_before(store):
    await store.set_config("topics", "before", {})
    messages = []
    changes = ConfigChanges(store.session, messages.append)
    await eventually(lambda: changes._last_seen is not None, "first look")
    await store.session.create("/config/changes/config_change_", b"garbage", sequential=True)
    await store.set_config("topics", "a", {})
    await eventually(lambda: messages == ["topics/a"], "a")
    await store.set_config("brokers", "1", {})
    await eventually(lambda: messages == ["topics/a", "brokers/1"], "broker 1")
    changes.close()


async def test_old_config_changes_are_removed(store, monkeypatch):
    monkeypatch.setattr(watches, "CONFIG_CHANGE_KEPT_MS", 0)
    messages = []
    changes = ConfigChanges(store.session, messages.append)
    await eventually(lambda: changes._last_seen is not None, "first look")
    await store.set_config("topics", "a", {})
    await eventually(lambda: messages, "a")
    await eventually_empty(store)
    changes.close()


async def eventually_empty(store) -> None:
    seen = [None]
    watch = ZnodeWatch(store.session, lambda watcher: store.session.children("/config/changes", watcher), seen.append)
    await eventually(lambda: seen[-1] == [], "all notifications are old and gone")
    watch.close()

"""Nothing is rendered for nobody, and whoever comes later is shown what is true then."""

import pytest
import redis
from channels.layers import BaseChannelLayer, InMemoryChannelLayer

from console.kit.live import audience, groups, push
from console.kit.live.changes import ChangeSender
from console.shell.collector import announce
from console.shell.collector.announce import Announcer
from console.state.clusters.models import ClusterState
from console.state.history.feature import LIVE_GROUP


@pytest.fixture
def sent(monkeypatch) -> list[tuple[str, str]]:
    messages: list[tuple[str, str]] = []
    monkeypatch.setattr(announce, "send_now", messages.extend)
    monkeypatch.setattr(push, "send_now", messages.extend)
    return messages


@pytest.fixture
def rendered(monkeypatch) -> list[str]:
    """The templates rendered by whoever announces."""
    names: list[str] = []

    def render(template: str, _context: dict) -> str:
        names.append(template)
        return f"<p>{ClusterState.objects.values_list('controller_id', flat=True).first()}</p>"

    monkeypatch.setattr(announce, "render_to_string", render)
    monkeypatch.setattr(push, "render_to_string", render)
    return names


def _announcer(heard: set[str]) -> Announcer:
    return Announcer(lambda names: frozenset(names) & heard)


def test_without_listeners_nothing_is_rendered_and_nothing_asked(
    db, sent, rendered, django_assert_num_queries, monkeypatch
):
    announcer = _announcer(set())
    with django_assert_num_queries(0):
        announcer.cluster_changed()
        announcer.zookeeper_changed()
    monkeypatch.setattr(push, "listened", lambda _names: frozenset())
    push.push_partial(LIVE_GROUP, "live/resync.html", {})

    assert (rendered, sent) == ([], [])


def test_only_what_somebody_listens_to_is_rendered(db, sent, rendered):
    _announcer({groups.ZOOKEEPER}).zookeeper_changed()

    assert rendered == ["zookeeper/partials/members.html"]
    assert [group for group, _ in sent] == [groups.ZOOKEEPER]


def test_figures_of_zookeeper_servers_have_no_other_part_of_the_overview_rendered(db, sent, rendered):
    announcer = _announcer({groups.CLUSTER_OVERVIEW})
    announcer.zookeeper_changed(is_news=False)
    assert rendered == ["overview/partials/zookeeper-servers.html"]

    announcer.zookeeper_changed()
    assert "overview/partials/health.html" in rendered


def test_a_look_at_the_brokers_without_news_leaves_the_overview_to_the_look_at_topics(db, sent, rendered):
    announcer = _announcer({groups.CLUSTER_OVERVIEW})
    announcer.cluster_changed(is_news=False)
    assert rendered == []

    announcer.cluster_changed()
    assert "overview/partials/health.html" in rendered


def test_a_page_opened_later_is_sent_what_once_was_sent_to_another(db, sent, rendered):
    """It was drawn while something else was true, and nobody was told of that."""
    heard = {groups.ZOOKEEPER}
    announcer = _announcer(heard)
    announcer.zookeeper_changed()
    heard.clear()
    announcer.zookeeper_changed()
    sent.clear()
    heard.add(groups.ZOOKEEPER)

    announcer.zookeeper_changed()

    assert [group for group, _ in sent] == [groups.ZOOKEEPER]


def test_looks_are_numbered_also_while_nobody_listens(monkeypatch):
    """A page that was there all the time and missed one sees the gap."""
    messages: list[dict] = []
    heard = [True, False, True]
    monkeypatch.setattr("console.kit.live.changes.send_message", lambda _group, message: messages.append(message))
    monkeypatch.setattr(ChangeSender, "is_heard", staticmethod(lambda: heard.pop(0)))
    sender = ChangeSender("topics")

    for _ in range(3):
        sender.send({})

    assert messages[1]["number"] == messages[0]["number"] + 2


def test_a_layer_that_cannot_be_asked_may_have_listeners(monkeypatch):
    monkeypatch.setattr(audience, "get_channel_layer", BaseChannelLayer)

    assert audience.listened(["topics"]) == {"topics"}


async def test_a_layer_in_memory_knows_which_groups_somebody_listens_to(monkeypatch):
    layer = InMemoryChannelLayer()
    monkeypatch.setattr(audience, "get_channel_layer", lambda: layer)
    await layer.group_add(groups.HEARTBEAT, "page")
    assert audience.listened([groups.HEARTBEAT, LIVE_GROUP]) == {groups.HEARTBEAT}

    await layer.group_discard(groups.HEARTBEAT, "page")
    assert audience.listened([groups.HEARTBEAT, LIVE_GROUP]) == frozenset()


async def test_redis_knows_which_groups_somebody_listens_to(layer):
    channel = await layer.new_channel()
    await layer.group_add(groups.HEARTBEAT, channel)
    assert audience.listened([groups.HEARTBEAT, LIVE_GROUP]) == {groups.HEARTBEAT}

    await layer.group_discard(groups.HEARTBEAT, channel)
    assert audience.listened([groups.HEARTBEAT, LIVE_GROUP]) == frozenset()
    await layer.flush()


def test_a_redis_that_hung_up_meanwhile_is_asked_anew_by_a_connection_that_is_given_back(layer, redis_url):
    assert audience.listened([groups.HEARTBEAT]) == frozenset()
    with redis.Redis.from_url(redis_url) as other:
        assert other.client_kill_filter(_type="normal", skipme=True)

    for _ in range(3):
        assert audience.listened([groups.HEARTBEAT]) == frozenset()
    pool = audience._client().connection_pool
    assert (pool._created_connections, len(pool._available_connections)) == (1, 1)


def test_answers_come_in_the_order_of_their_questions_and_none_is_left_behind_a_refusal(layer):
    client = audience._client()
    assert audience.answers(client, [("ECHO", "a"), ("ECHO", b"b")]) == [b"a", b"b"]
    with pytest.raises(redis.ResponseError):
        audience.answers(client, [("PUBLISH", "too few"), ("ECHO", "late")])
    assert audience.answers(client, [("ECHO", "c")]) == [b"c"]


def test_a_redis_that_does_not_answer_may_have_listeners(layer, settings, redis_url):
    settings.REDIS_URL = f"{redis_url}.gone"

    assert audience.listened([groups.HEARTBEAT]) == {groups.HEARTBEAT}

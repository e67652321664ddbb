import pytest

from console.kit.access.reach import EVERYTHING
from console.kit.live import groups
from console.shell.web.shown_rows import render_rows
from console.state.clusters.models import Topic


@pytest.fixture(autouse=True)
def _orders(cluster, collect):
    cluster.create_topic("orders", 3, 2)
    collect()
    collect()


def page(client_of, user, query: str = "") -> str:
    return client_of(user).get(f"/placement/{query}").content.decode()


def test_a_balanced_cluster_says_so(viewer, client_of):
    text = page(client_of, viewer)

    assert "Every partition is led by its first replica." in text
    assert text.count("1 of 1") == 3
    assert 'title="orders-1 on broker 2: leader, preferred leader"' in text
    assert 'title="orders-1 on broker 3: in sync"' in text


def test_a_moved_leader_shows_in_skew_and_preferred_share(cluster, collect, viewer, client_of):
    cluster.move_leader("orders", 0, 2)
    collect()
    text = page(client_of, viewer)

    assert "1 of 3 partitions" in text
    assert "+100 %" in text
    assert "-100 %" in text
    assert "0 of 1" in text


def test_a_replica_out_of_sync_is_marked_by_a_word(cluster, collect, viewer, client_of):
    cluster.stop_broker(2)
    collect()
    text = page(client_of, viewer)

    assert 'title="orders-1 on broker 2: out of sync, preferred leader"' in text
    assert "missing" in text


def test_a_wide_topic_is_counted_not_drawn(cluster, collect, viewer, client_of):
    cluster.create_topic("wide", 60, 3)
    collect()

    assert "20 led · 40 followed" in page(client_of, viewer, "?search=wide")


def test_search_and_the_switch_choose_topics(cluster, collect, viewer, client_of):
    cluster.create_topic("__consumer_offsets", 1, 1)
    collect()

    assert "__consumer_offsets" not in page(client_of, viewer)
    assert "__consumer_offsets" in page(client_of, viewer, "?internal=on")
    assert "No topic's name contains “nothing”." in page(client_of, viewer, "?search=nothing")


def test_a_viewer_sees_why_the_button_is_disabled(viewer, operator, client_of):
    assert "Electing leaders needs the role operator." in page(client_of, viewer)
    assert 'href="/placement/+elect/"' in page(client_of, operator)


def test_an_outsider_sees_nothing(outsider, client_of):
    response = client_of(outsider).get("/placement/")

    assert response.status_code == 403
    assert b"orders" not in response.content


@pytest.mark.usefixtures("listeners")
def test_a_move_is_told_of_as_a_row_of_the_matrix_and_records_are_not(cluster, collect, clock, monkeypatch):
    sent: list[tuple[str, str]] = []
    messages: list[list[int]] = []
    monkeypatch.setattr("console.shell.collector.announce.send_now", sent.extend)
    monkeypatch.setattr(
        "console.kit.live.changes.send_message",
        lambda _group, message: messages.append(message["rows"].get("placement-row", [])),
    )
    cluster.append("orders", 0, 5)
    clock.advance(1_000)
    collect()
    assert not any(messages)
    cluster.move_leader("orders", 0, 2)
    sent.clear()
    collect()

    topic = Topic.objects.get(name="orders")
    assert [topic.pk] in messages
    assert any("placement-balance" in html for group, html in sent if group == groups.PLACEMENT)
    (html,) = render_rows([("placement-row", topic.pk)], {}, EVERYTHING)["placement-row", topic.pk]
    assert 'title="orders-0 on broker 2: leader"' in html

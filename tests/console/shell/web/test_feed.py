"""Changed rows on their way to the pages that show them: each its own, rendered once, and nothing out of reach."""

import json

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer

from console.cluster.topics import row_renderers
from console.kit.live import groups
from console.shell.web import feed, shown_rows
from console.state.clusters.models import Topic
from tests.console.live_pages import look, make_topic, open_page, watched_pages

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch):
    monkeypatch.setattr(feed, "TURN_SECONDS", 0.0)


@pytest.fixture
def orders(db) -> Topic:
    return make_topic("orders")


async def test_a_changed_row_reaches_the_pages_that_show_it_and_no_others(viewer, orders):
    other = await sync_to_async(make_topic)("payments")
    first = await open_page(viewer, "topics", f"topic-row-{orders.pk}")
    second = await open_page(viewer, "topics", f"topic-row-{other.pk}")
    await look(1, {"topic-row": [orders.pk]})
    await look(2, {"topic-row": [other.pk]})

    assert f'id="topic-row-{orders.pk}"' in await first.receive_text()
    assert f'id="topic-row-{other.pk}"' in await second.receive_text()
    await first.disconnect()
    await second.disconnect()


async def test_a_row_is_rendered_once_however_many_browsers_show_it(viewer, orders, monkeypatch):
    rendered = []
    render = shown_rows.render_rows
    monkeypatch.setattr(feed, "render_rows", lambda *those: rendered.append(those) or render(*those))
    pages = [await open_page(viewer, "topics", f"topic-row-{orders.pk}") for _ in range(5)]
    await look(1, {"topic-row": [orders.pk]})
    received = {await page.receive_text() for page in pages}

    assert (len(received), len(rendered)) == (1, 1)
    for page in pages:
        await page.disconnect()


async def test_the_page_of_a_topic_gets_its_sums_and_its_changed_partitions(viewer, orders):
    page = await open_page(viewer, "topic:orders", f"topic-page-{orders.pk}")
    await look(1, {"topic-page": [orders.pk]}, partitions=[[orders.pk, [1]]])
    summary, partitions = await page.receive_text(), await page.receive_text()

    assert 'id="topic-summary"' in summary
    assert "<tr" not in summary
    assert 'id="partition-1"' in partitions
    assert 'id="partition-0"' not in partitions
    await page.disconnect()


async def test_a_topic_with_more_changed_partitions_than_shown_fetches_its_page(viewer, orders, monkeypatch):
    monkeypatch.setattr(row_renderers, "PARTITIONS_MAX", 1)
    page = await open_page(viewer, "topic:orders", f"topic-page-{orders.pk}")
    await look(1, {"topic-page": [orders.pk]}, partitions=[[orders.pk, [0, 1]]])

    assert 'id="live-resync"' in await page.receive_text()
    await page.disconnect()


async def test_a_list_with_other_rows_is_told_to_fetch_itself(viewer, orders):
    topics, consumers = await open_page(viewer, "topics"), await open_page(viewer, "consumers")
    await look(1, {}, pages=["topics"])
    await look(1, {}, pages=["consumers"], tier="groups")

    assert 'id="live-resync"' in await topics.receive_text()
    assert 'id="live-resync"' in await consumers.receive_text()
    await topics.disconnect()
    await consumers.disconnect()


async def test_a_missed_look_makes_every_page_fetch_itself(viewer, orders):
    page = await open_page(viewer, "placement", f"placement-row-{orders.pk}")
    await look(7, {})
    await look(8, {})
    await look(10, {})
    await look(3, {}, tier="groups")
    await look(4, {"placement-row": [orders.pk]}, tier="groups")
    received = [await page.receive_text(), await page.receive_text()]

    assert sum("live-resync" in item for item in received) == 1
    assert sum(f'id="placement-row-{orders.pk}"' in item for item in received) == 1
    await page.disconnect()


async def test_a_list_sorted_by_what_changes_comes_into_order_again(viewer, orders, monkeypatch):
    monkeypatch.setattr(feed, "ORDER_SECONDS", 0.0)
    sorted_by_name = await open_page(viewer, "topics", f"topic-row-{orders.pk}")
    sorted_by_rate = await open_page(viewer, "topics", f"topic-row-{orders.pk}", moves=True)
    await look(1, {"topic-row": [orders.pk]})
    by_rate = [await sorted_by_rate.receive_text(), await sorted_by_rate.receive_text()]

    assert "live-resync" not in await sorted_by_name.receive_text()
    assert sum("live-resync" in item for item in by_rate) == 1
    await sorted_by_name.disconnect()
    await sorted_by_rate.disconnect()


async def test_a_row_that_changed_while_the_page_was_drawn_is_sent_when_it_is_shown(viewer, orders):
    page = await open_page(viewer, "topics", "topic-row-999999")
    await look(1, {"topic-row": [orders.pk]})
    await look(2, {}, pages=["topics"])
    assert "live-resync" in await page.receive_text()
    await page.send_text(json.dumps({"rows": [f"topic-row-{orders.pk}"]}))

    assert f'id="topic-row-{orders.pk}"' in await page.receive_text()
    await page.disconnect()


async def test_a_feed_without_pages_listens_to_nothing(viewer, orders):
    page = await open_page(viewer, "topics", f"topic-row-{orders.pk}")
    assert groups.CHANGES in get_channel_layer().groups
    await page.disconnect()

    assert not feed.feed_here()._tasks
    assert watched_pages() == {}


async def test_a_look_that_cannot_be_rendered_costs_a_fetch_and_not_the_feed(viewer, orders, monkeypatch):
    monkeypatch.setattr(feed, "RETRY_SECONDS", 0.0)
    render = shown_rows.render_rows
    calls = []

    def fail_once(*those):
        calls.append(those)
        if len(calls) == 1:
            raise OSError("the database is locked")
        return render(*those)

    monkeypatch.setattr(feed, "render_rows", fail_once)
    page = await open_page(viewer, "topics", f"topic-row-{orders.pk}")
    await look(1, {"topic-row": [orders.pk]})
    assert "live-resync" in await page.receive_text()
    await look(2, {"topic-row": [orders.pk]})

    assert f'id="topic-row-{orders.pk}"' in await page.receive_text()
    await page.disconnect()

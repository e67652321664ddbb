"""Changed rows and people with exceptions: what is out of reach is not sent, whatever a page says it shows."""

import pytest
from asgiref.sync import sync_to_async

from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup
from tests.console.live_pages import look, make_topic, open_page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def orders(db) -> Topic:
    return make_topic("orders")


async def test_a_row_out_of_reach_is_not_sent_whatever_a_page_says_it_shows(limited, viewer, orders):
    hidden = await sync_to_async(make_topic)("secret-plans")
    rows = [f"topic-row-{orders.pk}", f"topic-row-{hidden.pk}", f"topic-page-{hidden.pk}"]
    page, full = await open_page(limited, "topics", *rows), await open_page(viewer, "topics", *rows[:2])
    keys = [orders.pk, hidden.pk]
    await look(1, {"topic-row": keys, "topic-page": keys}, partitions=[[hidden.pk, [0]]])
    seen, all_of_it = await page.receive_text(), await full.receive_text()

    assert "orders" in seen
    assert "secret" not in seen
    assert "secret-plans" in all_of_it
    await look(2, {"topic-row": [orders.pk]})
    assert "secret" not in await page.receive_text()
    await page.disconnect()
    await full.disconnect()


async def test_the_page_of_a_hidden_group_learns_nothing_of_its_changes(limited, db):
    hidden = await sync_to_async(ConsumerGroup.objects.create)(name="secret-readers", coordinator=1, verdict="ok")
    shown = await sync_to_async(ConsumerGroup.objects.create)(name="readers", coordinator=1, verdict="ok")
    page = await open_page(limited, "consumer-pages", f"group-page-{hidden.pk}", f"group-row-{shown.pk}")
    await look(1, {"group-page": [hidden.pk]}, tier="groups")
    await look(2, {"group-row": [shown.pk]}, tier="groups")

    assert f'id="group-row-{shown.pk}"' in await page.receive_text()
    await page.disconnect()

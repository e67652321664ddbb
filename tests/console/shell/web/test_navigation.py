"""The sidebar has few entries; the pages of one are tabs of each other."""

import pytest

from console.kit.features.declaration import SidebarEntry
from console.kit.features.marks import mark_of
from console.state.clusters.models import Broker

pytestmark = pytest.mark.django_db(databases="__all__")


def sidebar_of(page: str) -> str:
    return page[page.index('<aside class="sidebar">') : page.index("</aside>")]


def test_the_sidebar_has_at_most_fourteen_entries(administrator, client_of):
    page = client_of(administrator).get("/topics/").content.decode()
    assert 10 <= sidebar_of(page).count('<a href="') <= 14


def test_pages_of_an_entry_are_tabs_at_their_top_and_not_below(administrator, client_of):
    client = client_of(administrator)
    tabs = 'aria-label="Pages beside this one"'
    assert tabs in client.get("/quotas/").content.decode()
    assert tabs not in client.get("/quotas/+change/").content.decode()


def test_a_page_below_another_page_is_the_current_one_alone(administrator, client_of):
    page = client_of(administrator).get("/history/at/").content.decode()
    assert page.count('aria-current="page"') == 1
    assert ' aria-current="page">Time travel</a>' in page


def test_the_entries_of_what_a_person_may_not_see_are_not_there(viewer, client_of):
    page = client_of(viewer).get("/topics/").content.decode()
    assert "Console users" not in page
    assert "Read-only mode" not in page


def test_a_missing_broker_is_marked_on_every_page(viewer, client_of):
    Broker.objects.create(broker_id=1, host="a", port=1, is_registered=False)
    assert mark_of(SidebarEntry.BROKERS, viewer, ()).count == 1
    assert (
        'id="mark-brokers" class="count" data-live title="1 missing"'
        in client_of(viewer).get("/topics/").content.decode()
    )

"""A group's page shows what changed about the time when it fell behind, and changes link to their objects."""

import pytest

from console.state.consumers.models import ConsumerGroup
from console.state.history.links import address_of
from console.state.history.models import Change, ChangeKind

pytestmark = pytest.mark.django_db
HOUR = 3_600_000
BEGAN_MS = 1_790_000_000_000


def seen(kind: ChangeKind, name: str, sentence: str, at_ms: int = BEGAN_MS - 60_000) -> None:
    Change.objects.create(at_ms=at_ms, kind=kind, object_name=name, sentence=sentence, tone="plain")


@pytest.fixture
def billing():
    member = ["billing-1-x", "billing-1", "/127.0.0.1", "", 1]
    return ConsumerGroup.objects.create(
        name="billing", state="Stable", coordinator=1, verdict="lost records", member_count=1, topics=["orders"],
        members=[member], lost=7, lost_since_ms=BEGAN_MS, behind_since_ms=BEGAN_MS - 60_000,
    )  # fmt: skip


def panel(client) -> str:
    response = client.get("/consumers/billing/+changes/")
    assert response.status_code == 200
    return response.content.decode()


def test_settings_of_its_topics_and_quotas_of_its_clients_near_that_time_are_shown(billing, client_of, viewer):
    seen(ChangeKind.SETTINGS, "orders", "orders: retention.ms default → 120000")
    seen(ChangeKind.QUOTA, "client id billing-1", "Quota of client id billing-1")
    seen(ChangeKind.QUOTA, "user a, client id billing-1", "Quota of user a")
    seen(ChangeKind.SETTINGS, "clicks", "clicks: of another topic")
    seen(ChangeKind.QUOTA, "client id other", "Quota of another client")
    seen(ChangeKind.SETTINGS, "orders", "orders: long before", BEGAN_MS - 3 * HOUR)
    text = panel(client_of(viewer))
    for shown in ("retention.ms default", "Quota of client id billing-1", "Quota of user a"):
        assert shown in text
    for hidden in ("another", "long before"):
        assert hidden not in text
    assert 'href="/topics/orders/+settings/"' in text


def test_without_a_change_the_panel_says_so(billing, client_of, viewer):
    assert "No such change was seen within an hour" in panel(client_of(viewer))


def test_a_group_that_is_not_behind_shows_the_last_day(billing, client_of, viewer):
    ConsumerGroup.objects.update(verdict="ok", lost=0, lost_since_ms=None, behind_since_ms=None)
    assert "of the last day" in panel(client_of(viewer))


@pytest.mark.parametrize(
    ("kind", "name", "address"),
    [
        (ChangeKind.LEADER, "orders", "/topics/orders/"),
        (ChangeKind.GROUP, "billing", "/consumers/billing/"),
        (ChangeKind.BROKER, "broker-2", "/brokers/2/"),
        (ChangeKind.BROKER_SETTINGS, "broker-2", "/brokers/2/settings/"),
        (ChangeKind.BROKER_SETTINGS, "all brokers", ""),
        (ChangeKind.QUOTA, "client id mobile", "/quotas/?search=mobile"),
        (ChangeKind.PROCESS, "broker-1", "/processes/broker-1/"),
        (ChangeKind.SCHEMA, "subject other", ""),
        (ChangeKind.CONTROLLER, "controller", ""),
        ("action", "anything", ""),
    ],
)
def test_a_change_links_to_its_object(kind, name, address):
    assert address_of(kind, name) == address

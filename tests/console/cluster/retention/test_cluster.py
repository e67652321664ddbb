import csv
import re

import pytest

from console.cluster.retention.feature import LIVE_GROUP
from console.cluster.retention.models import DiskGrowth, TopicOutlook
from tests.manual_clock import ManualClock

DAY_MS = 86_400_000


@pytest.fixture(autouse=True)
def _topics(cluster, clock: ManualClock, collect):
    """`orders` keeps a day and has records of three days ago, of which `readers` has read two of five."""
    cluster.create_topic("orders", 2, 1, {"retention.ms": str(DAY_MS), "retention.bytes": "5000000"})
    cluster.create_topic("payments", 1, 1)
    cluster.create_topic("__internal", 1, 1)
    cluster.append("orders", 0, 5)
    cluster.commit("readers", "orders", 0, 2)
    clock.advance(3 * DAY_MS)
    cluster.append("orders", 0, 1)
    collect()
    collect()


def page(client_of, user, query: str = "") -> str:
    return client_of(user).get(f"/retention/{query}").content.decode().replace("\u202f", " ")


def names(text: str) -> list[str]:
    return re.findall(r'<a href="/topics/([\w.]+)/\+retention/"', text)


def test_the_page_says_what_goes_now_and_who_loses_by_it(viewer, client_of):
    text = page(client_of, viewer)

    assert names(text) == ["orders", "payments"]
    assert "5 records</span>" in text
    assert "500 B" in text
    assert "3 of readers" in text
    assert "5 MB" in text
    assert "nothing</span>" in text


def test_the_oldest_record_of_all_partitions_is_named(clock):
    assert TopicOutlook.objects.get(topic__name="orders").oldest_age_ms is not None
    assert clock.now_ms() - TopicOutlook.objects.get(topic__name="orders").oldest_at_ms == 3 * DAY_MS
    assert TopicOutlook.objects.get(topic__name="payments").oldest_at_ms is None


@pytest.mark.parametrize(
    ("query", "first"),
    [("?sort=name", "orders"), ("?sort=-name", "payments"), ("?sort=-lost", "orders"), ("?sort=oldest", "orders")],
)
def test_every_column_sorts_in_the_database(query, first, viewer, client_of):
    assert names(page(client_of, viewer, query))[0] == first


@pytest.mark.parametrize("query", ["?sort=nonsense&page=x", "?page=99999999999999999999", "?sort=-"])
def test_nonsense_in_the_address_shows_the_list(query, viewer, client_of):
    assert set(names(page(client_of, viewer, query))) == {"orders", "payments"}


def test_search_and_the_switch_choose_topics(viewer, client_of):
    assert names(page(client_of, viewer, "?search=pay")) == ["payments"]
    assert "__internal" in names(page(client_of, viewer, "?internal=on"))
    assert "No topic's name contains “nothing”." in page(client_of, viewer, "?search=nothing")


def test_the_file_holds_what_the_page_chooses(viewer, client_of):
    response = client_of(viewer).get("/retention/?format=csv&search=ord")
    (values,) = csv.DictReader(b"".join(response.streaming_content).decode().splitlines())

    assert (values["topic"], values["records_deleted_now"], values["unread_records_lost"]) == ("orders", "5", "3")
    assert values["losing_groups"] == "readers"


def test_an_outsider_sees_nothing(outsider, client_of):
    response = client_of(outsider).get("/retention/")

    assert response.status_code == 403
    assert b"orders" not in response.content


def test_a_cluster_that_cannot_preview_shows_the_rest(cluster, clock, collect, viewer, client_of, monkeypatch):
    from console.kit.gateway.errors import GatewayError

    def refuse(_):
        raise GatewayError("These brokers cannot preview retention: only Barnabas brokers can.")

    monkeypatch.setattr(cluster, "retention_outlook", refuse)
    clock.advance(60_000)
    collect()

    assert TopicOutlook.objects.get(topic__name="orders").doomed_records is None
    assert TopicOutlook.objects.get(topic__name="orders").oldest_at_ms is not None
    assert names(page(client_of, viewer)) == ["orders", "payments"]


def test_topics_never_looked_at_come_first_and_the_rest_in_turn(cluster, clock, collector, monkeypatch):
    monkeypatch.setattr("console.cluster.retention.collect.TOPICS_PER_LOOK", 1)
    clock.advance(60_000)
    cluster.create_topic("young", 1, 1)
    collector.collect_topics()
    looked_at = []
    for _ in range(5):
        before = clock.now_ms()
        collector.look("retention")
        clock.advance(1)
        looked_at += TopicOutlook.objects.filter(at_ms=before).values_list("topic__name", flat=True)

    assert looked_at == ["young", "__internal", "orders", "payments"]


def test_a_disk_says_when_it_is_full(cluster, clock, collector, viewer, client_of):
    cluster.brokers.usable_bytes[1] = 500_000_000
    collector.look("sizes")
    collector.look("retention")
    clock.advance(100_000)
    cluster.brokers.usable_bytes[1] = 400_000_000
    collector.look("sizes")
    collector.look("retention")

    assert DiskGrowth.objects.get(broker_id=1).filling_per_second == 1_000_000
    text = page(client_of, viewer)
    assert "+1 MB/s" in text
    assert "6 min 40 s" in text
    assert "not filling" in text


@pytest.mark.usefixtures("listeners")
def test_a_look_pushes_rows_and_disks(cluster, clock, collector, monkeypatch):
    collector.look("sizes")
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr("console.cluster.retention.announce.send_now", sent.extend)
    clock.advance(60_000)
    collector.look("retention")

    pushed = [html for group, html in sent if group == LIVE_GROUP]
    assert any("retention-row-" in html for html in pushed)
    assert any('id="retention-disks"' in html for html in pushed)
    sent.clear()
    collector.look("retention")
    assert sent == []


def test_without_topics_and_disks_the_page_says_what_to_do(cluster, collect, viewer, operator, client_of):
    for name in ("orders", "payments", "__internal"):
        cluster.delete_topic(name)
    collect()

    assert "nothing to keep or delete" in page(client_of, viewer)
    assert "No broker has reported its disks yet." in page(client_of, viewer)
    assert "Create one" in page(client_of, operator)


def test_a_record_of_a_time_that_no_calendar_has_hides_no_topic(viewer, client_of):
    TopicOutlook.objects.filter(topic__name="orders").update(oldest_at_ms=2**62)
    assert names(page(client_of, viewer)) == ["orders", "payments"]
    assert str(2**62) in b"".join(client_of(viewer).get("/retention/?format=csv")).decode()

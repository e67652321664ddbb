from dataclasses import replace

import pytest

from console.state.clusters.models import Topic

ADDRESS = "/topics/orders/+retention/"


@pytest.fixture(autouse=True)
def _orders(cluster, collect, clock):
    """Two segments an hour apart, and a group that has read half of the older."""
    cluster.create_topic("orders", 1, 1, {"retention.ms": "86400000"})
    cluster.append("orders", 0, 1_000)
    clock.advance(3_600_000)
    cluster.append("orders", 0, 500)
    cluster.commit("billing", "orders", 0, 400)
    collect()


def page(client_of, user, query: str = "") -> str:
    return client_of(user).get(f"{ADDRESS}{query}").content.decode()


def test_now_nothing_goes_and_the_settings_are_shown_with_their_source(viewer, client_of):
    text = page(client_of, viewer)

    assert "Nothing: no segment is older than retention.ms" in text
    assert "86400000" in text
    assert "(1 d)" in text
    assert "Change retention" not in text


def test_a_shorter_time_shows_segments_bytes_records_and_the_new_start(viewer, client_of):
    text = page(client_of, viewer, "?retention_ms=600000")

    assert "1 of 2 segments · 1\u202f000 records · 100\u202fKB of 150\u202fKB" in text
    assert 'class="doomed"' in text
    assert "offsets 0 to 999" in text


def test_groups_with_unread_records_are_named(viewer, client_of):
    text = page(client_of, viewer, "?retention_ms=600000")

    assert "billing" in text
    assert '<td class="number critical">600</td>' in text


def test_a_size_limit_deletes_the_oldest_first(viewer, client_of):
    text = page(client_of, viewer, "?retention_bytes=50000")

    assert "1 of 2 segments" in text
    assert "retention.bytes</title>" in text


def test_a_preview_deletes_and_changes_nothing(cluster, viewer, client_of):
    page(client_of, viewer, "?retention_ms=1")

    assert {setting.name: setting.value for setting in cluster.topic_settings("orders")}["retention.ms"] == "86400000"
    assert cluster.preview_retention("orders", {}).partitions[0].segment_count == 2


def test_what_is_no_number_is_said_beside_the_field(viewer, client_of):
    response = client_of(viewer).get(f"{ADDRESS}?retention_ms=soon")

    assert response.status_code == 422
    assert b"A number, alone or with a unit (ms, s, min, h, d), -1 for no limit, or default." in response.content


def test_an_unreachable_cluster_is_told_and_the_page_stands(cluster, viewer, client_of):
    cluster.cut_off()

    assert "No broker answered in time." in page(client_of, viewer)


def test_a_partition_without_leader_says_why_it_was_not_asked(cluster, viewer, client_of):
    cluster.stop_broker(1)

    assert "there is no leader for this partition" in page(client_of, viewer)


def test_an_outsider_learns_nothing(outsider, client_of):
    response = client_of(outsider).get(ADDRESS)

    assert response.status_code == 403
    assert b"billing" not in response.content


def test_old_records_of_a_segment_that_is_written_to_are_told_of_though_nothing_goes_now(
    cluster, viewer, client_of, clock, monkeypatch
):
    """A segment that holds records of an hour, its newest written just now: retention deletes none of it yet."""
    monkeypatch.setattr("console.cluster.retention.outlook.now_ms", clock.now_ms)
    cluster.create_topic("clicks", 1, 1)
    cluster.produce_record("clicks", 0, None, b"old")
    clock.advance(3_600_000)
    cluster.produce_record("clicks", 0, None, b"young")
    cluster.join_segments("clicks", 0)
    cluster.commit("billing", "clicks", 0, 0)
    Topic.objects.create(name="clicks", partition_count=1)
    response = client_of(viewer).get("/topics/clicks/+retention/?retention_ms=60000")
    text = response.content.decode()

    assert response.context["then"].totals.records == 0
    assert [(symptom.cause, symptom.records, symptom.lost_records) for symptom in response.context["then"].later] == [
        ("overdue", 1, 1),
        ("silence", 2, 2),
    ]
    assert "nothing is written for 1\u202fmin: records that are older than that already" in text
    assert "segment.ms 604800000 (7 d)" in text
    assert "Nothing more goes this moment" in text
    assert response.context["plan"].typed_name == "clicks"


def test_an_estimate_is_told_as_such_and_the_change_is_offered(cluster, operator, client_of, monkeypatch):
    """Brokers that preview nothing: no segments are shown, and compaction that begins unseen wants the topic's name."""
    exact = cluster.preview_retention
    monkeypatch.setattr(cluster, "preview_retention", lambda *arguments: replace(exact(*arguments), is_estimate=True))
    response = client_of(operator).get(f"{ADDRESS}?retention_ms=600000")
    text = response.content.decode()

    assert "at most 1\u202f000 records" in text
    assert "These brokers preview no retention." in text
    assert "Segments go" not in text
    assert "Change retention" in text
    assert client_of(operator).get(f"{ADDRESS}?cleanup_policy=compact").context["plan"].typed_name == "orders"

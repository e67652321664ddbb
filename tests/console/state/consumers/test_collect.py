"""The collector looking at the groups of a cluster in memory: rows, lags in time, verdicts, the past, pushes."""

import csv
import io

import pytest

from console.cluster.charts.measures import GROUP
from console.cluster.charts.readings import readings
from console.kit.access.reach import EVERYTHING
from console.shell.collector.collector import Collector
from console.signals.overview.client_reasons import group_reasons
from console.signals.overview.facts import troubled_groups
from console.state.clusters.models import Topic
from console.state.clusters.queries import cluster_state
from console.state.consumers.collect import SAMPLE_INTERVAL_MS, SAMPLES_KEPT_MS
from console.state.consumers.models import ConsumerGroup, GroupPartition, LagSample
from console.state.consumers.watch import FORGET_AFTER_MS

ORDERS = ("orders", 0)


@pytest.fixture(autouse=True)
def _orders(cluster):
    cluster.create_topic("orders", 2, 2, {"retention.ms": "3600000"})


def group() -> ConsumerGroup:
    return ConsumerGroup.objects.get(name="readers")


@pytest.fixture
def look(collector):
    """One look at topics and groups."""

    def at_groups() -> None:
        collector.collect_topics()
        collector.look("groups")

    return at_groups


@pytest.fixture
def reasons(clock, monkeypatch):
    """What the overview says of groups."""
    for room in ("console.signals.overview.facts", "console.state.consumers.models", "console.state.consumers.queries"):
        monkeypatch.setattr(f"{room}.now_ms", clock.now_ms)
    return lambda: list(group_reasons(*troubled_groups(EVERYTHING)))


def place_end(cluster) -> int:
    return cluster.groups.bounds([ORDERS])[ORDERS].next


def place(partition: int = 0) -> GroupPartition:
    return GroupPartition.objects.get(topic="orders", partition=partition)


def test_a_group_is_stored_with_members_and_lag(cluster, collect):
    cluster.append("orders", 0, 100)
    cluster.groups.join("readers", "app-1", ORDERS, ("orders", 1))
    cluster.commit("readers", "orders", 0, 60)
    collect()

    seen = group()
    assert (seen.state, seen.member_count, seen.topics, seen.partition_count) == ("Stable", 1, ["orders"], 2)
    assert seen.lag == 40
    (member,) = seen.member_rows
    assert member[:5] == ("app-1", "app", "127.0.0.1", "", 2)
    assert member.assigned == (("orders", "0-1"),)
    assert (place().committed, place().next_offset, place().lag, place().member_id) == (60, 100, 40, "app-1")
    assert (place(1).committed, place(1).lag, place(1).verdict) == (None, 0, "ok")
    assert cluster_state().groups_at_ms > 0


def test_a_lag_in_time_is_read_from_how_the_log_grew(cluster, collect, clock):
    cluster.commit("readers", "orders", 0, 0)
    collect()
    start_ms = clock.now_ms()
    for _ in range(4):
        clock.advance(10_000)
        cluster.append("orders", 0, 100)
        collect()
    cluster.commit("readers", "orders", 0, 250)
    collect()

    assert place().lag == 150
    assert place().behind_since_ms == start_ms + 25_000


def test_a_lag_older_than_our_samples_is_dated_by_the_record_itself(cluster, collect, clock):
    cluster.append("orders", 0, 100)
    written_ms = clock.now_ms()
    cluster.commit("readers", "orders", 0, 60)
    clock.advance(600_000)
    collect()

    assert place().behind_since_ms == written_ms
    assert place().expires_at_ms == written_ms + 3_600_000
    assert group().expires_at_ms == written_ms + 3_600_000


def test_nothing_but_markers_of_transactions_is_no_lag(cluster, collect, clock):
    cluster.append("orders", 0, 10)
    cluster.groups.append_marker("orders", 0)
    cluster.commit("readers", "orders", 0, 10)
    collect()
    clock.advance(5_000)
    collect()
    assert (place().lag, place().verdict, place().next_offset) == (0, "ok", 11)

    cluster.append("orders", 0, 1)
    clock.advance(5_000)
    collect()
    assert place().lag == 2


def test_a_record_behind_a_marker_waits_since_itself_and_not_since_the_marker(cluster, collect, clock):
    cluster.append("orders", 0, 10)
    cluster.commit("readers", "orders", 0, 10)
    collect()
    clock.advance(10_000)
    cluster.groups.append_marker("orders", 0)
    collect()
    clock.advance(600_000)
    collect()
    cluster.append("orders", 0, 1)
    clock.advance(10_000)
    collect()
    clock.advance(10_000)
    collect()

    assert clock.now_ms() - place().behind_since_ms <= 20_000


def test_a_commit_newer_than_the_known_end_is_no_error_and_an_end_gone_back_is(cluster, collect, collector, clock):
    cluster.append("orders", 0, 10)
    cluster.commit("readers", "orders", 0, 5)
    collect()
    cluster.append("orders", 0, 10)
    cluster.commit("readers", "orders", 0, 20)
    collector.look("groups")
    assert (place().lag, place().verdict) == (0, "ok")

    clock.advance(2_000)
    collect()
    assert (place().committed, place().next_offset, place().verdict) == (20, 20, "ok")

    cluster.delete_topic("orders")
    cluster.create_topic("orders", 2, 2)
    clock.advance(2_000)
    collect()
    assert place().verdict == "beyond the end"


def test_a_group_that_stopped_is_told_from_a_quiet_one(cluster, collect, clock):
    cluster.groups.join("readers", "app-1", ORDERS)
    for offset in (10, 20, 30):
        cluster.append("orders", 0, 10)
        cluster.commit("readers", "orders", 0, offset)
        clock.advance(5_000)
        collect()
    clock.advance(600_000)
    collect()
    assert place().verdict == "ok"

    cluster.append("orders", 0, 1)
    clock.advance(2_000)
    collect()
    assert (place().lag, place().verdict) == (1, "ok")

    clock.advance(120_000)
    collect()
    assert (place().verdict, group().severity > 0) == ("stopped", True)


def test_a_stall_is_seen_in_the_commits_and_not_in_the_offsets(cluster, look, clock):
    cluster.groups.join("readers", "app-1", ORDERS)
    cluster.append("orders", 0, 100)
    for _ in range(14):
        cluster.commit("readers", "orders", 0, 10)
        clock.advance(10_000)
        look()

    assert place().verdict == "stalled"


def test_a_group_that_falls_behind_is_in_trouble_everywhere(cluster, look, clock, reasons, viewer, client_of):
    """It commits every ten seconds, and now and then more than what came."""
    cluster.groups.join("readers", "app-1", ORDERS)
    read = 0
    for round_number in range(60):
        cluster.append("orders", 0, 40)
        read += 120 if round_number % 10 == 9 else 20
        cluster.commit("readers", "orders", 0, read)
        clock.advance(10_000)
        look()

    assert (group().verdict, group().trend.value) == ("slow", "growing")
    client = client_of(viewer)
    assert [item.name for item in client.get("/consumers/?bad=on").context["page"]] == ["readers"]
    assert [reason.text for reason in reasons()] == [
        "Group readers does not get on (slow): it is behind, and does not read faster than records arrive."
    ]
    (row,) = csv.DictReader(io.StringIO(b"".join(client.get("/consumers/?format=csv").streaming_content).decode()))
    assert (row["verdict"], row["trend"]) == ("slow", "growing")
    assert float(row["lag_change_per_second"]) > 0


def test_a_group_whose_members_left_is_called_abandoned(cluster, look, clock, reasons):
    cluster.groups.join("readers", "app-1", ORDERS)
    cluster.append("orders", 0, 10)
    cluster.commit("readers", "orders", 0, 10)
    cluster.groups.leave("readers", "app-1")
    look()
    for _ in range(20):
        cluster.append("orders", 0, 1_500)
        clock.advance(10_000)
        look()

    assert (group().verdict, group().trend.value) == ("abandoned", "growing")
    (reason,) = reasons()
    assert reason.text.replace("\u202f", ",") == "Group readers has no members and 30,000 unread records."


def test_a_group_that_never_commits_is_in_trouble_after_five_minutes_also_over_a_restart(
    cluster, zookeeper, collect, clock
):
    cluster.append("orders", 0, 100)
    cluster.groups.join("readers", "app-1", ORDERS)
    collect()
    assert place().verdict == "unknown"

    clock.advance(200_000)
    again = Collector(cluster, lambda: list(zookeeper), clock.now_ms)
    again.collect_topics()
    again.look("groups")
    clock.advance(200_000)
    again.collect_topics()
    again.look("groups")
    assert (place().verdict, place().behind_since_ms) == ("no commit", clock.now_ms() - 400_000)


def test_a_partition_that_has_nothing_new_is_no_trouble_for_who_began_at_its_end(cluster, look, clock):
    cluster.append("orders", 0, 100)
    cluster.append("orders", 1, 100)
    cluster.groups.join("readers", "app-1", ORDERS, ("orders", 1))
    for _ in range(20):
        cluster.append("orders", 0, 1)
        cluster.commit("readers", "orders", 0, place_end(cluster))
        clock.advance(30_000)
        look()
    assert (place(1).committed, place(1).verdict, group().verdict) == (None, "unknown", "unknown")

    cluster.append("orders", 1, 1)
    for _ in range(12):
        clock.advance(30_000)
        look()
    assert place(1).verdict == "no commit"


def test_trouble_stays_trouble_when_the_collector_starts_again(cluster, zookeeper, look, clock):
    cluster.groups.join("readers", "app-1", ORDERS)
    cluster.append("orders", 0, 100)
    cluster.commit("readers", "orders", 0, 10)
    for _ in range(15):
        look()
        clock.advance(10_000)
    assert place().verdict == "stopped"

    again = Collector(cluster, lambda: list(zookeeper), clock.now_ms)
    again.collect_topics()
    again.look("groups")
    assert place().verdict == "stopped"


def test_commits_within_a_second_and_an_older_answer_do_not_make_a_group_go_back(cluster, look, clock, monkeypatch):
    cluster.groups.join("readers", "app-1", ORDERS)
    cluster.append("orders", 0, 200)
    look()
    for offset in (100, 105, 110, 120):
        clock.advance(900)
        cluster.commit("readers", "orders", 0, offset)
    answer = cluster.groups.describe()
    clock.advance(10)
    cluster.commit("readers", "orders", 0, 130)
    monkeypatch.setattr(cluster.groups, "describe", lambda: answer)
    for _ in range(40):
        clock.advance(5_000)
        look()
        assert place().verdict != "went back"


def test_a_deleted_group_goes_and_one_with_a_silent_coordinator_stays(cluster, collect, clock):
    cluster.commit("readers", "orders", 0, 0)
    collect()
    cluster.stop_broker(group().coordinator)
    clock.advance(60_000)
    collect()
    assert ConsumerGroup.objects.filter(name="readers", is_silent=True).exists()

    cluster.start_broker(group().coordinator)
    collect()
    assert not group().is_silent
    cluster.groups.delete_group("readers")
    collect()
    assert ConsumerGroup.objects.exists()
    clock.advance(FORGET_AFTER_MS)
    collect()
    assert not ConsumerGroup.objects.exists()
    assert not GroupPartition.objects.exists()


def test_offsets_that_expired_leave_the_table(cluster, collect):
    cluster.commit("readers", "orders", 0, 0)
    cluster.commit("readers", "orders", 1, 0)
    collect()
    cluster.groups.delete_offsets("readers", [ORDERS])
    collect()

    assert list(GroupPartition.objects.values_list("partition", flat=True)) == [1]


def test_a_second_look_at_the_same_writes_nothing(cluster, collector, collect, django_assert_max_num_queries):
    cluster.append("orders", 0, 100)
    cluster.commit("readers", "orders", 0, 60)
    collect()
    collect()

    with django_assert_max_num_queries(1):
        collector.look("groups")


def test_a_collector_that_starts_again_goes_on_from_the_rows(cluster, zookeeper, collect, clock):
    cluster.append("orders", 0, 100)
    cluster.commit("readers", "orders", 0, 60)
    collect()
    key = group().pk
    second = Collector(cluster, lambda: list(zookeeper), clock.now_ms)
    second.collect_topics()
    cluster.groups.delete_group("readers")
    cluster.commit("others", "orders", 0, 60)
    clock.advance(FORGET_AFTER_MS)
    second.look("groups")

    assert list(ConsumerGroup.objects.values_list("name", flat=True)) == ["others"]
    assert not ConsumerGroup.objects.filter(pk=key).exists()


def test_the_past_is_sampled_when_it_changes_and_forgotten_in_time(cluster, collect, clock):
    cluster.commit("readers", "orders", 0, 0)
    clock.advance(SAMPLE_INTERVAL_MS)
    for records in (0, 0, 30, 0):
        if records:
            cluster.append("orders", 0, records)
        collect()
        clock.advance(SAMPLE_INTERVAL_MS)
    assert list(LagSample.objects.values_list("lag", flat=True)) == [0, 30]

    clock.advance(SAMPLES_KEPT_MS + 1)
    collect()
    assert [sample.at_ms for sample in LagSample.objects.all()] == [clock.now_ms()]


def test_the_lag_of_a_group_without_members_and_offsets_is_not_known(cluster, collect, clock):
    """There is nothing that it is counted from: the group may begin at either end of what it reads."""
    cluster.append("orders", 0, 100)
    cluster.groups.join("readers", "app-1")
    collect()
    assert group().lag is None
    assert list(LagSample.objects.values_list("lag", flat=True)) == [None]
    assert group_readings(clock) == (None, None, None, 1)


def test_the_lag_of_a_group_is_not_0_while_it_is_known_in_some_partitions_only(cluster, collect):
    cluster.commit("readers", "orders", 0, 0)
    cluster.commit("readers", "gone", 0, 5)
    collect()
    assert (place().lag, group().lag) == (0, None)
    cluster.append("orders", 0, 7)
    collect()
    assert group().lag == 7, "at least"


def test_nothing_is_charted_of_a_group_whose_coordinator_does_not_answer(cluster, collect, clock):
    cluster.append("orders", 0, 100)
    cluster.commit("readers", "orders", 0, 60)
    collect()
    assert group_readings(clock)[0] == 40
    ConsumerGroup.objects.update(is_silent=True)
    assert group_readings(clock) == (None, None, None, None)


def group_readings(clock) -> tuple:
    return next(reading.values for reading in readings(clock.now_ms()) if reading.kind == GROUP)


def test_an_unreachable_cluster_keeps_the_rows_and_says_why(cluster, collector, collect):
    cluster.commit("readers", "orders", 0, 0)
    collect()
    cluster.cut_off()
    with pytest.raises(Exception, match="No broker answered"):
        collector.look("groups")
    collector.tier_looks["groups"].failed("No broker answered in time.")

    assert group()
    assert cluster_state().groups_error == "No broker answered in time."


def rows_of_groups(sent: list[dict]) -> dict:
    """The newest look at the groups."""
    return [item for item in sent if item["tier"] == "groups"][-1]["rows"]


@pytest.mark.usefixtures("listeners")
def test_a_moved_lag_tells_of_the_group_and_of_the_topic_it_reads(cluster, collect, monkeypatch):
    cluster.commit("readers", "orders", 0, 0)
    collect()
    sent: list[dict] = []
    monkeypatch.setattr("console.kit.live.changes.send_message", lambda _group, message: sent.append(message))
    collect()
    assert rows_of_groups(sent) == {"group-row": [], "group-page": [], "topic-row": [], "topic-head": []}

    cluster.append("orders", 0, 7)
    collect()
    key, topic = group().pk, Topic.objects.get(name="orders").pk
    assert rows_of_groups(sent) == {
        "group-row": [key],
        "group-page": [key],
        "topic-row": [topic],
        "topic-head": [topic],
    }


def test_a_group_with_a_name_too_long_to_store_does_no_harm_to_others(cluster, collect):
    cluster.commit("x" * 1_025, "orders", 0, 0)
    cluster.commit("readers", "orders", 0, 0)
    collect()

    assert list(ConsumerGroup.objects.values_list("name", flat=True)) == ["readers"]


@pytest.mark.usefixtures("listeners")
def test_a_new_group_tells_the_list_to_look_again(cluster, collect, monkeypatch):
    sent: list[dict] = []
    monkeypatch.setattr("console.kit.live.changes.send_message", lambda _group, message: sent.append(message))
    cluster.commit("readers", "orders", 0, 0)
    collect()

    assert sent[-1]["pages"] == ["consumers", "consumer-pages"]


def test_a_commit_beyond_an_end_that_a_dead_leader_told_is_no_alarm(cluster, look, clock):
    """Its leader answers no more, and the commit was made before it died."""
    cluster.create_topic("lonely", 1, 1)
    cluster.append("lonely", 0, 100)
    cluster.commit("others", "lonely", 0, 100)
    cluster.commit("readers", "lonely", 0, 100)
    look()
    (leader,) = (topic.partitions[0].leader for topic in cluster.describe_topics() if topic.name == "lonely")
    seen = GroupPartition.objects.exclude(group__coordinator=leader).filter(topic="lonely").first()
    cluster.stop_broker(leader)
    cluster.commit(seen.group.name, "lonely", 0, 150)
    for _ in range(5):
        clock.advance(1_000)
        look()
        seen.refresh_from_db()
        assert (seen.committed, seen.verdict, seen.lag) == (150, "ok", 0)


def test_a_commit_beyond_an_end_that_the_leader_tells_is_one(cluster, look, clock):
    cluster.append("orders", 0, 100)
    cluster.commit("readers", "orders", 0, 150)
    for _ in range(3):
        look()
        clock.advance(1_000)
    assert place().verdict == "beyond the end"


@pytest.mark.parametrize("offset", [0, 50, 100])
def test_a_reset_by_the_console_is_no_sign_of_life(offset, cluster, collect, clock):
    """A batch that committed once, and whose offset is set to the start, between, and to the end of the log."""
    cluster.create_topic("bills", 1, 1)
    cluster.append("bills", 0, 60)
    cluster.groups.join("nightly", "n-1", ("bills", 0))
    collect()
    cluster.groups.commit("nightly", "bills", 0, 60)
    cluster.groups.leave("nightly", "n-1")
    verdicts = []
    for minute in range(40):
        if minute == 8:
            cluster.groups.commit_offsets("nightly", {("bills", 0): offset})
        cluster.append("bills", 0, 5)
        clock.advance(60_000)
        collect()
        verdicts.append(ConsumerGroup.objects.get(name="nightly").verdict)
    assert set(verdicts[5:8]) == {"abandoned"}
    assert set(verdicts[12:]) == {"abandoned"}

"""The collector on a cluster in memory: what it writes, what it pushes, and what a failure leaves behind."""

import logging
import threading

import pytest

from console.kit.gateway.errors import ClusterUnreachableError
from console.kit.live import groups
from console.kit.live.idle_pace import IdlePace
from console.shell.collector.collector import Collector, CollectorThread, run_collector
from console.signals.overview.queries import overview_facts
from console.state.clusters.models import Broker, ClusterState, Partition, Topic
from console.state.clusters.queries import cluster_state
from console.state.consumers.tiers import TierLook
from console.state.history.models import Change
from tests.fakes.gateway import RECORD_BYTES, FakeGateway


@pytest.fixture
def pushed(monkeypatch):
    """Everything pushed, as (group, html); cleared by the test between steps."""
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr("console.shell.collector.announce.send_now", sent.extend)
    return sent


@pytest.fixture
def looks_pushed(monkeypatch) -> list[dict]:
    """What is said of looks at the topics, oldest first."""
    messages: list[dict] = []

    def keep(_group: str, message: dict) -> None:
        if message["tier"] == "topics":
            messages.append(message)

    monkeypatch.setattr("console.kit.live.changes.send_message", keep)
    return messages


def html_for(pushed, group: str) -> str:
    return "\n".join(html for name, html in pushed if name == group)


def test_a_look_stores_brokers_topics_and_partitions(cluster, collect):
    cluster.create_topic("orders", 3, 2)
    cluster.append("orders", 1, 40)
    collect()

    state = cluster_state()
    assert (state.cluster_id, state.controller_id) == ("fake-cluster", 1)
    assert state.zookeeper[0]["mode"] == "standalone"
    topic = Topic.objects.get()
    assert (topic.name, topic.partition_count, topic.replication_factor, topic.record_count) == ("orders", 3, 2, 40)
    assert list(topic.partitions.values_list("next_offset", flat=True)) == [0, 40, 0]
    assert Broker.objects.filter(is_registered=True).count() == 3


def test_a_sign_of_life_is_drawn_while_a_page_is_open_and_for_nobody_else(collector, pushed, clock):
    is_open: list[bool] = []
    collector.attention = IdlePace(lambda: is_open[-1])
    for page, signs in ((False, 0), (True, 1), (True, 1), (False, 0)):
        is_open.append(page)
        clock.advance(1_000)
        collector.beat()
        assert [group for group, _ in pushed] == [groups.HEARTBEAT] * signs
        assert cluster_state().heartbeat_at_ms == clock.now_ms()
        pushed.clear()


def test_leader_and_replica_counts_of_brokers_follow_the_topics(cluster, collect):
    cluster.create_topic("orders", 3, 2)
    collect()
    collect()

    counts = Broker.objects.values_list("broker_id", "leader_count", "replica_count", "out_of_sync_count")
    assert list(counts) == [(1, 1, 2, 0), (2, 1, 2, 0), (3, 1, 2, 0)]


def test_growth_becomes_records_per_second(cluster, collect, clock):
    cluster.create_topic("orders", 2, 1)
    collect()
    cluster.append("orders", 0, 30)
    clock.advance(2_000)
    collect()

    assert Partition.objects.get(partition=0).records_per_second == 15.0
    assert Topic.objects.get().records_per_second == 15.0
    assert cluster_state().records_per_second == 15.0
    assert cluster_state().rate_history == [15.0]


@pytest.mark.usefixtures("listeners")
def test_a_changed_topic_is_told_of_with_its_changed_partitions_only(cluster, collect, clock, looks_pushed):
    cluster.create_topic("orders", 3, 1)
    collect()
    clock.advance(1_000)
    collect()
    cluster.append("orders", 2, 5)
    clock.advance(1_000)
    collect()

    key = Topic.objects.get().pk
    assert looks_pushed[-1]["rows"] == {
        "topic-row": [key],
        "topic-page": [key],
        "topic-head": [key],
        "placement-row": [],
    }
    assert looks_pushed[-1]["partitions"] == [(key, [2])]
    assert looks_pushed[-1]["pages"] == []


@pytest.mark.usefixtures("listeners")
def test_every_look_is_told_of_and_numbered_also_a_quiet_one(cluster, collect, looks_pushed):
    cluster.create_topic("orders", 3, 1)
    for _ in range(3):
        collect()

    first = looks_pushed[0]["number"]
    assert [item["number"] for item in looks_pushed] == [first, first + 1, first + 2]


def test_a_quiet_cluster_pushes_nothing(cluster, collector, clock, pushed):
    cluster.create_topic("orders", 3, 1)
    for _ in range(3):
        collector.collect_cluster()
        collector.collect_topics()
        clock.advance(1_000)
    pushed.clear()
    collector.collect_cluster()

    assert pushed == []


@pytest.mark.usefixtures("listeners")
def test_a_new_topic_makes_the_lists_fetch_themselves(cluster, collect, looks_pushed):
    cluster.create_topic("orders", 1, 1)
    collect()

    assert looks_pushed[0]["pages"] == ["topics", "placement"]


@pytest.mark.usefixtures("listeners")
def test_a_deleted_topic_is_gone_and_its_page_is_told(cluster, collect, looks_pushed):
    cluster.create_topic("orders", 1, 1)
    collect()
    cluster.delete_topic("orders")
    collect()

    assert not Topic.objects.exists()
    assert "topic:orders" in looks_pushed[-1]["pages"]


def test_a_topic_created_again_under_its_name_replaces_the_old_one(cluster, collect):
    cluster.create_topic("orders", 3, 1)
    cluster.append("orders", 0, 9)
    collect()
    cluster.delete_topic("orders")
    cluster.create_topic("orders", 1, 1)
    collect()

    assert list(Partition.objects.values_list("partition", "next_offset")) == [(0, 0)]


@pytest.mark.usefixtures("listeners")
def test_a_missing_broker_reaches_the_overview_with_its_consequences(cluster, collect, pushed):
    cluster.create_topic("orders", 3, 1)
    collect()
    pushed.clear()
    cluster.stop_broker(2)
    collect()

    assert "Broker 2 is not registered: 1 partition of orders has no leader." in html_for(
        pushed, groups.CLUSTER_OVERVIEW
    )
    assert Partition.objects.get(partition=1).leader is None
    assert Partition.objects.get(partition=1).next_offset == 0


def test_brokers_that_come_go_or_answer_again_are_news_and_nothing_else(cluster, collector, monkeypatch):
    messages: list[bool] = []
    monkeypatch.setattr(collector._pages, "cluster_changed", lambda is_news=True: messages.append(is_news))

    def look() -> bool:
        CollectorThread("brokers", 1, collector.collect_cluster, collector.cluster_failed).run_once()
        return messages[-1]

    assert look()
    assert not look()
    cluster.stop_broker(2)
    assert look()
    assert not look()
    cluster.cut_off()
    assert look()
    assert look()
    cluster.cut_off(False)
    assert look()
    assert not look()


def test_an_unreachable_cluster_keeps_the_last_good_rows_with_their_age(cluster, collector, collect, clock):
    cluster.create_topic("orders", 3, 1)
    collect()
    good_at_ms = clock.now_ms()
    cluster.cut_off()
    clock.advance(30_000)
    CollectorThread("brokers", 1, collector.collect_cluster, collector.cluster_failed).run_once()
    CollectorThread("topics", 1, collector.collect_topics, collector.topics_failed).run_once()
    collector.beat()

    state = cluster_state()
    assert (state.brokers_at_ms, state.topics_at_ms) == (good_at_ms, good_at_ms)
    assert state.heartbeat_at_ms == good_at_ms + 30_000
    assert state.brokers_error == state.topics_error == "No broker answered in time."
    assert Topic.objects.count() == 1


def test_the_error_goes_when_the_cluster_answers_again(cluster, collector, collect):
    cluster.cut_off()
    tier = CollectorThread("brokers", 1, collector.collect_cluster, collector.cluster_failed)
    tier.run_once()
    cluster.cut_off(False)
    tier.run_once()

    assert cluster_state().brokers_error == ""


@pytest.mark.django_db
def test_the_same_error_is_logged_once(caplog):
    def fail() -> None:
        raise OSError("no route to host")

    tier = CollectorThread("brokers", 1, fail)
    with caplog.at_level(logging.INFO):
        for _ in range(5):
            tier.run_once()

    assert [record.getMessage() for record in caplog.records] == ["brokers: no route to host"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (KeyError("secret-plans"), "The collector's look failed (KeyError): see its log."),
        (ClusterUnreachableError("No broker answered in time."), "No broker answered in time."),
    ],
)
def test_an_unforeseen_error_that_names_a_topic_is_in_the_log_and_on_no_page(error, shown, caplog):
    def fail() -> None:
        raise error

    stored: list[str] = []
    CollectorThread("topics", 1, fail, stored.append).run_once()

    assert stored == [shown]
    assert str(error) in caplog.text


@pytest.mark.django_db
def test_an_error_that_cannot_be_stored_does_not_end_the_tier(caplog):
    def fail(*_: object) -> None:
        raise RuntimeError("disk full")

    CollectorThread("brokers", 1, fail, fail).run_once()

    assert "the error could not be stored" in caplog.text


@pytest.mark.usefixtures("listeners")
def test_a_new_collector_goes_on_from_the_stored_rows(cluster, collect, zookeeper, clock, looks_pushed):
    cluster.create_topic("orders", 3, 1)
    collect()
    before = list(Topic.objects.values())
    Collector(cluster, lambda: zookeeper, clock.now_ms).collect_topics()

    assert (looks_pushed[-1]["rows"]["topic-row"], looks_pushed[-1]["pages"]) == ([], [])
    assert list(Topic.objects.values()) == before


@pytest.mark.parametrize(("cluster_id", "says"), [("another", "its id is another"), ("", "it tells no id")])
def test_another_cluster_at_the_same_address_is_refused_and_no_row_of_the_old_one_is_touched(
    cluster_id, says, cluster, collect, zookeeper, clock
):
    cluster.create_topic("orders", 3, 1)
    collect()
    brokers, changes = list(Broker.objects.values()), Change.objects.count()
    another = Collector(FakeGateway(1, cluster_id), lambda: zookeeper, clock.now_ms)
    CollectorThread("brokers", 1, another.collect_cluster, another.cluster_failed).run_once()

    state = ClusterState.objects.get()
    assert state.brokers_error.startswith(f"Another cluster answers: {says}, and what is kept here is of fake-cluster.")
    assert state.brokers_error.endswith("python -m console start_afresh main")
    assert (state.cluster_id, state.brokers_at_ms > 0) == ("fake-cluster", True)
    assert (list(Broker.objects.values()), Change.objects.count()) == (brokers, changes)


def test_a_cluster_that_never_told_an_id_is_compared_with_nothing(collect, zookeeper, clock):
    Collector(FakeGateway(1, ""), lambda: zookeeper, clock.now_ms).collect_cluster()
    Collector(FakeGateway(1, "told-at-last"), lambda: zookeeper, clock.now_ms).collect_cluster()
    assert ClusterState.objects.get().cluster_id == "told-at-last"


@pytest.mark.django_db
def test_every_tier_runs_and_all_end_when_told(cluster, collector, monkeypatch):
    """Not one of them looks at the cluster here: what matters is the threads around them."""
    looked = {name: threading.Event() for name in (*collector.tiers, "beat", "finish")}

    def topics() -> None:
        looked["topics"].set()
        raise RuntimeError("a broken tier must not stop the others")

    looks = {name: TierLook(looked[name].set) for name in collector.tiers}
    looks["topics"], looks["charts"] = TierLook(topics), TierLook(looked["charts"].set, finish=looked["finish"].set)
    monkeypatch.setattr(collector, "tier_looks", looks)
    monkeypatch.setattr(collector, "beat", looked["beat"].set)
    collector.attention = IdlePace(lambda: True)
    stop = threading.Event()
    thread = threading.Thread(target=run_collector, args=(collector, stop))
    thread.start()
    for name in looked.keys() - {"finish"}:
        assert looked[name].wait(5), name
    assert not looked["finish"].is_set()
    stop.set()
    thread.join(5)

    assert not thread.is_alive()
    assert looked["finish"].is_set()
    assert collector.tiers.keys().isdisjoint(item.name for item in threading.enumerate())


def test_sizes_reach_the_partitions_and_stay_while_a_broker_is_silent(cluster, collector, collect):
    cluster.create_topic("orders", 1, 2)
    cluster.append("orders", 0, 10)
    collector.look("sizes")
    collect()
    cluster.stop_broker(2)
    cluster.append("orders", 0, 10)
    collector.look("sizes")
    collect()

    assert Partition.objects.get().sizes == [[1, 20 * RECORD_BYTES], [2, 10 * RECORD_BYTES]]


def test_partitions_below_the_minimum_are_counted_for_their_topic(cluster, collect):
    cluster.create_topic("orders", 3, 2, {"min.insync.replicas": "2"})
    collect()
    cluster.stop_broker(2)
    collect()

    topic = Topic.objects.get()
    assert (topic.min_insync_replicas, topic.under_min_isr_count, topic.under_replicated_count) == (2, 2, 2)


def test_a_broker_that_comes_and_goes_is_called_flapping(cluster, collect, clock, monkeypatch):
    monkeypatch.setattr("console.signals.overview.facts.now_ms", clock.now_ms)
    for _ in range(3):
        collect()
        cluster.stop_broker(2)
        clock.advance(5_000)
        collect()
        cluster.start_broker(2)
        clock.advance(5_000)
    collect()

    assert [reason.subject for reason in overview_facts()["health"].reasons] == ["Broker 2"]
    clock.advance(600_000)
    collect()
    assert overview_facts()["health"].reasons == ()

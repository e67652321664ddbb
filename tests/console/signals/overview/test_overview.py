import pytest

from console.kit.audit.record import record_event
from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.kit.gateway.zookeeper.four_letter_words import ZooKeeperView
from console.processes.models import ManagedProcess
from console.signals.overview.queries import TROUBLED_PARTITIONS_MAX, overview_facts
from console.state.clusters.models import Broker, ClusterState, Partition, Topic

MANY = TROUBLED_PARTITIONS_MAX


def page(client_of, user) -> str:
    return client_of(user).get("/").content.decode()


def test_before_the_first_look_the_page_says_that_nothing_is_known(viewer, client_of):
    text = page(client_of, viewer)

    assert "this cluster has not been read yet" in text
    assert "Brokers are unknown" in text
    assert "Healthy" not in text


def test_a_healthy_cluster_shows_its_numbers(cluster, collect, viewer, client_of):
    cluster.create_topic("orders", 3, 2)
    cluster.append("orders", 0, 1_234)
    collect()
    text = page(client_of, viewer)

    assert "Healthy" in text
    assert "3<small> of 3</small>" in text
    assert '<span class="value" data-cell="partitions">3</span>' in text
    assert "1\u202f234" in text
    assert 'ws-connect="/ws/live/?page=overview"' in text


def test_a_missing_broker_is_the_first_thing_to_read(cluster, collect, viewer, client_of):
    cluster.create_topic("orders", 3, 1)
    collect()
    cluster.stop_broker(2)
    collect()
    text = page(client_of, viewer)

    assert "Critical" in text
    assert "Broker 2 is not registered: 1 partition of orders has no leader." in text
    assert text.index("Broker 2 is not registered") < text.index('id="tiles"')


def test_a_dead_zookeeper_is_named_with_its_error(collect, zookeeper, viewer, client_of):
    zookeeper[:] = [ZooKeeperView("127.0.0.1:2181", error="refuses connections")]
    collect()

    assert "ZooKeeper 127.0.0.1:2181 refuses connections:" in page(client_of, viewer)


def test_the_page_asks_no_broker(cluster, collect, viewer, client_of):
    collect()
    cluster.cut_off()

    assert client_of(viewer).get("/").status_code == 200


def test_partitions_in_trouble_are_listed_with_their_replicas(cluster, collect, viewer, client_of):
    cluster.create_topic("orders", 3, 2)
    collect()
    assert "Partitions in trouble" not in page(client_of, viewer)
    cluster.stop_broker(2)
    collect()
    text = page(client_of, viewer)

    assert "Partitions in trouble" in text
    assert 'title="broker 2: out of sync, preferred leader"' in text
    assert "not preferred" in text


def test_a_broker_with_a_process_is_started_from_its_reason(cluster, collect, viewer, client_of):
    ManagedProcess.objects.create(name="broker-2", kind="broker", host="here")
    collect()
    cluster.stop_broker(2)
    collect()

    assert '<a href="/processes/broker-2/">Start broker 2</a>' in page(client_of, viewer)


def test_an_outsider_learns_nothing_from_the_overview(cluster, collect, outsider, client_of):
    cluster.create_topic("orders", 3, 2)
    collect()
    response = client_of(outsider).get("/")

    assert response.status_code == 403
    assert b"orders" not in response.content


def test_a_minimum_above_the_number_of_replicas_asks_for_all_of_them(cluster, collect, viewer, client_of):
    cluster.create_topic("orders", 1, 1, {"min.insync.replicas": "2"})
    collect()
    text = page(client_of, viewer)

    assert "Critical" not in text
    assert "none below min ISR" in text


def test_groups_disks_and_processes_in_trouble_are_named_where_one_looks_first(
    cluster, collect, collector, settings, viewer, client_of, monkeypatch, clock
):
    monkeypatch.setattr("console.state.consumers.models.now_ms", clock.now_ms)
    monkeypatch.setattr("console.signals.overview.facts.now_ms", clock.now_ms)
    cluster.create_topic("orders", 1, 1, {"retention.ms": "3600000"})
    cluster.append("orders", 0, 5)
    cluster.commit("readers", "orders", 0, 1)
    cluster.brokers.usable_bytes[2] = 40_000_000
    ManagedProcess.objects.create(
        name="demo",
        kind="connect",
        host=settings.HOST_NAME,
        observed="exited",
        desired="running",
        state="exited",
        state_sentence="ended by itself",
    )
    for minutes in (0, 40):
        clock.advance(60_000 * minutes)
        collect()
        collector.look("sizes")
    text = page(client_of, viewer)

    assert "Group readers will lose records" in text
    assert "The volume of broker 2 is nearly full" in text
    assert "demo should be running and has exited." in text


def test_what_people_did_is_for_administrators(administrator, viewer, client_of):
    record_event(administrator, "create topic", "topic", "orders", None, {})
    assert "What people did" in page(client_of, administrator)
    assert "create topic" in page(client_of, administrator)
    assert "What people did" not in page(client_of, viewer)


@pytest.fixture
def seen(db) -> None:
    """The collector has just seen a cluster of one broker."""
    ClusterState.objects.create(name=DEFAULT_CLUSTER, controller_id=1, topics_at_ms=now_ms(), brokers_at_ms=now_ms())
    Broker.objects.create(broker_id=1)


def add_partitions(topic: Topic, count: int, **fields) -> None:
    first = topic.partitions.count()
    usual = {"topic": topic, "leader": 1, "replicas": [1], "isr": [1]}
    Partition.objects.bulk_create(
        Partition(partition=number, **(usual | fields)) for number in range(first, first + count)
    )


def first_in_trouble() -> tuple[str, str]:
    """The level of health, and the partition listed first."""
    facts = overview_facts()
    return facts["health"].level, str(facts["troubled"][0])


def test_health_sees_a_partition_without_leader_behind_many_that_are_well(seen):
    wide = Topic.objects.create(name="wide", leaderless_count=1)
    add_partitions(wide, MANY)
    add_partitions(wide, 1, leader=None)

    assert first_in_trouble() == ("critical", f"wide-{MANY}")
    assert overview_facts()["troubled_hidden_count"] == 0


@pytest.mark.parametrize("worse", [{"leader": None}, {"isr": [1], "replicas": [1, 2, 3]}])
def test_health_sees_what_is_worse_behind_many_that_lag(worse, seen):
    lagging = Topic.objects.create(name="lagging", under_replicated_count=MANY)
    add_partitions(lagging, MANY, replicas=[1, 2])
    hidden = Topic.objects.create(
        name="__offsets", is_internal=True, under_replicated_count=1, leaderless_count=1, min_insync_replicas=2
    )
    add_partitions(hidden, 1, **worse)

    assert first_in_trouble() == ("critical", "__offsets-0")


def test_partitions_in_trouble_are_listed_the_worst_first(seen):
    for name, is_internal in (("__offsets", True), ("orders", False), ("clicks", False)):
        counts = {"under_replicated_count": 1, "leaderless_count": 1, "under_min_isr_count": 1}
        topic = Topic.objects.create(name=name, is_internal=is_internal, min_insync_replicas=2, **counts)
        add_partitions(topic, 1)
        add_partitions(topic, 1, isr=[1, 2], replicas=[1, 2, 3])
        add_partitions(topic, 1, isr=[1], replicas=[1, 2, 3])
        add_partitions(topic, 1, leader=None, isr=[], replicas=[1, 2, 3])

    assert [str(fact) for fact in overview_facts()["troubled"]] == [
        *("clicks-3", "orders-3", "__offsets-3"),
        *("clicks-2", "orders-2", "__offsets-2"),
        *("clicks-1", "orders-1", "__offsets-1"),
    ]

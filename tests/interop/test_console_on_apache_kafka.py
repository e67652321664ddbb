"""The console's gateway on Apache Kafka itself: what its brokers tell is shown, what they do not tell is estimated."""

from contextlib import suppress

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from broker.common.clock import SystemClock
from console.kit.common.clock import now_ms
from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.gateway.zookeeper.interface import ZooKeeperGateway
from console.shell.collector.collector import Collector
from console.state.clusters.models import Topic
from console.state.clusters.queries import cluster_state
from tests.barnabas_cluster import await_true

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

HOUR_MS = 3_600_000
RECORDS, OLD = 100, 60


def no_secret() -> ZooKeeperGateway:
    raise GatewayError("The secret of the cluster is looked for, and Apache Kafka has none.")


@pytest.fixture(scope="module")
def gateway(apache_kafka):
    made = KafkaGateway(ClusterClient(apache_kafka, ""), ConsoleMembership(no_secret), 10.0)
    yield made
    made.close()


@pytest.fixture(scope="module")
def orders(apache_kafka) -> str:
    """Partition 0: sixty records of two hours ago and forty of now; partition 1 is empty."""
    admin = AdminClient({"bootstrap.servers": apache_kafka})
    configs = {"retention.ms": str(24 * HOUR_MS), "errors.deadletterqueue.group.enable": "true"}
    made = admin.create_topics([NewTopic("orders", 2, 1, config=configs), NewTopic("plain", 1, 1)])
    for name in ("orders", "plain"):
        made[name].result(30)
    producer = Producer({"bootstrap.servers": apache_kafka, "linger.ms": 0, "enable.idempotence": True})
    for number in range(RECORDS):
        at_ms = now_ms() - 2 * HOUR_MS * (number < OLD)
        producer.produce("orders", b"x" * 100, partition=0, timestamp=at_ms)
    assert producer.flush(30) == 0
    return "orders"


def partition_0(gateway, topic, changes):
    view = gateway.preview_retention(topic, changes)
    assert view.is_estimate
    assert [(partition.partition, partition.error) for partition in view.partitions] == [(0, ""), (1, "")]
    assert view.partitions[1].deleted_records == 0
    return view.partitions[0]


def test_a_shorter_time_is_estimated_by_offsets_of_that_time(gateway, orders):
    assert partition_0(gateway, orders, {}).deleted_records == 0
    estimated = partition_0(gateway, orders, {"retention.ms": str(HOUR_MS)})
    assert (estimated.first_offset, estimated.new_first_offset, estimated.next_offset) == (0, OLD, RECORDS)
    assert 0 < estimated.deleted_bytes < estimated.size_bytes


def test_a_size_is_estimated_from_the_log_directories(gateway, orders):
    half = partition_0(gateway, orders, {}).size_bytes // 2
    assert partition_0(gateway, orders, {"retention.bytes": str(half)}).deleted_records in (49, 50, 51)


def test_without_the_topics_own_value_the_brokers_counts(gateway, orders):
    """Its default is log.retention.hours=168, in another unit."""
    assert gateway.preview_retention(orders, {"retention.ms": None}).retention_ms == 168 * HOUR_MS
    assert partition_0(gateway, orders, {"retention.ms": None}).deleted_records == 0


def test_under_compaction_alone_nothing_goes_by_age(gateway, orders):
    changes = {"cleanup.policy": "compact", "retention.ms": "1"}
    assert partition_0(gateway, orders, changes).deleted_records == 0


def test_retention_is_changed(gateway, orders):
    gateway.change_topic_settings(orders, {"retention.ms": str(48 * HOUR_MS), "retention.bytes": "1000000000"})
    settings = {setting.name: setting for setting in gateway.topic_settings(orders)}
    assert (settings["retention.ms"].value, settings["retention.ms"].source) == (str(48 * HOUR_MS), "topic")
    assert settings["retention.bytes"].value == "1000000000"
    gateway.change_topic_settings(orders, {"retention.ms": str(24 * HOUR_MS), "retention.bytes": None})


def test_a_value_is_judged_by_the_cluster_before_it_is_changed(gateway, orders):
    before = gateway.topic_settings(orders)
    gateway.check_topic_settings(orders, {"retention.ms": "1", "errors.deadletterqueue.group.enable": None})
    for refused in ({"retention.ms": "soon"}, {"errors.deadletterqueue.group.enable": "maybe"}, {"no.such.key": "1"}):
        with pytest.raises(RefusedError):
            gateway.check_topic_settings(orders, refused)
    assert gateway.topic_settings(orders) == before


def test_the_values_of_a_key_are_those_of_its_type(gateway, orders):
    settings = {setting.name: setting for setting in gateway.topic_settings(orders)}
    assert settings["errors.deadletterqueue.group.enable"].choices == ("true", "false")
    assert settings["retention.ms"].choices == ()
    assert "zstd" in settings["compression.type"].choices


def test_a_topic_that_is_not_there_is_refused(gateway):
    with pytest.raises(RefusedError, match="topic"):
        gateway.preview_retention("nowhere", {})


def test_segments_are_said_to_be_untold(gateway, orders):
    with pytest.raises(GatewayError, match="where segments begin"):
        gateway.segments_of(orders, 0)


def test_keys_of_kafka_4_have_the_meaning_and_default_that_the_broker_tells(gateway, orders):
    """The default of such a key is known once a topic was described that does not set it."""
    gateway.topic_settings("plain")
    settings = {setting.name: setting for setting in gateway.topic_settings(orders)}
    key = settings["errors.deadletterqueue.group.enable"]
    assert (key.value, key.source, key.default) == ("true", "topic", "false")
    assert "dead" in key.meaning.lower()
    assert "<" not in key.meaning
    assert settings["retention.ms"].default == settings["retention.ms"].inherited == str(168 * HOUR_MS)
    assert [name for name, item in settings.items() if not item.meaning] == []


def test_looking_creates_nothing_in_the_cluster(db, gateway, orders):
    """A group that is looked for has Kafka create __consumer_offsets, which a look at a cluster may not cause."""
    collector = Collector(gateway, list, SystemClock().now_ms)
    for name in tuple(collector.tier_looks):
        with suppress(GatewayError):
            collector.look(name)
    assert Topic.objects.filter(name=orders).exists()
    assert {topic.name for topic in gateway.describe_topics()} == {"orders", "plain"}


def test_the_quorum_and_the_features_are_those_that_the_cluster_tells(gateway):
    view = gateway.quorum.describe()
    assert (view.leader_id, [voter.replica_id for voter in view.voters]) == (1, [1])
    assert view.leader_epoch > 0
    assert view.lag_of(view.voters[0]) == 0
    features = {feature.name: feature for feature in gateway.quorum.features()}
    assert features["metadata.version"].finalized_text == "4.4-IV2"
    assert features["metadata.version"].supported_text == "3.3-IV3 to 4.4-IV2"
    assert {"kraft.version", "share.version", "transaction.version"} <= features.keys()


def test_an_upgrade_is_judged_before_it_is_done(gateway):
    def finalized():
        return {feature.name: feature.finalized for feature in gateway.quorum.features()}

    before = finalized()
    for name, level in (("metadata.version", 200), ("nothing.version", 1)):
        with pytest.raises(RefusedError, match=f"Invalid update version {level} for feature {name}"):
            gateway.quorum.check_upgrade(name, level)
    gateway.quorum.check_upgrade("kraft.version", 1)
    assert finalized() == before
    gateway.quorum.upgrade("kraft.version", 1)
    await_true(lambda: finalized() == before | {"kraft.version": 1}, "the feature is at its new level")


def test_settings_of_a_topic_are_judged_without_creating_it(gateway):
    for configs, why in (
        ({"retention.ms": "soon"}, "Not a number of type LONG"),
        ({"no.such.key": "1"}, "Unknown topic config name"),
        ({"errors.deadletterqueue.group.enable": "maybe"}, "Expected value to be either true or false"),
    ):
        with pytest.raises(RefusedError, match=why) as refused:
            gateway.check_new_topic("clicks", 1, 1, configs)
        assert refused.value.code == "INVALID_CONFIG"
    gateway.check_new_topic("clicks", 1, 1, {"errors.deadletterqueue.group.enable": "true"})
    assert "clicks" not in {topic.name for topic in gateway.describe_topics()}


def test_the_cluster_is_known_as_kraft_by_its_answer(db, gateway):
    collector = Collector(gateway, list, SystemClock().now_ms)
    collector.look("brokers")
    collector.look("quorum")
    state = cluster_state()
    assert (state.quorum["leader_id"], state.quorum["voter_count"], state.quorum["behind"]) == (1, 1, [])
    assert (state.quorum["is_writable"], state.quorum_error) == (True, "")
    assert state.keeps_elr is True


def test_eligible_leader_replicas_are_told_by_partition(gateway, orders):
    """Whole partitions have none; null would mean that the cluster keeps none."""
    leaders = gateway.quorum.eligible_leaders(orders)
    assert [
        (partition.partition, partition.leader, partition.isr, partition.elr or (), partition.last_known_elr or ())
        for partition in leaders
    ] == [
        (0, 1, (1,), (), ()),
        (1, 1, (1,), (), ()),
    ]
    with pytest.raises(RefusedError):
        gateway.quorum.eligible_leaders("nowhere")


def test_a_subscription_to_client_metrics_comes_changes_and_goes(gateway):
    metrics = gateway.client_metrics
    assert metrics.subscriptions() == ()
    with pytest.raises(RefusedError):
        metrics.check("producers", {"interval.ms": "1"})
    wanted = {"interval.ms": "5000", "metrics": "org.apache.kafka.producer."}
    metrics.change("producers", wanted)

    def own():
        return {subscription.name: dict(subscription.own) for subscription in metrics.subscriptions()}

    await_true(lambda: own() == {"producers": wanted}, "it is")
    metrics.change("producers", {"interval.ms": None, "metrics": None})
    await_true(lambda: own() == {}, "it is gone")


def test_the_release_is_told_by_the_broker_and_not_guessed(gateway):
    gateway.brokers.log_dirs()
    assert [(broker.name, broker.speaks) for broker in gateway.brokers.software().values()] == [("Kafka", "4.4")]

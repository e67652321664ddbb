"""Clients held back by a quota, a replication throttle left on, volumes that fill: told, and silent in quiet states."""

from dataclasses import replace

import pytest

from console.cluster.brokers.models import BrokerReport
from console.cluster.quotas.rows import HELD_PAUSE_MS, UseWatch
from console.cluster.retention.models import DiskGrowth
from console.kit.common.clock import now_ms
from console.kit.gateway.quotas.interface import QuotaEntity, QuotaUse
from console.signals.overview.capacity_facts import JUST_SET_MS
from console.signals.overview.capacity_reasons import HELD_MIN_MS, WatchedVolume, filling_volumes
from console.signals.overview.health import HealthLevel
from console.signals.overview.queries import overview_facts
from console.state.clusters.models import ClusterState, Partition, Topic
from console.state.history.models import Change

HOUR = 3_600_000
GIB = 2**30
VOLUME = WatchedVolume(1, "a", "/data/1", 100 * GIB, 10 * GIB, GIB / 3_600, GIB / 3_600)
USE = QuotaUse("producer_byte_rate", "", "billing", "", 1_024.0, 900.0, 0)


def reasons(prefix: str):
    return [reason for reason in overview_facts()["health"].reasons if reason.key.startswith(prefix)]


def test_a_volume_of_three_brokers_is_told_once():
    same = [VOLUME, replace(VOLUME, broker_id=2, path="/data/2", usable_bytes=VOLUME.usable_bytes - 10**6)]
    other = replace(VOLUME, broker_id=3, host="b", path="/data/3")
    volumes = filling_volumes([*same, other])
    assert [(volume.broker_ids, volume.full_in_ms) for volume in volumes] == [
        ((1, 2), round(VOLUME.full_in_ms * (1 - 10**6 / VOLUME.usable_bytes))),
        ((3,), 10 * HOUR),
    ]


@pytest.mark.parametrize(
    ("changes", "full_in_ms"),
    [
        ({}, 10 * HOUR),
        ({"filling_per_second": None}, None),
        ({"filling_per_second": -5.0}, None),
        ({"long_filling_per_second": None}, None),
        ({"long_filling_per_second": -1.0}, None),
        ({"long_filling_per_second": GIB / 7_200}, 20 * HOUR),
        ({"filling_per_second": GIB / 60, "long_filling_per_second": None}, HOUR // 6),
    ],
    ids=["steady", "unknown", "shrinking", "short only", "retention keeps up", "slower over hours", "at once"],
)
def test_growth_counts_where_it_lasts_or_fills_the_volume_within_the_hour(changes, full_in_ms):
    assert replace(VOLUME, **changes).full_in_ms == full_in_ms


def test_a_volume_that_takes_more_than_a_week_is_no_trouble():
    slow = replace(VOLUME, filling_per_second=GIB / 360_000, long_filling_per_second=GIB / 360_000)
    assert filling_volumes([slow]) == []


def test_a_filling_volume_names_the_topic_that_grows_most(cluster, collect, collector):
    cluster.create_topic("orders", 1, 1)
    cluster.create_topic("quiet", 1, 1)
    collect()
    collector.look("sizes")
    assert reasons("filling") == []
    Topic.objects.filter(name="orders").update(records_per_second=100, record_count=1_000, size_bytes=10**6)
    Topic.objects.filter(name="quiet").update(records_per_second=900, record_count=1_000, size_bytes=10**3)
    for report in BrokerReport.objects.all():
        for directory in report.directories:
            per_second = directory.usable_bytes / 3_600 / 10
            DiskGrowth.objects.update_or_create(
                broker_id=report.broker_id,
                path=directory.path,
                defaults={"filling_per_second": per_second, "long_filling_per_second": per_second},
            )
    [reason] = reasons("filling")[:1]
    assert reason.level is HealthLevel.WARNING
    assert "is full in 10" in reason.text
    assert reason.text.endswith("topic orders grows most.")
    assert (reason.action.page, reason.action.argument) == ("topic-retention", "orders")


def test_bursts_are_one_episode_and_a_long_pause_ends_it():
    watch, waited_ms = UseWatch(), 0
    for minute in range(6):
        waited_ms += 5_000 if minute % 2 else 0
        rate = 5_000.0 if minute % 2 else 0.0
        [(_, use)] = watch.look({1: (replace(USE, rate=rate, throttled_ms=waited_ms),)}, minute * 60_000)
    assert (use.held_since_ms, use.rate_max) == (60_000, 5_000.0)
    for later in (1, 2, 3):
        [(_, use)] = watch.look({1: (replace(USE, rate=0.0, throttled_ms=waited_ms),)}, 300_000 + later * 60_000)
    assert HELD_PAUSE_MS < 3 * 60_000
    assert use.held_since_ms is None


def test_many_connections_wait_no_more_than_all_of_each_second():
    watch = UseWatch()
    watch.look({1: (USE,)}, 0)
    [(_, use)] = watch.look({1: (replace(USE, throttled_ms=658_182_000),)}, 1_000)
    assert use.wait_ms == 1_000


@pytest.fixture
def held_back(cluster, collect, collector, clock, monkeypatch):
    """Let a client wait for its quota: seconds at each look."""
    use = {"ms": 0}
    monkeypatch.setattr(
        cluster.brokers, "quota_uses", lambda: {1: (replace(USE, throttled_ms=use["ms"]),)}, raising=False
    )
    collect()
    collector.look("configuration")
    cluster.quotas.change(QuotaEntity(client_id="billing"), {"producer_byte_rate": 1_024.0})

    def for_minutes(minutes: int, each_ms: int) -> None:
        for _ in range(minutes * 2):
            clock.advance(30_000)
            use["ms"] += each_ms
            collect()
            collector.look("quotas")
            collector.look("configuration")

    return for_minutes


def test_a_client_held_back_for_minutes_is_told_with_its_quota_and_the_change(held_back, monkeypatch, clock):
    monkeypatch.setattr("console.signals.overview.facts.now_ms", clock.now_ms)
    held_back(1, 20_000)
    assert reasons("quota") == []
    held_back(HELD_MIN_MS // 60_000 + 1, 20_000)
    [reason] = reasons("quota")
    assert reason.text.startswith("A quota holds back client id billing: producing may use ")
    assert (reason.action.page, reason.action.query) == ("quotas", "?search=billing")
    assert reason.cause is not None
    assert "Quota of client id billing: producer_byte_rate default → 1024" in reason.cause.text
    assert reason.since_ms is not None


def test_a_client_below_its_quota_is_no_trouble(held_back, monkeypatch, clock):
    monkeypatch.setattr("console.signals.overview.facts.now_ms", clock.now_ms)
    held_back(10, 0)
    assert reasons("quota") == []


@pytest.fixture
def throttle(cluster, collect):
    def keep(brokers: dict, topics: list) -> None:
        collect()
        ClusterState.objects.update(throttled_brokers=brokers, throttled_topics=topics)

    cluster.create_topic("orders", 2, 2)
    return keep


def test_a_throttle_without_a_reassignment_connects_brokers_and_topics(throttle):
    throttle({"broker-1": 1_000_000, "broker-2": 2_000_000}, ["orders"])
    [reason] = reasons("replication")
    assert reason.text.replace("\u202f", " ") == (
        "A replication throttle was left on: brokers 1 and 2 copy replicas of orders at no more than 1 MB/s, and no "
        "reassignment runs."
    )
    assert (reason.level, reason.action.page, reason.action.argument) == (HealthLevel.WARNING, "broker-settings", "1")


@pytest.mark.parametrize(
    ("brokers", "topics"),
    [({}, []), ({"broker-1": 5}, []), ({}, ["orders"]), ({"broker-1": 5}, ["gone"])],
    ids=["none", "a rate alone", "replicas alone", "a topic that is gone"],
)
def test_half_a_throttle_holds_nothing_back(throttle, brokers, topics):
    throttle(brokers, topics)
    assert reasons("replication") == []


def test_a_throttle_of_a_move_is_no_trouble_and_nor_is_one_that_just_ended(throttle, clock, monkeypatch):
    throttle({"broker-1": 5}, ["orders"])
    Partition.objects.filter(topic__name="orders", partition=0).update(adding=[3])
    assert reasons("replication") == []
    Partition.objects.update(adding=[])
    assert len(reasons("replication")) == 1
    Change.objects.create(at_ms=now_ms(), kind="replicas", object_name="orders", sentence="moved", tone="plain")
    assert reasons("replication") == []


def test_a_throttle_that_was_just_set_may_be_of_a_reassignment_that_is_not_seen_yet(throttle):
    throttle({"broker-1": 5}, ["orders"])
    words = "Broker 1: leader.replication.throttled.rate default → 5"
    change = Change.objects.create(
        at_ms=now_ms(), kind="brokerconfig", object_name="broker-1", sentence=words, tone="plain"
    )
    assert reasons("replication") == []
    Change.objects.filter(pk=change.pk).update(at_ms=now_ms() - JUST_SET_MS)
    assert len(reasons("replication")) == 1


def test_replicas_that_cannot_catch_up_are_counted(throttle):
    throttle({"all brokers": 5}, ["orders"])
    Partition.objects.filter(topic__name="orders", partition=0).update(isr=[1])
    [reason] = reasons("replication")
    assert "all brokers copy" in reason.text
    assert reason.text.endswith("1 of their partitions lags and cannot catch up faster.")

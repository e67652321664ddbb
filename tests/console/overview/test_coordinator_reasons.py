"""Coordinators that stand still, and those that one broker's death would end, are reasons of health."""

from console.gateway.broker_views import NotLoaded
from console.overview.queries import overview_facts


def reasons() -> dict[str, str]:
    return {each.key: f"{each.level}: {each.text} {each.evidence}" for each in overview_facts()["health"].reasons}


def test_a_broker_that_cannot_load_its_coordinators_is_named_until_it_has(cluster, collect, collector):
    collect()
    cluster.brokers.unloaded = {2: NotLoaded(groups=3)}
    collector.collect_requests()
    assert reasons() == {
        "coordinators:2": "critical: Broker 2 cannot load coordinators it leads: the groups they coordinate stand "
        "still. Partitions not loaded: 3 of __consumer_offsets"
    }
    cluster.brokers.unloaded = {2: NotLoaded(groups=1, transactions=2)}
    collector.collect_requests()
    assert "groups and transactions" in reasons()["coordinators:2"]
    cluster.brokers.unloaded = {}
    collector.collect_requests()
    assert reasons() == {}


def test_coordinators_topics_made_by_a_broker_alone_are_told_of_when_others_came(cluster, collect):
    cluster.create_topic("__consumer_offsets", 2, 1)
    cluster.create_topic("__transaction_state", 2, 3)
    cluster.create_topic("orders", 1, 1)
    collect()
    assert reasons() == {
        "lone internal topics": "warning: __consumer_offsets has one replica: when its broker is away, what it "
        "coordinates stands still, and when its disk is lost, it is lost. Made while there was one broker"
    }


def test_a_broker_alone_is_not_told_to_add_replicas(cluster, collect):
    cluster.create_topic("__consumer_offsets", 2, 1)
    for broker_id in (2, 3):
        cluster.stop_broker(broker_id)
    collect()
    assert "lone internal topics" not in reasons()

"""Log directories that are full and brokers of another Kafka are reasons of health, with cause and next step."""

from console.overview.queries import overview_facts


def reasons() -> dict[str, str]:
    return {
        each.key: f"{each.level}: {each.text} [{each.evidence}] {each.action.text}"
        for each in overview_facts()["health"].reasons
    }


def test_a_full_log_directory_is_named_until_it_has_room_again(cluster, collect, collector):
    collect()
    cluster.brokers.full_dirs.add(2)
    cluster.brokers.usable_bytes[2] = 0
    collector.collect_sizes()
    [(key, text)] = reasons().items()
    assert key.startswith("directory:no room:2:")
    assert text.startswith(
        "critical: A log directory of broker 2 is full: in-sync replicas with room lead its partitions, and partitions "
        "without one take no writes. ["
    )
    assert "B left, 0 % of the volume] Free some of the disk, or shorten retention: leaders come back" in text
    cluster.brokers.full_dirs.clear()
    del cluster.brokers.usable_bytes[2]
    collector.collect_sizes()
    assert reasons() == {}


def test_brokers_of_another_kafka_are_named_until_they_are_gone(cluster, collect, collector):
    collect()
    cluster.brokers.foreign = {1: (21,)}
    collector.collect_requests()
    assert reasons() == {
        "foreign brokers": "warning: Broker 21 of another Kafka is registered in this cluster's ZooKeeper chroot: this "
        "cluster ignores them, and stands still if one becomes controller. [Their registrations are not of this "
        "cluster's brokers] Stop them, and give their cluster a chroot of its own"
    }
    cluster.brokers.foreign = {2: (21, 22)}
    collector.collect_requests()
    assert reasons()["foreign brokers"].startswith("warning: Brokers 21, 22 of another Kafka are registered")
    cluster.brokers.foreign = {}
    collector.collect_requests()
    assert reasons() == {}

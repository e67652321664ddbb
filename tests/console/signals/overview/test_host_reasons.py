"""Log directories that are full and brokers of another Kafka are reasons of health, with cause and next step."""

from console.signals.overview.queries import overview_facts


def reasons() -> dict[str, str]:
    return {
        reason.key: f"{reason.level}: {reason.text} [{reason.evidence}] {reason.action.text}"
        for reason in overview_facts()["health"].reasons
    }


def test_a_full_log_directory_is_named_until_it_has_room_again(cluster, collect, collector):
    collect()
    cluster.brokers.full_dirs.add(2)
    cluster.brokers.usable_bytes[2] = 0
    collector.look("sizes")
    [(key, text)] = reasons().items()
    assert key.startswith("directory:no room:2:")
    assert text.startswith(
        "critical: A log directory of broker 2 is full: in-sync replicas with room lead its partitions, and partitions "
        "without one take no writes. ["
    )
    assert "B left, 0 % of the volume] Free some of the disk, or shorten retention: leaders come back" in text
    cluster.brokers.full_dirs.clear()
    del cluster.brokers.usable_bytes[2]
    collector.look("sizes")
    assert reasons() == {}


def test_brokers_of_another_kafka_are_named_until_they_are_gone(cluster, collect, collector):
    collect()
    cluster.brokers.foreign = {1: (21,)}
    collector.look("requests")
    assert reasons() == {
        "foreign brokers": "warning: Broker 21 of another Kafka is registered in this cluster's ZooKeeper chroot: this "
        "cluster ignores them, and stands still if one becomes controller. [Their registrations are not of this "
        "cluster's brokers] Stop them, and give their cluster a chroot of its own"
    }
    cluster.brokers.foreign = {2: (21, 22)}
    collector.look("requests")
    assert reasons()["foreign brokers"].startswith("warning: Brokers 21, 22 of another Kafka are registered")
    cluster.brokers.foreign = {}
    collector.look("requests")
    assert reasons() == {}


def test_logs_that_were_set_aside_are_told_of_until_they_are_removed(cluster, collect, collector, viewer, client_of):
    collect()
    cluster.brokers.strays[2] = (3, 2_100_000_000)
    collector.look("sizes")
    assert reasons() == {
        "strays:2": "warning: 3 logs were set aside on broker 2: they fit none of its partitions, and keep their space "
        "until removed. [2.1\u202fGB in directories below /data/2 whose names end in -stray] Compare them with their "
        "topics, then delete their directories by hand; the broker's log has the reasons"
    }
    page = client_of(viewer).get("/brokers/2/").content.decode().replace("\u202f", " ")
    assert "3 logs set aside, 2.1 GB" in page
    cluster.brokers.strays[2] = (1, 0)
    collector.look("sizes")
    assert reasons()["strays:2"].startswith("warning: 1 log was set aside on broker 2: it fits none")
    cluster.brokers.strays.clear()
    collector.look("sizes")
    assert reasons() == {}

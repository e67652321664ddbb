"""A compacted topic whose log grows because a broker compacts it no more is a reason of health."""

from console.kit.gateway.brokers.interface import UncleanableLog
from console.signals.overview.queries import overview_facts


def reasons() -> dict[str, str]:
    return {reason.key: f"{reason.text} {reason.evidence}" for reason in overview_facts()["health"].reasons}


def test_it_is_named_with_partitions_brokers_and_the_reason_until_it_is_compacted(
    cluster, collect, collector, client_of, viewer, give_rule
):
    cluster.create_topic("accounts", 4, 3)
    collect()
    damaged = [UncleanableLog("accounts", number, "the batch at 120 is damaged: its CRC differs") for number in (3, 1)]
    cluster.brokers.damaged = {2: tuple(damaged)}
    collector.look("requests")
    assert reasons() == {
        "uncompacted:accounts": "Topic accounts: partitions 1, 3 are not compacted any more, so the log grows. "
        "broker 2: the batch at 120 is damaged: its CRC differs"
    }
    assert "not compacted any more" in client_of(viewer).get("/").content.decode()
    give_rule(viewer, "nothing", "topic", "accounts")
    assert "not compacted any more" not in client_of(viewer).get("/").content.decode()
    cluster.brokers.damaged = {}
    collector.look("requests")
    assert reasons() == {}


def test_many_topics_are_counted(cluster, collect, collector):
    collect()
    cluster.brokers.damaged = {1: tuple(UncleanableLog(f"topic-{number}", 0, "damaged") for number in range(9))}
    collector.look("requests")
    assert len(reasons()) == 4
    assert reasons()["more uncompacted"].startswith("6 more topics are not compacted any more.")

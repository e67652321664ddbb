"""A running sink that leaves topics unread says so, and one by pattern is known where topics are read or deleted."""

import pytest

from console.cluster.charts.measures import CONNECTOR, GROUP
from console.cluster.charts.readings import readings
from console.ecosystem.connectors.hosted_connectors import connectors_of_workers
from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.sink_topics import UNASSIGNED_MS
from console.kit.access.reach import EVERYTHING
from console.processes.models import ManagedProcess
from console.processes.topic_users import uses_of
from console.signals.dependencies.queries import rows_of
from console.signals.overview.queries import overview_facts
from tests.console.ecosystem.connectors.lying_server import connector
from tests.console.ecosystem.connectors.test_failed_stage import VALUE, text_of

PATTERN = {"topics.regex": r"orders-\w+"}
GROUP_OF_SINK = "connect-archive"


@pytest.fixture
def topics(cluster):
    for name in ("orders-eu", "orders-us", "billing"):
        cluster.create_topic(name, 1, 1)
        cluster.append(name, 0, 40)


@pytest.fixture
def watched(topics, connect, collect, collector, clock):
    """Looks at a running sink, and again after as long as a new topic may wait to be read."""

    def watch(**config: str) -> None:
        connect.connectors = {"archive": connector("archive", kind="sink", **config)}
        for _ in range(2):
            collect()
            collector.look("connectors")
            clock.advance(UNASSIGNED_MS)
        collect()
        collector.look("connectors")

    return watch


def reasons() -> list[str]:
    return [reason.text for reason in overview_facts()["health"].reasons if reason.key == "connector:archive"]


def test_a_sink_by_pattern_whose_login_sees_no_topic_is_named_though_it_runs(watched, client_of, viewer):
    watched(**PATTERN)
    assert reasons() == [
        "Connector archive runs, and does not read any topic: no member of its group holds their partitions."
    ]
    assert 'warning">not reading<' in text_of(client_of(viewer).get("/connectors/"))
    assert 'href="/connectors/archive/"' in text_of(client_of(viewer).get("/connectors/?failed=on"))
    page = text_of(client_of(viewer).get("/connectors/archive/"))
    assert "does not read 2 of 2 topics" in page
    assert "Allow the login READ on them" in page


def test_a_topic_of_a_pattern_that_is_not_read_beside_others_is_named(watched, cluster, client_of, viewer):
    cluster.groups.join(GROUP_OF_SINK, "connector-1", ("orders-eu", 0))
    watched(**PATTERN)
    assert reasons() == [
        "Connector archive runs, and does not read 1 of its 2 topics: no member of its group holds their partitions."
    ]
    page = client_of(viewer).get("/connectors/archive/")
    assert page.context["connector"].unassigned == ["orders-us"]


def test_a_sink_that_reads_all_its_topics_is_fine_and_becomes_so_again(watched, cluster, collect, collector, clock):
    watched(**PATTERN)
    assert reasons()
    cluster.groups.join(GROUP_OF_SINK, "connector-1", ("orders-eu", 0), ("orders-us", 0))
    clock.advance(UNASSIGNED_MS)
    collect()
    collector.look("connectors")
    assert reasons() == []
    assert Connector.objects.get().unassigned_since_ms is None


def test_a_topic_that_was_just_made_may_wait_to_be_read(topics, connect, collect, collector, clock):
    connect.connectors = {"archive": connector("archive", kind="sink", **PATTERN)}
    collect()
    collector.look("connectors")
    clock.advance(UNASSIGNED_MS - 1)
    collector.look("connectors")
    assert reasons() == []


@pytest.mark.parametrize(
    "more", [{"state": "PAUSED"}, {"tasks": ()}, {"consumer.override.bootstrap.servers": "elsewhere:9092"}]
)
def test_a_sink_that_does_not_run_or_reads_another_cluster_leaves_nothing_unread(
    topics, connect, collect, collector, clock, more
):
    connect.connectors = {"archive": connector("archive", kind="sink", **PATTERN | more)}
    for _ in range(3):
        collect()
        collector.look("connectors")
        clock.advance(UNASSIGNED_MS)
    assert Connector.objects.get().unassigned_since_ms is None


def test_a_sink_that_names_a_topic_that_is_not_there_says_so(watched, cluster, client_of, viewer):
    cluster.groups.join(GROUP_OF_SINK, "connector-1", ("billing", 0))
    watched(topics="billing,bills")
    assert reasons() == [
        "Connector archive runs, and does not read 1 of its 2 topics: no member of its group holds their partitions."
    ]
    assert "Create the topic, or correct" in text_of(client_of(viewer).get("/connectors/archive/"))


def test_only_who_sees_topics_and_group_is_told_what_is_not_read(watched, client_of, viewer, give_rule):
    watched(**PATTERN)
    give_rule(viewer, "nothing", "topic", "orders-us")
    page = text_of(client_of(viewer).get("/connectors/archive/"))
    assert "does not read 1 of 1 topics" in page
    assert "orders-us" not in page
    give_rule(viewer, "nothing", "group", GROUP_OF_SINK)
    assert "does not read" not in text_of(client_of(viewer).get("/connectors/archive/"))


def test_whoever_deletes_a_topic_is_told_of_sinks_by_pattern(watched, client_of, operator):
    watched(**PATTERN)
    uses = uses_of(["orders-eu", "billing"], EVERYTHING)
    assert {topic: [use.clause for use in users] for topic, users in uses.items()} == {
        "orders-eu": ["connector archive reads it"]
    }
    assert "Connector archive reads it and is running" in text_of(client_of(operator).get("/topics/orders-eu/+delete/"))


def test_dependencies_and_the_worker_s_end_know_sinks_by_pattern(watched):
    watched(**PATTERN)
    [row] = rows_of(["orders-eu"], EVERYTHING)
    assert [reader.node.name for reader in row.readers] == ["archive"]
    [inmate] = connectors_of_workers(ManagedProcess(name="connect", kind=ManagedProcess.Kind.CONNECT))
    assert inmate.reads == {"orders-eu", "orders-us"}


def test_the_lag_of_a_failed_sink_is_charted_as_its_page_says(topics, connect, collect, collector, clock):
    """Its group has no member and no offset: what it has not read is counted from the logs."""
    connect.connectors = {"archive": connector("archive", tasks=(("FAILED", VALUE),), kind="sink", **PATTERN)}
    collect()
    collector.look("connectors")
    collect()
    charted = {(reading.kind, reading.name): reading.values for reading in readings(clock.now_ms())}
    assert charted[CONNECTOR, "archive"][2] == 80
    assert charted.get((GROUP, GROUP_OF_SINK), (None,))[0] is None

"""A cluster that does not answer any more: no page says that it is well, and none that there is nothing in it."""

import re

import pytest
from django.template.loader import render_to_string

from console.kit.access.reach import EVERYTHING
from console.kit.features.declaration import SidebarEntry
from console.kit.features.marks import counts_for_all
from console.signals.overview.queries import health_within
from console.state.clusters.queries import cluster_state
from tests.console.signals.overview.test_metrics import metrics

PAGES = (
    "/",
    "/topics/",
    "/topics/orders/",
    "/brokers/",
    "/brokers/1/",
    "/brokers/1/partitions/",
    "/consumers/",
    "/placement/",
    "/health/",
)
#: But that of ZooKeeper, which is asked by itself.
GREEN = re.compile(r'class="badge ok"[^>]*>(?!standalone)([^<]*)<')
TIERS = ("brokers", "topics", "groups")


@pytest.fixture
def fail(collector):
    """fail(): the looks of all tiers fail as the collector stores them."""

    def look() -> None:
        for name in TIERS:
            try:
                collector.look(name)
            except Exception as error:  # as `Tier.run_once`, whatever it is
                collector.tier_looks[name].failed(str(error))

    return look


@pytest.fixture
def unreachable(cluster, collect, clock, fail):
    """A well cluster that stopped answering five minutes ago."""
    cluster.create_topic("orders", 2, 2)
    cluster.append("orders", 0, 10)
    cluster.commit("readers", "orders", 0, 10)
    collect()
    cluster.cut_off()
    clock.advance(300_000)
    fail()


@pytest.mark.parametrize("address", PAGES)
def test_no_page_calls_a_cluster_that_does_not_answer_well(unreachable, operator, client_of, address):
    text = client_of(operator).get(address).content.decode()
    assert GREEN.findall(text) == []
    assert "Unknown.</strong>" in text
    banner = re.search(r'id="outage-banner"[^>]*>.*?</div>', text, re.S)[0]
    assert "hidden" not in banner.split(">")[0]
    assert "last read 5 min ago" in banner.replace("\u202f", " ")
    assert "tried 127.0.0.1:9092" in banner


@pytest.mark.parametrize("address", PAGES)
def test_a_cluster_that_answers_again_is_known_again(
    unreachable, cluster, collect, clock, monkeypatch, operator, client_of, address
):
    monkeypatch.setattr("console.processes.consequences.now_ms", clock.now_ms)
    cluster.cut_off(False)
    collect()
    text = client_of(operator).get(address).content.decode()
    assert re.search(r'id="outage-banner"[^>]* hidden', text)
    assert "unknown</span>" not in text


def test_a_list_that_was_never_read_is_not_empty_but_unknown(cluster, fail, operator, client_of):
    cluster.create_topic("orders", 2, 2)
    cluster.cut_off()
    fail()
    pages = {
        address: client_of(operator).get(address).content.decode()
        for address in ("/", "/topics/", "/brokers/", "/consumers/", "/placement/")
    }
    for text in pages.values():
        assert "are unknown: No broker answered in time. Tried 127.0.0.1:9092." in text
        assert "There are no topics" not in text
        assert "No consumer group has been seen" not in text
    assert "every partition is led" not in pages["/"]


def test_marks_of_a_cluster_that_does_not_answer_are_question_marks(unreachable, operator, client_of):
    counts = counts_for_all(cluster_state().unknown_tiers)
    assert (counts[SidebarEntry.BROKERS], counts[SidebarEntry.GROUPS], counts[SidebarEntry.CONNECTORS]) == (
        None,
        None,
        0,
    )
    text = client_of(operator).get("/topics/").content.decode()
    assert re.search(r'id="mark-brokers" class="count is-unknown"[^>]*title="Unknown missing">\?', text)


def test_health_of_a_cluster_that_does_not_answer_is_unknown(unreachable):
    assert health_within(EVERYTHING).level == "unknown"


def test_metrics_of_a_cluster_that_does_not_answer_have_no_old_numbers(unreachable):
    result = metrics()
    assert result["barnabas_console_cluster_known"] == 0
    assert result["barnabas_console_brokers_age_seconds"] > 0
    assert "barnabas_console_brokers_registered" not in result
    assert "barnabas_console_partitions_leaderless" not in result


def test_an_open_page_hears_of_the_outage_by_the_heartbeat(unreachable):
    heartbeat = render_to_string("live/heartbeat.html", {"cluster": cluster_state()})
    assert 'data-outage="No broker answered in time."' in heartbeat


def test_groups_that_do_not_answer_are_unknown_while_topics_are_known(cluster, collect, collector, operator, client_of):
    cluster.create_topic("orders", 2, 2)
    cluster.commit("readers", "orders", 0, 0)
    collect()
    collector.tier_looks["groups"].failed("The coordinator of every group is loading.")
    pages = client_of(operator)
    assert GREEN.findall(pages.get("/consumers/").content.decode()) == []
    assert "in sync" in pages.get("/topics/").content.decode()
    assert "The state of consumer groups is unknown" in pages.get("/").content.decode()

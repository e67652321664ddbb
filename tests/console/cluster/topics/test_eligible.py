"""Eligible leader replicas: which broker, when back, leads a partition without loss."""

import re

import pytest

from console.cluster.topics.eligible import eligible_panel, recovery_of
from console.cluster.topics.row_renderers import topic_pages
from console.kit.access.reach import EVERYTHING
from console.kit.gateway.quorum.interface import EligibleLeaders, FeatureView, QuorumView
from console.state.clusters.models import Topic


def leaders(leader=None, isr=(), elr=(), last=()) -> EligibleLeaders:
    return EligibleLeaders(0, leader, tuple(isr), tuple(elr), tuple(last))


@pytest.mark.parametrize(
    ("partition", "sentence", "is_lossless"),
    [
        (leaders(isr=[3]), "Broker 3, when back, can lead without loss.", True),
        (leaders(elr=[2, 3]), "Broker 2 or 3, when back, can lead without loss.", True),
        (leaders(isr=[1], elr=[2]), "Broker 1 or 2, when back, can lead without loss.", True),
        (leaders(1, isr=[1], elr=[2]), "Broker 2 can lead without loss, too.", True),
        (leaders(last=[3]), "Broker 3 led last and leads again when back", False),
        (leaders(), "only an unclean election", False),
    ],
)
def test_who_can_lead_is_told_by_the_controllers_order(partition, sentence, is_lossless):
    recovery = recovery_of(partition)
    assert sentence in recovery.sentence
    assert recovery.is_lossless is is_lossless


@pytest.fixture
def kraft(cluster, collect, collector):
    """A topic of two replicas whose brokers are both gone."""
    cluster.create_topic("orders", 1, 2)
    collect()
    cluster.quorum.view = QuorumView(1, 7, 9, (), ())
    collector.look("quorum")
    cluster.stop_broker(1)
    cluster.stop_broker(2)
    collect()
    return cluster


def test_the_page_of_a_leaderless_topic_says_who_brings_its_leader_back(kraft, viewer, client_of):
    kraft.quorum.eligible["orders"] = (leaders(elr=[2], last=[1]),)
    text = client_of(viewer).get("/topics/orders/").content.decode()
    assert "Eligible leader replicas" in text
    assert "Broker 2, when back, can lead without loss." in text


def test_a_cluster_that_does_not_tell_leaves_it_unknown(kraft, viewer, client_of):
    text = client_of(viewer).get("/topics/orders/").content.decode()
    assert "Eligible leader replicas are unknown" in text


def test_a_whole_topic_asks_nothing(cluster, collect, viewer, client_of, monkeypatch):
    cluster.create_topic("orders", 1, 2)
    collect()
    monkeypatch.setattr(cluster.quorum, "eligible_leaders", None)
    assert "Eligible leader" not in client_of(viewer).get("/topics/orders/").content.decode()


def cells(text: str, name: str) -> list[str]:
    return re.findall(rf'data-cell="{name}">([^<]*)<', text)


@pytest.fixture
def kept(kraft, collector):
    """The same topic of a cluster that keeps eligible leader replicas."""
    kraft.quorum.known = (FeatureView("eligible.leader.replicas.version", 0, 1, 1),)
    collector.look("quorum")
    return kraft


def test_partitions_have_columns_of_what_the_cluster_keeps(kept, viewer, client_of):
    kept.quorum.eligible["orders"] = (leaders(elr=[2], last=[1]),)
    text = client_of(viewer).get("/topics/orders/").content.decode()
    assert (cells(text, "elr"), cells(text, "last-elr")) == (["2"], ["1"])
    kept.quorum.eligible.clear()
    Topic.objects.update(under_min_isr_count=7)
    text = client_of(viewer).get("/topics/orders/").content.decode()
    assert cells(text, "elr") == ["unknown"]


def test_a_whole_topic_has_none_and_asks_nothing(kept, collect, viewer, client_of, monkeypatch):
    kept.start_broker(1)
    kept.start_broker(2)
    collect()
    monkeypatch.setattr(kept.quorum, "eligible_leaders", None)
    text = client_of(viewer).get("/topics/orders/").content.decode()
    assert (cells(text, "elr"), cells(text, "last-elr")) == (["none"], ["none"])
    pk = Topic.objects.get().pk
    pushed = topic_pages([pk], EVERYTHING, {pk: [0]})
    assert cells(" ".join(pushed[pk]), "elr") == ["none"]


def test_the_page_of_a_troubled_topic_fetches_itself(kept):
    pk = Topic.objects.get().pk
    assert topic_pages([pk], EVERYTHING, {pk: [0]}) == {pk: ()}


def test_a_cluster_that_keeps_none_has_no_such_columns(kraft, viewer, client_of):
    assert 'data-cell="elr"' not in client_of(viewer).get("/topics/orders/").content.decode()


def test_many_pages_of_a_topic_ask_the_cluster_once_in_ten_seconds(kraft, monkeypatch):
    kraft.quorum.eligible["orders"] = (leaders(elr=[2]),)
    seconds, requests = [100.0], []
    read = kraft.quorum.eligible_leaders
    monkeypatch.setattr(kraft.quorum, "eligible_leaders", lambda topic: requests.append(topic) or read(topic))
    monkeypatch.setattr("console.cluster.topics.eligible.monotonic", lambda: seconds[0])
    topic = Topic.objects.get(name="orders")

    panels = [eligible_panel(topic) for _ in range(5)]
    assert len(requests) == 1
    assert [panel.recoveries[0].leaders.elr for panel in panels] == [(2,)] * 5
    seconds[0] += 10
    eligible_panel(topic)
    assert len(requests) == 2
    topic.leaderless_count, topic.under_min_isr_count = 0, 1
    eligible_panel(topic)
    assert len(requests) == 3, "its state is another"


def test_a_cluster_with_zookeeper_that_keeps_them_has_the_columns_too(cluster, collect, collector, viewer, client_of):
    cluster.create_topic("orders", 1, 2)
    collect()
    assert 'data-cell="elr"' not in client_of(viewer).get("/topics/orders/").content.decode()
    cluster.quorum.known = (FeatureView("eligible.leader.replicas.version", 0, 1, 1),)
    cluster.quorum.eligible["orders"] = (leaders(elr=[2], last=[1]),)
    collector.look("quorum")
    Topic.objects.update(under_min_isr_count=1)
    text = client_of(viewer).get("/topics/orders/").content.decode()
    assert (cells(text, "elr"), cells(text, "last-elr")) == (["2"], ["1"])

"""Coordinators that stand still, and those that one broker's death would end, are reasons of health."""

from dataclasses import replace

import pytest
from django.test import Client
from django.utils import timezone

from console.kit.access.api_tokens import make_token
from console.kit.gateway.brokers.interface import BudgetUse, NotLoaded
from console.signals.overview.queries import overview_facts


def reasons() -> dict[str, str]:
    return {
        reason.key: f"{reason.level}: {reason.text} {reason.evidence}" for reason in overview_facts()["health"].reasons
    }


def test_a_broker_that_cannot_load_its_coordinators_is_named_until_it_has(cluster, collect, collector):
    collect()
    cluster.brokers.unloaded = {2: NotLoaded(groups=3)}
    collector.look("requests")
    assert reasons() == {
        "coordinators:2": "critical: Broker 2 cannot load coordinators it leads: the groups they coordinate stand "
        "still. Partitions not loaded: 3 of __consumer_offsets"
    }
    cluster.brokers.unloaded = {2: NotLoaded(groups=1, transactions=2)}
    collector.look("requests")
    assert "groups and transactions" in reasons()["coordinators:2"]
    cluster.brokers.unloaded = {}
    collector.look("requests")
    assert reasons() == {}


MB = 1_000_000


CROWDING = BudgetUse("simple offsets", 96 * MB, 60 * MB, 5_000, "User:ANONYMOUS", "10.0.0.66", 51 * MB)


def test_a_client_that_holds_its_share_is_told_of_until_it_is_refused_no_more(cluster, collect, collector):
    collect()
    use = CROWDING
    cluster.brokers.budgets = {2: (use,)}
    collector.look("requests")
    assert reasons() == {
        "budget:2:simple offsets": "warning: Broker 2 refuses new offsets of such groups of a client that holds its "
        "share of the memory for offsets of groups without members. 60\u202fMB of 96\u202fMB held; one client "
        "holds 51\u202fMB"
    }
    cluster.brokers.budgets = {2: (replace(use, refused_ms_ago=700_000),)}
    collector.look("requests")
    assert reasons() == {}


def test_transactional_ids_are_counted_and_not_measured_in_bytes(cluster, collect, collector, operator, client_of):
    collect()
    use = BudgetUse("transactional ids", 300_000, 2_000, 5_000, "User:app", "10.0.0.66", 1_500)
    cluster.brokers.budgets = {2: (use,)}
    collector.look("requests")
    (text,) = reasons().values()
    assert "refuses new transactional ids of a client that holds its share of the number of transactional ids" in text
    assert "2\u202f000 of 300\u202f000 held; one client holds 1\u202f500" in text
    collect()
    page = client_of(operator).get("/brokers/2/").content.decode()
    assert "2\u202f000 <" in page
    assert "300\u202f000<" in page
    assert "1\u202f500<" in page


@pytest.fixture
def pushed(monkeypatch):
    """The HTML that is pushed to pages, whichever they are."""
    messages = []
    monkeypatch.setattr("console.kit.live.push._send", lambda sent: messages.extend(map(str, sent)))
    return messages


@pytest.mark.usefixtures("listeners")
@pytest.mark.parametrize("person", ["viewer", "reader", "limited_reader", "limited", "tenant", "operator"])
def test_the_client_is_named_to_operators_on_its_brokers_page_alone(
    person, request, cluster, collect, collector, client_of, pushed
):
    owner = request.getfixturevalue(person)
    client = client_of(owner)
    collect()
    cluster.brokers.budgets = {2: (CROWDING,)}
    collector.look("requests")
    collect()
    texts = {name: client.get(name).content.decode() for name in ("/", "/brokers/", "/brokers/2/", "/metrics")}
    _, secret = make_token(owner, "t", ["read"], 1, timezone.now())
    response = Client(headers={"Authorization": f"Bearer {secret}"}).get("/api/v1/health")
    texts["api"] = response.content.decode()
    assert "holds its share" in texts["/"] + texts["api"]
    assert "holds its share" in "".join(pushed)
    named = {place for place, text in texts.items() if "User:ANONYMOUS" in text or "10.0.0.66" in text}
    assert named == ({"/brokers/2/"} if person == "operator" else set())
    assert not any("User:ANONYMOUS" in item or "10.0.0.66" in item for item in pushed)


@pytest.mark.parametrize(("held", "is_told"), [(67 * MB, False), (68 * MB, True)])
def test_a_bound_that_is_nearly_full_is_told_of_before_a_client_is_refused(cluster, collect, collector, held, is_told):
    collect()
    cluster.brokers.budgets = {1: (BudgetUse("group offsets", 96 * MB, held),)}
    collector.look("requests")
    assert bool(reasons()) == is_told
    if is_told:
        assert "has little left of the memory" in reasons()["budget:1:group offsets"]
        assert "clients unknown: their records name none" in reasons()["budget:1:group offsets"]
    cluster.brokers.budgets = {}
    collector.look("requests")
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

"""Each cluster heals itself by its own rules, in the name of an account that is kept beside another cluster's rows."""

import re

import pytest

from console.automation.healing.collect import HealingWatch
from console.automation.healing.models import HealingRule, Proposal
from console.cluster.placement.models import Reassignment
from console.kit.common.current_cluster import in_cluster
from console.shell.collector.collector import Collector
from tests.console.shell.fleet.conftest import ALIAS, STAGING
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])
ADDRESS = "/c/staging/healing/+rule/broker-gone/"
ACTS = {"mode": "act", "minutes": "5", "rate": "5"}


@pytest.fixture
def larger(settings, staging, clock) -> FakeGateway:
    """Staging has three brokers for once."""
    gateway = FakeGateway(broker_count=3, clock_ms=clock.now_ms)
    settings.CLUSTERS[STAGING].values["CLUSTER_GATEWAY"] = gateway
    gateway.create_topic("orders", 3, 2)
    return gateway


def passes(gateway, zookeeper, clock, minutes: int) -> None:
    collector, watch = Collector(gateway, lambda: list(zookeeper), clock.now_ms), HealingWatch(clock.now_ms)
    for _ in range(2 * minutes):
        clock.advance(30_000)
        collector.collect_cluster()
        collector.collect_topics()
        watch.look()


@pytest.fixture
def acting(cluster, larger, administrator, client_of):
    client = client_of(administrator)
    shown = client.post(ADDRESS, ACTS)
    digest = re.search(r'name="digest" value="(\w+)"', shown.text)[1]
    assert client.post(ADDRESS, ACTS | {"digest": digest}).status_code == 302


def test_it_acts_in_the_cluster_where_it_was_allowed_and_in_no_other(acting, larger, zookeeper, clock):
    assert not HealingRule.objects.exists()
    with in_cluster(STAGING):
        passes(larger, zookeeper, clock, 1)
        larger.stop_broker(3)
        passes(larger, zookeeper, clock, 7)
        assert Proposal.objects.get().actor_name == "administrator"
        assert Reassignment.objects.count() == 1
    assert not Proposal.objects.exists()


def test_an_account_that_is_gone_allows_nothing_any_more(acting, larger, zookeeper, clock, administrator):
    administrator.delete()
    with in_cluster(STAGING):
        passes(larger, zookeeper, clock, 1)
        larger.stop_broker(3)
        passes(larger, zookeeper, clock, 7)
        assert not Reassignment.objects.exists()
        assert "has lost the right to it" in Proposal.objects.get().sentence

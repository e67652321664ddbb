"""A feature's level is raised by plan: the cluster judges it before, and what cannot be taken back is said."""

import pytest

from broker.common.errors import ErrorCode
from console.cluster.quorum.upgrade import upgrade_plan
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import refusal
from console.kit.gateway.quorum.interface import FeatureView
from tests.console.confirming import digest_in

METADATA = FeatureView("metadata.version", 7, 33, 30)
GROUPS = FeatureView("group.version", 0, 1, None)
ADDRESS = "/features/+upgrade/metadata.version/"


@pytest.mark.parametrize(
    ("feature", "level", "obstacle"),
    [
        (METADATA, 33, ""),
        (METADATA, 30, "It is at 4.3-IV0 already"),
        (METADATA, 29, "It is at 4.3-IV0 already"),
        (METADATA, 34, "supports 4.4-IV2 at most"),
        (GROUPS, 1, ""),
    ],
)
def test_a_level_is_raised_within_what_brokers_support(feature, level, obstacle):
    plan = upgrade_plan(feature, level, "localhost:9092")
    assert obstacle in plan.obstacle
    assert bool(plan.obstacle) is bool(obstacle)


def test_the_plan_of_metadata_version_says_that_it_stays():
    plan = upgrade_plan(METADATA, 33, "localhost:9092")
    assert [(line.old, line.new) for line in plan.lines] == [("4.3-IV0", "4.4-IV2")]
    assert plan.undo == ""
    assert plan.typed_name == "metadata.version"
    assert "kafka-features.sh --bootstrap-server localhost:9092 upgrade --feature metadata.version=33" in plan.command
    assert upgrade_plan(GROUPS, 1, "localhost:9092").undo
    assert upgrade_plan(FeatureView("kraft.version", 0, 1, None), 1, "localhost:9092").undo == ""


@pytest.fixture
def features(cluster):
    cluster.quorum.known = (METADATA, GROUPS)
    return cluster.quorum


def confirmed(client, **named):
    shown = client.get(ADDRESS, named)
    fields = {**named, "digest": digest_in(shown), "typed_name": "metadata.version"}
    return client.post(ADDRESS, fields, follow=True)


def test_an_administrator_upgrades_as_planned_and_the_audit_knows(features, administrator, client_of):
    response = confirmed(client_of(administrator))
    assert "metadata.version is at 4.4-IV2 now." in response.content.decode()
    assert features.upgrades == [("metadata.version", 33)]
    event = AuditEvent.objects.get()
    assert (event.action, event.object_name, event.result) == ("upgrade feature", "metadata.version", "done")


def test_what_the_cluster_refuses_gets_no_plan(features, administrator, client_of, monkeypatch):
    def refuses(name, level):
        raise refusal(ErrorCode.INVALID_UPDATE_VERSION, "Broker 3 does not support it")

    monkeypatch.setattr(features, "check_upgrade", refuses)
    response = client_of(administrator).get(ADDRESS)
    assert response.status_code == 200
    assert "Broker 3 does not support it" in response.content.decode()
    assert 'class="apply"' not in response.content.decode()


def test_an_operator_may_not(features, operator, client_of):
    client = client_of(operator)
    assert client.get(ADDRESS).status_code == 403
    assert client.post(ADDRESS, {"digest": "x", "typed_name": "metadata.version"}).status_code == 403
    assert features.upgrades == []


def test_a_level_between_is_taken_as_named(features, administrator, client_of):
    confirmed(client_of(administrator), level="32")
    assert features.upgrades == [("metadata.version", 32)]


@pytest.mark.parametrize(
    "address", ["/features/+upgrade/unknown.version/", f"{ADDRESS}?level=x", f"{ADDRESS}?level=999999"]
)
def test_what_is_no_feature_or_level_is_not_found(features, administrator, client_of, address):
    assert client_of(administrator).get(address).status_code == 404


def test_the_page_offers_an_upgrade_where_brokers_support_more(features, viewer, administrator, client_of):
    text = client_of(administrator).get("/features/").content.decode()
    assert f'href="{ADDRESS}"' in text
    assert 'href="/features/+upgrade/group.version/"' in text
    assert "+upgrade" not in client_of(viewer).get("/features/").content.decode()
    features.known = (FeatureView("metadata.version", 7, 33, 33),)
    assert "+upgrade" not in client_of(administrator).get("/features/").content.decode()

"""A group moves over a mirror into another cluster of this console: what holds there holds for the move as well."""

import html
import re

import pytest

from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.access.models import ClusterRole, ReadOnlyMode
from console.kit.audit.models import AuditEvent
from console.kit.common.current_cluster import in_cluster
from console.kit.common.names import DEFAULT_CLUSTER
from console.shell.changes.models import ChangeRule
from console.state.clusters.models import ClusterState
from tests.console.ecosystem.mirrors.test_group_move import CopiedRun, committed, move_query, tell
from tests.console.shell.fleet.conftest import ALIAS, STAGING

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])
ADDRESS = "/mirrors/groups/"


@pytest.fixture(params=["id", "servers", "name"])
def alias(request, cluster, staging, settings, monkeypatch) -> str:
    """A mirror's alias of staging, which the console knows by its id, by an address or by this name alone."""
    staging._cluster_id = "id-of-staging"
    settings.CLUSTERS[STAGING].values["BOOTSTRAP_SERVERS"] = "other:9092,127.0.0.1:9099"
    alias = STAGING if request.param == "name" else "backup"
    settings.MIRROR_CLUSTERS = {alias: staging}
    if request.param == "id":
        with in_cluster(STAGING):
            ClusterState.objects.create(name=DEFAULT_CLUSTER, cluster_id="id-of-staging")
    if request.param == "servers":
        monkeypatch.setattr("console.kit.gateway.connect._mirror_gateway", lambda _alias, _servers: staging)
        settings.MIRROR_CLUSTERS = {alias: "127.0.0.1:9099"}
    for gateway in (cluster, staging):
        gateway.create_topic("orders", 1, 1)
        gateway.append("orders", 0, 100)
    MirroredTopic.objects.create(cluster=alias, flow=f"main->{alias}", topic="orders", target="orders")
    tell(staging, f"main->{alias}", 0, CopiedRun(0, 0, 100))
    cluster.groups.commit("billing", "orders", 0, 60)
    return alias


def digest_of(page) -> str:
    return re.search(r'name="digest" value="(\w+)"', page.text)[1]


@pytest.mark.parametrize(("role", "is_theirs"), [("viewer", False), ("nothing", False), ("operator", True)])
def test_the_rights_of_the_other_cluster_count(role, is_theirs, alias, staging, operator, client_of):
    ClusterRole.objects.create(user=operator, cluster=STAGING, role=role)
    wanted = move_query(f"main->{alias}")
    page = client_of(operator).get(ADDRESS, wanted)
    assert page.status_code == (200 if is_theirs else 403)
    assert (f"billing goes on in {alias}" in page.content.decode()) is is_theirs
    assert client_of(operator).post(ADDRESS, wanted | {"digest": "x"}).status_code == (409 if is_theirs else 403)
    assert committed(staging) == {}


def test_offsets_of_the_other_cluster_are_not_read_without_a_right_there(alias, staging, operator, client_of):
    ClusterRole.objects.create(user=operator, cluster=STAGING, role="nothing")
    back = f"{alias}->main"
    MirroredTopic.objects.create(cluster="", flow=back, topic="orders", target="orders")
    staging.groups.commit("billing", "orders", 0, 60)
    assert client_of(operator).get(ADDRESS, move_query(back)).status_code == 403


def test_a_rule_of_the_other_cluster_has_the_move_wait(alias, staging, operator, client_of):
    with in_cluster(STAGING):
        rule = {"kind": "approval", "actions": ["*"], "objects": ["*"]}
        ChangeRule.objects.create(name="prod", definition=rule, actor_name="root")
    client, wanted = client_of(operator), move_query(f"main->{alias}")
    page = client.get(ADDRESS, wanted)
    assert "prod of staging" in html.unescape(page.text)
    client.post(ADDRESS, wanted | {"digest": digest_of(page)})
    assert committed(staging) == {}
    assert not AuditEvent.objects.filter(action="move consumer group", result="done").exists()


def test_a_cluster_that_is_read_only_takes_no_group(alias, staging, operator, client_of):
    client, wanted = client_of(operator), move_query(f"main->{alias}")
    digest = digest_of(client.get(ADDRESS, wanted))
    ReadOnlyMode.objects.create(scope=f"cluster /{STAGING}", by_name="root", reason="a weekend")
    assert "In staging: The cluster is read-only" in html.unescape(client.get(ADDRESS, wanted).text)
    assert client.post(ADDRESS, wanted | {"digest": digest}).status_code == 409
    assert committed(staging) == {}


def test_with_the_rights_of_both_the_group_moves(alias, staging, operator, client_of):
    client, wanted = client_of(operator), move_query(f"main->{alias}")
    client.post(ADDRESS, wanted | {"digest": digest_of(client.get(ADDRESS, wanted))})
    assert committed(staging) == {("orders", 0): 60}

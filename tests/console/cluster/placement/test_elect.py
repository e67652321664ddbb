import re

import pytest

from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import ClusterUnreachableError

ADDRESS = "/placement/+elect/"


@pytest.fixture(autouse=True)
def _orders(cluster, collect):
    cluster.create_topic("orders", 3, 2)
    cluster.move_leader("orders", 0, 2)
    collect()


def leaders(cluster) -> list[int]:
    return [partition.leader for partition in cluster.describe_topics()[0].partitions]


def plan(client) -> tuple[str, str]:
    """The page with the plan, and what confirms it."""
    text = client.get(ADDRESS).content.decode()
    return text, re.search(r'name="digest" value="(\w+)"', text)[1]


def test_the_plan_says_what_moves_and_what_each_broker_leads_then(operator, client_of):
    text, _ = plan(client_of(operator))

    assert "1 partition</strong> will be led by its first replica" in text
    assert re.search(r"orders-0</td><td[^>]*>2</td><td[^>]*><strong>1<", text)
    assert "kafka-leader-election.sh" in text


def test_operator_elects_as_planned_and_the_audit_knows(cluster, operator, client_of):
    client = client_of(operator)
    _, digest = plan(client)
    response = client.post(ADDRESS, {"digest": digest}, follow=True)

    assert leaders(cluster) == [1, 2, 3]
    assert b"1 partition is led by the preferred replica." in response.content
    event = AuditEvent.objects.get()
    assert (event.actor_name, event.action, event.result) == ("operator", "elect preferred leaders", "done")
    assert (event.before, event.after) == ({"orders-0": 2}, {"orders-0": 1})


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused_and_nothing_moves(person, request, cluster, client_of):
    client = client_of(request.getfixturevalue(person))

    assert client.get(ADDRESS).status_code == 403
    assert client.post(ADDRESS, {"digest": "any"}).status_code == 403
    assert leaders(cluster) == [2, 2, 3]


def test_a_plan_of_another_moment_is_refused_with_the_new_one(cluster, collect, operator, client_of):
    client = client_of(operator)
    _, digest = plan(client)
    cluster.move_leader("orders", 1, 3)
    collect()
    response = client.post(ADDRESS, {"digest": digest})

    assert response.status_code == 409
    assert b"has changed since it was shown" in response.content
    assert b"2 partitions</strong>" in response.content
    assert leaders(cluster) == [2, 3, 3]
    assert AuditEvent.objects.get().result == "refused"


def test_a_preferred_replica_that_is_down_stays_and_is_explained(cluster, collect, operator, client_of):
    cluster.stop_broker(3)
    collect()
    text, _ = plan(client_of(operator))

    assert "broker 3 is not registered" in text
    assert "What stays as it is" in text


def test_nothing_to_elect_is_said(cluster, collect, operator, client_of):
    cluster.elect_preferred_leaders([("orders", 0)])
    collect()
    text = client_of(operator).get(ADDRESS).content.decode()

    assert "every partition is led by its first replica" in text
    assert "digest" not in text


def test_what_the_controller_refuses_is_told_and_kept(cluster, operator, client_of, monkeypatch):
    client = client_of(operator)
    _, digest = plan(client)
    monkeypatch.setattr(cluster, "elect_preferred_leaders", lambda _: {("orders", 0): "it has just left"})
    response = client.post(ADDRESS, {"digest": digest}, follow=True)

    assert b"orders-0 was not elected: it has just left" in response.content
    assert AuditEvent.objects.get().result == "refused"


def test_an_unreachable_cluster_is_a_failure_and_kept(cluster, operator, client_of):
    client = client_of(operator)
    _, digest = plan(client)
    cluster.cut_off()
    response = client.post(ADDRESS, {"digest": digest})

    assert response.status_code == 422
    assert str(ClusterUnreachableError("No broker answered in time.")).encode() in response.content
    assert AuditEvent.objects.get().result == "failed"

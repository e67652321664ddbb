"""Subscriptions to client metrics: listed, created, changed and deleted as planned."""

import pytest

from console.kit.audit.models import AuditEvent
from tests.console.confirming import digest_in

CHANGE = "/client-metrics/+change/"
TYPED = {"name": "producers", "interval_ms": "30 s", "metrics": "org.apache.kafka.producer.", "match": ""}


@pytest.fixture
def served(cluster):
    cluster.client_metrics.are_served = True
    return cluster.client_metrics


def confirm(client, typed):
    shown = client.post(CHANGE, typed)
    return client.post(CHANGE, typed | {"digest": digest_in(shown)})


def test_a_subscription_is_created_as_previewed(served, operator, client_of):
    client = client_of(operator)
    assert "No subscription" in client.get("/client-metrics/").content.decode()
    shown = client.post(CHANGE, TYPED)
    assert "30000" in shown.content.decode()
    assert served.own == {}
    assert confirm(client, TYPED).status_code == 302
    assert served.own == {"producers": {"interval.ms": "30000", "metrics": "org.apache.kafka.producer."}}
    event = AuditEvent.objects.get()
    assert (event.action, event.object_name, event.result) == ("change client metrics", "producers", "done")
    assert "org.apache.kafka.producer." in client.get("/client-metrics/").content.decode()


def test_an_emptied_setting_goes_back_to_its_default(served, operator, client_of):
    served.own["producers"] = {"interval.ms": "30000", "metrics": "org.apache.kafka.producer."}
    client = client_of(operator)
    assert 'value="30000"' in client.get(CHANGE, {"name": "producers"}).content.decode()
    assert confirm(client, TYPED | {"interval_ms": ""}).status_code == 302
    assert served.own == {"producers": {"metrics": "org.apache.kafka.producer."}}


def test_a_subscription_is_deleted_as_previewed(served, operator, client_of):
    served.own["producers"] = {"interval.ms": "30000"}
    form = {"name": "producers", "delete": "True"}
    assert confirm(client_of(operator), form).status_code == 302
    assert served.own == {}
    assert AuditEvent.objects.get().action == "delete client metrics"


def test_a_value_that_the_cluster_refuses_is_told_before_a_plan_is_shown(served, operator, client_of):
    response = client_of(operator).post(CHANGE, TYPED | {"interval_ms": "1"})
    assert response.status_code == 422
    assert "Invalid value 1 for interval.ms" in response.content.decode()
    assert response.context.get("plan") is None


def test_a_subscription_that_changed_meanwhile_is_not_changed(served, operator, client_of):
    client = client_of(operator)
    shown = client.post(CHANGE, TYPED)
    served.own["producers"] = {"metrics": "*"}
    assert client.post(CHANGE, TYPED | {"digest": digest_in(shown)}).status_code == 409
    assert served.own == {"producers": {"metrics": "*"}}


def test_a_viewer_sees_and_changes_nothing(served, viewer, limited, client_of):
    assert client_of(viewer).get("/client-metrics/").status_code == 200
    assert client_of(viewer).post(CHANGE, TYPED).status_code == 403
    assert client_of(limited).get("/client-metrics/").status_code == 403


def test_a_cluster_that_serves_none_says_so(cluster, operator, client_of):
    assert "take no metrics of clients" in client_of(operator).get("/client-metrics/").content.decode()
    assert "take no metrics of clients" in client_of(operator).get(CHANGE).content.decode()

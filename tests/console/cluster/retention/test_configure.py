import re

import pytest

from console.kit.audit.models import AuditEvent

PLAN = "/topics/orders/+retention/?retention_ms=600000"
APPLY = "/topics/orders/+configure/"


@pytest.fixture(autouse=True)
def _orders(cluster, collect, clock):
    cluster.create_topic("orders", 1, 1, {"retention.ms": "86400000"})
    cluster.append("orders", 0, 1_000)
    clock.advance(3_600_000)
    cluster.append("orders", 0, 500)
    collect()


def retention_ms(cluster) -> tuple[str, str]:
    return next(
        (setting.value, setting.source)
        for setting in cluster.topic_settings("orders")
        if setting.name == "retention.ms"
    )


def planned(client, address: str = PLAN) -> dict[str, str]:
    """What the form of the plan posts."""
    text = client.get(address).content.decode()
    form = text[text.index('class="apply"') :]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[: form.index("</form>")]))


def test_operator_applies_the_plan_and_the_audit_knows(cluster, operator, client_of):
    client = client_of(operator)
    response = client.post(APPLY, {**planned(client), "typed_name": "orders"}, follow=True)

    assert retention_ms(cluster) == ("600000", "topic")
    assert b"Retention of orders was changed." in response.content
    event = AuditEvent.objects.get()
    assert (event.actor_name, event.action, event.object_name, event.result) == (
        "operator",
        "change retention",
        "orders",
        "done",
    )
    assert (event.before, event.after) == ({"retention.ms": "86400000"}, {"retention.ms": "600000"})


def test_undo_is_offered_as_a_plan_of_its_own(cluster, operator, client_of):
    client = client_of(operator)
    text = client.post(APPLY, {**planned(client), "typed_name": "orders"}, follow=True).content.decode()
    undo = re.search(r'href="([^"]*)">plan the undo', text)[1]
    client.post(APPLY, planned(client, undo), follow=True)

    assert retention_ms(cluster) == ("86400000", "topic")


def test_undo_of_a_value_that_was_not_set_takes_it_away_again(cluster, operator, client_of):
    client = client_of(operator)
    text = client.post(APPLY, planned(client, PLAN.split("?")[0] + "?retention_bytes=999999"), follow=True)
    undo = re.search(r'href="([^"]*)">plan the undo', text.content.decode())[1]
    assert undo.endswith("retention_bytes=default")
    client.post(APPLY, planned(client, undo))

    settings = {setting.name: (setting.value, setting.source) for setting in cluster.topic_settings("orders")}
    assert settings["retention.bytes"] == ("-1", "default")


def test_records_that_go_need_the_name_typed(cluster, operator, client_of):
    client = client_of(operator)
    response = client.post(APPLY, {**planned(client), "typed_name": "order"})

    assert response.status_code == 422
    assert b"type the name exactly, orders" in response.content
    assert retention_ms(cluster) == ("86400000", "topic")
    assert not AuditEvent.objects.exists()


def test_settings_changed_by_somebody_else_refuse_the_plan(cluster, operator, client_of):
    client = client_of(operator)
    form = planned(client)
    cluster.change_topic_settings("orders", {"retention.bytes": "5000000"})
    response = client.post(APPLY, {**form, "typed_name": "orders"})

    assert response.status_code == 409
    assert b"has changed since it was shown" in response.content
    assert retention_ms(cluster) == ("86400000", "topic")
    assert AuditEvent.objects.get().result == "refused"


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused_and_nothing_changes(person, request, cluster, operator, client_of):
    form = {**planned(client_of(operator)), "typed_name": "orders"}
    response = client_of(request.getfixturevalue(person)).post(APPLY, form)

    assert response.status_code == 403
    assert retention_ms(cluster) == ("86400000", "topic")


def test_a_viewer_sees_the_plan_and_why_the_button_is_disabled(viewer, client_of):
    text = client_of(viewer).get(PLAN).content.decode()

    assert "Changing a topic needs the role operator." in text
    assert 'class="apply"' not in text


def test_the_plan_shows_old_new_and_the_command(operator, client_of):
    text = client_of(operator).get(PLAN).content.decode()

    assert "86400000" in text
    assert "<strong>600000</strong>" in text
    assert "--add-config &#x27;retention.ms=[600000]&#x27;" in text


def test_a_plan_without_difference_changes_nothing(cluster, operator, client_of):
    client = client_of(operator)
    form = {**planned(client), "retention_ms": "86400000"}
    response = client.post(APPLY, form, follow=True)

    assert b"Nothing differs" in response.content
    assert not AuditEvent.objects.exists()

"""What somebody typed waits sealed, and is gone when the change is over; a record that waits is nowhere to be read."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from console.kit.audit.models import AuditEvent
from console.shell.changes.actions import DOING_MAX
from console.shell.changes.kept_form import opened, sealed
from console.shell.changes.models import ChangeRule, ProposedChange
from console.shell.changes.schedule import ONLY_IF
from console.shell.changes.tasks import expire_changes
from tests.console.shell.changes.test_times import carry_out

RULE = {"kind": "approval", "actions": ["*"], "objects": ["*"], "why": "Customers read it"}
SECRETS = ("the-value", "the-key", "the-header")


@pytest.fixture
def proposed(cluster, collect, operator, client_of):
    """A record that waits; its number."""
    cluster.create_topic("orders", 1, 1)
    collect()
    ChangeRule.objects.create(name="all", definition=RULE, actor_name="root")
    typed = {"value": "the-value", "key": "the-key", "headers": "the-header: 1"}
    client_of(operator).post("/topics/orders/+produce/", typed)
    return ProposedChange.objects.get().pk


def database() -> str:
    with connection.cursor() as cursor:
        rows = []
        for model in (ProposedChange, AuditEvent):
            cursor.execute(f"SELECT * FROM {model._meta.db_table}")
            rows += cursor.fetchall()
    return json.dumps(rows, default=str)


def records(cluster) -> list[tuple[bytes, bytes]]:
    return [(record.key, record.value) for record in cluster.open_records("orders", {0: 0}, True).read(0, 100)]


def test_a_record_waits_sealed_and_leaves_its_size_when_it_is_done(proposed, cluster, administrator, client_of):
    assert not [secret for secret in SECRETS if secret in database()]
    change = ProposedChange.objects.get()
    assert change.form
    assert ["value_bytes", None, 9] in change.lines
    assert carry_out(client_of(administrator), proposed).status_code == 302
    assert records(cluster) == [(b"the-key", b"the-value")]
    assert ProposedChange.objects.get().form == []
    assert not [secret for secret in SECRETS if secret in database()]


def test_nothing_is_left_of_what_is_withdrawn(proposed, operator, client_of):
    client_of(operator).post(f"/changes/{proposed}/+discard/")
    change = ProposedChange.objects.get()
    assert (change.state, change.form) == ("discarded", [])


def test_nothing_is_left_of_what_expires(proposed, operator, client_of):
    ProposedChange.objects.update(expires_at=timezone.now())
    client_of(operator).get("/changes/")
    change = ProposedChange.objects.get()
    assert (change.state, change.form) == ("expired", [])


def test_nothing_is_left_of_what_a_process_that_died_had_begun(proposed):
    began = timezone.now() - DOING_MAX
    ProposedChange.objects.update(state="doing", decided_at=began + timedelta(minutes=1), decided_by="root")
    expire_changes()
    assert ProposedChange.objects.get().form
    ProposedChange.objects.update(decided_at=began)
    assert ONLY_IF["expire-changes"]()
    expire_changes()
    change = ProposedChange.objects.get()
    outcome = "root began it, and it is not known what came of it."
    assert (change.state, change.form, change.outcome) == ("expired", [], outcome)
    assert AuditEvent.objects.get(action="let change expire").detail.endswith(outcome)


def test_a_record_for_a_topic_that_was_made_anew_is_another_plan(proposed, cluster, collect, administrator, client_of):
    browser = client_of(administrator)
    assert browser.get(f"/changes/{proposed}/").context["is_as_proposed"]
    cluster.delete_topic("orders")
    cluster.create_topic("orders", 1, 1)
    collect()
    assert not browser.get(f"/changes/{proposed}/").context["is_as_proposed"]


def test_what_another_key_sealed_is_proposed_again(proposed, administrator, client_of, settings):
    browser = client_of(administrator)
    ProposedChange.objects.update(form="gAAAAnonsense")
    assert "propose it again" in browser.get(f"/changes/{proposed}/").content.decode()


def test_a_form_is_opened_as_it_was_sealed():
    pairs = (("a", "1"), ("a", "ä"), ("b", ""))
    assert opened(sealed(pairs)) == pairs
    assert opened([["a", "1"]]) == (("a", "1"),)

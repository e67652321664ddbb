"""What happens often is one row a minute, however often and with however many names somebody tries."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from console.kit.audit.models import AuditEvent, Tally
from console.kit.audit.queries import verify_chain
from console.kit.audit.tally import NAMED_MAX, THE_REST, close_minutes, count_event

NOW = datetime(2026, 11, 22, 4, 0, 20, tzinfo=UTC)
NOBODY = AnonymousUser()


def count(actor, name: str = "orders", now: datetime = NOW, **more) -> None:
    count_event(actor, "read records", "topic", name, now=now, **more)


@pytest.mark.django_db(transaction=True)
def test_a_minute_becomes_one_row_when_it_is_over(reader):
    for partition in (3, 1, 7):
        count(reader, partitions=(partition, partition), result="done")
    close_minutes(NOW + timedelta(seconds=30))
    assert not AuditEvent.objects.exists()

    close_minutes(NOW + timedelta(seconds=41))
    event = AuditEvent.objects.get()
    assert (event.actor, event.action, event.object_name, event.result) == (reader, "read records", "orders", "done")
    assert event.after == {"times": 3, "partitions": "1 to 7"}
    assert event.detail == "In the minute from 2026-11-22 04:00 UTC."
    assert not Tally.objects.exists()
    assert verify_chain().broken is None


def test_minutes_people_and_objects_are_told_apart(reader, operator):
    for person in (reader, operator):
        count(person)
        count(person, "payments")
        count(person, now=NOW + timedelta(minutes=1))
    close_minutes(NOW + timedelta(minutes=5))

    assert AuditEvent.objects.count() == 6


def test_many_names_are_a_few_rows_and_one_for_the_rest(operator):
    for number in range(500):
        count(NOBODY, f"name-{number}", place=f"10.0.0.{number % 250}")
        count(operator, f"name-{number}")
    close_minutes(NOW + timedelta(minutes=2))

    assert AuditEvent.objects.count() == 2 * (NAMED_MAX + 1)
    rest = AuditEvent.objects.get(actor=None, object_name=THE_REST)
    assert (rest.actor_name, rest.after) == ("anonymous", {"times": 500 - NAMED_MAX})


def test_a_minute_is_written_once(reader):
    count(reader)
    for _ in range(2):
        close_minutes(NOW + timedelta(minutes=2))

    assert AuditEvent.objects.count() == 1


def rows() -> list[tuple]:
    close_minutes(datetime.now(UTC) + timedelta(minutes=2))
    return [
        (event.actor_name, event.action, event.object_type, event.object_name) for event in AuditEvent.objects.all()
    ]


def test_logins_that_fail_and_wait_are_in_the_audit_and_what_was_typed_is_not(viewer):
    for name in ("viewer", "my secret password", *["viewer"] * 5):
        Client().post("/login/", {"username": name, "password": "wrong"})

    result = rows()
    assert set(result) == {
        ("anonymous", "fail to log in", "user", "viewer"),
        ("anonymous", "fail to log in", "user", "no such account"),
        ("anonymous", "wait to log in", "user", "viewer"),
    }
    assert AuditEvent.objects.get(action="wait to log in").after == {"times": 1, "from": "127.0.0.1"}


def test_refusals_name_who_asked_and_for_what(viewer, client_of):
    client = client_of(viewer)
    for _ in range(3):
        assert client.get("/topics/orders/+delete/").status_code == 403
    assert client.get("/audit/").status_code == 403

    assert set(rows()) == {
        ("viewer", "be refused", "topic", "orders"),
        ("viewer", "be refused", "cluster", "cluster"),
    }


def test_a_form_from_elsewhere_is_in_the_audit(db):
    assert Client(enforce_csrf_checks=True).post("/login/", {}).status_code == 403
    assert rows() == [("anonymous", "be refused", "page", "/login/")]


@pytest.mark.parametrize("address", ["+records/?place=oldest", "+records/?place=oldest&format=csv", "+records/0/0/"])
def test_who_reads_records_is_in_the_audit_and_what_is_in_them_is_not(address, reader, client_of, cluster, collect):
    cluster.create_topic("orders", 1, 1)
    cluster.produce_record("orders", 0, b"a secret", b"a secret", ())
    collect()
    assert client_of(reader).get(f"/topics/orders/{address}").status_code == 200

    assert rows() == [("reader", "read records", "topic", "orders")]
    event = AuditEvent.objects.get()
    assert event.after == {"times": 1, "partitions": "0 to 0"}
    assert "secret" not in f"{event.before}{event.after}{event.detail}"

"""The chain as it lies in the database: tampered with behind the console's back, verification names the row."""

import pytest
from django.db import connection, transaction

from console.kit.audit.models import AuditEnd, AuditEvent
from console.kit.audit.queries import verify_chain
from console.kit.audit.record import record_event

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def events(operator) -> list[AuditEvent]:
    return [record_event(operator, "create topic", "topic", f"orders-{n}", after={"n": n, "t": (1,)}) for n in range(4)]


def execute(sql: str, *values) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def test_what_was_recorded_verifies_after_a_round_through_the_database(events):
    assert verify_chain().checked == len(events)
    assert verify_chain().broken is None


def test_a_deleted_account_breaks_nothing(events, operator):
    operator.delete()
    assert AuditEvent.objects.filter(actor=None).count() == len(events)
    assert verify_chain().broken is None


def test_a_row_changed_in_the_database_is_named_on_the_page(events, administrator, client_of):
    execute("UPDATE audit_auditevent SET object_name = %s WHERE id = %s", "payments", events[1].pk)

    text = client_of(administrator).get("/audit/+verify/").content.decode()

    assert f"Row {events[1].pk} is not as it was written." in text
    assert "broken" in text
    assert "The 1 row before it is as it was written" in text


def test_a_row_deleted_in_the_database_is_missed(events):
    execute("DELETE FROM audit_auditevent WHERE id = %s", events[1].pk)
    assert verify_chain().broken.row_id == events[2].pk


def test_rows_cut_off_the_end_are_missed(events):
    execute("DELETE FROM audit_auditevent WHERE id = %s", events[3].pk)
    assert verify_chain().broken.sentence == "The end was cut off: 1 row is missing."


def test_an_end_set_back_together_with_the_rows_needs_a_written_down_seal(events, administrator, client_of, settings):
    """What the chain cannot see, it says: the newest seal is shown to be kept elsewhere."""
    kept = settings.AUDIT_END_FILE.read_text()
    last = record_event(None, "create topic", "topic", "orders-4")
    execute("DELETE FROM audit_auditevent WHERE id = %s", last.pk)
    AuditEnd.objects.update(seal=events[3].seal, count=4)
    settings.AUDIT_END_FILE.write_text(kept)

    text = client_of(administrator).get("/audit/+verify/").content.decode()
    assert events[3].seal in text
    assert "Written down elsewhere" in text


def test_a_change_that_is_rolled_back_leaves_no_gap(db):
    record_event(None, "start", "process", "broker-1")
    with transaction.atomic():
        record_event(None, "stop", "process", "broker-1")
        transaction.set_rollback(True)
    record_event(None, "restart", "process", "broker-1")

    assert verify_chain().checked == 2
    assert verify_chain().broken is None


def test_many_rows_at_once_cannot_be_changed_either(events):
    with pytest.raises(TypeError):
        AuditEvent.objects.filter(result="done").update(result="failed")
    with pytest.raises(TypeError):
        AuditEvent.objects.all().delete()

"""The end outside the database: whoever can only write that cannot cut rows off unseen."""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from console.kit.audit import record
from console.kit.audit.models import AuditEnd, AuditEvent
from console.kit.audit.queries import verify_chain
from console.kit.audit.record import record_event

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def end_file(settings) -> Path:
    return Path(settings.AUDIT_END_FILE)


@pytest.fixture
def events() -> list[AuditEvent]:
    return [record_event(None, "create topic", "topic", f"orders-{n}") for n in range(5)]


def execute(sql: str, *values) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def cut_off(events: list[AuditEvent], left: int) -> None:
    """As somebody would who can write the database and has no key: the row of the end is set back too."""
    execute("DELETE FROM audit_auditevent WHERE id > %s", events[left - 1].pk)
    execute("UPDATE audit_auditend SET seal = %s, count = %s", events[left - 1].seal, left)


def test_what_was_recorded_is_sealed_outside_for_the_owner_alone(events, end_file):
    kept = json.loads(end_file.read_text())
    assert (kept["count"], kept["seal"]) == (5, events[-1].seal)
    assert end_file.stat().st_mode & 0o777 == 0o600
    assert verify_chain().broken is None


def test_rows_cut_off_together_with_their_end_are_missed_on_the_page_and_at_a_shell(events, administrator, client_of):
    cut_off(events, 2)

    assert (
        "The end was cut off: 3 rows are missing." in client_of(administrator).get("/audit/+verify/").content.decode()
    )
    out = StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("verify_audit", stdout=out)
    assert "The end was cut off: 3 rows are missing." in out.getvalue()


def test_everything_deleted_is_missed(events):
    execute("DELETE FROM audit_auditevent")
    execute("DELETE FROM audit_auditend")

    assert verify_chain().broken.sentence == "The end was cut off: 5 rows are missing."


def test_rows_written_over_the_gap_do_not_hide_it(events, end_file):
    kept = end_file.read_text()
    cut_off(events, 2)
    for n in range(6):
        record_event(None, "create topic", "topic", f"later-{n}")

    assert end_file.read_text() == kept
    assert "cut off or replaced" in verify_chain().broken.sentence


def test_what_is_rolled_back_is_no_end(events, end_file):
    kept = end_file.read_text()
    with transaction.atomic():
        record_event(None, "stop", "process", "broker-1")
        transaction.set_rollback(True)

    assert end_file.read_text() == kept
    assert verify_chain().broken is None


def test_a_process_that_dies_before_the_file_is_written_leaves_no_alarm_and_the_next_row_catches_up(
    events, end_file, monkeypatch
):
    kept = end_file.read_text()
    with monkeypatch.context() as dying:
        dying.setattr(record, "_keep_end", lambda *_: None)
        record_event(None, "stop", "process", "broker-1")
        record_event(None, "start", "process", "broker-1")
    assert end_file.read_text() == kept
    assert verify_chain().broken is None

    last = record_event(None, "stop", "process", "broker-1")
    assert json.loads(end_file.read_text())["seal"] == last.seal
    assert verify_chain().broken is None


def test_of_two_processes_the_slower_does_not_set_the_end_back(end_file, monkeypatch):
    waiting = []
    with monkeypatch.context() as slow:
        slow.setattr(record, "move_end", lambda *arguments: waiting.append(arguments))
        record_event(None, "stop", "process", "broker-1")
    last = record_event(None, "start", "process", "broker-1")
    record.move_end(*waiting[0])

    assert json.loads(end_file.read_text())["seal"] == last.seal


def test_a_file_that_cannot_be_written_keeps_nobody_from_acting(settings, tmp_path):
    (tmp_path / "file").write_text("")
    settings.AUDIT_END_FILE = tmp_path / "file" / "audit-end"

    assert record_event(None, "stop", "process", "broker-1").pk
    assert AuditEnd.objects.get().count == 1


@pytest.mark.parametrize("forge", [lambda kept: kept | {"count": 2}, lambda kept: {"count": 2}, lambda kept: [kept]])
def test_an_end_that_was_written_without_the_key_is_told(events, end_file, forge):
    forged = json.dumps(forge(json.loads(end_file.read_text())))
    end_file.write_text(forged)
    record_event(None, "stop", "process", "broker-1")

    assert verify_chain().broken is not None
    assert end_file.read_text() == forged


def test_each_seal_is_a_line_of_the_log(monkeypatch):
    lines = []
    monkeypatch.setattr("console.kit.audit.seal_log.logger.info", lines.append)
    event = record_event(None, "stop", "process", "broker-1")

    (line,) = map(json.loads, lines)
    assert (line["event"], line["count"], line["seal"]) == ("audit seal", 1, event.seal)


@pytest.mark.parametrize("left", [5, 2, 0])
def test_a_file_that_is_taken_away_with_rows_or_without_is_told_for_good(events, end_file, left, monkeypatch):
    end_file.unlink()
    if left:
        cut_off(events, left)
    else:
        execute("DELETE FROM audit_auditevent")
        execute("DELETE FROM audit_auditend")
    monkeypatch.setattr(record, "_FIRST_MINUTE", timedelta())
    assert "the sealed end of the audit" in verify_chain().broken.sentence
    with pytest.raises(SystemExit, match="1"):
        call_command("verify_audit", stdout=StringIO())
    for n in range(2):
        record_event(None, "create topic", "topic", f"later-{n}")
    if left:
        assert "was missing for a time" in verify_chain().broken.sentence
        assert events[left - 1].seal in verify_chain().broken.sentence


def test_where_no_row_was_ever_sealed_nothing_is_missing_and_no_key_is_made(db, settings, tmp_path):
    settings.SECRETS_DIR = tmp_path
    assert verify_chain().broken is None
    assert list(tmp_path.iterdir()) == []


def test_of_the_first_two_rows_the_second_may_be_the_first_to_come_to_the_file(end_file, monkeypatch):
    with monkeypatch.context() as dying:
        dying.setattr(record, "_keep_end", lambda *_: None)
        record_event(None, "stop", "process", "broker-1")
    record_event(None, "start", "process", "broker-1")
    assert verify_chain().broken is None

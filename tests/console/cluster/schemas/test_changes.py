"""What any client changes in the registry is in the line of the history, by the records of its topic."""

import json

import pytest

from console.cluster.schemas.changes import TOPIC, event_of
from console.cluster.schemas.plan import delete_plan
from console.kit.gateway.records.interface import RecordView
from console.state.history.models import Change


def record(key: object, value: object) -> RecordView:
    return RecordView(0, 0, 1, json.dumps(key).encode(), None if value is None else json.dumps(value).encode())


SCHEMA = {"keytype": "SCHEMA", "subject": "orders-value", "version": 2, "magic": 1}


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        (SCHEMA, {"id": 7, "schema": "secret"}, "Schema orders-value: version 2 registered, id 7"),
        (SCHEMA, {"id": 7, "deleted": True}, "Schema orders-value: version 2 deleted"),
        (SCHEMA, None, "Schema orders-value: version 2 deleted for good"),
        ({"keytype": "CONFIG"}, {"compatibilityLevel": "NONE"}, "Schema all subjects: compatibility → NONE"),
        ({"keytype": "MODE", "subject": "x"}, {"mode": "READONLY"}, "Schema x: mode → READONLY"),
        ({"keytype": "DELETE_SUBJECT", "subject": "x"}, {"version": 3}, "Schema x: deleted up to version 3"),
    ],
)  # fmt: skip
def test_a_record_is_a_sentence(key, value, sentence):
    event = event_of(record(key, value))
    assert event is not None
    assert event.sentence == sentence


@pytest.mark.parametrize(
    "foreign",
    [
        RecordView(0, 0, 1, None, None),
        RecordView(0, 0, 1, b"\xff", b"["),
        RecordView(0, 0, 1, b"[" * 100_000, b""),
        record({"keytype": "NOOP"}, None),
        record([], 5),
    ],
)
def test_what_is_no_change_is_none(foreign):
    assert event_of(foreign) is None


def test_records_since_the_last_look_are_changes(cluster, collect, collector):
    cluster.create_topic(TOPIC, 1, 1)
    cluster.produce_record(TOPIC, 0, json.dumps(SCHEMA).encode(), b"{}")
    collect()
    collector.look("schemas")
    assert not Change.objects.filter(kind="schema").exists()
    cluster.produce_record(TOPIC, 0, json.dumps({**SCHEMA, "version": 3}).encode(), b'{"id": 9}')
    for _ in range(2):
        collect()
        collector.look("schemas")
    change = Change.objects.get(kind="schema")
    assert (change.object_name, change.sentence) == ("orders", "Schema orders-value: version 3 registered, id 9")


@pytest.mark.parametrize("number", [None, 3])
def test_a_soft_deletion_is_not_called_safe_and_names_who_fails(number):
    plan = delete_plan("orders-value", number, [3], permanent=False, ids=[7])
    assert (plan.tone, plan.safe_because) == ("", "")
    touched = " ".join(plan.touches)
    assert "can still be decoded" in touched
    assert ("Version 3 is not found any more" if number else "The subject is not found any more") in touched
    assert delete_plan("orders-value", number, [3], permanent=True, ids=[7]).tone == "critical"

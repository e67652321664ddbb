"""Producing a record: by an operator, checked, audited without what it says."""

import pytest

from console.kit.audit.models import AuditEvent
from console.state.clusters.models import Topic
from tests.fakes.gateway import FakeGateway

ADDRESS = "/topics/orders/+produce/"


@pytest.fixture(autouse=True)
def _topic(cluster: FakeGateway, db):
    cluster.create_topic("orders", 2, 3)
    Topic.objects.create(name="orders", partition_count=2)


def newest(cluster, partition: int = 1):
    stream = cluster.open_records("orders", {partition: 0}, True)
    return stream.read(0, 100)[-1]


def test_an_operator_produces_and_is_led_to_the_record(operator, client_of, cluster):
    fields = {"partition": "1", "key": "k", "value": "line\r\nline", "headers": "trace: a:b\n\n x : "}
    response = client_of(operator).post(ADDRESS, fields, follow=True)

    record = newest(cluster)
    assert (record.key, record.value) == (b"k", b"line\nline")
    assert record.headers == (("trace", b"a:b"), ("x", b""))
    assert response.redirect_chain == [("/topics/orders/+records/1/0/", 302)]
    assert "Appended to partition 1 at offset 0." in response.content.decode()


def test_the_audit_keeps_the_place_and_never_the_contents(operator, client_of):
    client_of(operator).post(ADDRESS, {"partition": "1", "key": "secret", "value": "very secret"})

    event = AuditEvent.objects.get()
    assert (event.action, event.object_name, event.result) == ("produce record", "orders", "done")
    assert event.after == {"partition": 1, "offset": 0, "key_bytes": 6, "value_bytes": 11, "headers": 0}


def test_a_tombstone_is_null_and_a_blank_value_is_empty(operator, client_of, cluster):
    client = client_of(operator)
    client.post(ADDRESS, {"partition": "1", "key": "k", "is_null": "on"})
    assert newest(cluster).value is None
    client.post(ADDRESS, {"partition": "1"})
    assert (newest(cluster).key, newest(cluster).value) == (None, b"")


def test_hex_is_read_as_bytes(operator, client_of, cluster):
    client_of(operator).post(ADDRESS, {"partition": "1", "written_as": "hex", "key": "00 ff", "value": "0A0b"})
    assert (newest(cluster).key, newest(cluster).value) == (b"\x00\xff", b"\n\x0b")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"written_as": "hex", "value": "xyz"}, "Two hexadecimal digits"),
        ({"written_as": "json", "value": "{"}, "This is no JSON"),
        ({"headers": "no colon"}, "One header on a line"),
        ({"partition": "9"}, "Select a valid choice"),
        ({"is_null": "on", "value": "x"}, "A tombstone has no value"),
        ({"value": "ż" * 600_000}, "At most 1000000 bytes"),
    ],
)
def test_what_cannot_be_right_is_refused_and_what_was_typed_stays(fields, sentence, operator, client_of, cluster):
    response = client_of(operator).post(ADDRESS, {"key": "kept", **fields})
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert "kept" in response.content.decode()
    assert not AuditEvent.objects.exists()


def test_a_cluster_that_does_not_answer_is_told_and_audited(operator, client_of, cluster):
    cluster.cut_off()
    response = client_of(operator).post(ADDRESS, {"value": "x"})
    assert response.status_code == 422
    assert AuditEvent.objects.get().result == "failed"


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_only_an_operator_produces(person, request, client_of, cluster):
    client = client_of(request.getfixturevalue(person))
    assert client.post(ADDRESS, {"partition": "1", "value": "x"}).status_code == 403
    assert cluster.record_spans("orders", True)[1].next == 0


def test_a_reader_sees_why_the_button_does_nothing(reader, client_of):
    text = client_of(reader).get("/topics/orders/+records/").content.decode()
    why_not = "This needs the role operator. You have read-only access."
    assert f'aria-disabled="true" title="{why_not}">Produce a record…' in text
    assert "/+produce/" not in text

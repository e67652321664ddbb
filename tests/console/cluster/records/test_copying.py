"""A record copied and a tombstone, each as a plan that names its place and never what is in it."""

import pytest

from console.kit.audit.models import AuditEvent
from console.state.clusters.models import Topic
from tests.fakes.gateway import FakeGateway

COPY, TOMBSTONE = "/topics/orders/+records/0/0/+copy/", "/topics/orders/+records/0/0/+tombstone/"


@pytest.fixture(autouse=True)
def topics(cluster: FakeGateway, db):
    for name, policy in (("orders", "compact"), ("archive", "delete"), ("others", "delete")):
        cluster.create_topic(name, 2, 1)
        Topic.objects.create(name=name, partition_count=2, cleanup_policy=policy)
    cluster.produce_record("orders", 0, b"secret-key", b"secret-value", (("trace", b"abc"),))


def records_of(cluster, topic, partition):
    return cluster.open_records(topic, {partition: 0}, True).read(0, 100)


def confirmed(client, address, **form):
    shown = client.post(address, form) if form else client.get(address)
    fields = dict(shown.context["fields"])
    digest = shown.content.decode().partition('name="digest" value="')[2][:32]
    return client.post(address, fields | {"digest": digest})


def test_a_record_is_copied_with_its_headers_into_another_topic(operator, client_of, cluster):
    client = client_of(operator)
    plan = client.post(COPY, {"to": "archive", "to_partition": "1"}).context["plan"]
    assert records_of(cluster, "archive", 1) == []
    assert "partition 0, offset 0 of orders" in str(plan.lines)

    answer = confirmed(client, COPY, to="archive", to_partition="1")
    assert answer.headers["Location"] == "/topics/archive/+records/1/0/"
    (copy,) = records_of(cluster, "archive", 1)
    assert (copy.key, copy.value, copy.headers) == (b"secret-key", b"secret-value", (("trace", b"abc"),))


def test_a_tombstone_goes_where_the_record_is_and_says_what_it_costs(operator, client_of, cluster):
    client = client_of(operator)
    html = client.get(TOMBSTONE).content.decode()
    assert "Compaction then removes every earlier record of this key for good" in html
    assert confirmed(client, TOMBSTONE).headers["Location"] == "/topics/orders/+records/0/1/"
    last = records_of(cluster, "orders", 0)[-1]
    assert (last.key, last.value, last.headers) == (b"secret-key", None, ())


def test_a_tombstone_without_a_key_or_without_compaction_is_told_to_be_of_no_use(operator, client_of, cluster):
    cluster.produce_record("orders", 1, None, b"v")
    cluster.produce_record("archive", 0, b"k", b"v")
    client = client_of(operator)
    assert "The record has no key" in client.get("/topics/orders/+records/1/0/+tombstone/").content.decode()
    assert "The topic is not compacted" in client.get("/topics/archive/+records/0/0/+tombstone/").content.decode()


def test_neither_plan_nor_audit_holds_what_is_in_the_record(operator, client_of):
    client = client_of(operator)
    assert "secret" not in str(client.get(TOMBSTONE).context["plan"])
    confirmed(client, COPY, to="archive", to_partition="")
    events = AuditEvent.objects.all()
    assert {(event.action, event.object_name, event.result) for event in events} == {("copy record", "archive", "done")}
    assert "secret" not in str([event.__dict__ for event in events])


def test_a_topic_one_does_not_operate_is_no_target(operator, client_of, give_rule):
    give_rule(operator, "nothing", "topic", "others")
    answer = client_of(operator).post(COPY, {"to": "others"})
    assert (answer.status_code, "There is no such topic that you operate." in answer.content.decode()) == (422, True)


@pytest.mark.parametrize(
    "form",
    [{"to": ""}, {"to": "nowhere"}, {"to": "archive", "to_partition": "2"}, {"to": "archive", "to_partition": "-1"}],
)
def test_a_target_of_nonsense_is_refused(operator, client_of, form):
    assert client_of(operator).post(COPY, form).status_code == 422


def test_a_record_that_is_gone_is_not_copied(operator, client_of):
    address = "/topics/orders/+records/0/77/+copy/"
    answer = client_of(operator).post(address, {"to": "archive"})
    assert answer.status_code == 422
    assert client_of(operator).get("/topics/orders/+records/9/0/+tombstone/").status_code == 404


def test_a_reader_sees_no_way_to_it_and_a_viewer_less(reader, viewer, client_of):
    assert "+tombstone" not in client_of(reader).get("/topics/orders/+records/0/0/").content.decode()
    for person in (reader, viewer):
        assert client_of(person).get(COPY).status_code == 403
        assert client_of(person).post(TOMBSTONE, {"digest": "0" * 32}).status_code == 403

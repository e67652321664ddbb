"""Many topics at once, by a plan for each: retention, partitions, records and owner."""

import re

import pytest

from console.cluster.notes.models import TopicNote
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import RefusedError
from tests.console.confirming import digest_in

PAGE = "/topics/+many/"
NAMES = ["clicks-a", "clicks-b", "clicks-c"]


@pytest.fixture(autouse=True)
def _topics(cluster, collect, clock):
    for name in NAMES:
        cluster.create_topic(name, 2, 1)
    cluster.create_topic("state", 1, 1, {"cleanup.policy": "compact"})
    cluster.create_topic("secret-plans", 2, 1)
    cluster.append("clicks-a", 0, 40)
    cluster.append("clicks-b", 1, 5)
    cluster.commit("readers", "clicks-a", 0, 3)
    cluster.change_topic_settings("clicks-b", {"retention.ms": "86400000"})
    clock.advance(60_000)
    collect()


def confirmed(client, query: dict, **form):
    shown = client.get(PAGE, query)
    sent: dict = {}
    for name, value in shown.context["fields"]:
        sent.setdefault(name, []).append(value)
    plan = shown.context["plan"]
    return client.post(PAGE, {**sent, "digest": digest_in(shown), "typed_name": plan.typed_name} | form, follow=True)


def undone(client, response):
    """Confirm the undo that the page after the change offers."""
    query = re.search(r'href="/topics/\+many/\?([^"]*)">Plan the undo', response.content.decode())[1]
    return confirmed(client, dict(part.split("=") for part in query.replace("&amp;", "&").split("&")))


def partition_counts(cluster) -> dict[str, int]:
    return {topic.name: len(topic.partitions) for topic in cluster.describe_topics()}


def retention_ms(cluster, name: str) -> tuple[str, str]:
    setting = next(item for item in cluster.topic_settings(name) if item.name == "retention.ms")
    return setting.value, setting.source


def spans(cluster, name: str) -> dict[int, tuple[int, int]]:
    return {number: (span.first, span.next) for number, span in cluster.record_spans(name, False).items()}


def test_those_with_fewer_partitions_get_as_many_as_typed(cluster, operator, client_of, collect):
    client = client_of(operator)
    cluster.add_partitions("clicks-c", 6)
    collect()
    query = {"topic": NAMES, "do": "partitions", "value": "4"}
    shown = client.get(PAGE, query)
    assert [(line.name, line.old, line.new) for line in shown.context["plan"].lines] == [
        ("clicks-a", 2, 4),
        ("clicks-b", 2, 4),
    ]
    assert b"Partitions are reassigned to members in 1 group." in shown.content
    assert b"2 topics: done." in confirmed(client, query).content
    assert {name: partition_counts(cluster)[name] for name in NAMES} == {"clicks-a": 4, "clicks-b": 4, "clicks-c": 6}
    event = AuditEvent.objects.get()
    assert (event.action, event.object_name, event.after) == (
        "add partitions to topics",
        "partition_count",
        {"clicks-a": 4, "clicks-b": 4},
    )


def test_more_partitions_have_to_be_confirmed_by_their_number(cluster, operator, client_of):
    query = {"topic": NAMES, "do": "partitions", "value": "4"}
    assert confirmed(client_of(operator), query, typed_name="change 2 topics").status_code == 422
    assert set(partition_counts(cluster).values()) == {1, 2}


@pytest.mark.parametrize("value", ["", "many", "0", "-1", "1.5"])
def test_what_is_no_number_of_partitions_is_refused_with_a_sentence(value, operator, client_of):
    response = client_of(operator).get(PAGE, {"topic": NAMES, "do": "partitions", "value": value})
    assert b"Partitions then: " in response.content
    assert "plan" not in response.context


@pytest.mark.parametrize("do", ["retention", "set"])
def test_retention_of_many_says_what_goes_and_who_has_not_read_it(do, cluster, operator, client_of):
    client = client_of(operator)
    query = {"topic": NAMES, "do": do, "setting": "retention.ms", "value": "1 s"}
    text = client.get(PAGE, query).content.decode()
    assert "Group readers has not read 37 of them, and never will." in text
    confirmed(client, query)
    assert {name: retention_ms(cluster, name) for name in NAMES} == dict.fromkeys(NAMES, ("1000", "topic"))
    event = AuditEvent.objects.get()
    assert (event.action, event.before["clicks-b"], event.before["clicks-c"]) == (
        "change retention of topics",
        "86400000",
        "default",
    )


def test_retention_of_many_is_put_back_to_what_each_had(cluster, operator, client_of):
    client = client_of(operator)
    before = {name: retention_ms(cluster, name) for name in NAMES}
    done = confirmed(client, {"topic": NAMES, "do": "retention", "setting": "retention.ms", "value": "30 d"})
    assert retention_ms(cluster, "clicks-b") == ("2592000000", "topic")
    undone(client, done)
    assert {name: retention_ms(cluster, name) for name in NAMES} == before


@pytest.mark.parametrize(
    ("setting", "value", "why"),
    [
        ("min.insync.replicas", "2", b"is no setting of retention"),
        ("retention.ms", "soon", b"A number, alone or with a unit"),
        ("retention.ms", "", b"needs a value"),
    ],
)
def test_what_is_no_retention_is_refused_with_a_sentence(setting, value, why, operator, client_of):
    query = {"topic": NAMES, "do": "retention", "setting": setting, "value": value}
    assert why in client_of(operator).get(PAGE, query).content


def test_records_up_to_now_are_deleted_and_what_is_written_after_the_plan_stays(
    cluster, operator, client_of, clock, monkeypatch
):
    monkeypatch.setattr("console.cluster.retention.bulk.now_ms", clock.now_ms)
    client = client_of(operator)
    query = {"topic": NAMES, "do": "empty"}
    shown = client.get(PAGE, query)
    assert "Up to 40 records in 1 partition are deleted for good" in shown.content.decode()
    assert "Group readers has not read 37 of them, and never will." in shown.content.decode()
    clock.advance(1_000)
    cluster.append("clicks-a", 0, 7)
    form: dict = {"digest": digest_in(shown), "typed_name": "change 2 topics"}
    for name, value in shown.context["fields"]:
        form.setdefault(name, []).append(value)
    assert b"2 topics: done." in client.post(PAGE, form, follow=True).content
    assert (spans(cluster, "clicks-a")[0], spans(cluster, "clicks-b")[1]) == ((40, 47), (5, 5))


def test_a_compacted_topic_among_them_is_named_and_nothing_is_deleted(cluster, operator, client_of):
    response = confirmed(client_of(operator), {"topic": ["clicks-a", "state"], "do": "empty"})
    assert response.status_code == 409
    assert b"state: Its cleanup.policy is compact" in response.content
    assert spans(cluster, "clicks-a")[0] == (0, 40)


def test_an_owner_is_named_for_many_and_the_rest_of_their_notes_stays(operator, client_of):
    TopicNote.objects.create(topic="clicks-b", owner="ann", labels="pii", description="clicks")
    client = client_of(operator)
    done = confirmed(client, {"topic": NAMES, "do": "owner", "value": " web team "})
    assert dict(TopicNote.objects.values_list("topic", "owner")) == dict.fromkeys(NAMES, "web team")
    assert TopicNote.objects.get(topic="clicks-b").labels == "pii"
    undone(client, done)
    assert dict(TopicNote.objects.values_list("topic", "owner")) == {"clicks-b": "ann"}


def test_an_undo_of_another_change_is_not_taken(operator, client_of):
    client = client_of(operator)
    done = confirmed(client, {"topic": NAMES, "do": "owner", "value": "web team"})
    number = re.search(r"undo=(\d+)", done.content.decode())[1]
    assert client.get(PAGE, {"do": "retention", "setting": "owner", "undo": number}).status_code == 404


@pytest.mark.parametrize("do", ["partitions", "retention", "empty", "owner"])
def test_what_one_refuses_keeps_no_other_from_its_change(do, cluster, operator, client_of, monkeypatch):
    def refuse(topic, *_):
        raise RefusedError("POLICY_VIOLATION", f"{topic} is held.")

    for name in ("add_partitions", "change_topic_settings", "delete_records"):
        monkeypatch.setattr(cluster, name, refuse)
    monkeypatch.setattr("console.cluster.topics.bulk.write_note", refuse)
    query = {"topic": NAMES[:2], "do": do, "setting": "retention.ms" if do == "retention" else ""}
    query["value"] = {"partitions": "4", "retention": "30 d", "owner": "web team"}.get(do, "")
    response = confirmed(client_of(operator), query)
    assert b"clicks-a is held." in response.content
    assert b"clicks-b is held." in response.content


def test_more_than_one_plan_has_room_for_is_refused_before_the_cluster_is_asked(cluster, collect, operator, client_of):
    names = [f"many-{number:02}" for number in range(51)]
    for name in names:
        cluster.create_topic(name, 1, 1)
    collect()
    response = client_of(operator).get(PAGE, {"topic": names, "do": "empty"})
    assert b"One plan of this change has room for 50 topics: choose fewer." in response.content

"""What protects a topic outlives its service, connector or mirror, until an administrator ends it."""

import json

import pytest
from django.conf import settings

from console.cluster.protections.models import TopicProtection
from console.cluster.records.origins import NAMES_MAX
from console.ecosystem.connectors.models import Connector
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.access.internal_topics import forget, is_internal
from console.kit.audit.models import AuditEvent
from console.processes.models import ManagedProcess
from console.state.clusters.models import Topic
from tests.console.confirming import digest_in

SECRET = "4111-1111"
RULES = '[[rules]]\ntopics = "payments"\nmask = ["value.card"]\n'
INTERNAL = ("wk.cfg", "subjects", "pings", "lines.offsets", "eu.wk.cfg")
MASKED = ("copy", "copy-of-copy", "failed-in-sink", "failed-in-job", "us-payments")


def make_services() -> None:
    def run(name: str, kind: str, **properties: str) -> None:
        ManagedProcess.objects.create(name=name, kind=kind, spec={"properties": properties, "directory": "/x"})

    run("worker", "connect", **{"config.storage.topic": "wk.cfg"})
    run("registry", "registry", **{"kafkastore.topic": "subjects"})
    run("probe", "probe", topic="pings")
    job = {"job": "dedupe", "input.topic": "payments", "dead.letter.topic": "failed-in-job"}
    run("job", "stream", **job)
    Connector.objects.create(name="lines", kind="source", config={"offsets.storage.topic": "lines.offsets"})
    Connector.objects.create(name="sink", kind="sink", topics=["payments"], dead_letters="failed-in-sink")
    mirror = {"source.cluster.alias": "us", "replication.policy.separator": "-"}
    Connector.objects.create(name="mm2", kind="source", class_name="org.x.MirrorSourceConnector", config=mirror)
    MirroredTopic.objects.create(flow="a->b", topic="payments", target="copy")
    MirroredTopic.objects.create(flow="b->c", topic="copy", target="copy-of-copy")


def remove_services() -> None:
    for model in (ManagedProcess, Connector, MirroredTopic):
        model.objects.all().delete()
    forget()


@pytest.fixture
def topics(cluster, collect):
    settings.MASKING_FILE.write_text(RULES)
    settings.MASKING_FILE.chmod(0o600)
    for name in ("orders", "payments", *INTERNAL, *MASKED):
        cluster.create_topic(name, 1, 1, {"cleanup.policy": "compact"} if name == "lines.offsets" else {})
        cluster.produce_record(name, 0, b"key", json.dumps({"card": SECRET}).encode(), ())
    make_services()
    collect()
    return cluster


def records(client, topic: str):
    return client.get(f"/topics/{topic}/+records/?place=oldest")


def shown(client, topic: str) -> str:
    return client.get(f"/topics/{topic}/").content.decode()


def test_internal_topics_stay_internal_when_their_service_is_removed(topics, collect, reader, client_of):
    remove_services()
    collect()
    assert {name: records(client_of(reader), name).status_code for name in INTERNAL} == dict.fromkeys(INTERNAL, 403)
    assert records(client_of(reader), "orders").status_code == 200


def test_copies_and_dead_letters_stay_masked_when_what_made_them_is_removed(topics, collect, reader, client_of):
    remove_services()
    Topic.objects.filter(name="copy").delete()  # the middle of a chain of copies
    texts = {name: records(client_of(reader), name).content.decode() for name in MASKED if name != "copy"}
    assert {name for name, text in texts.items() if SECRET in text} == set()
    assert all("key" in text for text in texts.values())


def test_a_topic_that_is_made_anew_under_the_name_is_another_one(topics, cluster, collect, reader, client_of):
    remove_services()
    for name in ("wk.cfg", "failed-in-sink"):
        cluster.delete_topic(name)
        collect()
        cluster.create_topic(name, 1, 1)
        cluster.produce_record(name, 0, b"key", json.dumps({"card": SECRET}).encode(), ())
    collect()
    assert SECRET in records(client_of(reader), "wk.cfg").content.decode()
    assert SECRET in records(client_of(reader), "failed-in-sink").content.decode()


def test_where_topics_have_no_ids_the_name_counts(topics, collect, reader, client_of):
    remove_services()
    Topic.objects.update(topic_id="")
    assert is_internal("wk.cfg")
    assert SECRET not in records(client_of(reader), "failed-in-sink").content.decode()


def test_a_topics_page_shows_what_protects_it_and_why(topics, viewer, client_of):
    text = shown(client_of(viewer), "wk.cfg")
    assert "config.storage.topic of process worker" in text
    assert "Masking rules of payments" in shown(client_of(viewer), "failed-in-sink")
    assert "dead letters of connector sink" in shown(client_of(viewer), "failed-in-sink")
    assert "Protection" not in shown(client_of(viewer), "orders")


def test_names_that_are_hidden_are_not_shown_with_it(topics, viewer, give_rule, client_of):
    give_rule(viewer, "nothing", "topic", "payments")
    give_rule(viewer, "nothing", "process", "sink")
    text = shown(client_of(viewer), "failed-in-sink")
    assert "Protection" in text
    assert "payments" not in text
    assert "connector sink" not in text


def test_only_administrators_end_it_by_a_plan_that_is_audited(
    topics, collect, reader, operator, administrator, client_of
):
    remove_services()
    collect()
    row = TopicProtection.objects.get(topic="failed-in-sink")
    address = f"/topics/failed-in-sink/+protections/{row.pk}/+remove/"
    for person in (reader, operator):
        assert client_of(person).get(address).status_code == 403
        assert client_of(person).post(address, {"digest": "x"}).status_code == 403
        assert "+remove/" not in shown(client_of(person), "failed-in-sink")
    client = client_of(administrator)
    assert address in shown(client, "failed-in-sink")
    page = client.get(address)
    assert client.post(address, {"digest": digest_in(page)}).status_code == 422, "its name has to be typed"
    confirmed = {"digest": digest_in(page), "typed_name": "failed-in-sink"}
    assert client.post(address, confirmed).status_code == 302
    event = AuditEvent.objects.get(action="remove protection", result="done")
    assert (event.object_name, event.before) == (
        "failed-in-sink",
        {"masking rules of payments": "dead letters of connector sink"},
    )
    collect()
    assert SECRET in records(client_of(reader), "failed-in-sink").content.decode()


def test_it_is_not_ended_while_what_it_comes_from_is_there(topics, administrator, client_of):
    row = TopicProtection.objects.get(topic="wk.cfg")
    page = client_of(administrator).get(f"/topics/wk.cfg/+protections/{row.pk}/+remove/")
    assert "still" in page.context["plan"].obstacle


def test_an_internal_topic_is_readable_when_its_protection_has_ended(topics, collect, reader, administrator, client_of):
    remove_services()
    collect()
    client, row = client_of(administrator), TopicProtection.objects.get(topic="wk.cfg")
    address = f"/topics/wk.cfg/+protections/{row.pk}/+remove/"
    client.post(address, {"digest": digest_in(client.get(address)), "typed_name": "wk.cfg"})
    assert not is_internal("wk.cfg")
    assert records(client_of(reader), "wk.cfg").status_code == 200


def test_a_row_of_another_topic_is_not_removed_by_this_ones_address(topics, administrator, client_of):
    row = TopicProtection.objects.get(topic="wk.cfg")
    assert client_of(administrator).get(f"/topics/orders/+protections/{row.pk}/+remove/").status_code == 404


def test_of_a_topic_with_many_origins_only_that_they_are_many_is_kept(topics, collect, clock, reader, client_of):
    for number in range(3):
        names = [f"made-up-{number}-{index}" for index in range(NAMES_MAX - 10)]
        Connector.objects.filter(name="sink").update(topics=names)
        clock.advance(10_000)
        collect()
    rows = TopicProtection.objects.filter(topic="failed-in-sink")
    assert rows.count() <= NAMES_MAX + 1
    assert "masking rules of all topics" in {row.what for row in rows}
    remove_services()
    collect()
    assert SECRET not in records(client_of(reader), "failed-in-sink").content.decode()

"""Whatever Dependencies knows of a topic is named, or counted, where the topic or its records are deleted."""

import pytest
from django.urls import reverse

from console.cluster.topics.queries import doomed
from console.ecosystem.connectors.models import Connector
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.access.reach import EVERYTHING
from console.kit.common.clock import now_ms
from console.processes.registry import add_process
from console.signals.dependencies.graph import NodeKind
from console.signals.dependencies.queries import rows_of
from console.state.client_applications.models import ClientTraffic
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup, GroupPartition
from tests.console.confirming import digest_in

_WORDS = {
    NodeKind.CLIENT: "client",
    NodeKind.STREAM: "stream job",
    NodeKind.CONNECTOR: "connector",
    NodeKind.MIRROR: "mirror",
}


@pytest.fixture(autouse=True)
def _wired(db, settings):
    for name in ("clicks", "copy"):
        Topic.objects.create(name=name, partition_count=1, replication_factor=1)
    properties = {"job": "windowed_counts", "input.topic": "clicks", "output.topic": "copy"}
    add_process(
        "stream", "counting", {"directory": str(settings.DATA_DIR / "streams/counting"), "properties": properties}
    )
    Connector.objects.create(name="web", kind="source", state="RUNNING", topics=["clicks"])
    Connector.objects.create(name="secret-files", kind="sink", state="PAUSED", topics=["clicks"])
    MirroredTopic.objects.create(flow="west->here", topic="clicks", target="copy", at_ms=now_ms())
    MirroredTopic.objects.create(flow="here->west", cluster="west", topic="clicks", target="here.clicks")
    MirroredTopic.objects.create(flow="here->west", cluster="west", topic="copy", target="here.copy")
    for client_id, is_produce in (("app-x", True), ("auditor", False)):
        ClientTraffic.objects.create(
            principal="User:app",
            client_id=client_id,
            topic="clicks",
            is_produce=is_produce,
            records_per_second=150,
            bytes_per_second=15_000,
            used_at_ms=now_ms(),
        )
    for group in ("readers", "secret-readers"):
        row = ConsumerGroup.objects.create(name=group, state="Empty", coordinator=1, verdict="ok")
        GroupPartition.objects.create(group=row, topic="clicks", partition=0, committed=1, verdict="ok")


@pytest.mark.parametrize("topic", ["clicks", "copy"])
def test_a_deletion_names_whoever_the_graph_has_beside_the_topic(topic):
    dependents = doomed(Topic.objects.get(name=topic), EVERYTHING)
    (row,) = rows_of([topic], EVERYTHING)
    named = {use.clause for use in dependents.uses}
    for writer, verb in [(item, "writes") for item in row.writers] + [(reader, "reads") for reader in row.readers]:
        node = writer.node
        if node.kind is NodeKind.GROUP:
            assert node.name in dependents.groups
        else:
            assert f"{_WORDS[node.kind]} {node.name} {verb} it" in named
    assert len(dependents.uses) + len(dependents.groups) == len(row.writers) + len(row.readers)


def test_what_is_hidden_from_who_deletes_is_counted_and_not_named(limited, client_of):
    page = client_of(limited).get(reverse("topic-delete", args=["clicks"])).content.decode()
    assert "2 consumer groups lose their place: readers and 1 that your rights do not reach." in page
    assert "A process that your rights do not reach reads it; it is not running" in page
    assert "Connector web writes it and is running" in page
    assert "secret" not in page


def test_a_hidden_group_or_connector_that_comes_meanwhile_is_another_plan(limited, client_of):
    client, address = client_of(limited), reverse("topic-delete", args=["clicks"])
    form = {"digest": digest_in(client.get(address)), "typed_name": "clicks"}
    row = ConsumerGroup.objects.create(name="secret-too", state="Empty", coordinator=1, verdict="ok")
    GroupPartition.objects.create(group=row, topic="clicks", partition=0, committed=1, verdict="ok")
    assert client.post(address, form).status_code == 409
    form["digest"] = digest_in(client.get(address))
    Connector.objects.create(name="secret-sink", kind="sink", state="PAUSED", topics=["clicks"])
    assert client.post(address, form).status_code == 409
    assert "2 processes that your rights do not reach read it" in client.get(address).content.decode()


def test_many_are_told_of_each_and_of_no_group_twice(limited, client_of):
    GroupPartition.objects.create(
        group=ConsumerGroup.objects.get(name="secret-readers"), topic="copy", partition=0, committed=1, verdict="ok"
    )
    page = client_of(limited).get(reverse("topics-many"), {"topic": ["clicks", "copy"], "do": "delete"})
    text = " ".join(page.context["plan"].losses)
    assert "Consumer groups lose their place: readers and 1 that your rights do not reach." in text
    assert "clicks: Connector web writes it, and is running: stop it first." in text
    assert "copy: Mirror west->here writes it, and is running" in text
    assert "secret" not in page.content.decode()


def test_so_many_connectors_are_counted_that_nobody_could_read():
    Connector.objects.bulk_create(
        Connector(name=f"sink-{number}", kind="sink", state="RUNNING", topics=["copy"]) for number in range(300)
    )
    dependents = doomed(Topic.objects.get(name="copy"), EVERYTHING)
    assert len(dependents.uses) == 303
    assert len(dependents.hung_on) == 303

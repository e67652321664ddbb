"""From connectors, jobs, groups and mirrors to the page: what may be seen, as a list and around one object."""

import pytest

from console.ecosystem.connectors.models import Connector
from console.ecosystem.mirrors.models import MirroredTopic
from console.processes.registry import add_process
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup, GroupPartition

ADDRESS = "/dependencies/"
HOSTILE = "<script>alert('x')</script>"


@pytest.fixture
def wired(db, settings):
    for name in ("clicks", "counts", "secret-plans", "alone", "copy.orders"):
        Topic.objects.create(name=name)
    directory = settings.DATA_DIR / "streams" / "counting"
    properties = {"job": "windowed_counts", "input.topic": "clicks", "output.topic": "counts"}
    add_process("stream", "counting", {"directory": str(directory), "properties": properties})
    Connector.objects.create(name="web", kind="source", state="RUNNING", topics=["clicks", "secret-plans"])
    Connector.objects.create(name="files", kind="sink", state="PAUSED", topics=["counts"])
    for group, topic in ((HOSTILE, "counts"), ("secret-readers", "counts"), ("spies", "secret-plans")):
        row = ConsumerGroup.objects.create(name=group, state="Empty", coordinator=1, verdict="ok")
        GroupPartition.objects.create(group=row, topic=topic, partition=0, committed=1, verdict="ok")
    MirroredTopic.objects.create(flow="west->here", topic="orders", target="copy.orders")
    MirroredTopic.objects.create(flow="here->west", cluster="west", topic="clicks", target="here.clicks")


def around(client, kind: str, name: str) -> dict[int, list[str]]:
    response = client.get(ADDRESS, {"kind": kind, "name": name})
    assert response.status_code == 200, response.content
    return {layer.steps: [f"{n.kind}:{n.name}" for n in layer.nodes] for layer in response.context["layers"]}


def test_records_flow_from_a_connector_through_a_job_to_groups_and_sinks(wired, viewer, client_of):
    client = client_of(viewer)
    assert around(client, "topic", "clicks") == {
        -1: ["connector:web"],
        0: ["topic:clicks"],
        1: ["mirror:here->west", "stream:counting"],
        2: ["elsewhere:west:here.clicks", "topic:counts"],
    }
    assert around(client, "connector", "web")[2] == ["group:spies", "mirror:here->west", "stream:counting"]
    assert around(client, "group", HOSTILE) == {-2: ["stream:counting"], -1: ["topic:counts"], 0: [f"group:{HOSTILE}"]}
    assert around(client, "topic", "copy.orders") == {
        -2: ["elsewhere:west:orders"],
        -1: ["mirror:west->here"],
        0: ["topic:copy.orders"],
    }
    assert around(client, "topic", "alone") == {0: ["topic:alone"]}


def test_the_list_has_who_writes_and_reads_each_topic(wired, viewer, client_of):
    page = client_of(viewer).get(ADDRESS, {"search": "count"}).content.decode()
    assert "counting" in page
    assert "files" in page
    assert "&lt;script&gt;" in page
    assert HOSTILE not in page
    assert "clicks" not in page


def test_names_that_are_kept_from_somebody_are_no_part_of_it(wired, limited, client_of):
    client = client_of(limited)
    for parameters in ({}, {"kind": "topic", "name": "counts"}, {"kind": "connector", "name": "web"}):
        assert "secret" not in client.get(ADDRESS, parameters).content.decode()
        csv = b"".join(client.get(ADDRESS, {**parameters, "format": "csv"}).streaming_content)
        assert b"secret" not in csv
    for kind, name in (("topic", "secret-plans"), ("group", "secret-readers"), ("group", "secret-nobody")):
        assert client.get(ADDRESS, {"kind": kind, "name": name}).status_code == 403


@pytest.mark.parametrize(
    ("kind", "name"),
    [("planet", "x"), ("group", "nobody"), ("stream", ""), ("connector", "x" * 5_000), ("mirror", "\0")],
)
def test_what_is_not_there_is_not_found(wired, viewer, client_of, kind, name):
    assert client_of(viewer).get(ADDRESS, {"kind": kind, "name": name}).status_code == 404


def test_who_sees_no_topic_sees_nothing(wired, outsider, client_of):
    assert client_of(outsider).get(ADDRESS).status_code == 403


def test_a_page_of_ten_thousand_topics_costs_what_its_rows_cost(
    wired, viewer, client_of, django_assert_max_num_queries
):
    Topic.objects.bulk_create(Topic(name=f"t{number}") for number in range(10_000))
    client = client_of(viewer)
    client.get(ADDRESS)
    with django_assert_max_num_queries(26):
        assert len(client.get(ADDRESS, {"page": 100}).context["page"]) == 50

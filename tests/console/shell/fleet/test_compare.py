"""Two clusters compared: only what differs, only what somebody may see in both, and what one of them does not tell."""

import pytest

from console.kit.access.models import ClusterRole, NameRule
from console.shell.fleet.comparing import NOT_THERE, THERE, ClusterDifference, ClusterFacts, compare, of_all_brokers
from tests.console.shell.fleet.conftest import ALIAS, STAGING

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])


def test_objects_of_one_cluster_alone_and_values_that_differ_are_told():
    left = ClusterFacts({"topic": {"a": {"partitions": "3"}, "b": {"partitions": "1"}, "c": {}}})
    right = ClusterFacts({"topic": {"b": {"partitions": "2", "retention.ms": "5"}, "c": {}, "d": {"partitions": "1"}}})
    rows = compare(left, right)
    assert [row for row in rows if row.differs] == [
        ClusterDifference("topic", "a", "", THERE, NOT_THERE),
        ClusterDifference("topic", "b", "partitions", "1", "2"),
        ClusterDifference("topic", "b", "retention.ms", NOT_THERE, "5"),
        ClusterDifference("topic", "d", "", NOT_THERE, THERE),
    ]
    assert ClusterDifference("topic", "c", "", THERE, THERE) in rows


def test_what_one_of_them_does_not_tell_is_no_difference():
    assert compare(ClusterFacts({"access rule": {"x": {}}}), ClusterFacts({}, {"access rule": "away"})) == []


def test_brokers_that_say_the_same_say_it_once():
    assert of_all_brokers({1: "a", 2: "a"}) == "a"
    assert of_all_brokers({2: None, 1: "a"}) == "1: a, 2: "
    assert of_all_brokers({1: None}) == ""


@pytest.fixture
def filled(cluster, staging, look_at_both):
    for gateway, partitions in ((cluster, 3), (staging, 2)):
        gateway.create_topic("orders", partitions, 1)
        gateway.create_topic("secret-plans", 1, 1)
    cluster.create_topic("only-here", 1, 1)
    cluster.change_topic_settings("orders", {"retention.ms": "60000"})
    look_at_both()


def _rows_of(answer) -> set[tuple[str, ...]]:
    lines = answer.getvalue().decode().splitlines()[1:]
    return {tuple(part.strip('"') for part in line.split(",")[:3]) for line in lines}


def test_only_what_differs_is_shown_unless_all_is_asked_for(filled, client_of, viewer):
    client = client_of(viewer)
    differing = _rows_of(client.get("/clusters/+compare/?kind=topic&format=csv"))
    assert differing == {
        ("topic", "only-here", ""),
        ("topic", "orders", "partitions"),
        ("topic", "orders", "retention.ms"),
    }
    everything = _rows_of(client.get("/clusters/+compare/?kind=topic&format=csv&all=on"))
    assert ("topic", "orders", "replication factor") in everything - differing
    assert client.get("/clusters/+compare/").status_code == 200


def test_broker_settings_are_compared(filled, cluster, client_of, viewer):
    cluster.brokers.change_settings(None, {"log.cleaner.threads": "3"})
    rows = _rows_of(client_of(viewer).get("/clusters/+compare/?format=csv"))
    assert ("broker setting", "log.cleaner.threads", "value") in rows


def test_names_that_are_kept_from_somebody_are_in_neither_column(filled, client_of, viewer):
    NameRule.objects.create(user=viewer, resource="topic", pattern="secret-*", level="nothing")
    page = client_of(viewer).get("/clusters/+compare/?all=on").text
    assert "secret-plans" not in page
    assert "Rights do not reach every name" in page


def test_a_cluster_that_is_kept_from_somebody_is_not_compared(filled, client_of, viewer):
    ClusterRole.objects.create(user=viewer, cluster=STAGING, role="nothing")
    page = client_of(viewer).get("/clusters/+compare/?left=main&right=staging").text
    assert "There is one cluster" in page
    assert "taging" not in page


def test_a_cluster_that_is_away_is_told_and_its_rows_are_compared_all_the_same(filled, staging, client_of, viewer):
    staging.cut_off()
    page = client_of(viewer).get("/clusters/+compare/").text
    assert "only-here" in page
    assert "Staging:</strong> of no broker setting is anything known" in page


def test_the_palette_finds_clusters_of_the_person_alone(filled, client_of, viewer):
    assert 'href="/c/staging/"' in client_of(viewer).get("/find/?text=stag").text
    ClusterRole.objects.create(user=viewer, cluster=STAGING, role="nothing")
    assert 'href="/c/staging/"' not in client_of(viewer).get("/find/?text=stag").text

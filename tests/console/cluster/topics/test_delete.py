import pytest

from console.cluster.topics.change_views import find_inverse
from console.kit.audit.models import AuditEvent
from tests.console.confirming import digest_in

ADDRESS = "/topics/orders/+delete/"


@pytest.fixture(autouse=True)
def _orders(cluster, collect, collector):
    cluster.create_topic("orders", 3, 1)
    cluster.append("orders", 0, 1_500)
    cluster.commit("readers", "orders", 0, 10)
    collector.look("sizes")
    collect()


def names(cluster) -> list[str]:
    return [topic.name for topic in cluster.describe_topics()]


def delete(client, typed: str = "orders", **options):
    digest = digest_in(client.get(ADDRESS))
    return client.post(ADDRESS, {"digest": digest, "typed_name": typed}, **options)


def test_the_plan_says_what_would_be_lost(operator, client_of):
    text = client_of(operator).get(ADDRESS).content.decode().replace("\u202f", " ")

    assert "Up to 1 500 records (150 KB on all replicas) in 3 partitions are lost for good" in text
    assert "1 consumer group loses its place: readers." in text
    assert "Irreversible." in text
    assert "kafka-topics.sh" in text
    assert "--delete --topic orders" in text


def test_operator_deletes_a_topic_by_typing_its_name(cluster, operator, client_of):
    response = delete(client_of(operator), follow=True)

    assert names(cluster) == []
    assert b"Topic orders is being deleted." in response.content
    event = AuditEvent.objects.get()
    assert (event.action, event.result, event.before["record_count"]) == ("delete topic", "done", 1_500)
    assert event.after["record_count"] is None


@pytest.mark.parametrize("typed", ["", "Orders", "order", "orders!"])
def test_another_name_deletes_nothing(typed, cluster, operator, client_of):
    response = delete(client_of(operator), typed)

    assert response.status_code == 422
    assert b"type the name exactly" in response.content
    assert names(cluster) == ["orders"]


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused_and_nothing_happens(person, request, cluster, client_of):
    client = client_of(request.getfixturevalue(person))

    assert client.get(ADDRESS).status_code == 403
    assert client.post(ADDRESS, {"digest": "any", "typed_name": "orders"}).status_code == 403
    assert names(cluster) == ["orders"]


def test_looking_at_the_page_deletes_nothing(cluster, operator, client_of):
    client_of(operator).get(ADDRESS, {"typed_name": "orders", "digest": "any"})

    assert names(cluster) == ["orders"]


def test_a_new_reader_makes_it_another_plan(cluster, collect, operator, client_of):
    client = client_of(operator)
    digest = digest_in(client.get(ADDRESS))
    cluster.commit("billing", "orders", 1, 0)
    collect()
    response = client.post(ADDRESS, {"digest": digest, "typed_name": "orders"})

    assert response.status_code == 409
    assert b"billing, readers" in response.content
    assert names(cluster) == ["orders"]


def test_a_topic_deleted_by_somebody_else_meanwhile_is_refused_and_kept(cluster, operator, client_of):
    cluster.delete_topic("orders")
    response = delete(client_of(operator))

    assert response.status_code == 422
    assert AuditEvent.objects.get().result == "refused"


def test_a_deletion_is_offered_to_operators_alone(viewer, operator, client_of):
    assert b"/topics/orders/+delete/" not in client_of(viewer).get("/topics/orders/").content
    assert b"/topics/orders/+delete/?when=later" in client_of(operator).get("/topics/orders/").content


@pytest.fixture
def created(cluster, collect, operator, client_of) -> str:
    """The address of the undo, as the page offers it after `new` was created."""
    client, wish = client_of(operator), {"name": "new", "partition_count": "2", "replication_factor": "1"}
    digest = digest_in(client.post("/topics/+create/", wish))
    page = client.post("/topics/+create/", {**wish, "digest": digest}, follow=True).content.decode()
    collect()
    address = page.split('<a href="/topics/new/+delete/?undo=')[1].split('"')[0]
    return f"/topics/new/+delete/?undo={address}"


def test_a_creation_is_taken_back_while_the_topic_is_empty(created, cluster, operator, client_of):
    client = client_of(operator)
    page = client.get(created)
    assert b"still empty: no record is lost" in page.content
    assert b"typed_name" not in page.content
    number = created.rpartition("=")[2]
    client.post("/topics/new/+delete/", {"digest": digest_in(page), "undo": number})

    assert names(cluster) == ["orders"]
    assert AuditEvent.objects.order_by("-pk").first().action == "undo create topic"


def test_a_creation_is_not_taken_back_once_something_was_written(created, cluster, operator, client_of):
    client = client_of(operator)
    digest = digest_in(client.get(created))
    cluster.append("new", 1, 3)
    response = client.post("/topics/new/+delete/", {"digest": digest, "undo": created.rpartition("=")[2]})

    assert response.status_code == 409
    assert b"3 records were written to it since" in response.content
    assert names(cluster) == ["new", "orders"]


def test_a_creation_of_another_topic_takes_nothing_back(created, cluster, operator, client_of):
    number = created.rpartition("=")[2]

    assert find_inverse("topic", "new", number) is not None
    assert client_of(operator).get(f"{ADDRESS}?undo={number}").status_code == 404
    assert client_of(operator).post(ADDRESS, {"digest": "any", "undo": number}).status_code == 404

import pytest

from console.kit.audit.models import AuditEvent
from tests.console.confirming import digest_in

ADDRESS = "/topics/orders/+partitions/"


@pytest.fixture(autouse=True)
def _orders(cluster, collect):
    cluster.create_topic("orders", 3, 2)
    cluster.create_topic("__consumer_offsets", 5, 1)
    cluster.commit("readers", "orders", 0, 0)
    collect()


def partition_count(cluster) -> int:
    return len(cluster.moves.assignments(["orders"]))


def preview(client, wanted: str = "5"):
    return client.post(ADDRESS, {"partition_count": wanted})


def add(client, wanted: str = "5", **options):
    digest = digest_in(preview(client, wanted))
    return client.post(ADDRESS, {"partition_count": wanted, "digest": digest}, **options)


def test_the_plan_says_what_it_means_for_keys_and_groups(cluster, operator, client_of):
    text = preview(client_of(operator)).content.decode()

    assert "It adds 2 partitions, 4 replicas in all." in text
    assert "Records with a key may go to another partition" in text
    assert "Partitions are reassigned to members in 1 group." in text
    assert "--alter --topic orders --partitions 5" in text
    assert "Irreversible." in text
    assert partition_count(cluster) == 3


def test_operator_adds_partitions_and_the_audit_knows(cluster, operator, client_of):
    response = add(client_of(operator), follow=True)

    assert partition_count(cluster) == 5
    assert b"orders is being given 2 more partitions." in response.content
    event = AuditEvent.objects.get()
    assert (event.action, event.result, event.before, event.after) == (
        "add partitions",
        "done",
        {"partition_count": 3},
        {"partition_count": 5},
    )


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused_and_nothing_happens(person, request, cluster, client_of):
    client = client_of(request.getfixturevalue(person))

    assert client.get(ADDRESS).status_code == 403
    assert client.post(ADDRESS, {"partition_count": "5", "digest": "any"}).status_code == 403
    assert partition_count(cluster) == 3


def test_partitions_are_never_taken_away(cluster, operator, client_of):
    response = add(client_of(operator), "2")

    assert response.status_code == 409
    assert b"partitions are never taken away" in response.content
    assert partition_count(cluster) == 3


@pytest.mark.parametrize("wanted", ["", "0", "many", "1000000"])
def test_what_cannot_be_right_is_said_beside_the_field(wanted, operator, client_of):
    response = preview(client_of(operator), wanted)

    assert response.status_code == 422
    assert b'role="alert"' in response.content


def test_kafkas_own_topics_keep_their_number(operator, administrator, client_of):
    client, address = client_of(administrator), "/topics/__consumer_offsets/+partitions/"
    assert client_of(operator).post(address, {"partition_count": "6"}).status_code == 403
    response = client.post(address, {"partition_count": "6"})

    assert b"it must not change" in response.content
    digest = digest_in(response)
    assert client.post(address, {"partition_count": "6", "digest": digest}).status_code == 409


def test_a_topic_that_grew_meanwhile_needs_another_plan(cluster, collect, operator, client_of):
    client = client_of(operator)
    digest = digest_in(preview(client))
    cluster.add_partitions("orders", 4)
    collect()
    response = client.post(ADDRESS, {"partition_count": "5", "digest": digest})

    assert response.status_code == 409
    assert partition_count(cluster) == 4


def test_a_refusal_of_the_cluster_is_shown_and_kept(cluster, operator, client_of):
    client = client_of(operator)
    digest = digest_in(preview(client))
    cluster.delete_topic("orders")
    response = client.post(ADDRESS, {"partition_count": "5", "digest": digest})

    assert response.status_code == 422
    assert AuditEvent.objects.get().result == "refused"

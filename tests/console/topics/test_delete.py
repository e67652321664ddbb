import pytest

from console.audit.models import AuditEvent


@pytest.fixture(autouse=True)
def _orders(cluster, collect):
    cluster.create_topic("orders", 3, 1)
    cluster.append("orders", 0, 1_500)
    collect()


def names(cluster) -> list[str]:
    return [topic.name for topic in cluster.describe_topics()]


def test_the_page_says_what_would_be_lost(operator, client_of):
    text = client_of(operator).get("/topics/orders/+delete/").content.decode()

    assert "3 partitions" in text
    assert "1\u202f500 records" in text
    assert "cannot be undone" in text


def test_operator_deletes_a_topic_by_typing_its_name(cluster, operator, client_of):
    response = client_of(operator).post("/topics/orders/+delete/", {"typed_name": "orders"}, follow=True)

    assert names(cluster) == []
    assert b"Topic orders is being deleted." in response.content
    event = AuditEvent.objects.get()
    assert (event.action, event.result, event.before["record_count"]) == ("delete topic", "done", 1_500)


@pytest.mark.parametrize("typed", ["", "Orders", "order", "orders!"])
def test_another_name_deletes_nothing(typed, cluster, operator, client_of):
    response = client_of(operator).post("/topics/orders/+delete/", {"typed_name": typed})

    assert response.status_code == 422
    assert names(cluster) == ["orders"]


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused_and_nothing_happens(person, request, cluster, client_of):
    client = client_of(request.getfixturevalue(person))

    assert client.post("/topics/orders/+delete/", {"typed_name": "orders"}).status_code == 403
    assert names(cluster) == ["orders"]


def test_looking_at_the_page_deletes_nothing(cluster, operator, client_of):
    client_of(operator).get("/topics/orders/+delete/", {"typed_name": "orders"})

    assert names(cluster) == ["orders"]


def test_a_topic_deleted_by_somebody_else_meanwhile_is_refused_and_kept(cluster, operator, client_of):
    cluster.delete_topic("orders")
    response = client_of(operator).post("/topics/orders/+delete/", {"typed_name": "orders"})

    assert response.status_code == 422
    assert AuditEvent.objects.get().result == "refused"

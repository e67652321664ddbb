import pytest
from django.test import Client

from console.kit.audit.models import AuditEvent
from console.state.clusters.models import Topic
from tests.console.confirming import digest_in

WISH = {"name": "orders", "partition_count": "3", "replication_factor": "2"}


def confirm(client: Client, wish: dict, **options):
    """Plan `wish`, then confirm the plan that was shown."""
    shown = client.post("/topics/+create/", wish)
    return client.post("/topics/+create/", {**wish, "digest": digest_in(shown)}, **options)


def created(cluster) -> list[tuple[str, int]]:
    return [(topic.name, len(topic.partitions)) for topic in cluster.describe_topics()]


def test_operator_creates_a_topic_and_the_audit_knows(cluster, operator, client_of):
    response = confirm(client_of(operator), WISH, follow=True)

    assert created(cluster) == [("orders", 3)]
    assert b"Topic orders was created." in response.content
    event = AuditEvent.objects.get()
    assert (event.actor_name, event.action, event.object_name, event.result) == (
        "operator",
        "create topic",
        "orders",
        "done",
    )
    assert event.after == {"partition_count": 3, "replication_factor": 2}


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused_and_nothing_happens(person, request, cluster, client_of):
    response = client_of(request.getfixturevalue(person)).post("/topics/+create/", WISH)

    assert response.status_code == 403
    assert created(cluster) == []


@pytest.mark.usefixtures("db")
def test_nobody_is_sent_to_the_login(cluster):
    assert Client().post("/topics/+create/", WISH).url.startswith("/login/")
    assert created(cluster) == []


def test_a_form_from_elsewhere_is_refused(cluster, operator):
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)

    assert client.post("/topics/+create/", WISH).status_code == 403
    assert created(cluster) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "no spaces"},
        {"name": ".."},
        {"name": "t" * 250},
        {"name": ""},
        {"partition_count": "0"},
        {"partition_count": "1000000"},
        {"replication_factor": "0"},
        {"replication_factor": "two"},
    ],
)
def test_what_cannot_be_right_is_said_beside_the_field(wrong, cluster, operator, client_of):
    response = client_of(operator).post("/topics/+create/", {**WISH, **wrong})

    assert response.status_code == 422
    assert b'role="alert"' in response.content
    assert created(cluster) == []
    assert not AuditEvent.objects.exists()


def test_names_that_differ_only_in_dots_and_underscores_collide(operator, client_of):
    Topic.objects.create(name="my.orders")
    response = client_of(operator).post("/topics/+create/", {**WISH, "name": "my_orders"})

    assert "Kafka cannot tell this name from my.orders" in response.content.decode()


def test_a_refusal_of_the_cluster_is_shown_and_kept(cluster, operator, client_of):
    response = confirm(client_of(operator), {**WISH, "replication_factor": "9"})

    assert response.status_code == 422
    assert b"The replication factor must be" in response.content
    event = AuditEvent.objects.get()
    assert (event.result, event.after["replication_factor"]) == ("refused", 9)


def test_an_unreachable_cluster_is_a_failure_not_a_refusal(cluster, operator, client_of):
    cluster.cut_off()
    response = confirm(client_of(operator), WISH)

    assert b"No broker answered in time." in response.content
    assert AuditEvent.objects.get().result == "failed"


def test_the_plan_is_shown_first_and_nothing_is_done(cluster, operator, client_of, collect):
    collect()
    response = client_of(operator).post("/topics/+create/", WISH)

    text = response.content.decode()
    assert response.status_code == 200
    assert "It adds 6 replicas, about 2 on each of 3 brokers." in text
    assert "--create --topic orders --partitions 3 --replication-factor 2" in text
    assert created(cluster) == []
    assert not AuditEvent.objects.exists()


def test_another_wish_than_the_one_shown_is_refused(cluster, operator, client_of):
    client = client_of(operator)
    digest = digest_in(client.post("/topics/+create/", WISH))
    response = client.post("/topics/+create/", {**WISH, "partition_count": "300", "digest": digest})

    assert response.status_code == 409
    assert created(cluster) == []


def test_more_copies_than_brokers_cannot_be_confirmed(cluster, operator, client_of, collect):
    collect()
    response = confirm(client_of(operator), {**WISH, "replication_factor": "4"})

    assert response.status_code == 409
    assert "4 copies of a partition need as many brokers; 3 are registered." in response.content.decode()
    assert created(cluster) == []

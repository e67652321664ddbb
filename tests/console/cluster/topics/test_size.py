import pytest
from django.urls import reverse

from console.state.clusters.models import Broker, Topic

ASKED = {
    "throughput": "50 MB",
    "consumer_throughput": "5MB/s",
    "growth": "2",
    "consumers": "3",
    "replication_factor": "3",
    "retention": "7d",
    "head_room": "40",
}


@pytest.fixture
def brokers(db):
    for number in (1, 2, 3):
        Broker.objects.create(broker_id=number)


@pytest.fixture
def orders(brokers) -> Topic:
    """20 records of 1 KB, twice, and 2,000 more a second."""
    return Topic.objects.create(
        name="orders", partition_count=4, replication_factor=2, record_count=20, size_bytes=40_000,
        records_per_second=2_000.0, retention_ms=86_400_000,
    )  # fmt: skip


def test_the_input_that_decides_is_named_and_the_answer_leads_to_the_form_that_makes_it(brokers, viewer, client_of):
    response = client_of(viewer).get(reverse("topic-size"), ASKED)
    planned = response.context["planned"]
    assert (planned.partitions, planned.decisive.name) == (20, "consumer throughput")
    text = response.content.decode()
    assert "20 partitions on 3 brokers" in text
    assert (
        "kafka-plan.sh --bootstrap-server 127.0.0.1:9092 --throughput &#x27;50 MB&#x27; --consumer-throughput 5MB/s"
        in text
    )
    assert f"{reverse('topic-create')}?partition_count=20&amp;replication_factor=3" in text


def test_what_is_known_of_a_topic_is_filled_in_and_its_partitions_are_never_fewer(orders, viewer, client_of):
    client = client_of(viewer)
    form = client.get(reverse("topic-size"), {"topic": "orders"}).context["form"]
    assert form["throughput"].value() == "2 MB/s"
    assert (form["replication_factor"].value(), form["retention"].value()) == (2, "86400000")
    small = {**ASKED, "topic": "orders", "throughput": "1MB", "growth": "1", "replication_factor": "2"}
    answered = client.get(reverse("topic-size"), small)
    assert answered.context["planned"].partitions == 4
    assert "nothing is to be done" in answered.content.decode()
    more = client.get(reverse("topic-size"), {**ASKED, "topic": "orders"}).content.decode()
    assert f"{reverse('topic-add-partitions', args=['orders'])}?partition_count=20" in more
    assert "Add 16 partitions" in more


def test_the_forms_that_follow_begin_with_what_was_worked_out(orders, operator, client_of):
    client = client_of(operator)
    created = client.get(f"{reverse('topic-create')}?partition_count=20&replication_factor=2").context["form"]
    assert (created["partition_count"].value(), created["replication_factor"].value()) == ("20", "2")
    added = client.get(f"{reverse('topic-add-partitions', args=['orders'])}?partition_count=20").context["form"]
    assert added["partition_count"].value() == "20"


@pytest.mark.parametrize(
    ("field", "typed", "sentence"),
    [
        ("throughput", "much", "Write it as 50MB, 1.5GB or 64MiB."),
        ("throughput", "nan", "It must be greater than 0, and no more than an exabyte."),
        ("retention", "a week", "Write it as 7d, 12h, 30m, or in milliseconds."),
        ("growth", "0", "Ensure this value is greater than or equal to 1."),
        ("replication_factor", "4", "This cannot be planned: 4 replicas need as many brokers; there are 3."),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_sentence(field, typed, sentence, brokers, viewer, client_of):
    response = client_of(viewer).get(reverse("topic-size"), ASKED | {field: typed})
    assert response.status_code == 422
    assert sentence in response.content.decode()


def test_without_a_broker_nothing_is_planned(viewer, client_of):
    assert "there must be a broker" in client_of(viewer).get(reverse("topic-size"), ASKED).content.decode()


def test_a_topic_out_of_reach_is_not_told_of(orders, limited, client_of):
    Topic.objects.create(name="secret-plans", partition_count=1, replication_factor=1)
    assert client_of(limited).get(reverse("topic-size"), {"topic": "secret-plans"}).status_code == 403

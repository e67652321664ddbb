import csv
import io

import pytest

from console.kit.audit.models import AuditEvent
from console.kit.common.clock import now_ms
from console.kit.gateway.producers.interface import ProducerView, TransactionView
from tests.console.confirming import digest_in

PAGE = "/topics/orders/+producers/"
ABORT = "/topics/orders/+producers/0/40/+abort/"
HOUR_MS = 3_600_000


@pytest.fixture(autouse=True)
def _orders(cluster, collect):
    cluster.create_topic("orders", 2, 1)
    cluster.append("orders", 0, 100)
    collect()
    cluster.producers.write("orders", ProducerView(0, 7, 3, 10, now_ms() - HOUR_MS, 1, 40))
    cluster.producers.write("orders", ProducerView(1, 8, 0, 5, now_ms() - 2_000, -1, 7))
    cluster.producers.write("orders", ProducerView(1, 9, 0, 5, now_ms() - 3_000, -1, None))
    places = frozenset({("orders", 1)})
    cluster.producers.coordinate(TransactionView("payments-1", 2, 8, 0, "Ongoing", 60_000, now_ms(), places))


def open_from(cluster) -> int | None:
    return next(producer for producer in cluster.producers.of_topic("orders", [0]).producers).open_from


def confirmed(client, **form):
    return client.post(ABORT, {"digest": digest_in(client.get(ABORT)), "typed_name": "orders-0"} | form, follow=True)


def test_it_says_which_transactions_are_open_and_who_will_end_them(viewer, client_of):
    text = client_of(viewer).get(PAGE).content.decode()
    assert text.index("hanging") < text.index("payments-1")
    assert "Broker 2, its coordinator, aborts it at" in text
    assert "it will never end" in text
    assert 'title="Aborting a transaction needs the role operator."' in text


def test_what_waits_behind_it_is_counted(operator, client_of):
    response = client_of(operator).get(PAGE)
    hanging, going_on = response.context["writers"].open
    assert (hanging.waiting, hanging.standing, going_on.standing) == (60, "hanging", "open")
    assert response.content.count(b"+abort/") == 1


def test_the_file_has_every_producer(operator, client_of):
    text = b"".join(client_of(operator).get(f"{PAGE}?format=csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["partition"], row["producer_id"], row["standing"], row["transactional_id"]) for row in rows] == [
        ("0", "7", "hanging", ""),
        ("1", "8", "open", "payments-1"),
        ("1", "9", "", ""),
    ]


def test_transactional_ids_are_for_people_from_whom_no_name_is_hidden(limited, client_of):
    client = client_of(limited)
    assert b"payments-1" not in client.get(PAGE).content
    assert b"payments-1" not in b"".join(client.get(f"{PAGE}?format=csv").streaming_content)
    assert client.get("/topics/secret-plans/+producers/").status_code == 403


def test_one_that_hangs_is_aborted_as_planned_and_the_audit_knows(cluster, operator, client_of):
    client = client_of(operator)
    text = client.get(ABORT).content.decode()
    assert "then go on from there" in text
    assert "kafka-transactions.sh" in text
    assert "Irreversible." in text
    response = confirmed(client)
    assert b"The transaction was aborted in orders-0." in response.content
    assert open_from(cluster) is None
    event = AuditEvent.objects.get()
    assert (event.action, event.object_name, event.result) == ("abort transaction", "orders", "done")
    assert event.after == {"transaction of producer 7 in orders-0": "aborted"}


def test_its_partition_has_to_be_typed(cluster, operator, client_of):
    response = confirmed(client_of(operator), typed_name="orders")
    assert (response.status_code, open_from(cluster)) == (422, 40)


def test_one_whose_coordinator_came_back_is_not_aborted(cluster, operator, client_of):
    client = client_of(operator)
    digest = digest_in(client.get(ABORT))
    places = frozenset({("orders", 0)})
    cluster.producers.coordinate(TransactionView("payments-2", 1, 7, 3, "Ongoing", 60_000, now_ms(), places))
    response = client.post(ABORT, {"digest": digest, "typed_name": "orders-0"})
    assert (response.status_code, open_from(cluster)) == (409, 40)
    assert AuditEvent.objects.get().result == "refused"
    digest = digest_in(response)
    assert client.post(ABORT, {"digest": digest, "typed_name": "orders-0"}).status_code == 409
    assert open_from(cluster) == 40


def test_as_long_as_a_coordinator_is_silent_nothing_is_aborted(cluster, operator, client_of):
    cluster.producers.leave_untold("Broker 3 did not say which transactions it coordinates.")
    response = confirmed(client_of(operator))
    assert b"Broker 3 did not say" in response.content
    assert (response.status_code, open_from(cluster)) == (409, 40)


def test_one_that_ended_meanwhile_says_so(cluster, operator, client_of):
    client = client_of(operator)
    digest = digest_in(client.get(ABORT))
    cluster.producers.write("orders", ProducerView(0, 7, 3, 10, now_ms(), 1, None))
    response = client.post(ABORT, {"digest": digest, "typed_name": "orders-0"})
    assert response.status_code == 409
    assert b"No transaction is open in orders-0 that began at offset 40." in response.content


def test_partitions_nobody_answers_for_are_named(cluster, viewer, client_of):
    cluster.stop_broker(1)
    assert b"Partition 0: orders has no leader" in client_of(viewer).get(PAGE).content


def test_a_cluster_that_does_not_answer_is_told(cluster, operator, client_of):
    client = client_of(operator)
    cluster.cut_off()
    assert b"No broker answered in time." in client.get(PAGE).content
    response = client.get(ABORT)
    assert (response.status_code, b"No broker answered in time." in response.content) == (422, True)


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_abort_nothing(person, request, cluster, client_of):
    client = client_of(request.getfixturevalue(person))
    assert client.get(ABORT).status_code == 403
    assert client.post(ABORT, {"digest": "x", "typed_name": "orders-0"}).status_code == 403
    assert open_from(cluster) == 40

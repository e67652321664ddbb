"""Moves, their files and proposals, and the retention of the cluster: nothing of a hidden topic is told or touched."""

import json

import pytest

from console.cluster.placement.models import Reassignment
from tests.console.confirming import digest_in

HIDDEN = "secret-plans"


@pytest.fixture(autouse=True)
def _moving(cluster, collect):
    for name in ("orders", HIDDEN):
        cluster.create_topic(name, 1, 1)
        cluster.append(name, 0, 5)
    collect()
    cluster.moves.alter({("orders", 0): (2,), (HIDDEN, 0): (3,)})
    for topics in (("orders",), ("orders", HIDDEN)):
        wanted = {topic: {"0": [2]} for topic in topics}
        Reassignment.objects.create(
            state="done", object_name=" and ".join(topics), former=wanted, wanted=wanted, partition_count=len(topics)
        )
    collect()


def test_what_moves_is_shown_as_far_as_rights_reach(viewer, limited, client_of):
    assert HIDDEN in client_of(viewer).get("/placement/").content.decode()
    text = client_of(limited).get("/placement/").content.decode()

    assert "orders-0" in text
    assert HIDDEN not in text


@pytest.mark.parametrize("table", ["moves", "reassignments"])
def test_files_hold_no_more_than_the_page(table, limited, client_of):
    response = client_of(limited).get(f"/placement/?format=csv&table={table}")
    text = b"".join(response.streaming_content).decode()

    assert "orders" in text
    assert HIDDEN not in text


def test_calling_everything_off_leaves_what_is_hidden_alone(cluster, limited, client_of):
    client = client_of(limited)
    digest = digest_in(client.get("/placement/+call-off/"))
    client.post("/placement/+call-off/", {"digest": digest})

    assert cluster.moves.under_way().keys() == {(HIDDEN, 0)}


def test_a_hidden_topic_is_not_moved(cluster, limited, client_of):
    cluster.moves.arrive()
    sent = {"digest": "x", "moves": json.dumps({HIDDEN: {"0": [1]}})}

    assert client_of(limited).post("/placement/+move/", sent).status_code == 403
    assert HIDDEN not in client_of(limited).get("/placement/+move/?search=secret").content.decode().replace(
        "“secret”", ""
    )


def test_the_retention_page_tells_nothing_of_hidden_topics_and_groups(cluster, clock, collect, limited, client_of):
    cluster.commit("secret-readers", "orders", 0, 0)
    clock.advance(30 * 86_400_000)
    collect()
    text = client_of(limited).get("/retention/").content.decode()

    assert "orders" in text
    assert "5 records" in text
    assert "secret-" not in text


def test_a_proposal_names_no_hidden_topic_that_cannot_move(cluster, collect, limited, client_of):
    cluster.moves.arrive()
    for broker_id in (1, 2):
        cluster.stop_broker(broker_id)
    collect()
    text = client_of(limited).get("/placement/+move/?drain=3").content.decode()

    assert "Drain broker 3" in text
    assert HIDDEN not in text

"""Replicas between the directories of their broker: the plan, and the page that makes and begins it."""

import re

import pytest

from console.cluster.brokers.directory_moves import directory_plan, held_in, parse_places
from console.kit.audit.models import AuditEvent
from console.kit.gateway.brokers.interface import LogDirView
from tests.console.confirming import digest_in

PAGE = "/brokers/1/directories/"
A = LogDirView("/a", "", 1_000, 500, (("orders", 0, 100), ("clicks-a", 1, 300)))
B = LogDirView("/b", "", 1_000, 350, (), (("orders", 0, 40),))
OFFLINE = LogDirView("/c", "the disk could not be read or written")


def plan(*places, to: str = "/b", directories=(A, B, OFFLINE)):
    assigned = {("orders", 0): [2, 1], ("clicks-a", 1): [1]}
    return directory_plan(1, directories, dict.fromkeys(places, to), assigned, "h:9092")


def test_a_replica_is_known_with_where_its_copy_goes():
    held = held_in([A, B])
    assert (held["orders", 0].path, held["orders", 0].going_to, held["clicks-a", 1].going_to) == ("/a", "/b", "")


def test_what_lies_there_already_is_left_out():
    assert plan(("orders", 0), to="/a").is_empty
    result = plan(("orders", 0), ("clicks-a", 1))
    assert [(line.name, line.old, line.new) for line in result.lines] == [
        ("clicks-a-1", "/a", "/b"),
        ("orders-0", "/a", "/b"),
    ]


@pytest.mark.parametrize(
    ("places", "to", "why"),
    [
        ([("orders", 0), ("clicks-a", 1)], "/b", "has 350"),
        ([("orders", 0)], "/c", "/c is offline"),
        ([("orders", 0)], "/d", "no directory /d"),
        ([("orders", 9)], "/b", "no replica of orders-9"),
    ],
)
def test_what_cannot_be_is_an_obstacle(places, to, why):
    assert why in plan(*places, to=to).obstacle


def test_the_command_leaves_other_brokers_replicas_where_they_are():
    assert '"replicas": [2, 1], "log_dirs": ["any", "/b"]' in plan(("orders", 0)).command


def test_what_is_no_place_is_passed_by():
    assert parse_places(["orders:0", "orders", ":1", "a:b", "orders:0", "x:1234567"]) == [("orders", 0)]


@pytest.fixture
def _orders(cluster, collect):
    cluster.brokers.files[1]["log.dirs"] = "/data/1,/data/1b"
    cluster.create_topic("orders", 3, 3)
    cluster.create_topic("secret-plans", 1, 3)
    cluster.append("orders", 0, 10)
    collect()


def lies_in(cluster) -> dict[int, str]:
    held = held_in(cluster.brokers.log_dirs()[1])
    return {number: item.path for (topic, number), item in held.items() if topic == "orders"}


def confirmed(client, query, **form):
    shown = client.get(PAGE, query)
    sent: dict = {}
    for name, value in shown.context["fields"]:
        sent.setdefault(name, []).append(value)
    return client.post(PAGE, {**sent, "digest": digest_in(shown)} | form, follow=True)


@pytest.mark.usefixtures("_orders")
class TestPage:
    CHOSEN = {"place": ["orders:0", "orders:1"], "to": "/data/1b"}

    def test_replicas_are_moved_as_planned_and_put_back(self, cluster, operator, client_of):
        client = client_of(operator)
        text = confirmed(client, self.CHOSEN).content.decode()
        assert "2 replicas are on the way to another directory." in text
        assert client.get(PAGE).content.count(b"/data/1b</td>") == 2
        cluster.brokers.arrive()
        assert lies_in(cluster) == {0: "/data/1b", 1: "/data/1b", 2: "/data/1"}
        event = AuditEvent.objects.get()
        assert (event.action, event.object_name, event.result) == ("move replicas between directories", "1", "done")
        undo = re.search(r'href="/brokers/1/directories/\?undo=(\d+)"', text)[1]
        confirmed(client, {"undo": undo})
        cluster.brokers.arrive()
        assert set(lies_in(cluster).values()) == {"/data/1"}

    def test_one_more_replica_is_another_plan(self, cluster, operator, client_of):
        response = confirmed(client_of(operator), self.CHOSEN, place=["orders:0", "orders:1", "orders:2"])
        cluster.brokers.arrive()
        assert (response.status_code, set(lies_in(cluster).values())) == (409, {"/data/1"})

    def test_only_topics_one_operates_are_offered_and_moved(self, limited, client_of):
        client = client_of(limited)
        assert b"secret-plans" not in client.get(PAGE).content
        assert client.get(PAGE, {"place": "secret-plans:0", "to": "/data/1b"}).status_code == 403

    def test_a_broker_with_one_directory_says_so(self, operator, client_of):
        assert b"This broker has one directory" in client_of(operator).get("/brokers/2/directories/").content

    def test_a_broker_that_is_silent_is_told(self, cluster, operator, client_of):
        cluster.stop_broker(1)
        response = client_of(operator).get(PAGE)
        assert (response.status_code, b"did not say what lies in its directories" in response.content) == (422, True)

    def test_a_move_that_is_not_kept_is_not_found(self, operator, client_of):
        assert client_of(operator).get(PAGE, {"undo": "99"}).status_code == 404

    @pytest.mark.parametrize("person", ["viewer", "outsider"])
    def test_others_are_refused(self, person, request, cluster, client_of):
        client = client_of(request.getfixturevalue(person))
        assert client.get(PAGE).status_code == 403
        assert client.post(PAGE, self.CHOSEN | {"digest": "x"}).status_code == 403
        cluster.brokers.arrive()
        assert set(lies_in(cluster).values()) == {"/data/1"}

"""Reading records is a right of its own: who may see a topic sees nothing of what is in it."""

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User

from console.access.models import NameRule
from console.users.queries import role_of

ADDRESSES = ["", "?format=csv", "?place=oldest", "?search=a", "0/0/", "0/0/?part=value", "0/0/?part=key"]


@pytest.fixture(autouse=True)
def _topic(cluster, collect):
    for name in ("orders", "payments"):
        cluster.create_topic(name, 1, 1)
        cluster.produce_record(name, 0, b"a key inside", b"a value inside", (("h", b"a header inside"),))
    collect()


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_viewer_reads_no_record(address, viewer, client_of):
    response = client_of(viewer).get(f"/topics/orders/+records/{address}")

    assert response.status_code == 403
    assert "needs the role reader" in response.content.decode()
    assert b"inside" not in response.content


def test_the_tab_is_there_and_says_why_it_is_closed(viewer, reader, client_of):
    closed, opened = (client_of(each).get("/topics/orders/").content.decode() for each in (viewer, reader))

    assert "This needs the role reader" in closed
    assert "/topics/orders/+records/" not in closed
    assert "/topics/orders/+records/" in opened


def test_a_rule_makes_a_viewer_a_reader_of_some_topics(viewer, give_rule, client_of):
    give_rule(viewer, "reader", "topic", "ord*")
    client = client_of(viewer)

    assert "a value inside" in client.get("/topics/orders/+records/?place=oldest").content.decode()
    assert client.get("/topics/payments/+records/?place=oldest").status_code == 403


def test_a_rule_that_operates_reads_and_one_that_takes_away_does_not(viewer, reader, give_rule, client_of):
    give_rule(viewer, "operator", "topic", "orders")
    give_rule(reader, "nothing", "topic", "orders")

    assert client_of(viewer).get("/topics/orders/+records/").status_code == 200
    assert client_of(reader).get("/topics/orders/+records/").status_code == 403


def test_who_could_read_before_there_was_the_right_still_can(viewer, operator, outsider, give_rule):
    give_rule(outsider, "viewer", "topic", "orders*")
    give_rule(outsider, "viewer", "group", "readers*")
    give_rule(operator, "nothing", "topic", "x")
    migration = import_module("console.access.migrations.0004_readers")

    migration.keep_what_people_have(apps, None)
    people = User.objects.order_by("username")
    assert {each.username: role_of(each) for each in people} == {
        "viewer": "reader",
        "operator": "operator",
        "outsider": "none",
    }
    rules = NameRule.objects.order_by("resource", "level").values_list("resource", "level")
    assert list(rules) == [("group", "viewer"), ("topic", "nothing"), ("topic", "reader")]

    migration.give_back(apps, None)
    assert role_of(User.objects.get(username="viewer")) == "viewer"
    assert not NameRule.objects.filter(level="reader").exists()
    assert not Group.objects.filter(name="reader").exists()

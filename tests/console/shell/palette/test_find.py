"""What Ctrl-K finds: the nearest first, and nothing a person may not see or do."""

import pytest

from console.ecosystem.connectors.models import Connector
from console.kit.access.models import NameRule
from console.kit.access.rights import reach_of
from console.processes.models import ManagedProcess
from console.shell.palette.places import ACTIONS, PAGES
from console.shell.palette.queries import EACH_MAX, SHOWN_MAX, find
from console.state.clusters.models import Broker, Topic
from console.state.consumers.models import ConsumerGroup


@pytest.fixture(autouse=True)
def objects(db, settings):
    Topic.objects.bulk_create(Topic(name=name) for name in ("orders", "old-orders", "order", "secret-orders"))
    ConsumerGroup.objects.create(name="orders-to-bills", state="Stable", coordinator=1, verdict="ok")
    Broker.objects.create(broker_id=3, host="kafka-3.example", port=9092)
    ManagedProcess.objects.create(name="orders-counts", kind="stream", host=settings.HOST_NAME)
    Connector.objects.create(name="orders-out", kind="sink", state="RUNNING", tasks=[])


def titles(text, person, kind=None):
    return [each.title for each in find(text, reach_of(person)) if kind in (None, each.kind)]


def test_names_that_begin_so_stand_before_those_that_only_hold_it(viewer):
    assert titles("orders", viewer, "topic") == ["orders", "old-orders", "secret-orders"]
    assert titles("ORDER", viewer, "topic")[0] == "order"


def test_objects_of_every_kind_are_found_and_lead_to_their_pages(viewer):
    found = {each.kind: each.address for each in find("orders-", reach_of(viewer))}
    assert found["group"] == "/consumers/orders-to-bills/"
    assert found["process"] == "/processes/orders-counts/"
    assert found["connector"] == "/connectors/orders-out/"
    assert [each.address for each in find("3", reach_of(viewer)) if each.kind == "broker"] == ["/brokers/3/"]
    assert titles("kafka-3", viewer, "broker") == ["3 kafka-3.example"]


def test_a_second_word_means_a_tab_of_the_topic(operator):
    assert titles("orders sett", operator)[0] == "orders › settings"
    assert next(each.address for each in find("orders del", reach_of(operator))) == "/topics/orders/+delete/"


def test_what_a_person_may_not_see_is_not_found(viewer):
    NameRule.objects.create(user=viewer, resource="topic", pattern="secret*", level="nothing")
    assert "secret-orders" not in titles("orders", viewer)
    assert "Alerts" not in titles("alerts", viewer)


def test_a_viewer_is_offered_no_change_and_an_outsider_nothing(viewer, operator, administrator, outsider):
    assert titles("create topic", viewer) == []
    assert titles("create topic", operator) == ["Create a topic"]
    assert "Create a user" not in titles("create", operator)
    assert "Create a user" in titles("create", administrator)
    assert find("", reach_of(outsider)) == []
    assert "orders › delete" not in titles("orders delete", viewer)
    assert "orders › records" not in titles("orders records", viewer)


@pytest.mark.parametrize("place", [*PAGES, *ACTIONS], ids=lambda place: place.title)
def test_what_is_offered_opens(place, administrator, client_of, cluster, ensemble, connect):
    found = next(each for each in find(place.title, reach_of(administrator)) if each.title == place.title)
    assert client_of(administrator).get(found.address).status_code in (200, 404 if "ensemble" in place.route else 200)


def test_however_much_there_is_the_list_is_short(viewer):
    Topic.objects.bulk_create(Topic(name=f"many-{number}") for number in range(100))
    assert len(titles("many", viewer, "topic")) == EACH_MAX
    assert len(find("", reach_of(viewer))) <= SHOWN_MAX


@pytest.mark.parametrize("text", ["<script>", "%", "_", "'", "a" * 5_000, "\x00", "orders \\", "*", "٣"])
def test_whatever_is_typed_is_answered(text, viewer, client_of):
    answer = client_of(viewer).get("/find/", {"text": text})
    assert answer.status_code == 200
    assert "<script>" not in answer.content.decode()


def test_it_asks_the_database_a_few_questions_however_much_there_is(viewer, django_assert_max_num_queries):
    reach = reach_of(viewer)
    with django_assert_max_num_queries(12):
        find("orders", reach)

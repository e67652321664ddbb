"""What Ctrl-K finds: the nearest first, and nothing a person may not see or do."""

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import resolve

from console.cluster.credentials.models import ScramUser
from console.cluster.records.reader_slots import ReaderSlots
from console.ecosystem.connectors.models import Connector
from console.kit.access.models import NameRule
from console.kit.access.rights import reach_of
from console.kit.features.verbs import ObjectKind
from console.processes.models import ManagedProcess
from console.shell.palette import queries, views
from console.shell.palette.objects import EACH_MAX
from console.shell.palette.places import ACTIONS, PAGES, VERBS
from console.shell.palette.queries import LOOKUPS_MAX, SHOWN_MAX, find
from console.state.client_applications.models import ClientTraffic
from console.state.clusters.models import Broker, Topic
from console.state.consumers.models import ConsumerGroup, GroupPartition


@pytest.fixture(autouse=True)
def objects(db, settings):
    Topic.objects.bulk_create(Topic(name=name) for name in ("orders", "old-orders", "order", "secret-orders"))
    ConsumerGroup.objects.create(name="orders-to-bills", state="Stable", coordinator=1, verdict="ok")
    Broker.objects.create(broker_id=3, host="kafka-3.example", port=9092)
    ManagedProcess.objects.create(name="orders-counts", kind="stream", host=settings.HOST_NAME)
    Connector.objects.create(name="orders-out", kind="sink", state="RUNNING", tasks=[])


def titles(text, person, kind=None):
    return [cluster.title for cluster in find(text, reach_of(person)) if kind in (None, cluster.kind)]


def test_names_that_begin_so_stand_before_those_that_only_hold_it(viewer):
    assert titles("orders", viewer, "topic") == ["orders", "old-orders", "secret-orders"]
    assert titles("ORDER", viewer, "topic")[0] == "order"


def test_objects_of_every_kind_are_found_and_lead_to_their_pages(viewer):
    addresses = {member.kind: member.address for member in find("orders-", reach_of(viewer))}
    assert addresses["group"] == "/consumers/orders-to-bills/"
    assert addresses["process"] == "/processes/orders-counts/"
    assert addresses["connector"] == "/connectors/orders-out/"
    assert [member.address for member in find("3", reach_of(viewer)) if member.kind == "broker"] == ["/brokers/3/"]
    assert titles("kafka-3", viewer, "broker") == ["3 kafka-3.example"]


def test_a_process_that_is_not_removed_as_such_is_not_offered_for_it(administrator, operator, settings):
    """A stream job is removed with its checkpoint; a broker may hold a replica of a topic that is hidden."""
    assert "Remove orders-counts" not in titles("remove orders-counts", administrator)
    assert "Remove stream job orders-counts" in titles("remove orders-counts", administrator)
    ManagedProcess.objects.create(name="broker-3", kind="broker", host=settings.HOST_NAME)
    assert "Remove broker-3" in titles("remove broker-3", operator)
    NameRule.objects.create(user=operator, resource="topic", pattern="secret*", level="nothing")
    operator = User.objects.get(pk=operator.pk)
    assert "Remove broker-3" not in titles("remove broker-3", operator)
    assert "Restart broker-3" in titles("restart broker-3", operator)


def test_a_second_word_means_a_tab_of_the_topic(operator):
    assert titles("orders sett", operator)[0] == "orders › settings"
    assert addresses("orders del", operator)[0] == "/topics/orders/+delete/?when=later"


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
    result = next(cluster for cluster in find(place.title, reach_of(administrator)) if cluster.title == place.title)
    assert client_of(administrator).get(result.address).status_code in (200, 404 if "ensemble" in place.route else 200)


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


@pytest.fixture
def more_objects(objects, settings):
    """What verbs are for: a broker of this console, a group with a member, a Kafka user, partitions."""
    Topic.objects.filter(name="orders").update(partition_count=12)
    Topic.objects.create(name="__consumer_offsets", partition_count=50, is_internal=True)
    for number in (2, 20):
        Broker.objects.create(broker_id=number, host="127.0.0.1", port=9090 + number)
        ManagedProcess.objects.create(name=f"broker-{number}", kind="broker", host=settings.HOST_NAME)
    members = [["m-1", "app-x", "10.0.0.1", None, 3]]
    ConsumerGroup.objects.create(name="slow-export", state="Stable", coordinator=1, verdict="ok", members=members)
    ScramUser.objects.create(name="app-x", mechanisms={"SCRAM-SHA-512": 4096})


def addresses(text, person):
    return [entry.address for entry in find(text, reach_of(person))]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("restart broker 2", "/processes/broker-2/restart"),
        ("restart broker-2", "/processes/broker-2/restart"),
        ("broker 2 restart", "/processes/broker-2/restart"),
        ("reset slow-export", "/consumers/slow-export/+reset/"),
        ("reset the offsets of slow-export", "/consumers/slow-export/+reset/"),
        ("delete orders", "/topics/orders/+delete/?when=later"),
        ("drain broker 2", "/placement/+move/?drain=2"),
        ("orders 10", "/topics/orders/+records/?partition=10"),
        ("orders messages 10", "/topics/orders/+records/?partition=10"),
        ("segments orders 10", "/topics/orders/+segments/10/"),
        ("pause orders-out", "/connectors/orders-out/+do/pause/"),
        ("quorum", "/zookeeper/"),
        ("who produces", "/client-applications/"),
        ("who produces orders", "/topics/orders/+producers/"),
        ("broker 2", "/brokers/2/"),
    ],
)
def test_a_verb_and_an_object_lead_to_the_page_that_does_it(text, first, more_objects, administrator):
    assert addresses(text, administrator)[0] == first


def test_a_client_leads_to_its_rules_its_quotas_and_its_groups(more_objects, administrator, viewer, tenant):
    assert titles("app-x", administrator) == [
        "slow-export · client app-x",
        "ACL rules of app-x",
        "Topics and groups app-x may use",
        "Kafka user app-x",
        "Quotas of app-x",
    ]
    assert "/access-lists/rules/?principal=app-x" in addresses("app-x", viewer)
    assert addresses("app-x", tenant) == []


def test_a_name_that_nothing_has_is_looked_for_in_the_acl_rules(administrator, tenant):
    assert addresses("app-unknown", administrator) == ["/access-lists/rules/?principal=app-unknown"]
    assert addresses("app-unknown", tenant) == []


def test_no_verb_is_offered_without_its_right(more_objects, viewer, operator, keeper, tenant, limited):
    for text in ("restart broker 2", "reset slow-export", "delete orders", "drain broker 2", "orders 10"):
        assert not any("+" in address and "segments" not in address for address in addresses(text, viewer)), text
        assert "/processes/broker-2/restart" not in addresses(text, viewer)
    assert "/processes/broker-2/restart" in addresses("restart broker 2", operator)
    assert addresses("restart broker 2", keeper) == []
    assert addresses("reset slow-export", tenant) == []
    assert addresses("move replicas of orders", tenant) == []
    assert addresses("drain broker 2", limited) == []


def test_no_verb_names_an_object_out_of_reach(more_objects, limited):
    Topic.objects.filter(name="secret-orders").update(partition_count=12)
    ConsumerGroup.objects.create(name="secret-export", state="Empty", coordinator=1, verdict="ok")
    ManagedProcess.objects.create(name="secret-broker", kind="broker")
    for text in ("reset secret-export", "delete secret-orders", "secret-orders 3", "restart secret-broker", "secret"):
        assert not any("secret" in address for address in addresses(text, limited)), text


def test_changing_an_internal_topic_is_offered_to_administrators_alone(more_objects, operator, administrator):
    assert "/topics/__consumer_offsets/+delete/?when=later" not in addresses("delete __consumer_offsets", operator)
    assert "/topics/__consumer_offsets/+delete/?when=later" in addresses("delete __consumer_offsets", administrator)
    assert not any("+records" in address for address in addresses("__consumer_offsets 3", operator))


def test_a_group_that_also_reads_hidden_topics_is_not_offered_to_be_reset(more_objects, limited):
    assert addresses("reset slow-export", limited) == ["/consumers/slow-export/+reset/"]
    group = ConsumerGroup.objects.get(name="slow-export")
    for topic in ("orders", "secret-orders"):
        GroupPartition.objects.create(group=group, topic=topic, partition=0)
    assert addresses("reset slow-export", limited) == []


def test_a_partition_that_a_topic_does_not_have_is_not_offered(more_objects, operator):
    assert addresses("orders 11", operator) != []
    assert addresses("orders 12", operator) == []


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.key)
def test_every_verb_leads_to_a_page_that_is_there(verb, more_objects, administrator):
    name = {ObjectKind.BROKER: "2", ObjectKind.TOPIC: "orders", ObjectKind.PROCESS: "broker-2"}.get(verb.of, "app-x")
    name = "orders-counts" if verb.process_kind == "stream" else "orders-out" if verb.of == "connector" else name
    name = "slow-export" if verb.of == "group" else name
    partition = "" if verb.partition_in is None else " 10"
    title = verb.title.format(name=name, partition="10")
    words = verb.title.format(name="", partition="").replace("›", "").lower()
    entry = next(
        cluster for cluster in find(f"{words} {name}{partition}", reach_of(administrator)) if cluster.title == title
    )
    assert resolve(re.split("[?#]", entry.address)[0]).url_name == verb.route


def test_words_of_a_verb_ask_the_database_a_bounded_number_of_questions(more_objects, limited, administrator):
    for person, text in ((limited, "a a a a a a a a"), (administrator, "restart reset delete move add charts e o")):
        reach = reach_of(person)
        with CaptureQueriesContext(connection) as queries:
            find(text, reach)
        assert len(queries) < 160


def test_a_text_costs_no_more_looks_than_its_bound_whatever_its_words_mean(
    more_objects, administrator, django_assert_max_num_queries
):
    reach = reach_of(administrator)
    for text in ("delete topic orders group a broker 2", "de re mo qu ac us se me", "the of a an in is on to"):
        with django_assert_max_num_queries(2 * LOOKUPS_MAX + 4):
            find(text, reach)


def test_a_filler_is_no_object_beside_other_words(more_objects, administrator, monkeypatch):
    looked_for: list[str] = []
    really = queries.find_objects
    monkeypatch.setattr(
        queries, "find_objects", lambda kind, name, reach: looked_for.append(name) or really(kind, name, reach)
    )
    assert addresses("reset the offsets of slow-export", administrator)
    assert not {"the", "of"} & set(looked_for)
    assert looked_for[0] == "slow-export"


def test_what_would_not_be_shown_is_not_looked_for(more_objects, administrator, monkeypatch):
    monkeypatch.setattr(queries, "SHOWN_MAX", 1)
    with CaptureQueriesContext(connection) as statements:
        assert addresses("orders", administrator) == ["/topics/orders/"]
    assert len(statements) <= 3, [statement["sql"] for statement in statements]


def test_a_person_who_types_in_many_pages_leaves_room_for_others(viewer, operator, client_of, monkeypatch):
    monkeypatch.setattr(views, "SLOTS", ReaderSlots(slots_max=4, per_person_max=1))
    views.SLOTS.take(viewer.pk)
    assert client_of(viewer).get("/find/", {"text": "o"}).status_code == 429
    assert client_of(operator).get("/find/", {"text": "o"}).status_code == 200
    views.SLOTS.give_back(viewer.pk)
    assert client_of(viewer).get("/find/", {"text": "o"}).status_code == 200


def test_a_client_is_found_by_its_client_id(viewer):
    known = {"topic": "orders", "is_produce": True, "used_at_ms": 1, "records_per_second": 1.0, "bytes_per_second": 1.0}
    ClientTraffic.objects.create(client_id="mobile-api", principal="User:a", host="h", **known)
    [entry] = [entry for entry in find("mobile", reach_of(viewer)) if entry.kind == "client"]
    assert (entry.title, entry.address) == ("mobile-api", "/client-applications/?search=mobile-api")

"""Client applications as people meet them: who writes and reads topics, how fast, by which library, from where."""

import csv
import io

import pytest

from console.kit.common.clock import now_ms
from console.kit.gateway.clients.interface import ClientView, TrafficView
from console.kit.gateway.errors import ClusterUnreachableError
from console.kit.gateway.quotas.interface import QuotaEntity
from console.state.client_applications.models import ClientLook, ClientTraffic
from console.state.client_applications.rows import ROWS_MAX
from console.state.consumers.models import ConsumerGroup, GroupPartition

PAGE = "/client-applications/"
PRODUCERS, CONSUMERS = "/topics/orders/+producers/", "/topics/orders/+consumers/"
APP = ClientView("User:app", "app-x", "10.0.0.7", "librdkafka", "2.16.0")
BILLING = ClientView("User:billing", "billing-1", "10.0.0.8", "apache-kafka-java", "3.9.0")
OTHERS = ClientView("", "", "")
NOT_TOLD = "This cluster does not tell which clients produce and consume."


def traffic(client, topic="orders", *, is_produce=True, records=150.0, size=15_000.0, idle_ms=0):
    return TrafficView(client, topic, is_produce, 1_000, 100_000, records, size, idle_ms)


@pytest.fixture(autouse=True)
def _topics(cluster, collect):
    for name in ("orders", "secret-plans"):
        cluster.create_topic(name, 1, 1)
    collect()


@pytest.fixture
def tell_clients(cluster, collector):
    """tell_clients({1: [...]}): what the brokers tell, and the collector looks."""

    def tell(by_broker):
        cluster.clients.views_by_broker = {number: views and tuple(views) for number, views in by_broker.items()}
        collector.look("clients")

    return tell


def text_of(response) -> str:
    assert response.status_code == 200
    return response.content.decode().replace("\u202f", " ")


def rows_of(client, address, **query) -> list[dict[str, str]]:
    response = client.get(address, {"format": "csv", **query})
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def test_the_producers_of_a_topic_are_named_with_rate_library_and_address(tell_clients, operator, client_of):
    tell_clients({1: [traffic(APP)], 2: [traffic(APP, records=50, idle_ms=5_000)]})
    text = text_of(client_of(operator).get(PRODUCERS))
    assert "nothing was written by others" not in text
    for shown in ("app-x", "User:app", "10.0.0.7", "librdkafka 2.16.0", "200 records/s together"):
        assert shown in text


def test_the_consumers_of_a_topic_are_named_beside_its_groups(tell_clients, operator, client_of):
    tell_clients({1: [traffic(BILLING, is_produce=False), traffic(APP)]})
    text = text_of(client_of(operator).get(CONSUMERS))
    assert "billing-1" in text
    assert "app-x" not in text


def test_the_part_of_a_tab_that_is_fetched_again_has_the_new_rate(tell_clients, viewer, client_of):
    client, address = client_of(viewer), "/topics/orders/+clients/"
    tell_clients({1: [traffic(APP)]})
    assert f'hx-get="{address}?direction=produce"' in text_of(client.get(PRODUCERS))
    tell_clients({1: [traffic(APP, records=33)]})
    assert "33 records/s together" in text_of(client.get(address, {"direction": "produce"}))
    assert "No client has consumed this topic" in text_of(client.get(address, {"direction": "fetch"}))


def test_the_list_has_each_client_with_all_its_topics(tell_clients, operator, client_of):
    tell_clients(
        {1: [traffic(APP), traffic(APP, "secret-plans", records=7)], 2: [traffic(APP, is_produce=False, records=20)]}
    )
    response = client_of(operator).get(PAGE)
    (row,) = response.context["page"]
    assert [(rate.topic, rate.records_per_second) for rate in row.produced] == [("orders", 150), ("secret-plans", 7)]
    assert [(rate.topic, rate.records_per_second) for rate in row.fetched] == [("orders", 20)]


@pytest.mark.parametrize(
    ("query", "clients"),
    [
        ({"search": "app"}, {"app-x"}),
        ({"search": "java 10.0.0.8"}, {"billing-1"}),
        ({"search": "orders"}, {"app-x", "billing-1"}),
        ({"direction": "fetch"}, {"billing-1"}),
        ({"active": "on"}, {"app-x"}),
        ({"direction": "sideways", "page": "many"}, {"app-x", "billing-1"}),
    ],
)
def test_the_list_is_filtered(tell_clients, operator, client_of, query, clients):
    tell_clients({1: [traffic(APP), traffic(BILLING, is_produce=False, records=0, idle_ms=60_000)]})
    response = client_of(operator).get(PAGE, query)
    assert {row.key.client_id for row in response.context["page"]} == clients


def test_a_person_sees_clients_of_topics_in_reach_and_no_address_unless_all_names_are(tell_clients, limited, client_of):
    tell_clients({1: [traffic(APP), traffic(APP, "secret-plans"), traffic(BILLING, "secret-plans")]})
    client = client_of(limited)
    for address in (PAGE, PRODUCERS, f"{PAGE}?search=10.0.0.7", "/dependencies/"):
        text = text_of(client.get(address))
        assert "secret" not in text
        assert "billing" not in text
        assert "User:app" not in text
        assert ">10.0.0.7<" not in text
    assert [row["client_id"] for row in rows_of(client, PAGE)] == ["app-x"]
    assert {row["address"] + row["principal"] for row in rows_of(client, "/topics/orders/+clients/")} == {""}
    assert client.get("/topics/secret-plans/+clients/").status_code == 403
    assert not client.get(PAGE, {"search": "User:app"}).context["page"].object_list


def test_a_stranger_sees_nothing(tell_clients, outsider, client_of):
    tell_clients({1: [traffic(APP)]})
    assert client_of(outsider).get(PAGE).status_code == 403
    assert client_of(outsider).get("/topics/orders/+clients/").status_code == 403


def test_clients_that_a_person_cannot_tell_apart_are_one(tell_clients, limited, client_of):
    other_host = ClientView("User:app", "app-x", "10.0.0.9", "librdkafka", "2.16.0")
    tell_clients({1: [traffic(APP), traffic(other_host, records=50)]})
    (row,) = client_of(limited).get(PAGE).context["page"]
    assert row.records_per_second == 200


@pytest.mark.parametrize("address", [PAGE, PRODUCERS, CONSUMERS, "/dependencies/", "/dependencies/?name=orders"])
def test_where_no_broker_tells_the_page_says_that_it_is_not_told(tell_clients, operator, client_of, address):
    tell_clients({1: None, 2: None, 3: None})
    text = text_of(client_of(operator).get(address))
    assert NOT_TOLD in text
    assert "nothing was written by others" not in text
    assert "No client has" not in text


def test_records_that_arrive_without_a_trace_are_not_called_nothing(
    tell_clients, cluster, collect, clock, viewer, client_of
):
    tell_clients({1: None, 2: None, 3: None})
    clock.advance(2_000)
    cluster.append("orders", 0, 300)
    collect()
    text = text_of(client_of(viewer).get(PRODUCERS))
    assert "Producers without enable.idempotence are not among these; 150 records/s arrive." in text


def test_a_broker_that_does_not_tell_is_named_while_others_do(tell_clients, operator, client_of):
    tell_clients({1: [traffic(APP)], 2: None})
    assert "Broker 2 does not tell: what clients do there is missing." in text_of(client_of(operator).get(PAGE))


def test_brokers_that_cannot_be_asked_leave_what_was_known_and_a_reason(
    tell_clients, cluster, collector, operator, client_of
):
    tell_clients({1: [traffic(APP)]})

    def refuse():
        raise ClusterUnreachableError("The secret cannot be read.")

    cluster.clients.traffic = refuse
    with pytest.raises(ClusterUnreachableError):
        collector.look("clients")
    text = text_of(client_of(operator).get(PAGE))
    assert "The secret cannot be read." in text
    assert "app-x" in text


def test_before_the_first_look_the_page_says_so(operator, client_of):
    assert "have not been read yet" in text_of(client_of(operator).get(PAGE))


def test_clients_beyond_those_that_are_counted_are_one_row_without_a_name(tell_clients, operator, client_of):
    tell_clients({1: [traffic(OTHERS, records=5)]})
    text = text_of(client_of(operator).get(PRODUCERS))
    assert "other clients" in text


def test_of_very_many_clients_the_busiest_are_kept(tell_clients, operator, client_of):
    views = [
        traffic(ClientView("User:app", f"client-{number}", "10.0.0.1"), size=number) for number in range(ROWS_MAX + 3)
    ]
    tell_clients({1: views})
    assert ClientTraffic.objects.count() == ROWS_MAX
    assert not ClientTraffic.objects.filter(client_id="client-2").exists()
    assert ClientLook.objects.get().left_out == 3
    assert "3 rows with little traffic are left out." in text_of(client_of(operator).get(PAGE))


def test_names_that_clients_make_up_are_shown_as_text(tell_clients, operator, client_of):
    hostile = ClientView("User:app", "<script>alert(1)</script>", "10.0.0.1")
    tell_clients({1: [traffic(hostile)]})
    for address in (PAGE, PRODUCERS, "/dependencies/"):
        assert "<script>alert" not in text_of(client_of(operator).get(address))


def test_dependencies_name_clients_with_their_rates_and_groups_with_those_of_their_members(
    tell_clients, operator, client_of
):
    row = ConsumerGroup.objects.create(name="billing", state="Stable", coordinator=1, verdict="ok")
    row.members = [["m-1", "billing-1", "/10.0.0.8", "", 1]]
    row.save()
    GroupPartition.objects.create(group=row, topic="orders", partition=0, committed=1, verdict="ok")
    auditor = ClientView("User:audit", "auditor", "10.0.0.9")
    tell_clients(
        {1: [traffic(APP), traffic(BILLING, is_produce=False, records=25), traffic(auditor, is_produce=False)]}
    )
    client = client_of(operator)
    listed = {row.name: row for row in client.get("/dependencies/").context["page"]}["orders"]
    assert [(str(writer.node.kind), writer.node.name, writer.records_per_second) for writer in listed.writers] == [
        ("client", "app-x", 150)
    ]
    assert [(str(reader.node.kind), reader.node.name, reader.records_per_second) for reader in listed.readers] == [
        ("client", "auditor", 150),
        ("group", "billing", 25),
    ]
    assert "150 records/s" in text_of(client.get("/dependencies/"))
    around = text_of(client.get("/dependencies/", {"kind": "topic", "name": "orders"}))
    assert "app-x <span" in around
    assert "25 records/s" in around
    assert "orders" in text_of(client.get("/dependencies/", {"kind": "client", "name": "app-x"}))


def test_the_console_s_own_reading_is_listed_and_hangs_on_nothing(tell_clients, operator, client_of):
    own = ClientView("User:ANONYMOUS", "barnabas-console", "127.0.0.1")
    tell_clients({1: [traffic(own, is_produce=False)]})
    client = client_of(operator)
    assert "barnabas-console" in text_of(client.get(PAGE))
    assert "barnabas-console" not in text_of(client.get("/dependencies/"))
    assert "barnabas-console" not in text_of(client.get("/topics/orders/+delete/"))


def test_a_deletion_names_the_clients_that_write_the_topic(tell_clients, operator, client_of):
    tell_clients({1: [traffic(APP)]})
    ClientTraffic.objects.update(used_at_ms=now_ms())
    assert "Client app-x writes it" in text_of(client_of(operator).get("/topics/orders/+delete/"))


def test_the_file_has_a_line_for_each_client_topic_and_direction(tell_clients, operator, client_of):
    tell_clients({1: [traffic(APP), traffic(BILLING, is_produce=False, records=20)]})
    rows = rows_of(client_of(operator), PAGE)
    assert [(row["client_id"], row["library"], row["library_version"], row["direction"]) for row in rows] == [
        ("app-x", "librdkafka", "2.16.0", "produce"),
        ("billing-1", "apache-kafka-java", "3.9.0", "fetch"),
    ]
    assert rows[0]["records_per_second"] == "150.0"


def test_a_client_names_the_quota_that_counts_for_it(
    tell_clients, cluster, collector, administrator, viewer, client_of
):
    cluster.quotas.change(QuotaEntity(client_id="app-x"), {"producer_byte_rate": 1_024.0})
    collector.look("quotas")
    tell_clients({1: [traffic(APP), traffic(BILLING)]})
    text = text_of(client_of(administrator).get(PAGE))
    assert "quota of client id app-x" in text
    assert 'href="/quotas/?search=app-x"' in text
    assert text.count("quota of") == 1


def test_the_console_itself_is_not_counted_among_clients(tell_clients, administrator, client_of):
    tell_clients({1: [traffic(APP), traffic(ClientView("User:ANONYMOUS", "barnabas-console-records", "127.0.0.1"))]})
    text = text_of(client_of(administrator).get(PAGE))
    assert "this console</span>" in text
    assert "1 client<" in text

import pytest

from console.kit.tables.declared import TABLES
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup, GroupPartition

ROWS = TABLES["topics"].rows


@pytest.fixture
def names(viewer, client_of):
    """names(query): the topics of the page, in order."""

    def ask(query: str = "") -> list[str]:
        return [topic.name for topic in client_of(viewer).get(f"/topics/{query}").context["page"]]

    return ask


@pytest.fixture
def _topics(db):
    Topic.objects.create(name="orders", record_count=10, records_per_second=5)
    Topic.objects.create(name="payments", record_count=99, records_per_second=None)
    Topic.objects.create(name="returns", record_count=1, records_per_second=7, under_replicated_count=2)
    Topic.objects.create(name="__consumer_offsets", is_internal=True)


@pytest.mark.usefixtures("_topics")
class TestList:
    def test_topics_are_sorted_by_name_and_internal_ones_are_hidden(self, names):
        assert names() == ["orders", "payments", "returns"]

    def test_a_switch_shows_internal_topics(self, names):
        assert "__consumer_offsets" in names("?internal=on")

    def test_search_looks_inside_names_whatever_the_case(self, names):
        assert names("?search=AY") == ["payments"]

    def test_sorting_puts_unknown_rates_last(self, names):
        assert names("?sort=-rate") == ["returns", "orders", "payments"]
        assert names("?sort=rate") == ["orders", "returns", "payments"]

    @pytest.mark.parametrize("query", ["?sort=password", "?sort=--name", "?page=x", "?page=-1", "?page=²", "?page=999"])
    def test_nonsense_in_the_address_shows_the_default_page(self, names, query):
        assert names(query) == ["orders", "payments", "returns"]

    def test_htmx_gets_the_table_alone(self, viewer, client_of):
        headers = {"HX-Request": "true", "HX-Target": "topic-table"}
        text = client_of(viewer).get("/topics/?search=orders", headers=headers).content.decode()

        assert text.strip().startswith('<div id="topic-table"')
        assert "<html" not in text

    def test_what_was_searched_is_escaped(self, viewer, client_of):
        text = client_of(viewer).get("/topics/?search=<script>").content.decode()

        assert "<script>" not in text
        assert "&lt;script&gt;" in text


def test_long_lists_are_paged_in_the_database(viewer, client_of, django_assert_max_num_queries):
    Topic.objects.bulk_create([Topic(name=f"topic-{number:03d}") for number in range(ROWS + 5)])

    client = client_of(viewer)
    client.get("/topics/")  # once a minute it is noted that a login is used

    with django_assert_max_num_queries(18):
        first = client.get("/topics/").context["page"]
        assert len(first.object_list) == ROWS
    second = client.get("/topics/?page=2").context["page"]
    assert [topic.name for topic in second] == [f"topic-{ROWS + number:03d}" for number in range(5)]


def test_only_an_operator_gets_a_button_that_works(viewer, operator, client_of):
    assert 'href="/topics/+create/"' in client_of(operator).get("/topics/").content.decode()
    text = client_of(viewer).get("/topics/").content.decode()
    assert 'href="/topics/+create/"' not in text
    assert "needs the role operator" in text


def place(group: str, topic: str, partition: int, lag: int | None) -> None:
    consumers, _ = ConsumerGroup.objects.get_or_create(name=group, defaults={"coordinator": 1, "verdict": "ok"})
    GroupPartition.objects.create(group=consumers, topic=topic, partition=partition, lag=lag, verdict="ok")


@pytest.mark.usefixtures("_topics")
def test_groups_and_their_lag_are_counted_and_sorted_by(names, viewer, client_of):
    place("readers", "orders", 0, 5)
    place("readers", "orders", 1, 7)
    place("others", "orders", 0, None)
    place("others", "returns", 0, 100)

    assert names("?sort=-lag") == ["returns", "orders", "payments"]
    assert names("?sort=-groups") == ["orders", "returns", "payments"]
    page = client_of(viewer).get("/topics/").context["page"]
    assert [(topic.name, topic.group_count, topic.lag) for topic in page] == [
        ("orders", 2, 12),
        ("payments", 0, None),
        ("returns", 1, 100),
    ]


def test_what_the_collector_saw_stands_in_the_columns(viewer, client_of, cluster, collect, collector, clock):
    cluster.create_topic("orders", 2, 3, {"retention.ms": "259200000", "cleanup.policy": "compact,delete"})
    cluster.create_topic("keys", 1, 1, {"cleanup.policy": "compact"})
    collect()
    clock.advance(5_000)
    cluster.append("orders", 0, 10)
    collector.look("sizes")
    collect()

    topic = Topic.objects.get(name="orders")
    assert (topic.size_bytes, topic.last_record_at_ms) == (3_000, clock.now_ms())
    assert (topic.retention_ms, topic.cleanup_policy) == (259_200_000, "compact,delete")
    assert Topic.objects.get(name="keys").last_record_at_ms == 0
    text = client_of(viewer).get("/topics/").content.decode()
    assert "3\u202fd" in text
    assert "compacted" in text
    clock.advance(5_000)
    collect()
    assert Topic.objects.get(name="orders").last_record_at_ms == clock.now_ms() - 5_000


def test_what_programs_make_for_themselves_can_be_left_out(viewer, client_of):
    own = ["orders", "orders.internals", "connect-configs-of-mine", "my_topic"]
    platform = [
        *("_schemas", "__consumer_offsets", "_barnabas_audit", "connect-offsets", "barnabas.probe", "heartbeats"),
        *("barnabas-mirror.internal", "east.checkpoints.internal", "counts-store-changelog", "counts-repartition"),
    ]
    Topic.objects.bulk_create([Topic(name=name) for name in (*own, *platform)])
    client = client_of(viewer)
    assert {item.name for item in client.get("/topics/?applications=on").context["page"]} == set(own)
    assert {item.name for item in client.get("/topics/").context["page"]} == {*own, *platform}

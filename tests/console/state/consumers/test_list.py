import csv
import io

import pytest
from django.utils.html import escape

from console.kit.access.models import NameRule
from console.kit.common.clock import now_ms
from console.kit.tables.declared import TABLES
from console.state.consumers.models import ConsumerGroup, GroupPartition
from console.state.consumers.verdict import RULE


def make(name: str, topic: str = "orders", **values) -> ConsumerGroup:
    known = {"state": "Stable", "coordinator": 1, "verdict": "ok", "topics": [topic], "lag": 0} | values
    group = ConsumerGroup.objects.create(name=name, **known)
    GroupPartition.objects.create(group=group, topic=topic, partition=0, verdict="ok")
    return group


@pytest.fixture
def _groups(db):
    make("billing", lag=50, behind_since_ms=now_ms() - 60_000, verdict="stalled", severity=5)
    make("audit", topic="payments", lag=None, verdict="unknown", severity=2)
    make("mail", lag=900, behind_since_ms=now_ms() - 5_000, lag_per_second=-10.0)


@pytest.fixture
def names(viewer, client_of):
    """names(query): the groups of the page, in order."""

    def ask(query: str = "") -> list[str]:
        return [group.name for group in client_of(viewer).get(f"/consumers/{query}").context["page"]]

    return ask


@pytest.mark.usefixtures("_groups")
class TestList:
    def test_groups_are_sorted_by_name(self, names):
        assert names() == ["audit", "billing", "mail"]

    def test_sorting_puts_what_is_not_known_last(self, names):
        assert names("?sort=-lag") == ["mail", "billing", "audit"]
        assert names("?sort=lag") == ["billing", "mail", "audit"]

    def test_who_waited_longest_is_first(self, names):
        assert names("?sort=-behind") == ["billing", "mail", "audit"]

    def test_the_worst_verdict_comes_first(self, names):
        assert names("?sort=-verdict")[0] == "billing"

    def test_search_looks_into_groups_and_their_topics(self, names):
        assert names("?search=AI") == ["mail"]
        assert names("?search=payme") == ["audit"]

    def test_a_switch_leaves_those_in_trouble(self, names):
        assert names("?bad=on") == ["billing"]

    @pytest.mark.parametrize("query", ["?sort=password", "?sort=--name", "?page=x", "?page=-1", "?page=²", "?page=999"])
    def test_nonsense_in_the_address_shows_the_default_page(self, names, query):
        assert names(query) == ["audit", "billing", "mail"]

    def test_htmx_gets_the_table_alone(self, viewer, client_of):
        headers = {"HX-Request": "true", "HX-Target": "group-table"}
        text = client_of(viewer).get("/consumers/?search=mail", headers=headers).content.decode()

        assert text.strip().startswith('<div id="group-table"')
        assert "<html" not in text

    def test_lag_in_time_trend_and_catching_up_are_shown(self, viewer, client_of):
        text = client_of(viewer).get("/consumers/?search=mail").content.decode()

        assert "shrinking" in text
        assert "1\u202fmin 30\u202fs" in text

    def test_who_keeps_up_never_never_catches_up(self, viewer, client_of):
        make("brisk", lag=1, lag_per_second=0.0, arriving_per_second=5.0, behind_since_ms=now_ms() - 2_000)
        make("drowning", lag=9, lag_per_second=0.0, arriving_per_second=5.0, verdict="slow")
        client = client_of(viewer)

        assert ">never<" not in client.get("/consumers/?search=brisk").content.decode()
        assert ">never<" in client.get("/consumers/?search=drowning").content.decode()

    def test_who_loses_records_soon_is_among_those_in_trouble(self, names):
        make("expiring", lag=5, behind_since_ms=now_ms() - 7_200_000, expires_at_ms=now_ms() + 60_000)
        assert names("?bad=on") == ["billing", "expiring"]

    def test_the_page_says_what_makes_trouble(self, viewer, client_of):
        assert escape(RULE) in client_of(viewer).get("/consumers/").content.decode()

    def test_the_file_has_what_the_filters_choose(self, viewer, client_of):
        response = client_of(viewer).get("/consumers/?bad=on&format=csv")
        rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))

        assert [(row["group"], row["verdict"], row["lag_records"]) for row in rows] == [("billing", "stalled", "50")]

    def test_a_topic_shows_its_groups(self, cluster, collect, viewer, client_of):
        cluster.create_topic("orders", 1, 1)
        cluster.commit("readers", "orders", 0, 0)
        collect()
        text = client_of(viewer).get("/topics/orders/+consumers/").content.decode()

        assert 'href="/consumers/readers/"' in text


def test_an_empty_list_says_how_a_group_comes_to_be(viewer, client_of):
    assert "No consumer group has been seen yet." in client_of(viewer).get("/consumers/").content.decode()


@pytest.mark.usefixtures("_groups")
def test_a_switch_that_leaves_nothing_says_so(viewer, client_of):
    ConsumerGroup.objects.update(verdict="ok")
    assert "Every group does well." in client_of(viewer).get("/consumers/?bad=on").content.decode()


def test_long_lists_are_paged_in_the_database(viewer, client_of, django_assert_max_num_queries):
    ConsumerGroup.objects.bulk_create(
        [
            ConsumerGroup(name=f"group-{number:03d}", state="Empty", coordinator=1, verdict="ok")
            for number in range(TABLES["consumers"].rows + 5)
        ]
    )
    client = client_of(viewer)
    client.get("/consumers/")  # once a minute it is noted that a login is used
    with django_assert_max_num_queries(18):
        assert len(client.get("/consumers/").context["page"].object_list) == TABLES["consumers"].rows
    assert len(client.get("/consumers/?page=2").context["page"].object_list) == 5


def test_a_group_is_listed_once_however_many_partitions_a_limited_person_sees(cluster, collect, outsider, client_of):
    cluster.create_topic("orders", 3, 2)
    for partition in range(3):
        cluster.commit("billing", "orders", partition, 0)
    collect()
    for resource, pattern in (("topic", "orders*"), ("group", "billing*")):
        NameRule.objects.create(user=outsider, resource=resource, pattern=pattern, level="operator")
    answer = client_of(outsider).get("/consumers/")
    assert [item.name for item in answer.context["page"].object_list] == ["billing"]

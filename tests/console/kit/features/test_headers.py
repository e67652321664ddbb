"""The header of an object's pages: what it tells, and that it offers what the person may do, and no more."""

import re

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from console.cluster.topics.row_renderers import topic_heads, topic_pages, topic_rows
from console.ecosystem.connectors.models import Connector
from console.kit.access.models import NameRule, ReadOnlyMode
from console.kit.access.read_only import CONSOLE
from console.kit.access.rights import NOT_ALL_TOPICS, Right, reach_of
from console.kit.live import groups
from console.processes.models import ManagedProcess
from console.shell.web.page_socket import groups_for
from console.state.clusters.models import Broker, ClusterState, Topic
from console.state.consumers.models import ConsumerGroup, GroupPartition
from console.state.consumers.row_renderers import group_rows

PAGES = (
    "/topics/orders/",
    "/topics/orders/+settings/",
    "/consumers/readers/",
    "/consumers/readers/+charts/",
    "/brokers/1/",
    "/brokers/1/partitions/",
    "/connectors/lines/",
    "/connectors/lines/+charts/",
    "/processes/broker-1/",
    "/processes/broker-1/+charts/",
)


#: Actions that change nothing.
LOOKS = {"Lineage", "What if it is lost…", "Partition calculator…", "Time travel…", "Leaders over time…"}


@pytest.fixture(autouse=True)
def _objects(cluster, collect):
    cluster.create_topic("orders", 2, 2)
    cluster.append("orders", 0, 100)
    cluster.commit("readers", "orders", 0, 60)
    collect()
    ManagedProcess.objects.create(name="broker-1", kind="broker", host=settings.HOST_NAME)
    Connector.objects.create(name="lines", kind="sink", state="RUNNING", task_count=1, running_count=1)


class Header:
    """The header of a page, taken apart by the labels of its parts."""

    def __init__(self, text: str):
        matches = re.findall(r'<header class="page-head object-head">.*?</header>', text, re.DOTALL)
        assert len(matches) == 1
        self.text = matches[0]
        self.figures = re.findall(r"<dt[^>]*>([^<]*)</dt>", self.text)
        self.main = re.findall(r'class="button primary"[^>]*>([^<]*)<', self.text)
        self.actions, self.deletions = (self._links(label) for label in ("Actions", "Deletion"))

    def _links(self, label: str) -> list[str]:
        part = re.search(rf'<nav[^>]*aria-label="{label}">(.*?)</nav>', self.text, re.DOTALL)
        return re.findall(r">([^<]*)</a>", part[1]) if part else []


@pytest.fixture
def header(client_of):
    """header(user, address): the header of that page for that person."""
    return lambda user, address: Header(client_of(user).get(address).content.decode())


@pytest.mark.parametrize("address", PAGES)
def test_each_object_tells_its_state_and_three_figures_and_has_one_main_action(address, header, administrator):
    shown = header(administrator, address)
    assert shown.figures[0] == "State"
    assert len(shown.figures) == 4
    assert len(shown.main) <= 1
    assert not [title for title in shown.actions if title.startswith(("Delete", "Remove"))]


@pytest.mark.parametrize("address", PAGES)
def test_a_viewer_is_offered_nothing_that_changes(address, header, viewer):
    shown = header(viewer, address)
    assert shown.deletions == []
    assert set(shown.actions) <= LOOKS
    assert re.search(r'class="button primary" aria-disabled="true" title="[^"]+"', shown.text) or not shown.main
    assert "+delete" not in shown.text
    assert "+reset" not in shown.text


def test_deletions_stand_last_and_apart(header, operator):
    shown = header(operator, "/topics/orders/")
    assert shown.main == ["Produce a record…"]
    assert {"Add partitions…", "Clone…", "Move partitions…", "Lineage", "Partition calculator…"} <= set(shown.actions)
    assert shown.deletions == ["Delete topic…", "Delete records…"]
    assert shown.text.index('aria-label="Actions"') < shown.text.index('aria-label="Deletion"')


def test_read_only_mode_leaves_what_only_looks_and_says_why(header, operator):
    ReadOnlyMode.objects.create(scope=CONSOLE, by_name="root", reason="the migration")
    shown = header(operator, "/topics/orders/")
    assert shown.deletions == []
    assert "Lineage" in shown.actions
    assert "Add partitions…" not in shown.actions
    assert "the migration" in shown.text


def test_a_group_that_also_reads_hidden_topics_is_not_offered_to_be_reset(header, operator):
    group = ConsumerGroup.objects.get(name="readers")
    assert header(operator, "/consumers/readers/").deletions == ["Delete group…"]
    GroupPartition.objects.create(group=group, topic="secret", partition=0)
    NameRule.objects.create(user=operator, resource="topic", pattern="secret", level="nothing")
    shown = header(operator, "/consumers/readers/")
    assert shown.deletions == []
    assert 'aria-disabled="true"' in shown.text


def test_an_internal_topic_is_not_offered_to_operators(header, operator, administrator):
    Topic.objects.create(name="__consumer_offsets", partition_count=50, is_internal=True)
    assert header(operator, "/topics/__consumer_offsets/").deletions == []
    assert "Delete topic…" in header(administrator, "/topics/__consumer_offsets/").deletions


@pytest.mark.parametrize(
    ("state", "failed", "main"),
    [
        ("RUNNING", 0, "Restart…"),
        ("PAUSED", 0, "Resume…"),
        ("STOPPED", 0, "Resume…"),
        ("RUNNING", 1, "Restart what failed…"),
    ],
)
def test_the_main_action_of_a_connector_is_what_its_state_asks_for(state, failed, main, header, administrator):
    since = 1 if failed else None
    Connector.objects.update(state=state, failed_count=failed, failed_since_ms=since)
    shown = header(administrator, "/connectors/lines/")
    assert shown.main == [main]
    assert ("Resume…" in shown.actions) is False
    assert ("Pause…" in shown.actions) is (state == "RUNNING")


def test_a_broker_is_restarted_where_the_console_runs_it(header, operator):
    assert "/processes/broker-1/restart" in header(operator, "/brokers/1/").text
    ManagedProcess.objects.all().delete()
    assert header(operator, "/brokers/1/").main == ["Move all replicas away…"]


def test_a_main_action_on_all_topics_says_that_some_are_out_of_reach(header, operator):
    ManagedProcess.objects.all().delete()
    NameRule.objects.create(user=operator, resource="topic", pattern="secret", level="nothing")
    (why_not,) = re.findall(
        r'aria-disabled="true" title="([^"]*)">Move all replicas away…<', header(operator, "/brokers/1/").text
    )
    assert why_not == NOT_ALL_TOPICS.replace("'", "&#x27;")


def test_a_missing_broker_says_so_in_word_and_tone(header, viewer):
    ManagedProcess.objects.all().delete()
    Broker.objects.filter(broker_id=1).update(is_registered=False)
    assert re.search(r'class="state-word critical"[^>]*>missing<', header(viewer, "/brokers/1/").text)


def test_the_figures_of_a_topic_are_pushed_to_all_its_tabs(client_of, viewer):
    topic = Topic.objects.get(name="orders")
    for tab in ("", "+settings/", "+consumers/", "+charts/"):
        assert f'id="topic-head-{topic.pk}"' in client_of(viewer).get(f"/topics/orders/{tab}").content.decode()
    (pushed,) = topic_heads([topic.pk], reach_of(viewer), {})[topic.pk]
    assert 'id="object-figures"' in pushed
    assert '<dd data-cell="lag">40</dd>' in pushed


def test_pushed_headers_of_many_topics_read_their_groups_at_once(cluster, collect, viewer):
    for number in range(5):
        cluster.create_topic(f"more-{number}", 1, 1)
    collect()
    reach, keys = reach_of(viewer), list(Topic.objects.values_list("pk", flat=True))

    def statements(of_keys: list[int]) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert len(topic_heads(of_keys, reach, {})) == len(of_keys)
        return sum("GROUP BY" in query["sql"] for query in captured.captured_queries)

    assert statements(keys) == statements(keys[:1]) == 1


def test_rows_that_are_pushed_while_the_cluster_cannot_be_read_are_unknown_as_their_page_says(viewer):
    topic, group = Topic.objects.get(name="orders"), ConsumerGroup.objects.get(name="readers")
    reach, changed = reach_of(viewer), {topic.pk: [0, 1]}

    def pushed() -> list[str]:
        (_, partitions) = topic_pages([topic.pk], reach, changed)[topic.pk]
        return [*topic_rows([topic.pk], reach, {})[topic.pk], partitions, *group_rows([group.pk], reach, {})[group.pk]]

    assert [html.count(">unknown<") for html in pushed()] == [0, 0, 0]
    ClusterState.objects.update(brokers_error="No broker answered in time.")
    assert [html.count(">unknown<") for html in pushed()] == [1, 2, 1]


@pytest.mark.parametrize(
    ("address", "heard"),
    [
        ("/processes/broker-1/+charts/", {"processes.view", groups.CHARTS}),
        ("/streams/counts/+charts/", {"stream.counts", "processes.view", groups.CHARTS}),
        ("/brokers/1/settings/", {"broker.1"}),
    ],
)
def test_a_tab_hears_of_the_state_in_its_header(address, heard, client_of, viewer):
    ManagedProcess.objects.create(name="counts", kind="stream", host=settings.HOST_NAME, spec={"job": "count"})
    text = client_of(viewer).get(address).content.decode()
    (live_page,) = re.findall(r'ws-connect="/ws/live/\?page=([^"]*)"', text)
    assert set(groups_for(live_page, frozenset({Right.VIEW}))) >= heard


def test_settings_of_a_broker_that_are_fetched_anew_ask_no_broker(client_of, viewer, cluster, monkeypatch):
    client = client_of(viewer)
    assert "num.io.threads" in client.get("/brokers/1/settings/").content.decode()
    monkeypatch.setattr(cluster.brokers, "settings", None)
    fresh = client.get("/brokers/1/settings/", headers={"X-Refresh": "1"})
    assert 'id="object-figures"' in fresh.content.decode()


def test_tabs_that_a_person_may_not_open_say_why_or_are_left_out(client_of, viewer, reader):
    text = client_of(viewer).get("/topics/orders/").content.decode()
    assert re.search(r'<span aria-disabled="true" title="[^"]+">Messages</span>', text)
    assert "+contents/" not in text
    assert "+contents/" in client_of(reader).get("/topics/orders/").content.decode()


@pytest.mark.parametrize("address", ["/topics/orders/", "/consumers/readers/"])
def test_the_state_is_unknown_while_the_cluster_cannot_be_read(address, header, viewer):
    ClusterState.objects.update(brokers_error="No broker answered in time.")
    shown = header(viewer, address)
    assert re.search(
        r'class="state-word plain"[^>]*title="[^"]*No broker answered in time[^"]*"[^>]*>unknown<', shown.text
    )


def test_a_process_is_offered_to_be_removed_where_its_page_of_removal_opens(header, operator, client_of):
    assert "Remove process…" in header(operator, "/processes/broker-1/").deletions
    ManagedProcess.objects.create(name="counts", kind="stream", host=settings.HOST_NAME)
    assert "Remove process…" not in header(operator, "/processes/counts/").deletions
    NameRule.objects.create(user=operator, resource="topic", pattern="secret", level="nothing")
    assert client_of(operator).get("/processes/broker-1/remove").status_code == 403
    assert header(operator, "/processes/broker-1/").deletions == []

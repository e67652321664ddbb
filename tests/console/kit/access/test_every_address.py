"""Every address there is, taken from the routes themselves: a new one cannot be forgotten here."""

from dataclasses import asdict
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, get_resolver, resolve, reverse
from django.utils import timezone

from console.automation.drill.models import Drill
from console.automation.healing.models import Proposal
from console.automation.staged_moves.models import StagedMove
from console.cluster.credentials.models import ScramUser
from console.cluster.protections.models import TopicProtection
from console.ecosystem.completeness.models import AuditedTopic
from console.ecosystem.connectors.models import Connector
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.gateway.quorum.interface import FeatureView
from console.kit.gateway.zookeeper.four_letter_words import ZooKeeperView
from console.kit.tables.models import SavedView
from console.processes.models import ManagedProcess
from console.shell.changes.models import ChangeRule, ProposedChange
from console.shell.web.wrong_method import PAGES
from console.signals.alerts.models import Alert, KeptRule
from console.state.clusters import store
from console.state.clusters.models import Broker, Topic
from console.state.consumers.models import ConsumerGroup
from tests.console.ecosystem.connectors.lying_server import connector
from tests.examples import some

#: Of single sign-on there is nothing without a provider: `tests/console/people/sso`.
OPEN_TO_ALL = {"login", "healthz", "metrics", "status", "sso-login", "sso-callback", "sso-logout"} | {
    *("api", "api-events", "api-description", "api-mcp", "api-metrics"),  # opened by tokens: `tests/console/shell/api`
}
#: What a value in an address stands for; an argument that is not here fails the test.
ARGUMENTS = {
    "api": {"rest": "topics"},
    "token": {"number": 1},
    "cluster": {"cluster": "main"},
    "completeness": {"name": "orders"},
    "past": {"name": "orders"},
    "topic": {"name": "orders", "partition": 0, "offset": 0, "number": 80_000},
    "process": {"name": "broker-1"},
    "broker": {"broker_id": 1},
    "group": {"group": "readers"},
    "feature": {"feature": "group.version"},
    "schema": {"subject": "orders-value", "number": 1},
    "rolling": {"number": 1},
    "health": {"number": 1},
    "ensemble": {"number": 1},
    "staged": {"number": 60_000},
    "user": {"number": 10_000},
    "view": {"number": 60_000},
    "server": {"address": "127.0.0.1:2181"},
    "alert": {"number": 30_000, "rule": "kept", "channel": "health"},
    "credential": {"number": 20_000},
    "drill": {"number": 70_000},
    "healing": {"number": 60_000, "kind": "disk"},
    "mirror": {"number": 40_000},
    "decommission": {"name": "broker-1"},
    "stream": {"name": "counts", "job": "dedupe"},
    "change": {"number": 50_000, "rule": "idle"},
    "connector": {"name": "lines", "plugin": "org.example.FileSourceConnector", "task": 0, "deed": "pause"},
}
#: Addresses that change something when posted to, and the least role that may.
CHANGES = {
    "logout": "viewer",
    "own-password": "viewer",
    "token-make": "viewer",
    "token-end": "viewer",
    "density": "viewer",
    "table-arrange": "viewer",
    "view-save": "viewer",
    "view-change": "admin",
    "view-delete": "admin",
    "user-create": "admin",
    "cluster-add": "admin",
    "cluster-change": "admin",
    "cluster-remove": "admin",
    "cluster-afresh": "admin",
    "read-only-switch": "admin",
    "user": "admin",
    "user-password": "admin",
    "user-logins": "admin",
    "topic-create": "operator",
    "topics-many": "operator",
    "topics-keep": "operator",
    "topic-delete": "operator",
    "topic-add-partitions": "operator",
    "topic-produce": "operator",
    "topic-abort": "operator",
    "topic-purge": "operator",
    "topic-about": "operator",
    "topic-protection-remove": "admin",
    "topic-record-copy": "operator",
    "topic-record-tombstone": "operator",
    "topic-set": "operator",
    "broker-set": "operator",
    "broker-directories": "operator",
    "elect-leaders": "operator",
    "move-partitions": "operator",
    "call-off-moves": "operator",
    "staged-move": "operator",
    "staged-move-pause": "operator",
    "staged-move-resume": "operator",
    "staged-move-call-off": "operator",
    "staged-move-cancel": "operator",
    "staged-move-throttle": "operator",
    "topic-configure": "operator",
    "credential-create": "admin",
    "credential-password": "admin",
    "credential-delete": "admin",
    "quota-change": "operator",
    "client-metrics-change": "operator",
    "feature-upgrade": "admin",
    "schema-register": "operator",
    "schema-defaults": "operator",
    "schema-settings": "operator",
    "schema-delete": "operator",
    "schema-restore": "operator",
    "alert-acknowledge": "operator",
    "alert-silence": "operator",
    "alert-test": "operator",
    "alert-channel-add": "admin",
    "alert-rule-add": "admin",
    "alert-rule-change": "admin",
    "alert-rule-remove": "admin",
    "drill-begin": "operator",
    "drill-stop": "operator",
    "healing-proposal": "operator",
    "healing-dismiss": "operator",
    "healing-rule": "admin",
    "group-reset": "operator",
    "group-delete": "operator",
    "groups-many": "operator",
    "group-forget": "operator",
    "mirror-group-move": "operator",
    "process-start": "operator",
    "process-stop": "operator",
    "process-restart": "operator",
    "process-restart-always": "operator",
    "process-restart-never": "operator",
    "process-kill": "operator",
    "process-remove": "operator",
    "process-add-broker": "operator",
    "ensemble-change": "operator",
    "zookeeper-settings": "operator",
    "ensemble-call-off": "operator",
    "decommission": "operator",
    "decommission-resume": "operator",
    "decommission-call-off": "operator",
    "stream-start": "operator",
    "stream-reset": "operator",
    "stream-add": "admin",
    "stream-remove": "admin",
    "connector-create": "admin",
    "connector-configure": "admin",
    "connector-delete": "admin",
    "connector-do": "operator",
    "connector-restart-task": "operator",
    "connector-offsets": "operator",
    "connector-reset-offsets": "operator",
    "health-quiet": "operator",
    "health-undo": "operator",
    "acl-change": "admin",
    "acl-file": "admin",
    "declaration": "operator",
    "change-approve": "operator",
    "change-discard": "operator",
    "change-rule-add": "admin",
    "change-rule": "admin",
    "change-rule-remove": "admin",
    "rolling-restart": "operator",
    "rolling-restart-pause": "operator",
    "rolling-restart-resume": "operator",
    "rolling-restart-call-off": "operator",
}
FOR_OPERATORS = {
    *("schema-register", "schema-defaults", "schema-settings", "schema-delete", "schema-restore"),
    *("staged-move-cancel", "staged-move-throttle"),
    "quota-change",
    "client-metrics-change",
    "ensemble-change",
    "zookeeper-settings",
    "drill-begin",
    "elect-leaders",
    "move-partitions",
    "call-off-moves",
    "topic-create",
    "topics-many",
    "topics-keep",
    "topic-delete",
    "topic-add-partitions",
    "topic-abort",
    "topic-purge",
    "topic-about",
    "broker-directories",
    "process-question",
    "process-no-question",
    "decommission",
    "health-quiet",
    "process-stop",
    "process-restart",
    "process-kill",
    "process-remove",
    "process-add-broker",
    "stream-reset",
    "connector-do",
    "connector-restart-task",
    "connector-offsets",
    "connector-reset-offsets",
    "group-reset",
    "group-delete",
    "groups-many",
    "group-forget",
    "group-prepare",
    "mirror-group-move",
}
#: Posted to to compare, by who may look; without a plan's digest nothing is changed.
COMPARES = {"declaration"}
FOR_READERS = {"topic-records", "topic-contents", "topic-record", "topic-records-histogram", "topic-records-compare"}
FOR_READERS |= {"topic-records-export", "topic-records-export-count"}
FOR_OPERATORS |= {"topic-record-copy", "topic-record-tombstone", "changes", "change"}
FOR_ADMINISTRATORS = {
    "feature-upgrade",
    "read-only",
    "audit",
    "audit-verify",
    "stream-choose",
    "stream-add",
    "stream-remove",
} | {
    *("cluster-add", "cluster-change", "cluster-remove", "cluster-afresh", "topic-protection-remove"),
    *("users", "user-create", "user", "user-password", "user-logins"),
    *("credential-create", "credential-password", "credential-delete"),
    *("acl-create", "acl-change", "acl-use", "acl-file"),
    *("change-rule-add", "change-rule", "change-rule-remove"),
    *("alert-channel-add", "alert-rule-add", "alert-rule-change", "alert-rule-remove", "healing-rule"),
    *("connector-choose", "connector-create", "connector-configure", "connector-delete"),
}
ALERTS = (
    '[channels.health]\nkind = "slack"\nurl = "https://ops.example/"\n'
    '[rules.health]\nhealth = "critical"\nchannels = ["health"]\n'
)
#: About oneself: for everybody who is logged in, without a role too.
OWN = {"logout", "own-password"}
#: Likewise, for everybody with a role.
OWN_WITH_A_ROLE = {"token-make", "token-end", "density", "table-arrange", "view-save"}


def routes(resolver=None) -> list[URLPattern]:
    patterns = []
    for pattern in (resolver or get_resolver()).url_patterns:
        patterns += [pattern] if isinstance(pattern, URLPattern) else routes(pattern)
    return patterns


ROUTES = {route.name: route for route in routes()}
CLOSED = sorted(ROUTES.keys() - OPEN_TO_ALL)


def address_of(name: str) -> str:
    values = dict(ARGUMENTS.get(name.partition("-")[0], {}), action="stop")
    return reverse(name, kwargs={key: values[key] for key in ROUTES[name].pattern.converters})


@pytest.fixture(autouse=True)
def _objects(db, settings, cluster, ensemble, connect):
    cluster.create_topic("orders", 1, 1)
    cluster.quorum.known = (FeatureView("group.version", 0, 1, None),)
    cluster.append("orders", 0, 1)
    cluster.commit("readers", "orders", 0, 0)
    ConsumerGroup.objects.create(name="readers", state="Empty", coordinator=1, verdict="ok")
    Topic.objects.create(name="orders")
    AuditedTopic.objects.create(name="orders", windows=[[60_000, "missing", {"produced": [2, 9], "appended": [1, 4]}]])
    MirroredTopic.objects.create(pk=40_000, flow="west->east", topic="orders", target="orders")
    TopicProtection.objects.create(pk=80_000, topic="orders", origin="sales", where="copy by mirror a->b", since_ms=1)
    Broker.objects.create(broker_id=1, host="127.0.0.1", port=9092)
    store.ensure_state()
    store.update_state(zookeeper=[asdict(ZooKeeperView("127.0.0.1:2181"))])
    somebody = User.objects.create_user("somebody", pk=10_000)
    SavedView.objects.create(pk=60_000, owner=somebody, table="topics", name="ours", is_shared=True)
    Alert.objects.create(pk=30_000, rule="health", object_name="x", state="firing", since_ms=1, seen_ms=1)
    settings.ALERTS_FILE.write_text(ALERTS)
    settings.ALERTS_FILE.chmod(0o600)
    KeptRule.objects.create(name="kept", definition={"health": "critical", "channels": ["health"]}, changed_ms=1)
    Drill.objects.create(pk=70_000, fault="pause", name="broker-1", seconds=9, began_ms=1, phase_ms=1, state="done")
    Proposal.objects.create(pk=60_000, kind="leaders", cause="leaders", made_at_ms=1, expires_at_ms=2)
    ScramUser.objects.create(name="alice", pk=20_000, mechanisms={"SCRAM-SHA-256": 4_096})
    cluster.credentials.set_password("alice", "correct-horse", {"SCRAM-SHA-256": 4_096})
    ManagedProcess.objects.create(name="broker-1", kind="broker", host=settings.HOST_NAME)
    ManagedProcess.objects.create(name="counts", kind="stream", host=settings.HOST_NAME)
    StagedMove.objects.create(
        pk=60_000,
        actor_name="root",
        action="move partitions",
        object_type="topic",
        object_name="orders",
        former={"orders": {"0": [1]}},
        wanted={"orders": {"0": [2]}},
        partition_count=1,
        left=1,
        batch_size=1,
    )
    moment = timezone.now()
    ChangeRule.objects.create(name="idle", definition={"kind": "approval", "actions": ["none"], "objects": ["none"]})
    ProposedChange.objects.create(
        pk=50_000,
        at=moment,
        expires_at=moment + timedelta(days=1),
        path="/topics/orders/+delete/",
        action="delete topic",
    )
    connect.connectors["lines"] = connector("lines", file="/lines.txt")
    Connector.objects.create(name="lines", kind="source", state="RUNNING", tasks=[[0, "RUNNING", "10.0.0.1:8083", ""]])


def statuses(names, ask) -> dict[str, int]:
    return {name: ask(address_of(name)).status_code for name in names}


def test_every_route_has_a_name():
    assert None not in ROUTES


def test_no_address_is_taken_by_the_pattern_of_another_feature():
    """The order of the features decides nothing: whatever is reversed resolves to the route it was made from."""
    resolved = {name: resolve(address_of(name)).url_name for name in ROUTES}
    assert {name: other for name, other in resolved.items() if name != other} == {}


@pytest.mark.parametrize("method", ["get", "post"])
def test_nobody_is_sent_to_the_login_from_everywhere(method):
    answers = {name: getattr(Client(), method)(address_of(name)) for name in CLOSED}
    assert {n: (a.status_code, a.headers.get("Location", "")[:7]) for n, a in answers.items()} == dict.fromkeys(
        CLOSED, (302, "/login/")
    )


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_an_outsider_gets_in_nowhere(method, outsider, client_of):
    ask = getattr(client_of(outsider), method)
    others = [name for name in CLOSED if name not in OWN]
    # Whoever lets an outsider read or post is found by each address; other methods are refused by all of them alike.
    seen = statuses(others if method in ("get", "post") else some(others), ask)
    led_back = {name for name in seen if method == "get" and name in PAGES}
    assert {seen.pop(name) for name in led_back} <= {302}
    assert set(seen.values()) <= {403, 405}


def test_a_viewer_reads_what_is_not_for_others(viewer, client_of):
    seen = statuses(CLOSED, client_of(viewer).get)
    closed = FOR_READERS | FOR_OPERATORS | FOR_ADMINISTRATORS
    wanted = {name: 403 if name in closed else 200 for name in CLOSED}
    assert seen == wanted | dict.fromkeys([*PAGES, "cluster-switch", "view"], 302)


def test_an_address_that_is_only_posted_to_leads_to_the_page_of_its_form(administrator, client_of):
    """Reloaded after a refusal, or opened from the history of a browser."""
    client = client_of(administrator)
    posted = [name for name, status in statuses(CLOSED, client.delete).items() if status == 405]
    for ask, some_posted, names in (
        (client.get, posted, PAGES),
        (client.head, some(posted), [*some(PAGES), "topic-set"]),
    ):
        assert {name for name in some_posted if ask(address_of(name)).status_code == 405} == set()
        pages = {name: ask(address_of(name)).headers["Location"] for name in names}
        assert {page for page in set(pages.values()) if ask(page).status_code != 200} == set()
        assert pages["topic-set"] == "/topics/orders/+settings/"


def test_who_asks_for_the_head_of_a_page_is_answered_as_who_asks_for_the_page(administrator, client_of):
    client, names = client_of(administrator), list(some(CLOSED))
    assert statuses(names, client.head) == statuses(names, client.get)
    assert Client().head("/login/").status_code == 200


def test_a_viewer_changes_nothing(viewer, client_of):
    seen = statuses([name for name in CLOSED if name not in OWN | OWN_WITH_A_ROLE], client_of(viewer).post)
    assert {name: seen.pop(name) for name in COMPARES} == dict.fromkeys(COMPARES, 422)
    assert seen == {name: 403 if name in CHANGES else 405 for name in seen}
    assert client_of(viewer).post(address_of("declaration"), {"digest": "-", "text": "topics: "}).status_code == 403


def test_every_change_needs_the_token_of_our_own_page(administrator):
    client = Client(enforce_csrf_checks=True)
    client.force_login(administrator)
    assert set(statuses(CHANGES, client.post).values()) == {403}
    assert set(statuses(CHANGES, lambda path: client.post(path, headers={"HX-Request": "true"})).values()) == {403}
    assert Topic.objects.filter(name="orders").exists()
    assert set(ManagedProcess.objects.values_list("request", flat=True)) == {""}

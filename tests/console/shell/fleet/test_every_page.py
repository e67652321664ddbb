"""No page of one cluster shows a row of another: every address there is, taken from the routes themselves."""

import re
from dataclasses import asdict

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connections
from django.db.models import Model
from django.urls import URLPattern, get_resolver, reverse

from console.cluster.credentials.models import ScramUser
from console.ecosystem.completeness.models import AuditedTopic
from console.ecosystem.connectors.models import Connector
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.common.cluster_urls import urls_of
from console.kit.common.current_cluster import MAIN, all_clusters, in_cluster
from console.kit.common.databases import ClusterRouter, alias_of
from console.kit.gateway.zookeeper.four_letter_words import ZooKeeperView
from console.processes.models import ManagedProcess
from console.state.clusters import store
from console.state.clusters.models import Broker, Topic
from console.state.consumers.models import ConsumerGroup
from console.state.history.models import Change
from tests.console.shell.fleet.conftest import ALIAS, STAGING
from tests.examples import some

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])

#: In whatever is called in the other cluster.
MARKS = {MAIN: "marked-of-main-1", STAGING: "marked-of-staging-1"}
#: They tell of all clusters, and of what was done in them.
OF_ALL = {"clusters", "cluster-compare", "cluster-switch", "audit", "audit-verify"}
#: The further cluster is the one that could be forgotten somewhere; the other way round is the long run's.
BOTH_WAYS = pytest.mark.parametrize(
    ("shown", "other"), [(STAGING, MAIN), pytest.param(MAIN, STAGING, marks=pytest.mark.long)]
)


def _routes(resolver=None) -> list[URLPattern]:
    patterns = []
    for pattern in (resolver or get_resolver()).url_patterns:
        patterns += [pattern] if isinstance(pattern, URLPattern) else _routes(pattern)
    return patterns


ROUTES = {route.name: route for route in _routes()}


@pytest.fixture
def rows(settings, cluster, staging, ensemble):
    """Of every kind that has names, in each cluster with its mark."""
    for name, gateway in ((MAIN, cluster), (STAGING, staging)):
        with in_cluster(name):
            _fill(MARKS[name], gateway, settings.HOST_NAME)


def _fill(mark, gateway, host):
    gateway.create_topic(mark, 1, 1)
    gateway.append(mark, 0, 1)
    gateway.commit(mark, mark, 0, 0)
    gateway.credentials.set_password(mark, "correct-horse", {"SCRAM-SHA-256": 4_096})
    store.ensure_state()
    store.update_state(cluster_id=mark, zookeeper=[asdict(ZooKeeperView(f"{mark}:2181"))])
    Topic.objects.create(name=mark)
    Broker.objects.create(broker_id=1, host=mark, port=9092)
    ConsumerGroup.objects.create(name=mark, state="Empty", coordinator=1, verdict="ok")
    AuditedTopic.objects.create(name=mark, windows=[])
    MirroredTopic.objects.create(flow="west->east", topic=mark, target=mark)
    ScramUser.objects.create(name=mark, mechanisms={"SCRAM-SHA-256": 4_096})
    Connector.objects.create(name=mark, kind="source", state="RUNNING", tasks=[])
    Change.objects.create(at_ms=1, kind="topic", object_name=mark, sentence=f"{mark} was created")
    if mark == MARKS[MAIN]:
        ManagedProcess.objects.create(name=mark, kind="broker", spec={"broker_id": 1}, host=host)


@BOTH_WAYS
def test_no_page_of_one_cluster_shows_a_row_of_the_other(rows, administrator, client_of, shown, other):
    client, seen, leaks = client_of(administrator), set(), []
    for name in sorted(ROUTES.keys() - OF_ALL):
        status, text = _page(client, shown, name, MARKS[shown])
        if status == 200 and MARKS[shown] in text:
            seen.add(name)
        if MARKS[other] in text:
            leaks.append(name)
    assert leaks == []
    assert len(seen) > 25  # the marks are where they are looked for


@BOTH_WAYS
def test_what_is_in_the_other_cluster_reads_as_what_is_nowhere(rows, administrator, client_of, shown, other):
    client, nowhere, differing = client_of(administrator), "marked-of-nobody-1", []
    named = [name for name in ROUTES.keys() - OF_ALL if ROUTES[name].pattern.converters]
    for name in some(sorted(named), one_in=3):
        there, absent = _page(client, shown, name, MARKS[other]), _page(client, shown, name, nowhere)
        if (there[0], there[1].replace(MARKS[other], nowhere)) != absent:
            differing.append(name)
    assert differing == []


def _page(client, cluster: str, name: str, named: str) -> tuple[int, str]:
    """Status and text, without what is another each time."""
    values = {"broker_id": 1, "number": 1, "partition": 0, "offset": 0, "action": "stop", "task": 0, "deed": "pause"}
    given = {key: values.get(key, named) for key in ROUTES[name].pattern.converters}
    answer = client.get(reverse(name, urlconf=urls_of(cluster), kwargs=given))
    text = answer.getvalue().decode() if answer.streaming else answer.text
    return answer.status_code, re.sub('data-now-ms="[0-9]+"|data-age[^ ]*|[A-Za-z0-9]{64}|[a-f0-9]{32}', "", text)


def test_every_model_says_where_it_lives():
    labels = {model._meta.app_label for model in apps.get_models()}
    assert labels == settings.APPS_OF_CONSOLE | settings.APPS_OF_CLUSTER
    assert set() == settings.APPS_OF_CONSOLE & settings.APPS_OF_CLUSTER


def test_no_row_of_a_cluster_points_at_one_of_the_console_by_a_constraint():
    crossing = {
        f"{model.__name__}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if field.is_relation and field.concrete and getattr(field, "db_constraint", False)
        if _is_of_a_cluster(model) != _is_of_a_cluster(field.related_model)
    }
    assert crossing == set()


def _is_of_a_cluster(model: type[Model]) -> bool:
    return model._meta.app_label in settings.APPS_OF_CLUSTER


def test_rows_are_read_and_written_where_their_app_says(staging):
    router = ClusterRouter()
    for cluster in all_clusters():
        with in_cluster(cluster):
            for model in apps.get_models():
                alias = alias_of(cluster) if model._meta.app_label in settings.APPS_OF_CLUSTER else "default"
                assert (router.db_for_read(model), router.db_for_write(model)) == (alias, alias)


def test_a_database_of_a_cluster_has_no_accounts(staging):
    with connections[ALIAS].cursor() as cursor:
        tables = set(connections[ALIAS].introspection.table_names(cursor))
    wanted = {model._meta.db_table for model in apps.get_models() if model._meta.app_label in settings.APPS_OF_CLUSTER}
    assert tables - {"django_migrations"} == wanted

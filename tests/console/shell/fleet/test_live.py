"""What is pushed in one cluster never reaches a page of another; what is told of persons reaches all of theirs."""

import pytest
from channels.layers import get_channel_layer
from channels.routing import URLRouter

import console.urls  # noqa: F401  (else the first socket of a cluster waits for it)
from console.cluster.brokers.feature import broker_group
from console.cluster.zookeeper.feature import ensemble_group
from console.ecosystem.streams.feature import stream_group
from console.kit.access.roles import Right
from console.kit.common.current_cluster import in_cluster
from console.kit.features.listed import features
from console.kit.live import groups
from console.kit.live.push import _send_by_layer
from console.shell.web.cluster_path import ClusterSockets
from console.shell.web.page_socket import groups_for
from console.shell.web.routes import websocket_urlpatterns
from tests.console.shell.fleet.conftest import ALIAS, STAGING
from tests.console.websocket import Websocket

pytestmark = pytest.mark.django_db(databases=["default", ALIAS], transaction=True)

#: Of each kind of page one.
PAGES = [
    *("overview", "brokers", "topics", "placement", "zookeeper", "retention", "history", "consumers", "credentials"),
    *("quotas", "connectors", "acls", "charts", "probe", "mirrors", "completeness", "alerts", "other"),
    *("topic:orders", "broker:1", "stream:counts", "processes", "streams", "consumer-pages", "connector-pages"),
    *("changes", "schemas", "footprint", "healing", "client-applications"),
]
SOCKETS = ClusterSockets(URLRouter(websocket_urlpatterns))


def names_of_groups() -> set[str]:
    """Every one that `groups` names, and one of each kind that it makes."""
    named = {value for name, value in vars(groups).items() if name.isupper() and isinstance(value, str)}
    made = {groups.topic("orders"), broker_group(1), stream_group("counts"), groups.processes(True)}
    return (named | made | {ensemble_group(True)}) - {groups._OF_PERSON, groups.FLEET}


def htmls(cluster: str, names) -> list[tuple[str, dict]]:
    return [(name, {"type": "push.html", "group": name, "html": f"<i>{cluster} {name}</i>"}) for name in names]


async def _open(path: str, page: str, user) -> Websocket:
    websocket = Websocket(SOCKETS, path, f"page={page}", user=user)
    assert await websocket.connect()
    return websocket


def test_no_group_of_a_cluster_is_one_of_another(staging):
    with in_cluster(STAGING):
        there = {groups.on_layer(name) for name in names_of_groups()}
    here = {groups.on_layer(name) for name in names_of_groups()}
    assert here & there == set()
    assert all(len(name) < 100 for name in there)


def test_a_person_is_the_same_in_every_cluster(staging):
    with in_cluster(STAGING):
        assert groups.on_layer(groups.person(7)) == groups.person(7)


@pytest.mark.parametrize("page", PAGES)
async def test_a_push_in_one_cluster_reaches_no_page_of_another(staging, administrator, page):
    here, there = await _open("/ws/live/", page, administrator), await _open("/c/staging/ws/live/", page, administrator)
    listened = groups_for(page, frozenset(Right))
    await _send_by_layer(htmls("main", listened))
    with in_cluster(STAGING):
        await _send_by_layer(htmls("staging", listened))
    assert [await here.receive_text() for _ in listened] == [f"<i>main {group}</i>" for group in listened]
    assert [await there.receive_text() for _ in listened] == [f"<i>staging {group}</i>" for group in listened]
    await here.disconnect()
    await there.disconnect()


async def test_a_socket_of_no_cluster_is_closed_as_for_who_may_not_look(staging, administrator):
    for name in ("nobody", "-", "main", "x" * 300):
        websocket = Websocket(SOCKETS, f"/c/{name}/ws/live/", "page=overview", user=administrator)
        assert await websocket.connect()
        assert await websocket.receive_close() == 4403


async def test_a_layer_knows_pages_of_each_cluster_by_groups_of_their_own(staging, administrator):
    websocket = await _open("/c/staging/ws/live/", "brokers", administrator)
    assert {name for name in get_channel_layer().groups if name.endswith("brokers")} == {"c.staging.brokers"}
    await websocket.disconnect()


def test_every_page_of_the_socket_is_in_the_property():
    declared = {page.name for feature in features() for page in feature.pushed_pages}
    assert declared - {page.partition(":")[0] for page in PAGES} == {"clusters"}

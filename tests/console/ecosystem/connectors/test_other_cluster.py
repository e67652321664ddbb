"""A worker or a registry that works for another cluster: nothing is shown of it here, and nothing done to it."""

import httpx2
import pytest

from console.cluster.schemas.client import RegistryClient
from console.cluster.schemas.configuration import RegistryAddress
from console.ecosystem.connectors.client import connect_client
from console.ecosystem.connectors.models import ConnectLook, Connector
from console.kit.common.names import DEFAULT_CLUSTER
from console.kit.gateway.errors import ClusterUnreachableError, OtherClusterError, RefusedError
from console.state.clusters.models import ClusterState
from tests.console.ecosystem.connectors.lying_server import LyingServer, connector

pytestmark = pytest.mark.django_db
GREETING = ("GET", "/")


def is_known(cluster: str) -> None:
    ClusterState.objects.update_or_create(name=DEFAULT_CLUSTER, defaults={"cluster_id": cluster})


def greeted(server: LyingServer, cluster: str | None, status: int = 200) -> None:
    server.answers[GREETING] = status, {"version": "3.8.0", "commit": "abc", "kafka_cluster_id": cluster}


@pytest.fixture
def another(connect):
    """Its only worker is of another cluster, and has a connector."""
    is_known("mine")
    connect.connectors["theirs"] = connector("theirs")
    greeted(connect, "others")
    return connect


def test_no_connector_of_another_cluster_is_shown(another, collector, browser):
    Connector.objects.create(name="taken for ours before", kind="source", state="RUNNING")
    with pytest.raises(OtherClusterError, match="belongs to another cluster, others; this one is mine"):
        collector.look("connectors")
    assert not Connector.objects.exists()
    assert "another cluster, others" in ClusterState.objects.get().connectors_error
    assert "another cluster, others" in ConnectLook.objects.get().workers[0][3]
    assert "another cluster, others" in browser.get("/connectors/").content.decode()
    assert browser.get("/connectors/theirs/").status_code == 404


def test_nothing_is_done_to_a_connector_of_another_cluster(another):
    client = connect_client()
    for change in (
        lambda: client.delete("theirs"),
        lambda: client.pause("theirs"),
        lambda: client.create("new", {}),
        lambda: client.reset_offsets("theirs"),
        lambda: client.validate("FileSource", {}),
    ):
        with pytest.raises(OtherClusterError):
            change()
    assert another.changes() == []
    assert {path for _, path, _ in another.requests} == {"/"}


def test_a_worker_that_names_this_cluster_is_asked_and_once_known_also_while_it_cannot_tell(connect, collector):
    is_known("fake-cluster")
    connect.connectors["ours"] = connector("ours")
    collector.look("connectors")
    assert Connector.objects.get().name == "ours"
    greeted(connect, None, 500)
    client = connect_client()
    client._cluster_ids = {address: (cluster, 0.0) for address, (cluster, _) in client._cluster_ids.items()}
    assert [item.name for item in client.connectors().connectors] == ["ours"]


def test_a_look_greets_each_worker_once(connect, collector):
    is_known("fake-cluster")
    collector.look("connectors")
    assert [path for _, path, _ in connect.requests].count("/") == 1


@pytest.mark.parametrize("status", [200, 500])
def test_a_worker_that_never_said_whose_it_is_is_not_asked(connect, status):
    is_known("mine")
    greeted(connect, None, status)
    with pytest.raises(ClusterUnreachableError, match="does not say which cluster"):
        connect_client().connectors()
    with pytest.raises(ClusterUnreachableError, match="does not say which cluster"):
        connect_client().delete("theirs")
    assert connect.changes() == []


def test_a_password_that_is_wrong_is_said_as_such(connect):
    is_known("mine")
    greeted(connect, None, 401)
    with pytest.raises(RefusedError, match="does not let the console in"):
        connect_client().connectors()


class Registry:
    """In the place of one of the cluster `cluster`; None: it knows of none."""

    def __init__(self, cluster: str | None):
        self.cluster, self.requests = cluster, []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append((request.method, request.url.path))
        if request.url.path != "/v1/metadata/id":
            return httpx2.Response(200, json=[])
        if self.cluster is None:
            return httpx2.Response(404, text="no such page")
        return httpx2.Response(200, json={"id": "", "scope": {"path": [], "clusters": {"kafka-cluster": self.cluster}}})


def registry_client(registry: Registry, now_s=lambda: 0.0) -> RegistryClient:
    address = RegistryAddress("http://registry:8081")
    return RegistryClient(address, httpx2.MockTransport(registry), now_s, lambda: "mine")


def test_a_registry_of_another_cluster_is_asked_nothing_but_whose_it_is():
    client = registry_client(registry := Registry("others"))
    for _ in range(2):
        with pytest.raises(
            OtherClusterError, match="registry:8081 belongs to another cluster, others; this one is mine"
        ):
            client.ask("DELETE", "subjects", "orders-value")
    assert registry.requests == [("GET", "/v1/metadata/id")]


@pytest.mark.parametrize("cluster", ["mine", None])
def test_a_registry_of_this_cluster_or_that_knows_of_none_is_asked(cluster):
    now = [0.0]
    client = registry_client(registry := Registry(cluster), lambda: now[0])
    assert client.ask("GET", "subjects") == client.ask("GET", "subjects") == []
    assert [path for _, path in registry.requests] == ["/v1/metadata/id", "/subjects", "/subjects"]
    now[0], registry.cluster = 60.0, "others"
    with pytest.raises(OtherClusterError):
        client.ask("GET", "subjects")

"""What a znode and an ensemble look like through either gateway: the one in memory, and a real ZooKeeper's."""

import pytest
from kazoo.client import KazooClient
from kazoo.security import CREATOR_ALL_ACL

from broker.zookeeper.ensemble import ServerMembership, prepare_server
from console.kit.gateway.zookeeper.interface import (
    NoSuchZnodeError,
    NotAllowedError,
    StaleConfigError,
    ZooKeeperUnreachableError,
)
from console.kit.gateway.zookeeper.znodes import KazooGateway
from tests.fakes.zookeeper import FakeZooKeeper
from tests.zookeeper_server import free_ports, running_zookeeper

PASSWORD = "super of the tests"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    directory, ports = tmp_path_factory.mktemp("zookeeper"), tuple(free_ports(3))
    prepare_server(directory, "127.0.0.1", *ports, ServerMembership(super_password=PASSWORD))
    with running_zookeeper(directory, ports) as running:
        yield running


@pytest.fixture(params=["fake", "real"])
def znodes(request):
    """(the gateway, put(path, value, ephemeral)): what is put is there for the gateway to find."""
    if request.param == "fake":
        fake = FakeZooKeeper(lambda: 1_700_000_000_000)
        yield fake, lambda path, value=b"", ephemeral=False: fake.put(path, value, 77 if ephemeral else 0)
        return
    server = request.getfixturevalue("server")
    client = KazooClient(hosts=server.connect)
    client.start(timeout=20)
    for name in client.get_children("/"):
        if name != "zookeeper":
            client.delete(f"/{name}", recursive=True)

    def put(path: str, value: bytes = b"", ephemeral: bool = False) -> None:
        if client.exists(path):
            client.set(path, value)
        else:
            client.create(path, value, ephemeral=ephemeral, makepath=True)

    real = KazooGateway(server.connect, lambda: PASSWORD)
    yield real, put
    real.close()
    client.stop()
    client.close()


def test_a_znode_comes_with_its_value_and_what_is_known_of_it(znodes):
    gateway, put = znodes
    put("/cluster/id", b'{"version":"1"}')
    put("/cluster/id", b'{"version":"1","id":"x"}')
    view = gateway.look("/cluster/id")

    assert (view.path, view.value, view.data_bytes) == ("/cluster/id", b'{"version":"1","id":"x"}', 24)
    assert (view.version, view.child_count, view.children, view.ephemeral_owner) == (1, 0, (), 0)
    assert view.mzxid > view.czxid > 0
    assert view.modified_at_ms >= view.created_at_ms > 1_600_000_000_000


def test_an_ephemeral_znode_names_its_session(znodes):
    gateway, put = znodes
    put("/brokers/ids/1", b"{}", ephemeral=True)

    assert gateway.look("/brokers/ids/1").ephemeral_owner
    assert gateway.look("/brokers/ids").children[0].is_ephemeral


def test_children_come_by_pages_in_natural_order(znodes):
    gateway, put = znodes
    for number in range(12):
        put(f"/topics/{number}", b"x" * number)
    put("/topics/2/partitions")
    view = gateway.look("/topics", 0, 5)

    assert view.child_count == 12
    assert [child.name for child in view.children] == ["0", "1", "2", "3", "4"]
    assert [(child.child_count, child.data_bytes) for child in view.children][2:4] == [(1, 2), (0, 3)]
    assert [child.name for child in gateway.look("/topics", 10, 5).children] == ["10", "11"]
    assert gateway.look("/topics", 15, 5).children == ()


def test_the_root_lists_what_lies_below_it(znodes):
    gateway, put = znodes
    put("/controller", b"{}")

    assert "controller" in [child.name for child in gateway.look("/").children]


def test_a_path_that_does_not_exist_is_told_by_name(znodes):
    with pytest.raises(NoSuchZnodeError, match="There is no znode /nowhere/at/all"):
        znodes[0].look("/nowhere/at/all")


def test_the_ensemble_names_its_members_and_where_they_listen(znodes):
    config = znodes[0].ensemble()

    assert config.numbers == {1}
    (member,) = config.members
    assert (member.role, member.client_host) == ("participant", "127.0.0.1")
    assert member.address == f"127.0.0.1:{member.client_port}"
    assert member.line.startswith("server.1=127.0.0.1:")
    assert config.version > 0


def test_what_a_server_is_can_be_asked_and_silent_ones_are_missing(znodes):
    gateway, _ = znodes
    (member,) = gateway.ensemble().members
    address = (member.client_host, member.client_port)

    assert gateway.modes([address, ("127.0.0.1", 1)]) == {address: "leader"}


def test_a_reconfig_makes_a_new_version_of_the_configuration(znodes):
    gateway, _ = znodes
    before = gateway.ensemble()
    after = gateway.reconfigure([], [99], before.version)

    assert after.numbers == before.numbers
    assert after.version > before.version
    assert gateway.ensemble() == after


def test_a_reconfig_from_a_configuration_that_is_gone_is_refused(znodes):
    gateway, _ = znodes
    old = gateway.ensemble().version
    gateway.reconfigure([], [99], old)
    with pytest.raises(StaleConfigError):
        gateway.reconfigure([], [98], old)


@pytest.mark.parametrize("read_password", [None, lambda: "wrong"])
def test_without_the_password_nobody_changes_the_ensemble(server, read_password):
    stranger = KazooGateway(server.connect, read_password)
    try:
        version = stranger.ensemble().version
        with pytest.raises(NotAllowedError, match="password"):
            stranger.reconfigure([], [99], version)
        assert stranger.ensemble().version == version
    finally:
        stranger.close()


def test_a_chroot_is_the_root_of_what_is_seen(server):
    client = KazooClient(hosts=server.connect)
    client.start(timeout=20)
    client.create("/kafka/east/controller", b"{}", makepath=True)
    client.stop()
    client.close()
    below = KazooGateway(f"{server.connect}/kafka/east")
    try:
        assert [child.name for child in below.look("/").children] == ["controller"]
        assert below.look("/controller").path == "/controller"
        with pytest.raises(NoSuchZnodeError, match="no znode /kafka"):
            below.look("/kafka")
        assert below.ensemble().numbers == {1}
    finally:
        below.close()


def test_nobody_there_is_an_error_within_the_timeout(monkeypatch):
    monkeypatch.setattr("console.kit.gateway.zookeeper.znodes.TIMEOUT_SECONDS", 0.2)
    gateway = KazooGateway(f"127.0.0.1:{free_ports(1)[0]}")
    try:
        with pytest.raises(ZooKeeperUnreachableError, match="does not answer"):
            gateway.look("/")
    finally:
        gateway.close()


def test_without_an_address_nothing_is_asked():
    with pytest.raises(ZooKeeperUnreachableError, match="No ZooKeeper address"):
        KazooGateway("").look("/")


def test_what_only_the_brokers_user_may_read_is_read_with_its_digest(server):
    owner = KazooClient(hosts=server.connect, auth_data=[("digest", "kafka:secret")])
    owner.start(timeout=20)
    owner.create("/config/users/alice", b"{}", acl=CREATOR_ALL_ACL, makepath=True)
    known, stranger = KazooGateway(server.connect, None, lambda: "kafka:secret"), KazooGateway(server.connect)
    try:
        assert known.look("/config/users/alice").value == b"{}"
        with pytest.raises(NotAllowedError):
            stranger.look("/config/users/alice")
    finally:
        owner.delete("/config", recursive=True)
        known.close()
        stranger.close()
        owner.stop()
        owner.close()

"""The cast and the stage: four people with different rights, and a cluster in memory that the collector looks at."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from broker.common.clock import ManualClock
from console.gateway.fake import FakeGateway
from console.gateway.fake_zookeeper import FakeZooKeeper
from console.gateway.zookeeper import ZooKeeperView
from console.live.collector import Collector

PASSWORD = "correct-horse-battery"


@pytest.fixture(autouse=True)
def _on_its_own(settings, tmp_path):
    """No Redis, no file outside the test's directory, and passwords that cost nothing to hash."""
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    settings.REQUEST_LOG_FILE = tmp_path / "console-access.log"
    settings.AUDIT_END_FILE = tmp_path / "audit-end"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def _user(name: str, *roles: str) -> User:
    """A test that commits for real empties every table afterwards, roles included: so they are made if missing."""
    user = User.objects.create_user(name, password=PASSWORD)
    user.groups.set([Group.objects.get_or_create(name=role)[0] for role in roles])
    return user


@pytest.fixture
def viewer(db) -> User:
    """May look."""
    return _user("viewer", "viewer")


@pytest.fixture
def reader(db) -> User:
    """May look, into records too."""
    return _user("reader", "reader")


@pytest.fixture
def operator(db) -> User:
    """May look and change."""
    return _user("operator", "operator")


@pytest.fixture
def administrator(db) -> User:
    """May do everything."""
    return _user("administrator", "admin")


@pytest.fixture
def outsider(db) -> User:
    """Has an account and no role: must see nothing."""
    return _user("outsider")


@pytest.fixture
def client_of():
    """client_of(user): a browser in which `user` is logged in."""

    def log_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return log_in


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def zookeeper() -> list[ZooKeeperView]:
    """What ZooKeeper answers; a test may replace its only server."""
    return [ZooKeeperView("127.0.0.1:2181", "standalone", "3.9.5", 42, 3, 0.5)]


@pytest.fixture
def cluster(monkeypatch, clock) -> FakeGateway:
    """Three brokers in memory; actions reach it as they would reach the real one."""
    gateway = FakeGateway(broker_count=3, clock_ms=clock.now_ms)
    for actions in (
        "console.topics.actions",
        "console.topics.change_views",
        "console.placement.actions",
        "console.placement.moving",
        "console.placement.change_views",
        "console.retention.actions",
        "console.retention.views",
        "console.records.actions",
        "console.brokers.actions",
        "console.brokers.settings_views",
        "console.configuration.actions",
        "console.configuration.views",
        "console.records.views",
        "console.records.socket",
        "console.consumers.actions",
        "console.consumers.change_views",
        "console.processes.surroundings",
    ):
        monkeypatch.setattr(f"{actions}.cluster_gateway", lambda: gateway)
    return gateway


@pytest.fixture
def ensemble(monkeypatch, clock) -> FakeZooKeeper:
    """A ZooKeeper of one member in memory; views and actions reach it as they would reach the real one."""
    fake = FakeZooKeeper(clock.now_ms)
    for user in ("console.zookeeper.views", "console.zookeeper.change_views", "console.zookeeper.advance"):
        monkeypatch.setattr(f"{user}.zookeeper_gateway", lambda: fake)
    return fake


@pytest.fixture
def collector(db, cluster, zookeeper, clock) -> Collector:
    return Collector(cluster, lambda: list(zookeeper), clock.now_ms)


@pytest.fixture
def collect(collector):
    """One look at everything."""

    def look() -> None:
        collector.collect_zookeeper()
        collector.collect_cluster()
        collector.collect_topics()
        collector.collect_groups()
        collector.collect_moves()
        collector.collect_retention()
        collector.collect_cluster()
        collector.beat()

    return look

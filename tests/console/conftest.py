"""The cast and the stage: people with different rights, and a cluster in memory that the collector looks at."""

from collections.abc import Iterator

import pytest
from channels.layers import channel_layers
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, hashers
from django.contrib.auth.models import Group, User
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from whitenoise.middleware import WhiteNoiseMiddleware

from console.celery import app
from console.cluster.records.read_ledger import LEDGER
from console.ecosystem.connectors import client as connect_client_module
from console.ecosystem.connectors import declarations
from console.ecosystem.connectors.configuration import ConnectSettings
from console.kit.access import internal_topics
from console.kit.access.models import NameRule
from console.kit.gateway.zookeeper.four_letter_words import ZooKeeperView
from console.kit.live import audience
from console.shell.collector.collector import Collector
from tests.console.ecosystem.connectors.lying_server import LyingServer
from tests.fakes.gateway import FakeGateway
from tests.fakes.zookeeper import FakeZooKeeper
from tests.manual_clock import ManualClock

PASSWORD = "correct-horse-battery"
# As a worker does first: a test that imports one `schedule` alone would leave beat without those behind it.
app.finalize()


@pytest.fixture(scope="session", autouse=True)
def _static_files_once():
    """Each client of a test makes the middleware anew, which would look at every static file: a quarter of its time."""
    look, files = WhiteNoiseMiddleware.add_files_from_finders, {}

    def looked_at(self: WhiteNoiseMiddleware) -> None:
        key = self.static_prefix, self.max_age, self.allow_all_origins, self.add_headers_function
        if key not in files:
            look(self)
            files[key] = dict(self.files)
        self.files.update(files[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", looked_at)
        yield


@pytest.fixture(autouse=True)
def own_settings(tmp_path) -> Iterator[pytest.MonkeyPatch]:
    """Set what each test has for itself: no Redis, no file outside its directory, passwords that are hashed fast.

    Yields a MonkeyPatch for further settings. It is undone after the fixture `settings`, which wraps Django's settings
    once more for each value, and sends a signal that two dozen receivers read.
    """
    internal_topics.forget()
    own = {
        "CHANNEL_LAYERS": {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}},
        "REQUEST_LOG_FILE": tmp_path / "console-access.log",
        "SCHEMA_REGISTRY": None,
        "ALERTS_FILE": tmp_path / "alerts.toml",
        "MASKING_FILE": tmp_path / "masking.toml",
        "PROTOBUF_FILE": tmp_path / "protobuf.toml",
        "AUDIT_END_FILE": tmp_path / "audit-end",
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LEDGER, "_own", "")
        patch.setattr(channel_layers, "backends", {})
        for name, value in own.items():
            patch.setattr(settings, name, value)
        hashers.reset_hashers(setting="PASSWORD_HASHERS")
        yield patch
    hashers.reset_hashers(setting="PASSWORD_HASHERS")


def _user(name: str, *roles: str) -> User:
    user = User.objects.create_user(name, password=PASSWORD)
    user.groups.set([Group.objects.get(name=role) for role in roles])
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
def give_rule():
    """give_rule(user, "nothing", "topic", "secret-*")"""

    def give(user: User, level: str, resource: str, pattern: str) -> None:
        NameRule.objects.create(user=user, resource=resource, pattern=pattern, level=level)

    return give


@pytest.fixture
def limited(db, give_rule) -> User:
    """Operator on everything, but nothing on secret-*, of any kind."""
    user = User.objects.create_user("limited", password="correct-horse-battery")
    user.groups.add(Group.objects.get(name="operator"))
    for resource in ("topic", "group", "process"):
        give_rule(user, "nothing", resource, "secret-*")
    return user


@pytest.fixture
def limited_reader(db, give_rule) -> User:
    """Reads everything, but sees no topic secret-*, no group spies, and nothing else of that name."""
    user = User.objects.create_user("limited-reader", password="correct-horse-battery")
    user.groups.add(Group.objects.get(name="reader"))
    for resource in ("topic", "group", "process"):
        give_rule(user, "nothing", resource, "secret-*")
    give_rule(user, "nothing", "group", "spies")
    return user


@pytest.fixture
def keeper(db, give_rule) -> User:
    """No role; operates the processes broker-1 and zookeeper."""
    user = User.objects.create_user("keeper", password="correct-horse-battery")
    for name in ("broker-1", "zookeeper"):
        give_rule(user, "operator", "process", name)
    return user


@pytest.fixture
def tenant(db, give_rule) -> User:
    """No role; operates topics and groups orders*."""
    user = User.objects.create_user("tenant", password="correct-horse-battery")
    for resource in ("topic", "group"):
        give_rule(user, "operator", resource, "orders*")
    return user


@pytest.fixture
def client_of():
    """client_of(user): a browser in which `user` is logged in."""

    def log_in(user: User) -> Client:
        """Return a client with a session of `user`: one row, where `force_login` writes, replaces and updates it."""
        session = SessionStore()
        session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session.create()
        client = Client()
        client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
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
def cluster(own_settings, clock) -> FakeGateway:
    """Three brokers in memory; actions reach it as they would reach the real one."""
    gateway = FakeGateway(broker_count=3, clock_ms=clock.now_ms)
    own_settings.setattr(settings, "CLUSTER_GATEWAY", gateway)
    return gateway


@pytest.fixture
def ensemble(own_settings, clock) -> FakeZooKeeper:
    """A ZooKeeper of one member in memory; views and actions reach it as they would reach the real one."""
    gateway = FakeZooKeeper(clock.now_ms)
    own_settings.setattr(settings, "ZOOKEEPER_GATEWAY", gateway)
    return gateway


@pytest.fixture
def connect(own_settings) -> Iterator[LyingServer]:
    """A Kafka Connect without connectors, until a test has it say something else."""
    connect_client_module._made.cache_clear()
    declarations._made.cache_clear()
    with LyingServer() as running:
        own_settings.setattr(settings, "CONNECT", ConnectSettings((running.address,)))
        yield running


@pytest.fixture
def listeners(monkeypatch):
    """Pages listen to everything; otherwise nobody does, and nothing is rendered for them."""
    monkeypatch.setattr(audience, "get_channel_layer", lambda: None)


@pytest.fixture
def collector(db, cluster, zookeeper, clock, monkeypatch) -> Collector:
    """Its signs of life are as old as its clock says."""
    monkeypatch.setattr("console.state.clusters.models.now_ms", clock.now_ms)
    return Collector(cluster, lambda: list(zookeeper), clock.now_ms)


@pytest.fixture
def collect(collector):
    """One look at everything."""

    def look() -> None:
        for tier in ("zookeeper", "brokers", "topics", "protections", "groups", "moves", "retention", "brokers"):
            collector.look(tier)
        collector.beat()

    return look

"""Two clusters in one console: the first, of the other tests, and staging, with a database and brokers of its own."""

from dataclasses import dataclass

import pytest
from django.core.management import call_command
from django.db import connections

from console.ecosystem.connectors.configuration import ConnectSettings
from console.kit.common.current_cluster import in_cluster
from console.kit.common.databases import alias_of
from console.kit.common.declared_clusters import DeclaredCluster
from console.shell.collector.collector import Collector
from tests.fakes.gateway import FakeGateway
from tests.fakes.zookeeper import FakeZooKeeper

STAGING = "staging"
ALIAS = alias_of(STAGING)


@pytest.fixture(scope="session", autouse=True)
def _tables_of_staging(django_db_setup, django_db_blocker):
    """A database in memory that `migrate` made. Tests name it in their mark, so that they are rolled back there too."""
    connections.settings[ALIAS] = {**connections.settings["default"], "NAME": f"file:{ALIAS}?mode=memory&cache=shared"}
    with django_db_blocker.unblock():
        call_command("migrate", database=ALIAS, verbosity=0, interactive=False)
    yield
    with django_db_blocker.unblock():
        connections[ALIAS].close()
    del connections.settings[ALIAS]


@pytest.fixture
def staging(db, settings, clock):
    """The second cluster: of one broker, called Staging and green."""
    gateway = FakeGateway(broker_count=1, clock_ms=clock.now_ms)
    values = {
        "BOOTSTRAP_SERVERS": "staging:9092",
        "CLIENT_CONFIG": "/nowhere/client-staging.properties",
        "CLIENT_CONFIG_IS_NAMED": False,
        "ZOOKEEPER": "staging:2181",
        "CLUSTER_GATEWAY": gateway,
        "ZOOKEEPER_GATEWAY": FakeZooKeeper(clock.now_ms),
        "CONNECT": ConnectSettings(),
        "SCHEMA_REGISTRY": None,
        "MIRROR_CLUSTERS": {},
        "READ_ONLY": False,
    }
    settings.MAIN_CLUSTER = DeclaredCluster("main", "Production", "red")
    settings.CLUSTERS = {STAGING: DeclaredCluster(STAGING, "Staging", "green", values)}
    return gateway


@dataclass
class Looks:
    """Collectors of both clusters."""

    main: Collector
    staging: Collector

    def __call__(self) -> None:
        _look(self.main)
        with in_cluster(STAGING):
            _look(self.staging)


@pytest.fixture
def look_at_both(collector, staging, zookeeper, clock) -> Looks:
    with in_cluster(STAGING):
        of_staging = Collector(staging, lambda: list(zookeeper), clock.now_ms)
    return Looks(collector, of_staging)


def _look(collector: Collector) -> None:
    collector.collect_zookeeper()
    collector.collect_cluster()
    collector.collect_topics()
    collector.look("groups")
    collector.beat()

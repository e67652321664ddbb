"""Run by test_postgres.py in a process of its own: settings are read once, and these are another database's.

Two clusters in one PostgreSQL, looked at by their collectors and shown by their pages.
"""

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, connections  # noqa: E402
from django.test import Client  # noqa: E402

from console.kit.common.current_cluster import in_cluster  # noqa: E402
from console.kit.common.databases import alias_of, cluster_atomic, schema_of  # noqa: E402
from console.shell.collector.collector import Collector  # noqa: E402
from console.state.clusters.models import Topic  # noqa: E402
from tests.fakes.gateway import FakeGateway  # noqa: E402
from tests.fakes.zookeeper import FakeZooKeeper  # noqa: E402

NAMES = ("main", "west-1", "east")
#: Every list, and what searches, orders and counts in the database.
PAGES = (
    "", "topics/", "topics/?sort=-lag", "topics/?sort=-groups&search=of", "topics/?applications=on", "consumers/",
    "consumers/?bad=on&sort=-behind", "brokers/", "placement/", "retention/", "history/", "charts/", "quotas/",
    "kafka-users/", "alerts/", "completeness/", "mirrors/", "dependencies/", "connectors/", "changes/", "declaration/",
    "find/?text=topic", "history/at/", "topics/topic-of-{name}/", "topics/topic-of-{name}/+charts/",
    "topics/topic-of-{name}/+settings/", "consumers/readers-of-{name}/", "clusters/", "views/", "audit/", "users/",
)  # fmt: skip


class Clock:
    now = 1_790_000_000_000

    def __call__(self) -> int:
        return self.now


def gateways(clock: Clock) -> dict[str, FakeGateway]:
    gateways = {name: FakeGateway(broker_count=2, clock_ms=clock) for name in NAMES}
    settings.CLUSTER_GATEWAY, settings.ZOOKEEPER_GATEWAY = gateways["main"], FakeZooKeeper(clock)
    for name in NAMES[1:]:
        values = {"CLUSTER_GATEWAY": gateways[name], "ZOOKEEPER_GATEWAY": FakeZooKeeper(clock)}
        settings.CLUSTERS[name].values.update(values)
    return gateways


def look(name: str, gateway: FakeGateway, clock: Clock) -> None:
    with in_cluster(name):
        collector = Collector(gateway, list, clock)
        for _ in range(3):
            clock.now += 15_000
            gateway.append(f"topic-of-{name}", 0, 5)
            for tier in ("zookeeper", "brokers", "topics", "groups", "moves", "retention", "brokers"):
                collector.look(tier)
            collector.beat()


def main() -> None:
    call_command("migrate", verbosity=0)
    call_command("migrate", verbosity=0)  # again: what is there stays
    clock = Clock()
    for name, gateway in gateways(clock).items():
        gateway.create_topic(f"topic-of-{name}", 2, 2)
        gateway.append(f"topic-of-{name}", 0, 10)
        gateway.commit(f"readers-of-{name}", f"topic-of-{name}", 0, 3)
        look(name, gateway, clock)
    schemas_hold_their_own()
    pages_show_their_own()
    a_transaction_is_of_one_schema()
    print("all is well")


def schemas_hold_their_own() -> None:
    with connection.cursor() as cursor:
        for name in NAMES:
            schema = "public" if name == "main" else schema_of(name)
            cursor.execute(f"SELECT name FROM {schema}.{Topic._meta.db_table}")
            assert cursor.fetchall() == [(f"topic-of-{name}",)], name
        cursor.execute("SELECT table_schema FROM information_schema.tables WHERE table_name = 'auth_user'")
        assert cursor.fetchall() == [("public",)]


def pages_show_their_own() -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("admin", password="correct-horse-battery"))
    for name in NAMES:
        for page in PAGES:
            address = ("/" if name == "main" else f"/c/{name}/") + page.format(name=name)
            answer = client.get(address)
            assert answer.status_code in (200, 302), (address, answer.status_code)
            others = [item for item in NAMES if item != name and f"topic-of-{item}" in answer.content.decode()]
            assert not others, (address, others)


def a_transaction_is_of_one_schema() -> None:
    try:
        with in_cluster("west-1"), cluster_atomic():
            Topic.objects.create(name="never")
            raise LookupError
    except LookupError:
        pass
    with in_cluster("west-1"):
        assert not Topic.objects.filter(name="never").exists()
    assert connections[alias_of("east")].settings_dict["OPTIONS"]["options"] == "-c search_path=barnabas_east"


main()

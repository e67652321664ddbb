"""The console's search over a topic of which compaction has left little, on our broker and on Apache Kafka itself."""

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from console.cluster.records import search
from console.cluster.records.query import RecordQuery
from console.cluster.records.search import SearchLimits, SearchReader
from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.zookeeper.interface import ZooKeeperGateway
from tests.apache_kafka import running_kafka
from tests.barnabas_cluster import await_true

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

TOPIC, RECORDS, KEYS = "latest-prices", 200_000, 50
#: Beside what is left, the active segment holds records that are not cleaned: 1 MiB at most.
_LEFT_MAX = 60_000
_CLEANED_WITHIN_S = 180
_QUICK = {
    "log.cleaner.backoff.ms": "200",
    "log.initial.task.delay.ms": "100",
    "log.cleaner.min.cleanable.ratio": "0.01",
}


@pytest.fixture(scope="module")
def apache(tmp_path_factory):
    with running_kafka(tmp_path_factory.mktemp("cleaning-kafka"), overrides=_QUICK) as servers:
        yield servers


@pytest.fixture(scope="module", params=["ours", "apache"])
def servers(request):
    if request.param == "ours":
        return request.getfixturevalue("with_quick_chores").bootstrap_servers
    return request.getfixturevalue("apache")


def no_secret() -> ZooKeeperGateway:
    raise GatewayError("The secret of the cluster is looked for, and this test has none.")


@pytest.fixture(scope="module")
def gateway(servers):
    made = KafkaGateway(ClusterClient(servers, ""), ConsoleMembership(no_secret), 10.0)
    yield made
    made.close()


class CountedSource:
    """The gateway, and how many streams of records were opened."""

    def __init__(self, gateway):
        self.gateway, self.opened = gateway, 0

    def __getattr__(self, name):
        return getattr(self.gateway, name)

    def open_records(self, topic, starts, committed_only):
        self.opened += 1
        return self.gateway.open_records(topic, starts, committed_only)


def read(gateway, place: str) -> tuple[list[int], int, int]:
    """The offsets that a search for everything finds, how many streams it opened, and how many records it read."""
    source, offsets = CountedSource(gateway), []
    reader = SearchReader(source, TOPIC, 1, RecordQuery(place=place, search="k", searched="key"), SearchLimits(None))
    try:
        while not (turn := reader.turn()).ended:
            offsets += [record.offset for record in turn.records]
    finally:
        reader.close()
    return sorted(offsets + [record.offset for record in turn.records]), source.opened, turn.progress.read


@pytest.fixture(scope="module")
def cleaned(servers, gateway):
    admin = AdminClient({"bootstrap.servers": servers})
    config = {"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.01"}
    admin.create_topics([NewTopic(TOPIC, 1, 1, config=config)])[TOPIC].result(30)
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20})
    for number in range(RECORDS):
        producer.produce(TOPIC, b"price", b"k%d" % (number % KEYS))
        producer.poll(0)
        if not number % 5_000:
            producer.flush()
    assert producer.flush(60) == 0
    await_true(lambda: len(read(gateway, "oldest")[0]) < _LEFT_MAX, "the topic is cleaned", _CLEANED_WITHIN_S)


@pytest.mark.parametrize("place", ["newest", "oldest"])
def test_what_compaction_took_costs_a_search_no_streams(gateway, cleaned, place, monkeypatch):
    monkeypatch.setattr(search, "WINDOW_FIRST", 100)
    monkeypatch.setattr(search, "WINDOW_MAX", 10_000)
    offsets, opened, records_read = read(gateway, place)
    assert len(set(offsets)) == len(offsets) == records_read
    assert offsets[-1] == RECORDS - 1
    assert opened <= 12 + len(offsets) // 2_500, f"{opened} streams for {len(offsets):,} records"

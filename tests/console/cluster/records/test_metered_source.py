"""Reading within the budget: streams that wait, pages that say why they are short, and one ledger for all processes."""

import json
import threading

import pytest
import redis
from asgiref.sync import sync_to_async

from console.cluster.records.metered_source import LOOKUP_BYTES, MeteredSource, MeteredStream, charge_lookups, metered
from console.cluster.records.query import RecordQuery
from console.cluster.records.read_ledger import KEY, LEDGER, ReadLedger
from console.cluster.records.reading import read_page
from console.cluster.records.search import SearchReader
from console.cluster.records.socket import RecordsConsumer
from console.kit.gateway.errors import GatewayError
from console.kit.live import audience
from console.state.clusters.models import Topic
from tests.console.kit.live.conftest import layer, redis_url  # noqa: F401
from tests.console.websocket import Websocket

MB = 1_000_000


class Clock:
    now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms

    def sleep(self, seconds: float) -> None:
        self.now_ms += round(1_000 * seconds)


@pytest.fixture
def moved():
    return Clock()


@pytest.fixture
def ledger(moved, settings):
    settings.READ_BUDGET, settings.READ_BUDGET_PER_PERSON = 20_000, 10_000
    return ReadLedger(moved)


@pytest.fixture
def _standing_still(moved, monkeypatch):
    """The ledger of this process is empty, and what has to wait waits until somebody moves its clock."""
    monkeypatch.setattr(LEDGER, "_now_ms", moved)
    monkeypatch.setattr(LEDGER, "_own", "")


@pytest.fixture
def _redis_standing_still(layer, monkeypatch):  # noqa: F811
    """The shared ledger goes by the clock of Redis: that one stands still."""
    monkeypatch.setattr(redis.client.Pipeline, "time", lambda pipeline: (1_000_000, 0))


@pytest.fixture
def topic(cluster) -> str:
    cluster.create_topic("orders", 2, 3)
    for number in range(100):
        cluster.produce_record("orders", number % 2, b"k", b"x" * 999)
    return "orders"


def test_a_stream_reads_no_faster_than_the_budget_and_says_that_it_waits(cluster, topic, moved, ledger):
    stream = MeteredStream(cluster.open_records(topic, {0: 0, 1: 0}, True), "ann", ledger, moved.sleep)
    began_ms, read, waited = moved.now_ms, 0, set()
    while read < 100:
        read += len(stream.read(0.25, 5))
        waited.add(stream.waits)
    assert 7_500 <= moved.now_ms - began_ms <= 8_500  # 100 KB, of which 20 may be read at once
    assert waited == {"", "waiting: your budget of 10\u202fKB/s is used by what you read"}


def test_nothing_is_asked_of_the_stream_while_it_is_not_its_turn(topic, moved, ledger):
    class Untouched:
        def read(self, *_):
            raise AssertionError("read")

    ledger.charge("ann", 10 * MB)
    stream = MeteredStream(Untouched(), "ann", ledger, moved.sleep)
    assert stream.read(0.25, 1_000) == []
    assert stream.waits


def test_what_is_looked_up_by_time_and_what_batches_hold_is_charged(cluster, topic, moved, ledger):
    source = MeteredSource(cluster, "ann", ledger)
    source.offsets_at(topic, 0, [0, 1])
    everybodys, by_person = ledger.rates()
    assert everybodys == by_person["ann"] == pytest.approx(2 * LOOKUP_BYTES / 5)
    batches = sum(item.size_bytes for item in source.batches_at(topic, {0: 0, 1: 0}))
    assert batches
    assert ledger.rates()[0] == pytest.approx((2 * LOOKUP_BYTES + batches) / 5)


def test_without_a_budget_nothing_is_in_between(cluster, settings):
    settings.READ_BUDGET = settings.READ_BUDGET_PER_PERSON = 0
    assert metered(cluster, "ann") is cluster


def test_a_page_that_is_not_its_readers_turn_says_so_and_is_no_empty_page(cluster, topic, moved, ledger, monkeypatch):
    ledger.charge("ann", 35_000)
    with monkeypatch.context() as hurried:
        hurried.setattr("console.cluster.records.reading.PAGE_MILLISECONDS", 1)
        with pytest.raises(GatewayError, match=r"^Nothing was read, waiting: your budget of 10\WKB/s"):
            read_page(MeteredSource(cluster, "ann", ledger), topic, 2, RecordQuery())
    assert len(read_page(MeteredSource(cluster, "bob", ledger), topic, 2, RecordQuery()).records) == 25


def test_a_search_says_while_it_waits_what_for(cluster, topic, moved, ledger, monkeypatch):
    monkeypatch.setattr("console.cluster.records.metered_source.time.sleep", moved.sleep)
    source = MeteredSource(cluster, "ann", ledger)
    reader = SearchReader(source, topic, 2, RecordQuery(search="none", searched="any", place="oldest"))
    ledger.charge("ann", MB)
    turns = [reader.turn() for _ in range(2)]
    assert turns[-1].waits == "waiting: your budget of 10\u202fKB/s is used by what you read"
    assert turns[-1].progress.read <= 100


@pytest.mark.django_db
@pytest.mark.usefixtures("_standing_still")
def test_the_messages_and_the_histogram_of_who_has_read_too_much_say_why(
    cluster, topic, collect, reader, operator, client_of, settings, monkeypatch
):
    settings.READ_BUDGET, settings.READ_BUDGET_PER_PERSON = 20 * MB, 10 * MB
    monkeypatch.setattr("console.cluster.records.reading.PAGE_MILLISECONDS", 1)
    collect()
    LEDGER.charge(reader.pk, 35 * MB)
    page = client_of(reader).get(f"/topics/{topic}/+records/").content.decode()
    assert "Nothing was read, waiting: your budget of 10\u202fMB/s is used by what you read." in page
    histogram = client_of(reader).get(f"/topics/{topic}/+records/histogram/").content.decode()
    assert "Not looked up, waiting: your budget" in histogram
    record = client_of(reader).get(f"/topics/{topic}/+records/0/3/")
    assert record.status_code == 503
    assert b"used by what you read" in record.content
    assert b"k" in client_of(operator).get(f"/topics/{topic}/+records/").content


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_standing_still")
async def test_the_page_of_a_search_is_told_what_it_waits_for(cluster, topic, reader, settings):
    settings.READ_BUDGET, settings.READ_BUDGET_PER_PERSON = 20_000, 10_000
    await sync_to_async(Topic.objects.create)(name=topic, partition_count=2)
    LEDGER.charge(reader.pk, 25_000)
    websocket = Websocket(
        RecordsConsumer.as_asgi(), "/ws/records/", f"topic={topic}&mode=search&search=none&place=oldest", user=reader
    )
    assert await websocket.connect()
    messages = [json.loads(await websocket.receive_text()) for _ in range(2)]
    assert messages[0]["began"] == "yes"
    assert "waiting: your budget of 10\u202fKB/s is used by what you read" in messages[1]["status"]
    await websocket.disconnect()


@pytest.mark.usefixtures("_standing_still")
def test_looking_up_times_costs_what_brokers_read_for_it(settings):
    settings.READ_BUDGET, settings.READ_BUDGET_PER_PERSON = 20_000, 10_000
    charge_lookups("ann", 10)
    with pytest.raises(GatewayError, match="your budget"):
        charge_lookups("ann", 1)


@pytest.mark.usefixtures("_redis_standing_still")
def test_all_processes_share_one_ledger(settings):
    settings.READ_BUDGET, settings.READ_BUDGET_PER_PERSON = 20 * MB, 10 * MB
    web, worker = ReadLedger(), ReadLedger()
    assert web.charge("1", 15 * MB).wait_ms == 0
    assert worker.charge("1", 15 * MB).why == "waiting: your budget of 10\u202fMB/s is used by what you read"
    assert worker.rates()[1]["1"] == pytest.approx(6 * MB)
    assert 0 < audience.redis_of_layer().ttl(KEY) <= 120


@pytest.mark.usefixtures("_redis_standing_still")
def test_nothing_is_lost_where_many_charge_at_once(settings):
    settings.READ_BUDGET, settings.READ_BUDGET_PER_PERSON = 20 * MB, 10 * MB
    charging = [threading.Thread(target=lambda: [ReadLedger().charge("1", MB) for _ in range(20)]) for _ in range(8)]
    for increment in charging:
        increment.start()
    for thread in charging:
        thread.join()
    standing = ReadLedger().charge("1")
    assert standing.wait_ms == 14_000  # 160 MB at 10 MB/s, less the 20 that may be read at once


def test_without_redis_each_process_bounds_its_own(layer, settings, redis_url, moved):  # noqa: F811
    settings.READ_BUDGET, settings.READ_BUDGET_PER_PERSON = 20 * MB, 10 * MB
    settings.REDIS_URL = f"{redis_url}.gone"
    audience._client.cache_clear()
    ledger = ReadLedger(moved)
    ledger.charge("1", 30 * MB)
    assert ledger.charge("1").wait_ms == 1_000

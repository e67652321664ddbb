"""The page of what the console itself asks: by process, broker and API; and who reads how much."""

import json
import re

import pytest
from asgiref.sync import sync_to_async

from broker.protocol.api_keys import ApiKey
from console.cluster.brokers.models import BrokerReport
from console.cluster.footprint import store
from console.cluster.footprint.rows import broker_rows, process_rows
from console.cluster.footprint.ticks import tick, tick_and_tell
from console.cluster.records.read_ledger import LEDGER
from console.kit.gateway.connection import own_requests as counted
from console.kit.gateway.connection.own_requests import OwnRequestFigures, OwnRequests, Process
from console.kit.live import audience
from console.state.clusters.models import Broker
from tests.console.kit.live.conftest import layer, redis_url  # noqa: F401
from tests.console.live_pages import open_page

pytestmark = pytest.mark.django_db
AT = "127.0.0.1:9092"
MB = 1_000_000


class Client:
    """Of librdkafka."""

    polled = 0

    def poll_statistics(self) -> None:
        self.polled += 1


@pytest.fixture
def requests(monkeypatch):
    """This process is the web; no time passes."""
    requests = OwnRequests(8, lambda: 1_000.0)
    monkeypatch.setattr(counted, "PROCESS", Process("web", True))
    monkeypatch.setattr(store, "PROCESS", counted.PROCESS)
    monkeypatch.setattr(store, "own_requests", lambda: requests)
    return requests


def ask(requests: OwnRequests, count: int = 120, address: str = AT) -> None:
    for _ in range(count):
        requests.answered(address, ApiKey.METADATA, 100, 1_000, 0.004, is_error=False)


def page_of(client) -> str:
    answer = client.get("/footprint/")
    assert answer.status_code == 200
    return re.sub(r"[ \n]+", " ", answer.content.decode())


def test_requests_are_on_a_page_by_process_broker_and_api_with_their_share(requests, viewer, client_of):
    Broker.objects.create(broker_id=1, host="127.0.0.1", port=9092, is_registered=True)
    BrokerReport.objects.create(broker_id=1, requests=[{"api": "Metadata", "per_second": 600.0}])
    ask(requests)
    requests.failed(AT, ApiKey.LIST_OFFSETS)
    page = page_of(client_of(viewer))
    assert "<strong>web</strong>" in page
    assert '<a href="/brokers/1/">broker 1</a>' in page
    assert '<span class="mono">Metadata</span>' in page
    assert '<span class="mono">ListOffsets</span>' in page
    assert "20.2\u202f%" in page  # 121 in a second, which is the least that is reckoned with, of 600


def test_a_broker_that_tells_no_requests_has_no_share(requests, viewer, client_of):
    Broker.objects.create(broker_id=1, host="127.0.0.1", port=9092, is_registered=True)
    BrokerReport.objects.create(broker_id=1, is_untold=True)
    ask(requests)
    assert "\u202f%" not in page_of(client_of(viewer))


def test_the_budget_that_was_reached_is_told(requests, viewer, client_of):
    with requests.turn(AT, 1):
        pass
    ask(requests)
    requests._part().slots[AT].waited, requests._part().slots[AT].waited_ms = 3, 1_200.0
    page = page_of(client_of(viewer))
    assert f"The budget of requests under way at {AT} was reached: 3 waited for their turn, 1.2\u202fs in all." in page


def test_nobody_without_a_right_sees_it(outsider, client_of):
    assert client_of(outsider).get("/footprint/").status_code == 403


def test_it_is_a_file_and_an_answer_of_the_api(requests, viewer, client_of):
    ask(requests)
    lines = client_of(viewer).get("/footprint/?format=csv").getvalue().decode().replace('"', "").splitlines()
    assert lines[0].startswith("broker,api,client,requests_per_second")
    assert lines[1].startswith(f"{AT},,")
    assert lines[2].startswith(f"{AT},Metadata,console,")


def test_administrators_see_who_reads_and_others_only_themselves(requests, administrator, reader, viewer, client_of):
    LEDGER.charge(reader.pk, 10 * MB)
    LEDGER.charge(viewer.pk, 5 * MB)
    LEDGER.charge(987_654, 1 * MB)
    assert '<td class="name">reader</td>' in page_of(client_of(administrator))
    page = page_of(client_of(viewer))
    assert '<td class="name">viewer</td>' in page
    assert '<td class="name">reader</td>' not in page
    assert "and 2 others" in page
    assert "each person 10\u202fMB/s" in page


def test_what_processes_tell_is_added_up():
    fetch = [AT, "Fetch", "librdkafka", 60, 0, 0, 0, {}]
    together = [AT, "", "librdkafka", 60, 2, 6_000, 600_000, {"20": 60}]
    own = [AT, "Metadata", "console", 30, 1, 300, 3_000, {"5": 30}]
    reports = [
        {"process": name, "host": "a", "pid": pid, "span_ms": 60_000, "in_flight_max": 8, "rows": rows, "slots": slots}
        for name, pid, rows, slots in (
            ("collector", 1, [fetch, together, own], [[AT, 8, 2, 30.0, 0]]),
            ("web", 2, [own], [[AT, 3, 0, 0.0, 0]]),
        )
    ]
    (broker,) = broker_rows(reports, {AT: 1}, {1: 20.0})
    assert (broker.total.requests, broker.total.errors, broker.share) == (2.0, 4, 0.1)
    assert [(api.name, api.requests, api.sent) for api in broker.apis] == [
        ("Fetch", 1.0, None),
        ("Metadata", 1.0, 10.0),
    ]
    assert (broker.slots.most, broker.slots.waited, broker.name) == (8, 2, "broker 1")
    collector, web = process_rows(json.loads(json.dumps(reports)))
    assert (collector.total.requests, web.total.requests, web.total.errors) == (1.5, 0.5, 1)
    assert collector.total.received == 10_050
    assert collector.total.p50_ms == collector.total.p99_ms == broker.total.p99_ms


def test_addresses_that_are_no_brokers_of_the_cluster_stand_last_as_they_are():
    rows = [[at, "Metadata", "console", 1, 0, 1, 1, {}] for at in ("", "<b>:1", AT)]
    result = broker_rows([{"span_ms": 1_000, "rows": rows, "slots": []}], {AT: 1}, {})
    assert [item.name for item in result] == ["broker 1", "<b>:1", "not told"]


def test_an_hostile_address_is_text(requests, viewer, client_of):
    ask(requests, address="<script>alert(1)</script>:1")
    page = page_of(client_of(viewer))
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_each_process_tells_the_others_through_redis_and_silent_ones_are_forgotten(
    requests,
    viewer,
    client_of,
    layer,  # noqa: F811
):
    ask(requests)
    client = Client()
    requests.clients.add(client)
    tick()
    assert client.polled == 1
    redis = audience.redis_of_layer()
    assert redis.ttl("barnabas.requests") > 0
    document = json.loads(next(iter(redis.hgetall("barnabas.requests").values())))
    for number in range(store.PROCESSES_MAX + 5):
        gone = document | {"process": f"gone-{number}", "pid": number, "at_ms": document["at_ms"] - 120_000}
        redis.hset("barnabas.requests", f"gone-{number}", json.dumps(gone))
    redis.hset("barnabas.requests", "worker", json.dumps(document | {"process": "worker", "pid": 7}))
    page = page_of(client_of(viewer))
    assert "<strong>worker</strong>" in page
    assert "gone-1" not in page
    tick()
    assert redis.hlen("barnabas.requests") == 2


def test_nobody_ends_because_it_cannot_be_counted(requests, caplog):
    class Broken(Client):
        def poll_statistics(self) -> None:
            raise ValueError("no JSON")

    broken = Broken()
    requests.clients.add(broken)
    tick()
    assert "requests to the cluster are not counted" in caplog.text


@pytest.mark.django_db(transaction=True)
async def test_an_open_page_is_told_that_there_are_new_figures(viewer):
    page = await open_page(viewer, "footprint")
    await sync_to_async(tick_and_tell)()
    assert 'data-refreshes="footprint page-actions"' in await page.receive_text()
    await page.disconnect()


def test_figures_add_up():
    figures = OwnRequestFigures()
    figures.took(5_000, 3)
    figures.took(10**12)
    assert sum(figures.buckets.values()) == 4

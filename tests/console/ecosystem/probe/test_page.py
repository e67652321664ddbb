"""The probe's page, from what a probe tells over HTTP to what a person reads."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from broker.probe.tally import MINUTE_MS
from console.ecosystem.probe import store
from console.ecosystem.probe.collect import ProbeCollector
from console.ecosystem.probe.models import HOUR, MINUTE, ProbeWindow
from console.kit.common.clock import now_ms
from console.kit.gateway.errors import ClusterUnreachableError
from console.processes.registry import add_process
from console.processes.states import Desired

WELL = {"written": 120, "fetched": 120, "read": 120, "answered": 240, "end_to_end": {"50": 120}, "produce": {"48": 120}}


class Teller:
    """A probe that says what it is told to."""

    def __init__(self):
        self.minutes = []
        self.brokers = {str(number): {"leads": 1, "registered": True} for number in (1, 2, 3)}
        self.troubled = []
        self.mirror = None
        self.body = None

    def say(self) -> bytes:
        partitions = {str(at): {"leader": at + 1, "replicas": [1, 2, 3], "waiting": 0} for at in range(3)}
        status = {"topic": "barnabas.probe", "is_connected": True, "brokers": self.brokers, "partitions": partitions}
        return (
            self.body
            or json.dumps(status | {"troubled": self.troubled, "minutes": self.minutes, "mirror": self.mirror}).encode()
        )

    def minute(self, ago: int, whole: dict = WELL, **parts: dict) -> None:
        begins_ms = now_ms() // MINUTE_MS * MINUTE_MS - ago * MINUTE_MS
        tallies = {f"broker/{number}": WELL for number in (1, 2, 3)} | {f"partition/{at}": WELL for at in range(3)}
        self.minutes.append(
            [begins_ms, tallies | {name.replace("_", "/"): tally for name, tally in parts.items()} | {"whole": whole}]
        )

    def blame(self, broker: int) -> None:
        blamed = {"blamed_at_ms": now_ms(), "noticed_after_ms": 3_000, "silent_ms": 3_000, "why": "timed out"}
        self.brokers[str(broker)] |= blamed


@pytest.fixture
def teller():
    audit = Teller()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(audit.say())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    audit.port = server.server_address[1]
    yield audit
    server.shutdown()
    server.server_close()


@pytest.fixture
def process(db, teller, settings):
    spec = {"directory": str(settings.DATA_DIR / "probe"), "port": teller.port, "properties": {"topic": "t"}}
    return add_process("probe", "probe", spec, desired=Desired.RUNNING)


@pytest.fixture
def look(process):
    collector = ProbeCollector(now_ms)
    return collector.look


def page(client_of, user) -> str:
    response = client_of(user).get("/probe/")
    assert response.status_code == 200
    return response.content.decode()


def test_it_opens_before_anything_was_measured(viewer, client_of, db):
    assert "Nothing has been measured yet." in page(client_of, viewer)


def test_it_shows_the_day_with_brokers_partitions_and_the_gap_that_somebody_caused(teller, look, viewer, client_of):
    teller.minute(4)
    silent = {
        "unanswered": 10,
        "answered": 300,
        "silent_ms": 9_000,
        "not_written": 40,
        "not_fetched": 40,
        "written": 1,
        "fetched": 1,
    }
    teller.minute(3, WELL | {"not_written": 40, "not_fetched": 40}, broker_2=silent)
    teller.minute(2)
    look()
    html = page(client_of, viewer)
    assert "Broker 2 did not answer; 40 of 160 records were not acknowledged; 40 of 160 readings failed." in html
    assert 'data-cell="write">90.0' in html
    assert html.count('<span class="badge ok">answers</span>') == 3
    assert "From sent to read" in html


def test_a_blamed_broker_and_a_failing_partition_are_named(teller, look, viewer, client_of):
    teller.blame(2)
    teller.troubled = [{"partition": 1, "for_ms": 4_000, "error": "it has no leader", "blamed": [2]}]
    assert look() is True
    html = page(client_of, viewer)
    assert "does not answer</span>" in html
    assert "timed out" in html
    assert "fails</span>" in html
    assert "it has no leader" in html


def test_what_came_through_a_mirror_stands_beside(teller, look, viewer, client_of):
    teller.minute(2)
    look()
    assert "Across the mirror" not in page(client_of, viewer)
    teller.mirror = {"waiting": 3, "error": ""}
    teller.minutes.clear()
    teller.minute(1, mirror={"fetched": 120, "read": 117, "lost": 2, "end_to_end": {"90": 117}})
    look()
    html = page(client_of, viewer)
    assert "3 records on the way" in html
    assert 'class="critical" data-cell="mirror-lost">2<' in html


def test_a_minute_that_is_told_twice_is_counted_once(teller, look):
    teller.minute(3)
    look()
    look()
    assert ProbeWindow.objects.get(tier=MINUTE).whole["written"] == 120
    assert ProbeWindow.objects.get(tier=HOUR).whole["written"] == 120


def test_a_month_of_minutes_leaves_a_bounded_number_of_rows(db):
    begins = now_ms() // MINUTE_MS * MINUTE_MS
    for day in range(35):
        at_ms = begins + day * store.DAY_MS
        store.save_minutes([(at_ms - ago * MINUTE_MS, {"whole": WELL}) for ago in (1, 400)], at_ms)
    assert ProbeWindow.objects.filter(tier=MINUTE).count() <= 4
    assert ProbeWindow.objects.filter(tier=HOUR).count() <= 2 * 32


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b'{"topic": 1}', b'{"topic": "t", "is_connected": 1, "brokers": 3}']
)
def test_what_is_no_probe_is_told_and_what_was_kept_stays(teller, look, viewer, client_of, body):
    teller.minute(2)
    look()
    teller.body = body
    with pytest.raises(ClusterUnreachableError):
        look()
    html = page(client_of, viewer)
    assert "The probe does not answer" in html
    assert "From sent to read" in html
    teller.body = None
    look()
    assert "The probe does not answer" not in page(client_of, viewer)


def test_a_probe_that_is_stopped_has_no_word_on_now(teller, look, process, viewer, client_of):
    teller.blame(2)
    teller.minute(2)
    look()
    process.desired = Desired.STOPPED
    process.save()
    assert look() is False
    html = page(client_of, viewer)
    assert "not meant to run" in html
    assert "does not answer</span>" not in html


def test_it_is_for_who_may_see_its_process(outsider, client_of, db):
    assert client_of(outsider).get("/probe/").status_code == 403


def test_who_may_not_see_the_process_is_offered_no_way_to_it(limited, viewer, give_rule, client_of):
    give_rule(limited, "nothing", "process", "probe")
    assert client_of(limited).get("/probe/").status_code == 403
    assert 'href="/probe/"' not in client_of(limited).get("/brokers/").content.decode()
    assert 'href="/probe/"' in client_of(viewer).get("/brokers/").content.decode()


def test_the_file_has_a_line_for_each_broker_and_partition(teller, look, viewer, client_of):
    teller.minute(2)
    look()
    response = client_of(viewer).get("/probe/", {"format": "csv"})
    lines = b"".join(response.streaming_content).decode().splitlines()
    assert len(lines) == 7
    assert lines[1].startswith('"broker","1","answers","1.0"')


def test_pages_are_told_of_a_new_minute_and_not_of_an_old_one(
    teller, look, listeners, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    monkeypatch.setattr("console.kit.live.push.send_now", sent.extend)
    for minutes, news in ((3, 1), (None, 0), (2, 1)):
        sent.clear()
        if minutes:
            teller.minute(minutes)
        with django_capture_on_commit_callbacks(execute=True):
            look()
        assert len(sent) == news

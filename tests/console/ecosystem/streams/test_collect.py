"""What a driver writes about itself is kept and pushed, once for each change."""

import pytest
from channels.layers import get_channel_layer

from console.cluster.charts.measures import Reading
from console.cluster.charts.recorder import Recorder
from console.cluster.charts.store import RowStore
from console.ecosystem.streams.collect import look_at_streams
from console.ecosystem.streams.feature import stream_group
from console.ecosystem.streams.models import StreamProgress
from console.ecosystem.streams.queries import shown_stream
from console.ecosystem.streams.schedule import REST_S, PollSchedule
from console.kit.common.clock import now_ms as at_ms
from console.kit.live import groups
from console.processes.models import ManagedProcess

FACTS = {
    "pid": 7,
    "state": "running",
    "lag": 5,
    "lags": {"orders": {"0": 5, "1": 0}},
    "sources": [{"end": {"orders": {"0": 120, "1": 7}}}],
    "duration_ms": {"triggerExecution": 100, "addBatch": 80, "walCommit": 20},
    "recent": [{"at_ms": ms, "arrived": 10.0, "processed": float(ms), "lag": 5} for ms in (2_000, 4_000, 6_000)],
    "watermark": "2026-11-21T10:00:00.000Z",
}


def test_change_is_kept_once_and_an_unreadable_file_changes_nothing(stream, progress, host):
    assert look_at_streams() == 0
    progress(**FACTS)
    assert look_at_streams() == 1
    assert look_at_streams() == 0
    (host / "streams" / "counts" / "progress.json").write_text("{")
    assert look_at_streams() == 0
    assert StreamProgress.objects.get().facts["lag"] == 5


def test_a_driver_that_died_without_a_word_is_shown_so(stream, progress):
    progress(**FACTS)
    look_at_streams()
    ManagedProcess.objects.update(state="exited")
    assert look_at_streams() == 1
    assert look_at_streams() == 0


def test_job_of_another_host_is_not_looked_at(stream, progress):
    ManagedProcess.objects.update(host="elsewhere")
    progress(**FACTS)
    assert look_at_streams() == 0


def test_page_shows_parts_and_partitions(stream, progress):
    ManagedProcess.objects.update(pid=7)
    progress(**FACTS)
    look_at_streams()
    shown = shown_stream(ManagedProcess.objects.get())
    assert shown.runs
    assert (shown.processed, shown.watermark) == (6_000.0, "2026-11-21 10:00:00 UTC")
    assert sum(part.width for part in shown.parts) == 1_000
    assert [(lag.partition, lag.position, lag.lag) for lag in shown.lags] == [(0, 120, 5), (1, 7, 0)]


def test_the_page_has_the_main_charts_of_the_range_that_is_asked_for(viewer, client_of, stream, progress):
    now = at_ms()
    progress(**FACTS)
    look_at_streams()
    store = RowStore()
    recorder = Recorder(store.load)
    for step in range(20):
        readings = [Reading("cluster", "", (1.0,) * 6), Reading("stream", "counts", (10.0, 9.0, 5.0, 100.0))]
        recorder.observe(readings, now - (20 - step) * 15_000)
    store.write(recorder.dirty)
    text = client_of(viewer).get("/streams/counts/?last=15m").content.decode()
    assert 'class="range"' in text
    assert "Records per second" in text
    assert "Records not read" in text


def test_records_that_could_not_be_used_are_shown_with_where_they_are(viewer, client_of, stream, progress):
    progress(**FACTS | {"dead_records": 1_234})
    look_at_streams()
    page = client_of(viewer).get("/streams/counts/").content.decode()
    assert "1\u202f234</span>" in page
    assert "dead.letter.topic is not set" in page
    stream.spec["properties"]["dead.letter.topic"] = "orders.dead"
    stream.save()
    assert "in orders.dead</span>" in client_of(viewer).get("/streams/counts/").content.decode()


def test_rates_of_an_earlier_run_are_not_shown_as_of_now(stream, progress):
    progress(**FACTS)
    look_at_streams()
    shown = shown_stream(ManagedProcess.objects.get())
    assert (shown.processed, str(shown.pace.pace)) == (None, "not known yet")


@pytest.mark.django_db(transaction=True)
async def test_change_is_pushed_to_the_list_and_to_its_page(host):
    from asgiref.sync import sync_to_async

    layer = get_channel_layer()
    for group in (groups.STREAMS, stream_group("counts")):
        await layer.group_add(group, "page")
    await sync_to_async(_write_and_look)(host)
    html = [(await layer.receive("page"))["html"] for _ in range(2)]
    assert 'id="stream-counts"' in html[0]
    assert 'id="stream-progress"' in html[1]


def _write_and_look(host) -> None:
    import json

    from console.processes.registry import add_process

    directory = host / "streams" / "counts"
    add_process("stream", "counts", {"directory": str(directory), "properties": {"job": "dedupe"}})
    (directory / "progress.json").write_text(json.dumps(FACTS))
    assert look_at_streams() == 1


def test_jobs_are_looked_at_less_often_while_nobody_looks_on():
    now_s, is_anybody_there = [100.0], [False]
    pace = PollSchedule(lambda: is_anybody_there[0], lambda: now_s[0])
    assert pace.is_due()
    now_s[0] += REST_S - 0.1
    assert not pace.is_due()
    is_anybody_there[0] = True
    assert pace.is_due()
    is_anybody_there[0] = False
    now_s[0] += REST_S
    assert pace.is_due()

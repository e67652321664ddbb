"""A connector's life by the console, with a real worker on a real broker, from its form to its deletion."""

import json
import zlib
from dataclasses import replace

import pytest

from broker.client.security.file import read_client_properties
from console.ecosystem.connectors.client import connect_client
from console.ecosystem.connectors.configuration import ConnectSettings
from console.ecosystem.connectors.models import ConnectLook, Connector
from console.kit.audit.models import AuditEvent
from console.processes.setup import read_setup
from console.shell.collector.collector import Collector
from console.shell.launch.sources import SourceKeeper, wanted_sources
from console.state.clusters.models import ClusterState
from tests.barnabas_cluster import await_true
from tests.broker.connect.mock_cluster import all_records
from tests.console.confirming import digest_in
from tests.console.ecosystem.connectors.one_worker import running_worker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(240)]
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """Of one process, which asks as a distributed one does."""
    with running_worker(tmp_path_factory.mktemp("connect")) as worker:
        yield worker


@pytest.fixture
def worker(running, settings, cluster):
    """It works for the cluster in memory, as far as its id tells."""
    cluster._cluster_id = running.ask("GET", "/")["kafka_cluster_id"]
    settings.CONNECT = ConnectSettings((f"http://127.0.0.1:{running.port}",))
    return running


@pytest.fixture
def source_file(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"line {number}\n" for number in range(5)))
    return path


def text_of(response) -> str:
    return response.content.decode().replace("\u202f", " ")


def confirmed(browser, address: str, form: dict | None = None, **more: str):
    shown = browser.post(address, form) if form is not None else browser.get(address)
    assert shown.status_code == 200, text_of(shown)
    plan = shown.context["plan"]
    typed = {"typed_name": plan.typed_name} if plan.typed_name else {}
    done = browser.post(address, {**(form or {}), "digest": digest_in(shown), **typed, **more})
    assert done.status_code == 302, text_of(done)
    return shown


def seen(collector: Collector, name: str) -> Connector:
    collector.look("connectors")
    return Connector.objects.get(name=name)


def await_state(collector: Collector, name: str, state: str, tasks: int = 1) -> None:
    def is_so() -> bool:
        row = seen(collector, name)
        return row.state == state and row.running_count == (tasks if state == "RUNNING" else row.running_count)

    await_true(is_so, f"{name} is {state}", 60)


def test_a_source_is_created_by_its_form_and_lives_by_plans(worker, collector, browser, source_file):
    assert SOURCE in text_of(browser.get("/connectors/+create/"))
    address = f"/connectors/+create/{SOURCE}/"
    empty = browser.post(address, {"name": "lines"})
    assert empty.status_code == 422
    assert "topic" in "".join(empty.context["form"].errors)
    form = {"name": "lines", "config:file": str(source_file), "config:topic": "lines-in"}
    shown = confirmed(browser, address, form)
    assert "Connect starts it at once." in text_of(shown)
    await_state(collector, "lines", "RUNNING")

    row = Connector.objects.get(name="lines")
    assert (row.kind, row.short_class, row.topics) == ("source", "FileStreamSourceConnector", ["lines-in"])
    assert ClusterState.objects.get().connectors_error == ""
    assert ConnectLook.objects.get().workers[0][3] == ""
    details = "/connectors/lines/+details/"
    await_true(lambda: "position" in text_of(browser.get(details)), "its offset is noted", 30)
    assert "lines-in" in text_of(browser.get(details))

    confirmed(browser, "/connectors/lines/+do/pause/")
    await_state(collector, "lines", "PAUSED")
    confirmed(browser, "/connectors/lines/+do/resume/")
    await_state(collector, "lines", "RUNNING")

    change = {"as": "form", "config:file": str(source_file), "config:topic": "lines-elsewhere"}
    shown = confirmed(browser, "/connectors/lines/+configure/", change)
    assert [(line.name, line.old, line.new) for line in shown.context["plan"].lines] == [
        ("topic", "lines-in", "lines-elsewhere")
    ]
    await_true(lambda: seen(collector, "lines").topics == ["lines-elsewhere"], "configured anew")
    await_state(collector, "lines", "RUNNING")
    confirmed(browser, "/connectors/lines/+do/restart-all/")
    await_state(collector, "lines", "RUNNING")
    confirmed(browser, "/connectors/lines/+tasks/0/+restart/")
    await_state(collector, "lines", "RUNNING")

    page = text_of(browser.get("/connectors/lines/"))
    (undo,) = [part for part in page.split('"') if "+configure/?kept=" in part]
    assert "lines-in" in text_of(browser.get(undo))

    confirmed(browser, "/connectors/lines/+delete/")
    await_true(lambda: not _exists(collector, "lines"), "it is gone")
    assert "Create it again" in text_of(browser.get("/connectors/"))
    actions = list(AuditEvent.objects.filter(object_type="connector").values_list("action", "result"))
    assert {result for _, result in actions} == {"done"}
    assert {"create connector", "configure connector", "pause connector", "delete connector"} <= {a for a, _ in actions}


def test_offsets_are_altered_and_reset_when_it_is_stopped_and_put_back(worker, collector, browser, source_file):
    form = {"name": "moved", "config:file": str(source_file), "config:topic": "moved"}
    confirmed(browser, f"/connectors/+create/{SOURCE}/", form)
    await_state(collector, "moved", "RUNNING")
    offsets = "/connectors/moved/+offsets/"
    await_true(lambda: "position" in text_of(browser.get(offsets)), "an offset is noted", 30)
    before = browser.get(offsets).context["form"].initial["offsets"]
    refused = browser.post(offsets, {"offsets": before.replace('"position": ', '"position": 1')})
    assert "stop it first" in text_of(refused)

    confirmed(browser, "/connectors/moved/+do/stop/")
    await_true(lambda: seen(collector, "moved").task_count == 0, "no task is left", 60)
    assert Connector.objects.get(name="moved").state == "STOPPED"
    confirmed(browser, "/connectors/moved/+reset-offsets/")
    assert "none yet" in text_of(browser.get("/connectors/moved/+details/"))

    page = text_of(browser.get("/connectors/moved/"))
    (undo,) = [part for part in page.split('"') if "+offsets/?kept=" in part]
    again = browser.get(undo).context["form"].initial["offsets"]
    assert again == before
    confirmed(browser, offsets, {"offsets": again})
    assert "position" in text_of(browser.get("/connectors/moved/+details/"))
    confirmed(browser, "/connectors/moved/+delete/")


def test_a_failed_task_is_a_reason_of_health_with_its_error(worker, collector, browser, tmp_path, collect, cluster):
    """A sink whose converter meets what is no JSON, at a record that the page links."""
    collect()
    (tmp_path / "words.txt").write_text("no json\n")
    string = "org.apache.kafka.connect.storage.StringConverter"
    source = {
        "name": "words", "config:file": str(tmp_path / "words.txt"), "config:topic": "words",
        "more": f"value.converter={string}", "config:value.converter": string,
    }  # fmt: skip
    confirmed(browser, f"/connectors/+create/{SOURCE}/", source)
    sink = {
        "name": "out", "connector.class": SOURCE.replace("Source", "Sink"), "topics": "words",
        "file": f"{tmp_path}/out", "tasks.max": "1",
    }  # fmt: skip

    address = f"/connectors/+create/{sink['connector.class']}/"
    confirmed(browser, address, {"as": "json", "json": json.dumps(sink)})
    await_true(lambda: seen(collector, "out").failed_count == 1, "its task fails", 60)
    row = Connector.objects.get(name="out")
    assert row.group == "connect-out"
    page = text_of(browser.get("/connectors/out/"))
    assert "Task 0 failed" in page
    assert "/topics/words/+records/0/0/" in page
    overview = text_of(browser.get("/"))
    assert "Connector out failed in its task: it does nothing more." in overview
    assert "at the record words-0@0" in overview
    confirmed(browser, "/connectors/out/+do/restart-failed/")
    for name in ("out", "words"):
        confirmed(browser, f"/connectors/{name}/+delete/")


def test_sources_of_the_demo_are_made_once_kept_as_a_person_left_them_and_taken_back(worker, settings, tmp_path):
    keeper = SourceKeeper(connect_client(), tmp_path / "none.json")
    document = tmp_path / "kept.txt"
    document.write_text("a\nb\n")
    wanted = wanted_sources(replace(read_setup({"BARNABAS_DEMO": "0"}, ""), documents=(document,)), tmp_path / "log")
    name = "documents-kept.txt"
    keeper.keep(wanted)
    await_true(lambda: worker.is_running(name), "the document is read", 60)
    worker.ask("PUT", f"/connectors/{name}/pause", status=202)
    own = worker.ask("GET", f"/connectors/{name}/config") | {"batch.size": "7"}
    worker.ask("PUT", f"/connectors/{name}/config", own, status=200)
    worker.ask(
        "PUT", "/connectors/documents-mine/config", own | {"name": "documents-mine", "topic": "mine"}, status=201
    )
    keeper.keep(wanted)
    await_true(lambda: worker.state(name) == "PAUSED", "it stays paused", 60)
    assert worker.ask("GET", f"/connectors/{name}/config")["batch.size"] == "7"
    keeper.keep({})
    left = worker.ask("GET", "/connectors")
    assert name not in left
    assert "documents-mine" in left
    worker.ask("DELETE", "/connectors/documents-mine", status=204)


def test_a_source_goes_on_where_the_worker_of_an_older_release_had_got_to(worker, tmp_path):
    document = tmp_path / "old.txt"
    document.write_text("read before\nnew since\n")
    status = document.stat()
    place = {"inode": status.st_ino, "position": 12, "head": zlib.crc32(b"read before\n")}
    old = tmp_path / "offsets.json"
    old.write_text(json.dumps({"documents": {str(document): place}}))
    wanted = wanted_sources(replace(read_setup({"BARNABAS_DEMO": "0"}, ""), documents=(document,)), tmp_path / "log")
    wanted["documents-old.txt"] |= {"topic": "old.lines"}
    SourceKeeper(connect_client(), old).keep(wanted)
    assert not old.exists()
    await_true(lambda: worker.is_running("documents-old.txt"), "it runs", 60)
    brokers = read_client_properties(str(worker.log.parent / "worker.properties"))["bootstrap.servers"]
    document.write_text(document.read_text() + "newer\n")

    def records() -> list:
        topics = worker.ask("GET", "/connectors/documents-old.txt/topics")["documents-old.txt"]["topics"]
        return [(record.key(), record.value()) for record in all_records(brokers, "old.lines")] if topics else []

    await_true(lambda: len(records()) >= 2, "what is new since is read", 60)
    assert records() == [(b"old.txt", b"new since"), (b"old.txt", b"newer")]
    worker.ask("DELETE", "/connectors/documents-old.txt", status=204)


def _exists(collector: Collector, name: str) -> bool:
    collector.look("connectors")
    return Connector.objects.filter(name=name).exists()

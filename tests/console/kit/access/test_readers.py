"""Reading records is a right of its own: who may see a topic sees nothing of what is in it."""

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from console.ecosystem.streams import collect
from console.ecosystem.streams.models import StreamProgress
from console.kit.access.log_tail import LAST_LINE, LAST_LINE_WITH_RECORDS
from console.processes.models import ManagedProcess
from console.processes.presenters import ManagedProcessRow
from console.state.history.models import Change
from console.state.history.queries import recent_changes

ADDRESSES = ["", "?format=csv", "?place=oldest", "?search=a", "0/0/", "0/0/?part=value", "0/0/?part=key"]


@pytest.fixture(autouse=True)
def _topic(cluster, collect):
    for name in ("orders", "payments"):
        cluster.create_topic(name, 1, 1)
        cluster.produce_record(name, 0, b"a key inside", b"a value inside", (("h", b"a header inside"),))
    collect()


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_viewer_reads_no_record(address, viewer, client_of):
    response = client_of(viewer).get(f"/topics/orders/+records/{address}")

    assert response.status_code == 403
    assert "needs the role reader" in response.content.decode()
    assert b"inside" not in response.content


def test_the_tab_is_there_and_says_why_it_is_closed(viewer, reader, client_of):
    closed, opened = (client_of(item).get("/topics/orders/").content.decode() for item in (viewer, reader))

    assert "This needs the role reader" in closed
    assert "/topics/orders/+records/" not in closed
    assert "/topics/orders/+records/" in opened


def test_a_rule_makes_a_viewer_a_reader_of_some_topics(viewer, give_rule, client_of):
    give_rule(viewer, "reader", "topic", "ord*")
    client = client_of(viewer)

    assert "a value inside" in client.get("/topics/orders/+records/?place=oldest").content.decode()
    assert client.get("/topics/payments/+records/?place=oldest").status_code == 403


def test_a_rule_that_operates_reads_and_one_that_takes_away_does_not(viewer, reader, give_rule, client_of):
    give_rule(viewer, "operator", "topic", "orders")
    give_rule(reader, "nothing", "topic", "orders")

    assert client_of(viewer).get("/topics/orders/+records/").status_code == 200
    assert client_of(reader).get("/topics/orders/+records/").status_code == 403


@pytest.fixture
def job(settings, tmp_path) -> str:
    """A stream job from orders to payments, whose driver has quoted a record in its log."""
    settings.LOG_DIR = tmp_path
    (tmp_path / "copy.log").write_text("The value 'a value inside' of the type STRING cannot be cast\n")
    properties = {"job": "dedupe", "input.topic": "orders", "output.topic": "payments"}
    spec = {"directory": str(tmp_path), "properties": properties}
    ManagedProcess.objects.create(name="copy", kind="stream", host=settings.HOST_NAME, spec=spec)
    return "/processes/copy/"


def test_the_log_of_a_stream_job_quotes_records_and_is_for_readers_of_its_topics(
    job, viewer, reader, give_rule, client_of
):
    for address in (job, f"{job}log"):
        assert "a value inside" in client_of(reader).get(address).content.decode()
        page = client_of(viewer).get(address).content.decode()
        assert "a value inside" not in page
        assert "it is for users who may read records of all its topics" in page
    give_rule(viewer, "reader", "topic", "orders")
    assert "a value inside" not in client_of(viewer).get(job).content.decode()
    give_rule(viewer, "reader", "topic", "payments")
    assert "a value inside" in client_of(viewer).get(job).content.decode()


def test_the_page_of_a_stream_job_keeps_its_log_and_its_error_for_readers_of_its_topics(
    job, viewer, reader, give_rule, client_of
):
    error = "NumberFormatException: The value 'a value inside the error' cannot be cast"
    facts = {"state": "failed", "error": error}
    StreamProgress.objects.create(process=ManagedProcess.objects.get(name="copy"), facts=facts)
    page = client_of(reader).get("/streams/copy/").content.decode()
    assert "a value inside&#x27; of the type" in page
    assert "a value inside the error" in page
    page = client_of(viewer).get("/streams/copy/").content.decode()
    assert "a value inside" not in page
    assert "it is for users who may read records of all its topics" in page
    assert "The query failed" in page
    give_rule(viewer, "reader", "topic", "orders")
    give_rule(viewer, "reader", "topic", "payments")
    assert "a value inside the error" in client_of(viewer).get("/streams/copy/").content.decode()


def test_what_is_pushed_of_a_failed_stream_job_quotes_no_record(job, monkeypatch):
    pushed = []
    monkeypatch.setattr(collect, "push_partial", lambda _group, *partial: pushed.append(render_to_string(*partial)))
    process = ManagedProcess.objects.get(name="copy")
    facts = {"state": "failed", "error": "NumberFormatException: The value 'a value inside' cannot be cast"}
    process.progress = StreamProgress.objects.create(process=process, facts=facts)
    collect.push_stream(process)
    assert "The query failed" in "".join(pushed)
    assert "a value inside" not in "".join(pushed)


ENDED = "exited: ended by itself with status 1 at 12:00:00"


@pytest.fixture
def ended(job) -> None:
    """The job, as the worker's step has it ended; beside it a broker with a last line of its own."""
    sentence = f"{ENDED}{LAST_LINE_WITH_RECORDS}the value 'a value inside' cannot be cast"
    seen = {"state": "exited", "desired": "running", "state_sentence": sentence, "sentence": sentence}
    ManagedProcess.objects.update(**seen)
    broker = f"{ENDED}{LAST_LINE}port 9092 is taken"
    ManagedProcess.objects.create(
        name="broker-1", kind="broker", spec={"broker_id": 1, "directory": "/x"}, **seen | {"state_sentence": broker}
    )
    Change.objects.create(at_ms=1, kind="process", object_name="copy", sentence=sentence, tone="critical")


@pytest.mark.usefixtures("ended")
@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/processes/",
        "/processes/?format=csv",
        "/processes/copy/",
        "/history/",
        "/history/?format=csv",
        "/streams/",
    ],
)
def test_the_last_line_of_a_job_is_for_who_may_read_its_log(address, viewer, reader, client_of):
    content = b"".join(client_of(viewer).get(address, follow=True)).decode()
    assert "a value inside" not in content
    if address in ("/", "/processes/", "/history/"):
        assert "a value inside" in client_of(reader).get(address, follow=True).content.decode()
    if address == "/processes/":
        assert "ended by itself with status 1" in content
        assert "port 9092 is taken" in content, "that of another process is for everybody whom no rule limits"


@pytest.mark.usefixtures("ended")
def test_nor_is_it_found_by_searching(viewer, reader, client_of):
    contents = {
        item: client_of(item).get("/history/", {"search": "cannot be cast"}).content for item in (viewer, reader)
    }
    assert b"ended by itself" not in contents[viewer]
    assert b"ended by itself" in contents[reader]


@pytest.mark.usefixtures("ended")
def test_what_is_pushed_to_everybody_has_it_not():
    process = ManagedProcess.objects.get(name="copy")
    assert "a value inside" not in ManagedProcessRow(process, timezone.now()).sentence
    assert "a value inside" not in str([change.sentence for change in recent_changes()])


def test_a_job_whose_topics_nobody_knows_has_its_log_for_readers_of_all(job, viewer, reader, client_of):
    ManagedProcess.objects.update(spec={"directory": "/nowhere", "properties": {"job": "own"}})
    assert "a value inside" not in client_of(viewer).get(job).content.decode()
    assert "a value inside" in client_of(reader).get(job).content.decode()


def test_a_viewer_gets_no_tail_and_produces_nothing(viewer, client_of):
    response = client_of(viewer).post("/topics/orders/+produce/", {"value": "x"})
    assert response.status_code == 403
    assert b"inside" not in client_of(viewer).get("/audit/").content

"""Adding, starting after a loss, starting over and removing a stream job: who may, and what it writes."""

import pytest
from django.urls import reverse

from console.kit.audit.models import AuditEvent
from console.kit.plans.models import KeptInverse
from console.processes.models import ManagedProcess
from tests.console.confirming import digest_in

pytestmark = pytest.mark.django_db
VALUES = {"name": "by-page", "input.topic": "visits", "output.topic": "visits.counts", "group.by": "$.path"}


def posted(client, address: str, values: dict, **more) -> object:
    """The plan is shown, and what it was confirmed with sent back."""
    shown = client.post(address, values)
    assert shown.status_code == 200, shown.content.decode()
    return client.post(address, values | {"digest": digest_in(shown)} | more)


def test_form_has_a_field_for_each_declared_parameter(administrator, client_of, host):
    form = client_of(administrator).get(reverse("stream-add", args=["windowed_counts"])).content.decode()
    for name in ("group.by", "sum.field", "window.ms", "watermark.ms", "emit", "starting.offsets"):
        assert f'name="{name}"' in form, name
    assert "How late a record may come and still be counted." in form


def test_administrator_adds_a_job_and_it_is_started(administrator, client_of, host):
    address = reverse("stream-add", args=["windowed_counts"])
    answer = posted(client_of(administrator), address, VALUES | {"window.ms": "5000", "emit": "changes"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/streams/by-page/")
    process = ManagedProcess.objects.get(name="by-page")
    assert (process.desired, process.request) == ("running", "start")
    written = (host / "streams" / "by-page" / "stream.properties").read_text().splitlines()
    assert "window.ms=5000" in written
    assert "group.by=$.path" in written
    assert not any(line.startswith("emit=") for line in written), "a default is not written"
    event = AuditEvent.objects.get(action="add stream job")
    assert (event.object_name, event.result) == ("by-page", "done")


def test_dead_letter_topic_is_made_if_it_is_named_and_may_be_left_blank(administrator, client_of, host):
    client, address = client_of(administrator), reverse("stream-add", args=["windowed_counts"])
    blank = client.post(address, VALUES | {"dead.letter.topic": ""}).content.decode()
    assert "Topics it makes if they are not there: visits, visits.counts." in blank
    named = client.post(address, VALUES | {"dead.letter.topic": "visits.dead"}).content.decode()
    assert "visits, visits.counts, visits.dead." in named
    circle = client.post(address, VALUES | {"dead.letter.topic": "visits"}).content.decode()
    assert "It would read what it writes, without end: visits." in circle


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"name": "Not a name"}, "Lower-case letters"),
        ({"window.ms": "soon"}, "Not a number of type"),
        ({"window.ms": "5"}, "Value must be at least 1000"),
        ({"group.by": "path"}, "is not a field (key, value"),
        ({"input.topic": "a b"}, "is not a topic&#x27;s name"),
        ({"missing.as": "x\\"}, "must not end with a backslash"),
        ({"input.topic": ""}, "This field is required"),
    ],
)
def test_wrong_value_is_told_beside_its_field(administrator, client_of, host, values, sentence):
    answer = client_of(administrator).post(reverse("stream-add", args=["windowed_counts"]), VALUES | values)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not ManagedProcess.objects.exists()


def test_plan_that_was_not_shown_adds_nothing(administrator, client_of, host):
    answer = client_of(administrator).post(reverse("stream-add", args=["dedupe"]), VALUES | {"digest": "x"})
    assert answer.status_code == 409
    assert not ManagedProcess.objects.exists()


@pytest.mark.parametrize("person", ["operator", "viewer", "outsider"])
def test_only_an_administrator_adds_and_removes(person, request, client_of, stream):
    client = client_of(request.getfixturevalue(person))
    for address in (reverse("stream-choose"), reverse("stream-add", args=["dedupe"]), "/streams/counts/remove"):
        assert client.get(address).status_code == 403
        assert client.post(address, VALUES).status_code in (403, 405)
    assert ManagedProcess.objects.count() == 1


def test_job_of_this_host_is_offered_and_asked_in_a_process_of_its_own(administrator, client_of, host):
    (host / "jobs").mkdir()
    (host / "jobs" / "mine.py").write_text(
        '"""Mine."""\nfrom broker.config.definition import Key, parse_int\n'
        'PARAMETERS = (Key("size.min", parse_int, 3, "How large.", at_least=1),)\ndef build(records, settings): ...\n'
    )
    (host / "jobs" / "broken.py").write_text("raise ValueError('not ready')")
    client = client_of(administrator)
    assert "this host&#x27;s own" in client.get(reverse("stream-choose")).content.decode().replace("'", "&#x27;")
    address = reverse("stream-add", args=["mine"])
    assert 'name="size.min"' in client.get(address).content.decode()
    assert client.post(address, VALUES | {"size.min": "0"}).status_code == 422
    assert client.get(reverse("stream-add", args=["broken"])).status_code == 404


def test_start_is_at_once_if_nothing_was_lost(operator, client_of, stream, orders, checkpoint):
    checkpoint({0: 120, 1: 7})
    assert client_of(operator).post("/streams/counts/start").status_code == 302
    assert ManagedProcess.objects.get().request == "start"


def test_start_after_a_loss_is_confirmed_first(operator, client_of, stream, orders, checkpoint):
    checkpoint({0: 90, 1: 7})
    client = client_of(operator)
    assert "Records are gone before it has read them" in client.get("/streams/counts/").content.decode()
    shown = client.post("/streams/counts/start")
    assert "10 offsets were deleted before the job has read them" in shown.content.decode()
    assert ManagedProcess.objects.get().request == ""
    client.post("/streams/counts/start", {"digest": digest_in(shown)})
    assert ManagedProcess.objects.get().request == "start"


def test_the_button_among_all_processes_starts_it_as_its_own_page_does(operator, client_of, stream, orders, checkpoint):
    checkpoint({0: 120, 1: 7})
    client = client_of(operator)
    sent_on = client.post("/processes/counts/start", headers={"HX-Request": "true"})
    assert (sent_on.status_code, sent_on.headers["Location"]) == (307, "/streams/counts/start")
    assert client.post(sent_on.headers["Location"], headers={"HX-Request": "true"}).content == b""
    assert ManagedProcess.objects.get().request == "start"


def test_the_button_among_all_processes_leads_to_what_was_lost(operator, client_of, stream, orders, checkpoint):
    checkpoint({0: 90, 1: 7})
    sent_on = client_of(operator).post("/streams/counts/start", headers={"HX-Request": "true"})
    assert sent_on.headers["HX-Redirect"] == "/streams/counts/"
    assert ManagedProcess.objects.get().request == ""


def test_reset_puts_the_checkpoint_aside_and_begins_where_it_was_said(
    operator, client_of, stream, orders, checkpoint, host
):
    checkpoint({0: 120, 1: 7})
    client, directory = client_of(operator), host / "streams" / "counts"
    shown = client.get("/streams/counts/reset?to=latest")
    values = {"to": "latest", "digest": digest_in(shown)}
    assert client.post("/streams/counts/reset", values | {"typed_name": "count"}).status_code == 422
    assert (directory / "checkpoint").exists()
    assert client.post("/streams/counts/reset", values | {"typed_name": "counts"}).status_code == 302
    assert not (directory / "checkpoint").exists()
    assert (directory / "checkpoint-before-reset" / "commits" / "4").exists()
    assert "starting.offsets=latest" in (directory / "stream.properties").read_text()
    assert KeptInverse.objects.get().object_name == "counts"
    assert AuditEvent.objects.get(action="reset checkpoint", result="done").before == {
        "orders-0": 120,
        "orders-1": 7,
    }


def reset(client):
    shown = client.get("/streams/counts/reset?to=latest")
    values = {"to": "latest", "digest": digest_in(shown), "typed_name": "counts"}
    return client.post("/streams/counts/reset", values)


def assert_as_before(directory) -> None:
    assert (directory / "checkpoint" / "commits" / "4").exists()
    assert "starting.offsets" not in (directory / "stream.properties").read_text()
    assert "starting.offsets" not in ManagedProcess.objects.get().spec["properties"]


def test_checkpoint_that_cannot_be_put_aside_stays_and_so_does_the_job(
    operator, client_of, stream, orders, checkpoint, host
):
    checkpoint({0: 120, 1: 7})
    directory = host / "streams" / "counts"
    (directory / "checkpoint-before-reset").write_text("a file where a directory is expected")
    refused = reset(client_of(operator))
    assert refused.status_code == 409
    assert f"Not a directory ({directory}/checkpoint-before-reset). Make room there" in refused.content.decode()
    assert_as_before(directory)
    event = AuditEvent.objects.get(action="reset checkpoint")
    assert (event.result, "Not a directory" in event.detail) == ("refused", True)


def test_checkpoint_comes_back_if_the_properties_cannot_be_written(
    operator, client_of, stream, orders, checkpoint, host
):
    checkpoint({0: 120, 1: 7})
    directory = host / "streams" / "counts"
    (directory / ".stream.properties.new").mkdir()
    refused = reset(client_of(operator))
    assert (refused.status_code, "The checkpoint was not reset" in refused.content.decode()) == (409, True)
    assert_as_before(directory)
    assert AuditEvent.objects.get(action="reset checkpoint").result == "refused"


def test_job_that_runs_is_not_reset(operator, client_of, stream, orders, checkpoint):
    checkpoint({0: 120, 1: 7})
    ManagedProcess.objects.update(pid=1)
    client = client_of(operator)
    shown = client.get("/streams/counts/reset")
    assert "Stop it first" in shown.content.decode()
    values = {"digest": digest_in(shown), "typed_name": "counts"}
    assert client.post("/streams/counts/reset", values).status_code == 409


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_who_only_looks_changes_nothing(person, request, client_of, stream, checkpoint):
    checkpoint({0: 90})
    client = client_of(request.getfixturevalue(person))
    for action in ("start", "reset", "remove"):
        assert client.post(f"/streams/counts/{action}").status_code == 403
    assert ManagedProcess.objects.get().request == ""


def test_administrator_removes_a_job(administrator, client_of, stream):
    client = client_of(administrator)
    digest = digest_in(client.get("/streams/counts/remove"))
    answer = client.post("/streams/counts/remove", {"digest": digest, "typed_name": "counts"})
    assert answer.headers["Location"] == "/streams/"
    assert ManagedProcess.objects.get().is_leaving

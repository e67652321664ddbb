"""Every button: what it wishes, the audit row beside it, and who may press it."""

import pytest
from django.urls import reverse

from console.kit.audit.models import AuditEvent
from console.processes import actions, tasks
from console.processes.models import ManagedProcess
from console.processes.states import Desired, Request


@pytest.fixture
def sent(monkeypatch) -> list[tuple[str, str]]:
    """Tasks that were enqueued, by name and process."""
    collected = []
    monkeypatch.setattr(tasks, "enqueue", lambda task, process: collected.append((task.__name__, process.name)))
    return collected


@pytest.fixture
def pushed(monkeypatch) -> list[str]:
    names = []
    monkeypatch.setattr(actions, "push_process", lambda process: names.append(process.name))
    return names


def test_operator_wishes_audits_pushes_and_enqueues(
    operator, client, make_process, sent, pushed, django_capture_on_commit_callbacks
):
    process = make_process()
    client.force_login(operator)
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(reverse("process-start", args=["demo"]), headers={"hx-request": "true"})
    process.refresh_from_db()
    event = AuditEvent.objects.get()
    assert response.status_code == 200
    assert (process.desired, process.request) == (Desired.RUNNING, Request.START)
    assert (event.actor, event.action, event.object_name) == (operator, "start", "demo")
    assert event.before == {"desired": "stopped", "observed": "stopped"}
    assert event.after == {"desired": Desired.RUNNING}
    assert sent == [("start", "demo")]
    assert pushed == ["demo"]


@pytest.mark.parametrize("button", ["start", "stop", "restart"])
@pytest.mark.parametrize("cast", ["viewer", "outsider"])
def test_without_the_right_to_operate_nothing_happens(button, cast, request, client, make_process, sent):
    process = make_process()
    client.force_login(request.getfixturevalue(cast))
    response = client.post(reverse(f"process-{button}", args=["demo"]))
    process.refresh_from_db()
    assert response.status_code == 403
    assert (process.desired, process.request) == (Desired.STOPPED, Request.NONE)
    assert not AuditEvent.objects.exists()
    assert sent == []


def test_anonymous_visitor_is_sent_to_the_login(client, make_process):
    make_process()
    response = client.post(reverse("process-stop", args=["demo"]))
    assert response.status_code == 302
    assert response.url.startswith(reverse("login"))


def test_button_needs_the_csrf_token(operator, make_process):
    from django.test import Client

    make_process()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(operator)
    assert strict.post(reverse("process-start", args=["demo"])).status_code == 403


def test_a_button_opened_as_an_address_does_nothing(operator, client, make_process):
    before = make_process().desired
    client.force_login(operator)
    assert client.get(reverse("process-start", args=["demo"])).url == reverse("process", args=["demo"])
    assert ManagedProcess.objects.get(name="demo").desired == before


def test_shut_down_leaves_it_wanted_for_the_next_start(make_process, sent, pushed):
    process = make_process(desired=Desired.RUNNING)
    actions.do_shut_down(process)
    process.refresh_from_db()
    assert (process.desired, process.request) == (Desired.RUNNING, Request.STOP)
    assert AuditEvent.objects.get().actor_name == "system"


def test_wish_stays_when_the_task_cannot_be_enqueued(
    operator, make_process, pushed, monkeypatch, django_capture_on_commit_callbacks
):
    process = make_process()

    def refuse(*_arguments, **_options):
        raise ConnectionError("no Redis")

    monkeypatch.setattr(tasks.start, "apply_async", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        actions.do_start(operator, process)
    assert ManagedProcess.objects.get().request == Request.START


def test_start_of_a_process_that_is_leaving_keeps_it(make_process, sent, pushed):
    process = make_process()
    actions.do_remove(None, process)
    assert ManagedProcess.objects.get().is_leaving
    actions.do_start(None, process)
    assert not ManagedProcess.objects.get().is_leaving

"""Adding, removing and killing by plan: what each person may do, what is written, what is refused."""

import re
import stat

import pytest
from django.urls import reverse

from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.kit.common.file_lock import exclusive
from console.kit.plans.models import KeptInverse
from console.processes import tasks
from console.processes.actions import do_start
from console.processes.models import ManagedProcess, WithdrawnProcess
from console.processes.registry import forget_process
from console.processes.removal import REMOVE
from console.processes.restarts import Policy
from console.processes.states import Desired, Observed, Request
from tests.zookeeper_server import free_ports


@pytest.fixture(autouse=True)
def sent(monkeypatch, cluster) -> list[str]:
    names = []
    monkeypatch.setattr(tasks, "enqueue", lambda task, process: names.append(process.name))
    return names


@pytest.fixture
def data(settings, tmp_path):
    settings.DATA_DIR, settings.LOG_DIR = tmp_path, tmp_path / "logs"
    return tmp_path


@pytest.fixture
def form(data) -> dict:
    (port,) = free_ports(1)
    return {"broker_id": "4", "port": str(port), "rack": "east", "log_dirs": f"{data}/disk-a\n{data}/disk-b"}


def digest_of(response) -> str:
    return re.search(r'name="digest" value="(\w+)"', response.content.decode())[1]


def text_of(response) -> str:
    return response.content.decode().replace("&#x27;", "'")


def add(client, form: dict, **more):
    return client.post(reverse("process-add-broker"), form | more)


def test_broker_is_added_as_the_plan_showed_and_started(operator, client, form, data):
    client.force_login(operator)
    shown = add(client, form)
    assert "disk-a" in text_of(shown)
    assert not ManagedProcess.objects.exists()
    done = add(client, form, digest=digest_of(shown))
    assert done.url == reverse("process", args=["broker-4"])
    row = ManagedProcess.objects.get(name="broker-4")
    assert (row.desired, row.request, row.spec["rack"]) == (Desired.RUNNING, Request.START, "east")
    file = data / "broker-4" / "server.properties"
    assert f"log.dirs={data}/disk-a,{data}/disk-b" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    event = AuditEvent.objects.get()
    assert (event.action, event.object_name, event.result) == ("add broker", "broker-4", "done")
    assert event.after["broker.rack"] == "east"


def test_broker_whose_id_was_taken_meanwhile_is_refused(operator, client, form, make_process):
    client.force_login(operator)
    digest = digest_of(add(client, form))
    make_process(name="broker-4", kind="broker")
    refused = add(client, form, digest=digest)
    assert refused.status_code == 409
    assert "has changed since it was shown" in text_of(refused)
    assert AuditEvent.objects.get().result == "refused"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"broker_id": "1001"}, "less than or equal to 1000"),
        ({"log_dirs": "relative"}, "log_dirs must be an absolute path"),
        ({"log_dirs": "\n"}, "This field is required"),
    ],
)
def test_wrong_form_comes_back_with_the_reason(operator, client, form, given, sentence):
    client.force_login(operator)
    answer = add(client, form | given)
    assert answer.status_code == 422
    assert sentence in text_of(answer)


def test_directory_of_something_else_is_refused(operator, client, form, data):
    (data / "disk-a").mkdir()
    (data / "disk-a" / "letters.txt").touch()
    client.force_login(operator)
    assert "disk-a is not empty and holds nothing of a broker 4" in text_of(add(client, form))


def test_what_lies_outside_the_data_is_refused_alike_whether_it_is_there_or_not(operator, client, form):
    client.force_login(operator)
    answers = [add(client, form | {"log_dirs": path}) for path in ("/etc/shadow", "/etc/shadowX", "/etc", "/srv/new")]
    assert [answer.status_code for answer in answers] == [422] * 4
    assert all("or one of BARNABAS_LOG_ROOTS, not" in text_of(answer) for answer in answers)
    assert not any("empty" in text_of(answer) for answer in answers)


def test_a_directory_inside_another_brokers_is_refused(operator, client, form, data, make_process):
    other = {"directory": f"{data}/broker-1", "log_dirs": [f"{data}/broker-1/data"], "broker_id": 1}
    make_process(name="broker-1", kind="broker", spec=other)
    client.force_login(operator)
    for path in ("broker-1/data/mine", "broker-1/mine", "broker-1"):
        assert f"{data}/{path} belongs to broker-1" in text_of(add(client, form | {"log_dirs": f"{data}/{path}"}))


def broker(make_process, number: int, **fields):
    spec = {"broker_id": number, "port": 47_390, "rack": "", "log_dirs": ["/nowhere"]}
    return make_process(name=f"broker-{number}", kind="broker", spec=spec, **fields)


def confirm(client, address: str, name: str):
    return client.post(address, {"digest": digest_of(client.get(address)), "typed_name": name})


def test_broker_that_holds_replicas_is_not_removed(operator, client, make_process, cluster):
    cluster.create_topic("orders", 2, 3)
    broker(make_process, 2)
    client.force_login(operator)
    address = reverse("process-remove", args=["broker-2"])
    page = client.get(address)
    assert "It holds 2 replicas (orders-0, orders-1)." in text_of(page)
    assert client.post(address, {"digest": "", "typed_name": "broker-2"}).status_code == 409
    assert not ManagedProcess.objects.get().is_leaving


def test_empty_broker_is_stopped_then_forgotten_and_can_be_added_again(operator, client, make_process, data):
    broker(make_process, 4, observed=Observed.RUNNING, pid=1)
    client.force_login(operator)
    assert confirm(client, reverse("process-remove", args=["broker-4"]), "broker-4").status_code == 302
    row = ManagedProcess.objects.get()
    assert (row.is_leaving, row.desired, row.request) == (True, Desired.STOPPED, Request.STOP)
    tasks.forget_leaving(row.host)
    assert ManagedProcess.objects.exists()
    ManagedProcess.objects.update(observed=Observed.STOPPED, request=Request.NONE, pid=None)
    tasks.forget_leaving(row.host)
    assert not ManagedProcess.objects.exists()
    assert AuditEvent.objects.get().action == "remove process"
    again = client.get(reverse("process-add-broker"), {"undo": KeptInverse.objects.get().pk})
    assert 'value="47390"' in text_of(again)
    assert "/nowhere" in text_of(again)


def test_a_process_wanted_again_is_not_forgotten(operator, make_process, monkeypatch):
    row = make_process(is_leaving=True)
    forget = tasks.forget_process

    def forget_later(process: ManagedProcess) -> bool:
        do_start(operator, process)  # pressed while the reconcile was at it
        return forget(process)

    pushed = []
    monkeypatch.setattr(tasks, "forget_process", forget_later)
    monkeypatch.setattr(tasks, "push_removed", pushed.append)
    tasks.forget_leaving(row.host)
    assert ManagedProcess.objects.get().request == Request.START
    assert not WithdrawnProcess.objects.exists()
    assert pushed == []


@pytest.mark.parametrize(
    "since",
    [{"is_leaving": False}, {"request": Request.STOP}, {"pid": 1}, {"observed": Observed.RUNNING}],
    ids=lambda since: next(iter(since)),
)
def test_a_process_that_is_not_as_it_was_read_is_not_forgotten(since, make_process):
    row = make_process(is_leaving=True)
    ManagedProcess.objects.update(**since)
    assert not forget_process(row)
    assert ManagedProcess.objects.exists()
    assert not WithdrawnProcess.objects.exists()


def test_no_step_is_under_way_while_a_process_is_forgotten(make_process, settings, monkeypatch):
    row = make_process(is_leaving=True)
    forget, free = tasks.forget_process, []

    def forget_process(process: ManagedProcess) -> bool:
        with exclusive(settings.RUN_DIR / "locks" / "demo.lock", wait=False) as ours:
            free.append(ours)
        return forget(process)

    monkeypatch.setattr(tasks, "forget_process", forget_process)
    tasks.forget_leaving(row.host)
    assert free == [False]
    assert not ManagedProcess.objects.exists()


def test_removal_needs_the_name_typed(operator, client, make_process):
    make_process()
    client.force_login(operator)
    assert confirm(client, reverse("process-remove", args=["demo"]), "dem").status_code == 422
    assert not ManagedProcess.objects.get().is_leaving


def test_server_of_an_ensemble_is_not_removed_here(operator, client, make_process):
    make_process(name="zookeeper", kind="zookeeper")
    client.force_login(operator)
    page = text_of(client.get(reverse("process-remove", args=["zookeeper"])))
    assert "leaves its ensemble first" in page
    assert 'name="digest"' not in page


def test_kill_says_what_it_is_and_needs_the_name_typed(operator, client, make_process):
    make_process(observed=Observed.RUNNING, pid=4711)
    client.force_login(operator)
    address = reverse("process-kill", args=["demo"])
    page = text_of(client.get(address))
    assert "Nothing is handed over, flushed or closed" in page
    assert "kill -9 4711" in page
    assert confirm(client, address, "other").status_code == 422
    assert ManagedProcess.objects.get().request == Request.NONE
    assert confirm(client, address, "demo").status_code == 302
    assert (ManagedProcess.objects.get().request, AuditEvent.objects.get().action) == (Request.KILL, "kill process")


def test_plan_to_kill_does_not_hit_the_process_that_came_after(operator, client, make_process):
    make_process(observed=Observed.RUNNING, pid=4711)
    client.force_login(operator)
    address = reverse("process-kill", args=["demo"])
    digest = digest_of(client.get(address))
    ManagedProcess.objects.update(pid=4712)
    assert client.post(address, {"digest": digest, "typed_name": "demo"}).status_code == 409
    assert ManagedProcess.objects.get().request == Request.NONE


@pytest.mark.parametrize(("button", "policy"), [("never", Policy.NEVER), ("always", Policy.ALWAYS)])
def test_operator_says_whether_it_is_restarted_by_itself(button, policy, operator, client, make_process):
    make_process()
    client.force_login(operator)
    client.post(reverse(f"process-restart-{button}", args=["demo"]))
    assert ManagedProcess.objects.get().restart == policy
    assert AuditEvent.objects.get().after == {"restart": policy}


@pytest.mark.parametrize("cast", ["viewer", "outsider"])
@pytest.mark.parametrize("page", ["process-kill", "process-remove", "process-restart-never", "process-restart-always"])
def test_without_the_right_to_operate_nothing_changes(page, cast, request, client, make_process):
    make_process(observed=Observed.RUNNING, pid=4711)
    client.force_login(request.getfixturevalue(cast))
    assert client.post(reverse(page, args=["demo"]), {"typed_name": "demo"}).status_code == 403
    row = ManagedProcess.objects.get()
    assert (row.request, row.restart, row.is_leaving) == (Request.NONE, Policy.ALWAYS, False)


@pytest.fixture
def limited(operator, client):
    """A browser of an operator who has nothing to do with broker-4."""
    NameRule.objects.create(user=operator, resource="process", pattern="broker-4", level="nothing")
    client.force_login(operator)
    return client


def test_no_broker_is_added_by_who_may_do_nothing_with_one_of_its_name(limited, form):
    assert add(limited, form).status_code == 403
    assert add(limited, form, digest="x").status_code == 403
    assert add(limited, form | {"broker_id": "5"}).status_code == 200
    assert not ManagedProcess.objects.exists()


def test_broker_that_was_removed_is_offered_again_only_to_who_may_add_it(limited, data):
    spec = {"broker_id": 4, "port": 47_390, "rack": "", "log_dirs": ["/nowhere"]}
    kept = KeptInverse.objects.create(
        action=REMOVE, object_type="process", object_name="broker-4", values={"kind": "broker", "spec": spec}
    )
    address = reverse("process-add-broker")
    assert "broker-4" not in text_of(limited.get(address))
    assert "/nowhere" not in text_of(limited.get(address, {"undo": kept.pk}))
    NameRule.objects.all().delete()
    assert "broker-4" in text_of(limited.get(address))
    assert "/nowhere" in text_of(limited.get(address, {"undo": kept.pk}))


@pytest.mark.parametrize("cast", ["viewer", "outsider"])
def test_without_the_right_to_operate_no_broker_is_added(cast, request, client, form):
    client.force_login(request.getfixturevalue(cast))
    assert add(client, form).status_code == 403


def test_viewer_sees_four_truths_and_no_buttons_that_work(viewer, client, make_process):
    make_process(port_says="port 9092 answers", cluster_says="it is registered in ZooKeeper", restart_count=2)
    client.force_login(viewer)
    page = text_of(client.get(reverse("process", args=["demo"])))
    for text in ("Wanted", "port 9092 answers", "it is registered in ZooKeeper", "2 times", "Auto-restart: on"):
        assert text in page
    assert "hx-post" not in page
    assert reverse("process-kill", args=["demo"]) not in page

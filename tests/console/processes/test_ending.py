"""Stop, restart and kill: what each asks before, and what is done with the answer when the cluster has moved on."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from console.ecosystem.connectors.models import Connector
from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.processes import tasks
from console.processes.consequences import consequence_of
from console.processes.ending import KILL, STOP, ending_plan
from console.processes.kinds import KINDS
from console.processes.models import ManagedProcess
from console.processes.states import Desired, Observed, Request
from console.state.clusters.models import Broker, ClusterState, Partition, Topic
from console.state.consumers.models import ConsumerGroup, GroupPartition
from tests.console.confirming import digest_in

HTMX = {"hx-request": "true"}


@pytest.fixture(autouse=True)
def sent(monkeypatch) -> list[tuple[str, str]]:
    """Tasks that were enqueued, by name and process."""
    collected = []
    monkeypatch.setattr(tasks, "enqueue", lambda task, process: collected.append((task.__name__, process.name)))
    return collected


@pytest.fixture
def brokers(db, settings) -> ClusterState:
    """Three that run, 1 the controller; 62 partitions with three replicas, two of them needed, and emoji.zoo-0."""
    for number in (1, 2, 3):
        Broker.objects.create(broker_id=number)
        ManagedProcess.objects.create(
            name=f"broker-{number}",
            kind="broker",
            host=settings.HOST_NAME,
            observed=Observed.RUNNING,
            state="healthy",
            desired=Desired.RUNNING,
            pid=4_000 + number,
            started_at=timezone.now() - timedelta(hours=1),
        )
    orders = Topic.objects.create(name="orders", min_insync_replicas=2)
    Partition.objects.bulk_create(
        Partition(topic=orders, partition=number, leader=1 + number % 3, replicas=[1, 2, 3], isr=[1, 2, 3])
        for number in range(62)
    )
    return ClusterState.objects.create(
        name=DEFAULT_CLUSTER, controller_id=1, topics_at_ms=now_ms(), brokers_at_ms=now_ms()
    )


def add_zoo() -> None:
    zoo = Topic.objects.create(name="emoji.zoo", min_insync_replicas=2)
    Partition.objects.create(topic=zoo, partition=0, leader=1, replicas=[1, 2], isr=[1, 2])


def ask(client, action: str, name="broker-2"):
    if action == "kill":
        return client.get(reverse("process-kill", args=[name]))
    return client.get(reverse("process-question", args=[name, action]))


def answer(client, action: str, shown, typed="", name="broker-2"):
    address = reverse(f"process-{action}", args=[name])
    return client.post(address, {"digest": digest_in(shown), "typed_name": typed}, headers=HTMX)


def wish(name="broker-2") -> str:
    return ManagedProcess.objects.get(name=name).request


@pytest.mark.parametrize("action", ["stop", "restart"])
def test_with_every_replica_in_sync_one_click_is_enough(
    action, brokers, operator, client, sent, django_capture_on_commit_callbacks
):
    client.force_login(operator)
    shown = ask(client, action)
    assert "62 partitions" not in str(shown.context["plan"].losses)
    assert 'name="typed_name"' not in shown.content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        assert answer(client, action, shown).content == b""
    assert (wish(), sent) == (action, [(action, "broker-2")])
    event = AuditEvent.objects.get()
    assert (event.actor, event.action, event.object_name, event.result) == (operator, action, "broker-2", "done")


@pytest.mark.parametrize("action", ["stop", "restart", "kill"])
def test_with_a_broker_down_the_next_is_ended_only_with_its_name_typed(action, brokers, operator, client):
    ManagedProcess.objects.filter(name="broker-3").update(observed=Observed.STOPPED, pid=None)
    client.force_login(operator)
    shown = ask(client, action)
    page = shown.content.decode()
    assert "62 partitions fall below min.insync.replicas, and producers with acks=all are refused there" in page
    assert "orders-0, orders-1, orders-2 and 59 more" in page
    assert "Broker 3 is away already." in page
    refused = answer(client, action, shown)
    assert (refused.status_code, wish()) == (422, Request.NONE)
    assert "type the name exactly, broker-2" in refused.content.decode()
    assert answer(client, action, shown, typed="broker-2").status_code == 200
    assert wish() == action


@pytest.mark.parametrize("action", ["stop", "restart", "kill"])
def test_a_partition_that_needs_all_its_replicas_is_named_though_all_are_up(action, brokers, operator, client):
    add_zoo()
    client.force_login(operator)
    for name in ("broker-1", "broker-2"):
        shown = ask(client, action, name)
        assert "1 partition falls below min.insync.replicas" in shown.content.decode()
        assert "emoji.zoo-0" in shown.content.decode()
        assert shown.context["plan"].typed_name == name
    assert "emoji.zoo-0" not in ask(client, action, "broker-3").content.decode()


@pytest.mark.parametrize("action", ["stop", "restart"])
def test_a_broker_that_went_since_the_question_makes_another_question_of_it(action, brokers, operator, client):
    client.force_login(operator)
    shown = ask(client, action)
    ManagedProcess.objects.filter(name="broker-3").update(request=Request.STOP)  # somebody else was quicker
    refused = answer(client, action, shown, typed="broker-2")
    assert (refused.status_code, wish()) == (409, Request.NONE)
    assert "62 partitions fall below" in refused.content.decode()
    assert 'role="alertdialog"' in refused.content.decode()
    assert AuditEvent.objects.get().result == "refused"


def test_an_isr_that_shrank_since_the_question_makes_another_question_of_it(brokers, operator, client):
    client.force_login(operator)
    shown = ask(client, "stop")
    Partition.objects.filter(partition=7).update(isr=[1, 2])
    assert answer(client, "stop", shown).status_code == 409
    assert wish() == Request.NONE


@pytest.mark.parametrize("old", [{"topics_at_ms": 1}, {"brokers_at_ms": 0}, {"topics_error": "No broker answered."}])
def test_what_is_not_known_now_is_said_and_its_name_typed(old, brokers, operator, client):
    ClusterState.objects.update(**old)
    client.force_login(operator)
    shown = ask(client, "stop")
    assert answer(client, "stop", shown).status_code == 422
    assert shown.context["plan"].losses
    assert answer(client, "stop", shown, typed="broker-2").status_code == 200


def test_the_process_that_came_after_is_another(brokers, operator, client):
    client.force_login(operator)
    shown = ask(client, "stop")
    ManagedProcess.objects.filter(name="broker-2").update(pid=9_999)
    assert answer(client, "stop", shown).status_code == 409
    assert wish() == Request.NONE


def test_controller_and_coordinators_are_told(brokers, operator, client):
    offsets = Topic.objects.create(name="__consumer_offsets", is_internal=True, min_insync_replicas=1)
    Partition.objects.create(topic=offsets, partition=0, leader=1, replicas=[1, 2, 3], isr=[1, 2, 3])
    ConsumerGroup.objects.create(name="billing", state="Stable", coordinator=1, verdict="ok")
    client.force_login(operator)
    page = ask(client, "stop", "broker-1").content.decode()
    assert "It is the controller" in page
    assert "with 1 group (billing)" in page
    assert "controller" not in ask(client, "stop", "broker-3").content.decode()


def test_names_beyond_the_reach_of_who_asks_are_counted_only(brokers, operator, client):
    add_zoo()
    ConsumerGroup.objects.create(name="billing", state="Stable", coordinator=1, verdict="ok")
    for resource in ("topic", "group"):
        NameRule.objects.create(user=operator, resource=resource, pattern="*", level="nothing")
    client.force_login(operator)
    page = ask(client, "stop", "broker-1").content.decode()
    assert "1 partition falls below min.insync.replicas" in page
    assert "1 group" in page
    assert "emoji" not in page
    assert "billing" not in page


def test_without_script_the_plan_is_a_page_and_its_answer_leads_back(brokers, operator, client):
    client.force_login(operator)
    address = reverse("process-stop", args=["broker-2"])
    shown = client.get(address)
    assert "<h1>Stop broker-2</h1>" in shown.content.decode()
    assert client.post(address, {"digest": "another"}).status_code == 409
    done = client.post(address, {"digest": digest_in(shown)})
    assert (done.status_code, done.url) == (302, reverse("process", args=["broker-2"]))


def test_one_that_waits_to_be_started_again_can_be_told_to_stay_stopped(brokers, operator, client):
    waiting = {"observed": Observed.EXITED, "pid": None, "start_again_at": timezone.now()}
    ManagedProcess.objects.filter(name="broker-2").update(**waiting)
    client.force_login(operator)
    shown = ask(client, "stop")
    assert "It does not run now" in shown.content.decode()
    assert answer(client, "stop", shown).status_code == 200
    assert wish() == Request.STOP


def client_process(name: str, kind: str, properties: dict, settings, **fields) -> ManagedProcess:
    spec = {"directory": str(settings.DATA_DIR / name), "properties": properties}
    return ManagedProcess.objects.create(
        name=name, kind=kind, host=settings.HOST_NAME, spec=spec, observed=Observed.RUNNING, pid=77, **fields
    )


@pytest.fixture
def pipeline(db, settings, tmp_path) -> None:
    """demo writes console.access, counts reads it and writes counts.out, which the group readers reads."""
    settings.DATA_DIR = tmp_path
    client_process("demo", "connect", {}, settings)
    for name, topic in (("access", "console.access"), ("metrics", "host.metrics")):
        Connector.objects.create(name=name, kind="source", state="RUNNING", topics=[topic])
    job = {"job": "windowed_counts", "input.topic": "console.access", "output.topic": "counts.out"}
    client_process("counts", "stream", job, settings)
    group = ConsumerGroup.objects.create(name="readers", state="Stable", coordinator=1, verdict="ok")
    GroupPartition.objects.create(group=group, topic="counts.out", partition=0, committed=3, verdict="ok")


def test_stopping_a_source_names_what_hangs_on_it(pipeline, operator, client):
    client.force_login(operator)
    page = ask(client, "stop", "demo").content.decode()
    assert "access, metrics stand still meanwhile." in page
    assert "Nothing new comes to console.access, host.metrics meanwhile." in page
    assert "counts reads what it writes, and will wait." in page
    shown = ask(client, "stop", "counts")
    assert "readers reads what it writes." in shown.content.decode()
    assert answer(client, "stop", shown, name="counts").status_code == 200


def test_a_job_that_came_since_makes_another_question_of_it(pipeline, operator, client, settings):
    client.force_login(operator)
    shown = ask(client, "stop", "demo")
    client_process("own", "stream", {"job": "mine", "input.topic": "host.metrics"}, settings)
    assert answer(client, "stop", shown, name="demo").status_code == 409


@pytest.mark.parametrize(
    ("topic", "sentence"),
    [
        ("console.access", "Stream job counts reads it and is running: stop it first"),
        ("console.access", "Connector access writes it and is running: stop it first"),
        ("counts.out", "Stream job counts writes it and is running: stop it first"),
    ],
)
def test_deleting_a_topic_names_the_jobs_and_connectors_that_use_it(topic, sentence, pipeline, operator, client):
    Topic.objects.create(name=topic)
    client.force_login(operator)
    assert sentence in client.get(reverse("topic-delete", args=[topic])).content.decode()


def test_deleting_a_topic_counts_the_processes_beyond_reach_and_names_none(pipeline, operator, client):
    Topic.objects.create(name="console.access")
    NameRule.objects.create(user=operator, resource="process", pattern="*", level="nothing")
    client.force_login(operator)
    page = client.get(reverse("topic-delete", args=["console.access"])).content.decode()
    assert "Connector access" not in page
    assert "counts" not in page
    assert "A process that your rights do not reach reads it and is running" in page
    assert "A process that your rights do not reach writes it and is running" in page


def test_deleting_a_topic_names_what_does_not_run_now_too(pipeline, operator, client):
    Topic.objects.create(name="console.access")
    ManagedProcess.objects.filter(name="counts").update(pid=None)
    Connector.objects.filter(name="access").update(state="PAUSED")
    client.force_login(operator)
    page = client.get(reverse("topic-delete", args=["console.access"])).content.decode()
    assert "Stream job counts reads it; it is not running, and fails without its topic when it is." in page
    assert "Connector access writes it; it is not running" in page


@pytest.mark.parametrize("kind", [kind for kind in ManagedProcess.Kind.values if kind != "broker"])
def test_only_an_end_that_the_guard_judged_is_called_safe(db, settings, kind):
    process = ManagedProcess.objects.create(name=f"{kind}-9", kind=kind, host=settings.HOST_NAME, pid=1)
    plan = ending_plan(STOP, process, consequence_of(process))
    assert plan.touches[0] == KINDS[kind].STOP_MEANS
    assert plan.safe_because == ""


def test_the_end_of_a_broker_that_others_replace_is_safe_and_its_kill_is_not(brokers):
    process = ManagedProcess.objects.get(name="broker-2")
    assert ending_plan(STOP, process, consequence_of(process)).safe_because
    assert ending_plan(KILL, process, consequence_of(process)).safe_because == ""
    add_zoo()
    assert ending_plan(STOP, process, consequence_of(process)).safe_because == ""


@pytest.mark.parametrize(("errors", "is_safe"), [(0, True), (2, False)], ids=["quorum", "no quorum before"])
def test_the_end_of_a_zookeeper_is_safe_only_while_the_others_are_a_quorum(db, settings, errors, is_safe):
    modes = ["follower"] * (3 - errors) + [""] * errors
    servers = [
        {"address": f"127.0.0.1:{2181 + number}", "mode": mode, "error": "" if mode else "down"}
        for number, mode in enumerate(modes)
    ]
    ClusterState.objects.create(name=DEFAULT_CLUSTER, zookeeper=servers, zookeeper_at_ms=now_ms())
    process = ManagedProcess.objects.create(
        name="zookeeper-3", kind="zookeeper", host=settings.HOST_NAME, pid=1, ports=[2183]
    )
    assert bool(ending_plan(STOP, process, consequence_of(process)).safe_because) is is_safe


def test_a_restart_under_a_replication_throttle_is_not_called_safe(brokers):
    process = ManagedProcess.objects.get(name="broker-3")
    assert ending_plan("restart", process, consequence_of(process)).safe_because
    ClusterState.objects.update(throttled_brokers={"broker-3": 1_000}, throttled_topics=["orders"])
    plan = ending_plan("restart", process, consequence_of(process))
    assert not plan.safe_because
    throttle = plan.touches[0].replace("\u202f", " ")
    assert throttle.startswith("A replication throttle of 1 KB/s is set: replicas of orders")
    other = ManagedProcess.objects.get(name="broker-2")
    assert ending_plan("restart", other, consequence_of(other)).safe_because

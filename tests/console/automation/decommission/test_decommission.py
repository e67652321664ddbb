"""A broker leaves: planned, drained by the cluster itself, stopped, forgotten; and what is in its way."""

import re

import pytest
from django.utils import timezone

from console.automation.decommission import advance as advancing
from console.automation.decommission.advance import advance
from console.automation.decommission.models import Decommission
from console.cluster.placement.arriving import SEEN_WITHIN, arriving_replicas
from console.cluster.placement.models import OngoingMove, Reassignment
from console.kit.audit.models import AuditEvent
from console.kit.operations import rows
from console.kit.operations.actions import do_call_off
from console.processes import tasks
from console.processes.models import ManagedProcess
from console.processes.registry import forget_process
from console.processes.states import Desired
from console.signals.overview.queries import overview_facts
from console.state.clusters.models import Broker, ClusterState, Partition
from console.state.consumers.models import ConsumerGroup
from console.state.history.models import Change

ADDRESS = "/processes/+decommission/broker-3/"
State = Decommission.State


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch, clock):
    monkeypatch.setattr(tasks, "enqueue", lambda task, process: None)
    monkeypatch.setattr(advancing, "now_ms", clock.now_ms)


@pytest.fixture
def broker(cluster, collect, settings) -> ManagedProcess:
    """Broker 3 of three; each of six partitions has two replicas, so that two brokers can hold them all."""
    cluster.create_topic("orders", 6, 2)
    collect()
    running = {"observed": "running", "desired": "running", "pid": 1, "host": settings.HOST_NAME}
    return ManagedProcess.objects.create(name="broker-3", kind="broker", spec={"broker_id": 3}, **running)


def held(cluster) -> list[str]:
    return [
        f"{topic.name}-{partition.partition}"
        for topic in cluster.describe_topics()
        for partition in topic.partitions
        if 3 in partition.replicas
    ]


def begin(client, name: str = "broker-3"):
    digest = re.search(r'name="digest" value="(\w+)"', client.get(ADDRESS).content.decode())[1]
    return client.post(ADDRESS, {"digest": digest, "typed_name": name, "throttle": ""})


def step() -> Decommission:
    """One beat."""
    advance(Decommission.objects.get())
    return Decommission.objects.get()


def test_broker_is_drained_then_stopped_then_forgotten(broker, cluster, collect, operator, client_of):
    client = client_of(operator)
    assert len(held(cluster)) == 4
    assert begin(client).status_code == 302
    assert "Moves away what is still there: 4 partitions." in step().sentence
    moving = list(cluster.moves.under_way())
    assert len(moving) == 4
    collect()
    assert step().sentence == "0 of 4 partitions have left it; the others are being reassigned."
    assert ManagedProcess.objects.get().desired == Desired.RUNNING
    cluster.moves.arrive(*moving)
    collect()
    assert held(cluster) == []
    assert step().word == "stopping"
    row = ManagedProcess.objects.get()
    assert (row.desired, row.is_leaving) == (Desired.STOPPED, True)
    row.delete()
    done = step()
    assert (done.state, done.left) == (State.DONE, 0)
    assert done.ended_at is not None
    actions = list(AuditEvent.objects.order_by("id").values_list("action", flat=True))
    assert actions[0] == "drain and remove broker"
    assert actions[-2:] == ["remove", "finish decommission"]


def test_broker_is_not_stopped_while_the_cluster_itself_says_it_holds_replicas(
    broker, cluster, collect, operator, client_of
):
    begin(client_of(operator))
    step()
    cluster.moves.arrive(*cluster.moves.under_way())
    collect()
    cluster.create_topic("late", 3, 2)  # the collector has not seen it yet
    assert step().state == State.RUNNING
    assert "still holds" in Decommission.objects.get().sentence
    assert ManagedProcess.objects.get().desired == Desired.RUNNING
    collect()
    assert "Moves away what is still there" in step().sentence


def test_decommission_without_room_elsewhere_is_refused(broker, cluster, collect, operator, client_of):
    cluster.create_topic("wide", 1, 3)
    collect()
    page = client_of(operator).get(ADDRESS).content.decode()
    assert "Nowhere to go for wide-0" in page
    assert 'name="digest"' not in page


def test_decommission_out_of_room_pauses_and_goes_on_when_resumed(broker, cluster, collect, operator, client_of):
    client = client_of(operator)
    begin(client)
    step()
    cluster.moves.arrive(*cluster.moves.under_way())
    cluster.create_topic("wide", 1, 3)
    collect()
    paused = step()
    assert paused.state == State.PAUSED
    assert "1 partition cannot move elsewhere" in paused.sentence
    cluster.delete_topic("wide")
    collect()
    client.post(f"{ADDRESS}resume")
    assert step().word == "stopping"


def test_decommission_called_off_leaves_the_broker_running(broker, cluster, collect, operator, client_of):
    client = client_of(operator)
    begin(client)
    step()
    client.post(f"{ADDRESS}call-off")
    cluster.moves.arrive(*cluster.moves.under_way())
    collect()
    assert step().state == State.CALLED_OFF
    assert ManagedProcess.objects.get().desired == Desired.RUNNING
    assert AuditEvent.objects.filter(action="call off decommission").exists()


def called_off_while(question: str, operator, monkeypatch) -> None:
    """The operator presses the button while the beat waits for the cluster's answer to `question`."""
    ask = getattr(advancing, question)

    def answer(*arguments):
        do_call_off(operator, Decommission.objects.get())
        return ask(*arguments)

    monkeypatch.setattr(advancing, question, answer)


def test_decommission_called_off_while_the_cluster_is_asked_removes_nothing(
    broker, cluster, collect, operator, client_of, monkeypatch
):
    begin(client_of(operator))
    step()
    cluster.moves.arrive(*cluster.moves.under_way())
    collect()
    called_off_while("replicas_of", operator, monkeypatch)
    decommission = step()
    assert (decommission.state, decommission.sentence) == (State.CALLED_OFF, "Called off.")
    row = ManagedProcess.objects.get()
    assert (row.desired, row.is_leaving) == (Desired.RUNNING, False)
    assert not AuditEvent.objects.filter(action="remove").exists()


@pytest.mark.parametrize("question", ["drain_proposal", "planned"])
def test_decommission_called_off_while_the_cluster_is_asked_moves_nothing(
    question, broker, cluster, operator, client_of, monkeypatch
):
    begin(client_of(operator))
    called_off_while(question, operator, monkeypatch)
    assert step().state == State.CALLED_OFF
    assert cluster.moves.under_way() == {}
    assert not Reassignment.objects.exists()


def test_broker_and_decommission_are_written_together(broker, cluster, collect, operator, client_of, monkeypatch):
    begin(client_of(operator))
    step()
    cluster.moves.arrive(*cluster.moves.under_way())
    collect()
    monkeypatch.setattr(rows, "push_operation", lambda operation: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        step()
    assert Decommission.objects.get().state == State.RUNNING
    assert ManagedProcess.objects.get().desired == Desired.RUNNING


def test_cluster_that_does_not_answer_is_waited_for(broker, cluster, operator, client_of):
    begin(client_of(operator))
    cluster.cut_off()
    waiting = step()
    assert waiting.state == State.RUNNING
    assert waiting.sentence.startswith("Waits: ")


def test_decommission_begins_once_and_needs_the_name_typed(broker, operator, client_of):
    client = client_of(operator)
    assert begin(client, "broker-2").status_code == 422
    assert not Decommission.objects.exists()
    begin(client)
    assert client.post(ADDRESS, {"digest": "", "typed_name": "broker-3"}).status_code == 200
    assert Decommission.objects.count() == 1


@pytest.mark.parametrize("cast", ["viewer", "outsider"])
def test_without_the_right_to_operate_no_broker_leaves(cast, broker, request, client_of):
    client = client_of(request.getfixturevalue(cast))
    assert client.post(ADDRESS, {"digest": "", "typed_name": "broker-3"}).status_code == 403
    Decommission.objects.create(name="broker-3", broker_id=3)
    for action in ("resume", "call-off"):
        assert client.post(f"{ADDRESS}{action}").status_code == 403
    assert Decommission.objects.get().state == State.RUNNING


def test_progress_stands_on_the_page_of_the_process(broker, viewer, client_of):
    Decommission.objects.create(name="broker-3", broker_id=3, held=4, left=1, sentence="On its way.", actor_name="olga")
    page = client_of(viewer).get("/processes/broker-3/").content.decode()
    for text in ("On its way.", "3 of 4 partitions moved away", "olga"):
        assert text in page


def test_page_of_what_is_no_broker_is_not_found(broker, operator, client_of):
    ManagedProcess.objects.create(name="demo", kind="connect")
    assert client_of(operator).get("/processes/+decommission/demo/").status_code == 404


def test_partitions_that_were_last_seen_on_the_move_are_not_moved_again(broker, cluster, collect, operator, client_of):
    begin(client_of(operator))
    step()
    collect()
    moving = list(cluster.moves.under_way())
    on_the_move = [partition for _, partition in moving]
    Partition.objects.filter(partition__in=on_the_move).update(replicas=[1, 2, 3])
    cluster.moves.arrive(*moving)
    Reassignment.objects.update(state=Reassignment.State.DONE)
    OngoingMove.objects.all().delete()

    assert step().sentence == "Waits for the next look at the partitions."
    assert cluster.moves.under_way() == {}
    assert {len(assignment) for assignment in cluster.moves.assignments(["orders"]).values()} == {2}
    collect()
    assert step().word == "stopping"


def alarms() -> list[str]:
    return [reason.text for reason in overview_facts()["health"].reasons]


def test_drain_ends_on_a_page_that_says_so(broker, cluster, collect, operator, client_of):
    client = client_of(operator)
    begin(client)
    step()
    cluster.moves.arrive(*cluster.moves.under_way())
    collect()
    step()
    broker.refresh_from_db()
    assert forget_process_now(broker)
    for _ in range(2):  # before and after the beat that sees that it has gone
        page = client.get(ADDRESS)
        assert page.status_code == 200
        assert 'id="decommission-broker-3"' in page.content.decode()
        step()
    text = client.get(ADDRESS).content.decode()
    assert "It has been stopped and is not managed here any more; its files stay." in text
    assert 'data-state="done"' in text
    assert client.post(f"{ADDRESS}resume").status_code == 404
    gone = client.get("/processes/broker-3/")
    assert gone.status_code == 404
    assert "broker-3 was removed here" in gone.content.decode()
    ManagedProcess.objects.create(name="broker-3", kind="broker", spec={"broker_id": 3})
    assert "Drain and remove" in client.get(ADDRESS).content.decode()


def forget_process_now(broker: ManagedProcess) -> bool:
    """What the reconcile does once it has stopped."""
    ManagedProcess.objects.filter(pk=broker.pk).update(observed="stopped", request="", pid=None)
    return forget_process(broker)


def test_a_drain_from_its_first_copy_to_the_end_raises_no_alarm(
    broker, cluster, collector, collect, operator, client_of
):
    begin(client_of(operator))
    step()
    collector.collect_topics()  # the moves themselves have not been looked at yet
    assert alarms() == []
    collect()
    assert alarms() == []
    assert overview_facts()["totals"]["under_replicated"] == 0
    assert sum(Broker.objects.values_list("out_of_sync_count", flat=True)) == 0
    assert sum(Broker.objects.values_list("copying_count", flat=True)) == 4
    cluster.moves.arrive(*cluster.moves.under_way())
    collect()
    step()
    assert ManagedProcess.objects.get().is_leaving
    cluster.stop_broker(3)
    collect()
    assert alarms() == []
    assert not Broker.objects.filter(broker_id=3).exists()
    assert "left the cluster, as planned" in Change.objects.get(kind="broker", object_name="broker-3").sentence


def test_a_replica_that_falls_out_while_others_are_copied_is_an_alarm(broker, cluster, collect, operator, client_of):
    begin(client_of(operator))
    step()
    collect()
    cluster.stop_broker(1)
    collect()
    assert any("under-replicated" in alarm or "no leader" in alarm for alarm in alarms())


def test_a_move_that_was_asked_for_long_ago_and_is_not_seen_hides_nothing(
    broker, cluster, collect, operator, client_of
):
    begin(client_of(operator))
    step()
    OngoingMove.objects.all().delete()
    assert len(arriving_replicas()) == 4
    Reassignment.objects.update(began_at=timezone.now() - 2 * SEEN_WITHIN)
    assert arriving_replicas() == {}


def test_the_plan_counts_the_partitions_by_which_the_broker_coordinates_groups(
    broker, cluster, collect, operator, client_of
):
    cluster.create_topic("__consumer_offsets", 3, 2)
    for partition in range(3):
        cluster.move_leader("__consumer_offsets", partition, 3)
    collect()
    ConsumerGroup.objects.create(name="billing", state="Empty", coordinator=3, verdict="ok")
    offices = client_of(operator).get(ADDRESS).context["plan"].touches
    assert any(
        "coordinator of 2 partitions of __consumer_offsets, with 1 group (billing)" in office for office in offices
    )


def test_the_plan_says_which_offices_the_broker_has(broker, collect, operator, client_of):
    ClusterState.objects.update(controller_id=3)
    assert "It is the controller" in client_of(operator).get(ADDRESS).content.decode()


def test_nothing_moves_in_the_name_of_who_may_not_any_more(broker, cluster, operator, administrator, client_of):
    begin(client_of(operator))
    operator.groups.clear()
    paused = step()
    assert paused.state == State.PAUSED
    assert "operator has lost the right to this" in paused.sentence
    assert cluster.moves.under_way() == {}
    client_of(administrator).post(f"{ADDRESS}resume")
    step()
    assert len(cluster.moves.under_way()) == 4

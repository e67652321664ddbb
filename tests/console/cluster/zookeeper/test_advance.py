"""A change of the ensemble goes on from beat to beat, whoever dies in between."""

from datetime import timedelta

import pytest
from django.utils import timezone

from console.cluster.zookeeper.actions import do_call_off, do_change_ensemble
from console.cluster.zookeeper.advance import advance
from console.cluster.zookeeper.change_views import plan_now
from console.cluster.zookeeper.ensemble import EnsembleChangeKind
from console.cluster.zookeeper.models import EnsembleChange
from console.kit.audit.models import AuditEvent
from console.kit.gateway.zookeeper.interface import NoQuorumError, NotAllowedError, ZooKeeperUnreachableError
from console.processes.models import ManagedProcess
from console.processes.states import Observed
from tests.console.confirming import confirmation_of


@pytest.fixture
def begin(operator):
    def make(kind: EnsembleChangeKind, replaced: int | None = None) -> EnsembleChange:
        planned = plan_now(kind, replaced)
        do_change_ensemble(operator, planned, confirmation_of(planned.plan, operator))
        return EnsembleChange.objects.get(state="running")

    return make


def beat() -> EnsembleChange:
    """As the task does: the row is read anew."""
    change = EnsembleChange.objects.latest("pk")
    advance(change)
    change.refresh_from_db()
    return change


def forget_stopped() -> None:
    """What the step of a process does when it has stopped."""
    ManagedProcess.objects.filter(is_leaving=True).delete()


def servers() -> list[str]:
    return list(ManagedProcess.objects.filter(kind="zookeeper", is_leaving=False).values_list("name", flat=True))


def serve(fake, *ports: int) -> None:
    for port in ports:
        fake.serve(("127.0.0.1", port))


def test_growing_starts_waits_changes_the_members_and_tells_the_brokers(managed, begin):
    fake = managed(1)
    begin(EnsembleChangeKind.GROW)

    assert beat().sentence == "Starts servers 2 and 3."
    assert servers() == ["zookeeper", "zookeeper-2", "zookeeper-3"]
    joiner = ManagedProcess.objects.get(name="zookeeper-2")
    assert (joiner.desired, joiner.request) == ("running", "start")
    assert joiner.spec["join"] == [fake.ensemble().members[0].line]
    assert "Waits until servers 2 and 3" in beat().sentence
    assert fake.ensemble().numbers == {1}
    serve(fake, 2182, 2183)
    beat()
    assert fake.ensemble().numbers == {1, 2, 3}
    beat()
    broker = ManagedProcess.objects.get(name="broker-1")
    assert broker.spec["zookeeper"] == "127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183"
    change = beat()
    assert (change.state, change.sentence) == ("done", "Done: the ensemble is servers 1, 2 and 3.")
    assert [word for _, word in change.steps] == ["done"] * 4


def test_the_brokers_file_is_written_too(managed, begin, tmp_path):
    fake = managed(1)
    begin(EnsembleChangeKind.GROW)
    beat()
    serve(fake, 2182, 2183)
    for _ in range(3):
        beat()
    text = (tmp_path / "broker-1" / "server.properties").read_text()
    assert "zookeeper.connect=127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183" in text


def test_shrinking_changes_the_members_before_it_stops_anybody(managed, begin):
    fake = managed(3)
    begin(EnsembleChangeKind.SHRINK)
    beat()
    assert fake.ensemble().numbers == {1}
    assert len(servers()) == 3
    beat()
    beat()
    assert servers() == ["zookeeper"]
    assert ManagedProcess.objects.filter(is_leaving=True, desired="stopped").count() == 2
    assert beat().state == "running"
    forget_stopped()
    assert beat().state == "done"


def test_replacing_swaps_both_in_one_step(managed, begin):
    fake = managed(3)
    begin(EnsembleChangeKind.REPLACE, 2)
    beat()
    serve(fake, 2184)
    version = fake.ensemble().version
    beat()
    assert fake.ensemble().numbers == {1, 3, 4}
    assert fake.ensemble().version == version + 1


def test_a_worker_that_died_after_the_reconfig_was_answered_loses_nothing(managed, begin, monkeypatch):
    fake = managed(1)
    begin(EnsembleChangeKind.GROW)
    beat()
    serve(fake, 2182, 2183)
    with monkeypatch.context() as dying:
        dying.setattr("console.cluster.zookeeper.advance.settle", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            beat()
    beat()
    assert beat().state == "done"


def test_a_refused_reconfig_is_tried_again(managed, begin):
    fake = managed(1)
    begin(EnsembleChangeKind.GROW)
    beat()
    serve(fake, 2182, 2183)
    fake.refuse_next(NoQuorumError("Too few of the new members are in sync with the leader yet."))
    change = beat()
    assert "Too few of the new members" in change.sentence
    assert change.can_be_called_off
    beat()
    assert fake.ensemble().numbers == {1, 2, 3}


def test_a_reconfig_the_console_may_not_do_says_so(managed, begin):
    fake = managed(1)
    begin(EnsembleChangeKind.GROW)
    beat()
    serve(fake, 2182, 2183)
    fake.refuse_next(NotAllowedError("The ensemble does not take the console's password."))
    assert "does not take the console's password" in beat().sentence


def test_a_reconfig_whose_answer_was_lost_cannot_be_called_off(managed, begin, operator):
    fake = managed(1)
    begin(EnsembleChangeKind.GROW)
    beat()
    serve(fake, 2182, 2183)
    fake.refuse_next(ZooKeeperUnreachableError("Whether the ensemble has changed is not known."))
    change = beat()
    assert "is not known" in change.sentence
    assert not do_call_off(operator, change)
    beat()
    assert fake.ensemble().numbers == {1, 2, 3}


def test_a_lost_reconfig_is_given_up_for_lost_after_a_while(managed, begin, operator):
    fake = managed(1)
    begin(EnsembleChangeKind.GROW)
    beat()
    serve(fake, 2182, 2183)
    fake.refuse_next(ZooKeeperUnreachableError("Whether the ensemble has changed is not known."))
    beat()
    EnsembleChange.objects.update(asked_at=timezone.now() - timedelta(minutes=2))
    fake.refuse_next(NoQuorumError("Too few of the new members are in sync."))
    assert do_call_off(operator, beat())


def test_calling_off_removes_the_new_servers_and_leaves_the_members(managed, begin, operator):
    fake = managed(1)
    begin(EnsembleChangeKind.GROW)
    assert do_call_off(operator, beat())
    beat()
    assert servers() == ["zookeeper"]
    forget_stopped()
    change = beat()
    assert (change.state, change.sentence) == ("called off", "Called off: the ensemble is server 1, as before.")
    assert fake.ensemble().numbers == {1}
    assert "call off change of ensemble" in AuditEvent.objects.values_list("action", flat=True)


def test_a_new_server_that_ended_is_told_with_its_reason(managed, begin):
    managed(1)
    begin(EnsembleChangeKind.GROW)
    beat()
    ended = {"observed": Observed.EXITED.value, "request": "", "sentence": "exited: a port is taken"}
    ManagedProcess.objects.filter(name="zookeeper-2").update(**ended)
    assert "Server 2 does not run: exited: a port is taken" in beat().sentence


def test_a_silent_ensemble_is_waited_for(managed, begin):
    fake = managed(1)
    begin(EnsembleChangeKind.GROW)
    fake.cut_off()
    assert "Waits for the ensemble: ZooKeeper does not answer" in beat().sentence
    fake.come_back()
    assert beat().sentence == "Starts servers 2 and 3."


@pytest.mark.parametrize(("person", "status"), [("viewer", 403), ("outsider", 403), ("operator", 302)])
def test_who_may_call_a_change_off(person, status, request, managed, begin, client_of):
    managed(1)
    change = begin(EnsembleChangeKind.GROW)
    client = client_of(request.getfixturevalue(person))
    assert client.post(f"/zookeeper/changes/{change.pk}/call-off").status_code == status
    change.refresh_from_db()
    assert change.is_called_off is (status == 302)


@pytest.mark.usefixtures("listeners")
def test_each_step_is_pushed_to_those_who_look(managed, begin, monkeypatch, django_capture_on_commit_callbacks):
    managed(1)
    begin(EnsembleChangeKind.GROW)
    sent = []
    monkeypatch.setattr("console.kit.live.push.send_now", lambda messages: sent.extend(messages))
    with django_capture_on_commit_callbacks(execute=True):
        beat()
    pages = [html for group, html in sent if group.startswith("ensemble.")]
    assert len(pages) == 2
    assert all("Starts servers 2 and 3." in page for page in pages)

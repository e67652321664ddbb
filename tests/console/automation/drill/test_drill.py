"""A drill from its plan to its report: on real processes, which are never left as the drill had them."""

import os
import re
import signal
from dataclasses import replace

import pytest

from console.automation.drill.advance import advance
from console.automation.drill.models import Drill
from console.automation.drill.queries import sample_now
from console.automation.rolling_restart.models import RollingRestart
from console.kit.access.models import NameRule, ReadOnlyMode
from console.kit.audit.models import AuditEvent
from console.kit.gateway.zookeeper.four_letter_words import ZooKeeperView
from console.processes import os_process
from console.processes.actions import do_start
from console.processes.models import ManagedProcess
from console.processes.os_process import look
from console.shell.changes.models import ChangeRule
from tests.console.automation.drill.conftest import await_true
from tests.console.confirming import digest_in

pytestmark = pytest.mark.timeout(120)
PAUSE = {"fault": "pause", "whom": "process:broker-2", "seconds": "20", "topic": ""}


def planned(client, **changes):
    return client.get("/drills/+begin/", PAUSE | changes)


def begun(client, **changes) -> Drill:
    shown = planned(client, **changes)
    plan = shown.context["plan"]
    form = PAUSE | changes | {"digest": digest_in(shown), "typed_name": plan.typed_name}
    answer = client.post("/drills/+begin/", form)
    assert answer.status_code == 302, answer.content.decode()
    return Drill.objects.get()


@pytest.fixture
def ask(stage, operator, client_of):
    return client_of(operator)


def test_the_plan_says_what_is_expected_and_nothing_happens_before_its_name_is_typed(stage, ask):
    text = planned(ask).content.decode()
    assert "It is stopped where it stands (SIGSTOP) and continued after 20 s (SIGCONT)" in text
    assert "Expected: up to 1 leadership moved to other brokers" in text
    assert ask.post("/drills/+begin/", PAUSE | {"digest": digest_in(planned(ask))}).status_code == 422
    assert not Drill.objects.exists()


def test_a_broker_is_paused_continued_and_what_came_of_it_is_a_report(stage, ask):
    drill = begun(ask)
    stage.beats(9, drill)
    assert (drill.phase, stage.is_stopped(2)) == ("looking", False)
    stage.beats(2, drill)
    assert drill.phase == "fault"
    await_true(lambda: stage.is_stopped(2), "broker 2 is paused")
    stage.cluster.stop_broker(2)
    stage.beats(21, drill)
    assert drill.phase in ("putting back", "recovering")
    stage.cluster.start_broker(2)
    await_true(lambda: not stage.is_stopped(2), "broker 2 goes on")
    stage.beats(5, drill)
    assert (drill.state, drill.sentence) == ("done", "Everything was as expected.")
    rows = {row.what: row.measured for row in drill.table}
    assert rows["Leaderships that moved to others"] == "1"
    assert 15 <= float(rows["Partitions short of replicas in sync, for"].split()[0]) <= 25
    text = ask.get(f"/drills/{drill.pk}/").content.decode()
    assert "Expected and measured" in text
    assert "worse" not in text.replace("worse than", "")
    done = AuditEvent.objects.filter(action__in=("begin drill", "finish drill")).values_list("action", "object_name")
    assert set(done) == {("begin drill", "broker-2"), ("finish drill", "broker-2")}


def test_the_report_names_the_groups_it_was_felt_by_and_counts_the_others(stage, ask):
    """Who reads all is as before; the reader of orders-1 stands still until it comes back as somebody else."""
    groups = stage.cluster.groups
    for name, partition in (("billing", 1), ("audit", 0)):
        groups.join(name, f"{name}-1", ("orders", partition))
        groups.commit(name, "orders", partition, 0)
    stage.collect()
    drill = begun(ask)
    stage.beats(11, drill)
    assert drill.phase == "fault"
    assert drill.group_lines == []
    for _ in range(10):
        stage.cluster.append("orders", 1, 5)
        stage.beats(1, drill)
    groups.leave("billing", "billing-1")
    groups.join("billing", "billing-2", ("orders", 1))
    groups.commit("billing", "orders", 1, 50)
    stage.beats(25, drill)
    assert drill.state == "done"
    assert drill.group_summary == "1 fell behind, 1 rebalanced, 0 with another coordinator, 1 as before"
    (line,) = drill.group_lines
    assert (line.name, line.shared, line.is_still_late) == ("billing", "once", False)
    assert line.late.startswith("50 records more than before")
    page = ask.get(f"/drills/{drill.pk}/").content.decode()
    assert 'href="/consumers/billing/"' in page
    assert 'href="/consumers/audit/"' not in page
    file = b"".join(ask.get(f"/drills/{drill.pk}/?format=csv").streaming_content).decode()
    assert "Consumer group billing,,fell behind: 50 records more than before" in file.replace('"', "")


def in_fault(stage, drill) -> Drill:
    stage.beats(11, drill)
    assert drill.phase == "fault"
    if drill.fault != "kill":
        await_true(lambda: os_process.find_leader(drill.holder_token), "it is held")
    if drill.fault == "pause":
        await_true(lambda: stage.is_stopped(2), "broker 2 is paused")
    return drill


def test_who_stops_it_has_everything_put_back_before_it_is_over(stage, ask, operator):
    drill = in_fault(stage, begun(ask))
    assert ask.post(f"/drills/{drill.pk}/stop").status_code == 302
    drill.refresh_from_db()
    assert drill.is_open
    stage.beats(1, drill)
    await_true(lambda: not stage.is_stopped(2), "broker 2 goes on")
    stage.beats(4, drill)
    assert drill.state == "called off"
    assert "a user stopped it" in drill.sentence
    assert AuditEvent.objects.filter(action="stop drill", actor_name="operator").count() == 1


def test_it_is_stopped_in_read_only_mode_too_and_none_begins(stage, ask):
    drill = in_fault(stage, begun(ask))
    ReadOnlyMode.objects.create(scope="console", by_name="ada", reason="a disk is replaced")
    assert ask.post(f"/drills/{drill.pk}/stop").status_code == 302
    stage.beats(1, drill)
    await_true(lambda: not stage.is_stopped(2), "broker 2 goes on")
    assert ask.post("/drills/+begin/", PAUSE).status_code == 423


def test_a_worker_that_dies_is_followed_by_one_that_continues_it_though_the_holder_and_its_child_are_killed(stage, ask):
    drill = in_fault(stage, begun(ask))
    os_process.kill_family(drill.holder_token)
    if not stage.is_stopped(2):
        os.kill(stage.targets[2].pid, signal.SIGSTOP)
    await_true(lambda: stage.is_stopped(2) and not os_process.find_leader(drill.holder_token), "nobody holds it")
    stage.beats(6, drill)
    await_true(lambda: not stage.is_stopped(2), "the beat continues it")
    stage.beats(3, drill)
    assert drill.state == "done"
    assert "what held it up has ended" in drill.early


def test_a_worker_that_dies_between_the_row_and_the_fault_leaves_nothing_behind(stage, ask, monkeypatch):
    drill = begun(ask)
    stage.beats(9, drill)
    monkeypatch.setattr(
        "console.automation.drill.hold.begin_hold", lambda _drill: (_ for _ in ()).throw(OSError("died"))
    )
    with pytest.raises(OSError, match="died"):
        stage.beats(3, drill)
    drill.refresh_from_db()
    assert drill.phase == "fault"
    stage.beats(11, drill)
    assert drill.state == "done"
    assert not stage.is_stopped(2)


def test_it_ends_early_when_another_broker_leaves(stage, ask):
    drill = in_fault(stage, begun(ask))
    stage.cluster.stop_broker(3)
    stage.beats(1, drill)
    assert "another broker is away, 3" in drill.early
    await_true(lambda: not stage.is_stopped(2), "broker 2 goes on")


def test_it_ends_early_when_another_long_change_begins(stage, ask):
    drill = in_fault(stage, begun(ask))
    RollingRestart.objects.create(actor_name="admin")
    stage.beats(1, drill)
    assert drill.early == "A rolling restart is under way"


def test_a_broker_is_killed_and_started_again(stage, ask):
    drill = in_fault(stage, begun(ask, fault="kill"))
    row = stage.process(2)
    assert (row.request, row.desired) == ("kill", "stopped")
    ManagedProcess.objects.filter(pk=row.pk).update(request="", observed="stopped", pid=None, state="stopped")
    stage.cluster.stop_broker(2)
    stage.beats(20, drill)
    row.refresh_from_db()
    assert (row.request, row.desired) == ("start", "running")
    ManagedProcess.objects.filter(pk=row.pk).update(request="", observed="running", pid=1, state="healthy")
    stage.cluster.start_broker(2)
    stage.beats(6, drill)
    assert drill.state == "done"


def test_a_slow_broker_runs_a_part_of_the_time(stage, ask):
    drill = in_fault(stage, begun(ask, fault="slow"))
    seen = set()
    await_true(lambda: seen.add(stage.is_stopped(2)) or seen == {True, False}, "it is stopped and runs")
    stage.beats(21, drill)
    await_true(lambda: not os_process.find_leader(drill.holder_token), "nobody holds it")
    assert not stage.is_stopped(2)


@pytest.mark.parametrize("whom", ["controller", "leader"])
def test_whom_it_is_about_is_found_and_confirmed(whom, stage, ask):
    text = planned(ask, whom=whom, topic="orders").content.decode()
    assert re.search(r"Chosen: broker 1 (is the controller|leads orders-0)", text)


def test_a_controller_that_moved_since_is_another_plan(stage, ask):
    shown = planned(ask, whom="controller")
    form = PAUSE | {"whom": "controller", "digest": digest_in(shown), "typed_name": "broker-1"}
    stage.cluster.stop_broker(1)
    stage.collect()
    stage.cluster.start_broker(1)
    ManagedProcess.objects.filter(name="broker-1").update(run_token="another")
    assert ask.post("/drills/+begin/", form).status_code == 409
    assert not Drill.objects.exists()


def refusal(ask, **changes) -> str:
    shown = planned(ask, **changes)
    return shown.context["plan"].obstacle if "plan" in shown.context else shown.context["error"]


def test_it_does_not_begin_on_a_cluster_that_is_not_whole(stage, ask):
    stage.cluster.stop_broker(3)
    stage.collect()
    assert "away already: 3" in refusal(ask)


def test_it_does_not_take_the_last_replica_in_sync(stage, ask):
    stage.cluster.create_topic("alone", 3, 1)
    stage.collect()
    assert refusal(ask) == "1 partition would be without any replica in sync."
    shown = planned(ask)
    form = PAUSE | {"digest": digest_in(shown), "typed_name": "broker-2"}
    assert ask.post("/drills/+begin/", form).status_code == 409
    assert not Drill.objects.exists()


def test_it_does_not_begin_where_it_is_not_allowed(stage, ask, settings):
    settings.DRILLS = False
    assert "BARNABAS_DRILLS=1" in refusal(ask)
    assert "BARNABAS_DRILLS=1" in ask.get("/drills/").content.decode()


def test_the_only_zookeeper_server_is_not_touched(stage, ask, collect, settings):
    ManagedProcess.objects.create(
        name="zookeeper",
        kind="zookeeper",
        host=settings.HOST_NAME,
        ports=[2181],
        observed="running",
        state="healthy",
        pid=1,
    )
    assert "quorum" in refusal(ask, whom="zookeeper-leader")


def test_one_zookeeper_server_of_three_is_paused_and_nobody_else_notices(stage, ask, zookeeper):
    modes = ("leader", "follower", "follower")
    zookeeper[:] = [ZooKeeperView(f"127.0.0.1:{2181 + at}", mode, "3.9.5", 42, 3, 0.5) for at, mode in enumerate(modes)]
    servers = [stage.run(f"zookeeper-{at + 1}", "zookeeper", ports=[2181 + at]) for at in range(3)]
    stage.collect()
    drill = begun(ask, whom="zookeeper-leader")
    assert (drill.name, drill.broker_id) == ("zookeeper-1", None)
    stage.beats(11, drill)
    await_true(lambda: look(servers[0]).suspended, "it is paused")
    zookeeper[:] = [
        replace(zookeeper[0], error="no answer", mode=""),
        zookeeper[1],
        replace(zookeeper[2], mode="leader"),
    ]
    stage.beats(26, drill)
    assert drill.phase == "recovering"
    zookeeper[0] = replace(zookeeper[2], address="127.0.0.1:2181", mode="follower")
    stage.beats(6, drill)
    assert (drill.state, drill.sentence) == ("done", "Everything was as expected.")
    assert not look(servers[0]).suspended
    assert drill.table[0].measured == "2"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"whom": "process:nobody"}, None),
        ({"whom": "leader", "topic": ""}, None),
        ({"whom": "leader", "topic": "<script>"}, "<script>-0 has no leader."),
        ({"seconds": "121"}, None),
        ({"seconds": "4"}, None),
        ({"fault": "burn"}, None),
    ],
)
def test_nonsense_is_refused(changes, message, stage, ask):
    shown = planned(ask, **changes)
    assert "plan" not in shown.context
    assert shown.context["error"] == (message or "")
    assert "<script>-0" not in shown.content.decode()


def test_one_that_was_not_whole_any_more_when_it_was_to_begin_does_nothing(stage, ask):
    drill = begun(ask)
    stage.beats(3, drill)
    stage.cluster.stop_broker(3)
    stage.beats(9, drill)
    assert (drill.state, stage.is_stopped(2)) == ("called off", False)
    assert drill.sentence.startswith("Nothing was done: A broker is away already")
    assert drill.rows == []


def test_who_lost_the_right_meanwhile_has_nothing_done_in_their_name(stage, ask, operator):
    drill = begun(ask)
    NameRule.objects.create(user=operator, level="nothing", resource="process", pattern="broker-2")
    stage.beats(12, drill)
    assert (drill.state, stage.is_stopped(2)) == ("called off", False)


def test_another_process_of_that_name_is_not_touched(stage, ask):
    drill = begun(ask)
    ManagedProcess.objects.filter(name="broker-2").update(run_token="another")
    stage.beats(12, drill)
    assert "is not the process any more" in drill.sentence
    assert not stage.is_stopped(2)


def test_one_at_a_time(stage, ask):
    begun(ask)
    shown = planned(ask, whom="process:broker-3")
    assert "A drill is under way." in shown.context["plan"].obstacle
    form = PAUSE | {"whom": "process:broker-3", "digest": digest_in(shown), "typed_name": "broker-3"}
    assert ask.post("/drills/+begin/", form).status_code == 409
    assert Drill.objects.count() == 1


@pytest.mark.parametrize("person", ["viewer", "limited", "keeper", "outsider"])
def test_others_begin_and_stop_nothing(person, request, stage, ask, client_of):
    drill = begun(ask)
    client = client_of(request.getfixturevalue(person))
    assert client.post("/drills/+begin/", PAUSE).status_code == 403
    assert client.post(f"/drills/{drill.pk}/stop").status_code == 403
    drill.refresh_from_db()
    assert not drill.is_called_off


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "approval", "actions": ["stop"], "objects": ["*"]},
        {
            "kind": "freeze",
            "actions": ["*"],
            "objects": ["broker-*"],
            "from": "2026-01-01T00:00",
            "to": "2099-12-01T00:00",
        },
    ],
    ids=["second person", "freeze"],
)
def test_rules_of_changes_hold_it_up(rule, stage, ask):
    ChangeRule.objects.create(name="prod", definition=rule, actor_name="root")
    shown = planned(ask)
    form = PAUSE | {"digest": digest_in(shown), "typed_name": "broker-2"}
    assert ask.post("/drills/+begin/", form).url.startswith("/changes/")
    assert not Drill.objects.exists()


def test_a_process_that_was_removed_meanwhile_ends_it(stage, ask):
    drill = in_fault(stage, begun(ask))
    ManagedProcess.objects.filter(name="broker-2").delete()
    stage.beats(25, drill)
    await_true(lambda: not stage.is_stopped(2), "it goes on")
    assert drill.phase != "fault"


def test_a_beat_that_comes_twice_does_no_harm(stage, ask):
    drill = begun(ask)
    stage.beats(10, drill)
    stage.clock.advance(1_000)
    advance(Drill.objects.get())
    stale = Drill.objects.get()
    advance(stale)
    assert Drill.objects.get().phase == "fault"
    stage.beats(30, drill)
    await_true(lambda: not stage.is_stopped(2), "it goes on")
    assert Drill.objects.get().state == "done"


def test_its_samples_are_bounded(stage, ask, monkeypatch):
    monkeypatch.setattr("console.automation.drill.advance.SAMPLES_MAX", 5)
    drill = begun(ask)
    stage.beats(9, drill)
    assert len(drill.samples) == 5
    assert sample_now(drill).registered == (1, 2, 3)


def test_the_pages_are_files_too(stage, ask, viewer, client_of):
    drill = begun(ask)
    client = client_of(viewer)
    assert b"broker-2" in b"".join(client.get("/drills/?format=csv").streaming_content)
    assert client.get(f"/drills/{drill.pk}/?format=csv").status_code == 200
    assert client.get("/drills/999999/").status_code == 404


def test_somebody_who_starts_the_killed_one_by_hand_is_not_undone(stage, ask, operator):
    drill = in_fault(stage, begun(ask, fault="kill"))
    row = stage.process(2)
    ManagedProcess.objects.filter(pk=row.pk).update(request="", observed="stopped", pid=None, state="stopped")
    do_start(operator, row)
    ManagedProcess.objects.filter(pk=row.pk).update(request="", observed="running", pid=7, state="healthy")
    stage.beats(25, drill)
    assert drill.state == "done"
    assert AuditEvent.objects.filter(action="start").count() == 1

"""A rolling restart from its first beat to its last, on rows as the collector and the reconcile write them."""

import pytest

from console.automation.rolling_restart.advance import advance
from console.automation.rolling_restart.models import RollingRestart
from console.automation.rolling_restart.queries import restart_plan
from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.kit.operations.actions import do_call_off, do_pause, do_resume
from console.kit.plans.plan import ObstacleError
from tests.console.automation.rolling_restart.conftest import begun_by


@pytest.fixture
def restart(stage, operator) -> RollingRestart:
    return begun_by(operator)


def beat(restart: RollingRestart) -> RollingRestart:
    restart.refresh_from_db()
    advance(restart)
    restart.refresh_from_db()
    return restart


def progress(restart: RollingRestart) -> dict[str, str]:
    return dict(restart.brokers.values_list("name", "progress"))


def test_three_brokers_are_restarted_one_after_the_other_the_controller_last(stage, restart):
    for name in ("broker-2", "broker-3", "broker-1"):
        beat(restart)
        assert stage.wished() == [name]
        stage.lose_replica(int(name[-1]))
        stage.carry_out_restart(name)
        stage.look()
        assert "is catching up" in beat(restart).sentence
        stage.become_whole()
        assert progress(beat(restart))[name] == "done"
        assert stage.wished() == []
    assert beat(restart).state == "done"
    assert restart.sentence == "All 3 brokers have been restarted."
    assert restart.ended_at is not None


def test_nobody_is_restarted_while_a_replica_is_out_of_sync(stage, restart):
    stage.lose_replica(3)
    assert "1 partition lacks a replica in sync (orders-0)" in beat(restart).sentence
    assert stage.wished() == []


def test_a_broker_that_does_not_come_back_pauses_and_a_resume_goes_on_once_it_runs(stage, restart, operator):
    beat(restart)
    stage.carry_out_restart("broker-2")
    stage.end("broker-2", "exited: ended by itself with status 1")
    assert beat(restart).state == "paused"
    assert "ended by itself with status 1" in restart.sentence
    events = AuditEvent.objects.filter(action="pause rolling restart")
    assert events.get().actor_name == "system"
    beat(restart)
    assert events.count() == 1
    do_resume(operator, restart)
    assert beat(restart).state == "paused"


def test_paused_by_hand_the_broker_under_way_comes_back_and_no_other_is_taken(stage, restart, operator):
    beat(restart)
    do_pause(operator, restart)
    stage.carry_out_restart("broker-2")
    stage.look()
    beat(restart)
    assert progress(beat(restart))["broker-2"] == "done"
    beat(restart)
    assert stage.wished() == []
    do_resume(operator, restart)
    beat(restart)
    assert stage.wished() == ["broker-3"]


def test_called_off_nobody_else_is_restarted(stage, restart, operator):
    do_call_off(operator, restart)
    assert beat(restart).state == "called off"
    assert stage.wished() == []


def test_there_is_one_at_a_time(restart, operator):
    with pytest.raises(ObstacleError, match="under way already"):
        begun_by(operator)
    assert RollingRestart.objects.count() == 1


def test_each_restart_is_on_the_record_of_who_began_it(stage, restart, operator):
    beat(restart)
    event = AuditEvent.objects.get(action="restart")
    assert (event.actor, event.object_name) == (operator, "broker-2")


def test_the_plan_names_partitions_without_a_replica_to_spare(stage):
    stage.add_topic("single", [2], 1)
    stage.add_topic("tight", [1, 2, 3], 3)
    plan = restart_plan()
    assert [(gap.name, gap.broker_id, gap.meaning) for gap in plan.gaps if gap.broker_id == 2] == [
        ("single-0", 2, "offline"),
        ("tight-0", 2, "below min.insync.replicas: acks=all is refused"),
    ]
    assert plan.partitions_without_spare == 2, "tight-0 pauses three times, and is one partition"
    assert [broker.name for broker in plan.brokers] == ["broker-2", "broker-3", "broker-1"]


@pytest.mark.parametrize("lost", ["role", "account", "rule", "person"])
def test_nobody_is_restarted_in_the_name_of_who_may_not_any_more(lost, stage, restart, operator, administrator):
    match lost:
        case "role":
            operator.groups.clear()
        case "account":
            operator.is_active = False
            operator.save()
        case "rule":
            NameRule.objects.create(user=operator, resource="process", pattern="broker-3", level="nothing")
        case "person":
            operator.delete()
    restart = RollingRestart.objects.get()
    advance(restart)
    restart.refresh_from_db()
    assert (restart.state, stage.wished()) == ("paused", [])
    assert "operator may not restart these brokers any more" in restart.sentence
    do_resume(administrator, restart)
    restart = RollingRestart.objects.get()
    advance(restart)
    assert stage.wished() == ["broker-2"]
    assert AuditEvent.objects.get(action="restart").actor == administrator

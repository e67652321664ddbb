"""The coordinator of a group dies while the group rebalances, again and again."""

from broker.coordinator.partitions import partition_for
from tests.faults.matrix.diagnosis import await_coordinated
from tests.faults.matrix.group import GroupMember, note_committed
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

OFFSETS = "__consumer_offsets"
OFFSETS_PARTITIONS = 3
_LOOPS = 25
_REBALANCE_S = 0.4


def kill_the_coordinator(stage: Stage, group: str = "group") -> None:
    """A member joins, and before, while or after the others hear of it the coordinator is killed."""
    partition = partition_for(group, OFFSETS_PARTITIONS)
    stage.follow_internal(OFFSETS, OFFSETS_PARTITIONS)
    stage.await_whole()
    took = []
    for number in range(_LOOPS):
        servers = stage.cluster.bootstrap_servers
        joining = GroupMember(group, f"joining-{number}", ["kept"], servers, stage.history)
        joining.start()
        began = stage.note("a member joins")
        stage.stay_until(began + stage.random.uniform(0, _REBALANCE_S))
        coordinator = stage.state(OFFSETS, partition).leader
        at = stage.kill_and_expire(coordinator)
        stage.await_leader(OFFSETS, partition, stage.others(coordinator))
        note_committed(servers, group, ["kept"], stage.history)
        took.append(stage.note("committed offsets are known again") - at)
        stage.start(coordinator)
        stage.await_progress()
        await_coordinated(
            lambda member=joining: member.records or member.failure,
            "the new member reads",
            WHOLE_WITHIN_S,
            stage,
            group,
        )
        joining.stop()
        joining.join(WHOLE_WITHIN_S)
        if joining.failure or joining.is_alive():
            stage.violations.append(f"{joining.name} did not end as it should: {joining.failure!r}")
        stage.heal()
        stage.await_whole()
    stage.measured["coordinator"] = max(took)

"""Moving partitions to other brokers: how a move begins, is redirected or called off (KIP-455).

    asked -> znode says where from and where to -> a higher epoch tells everybody involved, the added replicas copy
          -> all of the target in sync -> leader and ISR within the target are written        (reassignment_end.py)
          -> the removed replicas are deleted -> znode says only the target

Every arrow leaves enough in ZooKeeper for the next controller to go on from there. Between the second and the third
nothing is waited for in particular: whatever changes a state asks anew what it should be (`wanted_states`), and that is
where a move ends. Calling off is a move back to the origin.
"""

from collections.abc import Mapping

from broker.common.errors import ApiError, ErrorCode
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, RespondToRequest, RewriteReassignmentRequest, StepAgain
from broker.controller.events import (
    AssignmentsWritten,
    ReassignmentsAsked,
    ReassignmentsBegun,
    ReassignmentsByZnode,
    ReassignmentsByZnodeBegun,
)
from broker.controller.placement import check_replicas
from broker.controller.reassignment_end import write_assignments
from broker.controller.replica_states import Replica, ReplicaStatus
from broker.controller.state_changes import correct_states
from broker.controller.verdict import DONE, PartitionVerdict

Plans = dict[TopicPartition, ReplicaAssignment]


def reassignments_asked(context: ControllerContext, event: ReassignmentsAsked) -> list[ControllerEffect]:
    """Handle a client's reassignment request, which precedes /admin/reassign_partitions."""
    plans, refused = _plan(context, event.targets, may_change_count=event.may_change_count)
    by_znode = context.reassignment_notes.by_znode
    overruled = [by_znode.pop(partition) for partition in plans if partition in by_znode]
    rewrite = [RewriteReassignmentRequest(dict(by_znode), {})] if overruled else []
    begun = ReassignmentsBegun(event.request_id, plans, refused)
    return [*rewrite, *write_assignments(context, _news(context, plans)), StepAgain(begun)]


def reassignments_begun(context: ControllerContext, event: ReassignmentsBegun) -> list[ControllerEffect]:
    """Complete the request as soon as ZooKeeper has the targets; topics deleted meanwhile have none."""
    gone = PartitionVerdict(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the topic was deleted meanwhile")
    answers = {
        partition: DONE if _goes_to(context, partition, plan.target) else gone
        for partition, plan in event.begun.items()
    }
    return [RespondToRequest(event.request_id, answers | event.refused)]


def reassignments_by_znode(context: ControllerContext, event: ReassignmentsByZnode) -> list[ControllerEffect]:
    """Begin reassignments asked for in /admin/reassign_partitions (before KIP-455); the znode stays until all are done
    or refused.
    """
    known = context.reassignment_notes.by_znode
    fresh = {partition: target for partition, target in event.targets.items() if known.get(partition) != target}
    plans, refused = _plan(context, fresh)
    context.reassignment_notes.by_znode = {key: target for key, target in event.targets.items() if key not in refused}
    return [
        *write_assignments(context, _news(context, plans)),
        StepAgain(ReassignmentsByZnodeBegun(refused, is_empty=not event.targets)),
    ]


def reassignments_by_znode_begun(
    context: ControllerContext, event: ReassignmentsByZnodeBegun
) -> list[ControllerEffect]:
    return drop_ended_requests(context, event.refused, is_due=event.is_empty)


def assignments_written(context: ControllerContext, event: AssignmentsWritten) -> list[ControllerEffect]:
    """Take over assignments that were written: a move begins or has ended. News from a znode needs a state of a higher
    epoch.
    """
    begun = []
    for partition, written in sorted(event.written.items()):
        if not context.is_current(partition):
            continue
        context.reassignment_notes.end(partition)
        if written != context.replica_assignment(partition):
            _take(context, partition, written)
            begun.append(partition)
    return [*correct_states(context, begun), *drop_ended_requests(context)]


def drop_ended_requests(
    context: ControllerContext,
    refused: Mapping[TopicPartition, PartitionVerdict] | None = None,
    *,
    is_due: bool = False,
) -> list[ControllerEffect]:
    """Drop what is done or refused, or whose topic is gone, from /admin/reassign_partitions."""
    requests = context.reassignment_notes.by_znode
    open_ones = {partition: target for partition, target in requests.items() if _is_on_the_way(context, partition)}
    if not (is_due or refused or open_ones != requests):
        return []
    context.reassignment_notes.by_znode = open_ones
    return [RewriteReassignmentRequest(dict(open_ones), dict(refused or {}))]


def _plan(
    context: ControllerContext,
    targets: Mapping[TopicPartition, tuple[int, ...] | None],
    *,
    may_change_count: bool = True,
) -> tuple[Plans, dict[TopicPartition, PartitionVerdict]]:
    plans: Plans = {}
    refused: dict[TopicPartition, PartitionVerdict] = {}
    for partition, target in targets.items():
        try:
            plan = _plan_one(context, partition, target)
            if target is not None and not may_change_count:
                _check_count(context.replica_assignment(partition), target)
            plans[partition] = plan
        except ApiError as error:
            refused[partition] = PartitionVerdict.of(error)
    return plans, refused


def _plan_one(
    context: ControllerContext, partition: TopicPartition, target: tuple[int, ...] | None
) -> ReplicaAssignment:
    if not context.is_current(partition) or partition.topic in context.topics_to_delete:
        missing = f"partition {partition.topic}:{partition.partition}."
        if partition.topic not in context.topics:
            missing = f"a topic named {partition.topic}."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find {missing}")
    current = context.replica_assignment(partition)
    if target is None:
        if not current.is_reassigning:
            raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, f"{partition} is not being reassigned")
        return current.reassigned_to(current.origin)
    _check_target(context, current, target)
    return current.reassigned_to(target)


def _news(context: ControllerContext, plans: Plans) -> Plans:
    """Return the plans without those under way or done."""
    return {partition: plan for partition, plan in plans.items() if plan != context.replica_assignment(partition)}


def _check_target(context: ControllerContext, current: ReplicaAssignment, target: tuple[int, ...]) -> None:
    check_replicas(sorted(target), context.brokers.keys() | set(current.replicas))


def _check_count(current: ReplicaAssignment, target: tuple[int, ...]) -> None:
    if len(current.target) != len(target):
        changed = f"The replication factor is changed from {len(current.target)} to {len(target)}"
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, changed)


def _take(context: ControllerContext, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
    context.set_assignment(partition, assignment)
    context.reassignment_notes.epoch_due.add(partition)
    replicas = [Replica(partition, broker_id) for broker_id in assignment.replicas]
    added = [replica for replica in replicas if context.replica_status[replica] is ReplicaStatus.NON_EXISTENT]
    context.replica_status.move(added, ReplicaStatus.NEW)


def _goes_to(context: ControllerContext, partition: TopicPartition, target: tuple[int, ...]) -> bool:
    return context.is_current(partition) and context.replica_assignment(partition).target == target


def _is_on_the_way(context: ControllerContext, partition: TopicPartition) -> bool:
    if not context.is_current(partition):
        return False
    return context.replica_assignment(partition).is_reassigning or partition in context.reassignment_notes.leaving

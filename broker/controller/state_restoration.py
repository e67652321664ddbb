"""Partition states that were removed from ZooKeeper, or set back there: who leads, by what brokers know.

Brokers refuse a role that is older than the one they know, and answer with theirs. The leader of that role goes on in
the next epoch, alone in sync: it alone knows which replicas are. If it is away, a member of the ISR that was told last
follows it.

A broker that has started since knows the epoch of its log only. Then nothing says which replicas were in sync, and one
that lagged must not lead: the state has an empty ISR and no leader until the ends of the logs of all assigned replicas
are known. The replica whose log reaches furthest then leads, alone in sync, and the others join by fetching. It has all
committed records: by last epoch, then by end offset, no member of the ISR is before it (KIP-966's unclean recovery
compares logs by the same). An operator who cannot wait allows an unclean election.
"""

from collections.abc import Collection, Iterable, Mapping

from broker.common.cluster import LastRole, LeaderAndIsr
from broker.common.types import NO_BROKER, TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, TellRestorations, WriteStates
from broker.controller.events import LeaderAndIsrAnswered


def restored_state(
    assignment: Collection[int], state: LeaderAndIsr, role: LastRole, online: Collection[int], controller_epoch: int
) -> LeaderAndIsr | None:
    """Return the state that follows a broker's last role, None if `state` is as late as that."""
    if not _is_later(role, state):
        return None
    leader, isr = NO_BROKER, tuple(broker_id for broker_id in role.isr if broker_id in assignment)
    if role.leader in assignment and role.leader in online:
        leader, isr = role.leader, (role.leader,)
    epoch = max(role.leader_epoch, state.leader_epoch) + 1
    return LeaderAndIsr(leader, epoch, isr, controller_epoch, state.zk_version)


def _is_later(role: LastRole, state: LeaderAndIsr) -> bool:
    """Return whether `role` says more than `state`.

    A first state (version 0) is refused also in the epoch of the earlier one, as a role of a new partition. Of a state
    without a known ISR the last log that answered was of the epoch before: a role of that epoch tells the ISR.
    """
    if role.leader_epoch > state.leader_epoch:
        return True
    if role.leader_epoch == state.leader_epoch and state.zk_version == 0:
        return True
    return not state.has_known_isr and bool(role.isr) and role.leader_epoch == state.leader_epoch - 1


def furthest_state(
    assignment: tuple[int, ...],
    state: LeaderAndIsr,
    online: Collection[int],
    controller_epoch: int,
    extents: Mapping[int, tuple[int, int]],
) -> LeaderAndIsr | None:
    """Return the state that follows one without a known ISR: the replica leads whose log reaches furthest, alone.

    None while the log of an assigned replica is not known, or no replica is online that reaches as far as any. Of
    several the first of the assignment leads.
    """
    if state.has_known_isr or not assignment or any(replica not in extents for replica in assignment):
        return None
    end = max(extents[replica] for replica in assignment)
    leader = next((replica for replica in assignment if replica in online and extents[replica] == end), None)
    return None if leader is None else state.next(leader, (leader,), controller_epoch)


def restore_states(context: ControllerContext, event: LeaderAndIsrAnswered) -> list[ControllerEffect]:
    """Write the states of which the broker that answered knows more than ZooKeeper."""
    restored = {
        partition: state
        for partition, role in sorted(event.later.items())
        if _is_replica(context, partition, event.broker_id) and partition in context.states
        if (state := _restored(context, partition, role)) is not None
    }
    return [WriteStates(restored)] if restored else []


def _is_replica(context: ControllerContext, partition: TopicPartition, broker_id: int) -> bool:
    return context.is_current(partition) and broker_id in context.assignment(partition)


def _restored(context: ControllerContext, partition: TopicPartition, role: LastRole) -> LeaderAndIsr | None:
    assignment, online = context.assignment(partition), context.online_replicas(partition)
    return restored_state(assignment, context.states[partition], role, online, context.controller_epoch)


def elect_furthest(context: ControllerContext, partitions: Iterable[TopicPartition]) -> list[ControllerEffect]:
    """Give leaders to those partitions without a known ISR whose logs are all known now."""
    elected = {
        partition: state
        for partition in partitions
        if partition in context.states and context.is_current(partition)
        if (state := _furthest(context, partition)) is not None
    }
    return [WriteStates(elected)] if elected else []


def _furthest(context: ControllerContext, partition: TopicPartition) -> LeaderAndIsr | None:
    assignment, online = context.assignment(partition), context.online_replicas(partition)
    extents = context.extents(partition)
    return furthest_state(assignment, context.states[partition], online, context.controller_epoch, extents)


def report_restorations(
    context: ControllerContext, written: Mapping[TopicPartition, LeaderAndIsr]
) -> list[ControllerEffect]:
    """Return an effect for states just written, and not yet in `context`, that begin or end the wait for logs."""
    waited = {p for p in written if (before := context.states.get(p)) is not None and not before.has_known_isr}
    waiting = tuple(p for p, state in written.items() if not state.has_known_isr and p not in waited)
    led = {p: state.leader for p, state in written.items() if p in waited and state.has_leader}
    return [TellRestorations(waiting, led)] if waiting or led else []


def report_waiting(context: ControllerContext) -> list[ControllerEffect]:
    """Return an effect for the partitions that a controller finds waiting for logs."""
    waiting = tuple(p for p in context.all_partitions() if p in context.states and not context.states[p].has_known_isr)
    return [TellRestorations(waiting, {})] if waiting else []

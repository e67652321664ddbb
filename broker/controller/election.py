"""Elects a partition's leader: functions of the assignment, the state and the online replicas; nothing else."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from broker.common.cluster import LeaderAndIsr, LogLoss
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import NO_BROKER, NO_LEADER_EPOCH

#: Less than any record, more than an empty log.
_UNKNOWN = (NO_LEADER_EPOCH, 1)


def first_state(assignment: tuple[int, ...], online: Collection[int], controller_epoch: int) -> LeaderAndIsr | None:
    """Return the state of a new partition: all online replicas are in sync, the first leads. None if none is online."""
    isr = tuple(replica for replica in assignment if replica in online)
    return LeaderAndIsr(isr[0], 0, isr, controller_epoch) if isr else None


def next_state(
    assignment: tuple[int, ...],
    state: LeaderAndIsr,
    online: Collection[int],
    controller_epoch: int,
    full: Collection[int] = (),
) -> LeaderAndIsr | None:
    """Return the state the partition should be in now, None when it is in it already.

    Only a member of the ISR may lead; the order of the assignment says who is preferred. Replicas that are not online
    leave the ISR, unless none of it is online: then it is kept whole, because each of them has all committed records
    and the first to come back may lead.

    Replicas whose log directory is `full` lead only while no other of the ISR has room. A leader that hands over for
    that leaves the ISR with it, because acks=all would wait for it; it joins again once it has caught up. It stays in
    an ISR that would have one member without it: a record in two places is worth more than the wait, which
    replica.lag.time.max.ms bounds.

    An elected leader that has reported a loss is marked as recovering: what it lacks another replica may hold.
    """
    in_sync = tuple(replica for replica in state.isr if replica in online)
    if not in_sync:
        return state.next(NO_BROKER, state.isr, controller_epoch) if state.has_leader else None
    with_room = tuple(replica for replica in in_sync if replica not in full)
    leader = state.leader
    if leader not in in_sync:
        leader = _preferred(assignment, with_room or in_sync)
    elif leader in full and with_room:
        if len(in_sync) > 2:
            in_sync = tuple(replica for replica in in_sync if replica != leader)
        leader = _preferred(assignment, with_room)
    elected = state.next(leader, in_sync, controller_epoch)
    if (leader, in_sync, elected.log_losses) == (state.leader, state.isr, state.log_losses):
        return None
    has_loss = leader != state.leader and any(loss.broker_id == leader for loss in state.log_losses)
    return elected.recovering() if has_loss else elected


def last_state(
    assignment: ReplicaAssignment, state: LeaderAndIsr, online: Collection[int], controller_epoch: int
) -> LeaderAndIsr | None:
    """Return the state that ends a move, without the removed replicas; None while it may not end.

    Nothing is lost by it: whoever stays is in sync and alive, and has all committed records.
    """
    staying = assignment.in_sync_targets(state.isr, online)
    if not staying:
        return None
    leader = state.leader if state.leader in staying else _preferred(assignment.target, staying)
    return state.next(leader, staying, controller_epoch)


def preferred_state(
    assignment: tuple[int, ...],
    state: LeaderAndIsr,
    online: Collection[int],
    controller_epoch: int,
    full: Collection[int] = (),
) -> LeaderAndIsr | None:
    """Return the state under the preferred leader, None when that one may not lead: one that is `full` would hand
    over.
    """
    preferred = assignment[0]
    if preferred not in state.isr or preferred not in online or preferred in full:
        return None
    return state.next(preferred, state.isr, controller_epoch)


def state_after_loss(state: LeaderAndIsr, loss: LogLoss, *, is_noted: bool) -> LeaderAndIsr:
    """Return what a broker leaves standing, before it registers, of a partition whose log it lost, or the end of it.

    Held in sync by its earlier life, it may lack what was acknowledged: whoever else is in the ISR goes before it, even
    if that replica is away and has to be waited for. This is stricter than Kafka with ZooKeeper, where whoever of the
    ISR comes back first leads, and as strict as KIP-966.

    An ISR that is not known stays so (`state_restoration`).

    If it is the last of the ISR, all others of which have reported losses, the ISR becomes the one of them whose log
    reaches furthest, as in KIP-966's unclean recovery: it leads, in a later epoch, because in its own it would give
    offsets that others may hold a second meaning. If none of them has a log, the ISR stays, and `may_lead_empty` tells
    whether the broker may lead. A loss is not `is_noted`, hence decides nothing, while the leader is alive, from which
    the log goes on, or if the log is there and cannot be reached.

    Hence with min.insync.replicas=2 one machine may lose its page cache at a time without loss, as long as another
    member stays in the ISR. Replicas that left the ISR without a loss are not remembered (KIP-966 calls them eligible):
    a machine that loses power when it has become the last of the ISR takes along what it had not fsynced; what others
    hold of it they keep (`follower_cuts`).
    """
    others = tuple(replica for replica in state.isr if replica != loss.broker_id)
    was_in_sync = len(others) < len(state.isr)
    known = {one.broker_id: one for one in state.log_losses}
    if is_noted and (was_in_sync or loss.is_total or loss.broker_id in known):
        known[loss.broker_id] = loss
    isr = others if was_in_sync else state.isr
    if was_in_sync and not isr:
        isr = (_furthest(known.values(), loss.broker_id) if is_noted else loss.broker_id,)
    leader = NO_BROKER if state.leader == loss.broker_id else state.leader
    losses = tuple(known[broker_id] for broker_id in sorted(known))
    if (leader, isr, losses) == (state.leader, state.isr, state.log_losses):
        return state
    return replace(state.next(leader, isr, state.controller_epoch), log_losses=losses)


def _furthest(losses: Collection[LogLoss], broker_id: int) -> int:
    """Return the broker whose log reaches furthest: `broker_id` if it is as good as any, also if none of them has a
    log.
    """
    return max(losses, key=lambda loss: (loss.extent, loss.broker_id == broker_id)).broker_id


def may_lead_empty(state: LeaderAndIsr, replicas: Collection[int], broker_id: int) -> bool:
    """Return whether the last of the ISR may lead without a log, because no replica has one."""
    without_log = {loss.broker_id for loss in state.log_losses if loss.is_total} | {broker_id}
    return without_log.issuperset(replicas)


def unclean_state(
    assignment: tuple[int, ...],
    state: LeaderAndIsr,
    online: Collection[int],
    controller_epoch: int,
    extents: Mapping[int, tuple[int, int]],
) -> LeaderAndIsr | None:
    """Return the state under one replica that is online, in sync or not, and alone; None when none is.

    It is the one whose log reaches furthest (KIP-966): by last epoch, then by end offset, as far as `extents` tells of
    each; of several the first of the assignment. A log of which nothing is known, as of a broker that has not answered
    or is of an earlier version, comes before one that is known to be empty. A leader that was not in sync is marked as
    recovering (KIP-704), until it writes an ISR itself.
    """
    candidates = [replica for replica in assignment if replica in online]
    if not candidates:
        return None
    leader = max(candidates, key=lambda replica: (replica in state.isr, extents.get(replica, _UNKNOWN)))
    elected = state.next(leader, (leader,), controller_epoch)
    return elected if leader in state.isr else elected.recovering()


def _preferred(assignment: tuple[int, ...], in_sync: tuple[int, ...]) -> int:
    return next((replica for replica in assignment if replica in in_sync), in_sync[0])

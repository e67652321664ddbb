"""Elects a partition's leader: functions of the assignment, the state and the online replicas; nothing else."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from broker.common.cluster import LeaderAndIsr, LogLoss
from broker.common.eligible_leaders import eligible_leaders
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
    min_isr: int | None = None,
) -> LeaderAndIsr | None:
    """Return the state the partition should be in now, None when it is in it already.

    `min_isr` is the topic's min.insync.replicas where eligible leader replicas are kept (KIP-966), else None. Then
    members that leave an ISR below it are eligible, and the state without a leader has an empty ISR. Without a member
    of the ISR that is online one of the ELR leads. Once both are empty the last leader does, as one that recovers,
    unless no replica has a log.
    """
    if min_isr is None:
        plain = state.without_eligible()
        better = _next_in_sync(assignment, plain, online, controller_epoch, full)
        return better or (None if plain == state else plain.next(plain.leader, plain.isr, controller_epoch))
    if not set(online).isdisjoint(state.isr):
        better = _next_in_sync(assignment, state, online, controller_epoch, full)
        return better and replace(better, elr=_elr_beside(better.isr, state, assignment, min_isr))
    return _next_without_isr(assignment, state, online, controller_epoch, full, min_isr)


def _next_in_sync(
    assignment: tuple[int, ...],
    state: LeaderAndIsr,
    online: Collection[int],
    controller_epoch: int,
    full: Collection[int],
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


def _next_without_isr(
    assignment: tuple[int, ...],
    state: LeaderAndIsr,
    online: Collection[int],
    controller_epoch: int,
    full: Collection[int],
    min_isr: int,
) -> LeaderAndIsr | None:
    """Return the state of a partition no member of whose ISR is online, None when it is in it already."""
    elr = _elr_beside((), state, assignment, min_isr)
    able = tuple(replica for replica in elr if replica in online)
    if able:
        leader = _preferred(assignment, tuple(replica for replica in able if replica not in full) or able)
        elected = state.next(leader, (leader,), controller_epoch)
        return replace(elected, elr=_elr_beside(elected.isr, state, assignment, min_isr))
    if not elr and state.last_known_elr and state.last_known_elr[0] in online:
        leader = state.last_known_elr[0]
        elected = state.next(leader, (leader,), controller_epoch)
        return elected if _without_log(state).issuperset(assignment) else elected.recovering()
    last_known = state.last_known_elr or _last_leader(state)
    if (state.leader, state.isr, state.elr, state.last_known_elr) == (NO_BROKER, (), elr, last_known):
        return None
    return replace(state.next(NO_BROKER, (), controller_epoch), elr=elr, last_known_elr=last_known)


def _elr_beside(
    isr: tuple[int, ...], state: LeaderAndIsr, assignment: tuple[int, ...], min_isr: int
) -> tuple[int, ...]:
    return eligible_leaders(state.isr, state.elr, isr, assignment, min_isr)


def _last_leader(state: LeaderAndIsr) -> tuple[int, ...]:
    """Return who led last, as far as the state tells: the last member of an ISR without a leader has led it."""
    if state.has_leader:
        return (state.leader,)
    return state.isr if len(state.isr) == 1 else ()


def last_state(
    assignment: ReplicaAssignment,
    state: LeaderAndIsr,
    online: Collection[int],
    controller_epoch: int,
    min_isr: int | None = None,
) -> LeaderAndIsr | None:
    """Return the state that ends a move, without the removed replicas; None while it may not end. `min_isr` as in
    `next_state`.

    Nothing is lost by it: whoever stays is in sync and alive, and has all committed records.
    """
    staying = assignment.in_sync_targets(state.isr, online)
    if not staying:
        return None
    leader = state.leader if state.leader in staying else _preferred(assignment.target, staying)
    elr = () if min_isr is None else _elr_beside(staying, state, assignment.target, min_isr)
    return replace(state.next(leader, staying, controller_epoch), elr=elr)


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


def state_after_loss(
    state: LeaderAndIsr, loss: LogLoss, *, is_noted: bool, keeps_eligible: bool = False
) -> LeaderAndIsr:
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
    member stays in the ISR. Where the cluster `keeps_eligible` leader replicas, also if none stays: the broker leaves
    the ELR as well, and those who left the ISR before it lead in its place. The ISR is empty then, and the ELR too once
    all have reported losses; the log that reaches furthest is the last known one (`next_state`).
    """
    others, eligible = (
        tuple(replica for replica in replicas if replica != loss.broker_id) for replicas in (state.isr, state.elr)
    )
    was_candidate = loss.broker_id in state.leader_candidates
    known = {one.broker_id: one for one in state.log_losses}
    if is_noted and (was_candidate or loss.is_total or loss.broker_id in known):
        known[loss.broker_id] = loss
    leader = NO_BROKER if state.leader == loss.broker_id else state.leader
    last_known = state.last_known_elr
    if was_candidate and not others:
        last_of_all = (_furthest(known.values(), loss.broker_id) if is_noted else loss.broker_id,)
        if not keeps_eligible:
            others, eligible, last_known = eligible or last_of_all, (), ()
        elif not eligible:
            last_known = last_of_all
        else:
            last_known = last_known or _last_leader(state)
    losses = tuple(known[broker_id] for broker_id in sorted(known))
    after = replace(
        state.next(leader, others, state.controller_epoch), elr=eligible, last_known_elr=last_known, log_losses=losses
    )
    return state if replace(after, leader_epoch=state.leader_epoch) == state else after


def _furthest(losses: Collection[LogLoss], broker_id: int) -> int:
    """Return the broker whose log reaches furthest: `broker_id` if it is as good as any, also if none of them has a
    log.
    """
    return max(losses, key=lambda loss: (loss.extent, loss.broker_id == broker_id)).broker_id


def may_lead_empty(state: LeaderAndIsr, replicas: Collection[int], broker_id: int) -> bool:
    """Return whether the last of the ISR may lead without a log, because no replica has one."""
    return (_without_log(state) | {broker_id}).issuperset(replicas)


def _without_log(state: LeaderAndIsr) -> set[int]:
    return {loss.broker_id for loss in state.log_losses if loss.is_total}


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
    holders = state.lossless_candidates
    leader = max(
        candidates,
        key=lambda replica: (replica in state.isr, replica in holders, extents.get(replica, _UNKNOWN)),
    )
    elected = state.next(leader, (leader,), controller_epoch)
    return elected if leader in holders else replace(elected, elr=()).recovering()


def _preferred(assignment: tuple[int, ...], in_sync: tuple[int, ...]) -> int:
    return next((replica for replica in assignment if replica in in_sync), in_sync[0])

"""What brokers answer to the roles they are given, and what becomes of roles that were not taken.

A replica whose log directory is offline is lost until its broker registers anew. Whatever else keeps a broker from a
role passes: descriptors or room run out, a disk hangs. Kafka takes the whole directory offline then and never looks
again. Here such a replica only takes no part, so somebody else leads, until its broker, told its role again and again,
has taken it. The controller repeats it, not the broker by itself: what is repeated is the role as it is by then, behind
whatever the broker was told meanwhile, and nobody but the newest controller has an idea of it.
"""

from collections.abc import Collection, Iterable

from broker.common.backoff import Backoff
from broker.common.types import TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect
from broker.controller.events import LeaderAndIsrAnswered
from broker.controller.replica_states import Replica
from broker.controller.request_batch import RequestBatch
from broker.controller.state_changes import correct_states, replicas_went_offline, settle
from broker.controller.state_restoration import elect_furthest, restore_states
from broker.controller.topic_deletion import resume_deletion, undeleted_replicas
from broker.controller.unclean_election import elect_without_records

FIRST_PAUSE_MS = 1_000
#: A disk that stays full for days costs a line in the log twice a minute.
PAUSE_MS_MAX = 30_000


def leader_and_isr_answered(context: ControllerContext, event: LeaderAndIsrAnswered) -> list[ControllerEffect]:
    """Apply a response: replicas whose role was not taken are offline; those that were deferred and have it now take
    part again.

    Where a log directory has become full, or has room again, others may have to lead.
    """
    if not context.is_current_incarnation(event.broker_id, event.broker_epoch):
        return []
    changed = _note_full(context, event)
    _note_extents(context, event)
    failed = _assigned(context, event.broker_id, event.failed)
    context.fail(failed)
    deferred = [one for one in _assigned(context, event.broker_id, event.deferred) if context.is_reachable(one)]
    context.deferred_replicas.update(deferred)
    told_again = [one.partition for one in context.deferred_replicas if one.broker_id == event.broker_id]
    returned = _assigned(context, event.broker_id, event.taken.intersection(told_again))
    context.deferred_replicas.difference_update(returned)
    went_offline = replicas_went_offline(context, [partition for partition, _ in (*failed, *deferred)])
    came_back = _came_back(context, event.broker_id, [partition for partition, _ in returned])
    dealt_with = {partition for partition, _ in (*failed, *deferred, *returned)}
    handed_over = correct_states(context, [one for one in changed if one in context.states and one not in dealt_with])
    reported = sorted(event.extents)
    elected = [*elect_furthest(context, reported), *elect_without_records(context, reported)]
    return [*went_offline, *came_back, *handed_over, *elected, *restore_states(context, event)]


def _note_full(context: ControllerContext, event: LeaderAndIsrAnswered) -> list[TopicPartition]:
    """Note what the answer says of full log directories. Return the partitions of which it says something new."""
    taken, full = (set(_assigned(context, event.broker_id, part)) for part in (event.taken, event.full))
    known = context.full_replicas & taken
    context.full_replicas -= taken
    context.full_replicas |= full
    return sorted(partition for partition, _ in known ^ full)


def _note_extents(context: ControllerContext, event: LeaderAndIsrAnswered) -> None:
    """Note how far logs reach whose partitions have no leader; of those that have one nothing is known any more."""
    for replica in _assigned(context, event.broker_id, event.taken | event.failed | event.deferred):
        context.log_extents.pop(replica, None)
        if replica.partition in event.extents:
            context.log_extents[replica] = event.extents[replica.partition]


def _assigned(context: ControllerContext, broker_id: int, partitions: Iterable[TopicPartition]) -> list[Replica]:
    """Return those of a broker's replicas that still exist."""
    return [
        Replica(partition, broker_id)
        for partition in sorted(partitions)
        if context.is_current(partition) and broker_id in context.assignment(partition)
    ]


def _came_back(context: ControllerContext, broker_id: int, partitions: list[TopicPartition]) -> list[ControllerEffect]:
    """Correct a broker's role that is outdated by the time its answer arrives: the broker is sent the current one."""
    to_correct = context.wanted_states(partitions)
    settled = [partition for partition in partitions if partition not in to_correct]
    batch = RequestBatch(context)
    for partition in settled:
        batch.add_leader_and_isr(partition, [broker_id])
    if settled:
        batch.add_metadata(settled, context.brokers)
    settle(context, settled)
    return [*batch.effects(), *correct_states(context, partitions)]


def _send_deferred_roles(context: ControllerContext, broker_ids: Collection[int]) -> list[ControllerEffect]:
    """Send the current roles of deferred replicas again."""
    batch = RequestBatch(context)
    for partition, broker_id in sorted(context.deferred_replicas):
        if broker_id in broker_ids and context.is_current(partition):
            batch.add_leader_and_isr(partition, [broker_id])
    return batch.effects()


class RoleRepeats:
    """Tracks what a broker could not do, take a role or delete a replica, and when to send it again."""

    def __init__(self) -> None:
        #: Broker → until when it is left alone (ms), and for how long the next time.
        self._pauses: dict[int, tuple[float, Backoff]] = {}

    def begin(self) -> None:
        """Begin a controller epoch: every broker is sent everything."""
        self._pauses.clear()

    def tick(self, context: ControllerContext, now_ms: int) -> list[ControllerEffect]:
        waiting = {one.broker_id for one in (*context.deferred_replicas, *undeleted_replicas(context))}
        for broker_id in [one for one, (until_ms, _) in self._pauses.items() if until_ms <= now_ms]:
            if broker_id not in waiting:
                del self._pauses[broker_id]
        due = {broker_id for broker_id in waiting if self._takes_turn(broker_id, now_ms)}
        return [*_send_deferred_roles(context, due), *resume_deletion(context, due)]

    def _takes_turn(self, broker_id: int, now_ms: int) -> bool:
        """Return whether it is time, and then the next time is later, though all was taken meanwhile: a broker that
        takes its role as follower may fail once more as soon as it is to lead.
        """
        until_ms, backoff = self._pauses.get(broker_id) or (now_ms, Backoff(FIRST_PAUSE_MS, PAUSE_MS_MAX))
        if now_ms < until_ms:
            return False
        self._pauses[broker_id] = (now_ms + backoff.fail(), backoff)
        return True

"""Leaders shrink and grow their ISRs by themselves and announce it; the controller takes note and updates all brokers.

Only UpdateMetadata follows: whoever leads knows already, and nobody's role has changed. A state that is not as it
should be now (a leader counted a broker in that has just died) is corrected like any other.

A leader that finds a later epoch than its own announces that too. If the controller knows of that epoch, the leader is
about to be told. If not, it was written by a broker that lost the end of its log (`election.state_after_loss`), which
tells nobody: LeaderAndIsr follows.
"""

from broker.common.cluster import LeaderAndIsr
from broker.common.types import TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, ReadIsrChanges, RemoveIsrChanges
from broker.controller.events import IsrChangesListed, IsrChangesRead
from broker.controller.request_batch import RequestBatch
from broker.controller.state_changes import correct_states, settle


def isr_changes_listed(_context: ControllerContext, event: IsrChangesListed) -> list[ControllerEffect]:
    """Apply notified ISR changes; notices are removed only after that, so they survive a controller that fails in
    between.
    """
    return [ReadIsrChanges(event.names), RemoveIsrChanges(event.names)] if event.names else []


def isr_changes_read(context: ControllerContext, event: IsrChangesRead) -> list[ControllerEffect]:
    changed = [partition for partition, state in sorted(event.states.items()) if _is_news(context, partition, state)]
    if not changed:
        return []
    in_later_epoch = [p for p in changed if event.states[p].leader_epoch > context.states[p].leader_epoch]
    context.states.update({partition: event.states[partition] for partition in changed})
    to_correct = context.wanted_states(in_later_epoch)
    unheard_of = [partition for partition in in_later_epoch if partition not in to_correct]
    batch = RequestBatch(context)
    for partition in unheard_of:
        batch.add_leader_and_isr(partition, context.online_replicas(partition))
    batch.add_metadata(changed, context.brokers)
    settle(context, unheard_of)
    return [*batch.effects(), *correct_states(context, changed)]


def _is_news(context: ControllerContext, partition: TopicPartition, state: LeaderAndIsr) -> bool:
    known = context.states.get(partition)
    return context.is_current(partition) and known is not None and state.zk_version > known.zk_version

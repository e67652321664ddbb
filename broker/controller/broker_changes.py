"""Brokers come and go.

One BrokersChanged may mean both. The leavers are dealt with first, to the end, and the event is stepped again for those
who came. A broker whose epoch changed has been away, even if nobody saw its znode missing: it leaves and comes.
"""

from broker.controller.context import ControllerContext
from broker.controller.effects import CloseChannel, ControllerEffect, OpenChannel, StepAgain
from broker.controller.events import BrokersChanged, BrokerUpdated
from broker.controller.reassignment_end import removed_hosts_left, stop_strays
from broker.controller.request_batch import RequestBatch
from broker.controller.state_changes import correct_states, replicas_went_offline, settle
from broker.controller.topic_deletion import brokers_left_deletion, resume_deletion
from broker.controller.topic_ids import identify_topics


def brokers_changed(context: ControllerContext, event: BrokersChanged) -> list[ControllerEffect]:
    left = [
        broker_id
        for broker_id, broker in sorted(context.brokers.items())
        if broker_id not in event.brokers or event.brokers[broker_id].epoch != broker.epoch
    ]
    if left:
        return [*_brokers_left(context, left), StepAgain(event)]
    joined = sorted(event.brokers.keys() - context.brokers.keys())
    return _brokers_joined(context, event, joined) if joined else []


def broker_updated(context: ControllerContext, event: BrokerUpdated) -> list[ControllerEffect]:
    """Handle a broker's changed listeners: tell every broker, and reconnect to it."""
    known = context.brokers.get(event.broker.broker_id)
    if known is None or known.epoch != event.broker.epoch or known == event.broker:
        return []
    context.brokers[event.broker.broker_id] = event.broker
    batch = RequestBatch(context)
    batch.add_metadata([], context.brokers)
    return [OpenChannel(event.broker), *batch.effects()]


def _brokers_left(context: ControllerContext, left: list[int]) -> list[ControllerEffect]:
    for broker_id in left:
        del context.brokers[broker_id]
    failures = context.failed_replicas | context.deferred_replicas | context.full_replicas
    context.forget_failures(replica for replica in failures if replica.broker_id in left)
    brokers_left_deletion(context, left)
    writes = replicas_went_offline(context, context.partitions_on(left))
    ended = removed_hosts_left(context, left)
    closed = [CloseChannel(broker_id) for broker_id in left]
    if writes:
        return [*closed, *writes, *ended]
    batch = RequestBatch(context)
    batch.add_metadata([], context.brokers)
    return [*closed, *batch.effects(), *ended]


def _brokers_joined(context: ControllerContext, event: BrokersChanged, joined: list[int]) -> list[ControllerEffect]:
    """Take over brokers that joined: they learn the whole cluster, others learn of them, and partitions that only they
    can lead get leaders.
    """
    others = sorted(context.brokers)
    for broker_id in joined:
        context.brokers[broker_id] = event.brokers[broker_id]
    context.forget_extents_of(joined)
    hosted = context.partitions_on(joined)
    to_correct = context.wanted_states(hosted)
    batch = RequestBatch(context)
    batch.add_metadata([], others)
    batch.add_metadata([partition for partition in context.all_partitions() if partition in context.states], joined)
    for partition in hosted:
        if partition in context.states and partition not in to_correct:
            hosts = [broker_id for broker_id in context.assignment(partition) if broker_id in joined]
            batch.add_leader_and_isr(partition, hosts)
    effects: list[ControllerEffect] = [OpenChannel(context.brokers[broker_id]) for broker_id in joined]
    effects += batch.effects()
    settle(context, [p for p in hosted if p in context.states and p not in to_correct])
    effects += correct_states(context, hosted)
    effects += stop_strays(context, joined) + resume_deletion(context, joined)
    return effects + identify_topics(context, context.topics_without_id)

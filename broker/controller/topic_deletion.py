"""Deleting a topic: tell everyone, have each host delete its replicas, then remove the znodes.

A replica on a broker that is away cannot be deleted: the deletion waits until that broker is back, and the topic can
not be made anew before. One that could not delete it is asked again (`RoleRepeats`). A deletion that a change of
controller interrupts is begun again by the next.
"""

from collections.abc import Iterable

from broker.common.cluster import EPOCH_DURING_DELETE
from broker.controller.context import ControllerContext
from broker.controller.effects import (
    ControllerEffect,
    RemoveDeletionRequest,
    RemoveTopic,
    ReplicaStop,
    SendStopReplica,
    UnwatchTopics,
)
from broker.controller.events import ReplicasDeleted, TopicRemoved, TopicsToDelete
from broker.controller.partition_states import PartitionStatus
from broker.controller.reassignment import drop_ended_requests
from broker.controller.replica_states import Replica, ReplicaStatus
from broker.controller.request_batch import RequestBatch
from broker.controller.state_changes import correct_states


def topics_to_delete(context: ControllerContext, event: TopicsToDelete) -> list[ControllerEffect]:
    """Begin what is new. A topic that is not to be deleted after all gets the states that were held back."""
    released = (context.topics_to_delete - event.names) & context.topics.keys() - context.deleting
    context.topics_to_delete = event.names
    effects = correct_states(context, [p for topic in sorted(released) for p in context.partitions(topic)])
    for topic in sorted(event.names - context.deleting):
        if topic in context.topics:
            effects += begin_deletion(context, topic)
        else:
            effects.append(RemoveDeletionRequest(topic))
    return effects


def begin_deletion(context: ControllerContext, topic: str) -> list[ControllerEffect]:
    """Begin deleting a topic: from here on clients see it as being deleted."""
    batch = RequestBatch(context)
    batch.add_deleted(context.partitions(topic))
    context.deleting.add(topic)
    context.reassignment_notes.forget(context.partitions(topic))
    replicas = context.topic_replicas(topic)
    context.partition_status.move(context.partitions(topic), PartitionStatus.OFFLINE)
    context.replica_status.move(replicas, ReplicaStatus.OFFLINE)
    away = [replica for replica in replicas if not context.is_reachable(replica)]
    context.replica_status.move(away, ReplicaStatus.DELETION_INELIGIBLE)
    reachable = [replica for replica in replicas if context.is_reachable(replica)]
    return [
        *batch.effects(),
        *_delete_replicas(context, reachable),
        *_finish_if_done(context, topic),
        *drop_ended_requests(context),
    ]


def resume_deletion(context: ControllerContext, joined: Iterable[int]) -> list[ControllerEffect]:
    """Resume deletions that waited for brokers which are back, or may now be able to delete."""
    returned = set(joined)
    waiting = [replica for replica in undeleted_replicas(context) if replica.broker_id in returned]
    context.replica_status.move(waiting, ReplicaStatus.OFFLINE)
    return _delete_replicas(context, waiting)


def undeleted_replicas(context: ControllerContext) -> list[Replica]:
    """Return undeleted replicas on brokers that may be asked again."""
    return [
        replica
        for topic in sorted(context.deleting)
        for replica in context.topic_replicas(topic)
        if context.replica_status[replica] is ReplicaStatus.DELETION_INELIGIBLE and context.is_reachable(replica)
    ]


def brokers_left_deletion(context: ControllerContext, left: Iterable[int]) -> None:
    """Forget requests to brokers that have gone: no answer will come."""
    gone = set(left)
    started = [
        replica
        for topic in context.deleting
        for replica in context.topic_replicas(topic)
        if replica.broker_id in gone and context.replica_status[replica] is ReplicaStatus.DELETION_STARTED
    ]
    context.replica_status.move(started, ReplicaStatus.DELETION_INELIGIBLE)


def replicas_deleted(context: ControllerContext, event: ReplicasDeleted) -> list[ControllerEffect]:
    if not context.is_current_incarnation(event.broker_id, event.broker_epoch):
        return []
    for partitions, status in (
        (event.deleted, ReplicaStatus.DELETION_SUCCESSFUL),
        (event.failed, ReplicaStatus.DELETION_INELIGIBLE),
    ):
        answered = [Replica(partition, event.broker_id) for partition in sorted(partitions)]
        started = [one for one in answered if context.replica_status[one] is ReplicaStatus.DELETION_STARTED]
        context.replica_status.move(started, status)
    topics = sorted({partition.topic for partition in event.deleted} & context.deleting)
    return [effect for topic in topics for effect in _finish_if_done(context, topic)]


def topic_removed(context: ControllerContext, event: TopicRemoved) -> list[ControllerEffect]:
    """Forget a removed topic; from now on its name belongs to another topic."""
    if event.topic not in context.deleting:
        return []
    context.replica_status.move(context.topic_replicas(event.topic), ReplicaStatus.NON_EXISTENT)
    context.partition_status.move(context.partitions(event.topic), PartitionStatus.NON_EXISTENT)
    context.forget_topic(event.topic)
    context.topics_to_delete -= {event.topic}
    return [UnwatchTopics(frozenset({event.topic}))]


def _delete_replicas(context: ControllerContext, replicas: list[Replica]) -> list[ControllerEffect]:
    context.replica_status.move(replicas, ReplicaStatus.DELETION_STARTED)
    by_broker: dict[int, list[ReplicaStop]] = {}
    for partition, broker_id in replicas:
        by_broker.setdefault(broker_id, []).append(ReplicaStop(partition, EPOCH_DURING_DELETE, delete=True))
    return [
        SendStopReplica(broker_id, context.controller_epoch, tuple(stops))
        for broker_id, stops in sorted(by_broker.items())
    ]


def _finish_if_done(context: ControllerContext, topic: str) -> list[ControllerEffect]:
    statuses = {context.replica_status[replica] for replica in context.topic_replicas(topic)}
    return [RemoveTopic(topic)] if statuses <= {ReplicaStatus.DELETION_SUCCESSFUL} else []

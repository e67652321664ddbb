"""The effects by which the controller's machine reads and writes ZooKeeper, and the events that are their outcomes."""

from collections.abc import Callable, Collection

from broker.common.eligible_leaders import MinIsrSettings
from broker.common.errors import ErrorCode
from broker.common.logs import logger
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.controller import effects as do
from broker.controller.events import (
    AssignmentsWritten,
    ControllerEvent,
    IsrChangesRead,
    LogDirsFailed,
    MinIsrRead,
    StatesWritten,
    TopicRemoved,
    TopicsIdentified,
    TopicsToDelete,
    UncleanElectionRead,
)
from broker.controller.topic_ids import objections_to_new_id
from broker.controller.verdict import PartitionVerdict
from broker.runtime.controller.eligible_leader_settings import unify_min_isr
from broker.runtime.controller.topic_values import TopicDefaults, min_isr_of_topics, topics_with_unclean_election
from broker.zookeeper.admin_requests import remove_election_request, rewrite_reassignment_request
from broker.zookeeper.assignment_writes import write_assignments
from broker.zookeeper.controller_store import ControllerStore
from broker.zookeeper.notification_znodes import ISR_CHANGES, LOG_DIR_EVENTS
from broker.zookeeper.notifications import read_isr_changes, read_log_dir_events
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.topic_ids import identify_topics

_log = logger(__name__)


class ControllerZooKeeper:
    """Of broker `broker_id`, whose file has `defaults`. `keeps_eligible`: whether eligible leader replicas are kept."""

    def __init__(
        self, store: ClusterStore, broker_id: int, defaults: TopicDefaults, keeps_eligible: Callable[[], bool]
    ):
        self._store = store
        self._broker_id = broker_id
        self._defaults = defaults
        self._keeps_eligible = keeps_eligible

    async def carry_out(self, effect: do.ControllerEffect, writes: ControllerStore) -> ControllerEvent | None:
        """Return the effect's outcome, None if it has none. Raises ZooKeeperError, ControllerMoved when the epoch is
        over.
        """
        match effect:
            case do.WriteStates(states):
                return StatesWritten(*await writes.write_states(states))
            case do.WriteAssignments():
                return await self._write_assignments(effect, writes)
            case do.IdentifyTopics(known_ids, restored_at, names):
                identified = await identify_topics(
                    self._store, writes, known_ids, restored_at, objections_to_new_id, names
                )
                return TopicsIdentified(identified.assignments, identified.states, frozenset(identified.unknown))
            case do.RemoveTopic(topic):
                await writes.remove_topic(topic)
                _log.info("topic deleted", topic=topic)
                return TopicRemoved(topic)
            case do.RemoveDeletionRequest(topic):
                await writes.remove_deletion_request(topic)
            case do.RemoveIsrChanges(names):
                await writes.remove_notifications(ISR_CHANGES, names)
            case do.RemoveLogDirEvents(names):
                await writes.remove_notifications(LOG_DIR_EVENTS, names)
            case do.RewriteReassignmentRequest(targets, refused):
                _log_verdicts("reassignment refused", refused)
                await rewrite_reassignment_request(writes, targets)
            case do.RemoveElectionRequest(verdicts):
                _log_verdicts("no preferred leader elected", verdicts)
                await remove_election_request(writes)
            case _:
                return await self._read(effect)
        return None

    async def _read(self, effect: do.ControllerEffect) -> ControllerEvent:
        match effect:
            case do.ReadTopicsToDelete():
                return TopicsToDelete(frozenset(await self._store.topics_to_delete()))
            case do.ReadIsrChanges(names):
                named = await read_isr_changes(self._store.session, names)
                return IsrChangesRead(await self._store.states(sorted(named)))
            case do.ReadLogDirEvents(names):
                return LogDirsFailed(frozenset(await read_log_dir_events(self._store.session, names)))
            case do.ReadUncleanElection(topics):
                allowed = await topics_with_unclean_election(
                    self._store, topics, self._broker_id, by_file=self._defaults.unclean_election
                )
                return UncleanElectionRead(allowed)
            case do.ReadMinIsr(topics):
                return MinIsrRead(topics, await self._min_isr_of(topics))
        raise TypeError(f"{type(effect).__name__} is no effect on ZooKeeper")

    async def min_isr_if_kept(self, topics: Collection[str]) -> MinIsrSettings | None:
        """Return min.insync.replicas, the same on all brokers from now on; None unless eligible leader
        replicas are kept. Raises ZooKeeperError.
        """
        if not self._keeps_eligible():
            return None
        await unify_min_isr(self._store, self._defaults.min_isr)
        return await self._min_isr_of(topics)

    async def _min_isr_of(self, topics: Collection[str]) -> MinIsrSettings:
        return await min_isr_of_topics(self._store, topics, self._broker_id, by_file=self._defaults.min_isr)

    async def _write_assignments(self, effect: do.WriteAssignments, writes: ControllerStore) -> AssignmentsWritten:
        written = await write_assignments(self._store.session, writes, effect.assignments, effect.topic_ids)
        for partition, assignment in sorted(written.items()):
            _log_assignment(partition, assignment)
        return AssignmentsWritten(written)


def _log_assignment(partition: TopicPartition, assignment: ReplicaAssignment) -> None:
    what = "partition moves" if assignment.is_reassigning else "partition is where it shall be"
    _log.info(what, partition=str(partition), replicas=assignment.target, removing=assignment.removing)


def _log_verdicts(what: str, verdicts: dict[TopicPartition, PartitionVerdict]) -> None:
    for partition, verdict in sorted(verdicts.items()):
        if verdict.code not in (ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED):
            _log.warning(what, partition=str(partition), reason=verdict.message)

"""Keeps the topic spread over all brokers, by what `spread` says: one step, then some time for it to come true."""

from collections.abc import Iterable
from threading import Event
from typing import Any

from broker.client.cluster import ClusterConnections
from broker.common.errors import ApiError, BarnabasError, ErrorCode, error_code_of
from broker.common.logs import logger
from broker.probe.config import ProbeConfig
from broker.probe.shared_state import ProbeSharedState
from broker.probe.spread import Add, Elect, ReplicaMove, Step, TopicCreation, View, next_step
from broker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from broker.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from broker.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from broker.protocol.messages.elect_leaders import ElectionType, ElectLeadersRequest, TopicPartitions
from broker.protocol.schema import Message, Request

_LOOK_EVERY_S = 1.0
#: A step is given so long to come true; replicas that move are given longer.
_REST_S = 4.0
_MOVE_REST_S = 30.0
#: Who may not do it is not asked again and again: each refusal is in the authorizer's log.
_REFUSED_REST_S = 600.0
_REFUSED = {ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.TOPIC_AUTHORIZATION_FAILED}
#: An answer that says that all is as it was asked for.
_DONE = {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.ELECTION_NOT_NEEDED}

_log = logger("broker.probe")


class Keeper:
    def __init__(self, desk: ProbeSharedState, cluster: ClusterConnections, config: ProbeConfig):
        self._desk, self._cluster, self._config = desk, cluster, config
        self._rests_until_ms = 0.0
        self._last_error = ""

    def run(self, stop: Event) -> None:
        """Find the cluster, then probe it until `stop` is set."""
        while not stop.wait(_LOOK_EVERY_S if self._desk.learned_at_ms is not None else 0.2):
            try:
                self.look()
            except BarnabasError as error:
                self._note_error(error)
            except Exception as error:  # without this thread no new broker is found
                _log.exception("the probe's look at the cluster failed")
                self._note_error(error)

    def look(self) -> None:
        """Raises BarnabasError."""
        desk = self._desk
        if desk.learned_at_ms is None:
            desk.learn(self._cluster.ask_any(desk.metadata_request))
        if desk.at_ms() < self._rests_until_ms:
            return
        with desk.lock:
            step = next_step(self._view(), self._config.replication_factor)
        if step is not None:
            _log.info("topic reassigned", topic=desk.topic, step=str(step))
            self._rests_until_ms = desk.at_ms() + 1000 * (_MOVE_REST_S if isinstance(step, ReplicaMove) else _REST_S)
            self._take(step)
            self._last_error = ""

    def _view(self) -> View:
        """Return the view without silent brokers, which may be about to leave and get no replicas."""
        view = self._desk.book.topology.view
        silent = self._desk.book.watch.blamed
        return View({item: rack for item, rack in view.brokers.items() if item not in silent}, view.partitions)

    def _take(self, step: Step) -> None:
        request = _request(step, self._desk.topic, self._config)
        try:
            answer = self._cluster.ask_controller(request)
        finally:
            self._cluster.close()
            with self._desk.lock:
                self._desk.look_again = True
        for number, error in _errors(answer):
            code = error_code_of(number)
            if code not in _DONE:
                raise ApiError(code, f"{self._desk.topic}: {error or code.meaning}")

    def _note_error(self, error: Exception) -> None:
        if isinstance(error, ApiError) and error.code in _REFUSED:
            self._rests_until_ms = self._desk.at_ms() + 1000 * _REFUSED_REST_S
        if str(error) != self._last_error:
            self._last_error = str(error)
            _log.warning("the topic cannot be kept spread", topic=self._desk.topic, reason=str(error))


def _request(step: Step, topic: str, config: ProbeConfig) -> Request[Message]:
    if isinstance(step, TopicCreation):
        assignments = [
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(replicas))
            for index, replicas in enumerate(step.assignments)
        ]
        configs = [CreatableTopicConfig(name="retention.ms", value=str(config.retention_ms))]
        wanted = CreatableTopic(
            name=topic, num_partitions=-1, replication_factor=-1, assignments=assignments, configs=configs
        )
        return CreateTopicsRequest(topics=[wanted], timeout_ms=5_000, validate_only=False)
    if isinstance(step, Add):
        added = [CreatePartitionsAssignment(broker_ids=list(assignment)) for assignment in step.assignments]
        grown = CreatePartitionsTopic(name=topic, count=step.count, assignments=added)
        return CreatePartitionsRequest(topics=[grown], timeout_ms=5_000, validate_only=False)
    if isinstance(step, Elect):
        partitions = [TopicPartitions(topic=topic, partitions=list(step.partitions))]
        return ElectLeadersRequest(election_type=ElectionType.PREFERRED, topic_partitions=partitions, timeout_ms=5_000)
    moved = [ReassignablePartition(partition_index=index, replicas=list(item)) for index, item in step.replicas.items()]
    return AlterPartitionReassignmentsRequest(
        timeout_ms=5_000, topics=[ReassignableTopic(name=topic, partitions=moved)]
    )


def _errors(answer: Any) -> Iterable[tuple[int, str | None]]:
    """Yield (code, message) of each part of a response."""
    if getattr(answer, "error_code", 0):
        yield answer.error_code, getattr(answer, "error_message", None)
    for name in getattr(answer, "topics", None) or getattr(answer, "results", None) or ():
        yield name.error_code, name.error_message
    for name in getattr(answer, "replica_election_results", ()):
        yield from ((one.error_code, one.error_message) for one in name.partition_result)
    for name in getattr(answer, "responses", ()):
        yield from ((one.error_code, one.error_message) for one in name.partitions)

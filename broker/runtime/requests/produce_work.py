"""The work of one Produce request, stage by stage: packed, verified, validated, appended, committed.

packed: batches of topics with a codec of their own are packed anew (`replication/repacking.py`).
verified: batches that open a transaction belong to it (`replication/transactional_appends.py`).
validated: records of compacted topics are looked at; those of a transaction before it is verified, because from then on
the producer's later requests stand in line, all others right before they are appended.
appended: every batch is in the log of its partition, or refused.
committed: with acks=all the batches are in all in-sync replicas, and those of topics with flush.messages are fsynced.

Every stage calls the next one. What has nothing to wait for is answered within one call and costs no task.
"""

from collections.abc import Awaitable, Callable, Iterator
from inspect import isawaitable
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode, RecordsRefused
from broker.common.types import TopicPartition, new_tuple
from broker.log.validation import BatchValidation, NeedsFullValidation
from broker.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
)
from broker.protocol.produced import Produced
from broker.protocol.schema import Message
from broker.records.batch import check_produced_batch, uses_zstd
from broker.runtime.in_turns import in_order, in_turns, once_done
from broker.runtime.replication.batch_looks import BatchValidations
from broker.runtime.replication.hosted_partition import ProduceResult
from broker.runtime.replication.repacking import Guard
from broker.runtime.replication.transactional_appends import Append, Batches
from broker.runtime.requests.context import Reply, RequestContext, traffic_of
from broker.runtime.requests.current_leader import current_leader, refusal
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS
from broker.security.client_traffic import SAMPLED
from broker.security.operations import AclOperation, ResourceType

_ALL = -1
_ACKS = (_ALL, 0, 1)
_FIRST_VERSION_WITH_ZSTD = 7  #: KIP-110
#: Batches of one request; each takes a millisecond if its timestamp lets a segment end.
_APPENDED_AT_ONCE = 20

#: Errors of the log itself: their answers have its first offset, by which producers see whether theirs are deleted.
_OF_THE_LOG = {
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.UNKNOWN_PRODUCER_ID,
    ErrorCode.NOT_ENOUGH_REPLICAS,
}

#: What became of the batch for one partition: its place in the log, or why it has none.
Outcome = Produced | PartitionProduceResponse
#: By topic, in the order of the request.
Outcomes = list[tuple[str, list[Outcome]]]
#: What is sent to the client, encoded already or not; None for acks=0.
Response = Message | bytes | None
#: Makes it of the outcomes; the flag says that all of them are places in the log, as nearly always.
Respond = Callable[[Outcomes, bool, RequestContext], Response]


class _Uncommitted(NamedTuple):
    """Appended for acks=all, and not yet in all in-sync replicas: `outcomes[at]` is not sure."""

    outcomes: list[Outcome]
    at: int
    result: ProduceResult


class ProduceWork:
    """One request. `begin` returns its reply; whatever the client may not do is refused by the handler before."""

    __slots__ = (
        "_append",
        "_context",
        "_guard",
        "_is_counted_as_is",
        "_is_plain",
        "_outcomes",
        "_request",
        "_respond",
        "_uncommitted",
        "_validated",
    )

    def __init__(self, request: ProduceRequest, context: RequestContext, respond: Respond):
        self._request = request
        self._context = context
        self._respond = respond
        self._outcomes: Outcomes = []
        self._uncommitted: list[_Uncommitted] = []
        self._is_plain = True
        #: The client's first request in a window, of which every batch is counted as it is.
        self._is_counted_as_is = context.session.traffic.is_due

    def begin(self) -> Reply:
        services = self._context.services
        if services.repacking.partitions:
            return services.repacking.when_packed(self._to_be_packed(), self._when_packed)
        transactional_id = self._request.transactional_id
        if transactional_id is not None:
            return self._verify(transactional_id, _as_it_is)
        return self._append_all(services.replicas.append)

    def _sent(self) -> list[tuple[TopicPartition, PartitionProduceData]]:
        return [
            (TopicPartition(topic.name, data.index), data)
            for topic in self._request.topic_data
            for data in topic.partition_data
        ]

    def _to_be_packed(self) -> list[tuple[TopicPartition, PartitionProduceData]]:
        """Return what is sent without batches that are refused for their codec."""
        sent = self._sent()
        if self._context.api_version >= _FIRST_VERSION_WITH_ZSTD:
            return sent
        return [(place, data) for place, data in sent if data.records is None or not uses_zstd(data.records)]

    # -- packed

    def _when_packed(self, guard: Guard) -> Reply:
        transactional_id = self._request.transactional_id
        if transactional_id is not None:
            return self._verify(transactional_id, guard)
        return self._append_all(guard(self._context.services.replicas.append))

    # -- verified

    def _verify(self, transactional_id: str, guard: Guard) -> Reply:
        self._guard = guard
        #: By a batch's `id`, what validation found; batches of topics that are not compacted are missing.
        self._validated: dict[int, ApiError | None] = {}
        batches = [(topic_partition, data.records) for topic_partition, data in self._sent()]
        if any(self._is_compacted(topic_partition) for topic_partition, _ in batches):
            return in_order(lambda done: self._validate_then_verify(transactional_id, batches, done))
        return self._when_validated(transactional_id, batches)

    async def _validate_then_verify(
        self, transactional_id: str, batches: Batches, done: Callable[[], None]
    ) -> Response:
        looks = BatchValidations(self._context.services.turns)
        for topic_partition, batch in batches:
            if batch is not None and self._is_compacted(topic_partition):
                try:
                    check_produced_batch(batch)
                    await looks.look(batch)
                    self._validated[id(batch)] = None
                except ApiError as error:
                    self._validated[id(batch)] = error
        reply = await once_done(self._when_validated(transactional_id, batches))
        done()
        return await reply if isawaitable(reply) else reply

    def _is_compacted(self, topic_partition: TopicPartition) -> bool:
        hosted = self._context.services.replicas.get(*topic_partition)
        return hosted is not None and hosted.log.config.is_compacted

    def _when_validated(self, transactional_id: str, batches: Batches) -> Reply:
        appends = self._context.services.transactional_appends
        return appends.when_verified(transactional_id, self._context.api_version, batches, self._when_verified)

    def _when_verified(self, append: Append) -> Reply:
        validated = self._validated

        def append_validated(
            topic_partition: TopicPartition, batch: bytearray | memoryview, *, is_for_all: bool, look: BatchValidation
        ) -> ProduceResult:
            error = validated.get(id(batch))
            if error is not None:
                raise error
            look = BatchValidation.DONE if id(batch) in validated else BatchValidation.WHOLE
            return append(topic_partition, batch, is_for_all=is_for_all, look=look)

        return self._append_all(self._guard(append_validated))

    # -- appended

    def _append_all(self, append: Append) -> Reply:
        self._append = append
        left = _APPENDED_AT_ONCE
        try:
            for topic in self._request.topic_data:
                outcomes: list[Outcome] = []
                self._outcomes.append((topic.name, outcomes))
                left -= len(topic.partition_data)
                if left < 0:
                    raise NeedsFullValidation
                for data in topic.partition_data:
                    outcomes.append(self._append_one(topic.name, data, outcomes))
        except NeedsFullValidation:
            return in_order(self._append_in_turns)
        return self._commit()

    def _append_one(
        self,
        topic: str,
        data: PartitionProduceData,
        outcomes: list[Outcome],
        look: BatchValidation = BatchValidation.SHORT,
    ) -> Outcome:
        """Raises NeedsLook, with nothing written."""
        topic_partition = new_tuple(TopicPartition, (topic, data.index))
        acks, batch, append = self._request.acks, data.records, self._append
        try:
            if batch is None:
                raise self._error_without_batch(topic)
            if acks not in _ACKS:
                raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)
            if self._context.api_version < _FIRST_VERSION_WITH_ZSTD and uses_zstd(batch):
                self._refuse_zstd(topic_partition)
            if topic in INTERNAL_TOPICS:
                raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is internal; only brokers write to it")
            result = append(topic_partition, batch, is_for_all=acks == _ALL, look=look)
        except ApiError as error:
            return self._refuse(error, topic_partition)
        base_offset, end_offset, log_start_offset, hosted, log_append_time_ms = result
        # What small requests pay is counted: most do not pass an offset that is sampled.
        if base_offset ^ end_offset >= SAMPLED or self._is_counted_as_is:
            traffic = traffic_of(self._context)
            traffic.produced[topic].add(end_offset - base_offset, len(batch), is_exact=self._is_counted_as_is)
        if acks == _ALL and end_offset > hosted.partition.high_watermark:
            self._uncommitted.append(_Uncommitted(outcomes, len(outcomes), result))
        return new_tuple(Produced, (data.index, base_offset, log_append_time_ms, log_start_offset))

    def _refuse_zstd(self, topic_partition: TopicPartition) -> None:
        """Raise UNSUPPORTED_COMPRESSION_TYPE if the partition is here; else that it is not is the better answer."""
        if self._context.services.replicas.get(*topic_partition) is not None:
            version = self._context.api_version
            reason = f"Produce requests with version {version} are not allowed to use ZStandard compression"
            raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, reason)

    async def _append_in_turns(self, done: Callable[[], None]) -> Response:
        """Append what is left of a request that takes long: it has many batches, or one that is long to validate."""
        turns = self._context.services.turns
        looks = BatchValidations(turns)

        async def append_next(entry: tuple[str, list[Outcome], PartitionProduceData]) -> None:
            topic, outcomes, data = entry
            try:
                outcome = self._append_one(topic, data, outcomes)
            except NeedsFullValidation:
                try:
                    if data.records is not None:
                        await looks.look(data.records)
                    outcome = self._append_one(topic, data, outcomes, BatchValidation.DONE)
                except ApiError as error:
                    outcome = self._refuse(error, TopicPartition(topic, data.index))
            outcomes.append(outcome)

        await in_turns(self._left(), append_next, turns)
        done()
        reply = self._commit()
        return await reply if isawaitable(reply) else reply

    def _left(self) -> Iterator[tuple[str, list[Outcome], PartitionProduceData]]:
        for number, topic in enumerate(self._request.topic_data):
            if number == len(self._outcomes):
                self._outcomes.append((topic.name, []))
            outcomes = self._outcomes[number][1]
            for data in topic.partition_data[len(outcomes) :]:
                yield topic.name, outcomes, data

    def _error_without_batch(self, topic: str) -> ApiError:
        """Return why there is no batch: the handler drops those that the client may not write."""
        if not self._context.session.rights.sees(AclOperation.WRITE, ResourceType.TOPIC, topic):
            return ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        return ApiError(ErrorCode.INVALID_RECORD, "the request holds no record batch for the partition")

    def _refuse(self, error: ApiError, topic_partition: TopicPartition) -> PartitionProduceResponse:
        self._is_plain = False
        return refused_batch(error, topic_partition, self._context)

    # -- committed

    def _commit(self) -> Response | Awaitable[Response]:
        """Respond, now or when all is committed; a request that waits is let go of, so that its bytes are free."""
        request, services = self._request, self._context.services
        if self._uncommitted:
            results = [uncommitted.result for uncommitted in self._uncommitted]
            del self._request
            return services.delayed_produces.wait(results, request.timeout_ms, self._when_committed)
        if request.acks and services.replicas.flushes_under_way:
            del self._request
            return self._when_flushed()
        respond = self._respond
        return respond(self._outcomes, self._is_plain, self._context)

    def _when_committed(self, codes: list[ErrorCode]) -> Response:
        for (outcomes, at, _), code in zip(self._uncommitted, codes, strict=True):
            if code:
                self._is_plain = False
                outcomes[at] = PartitionProduceResponse(
                    index=outcomes[at].index, error_code=code, error_message=code.meaning, base_offset=-1
                )
        return self._respond(self._outcomes, self._is_plain, self._context)

    async def _when_flushed(self) -> Response:
        """Respond once what is written to topics with flush.messages is fsynced."""
        for name, outcomes in self._outcomes:
            for at, outcome in enumerate(outcomes):
                if outcome.__class__ is not Produced:
                    continue
                topic_partition = TopicPartition(name, outcome.index)
                try:
                    await self._context.services.replicas.flushed(topic_partition)
                except ApiError as error:
                    outcomes[at] = self._refuse(error, topic_partition)
        return self._respond(self._outcomes, self._is_plain, self._context)


def refused_batch(
    error: ApiError, topic_partition: TopicPartition, context: RequestContext
) -> PartitionProduceResponse:
    """Return the response for a batch that has no place in the log; it names the leader to go to (KIP-951)."""
    code = refusal(error, topic_partition, context)
    answer = PartitionProduceResponse(
        index=topic_partition.partition,
        error_code=code,
        base_offset=-1,
        error_message=error.message if code == error.code else code.meaning,
    )
    is_of_log = code in _OF_THE_LOG or isinstance(error, RecordsRefused)
    if is_of_log and (hosted := context.services.replicas.get(*topic_partition)):
        answer.log_start_offset = hosted.log.log_start_offset
    if isinstance(error, RecordsRefused):
        answer.record_errors = [
            BatchIndexAndErrorMessage(batch_index=at, batch_index_error_message=reason)
            for at, reason in error.records.items()
        ]
    if code == ErrorCode.NOT_LEADER_OR_FOLLOWER and (leader := current_leader(topic_partition, context)):
        answer.current_leader = LeaderIdAndEpoch(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
    return answer


def _as_it_is(append: Append) -> Append:
    return append

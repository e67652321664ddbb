"""Fetch: read committed batches; wait for more when there are fewer bytes than the client wants.

Which partitions a request means and which of them are answered is decided by `replication/fetch_session.py`.
"""

from collections.abc import Awaitable, Iterable

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import ANSWER_BYTES_IN_MEMORY_MAX, BYTES_AT_ONCE_MAX, FETCH_WAIT_MS_MAX
from broker.common.types import IsolationLevel, TopicPartition
from broker.handlers.fetched_topics import by_topic
from broker.handlers.follower_fetch import FIRST_VERSION_WITH_IDS, fetch_as_follower
from broker.handlers.handler import OF_PARTITIONS, public
from broker.log.cold_parts import ColdPart, ColdReadError
from broker.log.log_slice import LogSlice
from broker.net.file_part import SENDFILE_BYTES_MIN, FilePart
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.fetch import (
    AbortedTransaction,
    CurrentLeader,
    FetchNodeEndpoint,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from broker.protocol.response_frame import PART_BYTES_MIN
from broker.replication.closest_replica import closest_replica
from broker.replication.fetch_session import (
    FINAL_EPOCH,
    NO_SESSION,
    Answered,
    Asked,
    Fetch,
    Opening,
    SessionlessFetch,
    TopicKey,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.replication.follower_reads import diverging, refused
from broker.runtime.replication.replica_manager import ReadResult
from broker.runtime.requests.context import Reply, RequestContext
from broker.runtime.requests.current_leader import addresses, current_leader, refusal
from broker.security.operations import Operation, ResourceType
from broker.security.quotas.windows import WindowedRate
from broker.security.rights import UNLIMITED

_FIRST_VERSION_WITH_ZSTD = 10
#: A follower that is not told so would keep what the leader has not (KIP-101, KIP-595).
#: Partitions read in one go, some 10 µs each.
PARTITIONS_AT_ONCE_MAX = 500
_FIRST_VERSION_WITH_REPLICA_STATE = 15
#: The refusals that come with the leader's name.
_MOVED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def handle_fetch(request: FetchRequest, context: RequestContext) -> Reply:
    request.max_wait_ms = min(request.max_wait_ms, FETCH_WAIT_MS_MAX)
    replica_id = _replica_id(request, context.api_version)
    if replica_id >= 0:
        return fetch_as_follower(request, replica_id, context)
    try:
        fetch = _begin(request, context)
    except ApiError as error:
        return FetchResponse(error_code=error.code)
    reading = _Reading(request, fetch, context)
    if len(fetch.partitions) > PARTITIONS_AT_ONCE_MAX:
        return _read_in_turns(reading, request.max_wait_ms, context)
    reading.read(is_waiting_for_disks=False)
    if reading.cold:
        return _when_fetched(reading, request.max_wait_ms, context)
    return _reply(reading, request.max_wait_ms, context)


async def _when_fetched(reading: "_Reading", max_wait_ms: int, context: RequestContext) -> FetchResponse:
    """What lies on the disk only is read by others than the loop first."""
    await context.services.replicas.logs.fetch(reading.cold)
    reading.read()
    reply = _reply(reading, max_wait_ms, context)
    return reply if isinstance(reply, FetchResponse) else await reply


def _reply(reading: "_Reading", max_wait_ms: int, context: RequestContext) -> FetchResponse | Awaitable[FetchResponse]:
    if reading.is_enough or max_wait_ms <= 0:
        return _respond(reading.fetch, reading, context)
    deadline_ms = context.services.clock.monotonic_ms() + max_wait_ms
    return _wait_for_more(reading, reading.fetch, context, reading.park(deadline_ms), deadline_ms)


def _begin(request: FetchRequest, context: RequestContext) -> Fetch:
    by_id = context.api_version >= FIRST_VERSION_WITH_IDS
    asked = _asked_once((topic.topic_id if by_id else topic.topic, topic.partitions) for topic in request.topics)
    if request.session_epoch == FINAL_EPOCH and request.session_id == NO_SESSION:
        return SessionlessFetch(asked)
    forgotten = [
        (topic.topic_id if by_id else topic.topic, partition)
        for topic in request.forgotten_topics_data
        for partition in topic.partitions
    ]
    opening = Opening(request.session_id, request.session_epoch, asked, forgotten, by_id)
    return context.services.fetch_sessions.begin(opening, context.services.clock.monotonic_ms())


def _asked_once(topics: Iterable[tuple[TopicKey, list[FetchPartition]]]) -> list[Asked]:
    """As sessions do, and Kafka: what is said of a partition last counts, in the place of the first."""
    asked = {(topic, each.partition): (topic, each) for topic, partitions in topics for each in partitions}
    return list(asked.values())


def _replica_id(request: FetchRequest, version: int) -> int:
    return request.replica_state.replica_id if version >= _FIRST_VERSION_WITH_REPLICA_STATE else request.replica_id


async def _read_in_turns(reading: "_Reading", wait_ms: int, context: RequestContext) -> FetchResponse:
    """As for few partitions, but waits from before it looks, so that nothing is missed between two turns."""
    deadline_ms = context.services.clock.monotonic_ms() + wait_ms
    waking = reading.park(deadline_ms)
    try:
        await reading.read_in_turns(is_waiting_for_disks=False)
        if reading.cold:
            await context.services.replicas.logs.fetch(reading.cold)
            await reading.read_in_turns(is_waiting_for_disks=True)
        if reading.is_enough or wait_ms <= 0:
            return _respond(reading.fetch, reading, context)
        return await _wait_for_more(reading, reading.fetch, context, waking, deadline_ms)
    finally:
        waking.cancel()


async def _wait_for_more(
    reading: "_Reading",
    fetch: Fetch,
    context: RequestContext,
    waking: Awaitable[set[TopicPartition]],
    deadline_ms: int,
) -> FetchResponse:
    while woken := await waking:
        reading.read_again(woken)
        if reading.is_enough:
            break
        waking = reading.park(deadline_ms)
    if not reading.answers:
        reading.read()
    return _respond(fetch, reading, context)


def _respond(fetch: Fetch, reading: "_Reading", context: RequestContext) -> FetchResponse:
    wait_ms = 0
    try:
        if (quota := reading.quota) is not None:
            quota.left = left = quota.left - reading.bytes_read
            now_ns = context.services.quotas.now_ns()
            if left < 0 or now_ns >= quota.until_ns:
                wait_ms, is_given = quota.settle_offer(reading.bytes_read, now_ns)
                if not is_given:
                    return FetchResponse(throttle_time_ms=wait_ms, session_id=fetch.put_off())
        session_id, answers = fetch.finish(reading.answers)
    except ApiError as error:
        return FetchResponse(error_code=error.code)
    return FetchResponse(
        throttle_time_ms=wait_ms,
        session_id=session_id,
        responses=by_topic(answers),
        node_endpoints=_endpoints(answers, context) if reading.has_errors else [],
    )


def _endpoints(answers: list[Answered], context: RequestContext) -> list[FetchNodeEndpoint]:
    leaders = [answer.current_leader.leader_id for _, answer in answers if answer.current_leader]
    return [
        FetchNodeEndpoint(node_id=node.node_id, host=node.host, port=node.port, rack=node.rack)
        for node in addresses(leaders, context)
    ]


class _Reading:
    """Passes over the partitions of a request, each within the byte limits of the request. While it waits, the request
    itself is free.
    """

    def __init__(self, request: FetchRequest, fetch: Fetch, context: RequestContext):
        self._bytes_min = request.min_bytes
        self.fetch = fetch
        self._context = context
        self._replicas = context.services.replicas
        self._rights = context.session.rights
        self._bytes_max = min(request.max_bytes, context.services.config.fetch_max_bytes)
        #: Of the bytes of records; None: as many as there are.
        self.quota: WindowedRate | None = None
        if context.services.quotas.clients.limits_fetches:
            self.quota = quota = context.services.quotas.of_fetches(context.session, context.client_id)
            if quota is not None and quota.most_at_once < self._bytes_max:
                self._bytes_max = int(quota.most_at_once)
                self._bytes_min = min(self._bytes_min, self._bytes_max)
        #: Where the consumer stands; it may then be served, or be sent to, a replica nearby (KIP-392).
        self._rack = request.rack_id
        self._is_stable_only = request.isolation_level == IsolationLevel.READ_COMMITTED
        self._lacks_zstd = context.api_version < _FIRST_VERSION_WITH_ZSTD
        self._bytes_in_memory = 0
        self.answers: list[Answered] = []
        #: Where each partition stands in the request, once it waits for them.
        self._places: dict[TopicPartition, int] = {}

    @property
    def is_enough(self) -> bool:
        """Whether what was read is to be sent without waiting."""
        return self.bytes_read >= self._bytes_min or not self._can_gain

    def read(self, *, is_waiting_for_disks: bool = True) -> None:
        """Unless it `is_waiting_for_disks`, what is `cold` then has no answer."""
        self._begin(is_waiting_for_disks)
        self.answers = [(topic, self._read_partition(topic, asked)) for topic, asked in self.fetch.partitions]

    async def read_in_turns(self, *, is_waiting_for_disks: bool) -> None:
        self._begin(is_waiting_for_disks)
        partitions, turns = self.fetch.partitions, self._context.services.turns
        self.answers = await in_turns(partitions, lambda each: (each[0], self._read_partition(*each)), turns)

    def _begin(self, is_waiting_for_disks: bool) -> None:
        self.cold: list[ColdPart] = []
        self._is_waiting_for_disks = is_waiting_for_disks
        #: By topic, asked again at each look: a right that is taken while the client waits counts.
        self._may_read: dict[str, bool] = {}
        self.bytes_read = self._bytes_in_memory = 0
        #: Whether waiting can bring anything: not when there is an error to tell, records were left behind for want of
        #: room, or nothing was asked for.
        self._can_gain = bool(self.fetch.partitions)
        self.has_errors = False

    def read_again(self, woken: set[TopicPartition]) -> None:
        """While nothing was found anywhere, only those that moved can have something new."""
        if self.bytes_read or len(self._places) < len(self.fetch.partitions):
            self.read()
            return
        self._is_waiting_for_disks = True
        self._may_read = {}
        for place in sorted(self._places[key] for key in woken):
            topic, asked = self.fetch.partitions[place]
            self.answers[place] = (topic, self._read_partition(topic, asked))

    def park(self, deadline_ms: int) -> Awaitable[set[TopicPartition]]:
        """Records that were read, but fewer than wanted, are not held while more are waited for."""
        if self._bytes_in_memory:
            self.answers = []
        if not self._places:
            partitions = enumerate(self.fetch.partitions)
            self._places = {TopicPartition(self._name_of(t), asked.partition): at for at, (t, asked) in partitions}
        wait_ms = deadline_ms - self._context.services.clock.monotonic_ms()
        return self._context.services.delayed_fetches.wait(self._places, wait_ms)

    def _name_of(self, topic: TopicKey) -> str:
        """Empty for an id that is not known."""
        if isinstance(topic, str):
            return topic
        known = self._context.services.metadata.topic_of_id(topic)
        return known.name if known else ""

    def _read_partition(self, topic: TopicKey, asked: FetchPartition) -> PartitionData:
        is_named = isinstance(topic, str)
        topic_partition = TopicPartition(topic if is_named else self._name_of(topic), asked.partition)
        try:
            if self._rights is not UNLIMITED and not self._may(topic_partition.topic):
                raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            result = self._replicas.read(
                topic_partition,
                asked.fetch_offset,
                min(asked.partition_max_bytes, self._bytes_max - self.bytes_read),
                at_least_one=self.bytes_read == 0,
                current_leader_epoch=asked.current_leader_epoch,
                topic_id=None if is_named else topic,
                may_follow=bool(self._rack),
                is_stable_only=self._is_stable_only,
                is_waiting_for_disk=self._is_waiting_for_disks,
            )
            if self._lacks_zstd and result.log.config.compression_type == "zstd":
                raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
            special = self._diverging(topic_partition, asked) or self._elsewhere(topic_partition, asked, result)
            if special is not None:
                self._can_gain = False
                return special
            records = self._payload(result.slice)
            bytes_read = self.bytes_read + len(records)
            if bytes_read < self._bytes_min and _leaves_records(result, asked.fetch_offset):
                self._can_gain = False
            aborted = _aborted(result, asked.fetch_offset) if self._is_stable_only else None
        except ColdReadError as error:
            self.cold.append(error.part)
            return refused(asked.partition, ErrorCode.NONE)
        except ApiError as error:
            return self._parted(topic_partition, asked, error) or self._refuse(topic, topic_partition, asked, error)
        self.bytes_read = bytes_read
        return PartitionData(
            partition_index=asked.partition,
            high_watermark=result.high_watermark,
            last_stable_offset=result.last_stable_offset,
            log_start_offset=result.log_start_offset,
            aborted_transactions=aborted,
            records=records,
        )

    def _may(self, topic: str) -> bool:
        """Without a name it is an id that nobody knows."""
        may_read = self._may_read.get(topic)
        if may_read is None:
            may_read = not topic or self._rights.may(Operation.READ, ResourceType.TOPIC, topic)
            self._may_read[topic] = may_read
        return may_read

    def _diverging(self, topic_partition: TopicPartition, asked: FetchPartition) -> PartitionData | None:
        """A consumer that has read what an unclean election took back must hear where the log parts (KIP-320).

        Raises ApiError(OFFSET_OUT_OF_RANGE) for an epoch above all that are known: there is no place to name then, and
        a consumer would pass over an answer without one and ask again for ever.
        """
        if asked.last_fetched_epoch < 0:
            return None
        log = self._replicas.get(*topic_partition).log
        answer = diverging(log, asked.partition, asked.fetch_offset, asked.last_fetched_epoch)
        if answer is not None and answer.diverging_epoch.epoch < 0:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
        return answer

    def _parted(self, topic_partition: TopicPartition, asked: FetchPartition, error: ApiError) -> PartitionData | None:
        """Beyond the log's end a divergence is said rather than `error`, by which the reader would start anew."""
        if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE or (
            asked.fetch_offset < self._replicas.get(*topic_partition).log.log_start_offset
        ):
            return None
        try:
            answer = self._diverging(topic_partition, asked)
        except ApiError:
            return None
        if answer is not None:
            self._can_gain = False
        return answer

    def _elsewhere(
        self, topic_partition: TopicPartition, asked: FetchPartition, result: ReadResult
    ) -> PartitionData | None:
        """The way to a replica in the consumer's rack, if there is a better one than us."""
        services = self._context.services
        partition = self._replicas.get(*topic_partition).partition
        if not self._rack or not services.config.replica_selector_class or not partition.is_leader:
            return None
        racks = {broker.broker_id: broker.rack for broker in services.metadata.brokers.values()}
        near = closest_replica(partition, self._rack, racks, asked.fetch_offset)
        if near is None:
            return None
        return PartitionData(
            partition_index=asked.partition,
            high_watermark=result.high_watermark,
            last_stable_offset=result.last_stable_offset,
            log_start_offset=result.log_start_offset,
            preferred_read_replica=near,
            records=b"",
        )

    def _payload(self, found: LogSlice) -> bytes | FilePart:
        """What is large is sent from the file; what is small is read, which also finds a disk error in time."""
        is_room_left = self._bytes_in_memory + found.length <= ANSWER_BYTES_IN_MEMORY_MAX
        if found.length >= (SENDFILE_BYTES_MIN if is_room_left else PART_BYTES_MIN):
            return FilePart(found.file, found.position, found.length)
        self._bytes_in_memory += found.length
        return found.read()

    def _refuse(
        self, topic: TopicKey, topic_partition: TopicPartition, asked: FetchPartition, error: ApiError
    ) -> PartitionData:
        self.has_errors = True
        self._can_gain = False
        if topic and not topic_partition.topic:
            return refused(asked.partition, ErrorCode.UNKNOWN_TOPIC_ID)
        answer = refused(asked.partition, refusal(error, topic_partition, self._context))
        if answer.error_code in _MOVED and (leader := current_leader(topic_partition, self._context)):
            answer.current_leader = CurrentLeader(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
        return answer


def _leaves_records(result: ReadResult, fetch_offset: int) -> bool:
    """Whether there are more than were taken, for want of room or in another segment. Raises ApiError."""
    found = result.slice
    next_offset = result.log.offset_after(fetch_offset, found) if found.length else fetch_offset
    return next_offset < result.end_offset


def _aborted(result: ReadResult, fetch_offset: int) -> list[AbortedTransaction]:
    """What a reader of committed records must leave out, and from where on. Raises ApiError."""
    aborted = result.log.aborted_in(fetch_offset, result.slice)
    return [AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset) for each in aborted]


#: What waits is counted by partitions (`DelayedFetches`, fetch sessions); of the request itself nothing is left.
_BUDGET = OF_PARTITIONS._replace(decoded_factor=1, long_answers_from=BYTES_AT_ONCE_MAX)

HANDLER = public(ApiKey.FETCH, 4, 17, handle_fetch, budget=_BUDGET)

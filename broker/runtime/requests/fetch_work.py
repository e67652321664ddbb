"""The work of one Fetch request of a consumer, stage by stage: read, fetched, waited for, finished.

read: a pass over its partitions, each within the byte limits of the request.
fetched: what only the disk holds is read by worker threads, and the pass is made again.
waited for: while there are fewer bytes than the client wants, more records are waited for.
finished: the quota is settled, and the fetch session decides which partitions the response names
(`replication/fetch_session.py`).

Every stage calls the next one. What has nothing to wait for is answered within one call and costs no task.
"""

import asyncio
from collections.abc import Awaitable, Callable

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import ANSWER_BYTES_IN_MEMORY_MAX
from broker.common.types import IsolationLevel, TopicPartition
from broker.log.cold_parts import ColdPart, ColdReadError
from broker.log.log import Log
from broker.log.log_slice import LogSlice
from broker.net.file_part import SENDFILE_BYTES_MIN, FilePart, records_of
from broker.protocol.messages.fetch import (
    AbortedTransaction,
    CurrentLeader,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from broker.protocol.primitives import Buffer
from broker.protocol.response_frame import PART_BYTES_MIN
from broker.replication.closest_replica import closest_replica
from broker.replication.fetch_session import Answered, Fetch, TopicKey
from broker.runtime.in_turns import in_turns
from broker.runtime.replication.follower_reads import diverging, refused
from broker.runtime.replication.hosted_partition import ReadResult
from broker.runtime.requests.context import RequestContext, traffic_of
from broker.runtime.requests.current_leader import current_leader, refusal
from broker.security.client_traffic import SAMPLED
from broker.security.operations import AclOperation, ResourceType
from broker.security.quotas.windows import WindowedRate
from broker.security.rights import UNLIMITED

_FIRST_VERSION_WITH_ZSTD = 10
#: Partitions read in one go, some 10 µs each.
PARTITIONS_AT_ONCE_MAX = 500
#: The refusals that come with the leader's name.
_MOVED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
#: The refusals without a look at the log. As Kafka's they have no aborted transactions, and the log's have null.
_BEFORE_THE_LOG = (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

#: Makes the response of a session's id, its partitions, a throttle time in ms, and whether a partition has an error.
Respond = Callable[[int, list[Answered], int, bool, RequestContext], FetchResponse]


class FetchWork:
    """One request. `begin` returns its reply; while it waits, the request itself is free."""

    def __init__(self, request: FetchRequest, fetch: Fetch, context: RequestContext, respond: Respond):
        self._bytes_min = request.min_bytes
        self._max_wait_ms = request.max_wait_ms
        self._fetch = fetch
        self._context = context
        self._respond = respond
        self._replicas = context.services.replicas
        self._rights = context.session.rights
        self._bytes_max = min(request.max_bytes, context.services.config.fetch_max_bytes)
        #: Of the bytes of records; None: as many as there are.
        self._quota: WindowedRate | None = None
        if context.services.quotas.clients.limits_fetches:
            self._quota = quota = context.services.quotas.of_fetches(context.session, context.client_id)
            if quota is not None and quota.most_at_once < self._bytes_max:
                self._bytes_max = int(quota.most_at_once)
                self._bytes_min = min(self._bytes_min, self._bytes_max)
        #: Where the consumer stands; it may then be served, or be sent to, a replica nearby (KIP-392).
        self._rack = request.rack_id
        self._is_stable_only = request.isolation_level == IsolationLevel.READ_COMMITTED
        self._lacks_zstd = context.api_version < _FIRST_VERSION_WITH_ZSTD
        self._bytes_in_memory = 0
        self._answers: list[Answered] = []
        #: What is counted for the client once it is sent: topic, offsets and bytes of each partition with records.
        self._taken: list[tuple[str, int, int]] = []
        #: Where each partition stands in the request, once it waits for them.
        self._places: dict[TopicPartition, int] = {}

    # -- read

    def begin(self) -> FetchResponse | Awaitable[FetchResponse]:
        if len(self._fetch.partitions) > PARTITIONS_AT_ONCE_MAX:
            return self._read_in_turns()
        self._read(is_waiting_for_disks=False)
        if self._cold:
            return self._fetch_from_disk()
        return self._wait_or_finish()

    async def _read_in_turns(self) -> FetchResponse:
        """Read many partitions in turns; waits from before it looks, so that nothing is missed between two turns."""
        deadline_ms = self._context.services.clock.monotonic_ms() + self._max_wait_ms
        waking = self._park(deadline_ms)
        try:
            await self._pass_in_turns(is_waiting_for_disks=False)
            if self._cold:
                await self._replicas.logs.fetch(self._cold)
                await self._pass_in_turns(is_waiting_for_disks=True)
            if self._is_enough or self._max_wait_ms <= 0:
                return self._finish()
            return await self._wait(waking, deadline_ms)
        finally:
            waking.cancel()

    # -- fetched

    async def _fetch_from_disk(self) -> FetchResponse:
        """Have worker threads read what is not in the page cache, then fetch."""
        await self._replicas.logs.fetch(self._cold)
        self._read()
        reply = self._wait_or_finish()
        return reply if isinstance(reply, FetchResponse) else await reply

    # -- waited for

    def _wait_or_finish(self) -> FetchResponse | Awaitable[FetchResponse]:
        if self._is_enough or self._max_wait_ms <= 0:
            return self._finish()
        deadline_ms = self._context.services.clock.monotonic_ms() + self._max_wait_ms
        return self._wait(self._park(deadline_ms), deadline_ms)

    async def _wait(self, waking: Awaitable[set[TopicPartition]], deadline_ms: int) -> FetchResponse:
        while woken := await waking:
            self._read_again(woken)
            if self._is_enough:
                break
            waking = self._park(deadline_ms)
        if not self._answers:
            self._read()
        return self._finish()

    def _park(self, deadline_ms: int) -> asyncio.Future[set[TopicPartition]]:
        """Wait for records; those read before are not kept in memory meanwhile."""
        if self._bytes_in_memory:
            self._answers = []
        if not self._places:
            partitions = enumerate(self._fetch.partitions)
            self._places = {
                TopicPartition(self._name_of(t), fetch_partition.partition): at
                for at, (t, fetch_partition) in partitions
            }
        wait_ms = deadline_ms - self._context.services.clock.monotonic_ms()
        return self._context.services.delayed_fetches.wait(self._places, wait_ms, self._context.session.owner)

    # -- finished

    def _finish(self) -> FetchResponse:
        throttle_time_ms = 0
        try:
            if (quota := self._quota) is not None:
                quota.left = left = quota.left - self._bytes_read
                now_ns = self._context.services.quotas.now_ns()
                if left < 0 or now_ns >= quota.until_ns:
                    throttle_time_ms, is_given = quota.settle_offer(self._bytes_read, now_ns)
                    if not is_given:
                        return FetchResponse(throttle_time_ms=throttle_time_ms, session_id=self._fetch.put_off())
            session_id, answers = self._fetch.finish(self._answers)
        except ApiError as error:
            return FetchResponse(error_code=error.code)
        if self._taken:
            self._count_taken()
        respond = self._respond
        return respond(session_id, answers, throttle_time_ms, self._has_errors, self._context)

    def _count_taken(self) -> None:
        traffic = traffic_of(self._context)
        for topic, offsets, size in self._taken:
            traffic.read[topic].add(offsets, size, is_exact=self._is_counted_as_is)

    # -- a pass over the partitions

    @property
    def _is_enough(self) -> bool:
        """Whether what was read is to be sent without waiting."""
        return self._bytes_read >= self._bytes_min or not self._can_gain

    def _read(self, *, is_waiting_for_disks: bool = True) -> None:
        """Read. Unless it `is_waiting_for_disks`, partitions that are `cold` then have no answer."""
        self._begin_pass(is_waiting_for_disks)
        self._answers = [
            (topic, self._read_partition(topic, fetch_partition)) for topic, fetch_partition in self._fetch.partitions
        ]

    async def _pass_in_turns(self, *, is_waiting_for_disks: bool) -> None:
        self._begin_pass(is_waiting_for_disks)
        partitions, turns = self._fetch.partitions, self._context.services.turns
        self._answers = await in_turns(partitions, lambda turn: (turn[0], self._read_partition(*turn)), turns)

    def _begin_pass(self, is_waiting_for_disks: bool) -> None:
        self._cold: list[ColdPart] = []
        self._is_waiting_for_disks = is_waiting_for_disks
        #: By topic, asked again at each look: a right that is taken while the client waits counts.
        self._may_read: dict[str, bool] = {}
        self._bytes_read = self._bytes_in_memory = 0
        self._taken = []
        #: The client's first request in a window, of which every partition is counted as it is.
        self._is_counted_as_is = self._context.session.traffic.is_due
        #: Whether waiting can bring anything: not when there is an error to tell, records were left behind for want of
        #: room, or nothing was asked for.
        self._can_gain = bool(self._fetch.partitions)
        self._has_errors = False

    def _read_again(self, woken: set[TopicPartition]) -> None:
        """Read again; if nothing was found before, only the partitions that moved."""
        if self._bytes_read or len(self._places) < len(self._fetch.partitions):
            self._read()
            return
        self._is_waiting_for_disks = True
        self._may_read = {}
        for place in sorted(self._places[key] for key in woken):
            topic, fetch_partition = self._fetch.partitions[place]
            self._answers[place] = (topic, self._read_partition(topic, fetch_partition))

    def _name_of(self, topic: TopicKey) -> str:
        """Empty for an id that is not known."""
        if isinstance(topic, str):
            return topic
        known = self._context.services.metadata.topic_of_id(topic)
        return known.name if known else ""

    def _read_partition(self, topic: TopicKey, fetch_partition: FetchPartition) -> PartitionData:
        topic_id = None if isinstance(topic, str) else topic
        topic_partition = TopicPartition(self._name_of(topic), fetch_partition.partition)
        try:
            if self._rights is not UNLIMITED and not self._may(topic_partition.topic):
                raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            result = self._replicas.read(
                topic_partition,
                fetch_partition.fetch_offset,
                min(fetch_partition.partition_max_bytes, self._bytes_max - self._bytes_read),
                at_least_one=self._bytes_read == 0,
                current_leader_epoch=fetch_partition.current_leader_epoch,
                topic_id=topic_id,
                may_follow=bool(self._rack),
                is_stable_only=self._is_stable_only,
                is_waiting_for_disk=self._is_waiting_for_disks,
            )
            if self._lacks_zstd and result.log.config.compression_type == "zstd":
                raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
            special = self._diverging_epoch(result.log, fetch_partition, result.high_watermark)
            special = special or self._preferred_replica(topic_partition, fetch_partition, result)
            if special is not None:
                self._can_gain = False
                return special
            records = self._payload(result.slice)
            bytes_read = self._bytes_read + len(records)
            if bytes_read < self._bytes_min and _leaves_records(result, fetch_partition.fetch_offset):
                self._can_gain = False
            aborted = _aborted(result, fetch_partition.fetch_offset) if self._is_stable_only else None
            self._note_taken(topic_partition.topic, fetch_partition.fetch_offset, result)
        except ColdReadError as error:
            self._cold.append(error.part)
            return refused(fetch_partition.partition, ErrorCode.NONE)
        except ApiError as error:
            special = self._diverging_epoch_beyond_end(topic_partition, fetch_partition, error)
            return special or self._refuse(topic, topic_partition, fetch_partition, error)
        self._bytes_read = bytes_read
        return PartitionData(
            partition_index=fetch_partition.partition,
            high_watermark=result.high_watermark,
            last_stable_offset=result.last_stable_offset,
            log_start_offset=result.log_start_offset,
            aborted_transactions=aborted,
            records=records,
        )

    def _note_taken(self, topic: str, fetch_offset: int, result: ReadResult) -> None:
        """Note what is to be counted; of a consumer that keeps up, what passes a sampled offset."""
        is_due = self._is_counted_as_is
        if result.slice.length and (is_due or fetch_offset ^ result.end_offset >= SAMPLED):
            offsets = result.log.count_offsets(fetch_offset, result.slice)
            if is_due or fetch_offset ^ (fetch_offset + offsets) >= SAMPLED:
                self._taken.append((topic, offsets, result.slice.length))

    def _may(self, topic: str) -> bool:
        """Return whether the client may read the topic; without a name it is an unknown id."""
        may_read = self._may_read.get(topic)
        if may_read is None:
            may_read = not topic or self._rights.may(AclOperation.READ, ResourceType.TOPIC, topic)
            self._may_read[topic] = may_read
        return may_read

    def _diverging_epoch(self, log: Log, fetch_partition: FetchPartition, high_watermark: int) -> PartitionData | None:
        """Return where the logs diverge, for a consumer that has read what an unclean election took back (KIP-320).

        Raises ApiError(OFFSET_OUT_OF_RANGE) for an epoch above all that are known: there is no place to name then, and
        a consumer would pass over an answer without one and ask again for ever.
        """
        if fetch_partition.last_fetched_epoch < 0:
            return None
        answer = diverging(
            log, fetch_partition.partition, fetch_partition.fetch_offset, fetch_partition.last_fetched_epoch
        )
        if answer is not None and answer.diverging_epoch is not None and answer.diverging_epoch.epoch < 0:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
        if answer is not None:
            answer.high_watermark = high_watermark
            answer.last_stable_offset = log.last_stable_offset(high_watermark)
            answer.aborted_transactions = None
        return answer

    def _diverging_epoch_beyond_end(
        self, topic_partition: TopicPartition, fetch_partition: FetchPartition, error: ApiError
    ) -> PartitionData | None:
        """Return a divergence beyond the log's end rather than `error`, which would make the reader start anew."""
        hosted = self._replicas.get(*topic_partition)
        if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE or (
            hosted is None or fetch_partition.fetch_offset < hosted.log.log_start_offset
        ):
            return None
        try:
            answer = self._diverging_epoch(hosted.log, fetch_partition, hosted.partition.high_watermark)
        except ApiError:
            return None
        if answer is not None:
            self._can_gain = False
        return answer

    def _preferred_replica(
        self, topic_partition: TopicPartition, fetch_partition: FetchPartition, result: ReadResult
    ) -> PartitionData | None:
        """Return a redirection to a replica in the consumer's rack, if there is a better one than us."""
        services = self._context.services
        if not self._rack or not services.config.replica_selector_class:
            return None
        hosted = self._replicas.get(*topic_partition)
        if hosted is None or not hosted.partition.is_leader:
            return None
        racks = {broker.broker_id: broker.rack for broker in services.metadata.brokers.values()}
        near = closest_replica(hosted.partition, self._rack, racks, fetch_partition.fetch_offset)
        if near is None:
            return None
        return PartitionData(
            partition_index=fetch_partition.partition,
            high_watermark=result.high_watermark,
            last_stable_offset=result.last_stable_offset,
            log_start_offset=result.log_start_offset,
            preferred_read_replica=near,
            records=b"",
        )

    def _payload(self, log_slice: LogSlice) -> Buffer:
        """Return a large slice as a region of the file to send; read a small one, which also finds a disk error in
        time.
        """
        is_room_left = self._bytes_in_memory + log_slice.length <= ANSWER_BYTES_IN_MEMORY_MAX
        if log_slice.length >= (SENDFILE_BYTES_MIN if is_room_left else PART_BYTES_MIN) and log_slice.file is not None:
            return records_of(FilePart(log_slice.file, log_slice.position, log_slice.length))
        self._bytes_in_memory += log_slice.length
        return log_slice.read()

    def _refuse(
        self, topic: TopicKey, topic_partition: TopicPartition, fetch_partition: FetchPartition, error: ApiError
    ) -> PartitionData:
        self._has_errors = True
        self._can_gain = False
        if topic and not topic_partition.topic:
            return refused(fetch_partition.partition, ErrorCode.UNKNOWN_TOPIC_ID)
        answer = refused(fetch_partition.partition, refusal(error, topic_partition, self._context))
        if answer.error_code not in _BEFORE_THE_LOG:
            answer.aborted_transactions = None
        if answer.error_code in _MOVED and (leader := current_leader(topic_partition, self._context)):
            answer.current_leader = CurrentLeader(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
        return answer


def _leaves_records(result: ReadResult, fetch_offset: int) -> bool:
    """Return whether there are more than were taken, for want of room or in another segment. Raises ApiError."""
    log_slice = result.slice
    next_offset = result.log.offset_after(fetch_offset, log_slice) if log_slice.length else fetch_offset
    return next_offset < result.end_offset


def _aborted(result: ReadResult, fetch_offset: int) -> list[AbortedTransaction]:
    """Return the aborted transactions that a reader of committed records leaves out, with their first offsets. Raises
    ApiError.
    """
    aborted = result.log.aborted_in(fetch_offset, result.slice)
    return [
        AbortedTransaction(producer_id=partition.producer_id, first_offset=partition.first_offset)
        for partition in aborted
    ]

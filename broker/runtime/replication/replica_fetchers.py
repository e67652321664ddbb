"""Follows leaders: one connection and one fetch session to each broker that leads partitions we hold.

`LeaderLink` decides what to ask and which answers count; here requests are sent and what comes is written to the logs.
An answer is written in the wake-up it arrives in, and the next request, which tells the leader so, leaves right after.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from itertools import count

from broker.common.backoff import Backoff
from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode, ProtocolError, error_code_of
from broker.common.limits import PARTITIONS_PER_CALLBACK
from broker.common.logs import logger
from broker.common.troubles import Troubles
from broker.common.types import NO_LEADER_EPOCH, TopicPartition
from broker.log.gaps import describe_gaps
from broker.net.connection import Connection
from broker.net.dialer import Dialer, PeerUnreachable
from broker.net.peer import connect
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages.fetch import FetchResponse, PartitionData
from broker.replication.leader_link import NO_SESSION, FollowerPartition, FollowerPosition, LeaderLink
from broker.replication.throttle import ReplicationThrottle
from broker.runtime.disk.group_flushes import refusal_of
from broker.runtime.periodic import rounds
from broker.runtime.replication.fetch_requests import FETCH_VERSION, FetchSettings, fetch_request
from broker.runtime.replication.follower_cuts import find_truncation_offset, start_over_at, truncate
from broker.runtime.replication.hosted_partition import HostedPartition, known_here
from broker.runtime.replication.log_start_reports import LogStartReports
from broker.runtime.replication.replica_manager import ReplicaManager

_log = logger(__name__)

_CONNECT_TIMEOUT_MS = 5_000
_RECONNECT_FIRST_S = 0.05
_RECONNECT_MAX_S = 1.0
#: Before records are asked for again that our own log did not take.
_NOT_TAKEN_BACK_OFF_MS = 1_000
#: How long a leader may refuse before the log says so: elections and restarts pass by themselves.
_TOLD_AFTER_MS = 5_000

#: host and port of a broker, None while it is not known.
AddressOf = Callable[[int], tuple[str, int] | None]


class ReplicaFetchers:
    """Keeps, for each leader we follow, a fetcher; which partitions each has follows from their roles."""

    def __init__(
        self,
        replicas: ReplicaManager,
        throttle: ReplicationThrottle,
        address_of: AddressOf,
        dialer: Dialer,
        settings: FetchSettings,
        clock: Clock,
    ):
        self._replicas = replicas
        self._throttle = throttle
        self._address_of = address_of
        self._dialer = dialer
        self._settings = settings
        self._clock = clock
        self._fetchers: dict[int, ReplicaFetcher] = {}
        self._leader_of: dict[TopicPartition, int] = {}
        replicas.on_role.append(self._on_role)

    def __len__(self) -> int:
        return len(self._fetchers)

    def close(self) -> None:
        for fetcher in self._fetchers.values():
            fetcher.close()
        self._fetchers.clear()

    def _on_role(self, hosted: HostedPartition) -> None:
        partition = hosted.partition
        leader = partition.state.leader if partition.state and not partition.is_leader else -1
        before = self._leader_of.pop(partition.topic_partition, -1)
        if before not in (-1, leader):
            self._unfollow(before, partition.topic_partition)
        if leader >= 0:
            self._leader_of[partition.topic_partition] = leader
            self._fetcher(leader).follow(hosted)

    def _fetcher(self, leader: int) -> "ReplicaFetcher":
        fetcher = self._fetchers.get(leader)
        if fetcher is None:
            fetcher = self._fetchers[leader] = ReplicaFetcher(
                leader,
                self._replicas,
                self._throttle,
                lambda: self._address_of(leader),
                self._dialer,
                self._settings,
                self._clock,
            )
        return fetcher

    def _unfollow(self, leader: int, topic_partition: TopicPartition) -> None:
        fetcher = self._fetchers[leader]
        fetcher.unfollow(topic_partition)
        if not fetcher.link.followed:
            self._fetchers.pop(leader).close()


class ReplicaFetcher:
    """Fetches from one leader as long as there is anything to follow."""

    def __init__(
        self,
        leader: int,
        replicas: ReplicaManager,
        throttle: ReplicationThrottle,
        address: Callable[[], tuple[str, int] | None],
        dialer: Dialer,
        settings: FetchSettings,
        clock: Clock,
    ):
        self.link = LeaderLink()
        self._leader = leader
        self._replicas = replicas
        self._throttle = throttle
        self._address = address
        self._dialer = dialer
        self._settings = settings
        self._clock = clock
        self._log_starts = LogStartReports(self.link, replicas, self._not_ready, self._send_soon)
        self._connection: Connection | None = None
        self._backoff = Backoff(_RECONNECT_FIRST_S, _RECONNECT_MAX_S)
        self._correlation_ids = count()
        self._answers = 0
        self._is_sending_due = False
        self._retry_timer: asyncio.TimerHandle | None = None
        #: Whose logs are to be cut, and what of them the leader said.
        self._parted: list[tuple[FollowerPartition, HostedPartition, PartitionData]] = []
        self._troubles = Troubles()
        self._task = asyncio.get_running_loop().create_task(rounds(self._be_connected))

    def follow(self, hosted: HostedPartition) -> None:
        partition = hosted.partition
        self.link.follow(partition.topic_partition, hosted.topic_id, partition.leader_epoch)
        self._send_soon()

    def unfollow(self, topic_partition: TopicPartition) -> None:
        self.link.unfollow(topic_partition)
        self._troubles.is_over(topic_partition)
        self._send_soon()

    def close(self) -> None:
        self._task.cancel()
        self._parted.clear()
        if self._retry_timer:
            self._retry_timer.cancel()
        if self._connection:
            self._connection.close()

    # -- the connection

    async def _be_connected(self) -> None:
        """Connect once, and return when the connection ends."""
        lost = asyncio.get_running_loop().create_future()
        try:
            self._connection = await self._connect(lost)
            self._backoff.succeed()
            self._send_all(self._connection)
            self._arm_retry()
            reason = await self._until_lost(self._connection, lost)
            _log.info("connection to leader ended", leader=self._leader, reason=reason or "closed")
        except PeerUnreachable as error:
            _log.info("leader is not reached", leader=self._leader, reason=str(error))
        finally:
            self._disconnect()
        await asyncio.sleep(self._backoff.fail())

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self.link.disconnected()

    async def _until_lost(self, connection: Connection, lost: asyncio.Future[str]) -> str:
        """Return why the connection ended; a peer that answers no fetch for long is gone, whatever TCP says."""
        while not lost.done():
            answers_before = self._answers
            await asyncio.wait([lost], timeout=self._settings.silence_ms_max / 1000)
            if not lost.done() and self._answers == answers_before:
                connection.close("no answer within replica.socket.timeout.ms")
        return lost.result()

    async def _connect(self, lost: asyncio.Future[str]) -> Connection:
        address = self._address()
        if address is None:
            raise PeerUnreachable(f"no address of broker {self._leader} is known")
        return await connect(
            self._dialer,
            *address,
            on_frame=self._on_frame,
            on_closed=partial(_note_lost, lost),
            frame_bytes_max=self._settings.frame_bytes_max,
            timeout_ms=_CONNECT_TIMEOUT_MS,
        )

    # -- requests

    def _send_soon(self) -> None:
        """Acknowledge after this pass of the loop: then several answers make one acknowledgement."""
        if not self._is_sending_due:
            self._is_sending_due = True
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._is_sending_due = False
        connection = self._connection
        if connection is None or not connection.is_open:
            return
        try:
            self._send_all(connection)
        except Exception:
            self._start_over(connection)
        self._arm_retry()

    def _start_over(self, connection: Connection) -> None:
        """Close the connection after an unforeseen error; on a new one everything is requested and reported again."""
        _log.exception("following starts over", leader=self._leader)
        connection.close("internal error")

    def _send_all(self, connection: Connection) -> None:
        now_ms = self._clock.monotonic_ms()
        while (plan := self.link.next_plan(self._position, now_ms, self._is_ready)) is not None:
            request = fetch_request(plan, self._settings, self._replicas.broker_epoch)
            header = RequestHeader(
                ApiKey.FETCH, FETCH_VERSION, next(self._correlation_ids) & 0x7FFFFFFF, self._settings.client_id
            )
            head, body = encode_request_header(header), encode(request, FETCH_VERSION)
            size = (len(head) + len(body)).to_bytes(SIZE_BYTES)
            connection.fill(connection.reserve(), (size + head + body,))
            if plan.is_full:
                self._send_soon()
                return

    def _position(self, topic_partition: TopicPartition) -> FollowerPosition:
        """Return the follower's position; in a topic with flush.messages as far as the log is fsynced.

        A log that lacks offsets is as if it had none: it is begun anew when its leader has answered (`_cut`).
        """
        log = known_here(self._replicas.get(*topic_partition)).log
        if gaps := self._replicas.logs.lost_offsets_of(topic_partition):
            start = min(log.log_start_offset, gaps[0].first_offset)
            return FollowerPosition(start, NO_LEADER_EPOCH, self._log_starts.start_to_report(topic_partition))
        end = log.log_end_offset
        if log.is_flush_due:
            end = min(end, max(log.recovery_point, self.link.followed[topic_partition].told_end))
        return FollowerPosition(end, log.leader_epoch_at(end - 1), self._log_starts.start_to_report(topic_partition))

    def _arm_retry(self) -> None:
        retry_at_ms = self.link.next_retry_ms()
        if retry_at_ms is not None and self._retry_timer is None:
            delay_ms = max(1, retry_at_ms - self._clock.monotonic_ms())
            self._retry_timer = asyncio.get_running_loop().call_later(delay_ms / 1000, self._retry)

    def _retry(self) -> None:
        self._retry_timer = None
        self._send()

    # -- answers

    def _on_frame(self, connection: Connection, frame: memoryview) -> None:
        try:
            _, at = decode_response_header(ApiKey.FETCH, FETCH_VERSION, frame)
            response = decode(FetchResponse, frame[at:], FETCH_VERSION)
        except ProtocolError as error:
            connection.close(f"an answer cannot be read: {error}")
            return
        if response.error_code or response.session_id == NO_SESSION:
            connection.close(f"the fetch session has ended: {error_code_of(response.error_code).name}")
            return
        try:
            self._take_all(response)
        except Exception:
            self._start_over(connection)
            return
        self._answers += 1
        self._send_soon()

    def _take_all(self, response: FetchResponse) -> None:
        request = self.link.answered(response.session_id)
        for topic in response.responses:
            name = self._replicas.topic_names.of(topic.topic_id)
            for data in topic.partitions:
                topic_partition = TopicPartition(name, data.partition_index)
                if self.link.counts(topic_partition, request):
                    self._take(known_here(self._replicas.get(*topic_partition)), data)

    def _take(self, hosted: HostedPartition, data: PartitionData) -> None:
        topic_partition = hosted.partition.topic_partition
        try:
            if data.diverging_epoch is not None or data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                self._cut_soon(hosted, data)
            elif data.error_code:
                reason = error_code_of(data.error_code).name
                self._ask_later(topic_partition, reason, self._settings.back_off_ms, _TOLD_AFTER_MS)
            elif self._replicas.logs.lost_offsets_of(topic_partition):
                self._cut_soon(hosted, data)
            else:
                records = data.records or b""
                self._replicas.take_fetched(hosted, records, data.high_watermark, data.log_start_offset)
                self._log_starts.look(hosted)
                if self._troubles:
                    self._troubles.is_over(topic_partition)
                if records:
                    self._took_records(hosted)
                    is_caught_up = hosted.log.log_end_offset >= data.high_watermark
                    self._heed_throttle(topic_partition, len(records), is_caught_up=is_caught_up)
        except ApiError as error:
            self._ask_later(topic_partition, error.message, _NOT_TAKEN_BACK_OFF_MS)
        except Exception:  # what follows in the answer is taken all the same
            _log.exception("not taken from the leader", partition=str(topic_partition), leader=self._leader)
            self.link.ask_later(topic_partition, self._clock.monotonic_ms() + _NOT_TAKEN_BACK_OFF_MS)

    def _took_records(self, hosted: HostedPartition) -> None:
        """Acknowledge new records to the leader, when they are fsynced if the topic asks for that (flush.messages)."""
        topic_partition = hosted.partition.topic_partition
        if not hosted.log.is_flush_due:
            self.link.took_records(topic_partition, self._clock.monotonic_ms())
            return
        flushed = self._replicas.logs.flushes.begin(topic_partition, hosted.log)
        flushed.add_done_callback(partial(self._flushed, self.link.followed[topic_partition]))

    def _flushed(self, known: FollowerPartition, flushed: asyncio.Future[None]) -> None:
        if self.link.is_followed(known) and not known.is_held:
            if (refusal := refusal_of(flushed)) is not None:
                self._not_ready(known, refusal)
            else:
                self.link.took_records(known.topic_partition, self._clock.monotonic_ms())
                self._send_soon()

    def _is_ready(self, known: FollowerPartition) -> bool:
        """Return whether the partition can be fetched now; it is asked for as soon as it can."""
        awaited = self._replicas.logs.awaited_before_fetch(known_here(self._replicas.get(*known.topic_partition)))
        if awaited is not None:
            awaited.add_done_callback(partial(self._ready_again, known))
        return awaited is None

    def _heed_throttle(self, topic_partition: TopicPartition, bytes_copied: int, *, is_caught_up: bool) -> None:
        """Pause a throttled replica that has used up its share, unless all that is committed is here."""
        now_ms = self._clock.monotonic_ms()
        self._throttle.moved(topic_partition, bytes_copied, now_ms)
        if not self._throttle.allowed(topic_partition, 1, now_ms, is_in_sync=is_caught_up):
            self.link.pause(topic_partition, now_ms + self._throttle.pause_ms(now_ms))

    # -- cutting

    def _cut_soon(self, hosted: HostedPartition, data: PartitionData) -> None:
        """Truncate soon: one answer may require it for thousands."""
        self._parted.append((self.link.hold(hosted.partition.topic_partition), hosted, data))
        if len(self._parted) == 1:
            asyncio.get_running_loop().call_soon(self._cut_some)

    def _cut_some(self) -> None:
        some, self._parted = self._parted[:PARTITIONS_PER_CALLBACK], self._parted[PARTITIONS_PER_CALLBACK:]
        for known, hosted, data in some:
            if self.link.is_followed(known):
                self._cut(known, hosted, data)
        if self._parted:
            asyncio.get_running_loop().call_soon(self._cut_some)

    def _cut(self, known: FollowerPartition, hosted: HostedPartition, data: PartitionData) -> None:
        """Truncate as the leader answered. A log that lacks offsets is emptied and its records are set aside, but not
        before the leader has answered: until then it may be the best log there is, and be elected.
        """
        if gaps := self._replicas.logs.lost_offsets_of(known.topic_partition):
            where, missing = str(known.topic_partition), describe_gaps(gaps)
            facts = {"partition": where, "leader": self._leader, "offsets": missing}
            _log.warning("log lacks offsets and is rebuilt from the leader", **facts)
        try:
            diverging = None if gaps else data.diverging_epoch
            offset = None if diverging is None else find_truncation_offset(hosted, diverging, self._leader)
            if offset is None or offset <= data.log_start_offset:
                # What would stay is gone at the leader, whose log may begin inside a batch that reaches over our end.
                done = start_over_at(self._replicas, hosted, data.log_start_offset, lacks_offsets=bool(gaps))
            else:
                done = truncate(self._replicas, hosted, offset)
        except ApiError as error:
            self._not_ready(known, error)
        else:
            done.add_done_callback(partial(self._ready_again, known))

    def _ready_again(self, known: FollowerPartition, done: asyncio.Future[None]) -> None:
        refusal = refusal_of(done)
        if refusal is not None:
            self._not_ready(known, refusal)
            return
        self.link.release(known)
        self._send_soon()

    def _not_ready(self, known: FollowerPartition, error: ApiError) -> None:
        self._log_trouble(known.topic_partition, error.message)
        self.link.release(known, self._clock.monotonic_ms() + _NOT_TAKEN_BACK_OFF_MS)
        self._send_soon()

    def _ask_later(self, topic_partition: TopicPartition, reason: str, pause_ms: int, told_after_ms: int = 0) -> None:
        self._log_trouble(topic_partition, reason, told_after_ms)
        self.link.ask_later(topic_partition, self._clock.monotonic_ms() + pause_ms)

    def _log_trouble(self, topic_partition: TopicPartition, reason: str, told_after_ms: int = 0) -> None:
        if self._troubles.is_news(topic_partition, reason, self._clock.monotonic_ms(), told_after_ms):
            _log.info("cannot follow yet", partition=str(topic_partition), leader=self._leader, reason=reason)


def _note_lost(lost: asyncio.Future[str], _connection: Connection, reason: str) -> None:
    if not lost.done():
        lost.set_result(reason)

"""Answers the fetches of followers: a queue of waiting fetches for each, the log read for whatever has news.

The fetches of one follower are answered in their order. One that has come waits until there are records for any
partition of its session or its time is up; answers leave in the wake-up in which the records came. What a fetch says
the follower holds is taken first of all: that is what commits records.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import islice
from uuid import UUID

from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import FETCH_SESSIONS_MAX, PARTITIONS_PER_FETCH
from broker.common.types import TopicPartition
from broker.log.cold_parts import ColdPart, ColdReadError
from broker.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from broker.replication.fetch_session import FINAL_EPOCH, NO_SESSION
from broker.replication.follower_feed import FedPartition, FollowerFeed
from broker.replication.throttle import ReplicationThrottle
from broker.runtime.replication.follower_reads import check_is_of, disagreement, is_of, read_for_follower, refused
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager

#: A follower has a few fetches under way, and one more for each time it had something to say meanwhile.
_WAITING_MAX = 100
#: Followers whose time is up so soon after one another's are answered in one wake-up: brokers at rest do little else.
_TOGETHER_MS = 20

Answer = FetchResponse | asyncio.Future[FetchResponse]


class _WaitingFollower:
    __slots__ = ("deadline_ms", "future", "max_bytes")

    def __init__(self, future: asyncio.Future[FetchResponse], max_bytes: int, deadline_ms: int):
        self.future = future
        self.max_bytes = max_bytes
        self.deadline_ms = deadline_ms


class _Served:
    """A follower's session and its fetches that wait, the oldest first."""

    __slots__ = ("feed", "is_answering_due", "timer", "waiting")

    def __init__(self, feed: FollowerFeed):
        self.feed = feed
        self.waiting: deque[_WaitingFollower] = deque()
        self.timer: asyncio.TimerHandle | None = None
        self.is_answering_due = False


class FollowerFeeds:
    """The followers of the partitions this broker leads. Everything runs on the broker's loop."""

    def __init__(
        self, replicas: ReplicaManager, throttle: ReplicationThrottle, new_session_id: Callable[[], int], clock: Clock
    ):
        self._replicas = replicas
        self._throttle = throttle
        self._new_session_id = new_session_id
        self._clock = clock
        self._served: dict[int, _Served] = {}
        self._reading: set[asyncio.Task[None]] = set()
        #: Told of each follower that says how far it has come.
        self.on_progress: Callable[[HostedPartition, int], None] = lambda hosted, replica_id: None
        #: Told of each partition of which a follower says that its log starts elsewhere.
        self.on_log_start: Callable[[HostedPartition], None] = lambda hosted: None
        replicas.on_append.append(self._on_append)
        replicas.on_high_watermark.append(self._on_high_watermark)
        replicas.on_role.append(self._on_append)

    def __len__(self) -> int:
        return len(self._served)

    def close(self) -> None:
        for served in self._served.values():
            self._end(served)
        self._served.clear()
        for reading in self._reading:
            reading.cancel()

    # -- what followers ask

    def fetch(self, request: FetchRequest, replica_id: int, *, by_id: bool) -> Answer:
        """Answer now, or when there are records or `max_wait_ms` have passed."""
        try:
            served = self._served_for(request, replica_id)
        except ApiError as error:
            return FetchResponse(error_code=error.code)
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                self._forget(served.feed, self._key(topic, index, by_id=by_id), topic.topic_id)
        responses = self._take_all(served, request, by_id=by_id)
        if request.session_epoch == FINAL_EPOCH:
            del self._served[replica_id]
        if responses is not None or request.max_wait_ms <= 0:
            return self._answer(served.feed, request.max_bytes, responses or [])
        return self._wait(served, request)

    def _served_for(self, request: FetchRequest, replica_id: int) -> _Served:
        if request.session_epoch in (0, FINAL_EPOCH):
            session_id = self._new_session_id() if request.session_epoch == 0 else NO_SESSION
            return self._open(FollowerFeed(replica_id, session_id, request.replica_state.replica_epoch))
        served = self._served.get(replica_id)
        if served is None or served.feed.session_id != request.session_id:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if served.feed.broker_epoch != request.replica_state.replica_epoch:
            # It has registered anew, and says again of every partition how far it has come.
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        served.feed.accept(request.session_epoch)
        return served

    def _open(self, feed: FollowerFeed) -> _Served:
        before = self._served.pop(feed.replica_id, None)
        if before is not None:
            self._end(before)
        while len(self._served) >= FETCH_SESSIONS_MAX:
            self._end(self._served.pop(next(iter(self._served))))
        served = self._served[feed.replica_id] = _Served(feed)
        return served

    def _key(self, topic: FetchTopic | ForgottenTopic, partition: int, *, by_id: bool) -> TopicPartition:
        name = self._replicas.topic_names.of(topic.topic_id) if by_id else topic.topic
        return TopicPartition(name, partition)

    def _forget(self, feed: FollowerFeed, key: TopicPartition, topic_id: UUID) -> None:
        """Forget a feed, not one of a later topic of the name, which the follower may have asked for already."""
        fed = feed.partitions.get(key)
        if fed is not None and fed.topic_id == topic_id:
            feed.forget(key)

    def _take_all(self, served: _Served, request: FetchRequest, *, by_id: bool) -> list[FetchableTopicResponse] | None:
        """Take what the follower says; None if it only says how far it has come.

        If it asks for anything anew, what it asked before is answered first: it goes by the order of the answers.
        """
        responses: list[FetchableTopicResponse] | None = None
        for topic in request.topics:
            for fetch_partition in topic.partitions:
                key = self._key(topic, fetch_partition.partition, by_id=by_id)
                if fetch_partition.is_progress:
                    self._progress(served.feed, key, fetch_partition)
                    continue
                if responses is None:
                    responses = []
                    self._answer_all(served)
                refusal = self._ask(served.feed, key, topic, fetch_partition)
                if refusal is not None:
                    responses.append(
                        FetchableTopicResponse(topic=key.topic, topic_id=topic.topic_id, partitions=[refusal])
                    )
        return responses

    def _progress(self, feed: FollowerFeed, key: TopicPartition, fetch_partition: FetchPartition) -> None:
        """Count a follower's progress if it was made under our epoch; else an answer under way tells it."""
        hosted, fed = self._replicas.get(*key), feed.partitions.get(key)
        if hosted is None or fed is None or fed.leader_epoch != hosted.partition.leader_epoch:
            return
        if not is_of(hosted, fed.topic_id):
            return
        feed.acknowledge(key, fetch_partition.fetch_offset)
        if fed.starts_at != fetch_partition.log_start_offset:
            fed.starts_at = fetch_partition.log_start_offset
            self._starts_at(hosted, feed, fed.starts_at)
        self._holds(hosted, feed, fetch_partition.fetch_offset)

    def _ask(
        self, feed: FollowerFeed, key: TopicPartition, topic: FetchTopic, fetch_partition: FetchPartition
    ) -> PartitionData | None:
        """Serve the partition from the offset asked for on; what to answer if that cannot be."""
        feed.forget(key)
        hosted = self._replicas.get(*key)
        try:
            if hosted is None:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if key.topic else ErrorCode.UNKNOWN_TOPIC_ID)
            check_is_of(hosted, topic.topic_id)
            data = disagreement(hosted, fetch_partition)
            if feed.replica_id not in hosted.partition.followers:
                raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        except ApiError as error:
            return refused(fetch_partition.partition, error.code)
        if data is not None:
            return data
        feed.ask(
            FedPartition(
                key,
                topic.topic_id,
                hosted.partition.leader_epoch,
                fetch_partition.fetch_offset,
                fetch_partition.partition_max_bytes,
                fetch_partition.log_start_offset,
            )
        )
        self._starts_at(hosted, feed, fetch_partition.log_start_offset)
        self._holds(hosted, feed, fetch_partition.fetch_offset)
        return None

    def _holds(self, hosted: HostedPartition, feed: FollowerFeed, log_end_offset: int) -> None:
        self._replicas.follower_holds(hosted, feed.replica_id, log_end_offset, feed.broker_epoch)
        self.on_progress(hosted, feed.replica_id)

    def _starts_at(self, hosted: HostedPartition, feed: FollowerFeed, log_start_offset: int) -> None:
        if hosted.partition.record_log_start(feed.replica_id, log_start_offset):
            self.on_log_start(hosted)

    # -- waiting

    def _wait(self, served: _Served, request: FetchRequest) -> asyncio.Future[FetchResponse]:
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        deadline_ms = self._clock.monotonic_ms() + request.max_wait_ms
        served.waiting.append(_WaitingFollower(future, request.max_bytes, deadline_ms))
        if served.feed.has_news or len(served.waiting) > _WAITING_MAX:
            self._answer_soon(served)
        elif served.timer is None:
            self._arm(served)
        return future

    def _on_append(self, hosted: HostedPartition) -> None:
        for served in self._served.values():
            served.feed.records_came(hosted.partition.topic_partition)
            if served.waiting and served.feed.has_news:
                self._answer_soon(served)

    def _on_high_watermark(self, hosted: HostedPartition) -> None:
        for served in self._served.values():
            served.feed.high_watermark_moved(hosted.partition.topic_partition)

    def _answer_soon(self, served: _Served) -> None:
        """Answer after this pass of the loop: then many small appends make one answer."""
        if not served.is_answering_due:
            served.is_answering_due = True
            asyncio.get_running_loop().call_soon(self._answer_waiting, served)

    def _answer_waiting(self, served: _Served) -> None:
        served.is_answering_due = False
        if served.waiting and (served.feed.has_news or len(served.waiting) > _WAITING_MAX):
            self._answer_next(served)
            self._answer_soon(served)

    def _answer_all(self, served: _Served) -> None:
        while served.waiting:
            self._answer_next(served)

    def _answer_next(self, served: _Served) -> None:
        """Send the next answer; one that cannot be made fails only its own fetch: the follower connects again."""
        waiting = served.waiting.popleft()
        if not served.waiting:
            _disarm(served)
        if waiting.future.done():
            return
        try:
            waiting.future.set_result(self._answer(served.feed, waiting.max_bytes, []))
        except Exception as error:
            waiting.future.set_exception(error)

    def _arm(self, served: _Served) -> None:
        delay_ms = max(1, served.waiting[0].deadline_ms - self._clock.monotonic_ms())
        served.timer = asyncio.get_running_loop().call_later(delay_ms / 1000, self._expire, served)

    def _expire(self, served: _Served) -> None:
        served.timer = None
        now_ms = self._clock.monotonic_ms()
        until_ms = now_ms + _TOGETHER_MS if served.waiting and served.waiting[0].deadline_ms <= now_ms else now_ms
        for item in self._served.values():
            while item.waiting and item.waiting[0].deadline_ms <= until_ms:
                self._answer_next(item)
        if served.waiting:
            self._arm(served)

    def _end(self, served: _Served) -> None:
        """End a session: the follower has opened another one, or the broker stops."""
        _disarm(served)
        while served.waiting:
            waiting = served.waiting.popleft()
            if not waiting.future.done():
                waiting.future.set_result(FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND))

    # -- answering

    def _answer(self, feed: FollowerFeed, max_bytes: int, responses: list[FetchableTopicResponse]) -> FetchResponse:
        left = max_bytes
        for fed in islice(feed.news(), PARTITIONS_PER_FETCH):
            if left <= 0:
                feed.keep(fed)
                break
            data = self._read(feed, fed, left, at_least_one=left == max_bytes)
            if data is not None:
                left -= len(data.records or b"")
                responses.append(
                    FetchableTopicResponse(topic=fed.topic_partition.topic, topic_id=fed.topic_id, partitions=[data])
                )
        return FetchResponse(session_id=feed.session_id, responses=responses)

    def _read(self, feed: FollowerFeed, fed: FedPartition, left: int, *, at_least_one: bool) -> PartitionData | None:
        """Read what the follower is to be sent of the partition; None if nothing is new, or it is not its turn yet."""
        if fed.is_paused:
            return None
        try:
            hosted = self._replicas.leader_log(*fed.topic_partition, fed.leader_epoch)
            check_is_of(hosted, fed.topic_id)
            allowed = self._allowed(hosted, feed.replica_id, min(left, fed.max_bytes))
            if not allowed:
                self._resume_later(feed, fed)
                return None
            data = read_for_follower(hosted, fed, allowed, at_least_one=at_least_one)
        except ColdReadError as error:
            self._resume_when_read(feed, fed, error.part)
            return None
        except ApiError as error:
            feed.forget(fed.topic_partition)
            known = self._replicas.get(*fed.topic_partition)
            return refused(
                fed.topic_partition.partition, error.code, known.log.log_start_offset if known is not None else -1
            )
        if data is not None:
            self._throttle.moved(fed.topic_partition, len(data.records or b""), self._clock.monotonic_ms())
        if fed.read_from < hosted.log.log_end_offset:
            feed.keep(fed)
        return data

    # -- what lies on the disk only

    def _resume_when_read(self, feed: FollowerFeed, fed: FedPartition, part: ColdPart) -> None:
        """Resume the feed when a worker thread has the records in memory; other partitions go on meanwhile."""
        fed.is_paused = True
        reading = asyncio.get_running_loop().create_task(self._replicas.logs.fetch([part]))
        self._reading.add(reading)
        reading.add_done_callback(partial(self._was_read, feed, fed))

    def _was_read(self, feed: FollowerFeed, fed: FedPartition, reading: asyncio.Task[None]) -> None:
        self._reading.discard(reading)
        if not reading.cancelled():
            fed.is_in_memory = True
            self._resume(feed, fed)

    # -- throttled replicas

    def _allowed(self, hosted: HostedPartition, replica_id: int, bytes_wanted: int) -> int:
        partition, role = hosted.partition, hosted.partition.state
        is_in_sync = role is not None and replica_id in role.isr
        now_ms = self._clock.monotonic_ms()
        return self._throttle.allowed(partition.topic_partition, bytes_wanted, now_ms, is_in_sync=is_in_sync)

    def _resume_later(self, feed: FollowerFeed, fed: FedPartition) -> None:
        """Resume the feed when its throttle allows, or its rate has been changed."""
        pause_ms = self._throttle.pause_ms(self._clock.monotonic_ms())
        fed.is_paused = True
        asyncio.get_running_loop().call_later(pause_ms / 1000, self._resume, feed, fed)

    def _resume(self, feed: FollowerFeed, fed: FedPartition) -> None:
        feed.resume(fed)
        served = self._served.get(feed.replica_id)
        if served is not None and served.feed is feed:
            self._answer_soon(served)


def _disarm(served: _Served) -> None:
    if served.timer is not None:
        served.timer.cancel()
        served.timer = None

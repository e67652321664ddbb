"""A follower's end of its session with one leader: what to ask, and which answers still count.

While records come, several fetches are under way, so that one waits at the leader whenever more arrive; at rest one
does so. Answers come in the order of the requests. A partition that is asked for from a certain offset (it is new, its
leader epoch changed, its log was cut) takes no records from answers to requests sent before: they belong to what it was
then.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, TypeVar
from uuid import UUID

from broker.common.limits import PARTITIONS_PER_FETCH
from broker.common.types import TopicPartition

T = TypeVar("T")

#: Fetches under way to one leader. Two would do for one partition on an idle machine; the third is there while an
#: answer is on its way and an acknowledgement too.
FETCHES_UNDER_WAY = 3
#: Records that come further apart find the fetch there that acknowledged those before. Each fetch more would be asked
#: for again whenever its time is up: of brokers at rest that was half of all requests.
CLOSE_TOGETHER_MS = 100
_EPOCH_MAX = 2**31 - 1
NO_SESSION = 0


class FollowerPosition(NamedTuple):
    """How far a follower's log has come."""

    log_end_offset: int
    #: Leader epoch of the last record held, -1 if there is none.
    last_epoch: int
    log_start_offset: int


class Ask(NamedTuple):
    """One partition of a request. `is_progress`: only says what is held; the leader reads on from where it was."""

    topic_partition: TopicPartition
    topic_id: UUID
    leader_epoch: int
    position: FollowerPosition
    is_progress: bool


class FetchPlan(NamedTuple):
    """One request. A session that is being opened is answered at once."""

    session_id: int
    session_epoch: int
    asks: list[Ask]
    forgotten: list[tuple[UUID, int]]

    @property
    def opens_session(self) -> bool:
        return self.session_epoch == 0

    @property
    def is_full(self) -> bool:
        """Whether the plan is full and `next_plan` may have more."""
        return max(len(self.asks), len(self.forgotten)) >= PARTITIONS_PER_FETCH


@dataclass(slots=True)
class FollowerPartition:
    """A partition this broker follows its leader in."""

    topic_partition: TopicPartition
    topic_id: UUID
    leader_epoch: int
    #: Number of the request that asked for it anew; answers to earlier ones do not count.
    asked_in: int = -1
    #: Where our log starts and ends, as the leader was told.
    told_start: int = -1
    told_end: int = -1
    #: Our log is being cut or fsynced: nothing is asked, and nothing counts.
    is_held: bool = False
    #: That our log starts later is being noted; the leader hears of it then.
    is_start_being_noted: bool = False


@dataclass(slots=True)
class LeaderLink:
    """What is followed of one leader, and the session as it stands. Times are monotonic."""

    followed: dict[TopicPartition, FollowerPartition] = field(default_factory=dict)
    session_id: int = NO_SESSION
    _session_epoch: int = 0
    _sent: int = 0
    _under_way: deque[int] = field(default_factory=deque)
    #: When records were taken last, and whether those before were CLOSE_TOGETHER_MS from them at most.
    _took_at_ms: int | None = None
    _is_busy: bool = False
    #: To be asked for from where the log ends.
    _anew: dict[TopicPartition, None] = field(default_factory=dict)
    #: Taken records of, or let go of some; the leader is to know.
    _progressed: dict[TopicPartition, None] = field(default_factory=dict)
    _forgotten: dict[tuple[UUID, int], None] = field(default_factory=dict)
    #: Refused by the leader, or not to be taken by us, and when to ask again.
    _refused: dict[TopicPartition, int] = field(default_factory=dict)

    def follow(self, topic_partition: TopicPartition, topic_id: UUID, leader_epoch: int) -> None:
        known = self.followed.get(topic_partition)
        if known is not None and (known.topic_id, known.leader_epoch) == (topic_id, leader_epoch):
            return
        if known is not None and known.topic_id != topic_id:
            self.unfollow(topic_partition)
        self.followed[topic_partition] = FollowerPartition(topic_partition, topic_id, leader_epoch)
        self._refused.pop(topic_partition, None)
        self._anew[topic_partition] = None

    def unfollow(self, topic_partition: TopicPartition) -> None:
        known = self.followed.pop(topic_partition, None)
        for waiting in (self._anew, self._progressed, self._refused):
            waiting.pop(topic_partition, None)
        if known is not None and known.asked_in >= 0:
            self._forgotten[known.topic_id, topic_partition.partition] = None

    def disconnected(self) -> None:
        """Forget requests in flight: everything is fetched anew in a session of its own."""
        self.session_id, self._session_epoch = NO_SESSION, 0
        self._under_way.clear()
        self._progressed.clear()
        self._forgotten.clear()
        self._refused.clear()
        for known in self.followed.values():
            known.asked_in = -1
            if not known.is_held:
                self._anew[known.topic_partition] = None

    # -- asking

    def next_plan(
        self,
        position_of: Callable[[TopicPartition], FollowerPosition],
        now_ms: int,
        is_ready: Callable[[FollowerPartition], bool] = lambda _known: True,
    ) -> FetchPlan | None:
        """Return the next request to send now, of PARTITIONS_PER_FETCH partitions at most; None if there is none.

        What is to be asked for from where its log ends, and is not `is_ready`, is held (`hold`): to ask from there says
        that all before it is safe.
        """
        self._take_up_refused(now_ms)
        if self.session_id == NO_SESSION:
            if self._under_way or not self._anew:
                return None
        elif len(self._under_way) >= self._wanted(now_ms) and not self._has_to_say():
            return None
        return self._plan(position_of, is_ready)

    def _wanted(self, now_ms: int) -> int:
        """Return how many fetches are to be under way."""
        return FETCHES_UNDER_WAY if self._is_busy and self._are_close(now_ms) else 1

    def _are_close(self, now_ms: int) -> bool:
        return self._took_at_ms is not None and now_ms - self._took_at_ms <= CLOSE_TOGETHER_MS

    def _has_to_say(self) -> bool:
        return bool(self._anew or self._progressed or self._forgotten)

    def _plan(
        self, position_of: Callable[[TopicPartition], FollowerPosition], is_ready: Callable[[FollowerPartition], bool]
    ) -> FetchPlan:
        asks = [
            self._ask(item, position_of, is_progress=True) for item in _take(self._progressed, PARTITIONS_PER_FETCH)
        ]
        for topic_partition in _take(self._anew, PARTITIONS_PER_FETCH - len(asks)):
            known = self.followed[topic_partition]
            if not is_ready(known):
                self.hold(topic_partition)
                continue
            known.asked_in = self._sent
            self._forgotten.pop((known.topic_id, topic_partition.partition), None)
            asks.append(self._ask(topic_partition, position_of, is_progress=False))
        plan = FetchPlan(self.session_id, self._session_epoch, asks, _take(self._forgotten, PARTITIONS_PER_FETCH))
        self._under_way.append(self._sent)
        self._sent += 1
        self._session_epoch = self._session_epoch % _EPOCH_MAX + 1
        return plan

    def _ask(
        self,
        topic_partition: TopicPartition,
        position_of: Callable[[TopicPartition], FollowerPosition],
        *,
        is_progress: bool,
    ) -> Ask:
        known, position = self.followed[topic_partition], position_of(topic_partition)
        known.told_start, known.told_end = position.log_start_offset, position.log_end_offset
        return Ask(known.topic_partition, known.topic_id, known.leader_epoch, position, is_progress)

    def _take_up_refused(self, now_ms: int) -> None:
        for topic_partition in [item for item, retry_at_ms in self._refused.items() if retry_at_ms <= now_ms]:
            del self._refused[topic_partition]
            self._anew[topic_partition] = None

    def next_retry_ms(self) -> int | None:
        """Return when a refused partition is to be fetched again, by calling `next_plan`; None if none is."""
        return min(self._refused.values(), default=None)

    # -- answers

    def answered(self, session_id: int) -> int:
        """Note that a response came, and return the number of its request."""
        self.session_id = session_id
        return self._under_way.popleft()

    def counts(self, topic_partition: TopicPartition, request: int) -> bool:
        """Return whether what the answer to that request says of the partition is to be gone by."""
        known = self.followed.get(topic_partition)
        if known is None or known.is_held:
            return False
        return 0 <= known.asked_in <= request and topic_partition not in self._refused

    def took_records(self, topic_partition: TopicPartition, now_ms: int) -> None:
        self._progressed[topic_partition] = None
        if now_ms != self._took_at_ms:  # else of the same answer
            self._is_busy = self._are_close(now_ms)
            self._took_at_ms = now_ms

    def starts_at(self, topic_partition: TopicPartition, log_start_offset: int) -> None:
        """Report our log's start to the leader, which may wait for it (DeleteRecords)."""
        if self.followed[topic_partition].told_start != log_start_offset:
            self._progressed[topic_partition] = None

    def hold(self, topic_partition: TopicPartition) -> FollowerPartition:
        """Stop fetching the partition until its result is released or a new leader epoch begins."""
        known = self.followed[topic_partition]
        known.is_held = True
        for waiting in (self._anew, self._progressed, self._refused):
            waiting.pop(topic_partition, None)
        return known

    def is_followed(self, known: FollowerPartition) -> bool:
        """Return whether it still is followed as it was, in the same leader epoch."""
        return self.followed.get(known.topic_partition) is known

    def release(self, known: FollowerPartition, retry_at_ms: int | None = None) -> None:
        """Ask from where the log ends now, at once or then; nothing if it `is_followed` no longer."""
        if self.is_followed(known):
            known.is_held = False
            if retry_at_ms is None:
                self._anew[known.topic_partition] = None
            else:
                self._refused[known.topic_partition] = retry_at_ms

    def pause(self, topic_partition: TopicPartition, retry_at_ms: int) -> None:
        """Pause the partition until `retry_at_ms`: the leader is to send nothing of it."""
        known = self.followed[topic_partition]
        self.ask_later(topic_partition, retry_at_ms)
        self._forgotten[known.topic_id, topic_partition.partition] = None
        known.asked_in = -1

    def ask_later(self, topic_partition: TopicPartition, retry_at_ms: int) -> None:
        self._progressed.pop(topic_partition, None)
        self._anew.pop(topic_partition, None)
        self._refused[topic_partition] = retry_at_ms


def _take(waiting: dict[T, None], count: int) -> list[T]:
    """Take the first `count` from those waiting."""
    taken = list(islice(waiting, count))
    for item in taken:
        del waiting[item]
    return taken

"""Fetch sessions (KIP-227): a client that fetches the same partitions repeatedly names them once and gets only news.

A session belongs to its id and its principal, not to a connection: another principal that guesses the id would end it
and read the names of its topics. Its epoch counts the requests, so that a request that was lost or came
twice is noticed. Request epoch 0 opens a session (and ends the one named with it), -1 ends one or does without, any
other is the next request of a session: it names what changed and is answered with what changed.

A topic is known here by what the client calls it: its name, or its id from version 13 of Fetch on. One session does
not mix the two.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import FETCH_SESSION_EVICTION_MS, FETCH_SESSION_PARTITIONS_MAX, FETCH_SESSIONS_MAX
from broker.protocol.messages.fetch import FetchPartition, PartitionData

NO_SESSION = 0
#: Of a request that ends a session or does without.
FINAL_EPOCH = -1
_FIRST_EPOCH = 0
_EPOCH_MAX = 2**31 - 1

TopicKey = str | UUID


#: What a request says of a partition, and what is answered of it.
Asked = tuple[TopicKey, FetchPartition]
Answered = tuple[TopicKey, PartitionData]


class Opening(NamedTuple):
    """The part of a fetch request that sessions are about."""

    session_id: int
    epoch: int
    partitions: list[Asked]
    #: (topic, partition) pairs a session need not look at any longer.
    forgotten: Sequence[tuple[TopicKey, int]] = ()
    uses_topic_ids: bool = False
    principal: str = ""


class Fetch(Protocol):
    """One request under way: `partitions` are to be read in this order, then `finish` says what the client gets."""

    partitions: list[Asked]

    def finish(self, answers: list[Answered]) -> tuple[int, list[Answered]]:
        """Return (session id, answers that are sent), given one answer for each of `partitions`. Raises ApiError."""

    def put_off(self) -> int:
        """Return the session id of an empty response to a follower that is put off (KAFKA-6946). Raises ApiError."""


@dataclass(slots=True)
class _Remembered:
    """A partition of a session: how it was asked for last, and what the client was last told of it."""

    topic: TopicKey
    partition: FetchPartition
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1

    def tell(self, answer: PartitionData) -> bool:
        """Return whether the client must get this partition, which then counts as sent.

        After an error or a divergence the partition is told of again, whatever becomes of it.
        """
        is_special = bool(answer.error_code) or answer.diverging_epoch is not None
        is_moved = (
            answer.high_watermark != self.high_watermark
            or answer.last_stable_offset != self.last_stable_offset
            or answer.log_start_offset != self.log_start_offset
        )
        self.high_watermark = -1 if is_special else answer.high_watermark
        self.last_stable_offset = answer.last_stable_offset
        self.log_start_offset = answer.log_start_offset
        return is_special or is_moved or bool(answer.records) or answer.preferred_read_replica >= 0


@dataclass(slots=True)
class _Session:
    session_id: int
    uses_topic_ids: bool
    principal: str
    created_ms: int
    last_used_ms: int
    epoch: int = 1
    #: In the order they are read in; those that gave records go to the end, so none starves behind a busy one.
    partitions: dict[tuple[TopicKey, int], _Remembered] = field(default_factory=dict)

    def update(self, partitions: Iterable[Asked], forgotten: Iterable[tuple[TopicKey, int]]) -> None:
        for topic, partition in partitions:
            known = self.partitions.get((topic, partition.partition))
            if known is None:
                self.partitions[topic, partition.partition] = _Remembered(topic, partition)
            else:
                known.partition = partition
        for key in forgotten:
            self.partitions.pop(key, None)

    def news(self, answers: list[Answered]) -> list[Answered]:
        news = []
        for topic, answer in answers:
            key = topic, answer.partition_index
            remembered = self.partitions[key]
            if remembered.tell(answer):
                news.append((topic, answer))
                if answer.records:
                    self.partitions[key] = self.partitions.pop(key)
        return news


@dataclass(slots=True)
class SessionlessFetch:
    """Everything asked for is answered and nothing remembered."""

    partitions: list[Asked]

    def finish(self, answers: list[Answered]) -> tuple[int, list[Answered]]:
        return NO_SESSION, answers

    def put_off(self) -> int:
        return NO_SESSION


@dataclass(slots=True)
class _FullFetch:
    """Everything is answered, and remembered if there is room."""

    partitions: list[Asked]
    opening: Opening
    sessions: "FetchSessions"
    now_ms: int

    def finish(self, answers: list[Answered]) -> tuple[int, list[Answered]]:
        session = self.sessions.create(self.opening, self.now_ms)
        if session is None:
            return NO_SESSION, answers
        session.news(answers)
        return session.session_id, answers

    def put_off(self) -> int:
        return NO_SESSION


@dataclass(slots=True)
class _IncrementalFetch:
    """The partitions of a session as they were when the request came."""

    partitions: list[Asked]
    session: _Session
    epoch_after: int

    def finish(self, answers: list[Answered]) -> tuple[int, list[Answered]]:
        session_id = self.put_off()
        return session_id, self.session.news(answers)

    def put_off(self) -> int:
        if self.session.epoch != self.epoch_after:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH, "a later request of the session came meanwhile")
        return self.session.session_id


class FetchSessions:
    """All sessions of a broker, bounded in number and in partitions.

    When all places are taken, a new session gets that of one unused for long, or a larger one that of a smaller one
    that has lived for long. Otherwise its client goes on without. Followers have sessions of their own kind
    (`follower_feed`).
    """

    def __init__(
        self,
        new_id: Callable[[], int],
        sessions_max: int = FETCH_SESSIONS_MAX,
        partitions_max: int = FETCH_SESSION_PARTITIONS_MAX,
    ):
        """`new_id` gives random positive 32-bit integers; ids in use are not taken twice."""
        self._new_id = new_id
        self._sessions_max = sessions_max
        self._partitions_max = partitions_max
        #: The one unused for longest first.
        self._sessions: OrderedDict[int, _Session] = OrderedDict()
        self.partition_count = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, opening: Opening, now_ms: int) -> Fetch:
        """Begin a fetch.

        Raises ApiError: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR.
        """
        if opening.epoch not in (_FIRST_EPOCH, FINAL_EPOCH):
            return self._resume(opening, now_ms)
        if self._session_of(opening) is not None:
            self._remove(opening.session_id)
        if opening.epoch == FINAL_EPOCH:
            return SessionlessFetch(opening.partitions)
        return _FullFetch(opening.partitions, opening, self, now_ms)

    def _session_of(self, opening: Opening) -> _Session | None:
        session = self._sessions.get(opening.session_id)
        return session if session is not None and session.principal == opening.principal else None

    def _resume(self, opening: Opening, now_ms: int) -> Fetch:
        session = self._session_of(opening)
        if session is None:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != opening.epoch:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != opening.uses_topic_ids:
            raise ApiError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        self._update(session, opening)
        if not session.partitions:
            self._remove(session.session_id)
            return SessionlessFetch([])
        session.epoch = session.epoch % _EPOCH_MAX + 1
        session.last_used_ms = now_ms
        self._sessions.move_to_end(session.session_id)
        partitions = [(partition.topic, partition.partition) for partition in session.partitions.values()]
        return _IncrementalFetch(partitions, session, session.epoch)

    def _update(self, session: _Session, opening: Opening) -> None:
        """Update a session; one that outgrows the limit ends, and its client is served without one."""
        self.partition_count -= len(session.partitions)
        session.update(opening.partitions, opening.forgotten)
        self.partition_count += len(session.partitions)
        if self.partition_count > self._partitions_max:
            self._remove(session.session_id)
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, "fetch sessions hold no more partitions")

    def create(self, opening: Opening, now_ms: int) -> _Session | None:
        """Create a session for what `opening` asks for; None when there is no room for it."""
        size = len(opening.partitions)
        if not self._has_room(size, now_ms):
            return None
        session = _Session(self._unused_id(), opening.uses_topic_ids, opening.principal, now_ms, now_ms)
        session.update(opening.partitions, ())
        self._sessions[session.session_id] = session
        self.partition_count += len(session.partitions)
        return session

    def _has_room(self, size: int, now_ms: int) -> bool:
        if len(self._sessions) < self._sessions_max and self.partition_count + size <= self._partitions_max:
            return True
        victim = self._least_worthy(size, now_ms)
        if victim is None or self.partition_count - len(victim.partitions) + size > self._partitions_max:
            return False
        self._remove(victim.session_id)
        return True

    def _least_worthy(self, size: int, now_ms: int) -> _Session | None:
        """Return the session whose place a new one of `size` partitions may take (KIP-227, "session cache")."""
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None or now_ms - oldest.last_used_ms > FETCH_SESSION_EVICTION_MS:
            return oldest
        evictable = [
            session for session in self._sessions.values() if now_ms - session.created_ms > FETCH_SESSION_EVICTION_MS
        ]
        least = min(evictable, key=_size, default=None)
        return least if least is not None and _size(least) < size else None

    def _unused_id(self) -> int:
        while (session_id := self._new_id()) in self._sessions:
            pass
        return session_id

    def _remove(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self.partition_count -= len(session.partitions)


def _size(session: _Session) -> int:
    return len(session.partitions)

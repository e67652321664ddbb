"""What all connections together may hold of requests that are half received and of answers that are not yet sent.

One connection's limits say nothing about thousands of them. Requests: memory is taken as bytes arrive, never for what
is announced. When it is used up, connections with a half-received large frame are not read, but for the one that began
first: it may finish, so frames always get done, and at most one frame is held beyond the limit. Answers: above half of
the limit a connection gets one answer at a time (as Kafka always does); when it is used up, who holds the most loses
its connection, and so it is with requests that wait for their answers, decoded. What is given to the socket at once is
not counted, nor are pieces of files.

A peer that stalls in the middle of a frame while others wait for the memory it holds is closed, too.

Bodies of REST requests have a bound and shares of their own (`common/request_bodies.py`).
"""

from itertools import islice
from typing import Protocol

from broker.common.limits import (
    FRAME_UNDER_PRESSURE_S_MAX,
    HELD_ANSWER_BYTES_MAX,
    HELD_REQUEST_BYTES_MAX,
    PARKED_REQUEST_BYTES_MAX,
    STALLED_FRAME_S_MAX,
)

_RESUME_STEP_BYTES = 64 * 1024


class Holder(Protocol):
    """A connection, as its memory is concerned."""

    def resume_receiving(self) -> None: ...

    def has_bytes_waiting(self) -> bool:
        """Return whether the peer has sent what we have not read."""

    def close(self, reason: str) -> None: ...


class _HalfFrame:
    __slots__ = ("began_s", "byte_count", "progress_s")

    def __init__(self, now_s: float):
        self.byte_count = 0
        self.began_s = self.progress_s = now_s


class ConnectionMemory:
    """Bytes held for all connections of a broker. `now_s` is the loop's time."""

    def __init__(
        self,
        requests_max: int = HELD_REQUEST_BYTES_MAX,
        answers_max: int = HELD_ANSWER_BYTES_MAX,
        parked_max: int = PARKED_REQUEST_BYTES_MAX,
    ):
        self._requests_max = requests_max
        self._answers_max = answers_max
        self.request_bytes = 0
        self.answer_bytes = 0
        self._half_frames: dict[Holder, _HalfFrame] = {}
        #: In the order in which they began to wait.
        self._waiting: dict[Holder, None] = {}
        self._answers: dict[Holder, int] = {}
        self._parked_max = parked_max
        self.parked_bytes = 0
        self._parked: dict[Holder, int] = {}

    # -- requests

    @property
    def is_short_of_requests(self) -> bool:
        return self.request_bytes >= self._requests_max

    @property
    def is_waited_for(self) -> bool:
        return bool(self._waiting)

    def may_receive(self, holder: Holder) -> bool:
        """Return whether to read on in a half-received frame; if not, `resume_receiving` is called when it may go
        on.
        """
        if self.request_bytes < self._requests_max or next(iter(self._half_frames), holder) is holder:
            return True
        self._waiting[holder] = None
        return False

    def received(self, holder: Holder, count: int, now_s: float) -> None:
        """Count `count` more bytes of the large frame that `holder` is in the middle of."""
        half = self._half_frames.get(holder)
        if half is None:
            half = self._half_frames[holder] = _HalfFrame(now_s)
        half.byte_count += count
        half.progress_s = now_s
        self.request_bytes += count

    def frame_ended(self, holder: Holder) -> None:
        """Forget a frame that is whole, or whose connection closed."""
        half = self._half_frames.pop(holder, None)
        self._waiting.pop(holder, None)
        if half is None:
            return
        self.request_bytes -= half.byte_count
        if self._waiting:
            self._resume_some()

    def hand_over(self, holder: Holder, to: "ConnectionMemory", now_s: float) -> None:
        """Move what `holder` holds to `to`; it stops waiting here."""
        half, answer_bytes, parked_bytes = (
            self._half_frames.get(holder),
            self._answers.get(holder, 0),
            self._parked.get(holder, 0),
        )
        self.frame_ended(holder)
        self.hold_answers(holder, 0)
        self.park(holder, 0)
        if half is not None:
            to.received(holder, half.byte_count, now_s)
        to.hold_answers(holder, answer_bytes)
        to.park(holder, parked_bytes)

    def _resume_some(self) -> None:
        room = max(0, self._requests_max - self.request_bytes)
        chosen = list(islice(self._waiting, -(-room // _RESUME_STEP_BYTES)))
        first = next(iter(self._half_frames), None)
        if first in self._waiting and first not in chosen:
            chosen.append(first)
        for holder in chosen:
            del self._waiting[holder]
            holder.resume_receiving()

    def close_stalled(self, now_s: float) -> int:
        """Close whoever keeps others waiting; how many those were. For a beat of about a second."""
        if not self._waiting:
            return 0
        stalled = [(holder, why) for holder, half in self._half_frames.items() if (why := _stalls(holder, half, now_s))]
        for holder, why in stalled:
            holder.close(why)
        return len(stalled)

    # -- requests that wait for their answers

    def park(self, holder: Holder, byte_count: int) -> None:
        """Count `byte_count` bytes of `holder`'s unanswered requests. It may be closed on the spot."""
        self.parked_bytes += byte_count - self._parked.get(holder, 0)
        if byte_count:
            self._parked[holder] = byte_count
        else:
            self._parked.pop(holder, None)
        while self.parked_bytes > self._parked_max:
            largest = max(self._parked, key=self._parked.__getitem__)
            self.parked_bytes -= self._parked.pop(largest)
            largest.close("its unanswered requests took the most memory while that ran short")

    # -- answers

    @property
    def is_short_of_answers(self) -> bool:
        return self.answer_bytes > self._answers_max // 2

    def hold_answers(self, holder: Holder, byte_count: int) -> None:
        """Count `byte_count` bytes that `holder`'s peer has not taken yet. It may be closed on the spot."""
        self.answer_bytes += byte_count - self._answers.get(holder, 0)
        if byte_count:
            self._answers[holder] = byte_count
        else:
            self._answers.pop(holder, None)
        if self.answer_bytes > self._answers_max:
            self._close_largest()

    def _close_largest(self) -> None:
        by_size = sorted(self._answers, key=self._answers.__getitem__, reverse=True)
        for holder in by_size:
            if not self.is_short_of_answers:
                break
            holder.close("did not read its answers while memory ran short")


def _stalls(holder: Holder, half: _HalfFrame, now_s: float) -> str:
    if now_s - half.progress_s > STALLED_FRAME_S_MAX and not holder.has_bytes_waiting():
        return "stalled in the middle of a request while memory ran short"
    if now_s - half.began_s > FRAME_UNDER_PRESSURE_S_MAX:
        return "took too long to send a request while memory ran short"
    return ""

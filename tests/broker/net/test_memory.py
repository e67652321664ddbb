"""What all connections together may hold: the decisions, without sockets; and that sockets keep to them."""

import pytest

from broker.common import limits
from broker.common.limits import FRAME_UNDER_PRESSURE_S_MAX, STALLED_FRAME_S_MAX
from broker.net.connection import LARGE_FRAME_BYTES
from broker.net.memory import ConnectionMemory
from tests.broker.net.test_connection import FRAME_BYTES_MAX, Peer, framed
from tests.eventually import eventually

KB = 1024


class Holder:
    def __init__(self, memory: ConnectionMemory):
        self._memory = memory
        self.resumed = 0
        self.closed = ""
        self.sends = True

    def receive(self, count: int, now_s: float = 0.0) -> bool:
        if not self._memory.may_receive(self):
            return False
        self._memory.received(self, count, now_s)
        return True

    def resume_receiving(self) -> None:
        self.resumed += 1

    def has_bytes_waiting(self) -> bool:
        return self.sends

    def close(self, reason: str) -> None:
        self.closed = reason
        self._memory.frame_ended(self)
        self._memory.hold_answers(self, 0)


@pytest.fixture
def memory():
    return ConnectionMemory(requests_max=100 * KB, answers_max=100 * KB)


def holders(memory, count):
    return [Holder(memory) for _ in range(count)]


def test_who_comes_when_memory_is_used_up_waits(memory):
    first, second, third = holders(memory, 3)
    assert first.receive(60 * KB)
    assert second.receive(60 * KB)
    assert not second.receive(1)
    assert not third.receive(1)
    assert memory.is_short_of_requests


def test_the_first_frame_begun_may_always_finish(memory):
    first, second = holders(memory, 2)
    first.receive(60 * KB)
    second.receive(60 * KB)
    assert all(first.receive(KB) for _ in range(1_000))


def test_who_waits_goes_on_when_a_frame_has_ended(memory):
    first, second = holders(memory, 2)
    first.receive(60 * KB)
    second.receive(60 * KB)
    second.receive(1)
    memory.frame_ended(first)
    assert (second.resumed, memory.is_waited_for) == (1, False)
    assert memory.request_bytes == 60 * KB
    assert second.receive(1)


def test_the_next_in_line_goes_on_even_while_memory_is_used_up(memory):
    first, second, third = holders(memory, 3)
    for holder in (first, second, third):
        holder.receive(99 * KB if holder is first else 150 * KB)
    assert second.receive(0) is False
    memory.received(second, 150 * KB, 0.0)
    memory.frame_ended(first)
    assert memory.is_short_of_requests
    assert second.resumed == 1
    assert second.receive(KB)


def test_nobody_is_closed_while_nobody_waits(memory):
    slow = Holder(memory)
    slow.sends = False
    slow.receive(60 * KB)
    assert memory.close_stalled(now_s=1_000) == 0


def test_a_peer_that_stalls_while_others_wait_is_closed(memory):
    slow, waiting = holders(memory, 2)
    slow.receive(120 * KB)
    slow.sends = False
    waiting.receive(1)
    assert memory.close_stalled(STALLED_FRAME_S_MAX - 0.1) == 0
    assert memory.close_stalled(STALLED_FRAME_S_MAX + 0.1) == 1
    assert slow.closed
    assert waiting.resumed == 1


def test_a_peer_whose_bytes_wait_for_us_has_not_stalled(memory):
    first, second = holders(memory, 2)
    first.receive(120 * KB)
    second.receive(1)
    assert memory.close_stalled(STALLED_FRAME_S_MAX + 1) == 0


def test_a_frame_that_trickles_in_while_others_wait_is_closed_in_the_end(memory):
    slow, waiting = holders(memory, 2)
    slow.receive(120 * KB)
    waiting.receive(1)
    slow.receive(1, now_s=FRAME_UNDER_PRESSURE_S_MAX)
    assert memory.close_stalled(FRAME_UNDER_PRESSURE_S_MAX + 1) == 1
    assert slow.closed


def test_of_those_who_do_not_read_the_largest_is_closed(memory):
    small, large, medium = holders(memory, 3)
    memory.hold_answers(small, 20 * KB)
    memory.hold_answers(large, 50 * KB)
    assert memory.is_short_of_answers
    memory.hold_answers(medium, 40 * KB)
    assert (bool(small.closed), bool(large.closed), bool(medium.closed)) == (False, True, True)
    assert memory.answer_bytes == 20 * KB


def test_what_is_told_again_counts_once(memory):
    holder = Holder(memory)
    for size in (10, 30, 20):
        memory.hold_answers(holder, size)
    assert memory.answer_bytes == 20
    memory.hold_answers(holder, 0)
    assert memory.answer_bytes == 0


# -- sockets


def test_of_those_whose_requests_wait_the_largest_is_closed():
    memory = ConnectionMemory(parked_max=100)
    small, large, late = Holder(memory), Holder(memory), Holder(memory)
    memory.park(small, 30)
    memory.park(large, 70)
    assert not large.closed
    memory.park(late, 20)
    assert large.closed
    assert not small.closed
    assert not late.closed
    memory.park(late, 0)
    assert memory.parked_bytes == 30


async def test_requests_that_wait_count_until_they_are_answered_or_given_up():
    memory = ConnectionMemory()
    peer = Peer(memory)
    first, second = peer.connection.reserve(10_000), peer.connection.reserve(20_000)
    peer.connection.reserve(5)
    assert memory.parked_bytes == 30_000
    peer.connection.fill(first, (b"1",))
    assert memory.parked_bytes == 20_005
    peer.connection.close()
    assert memory.parked_bytes == 0
    peer.connection.fill(second, (b"2",))
    assert memory.parked_bytes == 0
    peer.sock.close()


async def test_connections_that_announce_large_frames_hold_what_has_arrived():
    memory = ConnectionMemory(requests_max=64 * KB)
    peers = [Peer(memory) for _ in range(20)]
    for peer in peers:
        await peer.send(FRAME_BYTES_MAX.to_bytes(4) + b"x")
    await eventually(lambda: memory.request_bytes == 20, "each has sent a byte")
    assert sum(len(peer.connection._large) for peer in peers) == 20
    for peer in peers:
        peer.connection.close()
    assert memory.request_bytes == 0


async def test_memory_stays_at_its_limit_and_every_frame_arrives_in_the_end():
    memory = ConnectionMemory(requests_max=256 * KB)
    peers = [Peer(memory) for _ in range(8)]
    body = bytes(range(256)) * (4 * KB)
    highest = 0
    for peer in peers:
        await peer.send(framed(body)[: 200 * KB])
    await eventually(lambda: memory.request_bytes >= 256 * KB, "memory used up")
    for peer in peers:
        highest = max(highest, memory.request_bytes)
        await peer.send(framed(body)[200 * KB :])
        assert await peer.frame() == body
    assert highest <= 256 * KB + len(body) + len(peers) * 256 * KB
    assert memory.request_bytes == 0
    assert not memory.is_waited_for
    for peer in peers:
        peer.connection.close()


async def test_half_a_small_frame_is_counted_too():
    memory = ConnectionMemory()
    peer = Peer(memory)
    await peer.send(framed(bytes(LARGE_FRAME_BYTES - 1))[: 20 * KB])
    await eventually(lambda: memory.request_bytes == 20 * KB - 4, "counted")
    await peer.send(framed(bytes(LARGE_FRAME_BYTES - 1))[20 * KB :])
    assert len(await peer.frame()) == LARGE_FRAME_BYTES - 1
    assert memory.request_bytes == 0
    peer.connection.close()


async def test_a_peer_that_does_not_read_is_closed_when_its_answers_fill_the_memory():
    memory = ConnectionMemory(answers_max=8 * KB * KB)
    reader, deaf = Peer(memory), Peer(memory)
    for _ in range(40):
        if deaf.connection.is_open:
            deaf.connection.fill(deaf.connection.reserve(), (bytes(KB * KB),))
            deaf.connection._handle_frames()
    assert "did not read" in await deaf.closed
    assert memory.answer_bytes == 0
    reader.connection.fill(reader.connection.reserve(), (b"yes",))
    assert await reader.receive(3) == b"yes"
    reader.connection.close()


async def test_requests_that_wait_behind_unread_answers_are_counted(monkeypatch):
    monkeypatch.setattr("broker.net.connection.IN_FLIGHT_PER_CONNECTION_MAX", 1)
    memory = ConnectionMemory()
    peer = Peer(memory)
    first = peer.connection.reserve()
    await peer.send(framed(bytes(10 * KB)) * 5)
    await eventually(lambda: memory.answer_bytes > 50 * KB, "waiting requests are counted")
    peer.connection.fill(first, (b"1",))
    await eventually(lambda: memory.answer_bytes == 0, "handled")
    peer.connection.close()


def test_limits_leave_room_for_the_largest_request():
    assert limits.HELD_REQUEST_BYTES_MAX >= 2 * 104_857_600

"""A connection fed byte by byte, out of order, too fast and too slowly, over a real socket pair."""

import asyncio
import socket

import pytest

from broker.common import limits
from broker.net import connection
from broker.net.connection import LARGE_FRAME_BYTES, Connection
from broker.net.file_part import FilePart
from broker.net.memory import ConnectionMemory
from broker.net.turns import Turns
from tests.eventually import eventually

FRAME_BYTES_MAX = 4 * 1024 * 1024


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4) + body


class Peer:
    """The other end: a client socket and what the connection reported."""

    def __init__(self, memory: ConnectionMemory | None = None, turns: Turns | None = None):
        self.loop = asyncio.get_running_loop()
        listener = socket.create_server(("127.0.0.1", 0))
        self.sock = socket.create_connection(listener.getsockname())
        served, _ = listener.accept()
        listener.close()
        self.sock.setblocking(False)
        served.setblocking(False)
        self.frames: asyncio.Queue[bytes] = asyncio.Queue()
        self.closed: asyncio.Future[str] = self.loop.create_future()
        self.connection = Connection(
            self.loop,
            served,
            lambda _, frame: self.frames.put_nowait(bytes(frame)),
            lambda _, reason: self.closed.set_result(reason),
            FRAME_BYTES_MAX,
            memory or ConnectionMemory(),
            turns or Turns(),
        )

    async def send(self, data: bytes) -> None:
        await self.loop.sock_sendall(self.sock, data)

    async def frame(self) -> bytes:
        return await asyncio.wait_for(self.frames.get(), 10)

    async def receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            chunk = await asyncio.wait_for(self.loop.sock_recv(self.sock, size - len(data)), 10)
            assert chunk, f"closed after {data!r}"
            data += chunk
        return data


@pytest.fixture
async def peer():
    peer = Peer()
    yield peer
    peer.connection.close()
    peer.sock.close()


async def test_a_frame_sent_byte_by_byte_arrives_whole(peer):
    for byte in framed(b"hello"):
        await peer.send(bytes([byte]))
        await asyncio.sleep(0)
    assert await peer.frame() == b"hello"


async def test_frames_sent_together_arrive_apart_and_in_order(peer):
    await peer.send(framed(b"one") + framed(b"") + framed(b"three") + framed(b"four")[:5])
    assert [await peer.frame() for _ in range(3)] == [b"one", b"", b"three"]
    await peer.send(framed(b"four")[5:])
    assert await peer.frame() == b"four"


@pytest.mark.parametrize("size", [LARGE_FRAME_BYTES - 1, LARGE_FRAME_BYTES, 3 * LARGE_FRAME_BYTES, FRAME_BYTES_MAX])
async def test_large_frames_arrive_whole_between_small_ones(peer, size):
    body = bytes(range(251)) * (size // 251 + 1)
    sending = asyncio.create_task(peer.send(framed(b"before") + framed(body[:size]) + framed(b"after")))
    assert await peer.frame() == b"before"
    assert await peer.frame() == body[:size]
    assert await peer.frame() == b"after"
    await sending


@pytest.mark.parametrize("prefix", [(FRAME_BYTES_MAX + 1).to_bytes(4), b"\xff\xff\xff\xff", b"GET "])
async def test_a_size_that_cannot_be_closes_the_connection_and_says_so(peer, prefix):
    await peer.send(prefix)
    assert await asyncio.wait_for(peer.closed, 10)
    assert peer.frames.empty()


async def test_announcing_a_large_frame_costs_little_memory(peer):
    await peer.send(FRAME_BYTES_MAX.to_bytes(4) + b"x")
    await peer.send(b"y")
    await asyncio.sleep(0.01)
    assert len(peer.connection._large) <= 2 * 1024 * 1024


async def test_responses_leave_in_the_order_of_requests(peer):
    first, second, third = (peer.connection.reserve() for _ in range(3))
    peer.connection.fill(third, (b"3",))
    peer.connection.fill(second, (b"2", b"2"))
    peer.connection.fill(first, (b"1",))
    assert await peer.receive(4) == b"1223"


async def test_a_request_without_response_holds_up_nobody(peer):
    silent, answered = peer.connection.reserve(), peer.connection.reserve()
    peer.connection.fill(answered, (b"yes",))
    peer.connection.fill(silent, ())
    assert await peer.receive(3) == b"yes"


async def test_a_response_larger_than_the_socket_buffer_arrives_whole(peer):
    body = bytes(range(256)) * 40_000
    peer.connection.fill(peer.connection.reserve(), (body[:100], body[100:]))
    assert await peer.receive(len(body)) == body


async def test_more_parts_than_one_sendmsg_takes_arrive_in_order(peer):
    parts = [str(number % 10).encode() for number in range(3 * limits.SENDMSG_BUFFERS_MAX)]
    peer.connection.fill(peer.connection.reserve(), parts)
    assert await peer.receive(len(parts)) == b"".join(parts)


async def test_a_piece_of_a_file_is_sent_in_its_place(peer, tmp_path):
    content = bytes(range(256)) * 40_000
    (tmp_path / "log").write_bytes(content)
    with (tmp_path / "log").open("rb") as file:
        parts = (b"head", FilePart(file, 1_000, 9_000_000), b"between", FilePart(file, 0, 5), b"tail")
        peer.connection.fill(peer.connection.reserve(), parts)
        peer.connection.fill(peer.connection.reserve(), (b"next",))
        expected = b"head" + content[1_000:9_001_000] + b"between" + content[:5] + b"tail" + b"next"
        assert await peer.receive(len(expected)) == expected


async def test_a_file_that_ends_early_closes_the_connection(peer, tmp_path):
    (tmp_path / "log").write_bytes(b"short")
    with (tmp_path / "log").open("rb") as file:
        peer.connection.fill(peer.connection.reserve(), (FilePart(file, 0, 100),))
        assert "ends" in await asyncio.wait_for(peer.closed, 10)


async def test_reading_stops_while_too_many_requests_are_unanswered(peer, monkeypatch):
    monkeypatch.setattr("broker.net.connection.IN_FLIGHT_PER_CONNECTION_MAX", 2)
    slots = [peer.connection.reserve(), peer.connection.reserve()]
    await peer.send(framed(b"a"))
    await eventually(lambda: not peer.connection._is_reading, "reading has stopped")
    await peer.send(framed(b"b"))
    await asyncio.sleep(0.02)
    assert peer.frames.empty()
    for slot in slots:
        peer.connection.fill(slot, ())
    assert [await peer.frame(), await peer.frame()] == [b"a", b"b"]


async def test_requests_wait_while_those_unanswered_have_too_many_bytes(peer, monkeypatch):
    monkeypatch.setattr("broker.net.connection.UNANSWERED_BYTES_PER_CONNECTION_MAX", 10)
    slots = []

    def reserve(budget, frame):
        slots.append(budget.reserve(len(frame)))
        peer.frames.put_nowait(bytes(frame))

    peer.connection.on_frame = reserve
    large = b"larger than all that may wait"
    await peer.send(framed(b"small") + framed(large) + framed(b"after"))
    assert [await peer.frame(), await peer.frame()] == [b"small", large]
    await eventually(lambda: not peer.connection._is_reading, "reading has stopped")
    assert peer.frames.empty()
    peer.connection.fill(slots[1], (b"second",))
    assert await peer.frame() == b"after", "although the first is not answered"
    peer.connection.fill(slots[0], (b"first",))
    assert await peer.receive(11) == b"firstsecond"


async def test_a_peer_that_leaves_closes_quietly(peer):
    peer.sock.close()
    assert await asyncio.wait_for(peer.closed, 10) == ""


async def test_a_peer_that_leaves_in_the_middle_of_a_request_is_noted(peer):
    await peer.send(framed(b"hello")[:6])
    await asyncio.sleep(0.01)
    peer.sock.close()
    assert "middle" in await asyncio.wait_for(peer.closed, 10)


async def test_closing_twice_reports_once(peer):
    peer.connection.close("why")
    peer.connection.close("again")
    assert await peer.closed == "why"


async def test_frames_read_already_wait_while_too_many_requests_are_unanswered(peer, monkeypatch):
    monkeypatch.setattr("broker.net.connection.IN_FLIGHT_PER_CONNECTION_MAX", 2)
    slots = reserve_for_each_frame(peer)
    await peer.send(b"".join(framed(bytes([letter])) for letter in b"abcde"))
    assert [await peer.frame() for _ in range(2)] == [b"a", b"b"]
    await asyncio.sleep(0.01)
    assert peer.frames.empty()
    for expected in b"cde":
        peer.connection.fill(slots.pop(0), ())
        assert await peer.frame() == bytes([expected])


async def test_frames_read_already_wait_while_a_slow_reader_holds_up_answers(peer, monkeypatch):
    monkeypatch.setattr("broker.net.connection.UNSENT_BYTES_PER_CONNECTION_MAX", 1_000)
    slots = reserve_for_each_frame(peer, answer=bytes(8_000_000))
    await peer.send(framed(b"a") + framed(b"b") + framed(b"c"))
    assert await peer.frame() == b"a"
    await asyncio.sleep(0.01)
    assert len(slots) == 1
    await peer.receive(8_000_000)
    assert await peer.frame() == b"b"


async def test_answers_that_wait_for_an_earlier_one_count_as_unsent(peer, monkeypatch):
    monkeypatch.setattr("broker.net.connection.UNSENT_BYTES_PER_CONNECTION_MAX", 1_000)
    first, second = peer.connection.reserve(), peer.connection.reserve()
    peer.connection.fill(second, (bytes(1_000),))
    await peer.send(framed(b"a"))
    await eventually(lambda: not peer.connection._is_reading, "reading has stopped")
    assert peer.frames.empty()
    peer.connection.fill(first, ())
    assert await peer.frame() == b"a"


async def test_the_last_words_of_a_connection_keep_the_order_of_requests(peer):
    answered, waiting, ready = (peer.connection.reserve() for _ in range(3))
    peer.connection.fill(ready, (b"out of turn",))
    peer.connection.fill(answered, (b"first",))
    peer.connection.close("why")
    assert await peer.receive(5) == b"first"
    assert await asyncio.wait_for(peer.loop.sock_recv(peer.sock, 100), 10) == b""
    peer.connection.fill(waiting, (b"too late",))


def reserve_for_each_frame(peer, answer=None) -> list:
    """Have each frame take a slot, answered at once where there is an answer; the slots."""
    slots = []

    def on_frame(connection, frame):
        slots.append(connection.reserve())
        if answer is not None:
            connection.fill(slots[-1], (answer,))
        peer.frames.put_nowait(bytes(frame))

    peer.connection.on_frame = on_frame
    return slots


def reserving(peer) -> list:
    """Every request is answered later, by whoever fills its slot."""
    slots = []

    def reserve(budget, frame):
        peer.frames.put_nowait(bytes(frame))
        slots.append(budget.reserve())

    peer.connection.on_frame = reserve
    return slots


async def test_whole_requests_before_a_bad_one_are_handled_and_answered(peer):
    slots = reserving(peer)
    await peer.send(framed(b"good") + framed(b"late") + b"\xff\xff\xff\xff" + framed(b"after"))
    assert [await peer.frame(), await peer.frame()] == [b"good", b"late"]
    first, second = slots
    peer.connection.fill(first, [b"one"])
    assert await peer.receive(3) == b"one"
    assert not peer.closed.done(), "an answer is still to come"
    peer.connection.fill(second, [b"two"])
    assert await peer.receive(3) == b"two"
    assert await asyncio.wait_for(peer.closed, 10) == "a frame announces -1 bytes"
    assert peer.frames.empty()


async def test_an_answer_that_never_comes_does_not_keep_a_bad_peer(peer, monkeypatch):
    monkeypatch.setattr(connection, "LAST_ANSWERS_S", 0.01)
    reserving(peer)
    await peer.send(framed(b"good") + b"\xff\xff\xff\xff")
    assert await asyncio.wait_for(peer.closed, 10) == "a frame announces -1 bytes"


async def test_nothing_is_handled_after_a_request_that_ends_the_connection(peer):
    def refuse(_, frame):
        peer.frames.put_nowait(bytes(frame))
        peer.connection.close_when_answered("bad")

    peer.connection.on_frame = refuse
    await peer.send(framed(b"bad") + framed(b"after"))
    assert await peer.frame() == b"bad"
    assert await asyncio.wait_for(peer.closed, 10) == "bad"
    assert peer.frames.empty()

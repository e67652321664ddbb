"""Long work queues, in order, and the loop looks at its sockets between two slices."""

import asyncio
import socket
from collections import Counter
from itertools import pairwise

import pytest

from broker.net import turns
from broker.net.turns import Turns
from tests.broker.net.test_connection import Peer, framed


async def run_all(log, count):
    while len(log) < count:
        await asyncio.sleep(0)


async def test_work_is_done_once_and_in_order():
    log = []
    order = Turns()
    for number in range(5):
        order.ask(lambda number=number: log.append(number))
    await run_all(log, 5)
    await asyncio.sleep(0)
    assert log == [0, 1, 2, 3, 4]


async def test_work_that_asks_again_goes_behind_the_others():
    log = []
    order = Turns()

    def again():
        log.append("first")
        order.ask(lambda: log.append("first again"))

    order.ask(again)
    order.ask(lambda: log.append("second"))
    await run_all(log, 3)
    assert log == ["first", "second", "first again"]


async def test_between_two_slices_everybody_else_has_a_turn(monkeypatch):
    monkeypatch.setattr(turns, "SLICE_S", 0)
    log = []
    loop = asyncio.get_running_loop()
    order = Turns()
    ours, theirs = socket.socketpair()
    theirs.send(b"x")
    loop.add_reader(ours.fileno(), lambda: (log.append("socket"), loop.remove_reader(ours.fileno())))
    for number in range(5):
        order.ask(lambda number=number: log.append(number))
    await run_all(log, 6)
    assert log[-1] == 4
    assert "socket" in log[:-1]
    ours.close()
    theirs.close()


async def test_a_connection_with_much_to_answer_takes_turns(monkeypatch):
    monkeypatch.setattr("broker.net.connection.UNSENT_BYTES_PER_CONNECTION_MAX", 10)
    peer = Peer()
    handled, turns_after = [], []
    peer.connection.on_frame = lambda connection, frame: (
        handled.append(bytes(frame)),
        connection.answer((b"0123456789",)),
    )
    ask = peer.connection._turns.ask
    peer.connection._turns.ask = lambda work: (turns_after.append(len(handled)), ask(work))
    await peer.send(b"".join(framed(b"%d" % number) for number in range(5)))
    assert await peer.receive(50) == b"0123456789" * 5
    assert (handled, turns_after) == ([b"0", b"1", b"2", b"3", b"4"], [1, 2, 3, 4])
    peer.connection.close()
    peer.sock.close()


class TwoConnections:
    """Two connections to one broker; what begins with "long" may take long."""

    def __init__(self):
        self.handled = []
        self.turns = Turns()
        self.first, self.second = Peer(turns=self.turns), Peer(turns=self.turns)
        for name, peer in (("first", self.first), ("second", self.second)):
            peer.connection.on_frame = lambda connection, frame, name=name: self._on_frame(name, connection, frame)

    def _on_frame(self, name, connection, frame):
        if bytes(frame[:4]) == b"long" and not connection.may_take_long(frame):
            return
        self.handled.append((name, bytes(frame)))
        connection.answer((b".",))

    def close(self):
        for peer in (self.first, self.second):
            peer.connection.close()
            peer.sock.close()


@pytest.fixture
async def connections():
    requested_asked = TwoConnections()
    yield requested_asked
    requested_asked.close()


async def test_between_two_long_requests_of_one_connection_another_has_its_turn(connections, monkeypatch):
    monkeypatch.setattr(turns, "SLICE_S", 0)
    await connections.first.send(framed(b"long 1") + framed(b"long 2") + framed(b"long 3"))
    await connections.second.send(framed(b"short"))
    await connections.first.receive(3)
    await connections.second.receive(1)
    of_first = [frame for name, frame in connections.handled if name == "first"]
    assert of_first == [b"long 1", b"long 2", b"long 3"]
    assert connections.handled.index(("second", b"short")) < len(connections.handled) - 1


async def test_what_comes_after_a_long_request_does_not_overtake_it(connections):
    await connections.first.send(framed(b"short 1") + framed(b"long") + framed(b"short 2"))
    await connections.first.receive(3)
    assert [frame for _, frame in connections.handled] == [b"short 1", b"long", b"short 2"]


async def test_what_arrives_while_a_long_request_waits_for_its_turn_does_not_overtake_it(connections, monkeypatch):
    """And is not read before."""
    monkeypatch.setattr(turns, "SLICE_S", 0)
    is_read, connection = [], connections.first.connection
    answer = connection.on_frame

    def busy(_connection, frame):
        """Others have had more to do before, each a pass of the loop."""
        if not is_read and not connections.handled:
            connections.first.sock.send(framed(b"short"))
            for _ in range(20):
                connections.turns.ask(lambda: is_read.append(connection._is_reading))
        answer(_connection, frame)

    connection.on_frame = busy
    await connections.first.send(framed(b"long"))
    await connections.first.receive(2)
    assert [frame for _, frame in connections.handled] == [b"long", b"short"]
    assert is_read[0]
    assert not is_read[-1]


async def test_for_a_long_request_alone_reading_is_not_stopped_and_begun_again(connections, monkeypatch):
    stopped = []
    monkeypatch.setattr(asyncio.get_running_loop(), "remove_reader", stopped.append)
    for _ in range(3):
        await connections.first.send(framed(b"long"))
        await connections.first.receive(1)
    monkeypatch.undo()
    assert connections.first.connection._fd not in stopped


async def test_long_requests_of_many_connections_are_handled_one_in_a_pass(connections, monkeypatch):
    monkeypatch.setattr(turns, "SLICE_S", 0)
    passes = [0]
    run = connections.turns._run
    monkeypatch.setattr(connections.turns, "_run", lambda: (passes.append(len(connections.handled)), run()))
    await connections.first.send(framed(b"long 1"))
    await connections.second.send(framed(b"long 2"))
    await connections.first.receive(1)
    await connections.second.receive(1)
    assert passes[-2:] == [0, 1]


async def test_one_wake_up_handles_what_a_slice_of_time_allows(connections, monkeypatch):
    """However many requests a packet holds, and however long each takes."""
    monkeypatch.setattr(turns, "SLICE_S", 0)
    wake_ups = []
    handle = connections.first.connection._handle_frames
    connections.first.connection._handle_frames = lambda: (wake_ups.append(len(connections.handled)), handle())
    await connections.first.send(b"".join(framed(b"%d" % number) for number in range(5)))
    await connections.first.receive(5)
    assert wake_ups == [0, 1, 2, 3, 4]


async def test_connections_that_are_readable_at_once_share_a_pass_of_the_loop(monkeypatch):
    """Each has a slice, but of two hundred at once others would notice."""
    now, handled, passes = [0.0], [], []
    monkeypatch.setattr(turns, "monotonic", lambda: now[0])
    shared = Turns()
    next_pass = shared._next_pass
    shared._next_pass = lambda: (passes.append(len(handled)), next_pass())

    def on_frame(connection, frame):
        handled.append(bytes(frame))
        now[0] += turns.PASS_S / 4
        connection.answer((b".",))

    peers = [Peer(turns=shared) for _ in range(12)]
    for peer in peers:
        peer.connection.on_frame = on_frame
        peer.sock.send(framed(b"one") + framed(b"two"))
    for peer in peers:
        await peer.receive(2)
        peer.connection.close()
        peer.sock.close()
    assert passes[0] <= 4
    assert max(after - before for before, after in pairwise(passes)) <= 5
    assert Counter(handled) == {b"one": 12, b"two": 12}

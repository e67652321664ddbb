"""Long work queues, in order, and the loop looks at its sockets between two slices."""

import asyncio
import socket

from broker.net import turns
from broker.net.turns import Turns
from tests.broker.net.test_connection import Peer, framed


async def run_all(log, count):
    while len(log) < count:
        await asyncio.sleep(0)


async def test_work_is_done_once_and_in_order():
    log = []
    order = Turns(asyncio.get_running_loop())
    for number in range(5):
        order.ask(lambda number=number: log.append(number))
    await run_all(log, 5)
    await asyncio.sleep(0)
    assert log == [0, 1, 2, 3, 4]


async def test_work_that_asks_again_goes_behind_the_others():
    log = []
    order = Turns(asyncio.get_running_loop())

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
    order = Turns(loop)
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
    handled, asked = [], []
    peer.connection._on_frame = lambda connection, frame: (
        handled.append(bytes(frame)),
        connection.answer((b"0123456789",)),
    )
    ask = peer.connection._turns.ask
    peer.connection._turns.ask = lambda work: (asked.append(len(handled)), ask(work))
    await peer.send(b"".join(framed(b"%d" % number) for number in range(5)))
    assert await peer.receive(50) == b"0123456789" * 5
    assert (handled, asked) == ([b"0", b"1", b"2", b"3", b"4"], [1, 2, 3, 4])
    peer.connection.close()
    peer.sock.close()

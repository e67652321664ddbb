"""What is left of a line when it is closed: nothing that the next socket of its number would be taken for."""

import asyncio
import socket

import pytest

from broker.net.peer_connection import PeerConnection


@pytest.fixture
def pairs():
    """`pairs()`: two sockets that are connected with each other and do not block."""
    made: list[socket.socket] = []

    def make() -> tuple[socket.socket, socket.socket]:
        pair = socket.socketpair()
        made.extend(pair)
        for item in pair:
            item.setblocking(False)
        return pair

    yield make
    for item in made:
        item.close()


async def test_one_that_is_closed_while_its_answer_comes_leaves_the_next_socket_of_its_number_alone(pairs):
    """As when a broker stops: the next connection that got the number was never heard."""
    loop = asyncio.get_running_loop()
    ours, peer = pairs()
    line, number = PeerConnection(ours), ours.fileno()
    receiving = asyncio.create_task(line.receive(1))
    await asyncio.sleep(0)
    closes, closed_by = pairs()
    loop.add_reader(closes, line.close)
    peer.send(b"x")  # both at the same look at what is ready: who waits is woken, and has not yet come to its turn
    closed_by.send(b"x")
    with pytest.raises(OSError):
        await receiving
    loop.remove_reader(closes)
    following, sends = pairs()
    assert number in (following.fileno(), sends.fileno())
    if sends.fileno() == number:
        following, sends = sends, following
    heard = asyncio.Event()
    loop.add_reader(following, heard.set)
    sends.send(b"x")
    async with asyncio.timeout(10):
        await heard.wait()
    loop.remove_reader(following)

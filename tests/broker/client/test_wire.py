"""Bytes of one socket: all of them in order, however they come; a deadline is kept; memory is used again."""

import os
import socket
import threading
import time

import pytest

from broker.client.wire import ReceiveBuffer, Wire

FAR_S = 60.0


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def far() -> float:
    return time.monotonic() + FAR_S


def read_all(sock: socket.socket, size: int) -> bytes:
    with sock.makefile("rb") as stream:
        return stream.read(size)


@pytest.mark.parametrize("is_plain", [True, False])
def test_pieces_of_every_size_leave_in_order_however_slowly_they_are_read(ends, is_plain):
    ours, theirs = ends
    pieces = [b"head", os.urandom(3_000_000), b"", b"between", b"these", bytearray(os.urandom(70_000)), b"tail"]
    taken: list[bytes] = []
    reader = threading.Thread(target=lambda: taken.append(read_all(theirs, sum(map(len, pieces)))))
    reader.start()
    Wire(ours, is_plain=is_plain).send(pieces, far())
    reader.join(FAR_S)
    assert taken == [b"".join(pieces)]


def test_nothing_at_all_is_sent_without_a_complaint(ends):
    Wire(ends[0], is_plain=True).send([], far())


@pytest.mark.parametrize("is_plain", [True, False])
@pytest.mark.parametrize("room", [None, ReceiveBuffer()])
def test_what_comes_in_pieces_is_whole(ends, is_plain, room):
    ours, theirs = ends
    wire = Wire(ours, is_plain=is_plain)
    for size in (4, 3_000_000, 1, 2_000_000, 5_000_000):
        data = os.urandom(size)
        sender = threading.Thread(target=theirs.sendall, args=(data,))
        sender.start()
        assert bytes(wire.receive(size, far(), room)) == data
        sender.join(FAR_S)


def test_a_room_is_used_again_for_what_fits_into_it(ends):
    ours, theirs = ends
    wire, room = Wire(ours, is_plain=True), ReceiveBuffer()
    theirs.sendall(b"firstothermuch longer")
    first = wire.receive(5, far(), room)
    assert bytes(first) == b"first"
    wire.receive(5, far(), room)
    assert bytes(first) == b"other"
    assert bytes(wire.receive(11, far(), room)) == b"much longer"
    assert bytes(first) == b"other"


@pytest.mark.parametrize("is_plain", [True, False])
@pytest.mark.parametrize("left_s", [-1.0, 0.02])
def test_a_peer_that_says_nothing_or_too_little_is_left_at_the_deadline(ends, is_plain, left_s):
    ours, theirs = ends
    theirs.sendall(b"half")
    with pytest.raises(TimeoutError):
        Wire(ours, is_plain=is_plain).receive(8, time.monotonic() + left_s)


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_peer_that_reads_nothing_is_left_at_the_deadline(ends, is_plain):
    with pytest.raises(TimeoutError):
        Wire(ends[0], is_plain=is_plain).send([bytes(50_000_000)], time.monotonic() + 0.02)


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_peer_that_ends_in_the_middle_is_no_end_of_time(ends, is_plain):
    ours, theirs = ends
    theirs.sendall(b"half")
    theirs.close()
    with pytest.raises(ConnectionError, match="the connection was closed"):
        Wire(ours, is_plain=is_plain).receive(8, far())


def test_an_announcement_takes_no_memory_before_its_bytes_come(ends):
    ours, theirs = ends
    theirs.sendall(bytes(100))
    room = ReceiveBuffer()
    with pytest.raises(TimeoutError):
        Wire(ours, is_plain=True).receive(1 << 30, time.monotonic() + 0.02, room)
    assert len(room.bytes) == 0

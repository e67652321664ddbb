"""Frames are found wherever the network cuts the stream."""

import pytest

from broker.common.errors import ProtocolError
from broker.protocol.framing import BadFrameSize, FrameTooLarge, split_frames

LIMIT_BYTES = 1000
BODIES = [b"first", b"", b"the third one", b"\0\0\0\1"]
STREAM = b"".join(len(body).to_bytes(4) + body for body in BODIES)


def _receive(stream, cuts):
    """Feed the stream piece by piece, as a connection does; the frames found and the bytes left over."""
    buffer, collected = bytearray(), []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        buffer += stream[begin:end]
        frames, rest = split_frames(buffer, len(buffer), LIMIT_BYTES)
        collected += frames
        del buffer[:rest]
    return collected, bytes(buffer)


def test_frames_are_found_when_all_arrive_at_once():
    assert _receive(STREAM, []) == (BODIES, b"")


@pytest.mark.parametrize("cut", range(len(STREAM) + 1))
def test_frames_are_found_when_the_stream_is_cut(cut):
    assert _receive(STREAM, [cut]) == (BODIES, b"")


def test_frames_are_found_when_bytes_come_one_by_one():
    assert _receive(STREAM, list(range(1, len(STREAM)))) == (BODIES, b"")


def test_unfinished_frame_is_left_in_the_buffer():
    assert _receive(STREAM[:-1], []) == (BODIES[:-1], STREAM[-8:-1])


def test_bytes_beyond_the_end_are_not_looked_at():
    assert split_frames(bytearray(STREAM), 3, LIMIT_BYTES) == ([], 0)
    assert split_frames(bytearray(STREAM), 8, LIMIT_BYTES) == ([], 0)
    assert split_frames(bytearray(STREAM), 9, LIMIT_BYTES) == ([b"first"], 9)


def test_frames_are_copies_that_outlive_the_buffer():
    buffer = bytearray(STREAM)
    frames, _ = split_frames(buffer, len(buffer), LIMIT_BYTES)
    buffer[:] = bytes(len(buffer))
    assert frames == BODIES


def test_frame_of_exactly_the_limit_is_accepted():
    stream = bytearray((LIMIT_BYTES).to_bytes(4) + bytes(LIMIT_BYTES))
    assert split_frames(stream, len(stream), LIMIT_BYTES) == ([bytes(LIMIT_BYTES)], len(stream))


def test_frame_above_the_limit_is_refused_as_soon_as_its_size_is_known():
    with pytest.raises(FrameTooLarge, match="1001 bytes"):
        split_frames(bytearray((LIMIT_BYTES + 1).to_bytes(4)), 4, LIMIT_BYTES)


def test_text_sent_to_the_port_is_refused():
    with pytest.raises(FrameTooLarge):
        split_frames(bytearray(b"GET / HTTP/1.1\r\n"), 16, LIMIT_BYTES)


def test_negative_size_is_refused():
    with pytest.raises(ProtocolError, match="-1 bytes"):
        split_frames(bytearray(b"\xff\xff\xff\xff"), 4, LIMIT_BYTES)


def test_frames_before_an_impossible_one_are_handed_over():
    stream = bytearray(STREAM[:9] + b"\xff\xff\xff\xff")
    with pytest.raises(BadFrameSize) as refused:
        split_frames(stream, len(stream), LIMIT_BYTES)
    assert refused.value.frames_before == [b"first"]

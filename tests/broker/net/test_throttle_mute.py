"""A muted connection: answered, not read, and nothing of it left when it ends."""

import asyncio

import pytest

from broker.net import throttle_mute
from tests.broker.net.test_connection import Peer, framed
from tests.eventually import eventually


@pytest.fixture
async def peer():
    made = Peer()
    yield made
    made.connection.close()
    made.sock.close()


async def test_nothing_is_read_before_its_time_and_everything_after_in_order(peer):
    peer.connection.mute(100)
    await peer.send(framed(b"one") + framed(b"two"))
    assert await peer.frame() == b"one"
    assert peer.connection._muted is None
    assert await peer.frame() == b"two"


async def test_who_is_muted_while_a_request_is_handled_is_answered_and_the_next_one_waits(peer):
    handled = []

    def on_frame(muted, frame):
        handled.append(bytes(frame))
        muted.answer([framed(b"answer")])
        muted.mute(60_000)

    peer.connection.on_frame = on_frame
    await peer.send(framed(b"one") + framed(b"two"))
    assert await peer.receive(10) == framed(b"answer")
    assert handled == [b"one"]


async def test_an_answer_that_comes_while_it_is_muted_leaves_at_once(peer):
    slots = []
    peer.connection.on_frame = lambda muted, _frame: slots.append(muted.reserve())
    await peer.send(framed(b"one"))
    await eventually(lambda: slots, "the request is there")
    peer.connection.mute(60_000)
    peer.connection.fill(slots[0], [framed(b"late")])
    assert await peer.receive(8) == framed(b"late")


async def test_of_two_times_the_later_end_counts(peer):
    peer.connection.mute(60_000)
    peer.connection.mute(1)
    assert peer.connection._muted._until > peer.loop.time() + 50
    assert peer.connection._holds == 1


async def test_it_is_no_sign_of_life_until_it_is_over(peer):
    before = peer.connection.progress_count
    peer.connection.mute(50)
    assert peer.connection.progress_count == before
    await eventually(lambda: peer.connection.progress_count == before + 1, "who may speak again has not been idle")


@pytest.mark.parametrize("unread", [b"", framed(b"more") * 100])
async def test_who_hangs_up_meanwhile_is_noticed_also_behind_what_it_sent(peer, monkeypatch, unread):
    monkeypatch.setattr(throttle_mute, "MUTED_LOOK_S", 0.02)
    peer.connection.mute(3_600_000)
    await peer.send(unread)
    peer.sock.close()
    assert await asyncio.wait_for(peer.closed, 10) == "closed while it was muted"


async def test_closing_works_and_leaves_no_timer(peer):
    peer.connection.mute(3_600_000)
    timer = peer.connection._muted._timer
    peer.connection.close("enough")
    assert timer.cancelled()
    peer.connection.mute(1_000)
    assert not peer.connection.is_open


async def test_what_is_held_for_another_reason_stays_held(peer):
    done = peer.loop.create_future()
    peer.connection.hold_until(done)
    peer.connection.mute(20)
    await peer.send(framed(b"one"))
    await eventually(lambda: peer.connection._muted is None, "it is over")
    assert peer.frames.empty()
    done.set_result(None)
    assert await peer.frame() == b"one"

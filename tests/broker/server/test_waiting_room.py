"""Connections that have not logged in: one host has one place in the queue, however many addresses it has."""

from types import SimpleNamespace

import pytest

from broker.server.waiting_room import WaitingRoom
from tests.manual_clock import ManualClock


class Waiting(SimpleNamespace):
    """A connection as far as the waiting room looks at it."""

    __hash__ = object.__hash__

    def __init__(self, room: WaitingRoom, peer_host: str):
        super().__init__(room=room, peer_host=peer_host, peer=peer_host, session=None, is_closed=False)
        room.enter(self)

    def close(self) -> None:
        self.is_closed = True
        self.room.leave(self)


@pytest.mark.parametrize("address", ["2001:db8:0:1::{:x}", "127.0.0.{}"])
def test_a_host_with_many_addresses_gives_way_to_others(address):
    room = WaitingRoom(ManualClock(), connections_max=10)
    others = [Waiting(room, host) for host in ("10.0.0.7", "10.0.0.8", "2001:db8:0:2::1")]
    flood = [Waiting(room, address.format(number)) for number in range(1, 60)]
    assert room.count == 10
    assert not any(other.is_closed for other in others)
    assert [item.is_closed for item in flood] == [True] * 52 + [False] * 7
    for connection in (*others, *flood):
        connection.close()
    assert (room.count, room._waiting) == (0, {})

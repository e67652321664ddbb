"""Connections are used again by one at a time, and never those that something is the matter with."""

import socket

import pytest

from broker.client.security.properties import PLAINTEXT, ClientSecurity
from broker.security.membership import ClusterMembership
from console.kit.gateway.connection import kept_connections
from console.kit.gateway.connection.kept_connections import IDLE_MAX_S, KeptConnections, LendingCluster


class Connection:
    """As far as it is asked here; `other` is the broker's side."""

    def __init__(self, host: str, port: int, timeout_s: float, security: ClientSecurity):
        self.mine, self.other = socket.socketpair()
        self.timeout_s, self.is_at_rest, self.is_member = timeout_s, True, False

    def fileno(self) -> int:
        return self.mine.fileno()

    def close(self) -> None:
        self.is_at_rest = False
        self.mine.close()
        self.other.close()

    @property
    def is_closed(self) -> bool:
        return self.mine.fileno() < 0


class World:
    def __init__(self):
        self.now_s, self.made = 0.0, []
        self.kept = KeptConnections(self._connect, lambda: self.now_s)

    def _connect(self, *words) -> Connection:
        self.made.append(Connection(*words))
        return self.made[-1]

    def lend(self, port: int = 1, timeout_s: float = 1.0, security: ClientSecurity = PLAINTEXT, membership=None):
        return self.kept.lend("host", port, timeout_s, security, membership)


@pytest.fixture
def world():
    world = World()
    yield world
    for item in world.made:
        item.close()


def test_the_next_who_asks_has_the_same_with_a_time_of_its_own(world):
    with world.lend(timeout_s=1.0) as first:
        pass
    with world.lend(timeout_s=5.0) as second:
        assert second is first
        assert second.timeout_s == 5.0


def test_who_would_rather_not_wait_has_one_that_is_open_or_none(world):
    words = ("host", 1, 3.0, PLAINTEXT)
    assert world.kept.lend_kept(*words) is None
    with world.lend() as first:
        assert world.kept.lend_kept(*words) is None
    lent = world.kept.lend_kept(*words)
    with lent as second:
        assert second is first
        assert second.timeout_s == 3.0
    assert len(world.made) == 1


def test_two_at_once_never_share_one(world):
    with world.lend() as first, world.lend() as second:
        assert first is not second


def test_another_broker_or_another_password_is_another_connection(world):
    with world.lend():
        pass
    with world.lend(port=2), world.lend(security=ClientSecurity(protocol="SSL")):
        assert len(world.made) == 3


def test_who_is_no_member_never_has_the_connection_of_one(world):
    one, other = (ClusterMembership(bytes([number]) * 32, lambda: "nonce" * 4) for number in (1, 2))
    with world.lend(membership=one) as members:
        members.is_member = True
    with world.lend() as plain, world.lend(membership=other) as others, world.lend(membership=one) as again:
        assert again is members
        assert members not in (plain, others)


def test_a_connection_that_became_a_members_under_way_is_not_kept_as_anybodys(world):
    with world.lend() as first:
        first.is_member = True
    assert first.is_closed


@pytest.mark.parametrize("how", ["hung up", "said something nobody asked for", "old", "not at rest"])
def test_what_is_no_good_is_closed_and_made_anew(world, how):
    with world.lend() as first:
        first.is_at_rest = how != "not at rest"
    match how:
        case "hung up":
            first.other.close()
        case "said something nobody asked for":
            first.other.send(b"x")
        case "old":
            world.now_s = IDLE_MAX_S + 1
    with world.lend() as second:
        assert second is not first
    assert first.is_closed


def test_what_failed_while_it_was_lent_is_not_lent_again(world):
    with world.lend() as first:
        first.close()
    with world.lend() as second:
        assert not second.is_closed


def test_only_so_many_are_kept_and_the_oldest_go(world, monkeypatch):
    monkeypatch.setattr(kept_connections, "KEPT_MAX", 2)
    lent = [world.lend(port) for port in range(3)]
    for item in lent:
        item.give_back()
    assert [item.is_closed for item in world.made] == [True, False, False]


def test_a_cluster_gives_back_what_it_has_borrowed_but_not_what_it_has_given_up(world):
    with LendingCluster([("host", 1)], world.kept, PLAINTEXT, 2.0) as cluster:
        good, bad = cluster.connection("host", 1), cluster.connection("host", 2)
        assert cluster.connection("host", 1) is good
        cluster.forget("host", 2)
    assert (good.is_closed, bad.is_closed) == (False, True)
    with world.lend(1) as again:
        assert again is good

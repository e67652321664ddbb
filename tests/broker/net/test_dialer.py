"""Dialling somebody who is a member of the cluster, of another, or of none."""

from dataclasses import replace

import pytest

from broker.net.dialer import Dialer, PeerUnreachable
from broker.net.outbound import OutboundConnection
from broker.net.tls.contexts import client_context
from broker.net.tls.keeper import ContextKeeper
from broker.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from broker.security.membership import ClusterMembership
from tests.broker.net.test_outbound import _raw_peer
from tests.broker.net.tls.served import AUTHORITY, SETTINGS, serving
from tests.members import dialer, new_nonce
from tests.scripted_broker import ScriptedBroker
from tests.zookeeper_server import free_ports

REQUEST = UpdateMetadataRequest(controller_id=3, controller_epoch=7, broker_epoch=9)


async def test_a_member_is_asked_after_both_have_proved_themselves():
    async with ScriptedBroker() as peer:
        connection = OutboundConnection(dialer(), "127.0.0.1", peer.port, "test")
        await connection.connect(5_000)
        assert await connection.request(REQUEST, 8, 5_000) == UpdateMetadataResponse()
        assert peer.received == [REQUEST]
        connection.close()


async def test_a_member_of_another_cluster_hears_nothing():
    async with ScriptedBroker() as peer:
        stranger = Dialer(ClusterMembership(bytes(32), new_nonce))
        connection = OutboundConnection(stranger, "127.0.0.1", peer.port, "test")
        with pytest.raises(PeerUnreachable, match="no member of this cluster"):
            await connection.connect(5_000)
        assert not connection.is_connected
        assert peer.received == []


async def test_nobody_there_is_unreachable():
    with pytest.raises(PeerUnreachable, match="cannot connect"):
        await dialer().dial("127.0.0.1", free_ports(1)[0], 5_000)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"\0\0\0\x08\0\0\0\0", "closed"),
        (b"\0\0\0\x08\0\0\0\x63\0\0\0\0", "request 99 is answered"),
        (b"\xff\xff\xff\xff", "-1 bytes"),
        ((64 * 1024 + 1).to_bytes(4), "65537 bytes"),
        (b"\0\0\0\x05\0\0\0\0\0", "SaslHandshakeResponse"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "bytes"),
    ],
)
async def test_who_answers_anything_else_is_unreachable(answer, words):
    server, port = await _raw_peer(answer)
    with pytest.raises(PeerUnreachable, match=words):
        await dialer().dial("127.0.0.1", port, 5_000)
    server.close()


async def test_who_says_nothing_is_given_up():
    server, port = await _raw_peer(b"")
    with pytest.raises(PeerUnreachable, match="timed out"):
        await dialer().dial("127.0.0.1", port, 50)
    server.close()


class ToBrokers:
    """Contexts of one listener, by which brokers reach each other."""

    def __init__(self, algorithm: str):
        settings = replace(SETTINGS, endpoint_identification_algorithm=algorithm)
        self.of_brokers = ContextKeeper("to other brokers", settings, client_context)

    def by(self, listener: str) -> ContextKeeper:
        return self.of_brokers


@pytest.mark.parametrize(("algorithm", "is_heard"), [("https", False), ("", True)])
async def test_a_certificate_for_another_host_is_refused_unless_names_are_not_checked(algorithm, is_heard):
    elsewhere = AUTHORITY.server("elsewhere.example")
    own = {"keystore_key": elsewhere.key_pem(), "keystore_certificate_chain": elsewhere.chain_pem}
    async with serving(**own) as served:
        to_it = Dialer(ClusterMembership(bytes(32), new_nonce), ToBrokers(algorithm))
        with pytest.raises(PeerUnreachable) as refused:
            await to_it.dial("127.0.0.1", served.listener.port, 5_000)
        assert ("no TLS with" in str(refused.value)) is not is_heard
        assert bool(served.connections) is is_heard


@pytest.mark.parametrize("host", ["\u2028", "a" * 70 + ".example", "a..b", "\0"])
async def test_a_name_that_is_none_is_not_reached(host):
    """Found by the fuzzer: a controller may tell any name of a broker."""
    with pytest.raises(PeerUnreachable):
        await dialer().dial(host, 9092, 5_000)

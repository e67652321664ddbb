"""Requests to a peer that answers, is silent, lies, or goes away."""

import asyncio

import pytest

from broker.common.errors import ProtocolError
from broker.net import outbound
from broker.net.outbound import OutboundConnection, PeerUnreachable
from broker.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from tests.members import StrangerDialer
from tests.scripted_broker import ScriptedBroker
from tests.zookeeper_server import free_ports

REQUEST = UpdateMetadataRequest(controller_id=3, controller_epoch=7, broker_epoch=9)


async def _connected(port: int) -> OutboundConnection:
    connection = OutboundConnection(StrangerDialer(), "127.0.0.1", port, "test")
    await connection.connect(5_000)
    return connection


async def test_request_is_answered():
    async with ScriptedBroker(answer=lambda _request: UpdateMetadataResponse(error_code=11)) as peer:
        connection = await _connected(peer.port)
        assert await connection.request(REQUEST, 8, 5_000) == UpdateMetadataResponse(error_code=11)
        assert peer.received == [REQUEST]
        connection.close()


async def test_requests_made_at_once_are_sent_one_after_the_other():
    async with ScriptedBroker() as peer:
        connection = await _connected(peer.port)
        requests = [UpdateMetadataRequest(controller_id=number) for number in range(20)]
        await asyncio.gather(*(connection.request(request, 8, 5_000) for request in requests))
        assert peer.received == requests
        connection.close()


async def test_nobody_there_is_unreachable():
    connection = OutboundConnection(StrangerDialer(), "127.0.0.1", free_ports(1)[0], "test")
    with pytest.raises(PeerUnreachable, match="cannot connect"):
        await connection.connect(5_000)
    with pytest.raises(PeerUnreachable, match="not connected"):
        await connection.request(REQUEST, 8, 5_000)


async def _raw_peer(answer: bytes):
    async def serve(reader, writer):
        await reader.read(1)
        writer.write(answer)
        if not answer:
            await reader.read(-1)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


async def test_silent_peer_times_out_and_the_connection_is_closed():
    server, port = await _raw_peer(b"")
    connection = await _connected(port)
    with pytest.raises(PeerUnreachable, match="did not answer UPDATE_METADATA: timed out"):
        await connection.request(REQUEST, 8, 50)
    assert not connection.is_connected
    server.close()


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (b"\0\0\0\x08\0\0\0\0", PeerUnreachable, "did not answer"),
        (b"\0\0\0\x08\0\0\0\x63\0\0\0\0", ProtocolError, "answers request 99 instead of 0"),
        (b"\xff\xff\xff\xff", ProtocolError, "announces an answer of -1 bytes"),
        ((outbound.RESPONSE_BYTES_MAX + 1).to_bytes(4), ProtocolError, "announces"),
        (b"\0\0\0\x05\0\0\0\0\0", ProtocolError, "UpdateMetadataResponse"),
    ],
    ids=["cut off", "another answer", "negative size", "too large", "body missing"],
)
async def test_bad_answer_closes_the_connection(answer, error, words):
    server, port = await _raw_peer(answer)
    connection = await _connected(port)
    with pytest.raises(error, match=words):
        await connection.request(REQUEST, 8, 5_000)
    assert not connection.is_connected
    server.close()


async def test_cancelled_request_does_not_leave_its_answer_to_the_next():
    server, port = await _raw_peer(b"")
    connection = await _connected(port)
    request = asyncio.ensure_future(connection.request(REQUEST, 8, 5_000))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    assert not connection.is_connected
    server.close()

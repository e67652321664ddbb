"""What goes through TLS is what went in: small and large, files, slow readers, key updates, ends."""

import asyncio
import os
import socket
import ssl

import pytest

from broker.common import security_limits
from broker.net.file_part import FilePart
from broker.net.tls.stream import RECORD_BYTES_MAX
from tests.broker.net.tls.served import Client, client_context, echo, framed, serving
from tests.eventually import eventually


@pytest.fixture
async def served():
    async with serving() as served:
        served.answer = echo
        yield served


@pytest.fixture
async def client(served):
    client = await Client.connected(served, client_context())
    yield client
    client.close()


@pytest.mark.parametrize("size", [0, 1, 1_000, 16_384, 16_385, 65_536, 262_144, 3_000_001])
async def test_what_is_asked_is_answered_whole(client, size):
    body = os.urandom(size)
    assert await client.ask(body) == body


async def test_many_requests_in_one_piece_are_answered_in_order(client):
    bodies = [f"{number}".encode() * number for number in range(300)]
    client.writer.write(b"".join(map(framed, bodies)))
    assert [await client.answer() for _ in bodies] == bodies


async def test_requests_of_one_record_each_are_answered_without_another_packet(client):
    for number in range(200):
        client.writer.write(framed(f"{number}".encode()))
    assert [await client.answer() for _ in range(200)] == [f"{number}".encode() for number in range(200)]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_both_versions_of_tls_are_spoken(served, version):
    context = client_context()
    context.minimum_version = context.maximum_version = version
    client = await Client.connected(served, context)
    assert await client.ask(b"hello") == b"hello"
    client.close()


async def test_a_request_that_comes_with_the_last_of_the_handshake_is_answered(served):
    """It is within TLS then, and no packet follows that would tell of it (KAFKA-13559)."""
    raw, tls, incoming, outgoing = await shaken(served)
    tls.write(framed(b"at once"))
    await asyncio.get_running_loop().sock_sendall(raw, outgoing.read())  # Finished and request together
    received = b""
    async with asyncio.timeout(10):
        while len(received) < 11:
            incoming.write(await asyncio.get_running_loop().sock_recv(raw, 65_536))
            try:
                received += tls.read(100)
            except ssl.SSLWantReadError:
                continue
    assert received == framed(b"at once")
    raw.close()


async def test_pieces_of_files_are_sent_with_what_stands_before_and_behind(served, client, tmp_path):
    content = os.urandom(5_000_000)
    path = tmp_path / "log"
    path.write_bytes(content)
    with path.open("rb") as file:
        served.answer = lambda connection, _: connection.answer(
            [(4_000_010).to_bytes(4), b"first", FilePart(file, 123, 4_000_000), b"after"]
        )
        answer = await client.ask(b"")
    assert answer == b"first" + content[123:4_000_123] + b"after"


async def test_a_file_that_ends_too_early_ends_the_connection(served, client, tmp_path):
    path = tmp_path / "log"
    path.write_bytes(bytes(1_000))
    with path.open("rb") as file:
        served.answer = lambda connection, _: connection.answer([(2_000).to_bytes(4), FilePart(file, 0, 2_000)])
        with pytest.raises((asyncio.IncompleteReadError, OSError)):
            await client.ask(b"")


async def test_a_client_that_does_not_read_holds_little_and_gets_all_in_the_end(served, tmp_path):
    size = 30_000_000
    path = tmp_path / "log"
    path.write_bytes(os.urandom(1_000) * (size // 1_000))
    context = client_context()
    loop = asyncio.get_running_loop()
    with path.open("rb") as file:
        served.answer = lambda connection, _: connection.answer([size.to_bytes(4), FilePart(file, 0, size)])
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
        raw.connect(("127.0.0.1", served.listener.port))
        tls = await asyncio.to_thread(context.wrap_socket, raw, server_hostname="127.0.0.1")
        await asyncio.to_thread(tls.sendall, framed(b""))
        await eventually(lambda: served.connections, "the request")
        connection = served.connections[0]
        await eventually(lambda: connection._is_writing, "the answer to wait for its reader")
        assert served.memory.answer_bytes <= 4 * (RECORD_BYTES_MAX + 512)
        received = bytearray()

        def read_all() -> None:
            while len(received) < size + 4:
                received.extend(tls.recv(1_000_000))

        await asyncio.wait_for(loop.run_in_executor(None, read_all), 60)
    assert bytes(received[4:]) == path.read_bytes()
    await eventually(lambda: not connection._unsent_bytes, "nothing to be left")
    tls.close()


async def test_the_end_is_told_to_the_client(served, client):
    served.answer = lambda connection, _: connection.close("enough")
    client.writer.write(framed(b""))
    assert await client.reader.read() == b""  # without close_notify it would be SSLEOFError, on Python's own streams


async def test_last_words_are_said_before_the_end(served, client):
    def answer_and_close(connection, frame):
        connection.answer([framed(b"good bye")])
        connection.close("enough")

    served.answer = answer_and_close
    assert await client.ask(b"") == b"good bye"


async def test_a_client_that_says_it_is_over_is_closed(served, client):
    await client.ask(b"hello")
    client.writer.close()
    await eventually(lambda: not served.connections[0].is_open, "the connection to be closed")


async def test_what_is_changed_on_the_way_ends_the_connection(served):
    raw, tls, _, outgoing = await shaken(served)
    tls.write(framed(b"hello"))
    sealed = bytearray(outgoing.read())
    sealed[-1] ^= 1
    await asyncio.get_running_loop().sock_sendall(raw, sealed)
    async with asyncio.timeout(10):
        while await asyncio.get_running_loop().sock_recv(raw, 65_536):
            pass
    assert not served.connections
    await eventually(lambda: not served.listener.connection_count, "the connection to be closed")


async def test_what_tls_says_by_itself_is_bounded(served, monkeypatch):
    """Somebody who asks for key updates and reads nothing must not fill the memory."""
    from broker.net.tls import stream

    monkeypatch.setattr(stream, "TLS_CONTROL_BYTES_MAX", -1)
    client = await Client.connected(served, client_context())
    await client.ask(b"hello")
    connection = served.connections[0]
    connection._tls._outgoing.write(b"an answer to a key update")
    client.writer.write(framed(b"more"))
    await eventually(lambda: not connection.is_open, "it to be closed")
    assert security_limits.TLS_CONTROL_BYTES_MAX > 100
    client.close()


async def shaken(served):
    """A client's socket and TLS, whose last message of the handshake is not sent yet."""
    loop = asyncio.get_running_loop()
    raw = socket.socket()
    raw.setblocking(False)
    await loop.sock_connect(raw, ("127.0.0.1", served.listener.port))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = client_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    while True:
        try:
            tls.do_handshake()
            return raw, tls, incoming, outgoing
        except ssl.SSLWantReadError:
            await loop.sock_sendall(raw, outgoing.read())
            incoming.write(await loop.sock_recv(raw, 65_536))

"""A listener with TLS that answers each frame with its text and who sent it, and clients made of Python's `ssl`."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from broker.config.listeners import ListenerEndpoint
from broker.net.connection import Connection
from broker.net.listener import Listener
from broker.net.memory import ConnectionMemory
from broker.net.tls.handshakes import Handshakes
from broker.net.tls.keeper import ContextKeeper
from broker.net.tls.principals import Identify
from broker.net.tls.settings import TlsSettings
from broker.net.turns import Turns
from broker.security.principal_rules import PrincipalRules
from tests.certificates import Authority, Credential

AUTHORITY = Authority()
SERVER = AUTHORITY.server()
SETTINGS = TlsSettings(
    keystore_key=SERVER.key_pem(),
    keystore_certificate_chain=SERVER.chain_pem,
    truststore_certificates=AUTHORITY.pem,
)


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4) + body


class Served:
    """`answer(connection, frame)` is done with each frame; by default it is told who sent it."""

    def __init__(self, settings: TlsSettings, turns: Turns):
        self.memory = ConnectionMemory()
        self.keeper = ContextKeeper("SSL", settings)
        identify = Identify(PrincipalRules(settings.principal_mapping_rules))
        self.handshakes = Handshakes("SSL", self.keeper, turns, identify)
        self.listener = Listener(
            ListenerEndpoint("SSL", "127.0.0.1", 0),
            frame_bytes_max=16 * 1024 * 1024,
            idle_ms_max=60_000,
            memory=self.memory,
            turns=turns,
            tls=self.handshakes,
        )
        self.connections: list[Connection] = []
        self.answer = tell

    def on_frame(self, connection: Connection, frame: memoryview) -> None:
        if connection not in self.connections:
            self.connections.append(connection)
        self.answer(connection, frame)


def tell(connection: Connection, frame: memoryview) -> None:
    assert connection.session is not None
    connection.answer([framed(f"{connection.session.principal} {bytes(frame).decode()}".encode())])


def echo(connection: Connection, frame: memoryview) -> None:
    connection.answer([len(frame).to_bytes(4), frame])


@asynccontextmanager
async def serving(**changes: object) -> AsyncIterator[Served]:
    served = Served(replace(SETTINGS, **changes), Turns())  # type: ignore[arg-type]
    served.listener.start(asyncio.get_running_loop(), served.on_frame, lambda _: None)
    try:
        yield served
    finally:
        served.listener.stop()


def client_context(own: Credential | None = None, tmp_path=None, authority: Authority = AUTHORITY) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authority.pem)
    if own is not None:
        context.load_cert_chain(*own.write(tmp_path, "own"))
    return context


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connected(cls, served: Served, context: ssl.SSLContext) -> "Client":
        return cls(*await asyncio.open_connection("127.0.0.1", served.listener.port, ssl=context))

    async def ask(self, body: bytes) -> bytes:
        self.writer.write(framed(body))
        return await self.answer()

    async def answer(self) -> bytes:
        async with asyncio.timeout(20):
            size = int.from_bytes(await self.reader.readexactly(4))
            return await self.reader.readexactly(size)

    def close(self) -> None:
        self.writer.transport.abort()

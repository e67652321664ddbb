"""Whom an attack is meant for, and the connections attackers use."""

import socket
from typing import NamedTuple

from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from broker.protocol.schema import Message
from tests.bench.raw import frame

_TIMEOUT_S = 60


class Aim(NamedTuple):
    """One broker of a cluster that is attacked. `topic` has one partition, `topic`-compacted is a compacted one."""

    host: str
    port: int
    topic: str
    #: Where its ZooKeeper listens, and a directory that must stay as it is; empty where nobody knows.
    zookeeper: str = ""
    outside: str = "/nowhere"
    #: What `doors.Doors` reads: where one has to prove who one is.
    doors: str = ""


def request(message: Message, version: int, client_id: str | None = None) -> bytes:
    """The whole frame."""
    body = encode(message, version)
    if client_id is None:
        return frame(message.api, version, body)
    head = encode_request_header(RequestHeader(message.api, version, 1, client_id))
    return (len(head) + len(body)).to_bytes(4) + head + body


class Line:
    """A connection that waits for its answers, and comes again when it was closed: that is an answer, too."""

    def __init__(self, aim: Aim):
        self._aim = aim
        self._socket = self._connected()

    def send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError:
            self.come_again()

    def take(self, count: int = 1) -> bytes | None:
        """The last of so many answers; None if the connection was closed instead."""
        answer = None
        try:
            for _ in range(count):
                answer = self._exactly(int.from_bytes(self._exactly(4)))
        except OSError:
            self.come_again()
            return None
        return answer

    def ask(self, message: Message, version: int) -> Message | None:
        """The answer; None if the connection was closed instead."""
        self.send(request(message, version))
        answer = self.take()
        return None if answer is None else answer_of(message.api, version, answer)

    def close(self) -> None:
        self._socket.close()

    def come_again(self) -> None:
        self.close()
        self._socket = self._connected()

    def _connected(self) -> socket.socket:
        return socket.create_connection((self._aim.host, self._aim.port), timeout=_TIMEOUT_S)

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise ConnectionResetError
            data += piece
        return bytes(data)


def answer_of(api: ApiKey, version: int, answer: bytes) -> Message:
    _, at = decode_response_header(api, version, answer)
    return decode(MESSAGES[api].response, memoryview(answer)[at:], version)


def connections(aim: Aim, count: int) -> list[socket.socket]:
    opened = []
    for _ in range(count):
        one = socket.create_connection((aim.host, aim.port), timeout=10)
        one.setblocking(False)
        opened.append(one)
    return opened


def send_some(sock: socket.socket, data: bytes) -> int:
    """What the other side takes at once; -1 when it has closed."""
    try:
        return sock.send(data)
    except BlockingIOError:
        return 0
    except OSError:
        return -1


def have_topics(aim: Aim, *names: str, partitions: int = 1, config: dict[str, str] | None = None) -> None:
    """Made unless they are there; the attack needs them and is not about them."""
    configs = [CreatableTopicConfig(name=key, value=value) for key, value in (config or {}).items()]
    topics = [
        CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, configs=configs) for name in names
    ]
    line = Line(aim)
    for at in range(0, len(topics), 500):
        line.ask(CreateTopicsRequest(topics=topics[at : at + 500], timeout_ms=60_000), 5)

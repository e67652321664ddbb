"""Connections that send what was made up, read what is answered, hang up in the middle, and come again."""

import contextlib
import random
import select
import socket
import time
from collections import Counter
from dataclasses import dataclass, field

from broker.common.errors import BarnabasError
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import MALFORMED, decode
from broker.protocol.headers import decode_response_header
from broker.protocol.messages import MESSAGES
from tests.fuzz.frames import APIS, Sent, make_frame
from tests.fuzz.values import Pools

_CONNECTIONS = 6
_UNREAD_MAX = 40
_ANSWER_PATIENCE_S = 0.02
_SEND_TIMEOUT_S = 5.0


@dataclass
class Counts:
    """By API."""

    sent: Counter[ApiKey] = field(default_factory=Counter)
    answered: Counter[ApiKey] = field(default_factory=Counter)
    #: The connection was closed while this was the last that had been sent.
    closed: Counter[ApiKey] = field(default_factory=Counter)

    def table(self) -> str:
        lines = [f"{'API':<34}{'sent':>10}{'answered':>10}{'closed':>10}"]
        for api in sorted(self.sent):
            lines.append(f"{ApiKey(api).name:<34}{self.sent[api]:>10,}{self.answered[api]:>10,}{self.closed[api]:>10,}")
        total = (self.sent.total(), self.answered.total(), self.closed.total())
        return "\n".join([*lines, "{:<34}{:>10,}{:>10,}{:>10,}".format("all", *total)])


class _Line:
    """One connection, and what is not answered on it yet."""

    def __init__(self, sock: socket.socket):
        self.socket = sock
        self.waiting: dict[int, Sent] = {}
        self.last_api: ApiKey | None = None
        self.received = bytearray()

    def close(self) -> None:
        self.socket.close()


class Attacker:
    """`connect` gives a connected socket: of nobody, or of somebody the broker takes for a member."""

    def __init__(self, connect, pools: Pools, chance: random.Random):
        self._connect = connect
        self._pools = pools
        self._chance = chance
        self._lines: list[_Line] = []
        self._next_id = 0
        self.counts = Counts()

    def send_one(self) -> None:
        """One made-up request on some connection, and what is answered meanwhile."""
        line = self._some_line()
        api = self._chance.choice(APIS)
        try:
            sent = make_frame(api, self._next_id, self._pools, self._chance)
        except (BarnabasError, *MALFORMED, OverflowError):
            return  # this version cannot say it
        self._next_id = (self._next_id + 1) & 0x7FFFFFFF
        self.counts.sent[api] += 1
        line.last_api = api
        line.waiting[sent.correlation_id] = sent
        try:
            self._send(line, sent.data)
            self._read(line, _ANSWER_PATIENCE_S)
        except OSError:
            self._ended(line)

    def close(self) -> None:
        for line in self._lines:
            line.close()
        self._lines.clear()

    def _some_line(self) -> _Line:
        if len(self._lines) < _CONNECTIONS:
            sock = self._connect()
            sock.settimeout(_SEND_TIMEOUT_S)
            self._lines.append(_Line(sock))
        line = self._chance.choice(self._lines)
        if len(line.waiting) > _UNREAD_MAX or self._chance.random() < 0.002:
            line.close()
            self._lines.remove(line)
            return self._some_line()
        return line

    def _send(self, line: _Line, data: bytes) -> None:
        """Whole, or only a part before the connection is ended."""
        if self._chance.random() < 0.003:
            line.socket.sendall(data[: self._chance.randrange(len(data))])
            raise ConnectionAbortedError
        line.socket.sendall(data)

    def _read(self, line: _Line, patience_s: float) -> None:
        deadline = time.monotonic() + patience_s
        while line.waiting:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([line.socket], [], [], left)[0]:
                return
            piece = line.socket.recv(1 << 20)
            if not piece:
                raise ConnectionResetError
            line.received += piece
            self._take_answers(line)

    def _take_answers(self, line: _Line) -> None:
        while len(line.received) >= 4:
            size = int.from_bytes(line.received[:4])
            if len(line.received) < 4 + size:
                return
            frame = bytes(line.received[4 : 4 + size])
            del line.received[: 4 + size]
            sent = line.waiting.pop(int.from_bytes(frame[:4], signed=True), None)
            if sent is not None:
                self.counts.answered[sent.api] += 1
                with contextlib.suppress(BarnabasError, *MALFORMED):
                    _, at = decode_response_header(sent.api, sent.version, frame)
                    answer = decode(MESSAGES[sent.api].response, memoryview(frame)[at:], sent.version)
                    self._pools.learn(answer)

    def _ended(self, line: _Line) -> None:
        if line.last_api is not None:
            self.counts.closed[line.last_api] += 1
        line.close()
        self._lines.remove(line)

"""A middleman between clients and brokers that holds Produce and EndTxn requests back, sends them a second time on a
connection of its own, and loses answers, so that the client itself sends again.

The second Produce comes later, when the client has gone on. The second EndTxn comes at once, before the client hears of
the first: before transaction version 2 a late one may end the same producer's next transaction, as in Kafka. Late ones
are kept for when the producer has been fenced.

Clients find the brokers through it: what Metadata and FindCoordinator say of ports is changed to the proxy's. Brokers
among themselves do not come by.
"""

import asyncio
import contextlib
import random
import threading
from collections import Counter, deque

from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import decode_request_header, decode_response_header
from broker.protocol.messages import MESSAGES

_SIZE_BYTES = 4
_DELAYED, _DOUBLED, _ANSWER_LOST = 0.2, 0.3, 0.05
_DELAY_S_MAX = 0.3
#: Late enough that the producer has sent more than the five batches a broker remembers.
_REPLAY_S_MAX = 2.0
_ANSWER_S = 10


class ReplayingProxies:
    """One for each broker, on a thread with a loop of its own; `counts` tells what was done and what was answered."""

    def __init__(self, broker_ports: list[int], seed: int):
        self._broker_ports = broker_ports
        self._random = random.Random(seed)
        self._ports: dict[int, int] = {}
        self._tasks: set[asyncio.Task] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.counts: Counter[str] = Counter()
        #: Every EndTxn that came by, and its version.
        self.endings: list[tuple[bytes, int]] = []

    def __enter__(self) -> "ReplayingProxies":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def __exit__(self, *_error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self._ports.values())

    async def _listen(self) -> None:
        self._servers = []
        for broker_port in self._broker_ports:
            server = await asyncio.start_server(
                lambda reader, writer, port=broker_port: self._serve(reader, writer, port), "127.0.0.1", 0
            )
            self._servers.append(server)
            self._ports[broker_port] = server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, broker_port: int) -> None:
        pending: deque[tuple[ApiKey, int, bool]] = deque()
        closing = [writer]
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            broker_reader, broker_writer = await asyncio.open_connection("127.0.0.1", broker_port)
            closing.append(broker_writer)
            pumps = [
                asyncio.ensure_future(self._requests(reader, broker_writer, pending, broker_port)),
                asyncio.ensure_future(self._answers(broker_reader, writer, pending)),
            ]
            _, unfinished = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in unfinished:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        for item in closing:
            item.close()

    async def _requests(self, reader, broker_writer, pending: deque, broker_port: int) -> None:
        """Every request is answered: the load asks for no acks=0."""
        while True:
            frame = await _read_frame(reader)
            header, _ = decode_request_header(frame)
            is_lost = False
            if header.api_key in (ApiKey.PRODUCE, ApiKey.END_TXN):
                name = ApiKey(header.api_key).name
                is_lost = self._draw(f"{name}: answer lost", _ANSWER_LOST)
                is_doubled = self._draw(f"{name}: doubled", _DOUBLED)
                if self._draw(f"{name}: held back", _DELAYED):
                    await asyncio.sleep(self._random.uniform(0, _DELAY_S_MAX))
                if header.api_key == ApiKey.END_TXN:
                    self.endings.append((frame, header.api_version))
                    if is_doubled:
                        await self._end_twice(frame, header.api_version, broker_port)
                elif is_doubled:
                    self._start(self._replay(frame, header.api_version, broker_port))
            pending.append((header.api_key, header.api_version, is_lost))
            _write_frame(broker_writer, frame)
            await broker_writer.drain()

    async def _answers(self, broker_reader, writer, pending: deque) -> None:
        while True:
            frame = await _read_frame(broker_reader)
            api, version, is_lost = pending.popleft()
            if is_lost:
                return
            if api in (ApiKey.METADATA, ApiKey.FIND_COORDINATOR):
                frame = self._pointing_here(api, version, frame)
            _write_frame(writer, frame)
            await writer.drain()

    def _pointing_here(self, api: ApiKey, version: int, frame: bytes) -> bytes:
        _, at = decode_response_header(api, version, frame)
        response = decode(MESSAGES[api].response, memoryview(frame)[at:], version)
        if api == ApiKey.METADATA:
            endpoints = response.brokers
        elif version >= 4:
            endpoints = response.coordinators
        else:
            endpoints = [response]
        for item in endpoints:
            item.port = self._ports.get(item.port, item.port)
        return frame[:at] + encode(response, version)

    async def _replay(self, frame: bytes, version: int, broker_port: int) -> None:
        await asyncio.sleep(self._random.uniform(0, _REPLAY_S_MAX))
        response = await self._ask(ApiKey.PRODUCE, frame, version, broker_port)
        for topic in response.responses if response else ():
            for partition_response in topic.partition_responses:
                self.counts[f"PRODUCE again: {ErrorCode(partition_response.error_code).name}"] += 1

    async def _end_twice(self, frame: bytes, version: int, broker_port: int) -> None:
        response = await self._ask(ApiKey.END_TXN, frame, version, broker_port)
        if response is not None:
            self.counts[f"END_TXN again: {ErrorCode(response.error_code).name}"] += 1

    async def _ask(self, api: ApiKey, frame: bytes, version: int, broker_port: int):
        """The answer to a frame on a connection of its own, None if there is none."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", broker_port)
                try:
                    _write_frame(writer, frame)
                    answer = await _read_frame(reader)
                finally:
                    writer.close()
            _, at = decode_response_header(api, version, answer)
            return decode(MESSAGES[api].response, memoryview(answer)[at:], version)

    def again(self, api: str) -> int:
        """How many requests of that API a broker answered the second time."""
        return sum(count for name, count in self.counts.items() if name.startswith(f"{api} again"))

    def end_late(self, broker_port: int) -> Counter[str]:
        """Send every EndTxn that came by once more, to the broker at that port; what it answers."""
        answers: Counter[str] = Counter()

        async def send_all() -> None:
            for frame, version in self.endings:
                response = await self._ask(ApiKey.END_TXN, frame, version, broker_port)
                answers[ErrorCode(response.error_code).name if response else "nothing"] += 1

        asyncio.run_coroutine_threadsafe(send_all(), self._loop).result(_ANSWER_S + len(self.endings))
        return answers

    def _draw(self, what: str, probability: float) -> bool:
        happens = self._random.random() < probability
        self.counts[what] += happens
        return happens

    def _start(self, work) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _read_frame(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(int.from_bytes(await reader.readexactly(_SIZE_BYTES)))


def _write_frame(writer: asyncio.StreamWriter, frame: bytes) -> None:
    writer.write(len(frame).to_bytes(_SIZE_BYTES) + frame)

"""How long a broker's loop stands still while 1,000 partitions change at once, or old data is read.

A real broker with a real ZooKeeper; the bench takes the controller's office, and is a leader from whose log all the
broker's parts.
What is told is the longest time between two turns of the loop (and the processor time of it, which other work on the
machine does not change, and the fsyncs in it), and how long all of it took. `BROKER_ROOT=DIR` measures the broker of
another working tree.
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from uuid import UUID

from kazoo.client import KazooClient

from broker.common.cluster import BrokerEndpoint, BrokerRegistration, TopicAssignment
from broker.common.types import TopicPartition
from broker.protocol.codec import decode, encode
from broker.protocol.headers import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
)
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.protocol.messages.stop_replica import StopReplicaPartitionState, StopReplicaRequest, StopReplicaTopicState
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataRequest,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.security.login import login
from broker.security.membership import NONCE_BYTES, ClusterMembership
from broker.zookeeper import znodes
from tests.members import Doorkeeper
from tests.response_headers import encode_response_header
from tests.zookeeper_server import free_ports, running_zookeeper

PARTITIONS = 1_000
_OTHER = 2
#: Later than any controller's before.
_CONTROLLER_EPOCH = 1_000_000
_TOPIC_ID = UUID(int=77)
_DEADLINE_S = 120
_READS = 400
#: Longer than the broker waits before it does so for the first time.
_NOTED_AFTER_S = 6


def figures() -> dict[str, Callable[[], str]]:
    """By name what measures and tells it in words."""
    return {
        "stalls: 1,000 partitions made": lambda: asyncio.run(_changed("made")),
        "stalls: 1,000 partitions failed over": lambda: asyncio.run(_changed("failed over")),
        "stalls: 1,000 partitions cut": lambda: asyncio.run(_changed("cut")),
        "stalls: 1,000 partitions deleted": lambda: asyncio.run(_changed("deleted")),
        "stalls: its controller, 1,000 made": lambda: asyncio.run(_controller("made")),
        "stalls: its controller, a broker lost": lambda: asyncio.run(_controller("lost")),
        "stalls: its controller, elected": lambda: asyncio.run(_controller("elected")),
        "stalls: two readers of sealed segments": lambda: asyncio.run(_two_readers()),
        "stalls: reading what is not in memory": lambda: asyncio.run(_cold_reader()),
        "stalls: flush.messages=1": lambda: asyncio.run(_flushing()),
    }


class Watched:
    """A broker that tells how long its loop stood still; the bench is its controller."""

    def __init__(self, process: subprocess.Popen, port: int, report: Path, logs: Path, zookeeper: KazooClient):
        self.port, self.logs = port, logs
        self._process = process
        self._report = report
        self._zookeeper = zookeeper
        #: What a broker needs to prove that it is a member; none where that is not asked for.
        self.membership: ClusterMembership | None = None
        self.broker_epoch = -1

    async def connect(self) -> "Peer":
        """As a member, and as the controller."""
        end = time.monotonic() + _DEADLINE_S
        while not self._zookeeper.exists("/brokers/ids/1"):
            assert self._process.poll() is None, "the broker has ended"
            assert time.monotonic() < end, "the broker did not start"
            await asyncio.sleep(0.1)
        self.broker_epoch = self._zookeeper.exists("/brokers/ids/1").czxid
        if self._zookeeper.exists(znodes.SECRET):
            secret = znodes.decode_secret(self._zookeeper.get(znodes.SECRET)[0])
            self.membership = ClusterMembership(secret, lambda: os.urandom(NONCE_BYTES).hex())
        await self._take_office()
        peer = Peer(*await asyncio.open_connection("127.0.0.1", self.port, limit=2**26))
        if self.membership is not None:
            await peer.log_in(self.membership, self.port)
        return peer

    async def is_controller(self) -> None:
        await _until(lambda: self._zookeeper.exists(znodes.CONTROLLER))

    def register_other(self) -> None:
        """A broker that nobody can reach: what counts is what the controller makes of it."""
        endpoint = BrokerEndpoint("PLAINTEXT", "127.0.0.1", free_ports(1)[0])
        registration = BrokerRegistration(_OTHER, (endpoint,))
        self._zookeeper.create(znodes.broker_path(_OTHER), znodes.encode_broker(registration, 0), ephemeral=True)

    async def lose_other(self) -> None:
        self._zookeeper.delete(znodes.broker_path(_OTHER))
        await _until(lambda: self._state(PARTITIONS - 1)["isr"] == [1])

    async def make_topic(self) -> None:
        """With a replica on both brokers, by its znode."""
        wide = TopicAssignment("wide", _TOPIC_ID, dict.fromkeys(range(PARTITIONS), (1, _OTHER)))
        self._zookeeper.create(znodes.topic_path("wide"), znodes.encode_topic(wide))
        await _until(lambda: self._state(PARTITIONS - 1) is not None)

    async def elect_anew(self) -> None:
        """It is elected again, and finds everything in ZooKeeper."""
        before = self._zookeeper.get(znodes.CONTROLLER_EPOCH)[0]
        self._zookeeper.delete(znodes.CONTROLLER)
        await _until(lambda: self._zookeeper.get(znodes.CONTROLLER_EPOCH)[0] != before)
        await asyncio.sleep(1)

    def _state(self, index: int) -> dict | None:
        path = znodes.state_path(TopicPartition("wide", index))
        return json.loads(self._zookeeper.get(path)[0]) if self._zookeeper.exists(path) else None

    async def _take_office(self) -> None:
        await _until(lambda: self._zookeeper.exists(znodes.CONTROLLER))
        self._zookeeper.set(znodes.CONTROLLER_EPOCH, znodes.encode_controller_epoch(_CONTROLLER_EPOCH))
        taken = self._zookeeper.transaction()
        taken.delete(znodes.CONTROLLER)
        taken.create(znodes.CONTROLLER, znodes.encode_controller(_OTHER, 0), ephemeral=True)
        taken.commit()

    async def longest(self) -> dict[str, float]:
        """Since it was last asked."""
        self._report.unlink(missing_ok=True)
        self._process.send_signal(signal.SIGUSR1)
        while not self._report.exists():
            await asyncio.sleep(0.01)
        return json.loads(self._report.read_text())

    async def stall_of(self, work: Awaitable) -> str:
        """What `work` did to the loop, in words."""
        await asyncio.sleep(1)
        await self.longest()
        began = time.perf_counter()
        await work
        took = time.perf_counter() - began
        stall = await self.longest()
        figures = f"{stall['wall_ms']:,.0f} ms ({stall['cpu_ms']:,.0f} ms CPU, {stall['fsyncs']} fsyncs)"
        return f"longest stall {figures}, all in {took:.2f} s"


class Peer:
    """A connection; one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader, self._writer = reader, writer

    async def log_in(self, membership: ClusterMembership, port: int) -> None:
        talk = login(membership.dial("127.0.0.1", port))
        with contextlib.suppress(StopIteration):
            request = next(talk)
            while True:
                request = talk.send(await self.ask(*request))

    async def ask(self, message, version: int):
        head = encode_request_header(RequestHeader(message.api, version, 1, "bench"))
        body = encode(message, version)
        self._writer.write((len(head) + len(body)).to_bytes(4) + head + body)
        async with asyncio.timeout(_DEADLINE_S):
            frame = await self._reader.readexactly(int.from_bytes(await self._reader.readexactly(4)))
        _, at = decode_response_header(message.api, version, frame)
        return decode(MESSAGES[message.api].response, memoryview(frame)[at:], version)


@contextlib.asynccontextmanager
async def _watched(**overrides: object) -> AsyncIterator[Watched]:
    with tempfile.TemporaryDirectory() as name, running_zookeeper(Path(name) / "zookeeper") as zookeeper:
        directory, (port,) = Path(name), free_ports(1)
        properties = {
            "broker.id": 1,
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "log.dirs": directory / "logs",
            "zookeeper.connect": zookeeper.connect,
            "socket.request.max.bytes": 200_000_000,
            **{key.replace("_", "."): value for key, value in overrides.items()},
        }
        config = directory / "server.properties"
        config.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        process = _start(config, directory)
        client = KazooClient(zookeeper.connect)
        try:
            client.start()
            yield Watched(process, port, directory / "report.json", directory / "logs", client)
        finally:
            client.stop()
            client.close()
            process.terminate()
            process.wait(_DEADLINE_S)


def _start(config: Path, directory: Path) -> subprocess.Popen:
    command = [
        sys.executable,
        Path(__file__).with_name("watched_broker.py"),
        config,
        directory / "report.json",
    ]
    root = os.environ.get("BROKER_ROOT", Path.cwd())
    with (directory / "broker.log").open("wb") as log:
        return subprocess.Popen(command, cwd=root, stdout=log, stderr=log)


# --- many partitions at once


async def _changed(what: str) -> str:
    replicas = [1, _OTHER]
    async with _watched() as broker:
        peer = await broker.connect()
        office = Office(peer, broker.broker_epoch)
        making = office.lead(1, leader=1, replicas=replicas)
        if what == "made":
            return await broker.stall_of(making)
        await making
        await _write_everywhere(peer)
        if what == "deleted":
            return await broker.stall_of(office.delete())
        leader = Leader(broker.membership)
        async with leader.listening() as port:
            await peer.ask(office.metadata(port), 8)
            # What is noted beside the logs from time to time speaks of the records then.
            await asyncio.sleep(_NOTED_AFTER_S)
            await office.lead(2, leader=_OTHER, replicas=replicas)
            if what == "failed over":
                return await broker.stall_of(office.lead(3, leader=1, replicas=replicas))
            await leader.is_asked(PARTITIONS)
            return await broker.stall_of(leader.let_them_cut())


async def _controller(what: str) -> str:
    async with _watched() as broker:
        await broker.is_controller()
        broker.register_other()
        if what == "made":
            return await broker.stall_of(broker.make_topic())
        await broker.make_topic()
        await asyncio.sleep(_NOTED_AFTER_S)
        return await broker.stall_of(broker.lose_other() if what == "lost" else broker.elect_anew())


class Office:
    """What the controller says to the broker."""

    def __init__(self, peer: Peer, broker_epoch: int):
        self._peer = peer
        self._broker_epoch = broker_epoch

    async def lead(self, epoch: int, *, leader: int, replicas: list[int], partitions: int = PARTITIONS) -> None:
        states = [
            LeaderAndIsrPartitionState(
                partition_index=index,
                controller_epoch=_CONTROLLER_EPOCH,
                leader=leader,
                leader_epoch=epoch,
                isr=[leader],
                partition_epoch=epoch,
                replicas=replicas,
                is_new=epoch == 1,
            )
            for index in range(partitions)
        ]
        request = LeaderAndIsrRequest(
            controller_id=1,
            controller_epoch=_CONTROLLER_EPOCH,
            broker_epoch=self._broker_epoch,
            topic_states=[LeaderAndIsrTopicState(topic_name="t", topic_id=_TOPIC_ID, partition_states=states)],
        )
        answer = await self._peer.ask(request, 7)
        assert answer.error_code == 0, answer.error_code
        assert not any(error.error_code for error in answer.topics[0].partition_errors)

    async def delete(self) -> None:
        states = [
            StopReplicaPartitionState(partition_index=index, leader_epoch=-2, delete_partition=True)
            for index in range(PARTITIONS)
        ]
        request = StopReplicaRequest(
            controller_id=1,
            controller_epoch=_CONTROLLER_EPOCH,
            broker_epoch=self._broker_epoch,
            topic_states=[StopReplicaTopicState(topic_name="t", partition_states=states)],
        )
        answer = await self._peer.ask(request, 4)
        assert not answer.error_code
        assert not any(error.error_code for error in answer.partition_errors)

    def metadata(self, port: int) -> UpdateMetadataRequest:
        endpoint = UpdateMetadataEndpoint(host="127.0.0.1", port=port, listener="PLAINTEXT")
        return UpdateMetadataRequest(
            controller_id=1,
            controller_epoch=_CONTROLLER_EPOCH,
            broker_epoch=self._broker_epoch,
            live_brokers=[UpdateMetadataBroker(id=_OTHER, endpoints=[endpoint])],
        )


async def _write_everywhere(peer: Peer) -> None:
    for _ in range(3):
        batches = [
            PartitionProduceData(index=index, records=bytes(build_batch([Record(0, 1, b"k", b"v" * 100)])))
            for index in range(PARTITIONS)
        ]
        request = ProduceRequest(
            acks=1, timeout_ms=30_000, topic_data=[TopicProduceData(name="t", partition_data=batches)]
        )
        answer = await peer.ask(request, 9)
        assert not any(response.error_code for response in answer.responses[0].partition_responses)


class Leader:
    """Answers a follower that all it has from offset 2 on was never its leader's, then nothing more."""

    def __init__(self, membership: ClusterMembership | None) -> None:
        self._membership = membership
        self._fetched: set[int] = set()
        self._asked_again: set[int] = set()
        self._may_tell = asyncio.Event()

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**26)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()

    async def is_asked(self, partitions: int) -> None:
        await _until(lambda: len(self._fetched) == partitions)

    async def let_them_cut(self) -> None:
        """Returns when each partition was asked for from its new end."""
        self._may_tell.set()
        await _until(lambda: len(self._asked_again) == PARTITIONS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        doorkeeper = Doorkeeper(self._membership) if self._membership else None
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                frame = memoryview(await reader.readexactly(int.from_bytes(await reader.readexactly(4))))
                header, at = decode_request_header(frame)
                request = decode(MESSAGES[header.api_key].request, frame[at:], header.api_version)
                answer = doorkeeper.answer(request) if doorkeeper else None
                answer = answer or await self._answer(request)
                head = encode_response_header(header.api_key, header.api_version, header.correlation_id)
                body = encode(answer, header.api_version)
                writer.write((len(head) + len(body)).to_bytes(4) + head + body)

    async def _answer(self, request: FetchRequest) -> FetchResponse:
        partitions = [partition for topic in request.topics for partition in topic.partitions]
        parted = [partition for partition in partitions if partition.fetch_offset > 2]
        self._fetched |= {partition.partition for partition in parted}
        self._asked_again |= {partition.partition for partition in partitions if partition.fetch_offset <= 2}
        if parted:
            await self._may_tell.wait()
        elif not partitions:
            await asyncio.sleep(0.5)
        answers = [
            PartitionData(
                partition_index=partition.partition,
                high_watermark=2,
                log_start_offset=0,
                diverging_epoch=EpochEndOffset(epoch=1, end_offset=2) if partition.fetch_offset > 2 else None,
                records=b"",
            )
            for partition in partitions
        ]
        responses = [FetchableTopicResponse(topic_id=_TOPIC_ID, partitions=answers)] if answers else []
        return FetchResponse(session_id=1, responses=responses)


# --- old data


async def _two_readers() -> str:
    """Each in a sealed segment of its own, of 100 MB with 16 KB batches, in turn."""
    async with _watched(log_segment_bytes=100_000_000) as broker:
        peer = await broker.connect()
        await _one_partition(broker, peer)
        last = await _fill(peer, 250_000_000, 16_000)
        places = [last // 10, last // 2]
        for place in places:
            await _fetch(peer, place)

        async def read() -> None:
            for number in range(_READS):
                await _fetch(peer, places[number % 2])

        return await broker.stall_of(read())


async def _cold_reader() -> str:
    """From the start of sealed segments that are on the disk only."""
    async with _watched(log_segment_bytes=100_000_000) as broker:
        peer = await broker.connect()
        await _one_partition(broker, peer)
        last = await _fill(peer, 250_000_000, 16_000)
        for path in broker.logs.glob("t-0/*"):
            _drop_from_memory(path)

        async def read() -> None:
            offset = 0
            while offset < last // 2:
                offset += await _fetch(peer, offset, 1_000_000) // 16_000

        return await broker.stall_of(read())


async def _flushing() -> str:
    """A producer's small batches one after the other, to a topic that has each fsynced."""
    async with _watched(log_flush_interval_messages=1) as broker:
        peer = await broker.connect()
        await _one_partition(broker, peer)

        async def write() -> None:
            for _ in range(_READS):
                await _produce(peer, 100)

        return await broker.stall_of(write())


async def _one_partition(broker: Watched, peer: Peer) -> None:
    await Office(peer, broker.broker_epoch).lead(1, leader=1, replicas=[1], partitions=1)


async def _fill(peer: Peer, size: int, batch_bytes: int) -> int:
    last = 0
    for _ in range(size // batch_bytes):
        last = await _produce(peer, batch_bytes)
    return last


async def _produce(peer: Peer, size: int) -> int:
    batch = PartitionProduceData(index=0, records=bytes(build_batch([Record(0, 1, b"k", bytes(size))])))
    request = ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[TopicProduceData(name="t", partition_data=[batch])])
    answer = (await peer.ask(request, 9)).responses[0].partition_responses[0]
    assert not answer.error_code
    return answer.base_offset


async def _fetch(peer: Peer, offset: int, max_bytes: int = 100_000) -> int:
    """The bytes that came."""
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    request = FetchRequest(
        max_wait_ms=500, min_bytes=1, max_bytes=max_bytes, topics=[FetchTopic(topic="t", partitions=[partition])]
    )
    answer = (await peer.ask(request, 12)).responses[0].partitions[0]
    assert not answer.error_code
    assert len(answer.records)
    return len(answer.records)


def _drop_from_memory(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


async def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + _DEADLINE_S
    while not condition():
        assert time.monotonic() < end, "not within the deadline"
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    for name, figure in figures().items():
        if not sys.argv[1:] or any(item in name for item in sys.argv[1:]):
            print(f"{name:<42}{figure()}", flush=True)

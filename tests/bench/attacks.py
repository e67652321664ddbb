"""Clients that mean no good, each in a process of its own: `python -m tests.bench.attacks NAME HOST PORT TOPIC`.

Prints `ready` when the attack is in place and goes on until it is killed. What an attacker's own work costs is paced,
so that on a machine with few cores it is the broker that is measured and not the scheduler.
"""

import contextlib
import random
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import encode
from broker.protocol.headers import RequestHeader, encode_request_header
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.batch import Compression
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.bench.raw import PRODUCE_VERSION, fetch_frame, frame

_MB = 1024 * 1024
_ANNOUNCED = (100 * _MB).to_bytes(4)
_PRODUCE_HEAD = encode_request_header(RequestHeader(ApiKey.PRODUCE, PRODUCE_VERSION, 1, "hostile"))
_SENDING_DEADLINE_S = 20


def connections(host: str, port: int, count: int) -> list[socket.socket]:
    opened = []
    for _ in range(count):
        one = socket.create_connection((host, port), timeout=10)
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


def half_frames(host: str, port: int, _topic: str) -> Iterator[None]:
    """3,000 connections announce 100 MB each and send a byte; one more byte each from time to time."""
    opened = connections(host, port, 3_000)
    for each in opened:
        send_some(each, _ANNOUNCED + b"\0")
    while True:
        yield
        time.sleep(0.005)
        send_some(random.choice(opened), b"\0")


def filled_frames(host: str, port: int, _topic: str) -> Iterator[None]:
    """200 connections send 5 MB of the 100 MB they announced, and stop; whoever is closed comes again."""
    opened = dict.fromkeys(connections(host, port, 200), 0)
    deadline = time.monotonic() + _SENDING_DEADLINE_S
    for each in opened:
        send_some(each, _ANNOUNCED + _PRODUCE_HEAD)
    piece, is_ready = bytes(128 * 1024), False
    while True:
        for each, sent in list(opened.items()):
            count = send_some(each, piece) if sent < 5 * _MB else 0
            if count < 0:
                del opened[each]
                fresh = connections(host, port, 1)[0]
                opened[fresh] = 0
                send_some(fresh, _ANNOUNCED + _PRODUCE_HEAD)
            else:
                opened[each] += count
        is_ready = is_ready or sum(opened.values()) > 250 * _MB or time.monotonic() > deadline
        if is_ready:
            yield
        time.sleep(0.05)


def deaf_readers(host: str, port: int, topic: str) -> Iterator[None]:
    """200 connections ask for 200 KB again and again and never read."""
    request = fetch_frame(topic, 0, 200_000) * 100
    opened = connections(host, port, 200)
    for each in opened:
        send_some(each, request)
    while True:
        yield
        time.sleep(0.05)
        each = random.choice(opened)
        if send_some(each, request) < 0:
            opened.remove(each)
            opened += connections(host, port, 1)


def trickles(host: str, port: int, _topic: str) -> Iterator[None]:
    """2,000 connections send a request byte by byte, 500 bytes a second together."""
    opened = connections(host, port, 2_000)
    for each in opened:
        send_some(each, (200).to_bytes(4))
    while True:
        yield
        time.sleep(0.02)
        for each in random.sample(opened, 10):
            send_some(each, b"\0")


def five_thousand(host: str, port: int, _topic: str) -> Iterator[None]:
    """5,000 connections that say nothing."""
    _opened = connections(host, port, 5_000)
    while True:
        yield
        time.sleep(1)


def comers_and_goers(host: str, port: int, _topic: str) -> Iterator[None]:
    """100 connections a second that send garbage and are closed for it."""
    while True:
        yield
        with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=10) as one:
            one.sendall(b"GET / HTTP/1.1\r\n\r\n")
        time.sleep(0.01)


def bombs(host: str, port: int, topic: str) -> Iterator[None]:
    """Five batches a second of 1 KB that would unpack to 32 MB, to a compacted topic."""
    batch = build_batch([Record(0, 1, b"k", bytes(16 * _MB))] * 2, compression=Compression.ZSTD)
    data = TopicProduceData(name=f"{topic}-compacted", partition_data=[PartitionProduceData(index=0, records=batch)])
    request = frame(
        ApiKey.PRODUCE,
        PRODUCE_VERSION,
        encode(ProduceRequest(acks=1, timeout_ms=1_000, topic_data=[data]), PRODUCE_VERSION),
    )
    (one,) = connections(host, port, 1)
    one.setblocking(True)
    while True:
        one.sendall(request)
        answer = one.recv(1_000)
        assert b"decompressed" in answer, answer
        yield
        time.sleep(0.2)


ATTACKS: dict[str, Callable[[str, int, str], Iterator[None]]] = {
    "3,000 half-sent frames": half_frames,
    "200 frames half full": filled_frames,
    "200 deaf readers": deaf_readers,
    "2,000 trickles": trickles,
    "5,000 silent connections": five_thousand,
    "100 garbage connections a second": comers_and_goers,
    "5 decompression bombs a second": bombs,
}


@contextlib.contextmanager
def attacked(name: str, host: str, port: int, topic: str) -> Iterator[None]:
    """While the body runs the attack does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.attacks", name, host, str(port), topic],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout.readline().strip() != "ready":
            raise SystemExit(f"the attack “{name}” did not begin")
        yield
        if process.poll() is not None:
            raise SystemExit(f"the attack “{name}” ended early with {process.returncode}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def main() -> None:
    name, host, port, topic = sys.argv[1:]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    steps = ATTACKS[name](host, int(port), topic)
    next(steps)
    print("ready", flush=True)
    for _ in steps:
        pass


if __name__ == "__main__":
    main()

"""What TLS costs: the same loads by a plain listener and by one with TLS 1.3 of the same broker, in turn; and how long
somebody who sends one small request after another waits while strangers shake hands.
"""

import asyncio
import contextlib
import multiprocessing
import socket
import ssl
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.barnabas_cluster import running_cluster
from tests.bench.librdkafka import BatchConsumer, BatchProducer
from tests.bench.loads import BATCH_1MB, BATCH_64KB, Target
from tests.bench.raw import RawConnection, fetch_frame, paced, pipelined, produce_frame
from tests.certificates import Authority, inline
from tests.zookeeper_server import free_ports

ROUNDS = 3
SECONDS = 3.0
AUTHORITY = Authority()


@dataclass(frozen=True)
class Broker:
    target: Target
    ports: dict[str, int]
    context: ssl.SSLContext
    settings: dict[str, str]

    def connected(self, kind: str) -> RawConnection:
        connection = RawConnection("127.0.0.1", self.ports[kind])
        if kind == "TLS":
            connection.sock = self.context.wrap_socket(connection.sock, server_hostname="localhost")
        return connection

    def of_client(self, kind: str) -> tuple[str, dict[str, str]]:
        return f"127.0.0.1:{self.ports[kind]}", self.settings if kind == "TLS" else {}


@contextlib.contextmanager
def running_broker() -> Iterator[Broker]:
    server = AUTHORITY.server()
    plain, protected = free_ports(2)
    overrides = {
        "listeners": f"PLAINTEXT://127.0.0.1:{plain},SSL://127.0.0.1:{protected}",
        "ssl.keystore.certificate.chain": inline(server.chain_pem),
        "ssl.keystore.key": inline(server.key_pem()),
        "ssl.truststore.certificates": inline(AUTHORITY.pem),
    }
    with tempfile.TemporaryDirectory() as directory, running_cluster(brokers=1, overrides=overrides) as cluster:
        settings = {"security.protocol": "SSL", "ssl.ca.location": AUTHORITY.write(Path(directory))}
        target = Target("barnabas", "127.0.0.1", plain, psutil.Process(cluster.brokers[0].process.pid))
        ports = {"plain": plain, "TLS": protected}
        yield Broker(target, ports, ssl.create_default_context(cadata=AUTHORITY.pem), settings)


def figures() -> dict[str, Callable[[], str]]:
    return {
        "TLS: produce of 1 KB, one request each": lambda: _compared(_small_produces, "req/s"),
        "TLS: produce of 1 KB, as clients do": lambda: _compared(_produced, "MB/s"),
        "TLS: produce of 1 KB, 60 in a request, in whole records of TLS": lambda: _compared(_whole_produces, "MB/s"),
        "TLS: consume of 1 KB": lambda: _compared(_consumed, "MB/s"),
        "TLS: fetch of 1 MB": lambda: _compared(_large_fetches, "MB/s"),
        "TLS: handshakes": _handshakes,
    }


def _compared(load: Callable[[Broker, str, str], float], unit: str) -> str:
    rates: dict[str, list[float]] = {"plain": [], "TLS": []}
    cpu = dict.fromkeys(rates, 0.0)
    with running_broker() as broker:
        for _ in range(ROUNDS):
            for kind, its_rates in rates.items():
                with broker.target.topic() as topic:
                    before = broker.target.cpu_seconds() or 0.0
                    its_rates.append(load(broker, kind, topic))
                    cpu[kind] += (broker.target.cpu_seconds() or 0.0) - before
    plain, protected = (statistics.median(rates[kind]) for kind in ("plain", "TLS"))
    return (
        f"plain {plain:,.0f} {unit} ({cpu['plain']:.1f} CPU s)   TLS 1.3 {protected:,.0f} {unit} "
        f"({cpu['TLS']:.1f} CPU s)   {protected / plain:.2f} ×"
    )


def _small_produces(broker: Broker, kind: str, topic: str) -> float:
    return _requests(broker, kind, topic, 1) / SECONDS


def _whole_produces(broker: Broker, kind: str, topic: str) -> float:
    return 60 * _requests(broker, kind, topic, 60) / 1_000 / SECONDS


def _requests(broker: Broker, kind: str, topic: str, records: int) -> int:
    connection = broker.connected(kind)
    done = pipelined(connection, produce_frame(topic, bytes(1_000), records), 50, SECONDS)
    connection.close()
    return done


def _produced(broker: Broker, kind: str, topic: str) -> float:
    """librdkafka gives TLS each message's head and value by themselves: two records, each with its own proof."""
    servers, settings = broker.of_client(kind)
    producer = BatchProducer(servers, topic, 1_000, {**BATCH_64KB, **settings})
    producer.send(1_000)
    began = time.perf_counter()
    producer.send(300_000)
    seconds = time.perf_counter() - began
    producer.close()
    return 300 / seconds


def _consumed(broker: Broker, kind: str, topic: str) -> float:
    producer = BatchProducer(broker.target.bootstrap_servers, topic, 1_000, {**BATCH_1MB})
    producer.send(300_000)
    producer.close()
    servers, settings = broker.of_client(kind)
    consumer = BatchConsumer(servers, topic, {"group.id": "bench", **settings})
    consumer.start()
    began = time.perf_counter()
    consumer.read(299_999)
    seconds = time.perf_counter() - began
    consumer.close()
    return 300 / seconds


def _large_fetches(broker: Broker, kind: str, topic: str) -> float:
    producer = BatchProducer(broker.target.bootstrap_servers, topic, 1_000, {**BATCH_1MB})
    producer.send(2_000)
    producer.close()
    connection = broker.connected(kind)
    request, received, began = fetch_frame(topic, 0, 1_000_000), 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        connection.send(request)
        received += connection.answers(1)
    seconds = time.perf_counter() - began
    connection.close()
    return received / 1e6 / seconds


def _handshakes() -> str:
    """Of others, so many a second, spread evenly; the bystander sends 200 small requests a second to the plain port."""
    messages = []
    with running_broker() as broker, broker.target.topic() as topic:
        bystander, request = broker.connected("plain"), produce_frame(topic, bytes(100))
        for per_second in (0, 250, 500, 1_000):
            done = multiprocessing.get_context("fork").Value("i", 0)
            arguments = (broker.ports["TLS"], per_second, SECONDS + 1, done)
            others = multiprocessing.get_context("fork").Process(target=_shake_hands, args=arguments)
            others.start()
            time.sleep(0.5)
            before = broker.target.cpu_seconds() or 0.0
            latencies = sorted(paced(bystander, request, 200, SECONDS))
            busy = ((broker.target.cpu_seconds() or 0.0) - before) / SECONDS
            others.join()
            p50, p99 = latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100]
            rate = done.value / (SECONDS + 1)
            messages.append(f"{rate:,.0f}/s: p50 {p50:.2f} p99 {p99:.2f} ms, {100 * busy:.0f} % of a core")
        bystander.close()
    return "   ".join(messages)


def _shake_hands(port: int, per_second: int, seconds: float, done: "multiprocessing.sharedctypes.Synchronized") -> None:
    """In a process of its own."""

    async def one() -> None:
        with contextlib.suppress(OSError):
            sock = socket.socket()
            sock.setblocking(False)
            await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
            _, writer = await asyncio.open_connection(sock=sock, ssl=context, server_hostname="localhost")
            done.value += 1
            writer.transport.abort()

    async def all_of_them() -> None:
        began, tasks = time.perf_counter(), set()
        for number in range(int(per_second * seconds)):
            await asyncio.sleep(max(0.0, began + number / per_second - time.perf_counter()))
            if time.perf_counter() - began > seconds:
                break
            tasks.add(asyncio.ensure_future(one()))
        await asyncio.gather(*tasks)

    context = ssl.create_default_context(cadata=AUTHORITY.pem)
    asyncio.run(all_of_them())

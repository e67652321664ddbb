"""What an outage of the target costs a mirror: it waits, and afterwards is soon where the source is.

python -m tests.bench.mirror_outage [--minutes 60] [--hurry 1] [--rate 5000] [--bytes 1000] [--at-least-once]

Two clusters of one broker and Kafka's dedicated mirror as a process between them. While a producer goes on the target's
broker is killed, away so long, and started again. Told are the mirror's memory, processor time and log meanwhile, how
long its copies are behind afterwards, and whether each record is there once and in order. An hour of it needs some
40 GB below the directory for temporary files (TMPDIR).
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import BrokerProcess, Cluster, await_true, running_cluster
from tests.broker.mirror.running import begun, properties
from tests.zookeeper_server import running_zookeeper

PARTITIONS = 4
TOPIC, COPY = "events", "north.events"
#: A producer's batch is what it is given in this time; half as long again a transaction of the mirror lasts.
LINGER_MS, COMMIT_MS = 200, 300
_BURST_S = 0.05
_LOOK_S = 10.0
#: How long the copies are watched once they are near, and how long they may take to be.
_WATCHED_S, _DEADLINE_S = 60.0, 3600.0
_NUMBER_BYTES = 8


def main() -> None:
    given = _arguments()
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-outage-")))
        zookeeper = stack.enter_context(running_zookeeper(root / "zookeeper"))
        north, south = (
            stack.enter_context(running_cluster(root / name, zookeeper=zookeeper)) for name in ("north", "south")
        )
        admin = AdminClient({"bootstrap.servers": north.bootstrap_servers, "log_level": 0})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(20)
        log = root / "mirror.log"
        words = "connect-mirror-maker", _mirror(root, north, south, exactly_once=not given.at_least_once)
        mirror = psutil.Process(stack.enter_context(begun(*words, log=log)).pid)
        pace = Pace(given.rate)
        with writing(north, pace, given.bytes) as written:
            await_true(lambda: _has_copy(south), "the mirror has begun", 60)
            tail = Tail(south)
            tail.await_near()
            with pace.hurried(given.hurry):
                _outage(south.brokers[0], mirror, log, given.minutes * 60 / given.hurry)
            _recovery(tail, mirror, south.brokers[0], north.brokers[0])
        _judge(south, written, given.at_least_once)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60, help="how long the target is away")
    parser.add_argument("--hurry", type=float, default=1, help="how many times as fast all goes meanwhile")
    parser.add_argument("--rate", type=int, default=5_000, help="records a second")
    parser.add_argument("--bytes", type=int, default=1_000, help="of a record")
    parser.add_argument("--at-least-once", action="store_true", help="instead of exactly once")
    return parser.parse_args()


def _mirror(root: Path, north: Cluster, south: Cluster, *, exactly_once: bool) -> str:
    return properties(
        root / "mm2.properties",
        **{
            "clusters": "north, south",
            "north.bootstrap.servers": north.bootstrap_servers,
            "south.bootstrap.servers": south.bootstrap_servers,
            "north->south.enabled": "true",
            "south.exactly.once.source.support": "enabled" if exactly_once else "disabled",
            "topics": TOPIC,
            "replication.factor": "1",
            "refresh.topics.interval.seconds": "5",
            "commit.interval.ms": str(COMMIT_MS),
        },
    )


def _has_copy(south: Cluster) -> bool:
    admin = AdminClient({"bootstrap.servers": south.bootstrap_servers, "log_level": 0})
    topics = admin.list_topics(timeout=10).topics
    return COPY in topics and len(topics[COPY].partitions) == PARTITIONS


class Pace:
    """Records a second."""

    def __init__(self, rate: float):
        self.usual = self.rate = rate

    @contextmanager
    def hurried(self, times: float) -> Iterator[None]:
        self.rate = self.usual * times
        yield
        self.rate = self.usual


@contextmanager
def writing(north: Cluster, pace: Pace, size: int) -> Iterator[list[int]]:
    """Records that are numbered in each partition, from a thread; how many of each were acknowledged."""
    acknowledged = [0] * PARTITIONS
    stop = threading.Event()
    batch = round(pace.usual * size * LINGER_MS / 1000 / PARTITIONS)
    producer = Producer(
        {"bootstrap.servers": north.bootstrap_servers, "enable.idempotence": True, "linger.ms": LINGER_MS,
         "batch.size": batch, "queue.buffering.max.messages": 500_000, "log_level": 0}
    )  # fmt: skip

    def note(error, message):
        assert error is None, error
        acknowledged[message.partition()] += 1

    def run():
        at, due, made, filler = time.monotonic(), 0.0, 0, bytes(range(256)) * (size // 256 + 1)
        while not stop.wait(_BURST_S):
            now = time.monotonic()
            due, at = due + (now - at) * pace.rate, now
            for number in range(made, int(due)):
                value = (number // PARTITIONS).to_bytes(_NUMBER_BYTES) + filler[: size - _NUMBER_BYTES]
                _produce(producer, value, partition=number % PARTITIONS, on_delivery=note)
            made = int(due)
            producer.poll(0)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield acknowledged
    finally:
        stop.set()
        thread.join()
        assert producer.flush(60) == 0


def _produce(producer: Producer, value: bytes, **named) -> None:
    while True:
        try:
            producer.produce(TOPIC, value, **named)
            return
        except BufferError:
            producer.poll(_BURST_S)


class Tail:
    """How old the newest record is that a reader of committed records finds in the target's partitions."""

    def __init__(self, south: Cluster):
        self._consumer = _reader(south)

    def lag_s(self) -> float:
        try:
            ends = [self._end(number) for number in range(PARTITIONS)]
            self._consumer.assign([TopicPartition(COPY, at, max(0, end - 3)) for at, end in enumerate(ends)])
            return time.time() - min(self._newest_s(ends))
        except KafkaException:  # it does not lead yet
            return float("inf")

    def _end(self, partition: int) -> int:
        return self._consumer.get_watermark_offsets(TopicPartition(COPY, partition), timeout=2)[1]

    def _newest_s(self, ends: list[int]) -> list[float]:
        """When the last record before each end was made; behind it there may be a marker."""
        newest, left, deadline = [0.0] * len(ends), set(range(len(ends))), time.monotonic() + 2
        while left and time.monotonic() < deadline:
            message = self._consumer.poll(0.1)
            if message is None:
                continue
            at = message.partition()
            if message.error() is None:
                newest[at] = message.timestamp()[1] / 1000
            if message.error() is not None or message.offset() >= ends[at] - 2:
                left.discard(at)
        return newest

    def await_near(self) -> None:
        await_true(lambda: self.lag_s() < 1, "the copies are less than a second behind", _DEADLINE_S)


def _reader(south: Cluster) -> Consumer:
    return Consumer(
        {"bootstrap.servers": south.bootstrap_servers, "group.id": "tail", "enable.auto.commit": False,
         "isolation.level": "read_committed", "enable.partition.eof": True, "fetch.queue.backoff.ms": 10,
         "queued.max.messages.kbytes": 65_536, "reconnect.backoff.max.ms": 100, "log_level": 0}
    )  # fmt: skip


def _outage(broker: BrokerProcess, mirror: psutil.Process, log: Path, seconds: float) -> None:
    lines, cpu, sizes = _lines(log), _cpu_s(mirror), [_rss_mb(mirror)]
    broker.kill()
    _say(f"the target is away, the mirror has {sizes[0]:.0f} MB")
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(min(_LOOK_S, max(0.0, deadline - time.monotonic())))
        sizes.append(_rss_mb(mirror))
    _say(
        f"away for {seconds / 60:g} min: mirror at most {max(sizes):.0f} MB, at the end {sizes[-1]:.0f} MB, "
        f"{(_cpu_s(mirror) - cpu) / seconds:.1%} of a core, {_lines(log) - lines} lines logged"
    )


def _recovery(tail: Tail, mirror: psutil.Process, broker: BrokerProcess, source: BrokerProcess) -> None:
    began_at = time.monotonic()
    broker.start()
    broker.await_healthy()
    others = mirror, psutil.Process(source.process.pid)
    serves_at, cpu = time.monotonic(), [_cpu_s(other) for other in others]
    while (lag := tail.lag_s()) >= 1:
        held = disk_bytes(broker) / 1e6
        _say(f"{time.monotonic() - serves_at:5.1f} s after it serves: {lag:.1f} s behind, {held:,.0f} MB there")
        time.sleep(0.5)
    used = [_cpu_s(other) - before for other, before in zip(others, cpu, strict=True)]
    _say(
        f"the target serves after {serves_at - began_at:.1f} s, the copies are less than a second behind "
        f"{time.monotonic() - serves_at:.1f} s later; {disk_bytes(broker) / 1e6:,.0f} MB are there; CPU s: mirror "
        f"{used[0]:.1f}, source {used[1]:.1f}, target {_cpu_s(psutil.Process(broker.process.pid)):.1f}"
    )
    lags, deadline = [], time.monotonic() + _WATCHED_S
    while time.monotonic() < deadline:
        lags.append(tail.lag_s())
        time.sleep(1)
    _say(f"for {_WATCHED_S:g} s then {statistics.median(lags):.2f} s behind, at most {max(lags):.2f} s")


def disk_bytes(broker: BrokerProcess) -> int:
    """What the target holds of the copies."""
    return sum(path.stat().st_size for at in broker.log_dirs for path in at.glob(f"{COPY}-*/*.log"))


def _judge(south: Cluster, written: list[int], may_repeat: bool) -> None:
    """Every record that was acknowledged is there, in order; once, unless it may be twice."""
    repeated = [_read_through(south, number, count, may_repeat) for number, count in enumerate(written)]
    _say(f"{sum(written):,} records, each there in order; {sum(repeated):,} more than once")


def _read_through(south: Cluster, partition: int, count: int, may_repeat: bool) -> int:
    """How many came again."""
    consumer, expected, repeated = _reader(south), 0, 0
    consumer.assign([TopicPartition(COPY, partition, 0)])
    deadline = time.monotonic() + _DEADLINE_S
    while expected < count:
        assert time.monotonic() < deadline, f"partition {partition}: {expected} of {count} records"
        for message in consumer.consume(10_000, 1.0):
            if message.error() is not None:
                continue
            number = int.from_bytes(message.value()[:_NUMBER_BYTES])
            assert number == expected or (may_repeat and number < expected), (partition, message.offset(), expected)
            repeated += number < expected
            expected = max(expected, number + 1)
    consumer.close()
    return repeated


def _rss_mb(process: psutil.Process) -> float:
    return process.memory_info().rss / 1e6


def _cpu_s(process: psutil.Process) -> float:
    return sum(process.cpu_times()[:2])


def _lines(log: Path) -> int:
    return log.read_bytes().count(b"\n")


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)


if __name__ == "__main__":
    main()

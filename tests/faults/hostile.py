"""Hostile clients against a real broker: a well-behaved one is served all the time, memory stays bounded, nothing is
written to the log that an operator must fear.

python -m tests.faults hostile
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
from confluent_kafka.admin import AdminClient, NewTopic

from broker.common.limits import HELD_ANSWER_BYTES_MAX
from tests.barnabas_cluster import BrokerProcess, running_cluster
from tests.bench.attacks import ATTACKS, attacked
from tests.bench.raw import RawConnection, paced, produce_frame
from tests.faults.checker import faults_in_log

_REQUESTS_PER_SECOND = 200
_REQUEST_MEMORY_BYTES = 64_000_000
#: What a broker holds by itself, the limits, and one of the largest requests.
_RSS_MAX_MB = (120_000_000 + HELD_ANSWER_BYTES_MAX + _REQUEST_MEMORY_BYTES + 104_857_600) / 1e6


class Survived(NamedTuple):
    """One attack: how many requests of the well-behaved client were answered, the slowest, and the broker's memory."""

    attack: str
    answered: int
    slowest_ms: float
    rss_mb: float
    violations: list[str]

    def __str__(self) -> str:
        verdict = "; ".join(self.violations) or "ok"
        return (
            f"{self.attack:<36}{self.answered:,} answered, slowest {self.slowest_ms:.0f} ms, RSS {self.rss_mb:.0f} MB"
            f"   {verdict}"
        )


def run_attacks(directory: Path, seconds: float, names: Iterable[str] = tuple(ATTACKS)) -> Iterator[Survived]:
    """Each attack in turn on one broker, for `seconds` each."""
    with running_cluster(directory, overrides={"queued.max.request.bytes": str(_REQUEST_MEMORY_BYTES)}) as cluster:
        broker = cluster.brokers[0]
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        topics = [NewTopic("t", 1, 1), NewTopic("t-compacted", 1, 1, config={"cleanup.policy": "compact"})]
        for creation in admin.create_topics(topics).values():
            creation.result(30)
        for name in names:
            yield _under_attack(broker, name, seconds)


def _under_attack(broker: BrokerProcess, name: str, seconds: float) -> Survived:
    connection = RawConnection("127.0.0.1", broker.port)
    connection.send(produce_frame("t", b"x" * 1_000, records=200))
    connection.answers(1)
    with attacked(name, "127.0.0.1", broker.port, "t"):
        latencies = paced(connection, produce_frame("t", b"x" * 100), _REQUESTS_PER_SECOND, seconds)
        rss_mb = psutil.Process(broker.process.pid).memory_info().rss / 1e6
    connection.close()
    violations = faults_in_log(broker.log_path)
    if rss_mb > _RSS_MAX_MB:
        violations.append(f"RSS {rss_mb:.0f} MB, {_RSS_MAX_MB:.0f} MB are the bound")
    return Survived(name, len(latencies), max(latencies), rss_mb, violations)

"""Hostile clients against a real broker: a well-behaved one is served all the time, the loop never stands still,
memory stays bounded, nothing is made outside the broker's directories, and its log tells of nothing that an operator
must fear.

What stands before locked doors besides gets in nowhere.

python -m tests.faults hostile
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from broker.common.limits import HELD_ANSWER_BYTES_MAX
from tests.bench.attacks import AT_DOORS, ATTACKS, Aim, AttackEnded, attacked
from tests.bench.attacks.doors import PASSWORD, USER, make_doors, settings_of
from tests.bench.raw import RawConnection, paced, produce_frame
from tests.fuzz.victim import TOPICS, Victim, running_victim, summary_of

_REQUESTS_PER_SECOND = 200
_ALONE_S = 2.0
#: That thousands of connections are gone at once is part of the attack.
_AFTERWARDS_S = 0.5
_REQUEST_MEMORY_BYTES = 64_000_000
_SETTINGS = {"queued.max.request.bytes": str(_REQUEST_MEMORY_BYTES)}
#: What a broker holds by itself, the limits, and one of the largest requests.
_RSS_MAX_MB = (120_000_000 + HELD_ANSWER_BYTES_MAX + _REQUEST_MEMORY_BYTES + 104_857_600) / 1e6
#: Machines are shared, and a process waits for its turn: what takes longer than this is no matter of turns.
_P99_MAX_MS = 1_000
HEADING = (
    f"{'attack':<38}{'answered':>9}{'p99 alone':>11}{'attacked':>10}{'ratio':>7}{'slowest':>10}"
    f"{'stall CPU':>11}{'RSS peak':>10}"
)


class Survived(NamedTuple):
    """One attack: what a well-behaved client noticed, the longest the loop computed in one go, the most memory."""

    attack: str
    answered: int
    p99_alone_ms: float
    p99_ms: float
    slowest_ms: float
    #: 0 while it never computed for longer than it may.
    stall_ms: float
    rss_mb: float
    violations: list[str]
    #: What took longer than it may; on a machine that others use as well, not always the broker's doing.
    slow: list[str]

    def __str__(self) -> str:
        verdict = "\n    ".join(["", *self.violations, *self.slow]) if self.violations or self.slow else "   ok"
        return (
            f"{self.attack:<38}{self.answered:>9,}{self.p99_alone_ms:>8.1f} ms{self.p99_ms:>7.1f} ms"
            f"{self.p99_ms / self.p99_alone_ms:>7.1f}{self.slowest_ms:>7.0f} ms{self.stall_ms:>8.0f} ms"
            f"{self.rss_mb:>7.0f} MB{verdict}"
        )


def run_attacks(directory: Path, seconds: float, names: Iterable[str] = tuple(ATTACKS)) -> Iterator[Survived]:
    """Each attack in turn on one broker, for `seconds` each; what one leaves behind the next finds."""
    with running_victim(directory, _SETTINGS) as victim:
        for name in names:
            yield _under_attack(victim, name, seconds)


def run_attacks_at_doors(directory: Path, seconds: float, names: Iterable[str] = tuple(AT_DOORS)) -> Iterator[Survived]:
    """The same on a broker whose other listeners want a certificate or a login."""
    doors = make_doors(directory / "doors")
    with running_victim(directory, {**_SETTINGS, **settings_of(doors)}) as victim:
        kind = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        credential = UserScramCredentialUpsertion(USER, kind, PASSWORD.encode())
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{victim.broker.port}"})
        admin.alter_user_scram_credentials([credential])[USER].result(20)
        for name in names:
            yield _under_attack(victim, name, seconds, str(doors))


def _under_attack(victim: Victim, name: str, seconds: float, doors: str = "") -> Survived:
    topic, stalls_before = TOPICS[0], len(victim.stalls())
    aim = Aim("127.0.0.1", victim.broker.port, topic, victim.broker.zookeeper_connect, str(victim.outside), doors)
    connection = RawConnection("127.0.0.1", victim.broker.port)
    connection.send(produce_frame(topic, b"x" * 1_000, records=200))
    connection.answers(1)
    request = produce_frame(topic, b"x" * 100)
    victim.forget_rss_peak()
    alone = paced(connection, request, _REQUESTS_PER_SECOND, min(seconds, _ALONE_S))
    try:
        with attacked(name, aim):
            latencies = paced(connection, request, _REQUESTS_PER_SECOND, seconds)
        paced(connection, request, _REQUESTS_PER_SECOND, _AFTERWARDS_S)
        connection.close()
    except (ConnectionError, AttackEnded) as error:
        return Survived(name, 0, _p99(alone), 0.0, 0.0, 0.0, 0.0, [str(error), *victim.violations_afterwards()], [])
    stalls, p99_ms, rss_mb = victim.stalls()[stalls_before:], _p99(latencies), victim.rss_peak_mb
    violations, slow = victim.violations_afterwards(), []
    if stalls:
        slow.append(f"the loop stood still:\n{summary_of(stalls)}")
    if rss_mb > _RSS_MAX_MB:
        violations.append(f"RSS {rss_mb:.0f} MB, {_RSS_MAX_MB:.0f} MB are the bound")
    if p99_ms > _P99_MAX_MS:
        slow.append(f"a well-behaved client waits {p99_ms:.0f} ms, {_P99_MAX_MS} ms are the bound")
    longest_ms = max((stall.computed_ms for stall in stalls), default=0.0)
    return Survived(name, len(latencies), _p99(alone), p99_ms, max(latencies), longest_ms, rss_mb, violations, slow)


def _p99(latencies: list[float]) -> float:
    return sorted(latencies)[int(len(latencies) * 0.99)]

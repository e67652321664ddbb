"""Scenarios: runs that are directed at one kind of defect, where a plain run would meet it in one seed of a hundred.

A scenario fixes the settings that the defect depends on and how many faults of which kinds strike; the seed still draws
when they strike, whom, for how long, and everything else. So no seed is special: whatever the broker draws or sends
tomorrow, the next seeds of the scenario are as good as those before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from tests.simulation.directed import DIRECTED
from tests.simulation.faults import FAULTS, FOREIGN_HANDS, Fault

_MS = 1_000
_S = 1_000_000


@dataclass(frozen=True)
class Scenario:
    """The faults of a run by kind with their number, and settings that replace drawn ones."""

    faults: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    brokers: int = 3
    #: The clients at work, by how their names begin; empty: all of them.
    clients: tuple[str, ...] = ()
    #: A fault lasts between so long and the longest of its kind.
    lasts_us_min: int = 1 * _S
    #: Clients are well at work by then.
    first_us: int = 2 * _S
    last_us: int = 7 * _S
    chaos_us: int = 7 * _S
    #: When the cluster finalizes `transaction.version` 2, counted from the begin of the load; None: from the beginning.
    raise_after_s: float | None = None

    def draw_faults(self, random: Random) -> list[Fault]:
        """Return the faults of a run in the order of their times, which count from the begin of the load."""
        kinds = [kind for kind, count in self.faults.items() for _ in range(count)]
        faults = [self._draw(random, kind) for kind in kinds]
        return sorted(faults, key=lambda fault: fault.at_us)

    def _draw(self, random: Random, kind: str) -> Fault:
        longest_us = DIRECTED[kind][0] if kind in DIRECTED else (FAULTS | FOREIGN_HANDS)[kind][1]
        lasts_us = random.randint(min(self.lasts_us_min, longest_us), longest_us)
        return Fault(random.randint(self.first_us, self.last_us), kind, lasts_us, random.random())


#: Followers count as gone soon, so that a leader is alone in its ISR before its isolation ends.
_ALONE_SOON = {"replica.lag.time.max.ms": 500, "min.insync.replicas": 2}
#: Followers that do not fetch stay in the ISR for long, so that what is appended waits for them.
_WAITED_FOR = {"replica.lag.time.max.ms": 5_000, "min.insync.replicas": 2}
_SMALL_SEGMENTS = {
    "log.segment.bytes": 600,
    "offsets.topic.segment.bytes": 600,
    "transaction.state.log.segment.bytes": 600,
}
#: What DeleteRecords has let go is off the disk before the next segment begins.
_DELETED_SOON = {"log.segment.bytes": 1_800, "log.retention.check.interval.ms": 100}

#: Clients with transactions alone; and members of a consumer group.
_TRANSACTIONAL = ("tx-", "ledger-")
_OF_CONSUMER_GROUP = ("modern",)

#: By the name of the defect that each is made for (`defects.py`).
SCENARIOS: dict[str, Scenario] = {
    "readers-below-min-isr": Scenario({"isolate from brokers": 4}, _ALONE_SOON),
    "coordinators-below-min-isr": Scenario({"isolate from brokers": 4}, _ALONE_SOON),
    "heartbeats-wait": Scenario({"pause": 3}, _WAITED_FOR, lasts_us_min=3 * _S),
    "fetched-offsets-wait": Scenario(
        {"takeover of uncommitted offsets": 1},
        _WAITED_FOR,
        brokers=4,
        lasts_us_min=7 * _S,
        last_us=4 * _S,
        chaos_us=12 * _S,
    ),
    "outdated-producers": Scenario(
        {"loss of the newest snapshot": 3},
        _DELETED_SOON,
        clients=("all-", "one-", "pass-", "deleter"),
        lasts_us_min=100 * _MS,
        last_us=15 * _S,
        chaos_us=18 * _S,
    ),
    "loaded-once-or-never": Scenario({"load without descriptors": 2}, _SMALL_SEGMENTS),
    "passes-in-vain": Scenario({}, _SMALL_SEGMENTS),
    "acknowledged-before-fsync": Scenario({"disk hangs": 1}),
    "last-to-start-leads": Scenario(
        {"power loss everywhere": 1}, _WAITED_FOR, clients=("flushed-",), last_us=6 * _S, chaos_us=20 * _S
    ),
    "last-in-sync-leads-without-its-tail": Scenario(
        {"loss of the last tail in sync": 1},
        _ALONE_SOON,
        clients=("sure-",),
        lasts_us_min=6 * _S,
        last_us=5 * _S,
        chaos_us=16 * _S,
    ),
    "lagging-replica-leads": Scenario(
        {"state is lost while all are down": 1}, _ALONE_SOON, lasts_us_min=500 * _MS, last_us=5 * _S, chaos_us=16 * _S
    ),
    "late-ends-count": Scenario({"kill leader": 1}, clients=_TRANSACTIONAL),
    "late-batches-count": Scenario({"kill leader": 1}, clients=_TRANSACTIONAL),
    "verdicts-count-for-nothing": Scenario({}, clients=_TRANSACTIONAL),
    "repeated-ends-refused": Scenario({"kill leader": 2}, clients=_TRANSACTIONAL),
    "epochs-answered-not-raised": Scenario(
        {"cut from zookeeper": 2},
        clients=_TRANSACTIONAL,
        lasts_us_min=6 * _S,
        first_us=1 * _S,
        last_us=2 * _S,
        raise_after_s=2.2,
    ),
    "partitions-of-others": Scenario({}, clients=_OF_CONSUMER_GROUP),
    "commits-of-the-expelled": Scenario({}, clients=_OF_CONSUMER_GROUP, chaos_us=15 * _S),
}

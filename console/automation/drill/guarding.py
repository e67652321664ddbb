"""When a drill may begin, and when it is worse than it should be. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from console.automation.drill.expect import ELECTION_S, ExpectedEffects
from console.automation.drill.samples import LOOK_S, Sample
from console.cluster.placement.sentences import count_of

#: The collector's last word is no word on now after that.
FRESH_MS = 15_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is known before. `allowed`: this cluster is one for drills; `harms`: partitions that would be offline."""

    allowed: bool = True
    read_only: str = ""
    is_doubtful: bool = False
    operation: str = ""
    is_moving: bool = False
    away: Sequence[int] = ()
    lacking: int = 0
    zookeeper_silent: int = 0
    is_elsewhere: bool = False
    is_running: bool = True
    name: str = ""
    offline: int = 0
    costs_quorum: bool = False


NOT_ALLOWED = "Drills are switched off for this cluster: BARNABAS_DRILLS=1 says that it is one to try things on."


def why_not(start: Start) -> str:
    """Return why the fault may not begin; empty if it may."""
    if not start.allowed:
        return NOT_ALLOWED
    reasons = (
        (bool(start.read_only), start.read_only),
        (start.is_doubtful, "The cluster's present state is unknown, so the drill's effects cannot be foreseen."),
        (bool(start.operation), f"{start.operation} is under way."),
        (start.is_moving, "Partitions are being reassigned."),
        (bool(start.away), f"A broker is away already: {', '.join(map(str, start.away))}."),
        (start.lacking > 0, f"{count_of(start.lacking, 'partition')} short of a leader or of replicas in sync."),
        (start.zookeeper_silent > 0, f"{count_of(start.zookeeper_silent, 'ZooKeeper server')} not serving."),
        (start.is_elsewhere, f"{start.name} runs on another host."),
        (not start.is_running, f"{start.name} does not run as it should."),
        (start.offline > 0, f"{count_of(start.offline, 'partition')} would be without any replica in sync."),
        (start.costs_quorum, "ZooKeeper would lose its quorum, which stops the whole cluster."),
    )
    return next((sentence for is_so, sentence in reasons if is_so), "")


def why_worse(expected: ExpectedEffects, samples: Sequence[Sample], before: Sample | None, target: int | None) -> str:
    """Return what is worse than expected since the fault began; empty if nothing is. `samples` are those since then."""
    if not samples or before is None:
        return ""
    now = samples[-1]
    others = set(before.registered) - set(now.registered) - {target}
    if others:
        return f"another broker is away, {', '.join(map(str, sorted(others)))}"
    if now.below > expected.below[1]:
        return f"{count_of(now.below, 'partition')} below min.insync.replicas, {expected.below[1]} expected"
    if now.lost is not None and before.lost is not None and now.lost > before.lost:
        return "the probe misses acknowledged records"
    if now.at_ms - now.seen_at_ms > FRESH_MS:
        return "the collector cannot see the cluster"
    if target is None and _has_too_few_servers(expected, samples):
        return f"{count_of(now.zookeeper, 'ZooKeeper server')} left, {expected.zookeeper_left} expected"
    return _leaderless(expected, samples)


def _has_too_few_servers(expected: ExpectedEffects, samples: Sequence[Sample]) -> bool:
    """Return whether too few servers have served for longer in a row than their election may take, if there is one."""
    elect_s = expected.quorumless_s[1]
    lasts_ms = _lasts_ms(samples, lambda sample: sample.zookeeper < expected.zookeeper_left)
    return lasts_ms is not None and lasts_ms >= 1_000 * (elect_s + 2 * LOOK_S if elect_s else 0)


def _leaderless(expected: ExpectedEffects, samples: Sequence[Sample]) -> str:
    """Return partitions without leader for longer in a row than an election may take."""
    most_s = max(expected.leaderless_s[1], ELECTION_S) + 2 * LOOK_S
    lasts_ms = _lasts_ms(samples, lambda sample: sample.leaderless > 0)
    if lasts_ms is not None and lasts_ms > 1_000 * most_s:
        return f"partitions are without a leader for more than {most_s:.0f} s"
    return ""


def _lasts_ms(samples: Sequence[Sample], is_so: Callable[[Sample], bool]) -> int | None:
    """Return how long the condition has held; None: it does not hold now."""
    since_ms = None
    for sample in samples:
        since_ms = None if not is_so(sample) else sample.at_ms if since_ms is None else since_ms
    return None if since_ms is None else samples[-1].at_ms - since_ms

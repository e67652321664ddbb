"""What was seen of the cluster second by second, and what it adds up to. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from console.kit.common.stored_fields import from_stored

#: A drill of two minutes with all that goes before and after it.
SAMPLES_MAX = 900
#: How coarse it is: the collector looks that often while somebody pays attention.
LOOK_S = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """`seen_at_ms`: when the collector looked; `led`: partitions the target leads; `zookeeper`: servers that serve.

    `failing`: partitions that the probe cannot write or read, `lost`: acknowledged records it misses; None without one.
    """

    at_ms: int
    seen_at_ms: int
    leaderless: int = 0
    under_replicated: int = 0
    below: int = 0
    led: int = 0
    controller_id: int | None = None
    registered: tuple[int, ...] = ()
    failing: int | None = None
    lost: int | None = None
    zookeeper: int = 0

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def read_samples(kept: Iterable[dict[str, Any]]) -> list[Sample]:
    return [from_stored(Sample, tupled(item)) for item in kept]


def tupled(kept: dict[str, Any]) -> dict[str, Any]:
    """Return the stored values with tuples for lists, which are all that JSON knows."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Measured from the fault's beginning on; seconds are as coarse as looks. None: not known."""

    leaders_moved: int
    controller_moves: int
    leaderless_s: float
    under_replicated_s: float
    below: int
    unanswered_s: float | None
    #: From the moment everything was put back until every replica was in sync again; None: it was not.
    back_s: float | None
    lost: int | None
    #: The fewest servers of a quorum, and for how long there was none.
    zookeeper_left: int
    quorumless_s: float


def measure(samples: Sequence[Sample], fault_ms: int, back_ms: int | None, target: int | None) -> Measured:
    """Return the measured effects. `target`: the broker of the drill, None for a ZooKeeper server."""
    before = [sample for sample in samples if sample.seen_at_ms <= fault_ms]
    after = [sample for sample in samples if sample.seen_at_ms > fault_ms]
    first = before[-1] if before else samples[0] if samples else None
    controllers = [name.controller_id for name in ([first] if first else []) + after if name.controller_id is not None]
    losses = [item.lost for item in after if item.lost is not None]
    known = any(sample.failing is not None for sample in after)
    return Measured(
        leaders_moved=max(0, (first.led if first else 0) - min((sample.led for sample in after), default=0))
        if after
        else 0,
        controller_moves=sum(one != other for one, other in pairwise(controllers)),
        leaderless_s=_seconds(after, lambda sample: sample.leaderless > 0),
        under_replicated_s=_seconds(after, lambda sample: sample.under_replicated > 0),
        below=max((sample.below for sample in after), default=0),
        unanswered_s=_seconds(after, lambda sample: bool(sample.failing)) if known else None,
        back_s=_back_s(after, back_ms, target),
        lost=max(losses) - (first.lost or 0 if first else 0) if losses else None,
        zookeeper_left=min((sample.zookeeper for sample in after if sample.zookeeper), default=0),
        quorumless_s=_seconds(after, lambda sample: not sample.zookeeper),
    )


def is_whole(sample: Sample, target: int | None) -> bool:
    return not (sample.leaderless or sample.under_replicated or sample.below) and (
        target is None or target in sample.registered
    )


def _seconds(samples: Sequence[Sample], is_so: Callable[[Sample], bool]) -> float:
    """Return the seconds for which the condition held; each sample counts until the next."""
    return round(
        sum(max(0, after.at_ms - sample.at_ms) for sample, after in pairwise(samples) if is_so(sample)) / 1_000, 1
    )


def _back_s(after: Sequence[Sample], back_ms: int | None, target: int | None) -> float | None:
    """Return the seconds until nothing was missing any more: an ISR that grows and shrinks again is not back."""
    if back_ms is None:
        return None
    since = [sample for sample in after if sample.seen_at_ms >= back_ms]
    if not since or not is_whole(since[-1], target):
        return None
    broken = [at for at, item in enumerate(since) if not is_whole(item, target)]
    whole = since[broken[-1] + 1 if broken else 0]
    return round(max(0, whole.at_ms - back_ms) / 1_000, 1)

"""What was expected beside what was measured, line by line. Pure."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from console.automation.drill.expect import ExpectedEffects
from console.automation.drill.samples import LOOK_S, Measured

OK, WORSE, UNKNOWN = "as expected", "worse", "not known"


@dataclass(frozen=True, slots=True)
class DrillComparison:
    what: str
    expected: str
    measured: str
    verdict: str

    @property
    def tone(self) -> str:
        return {OK: "ok", WORSE: "critical"}.get(self.verdict, "plain")

    def as_json(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Probed:
    """What the probe counted in the minutes of the drill and in those before: shares of 0 to 1, milliseconds."""

    written: float | None = None
    read: float | None = None
    p99_ms: float | None = None
    p99_before_ms: float | None = None


def compare(
    expected: ExpectedEffects, measured: Measured, probed: Probed | None, *, of_broker: bool
) -> list[DrillComparison]:
    """Return comparisons; rows without meaning for a ZooKeeper server, or without a probe, are left out or unknown."""
    return list(_rows(expected, measured, probed, of_broker))


def _rows(
    expected: ExpectedEffects, measured: Measured, probed: Probed | None, of_broker: bool
) -> Iterator[DrillComparison]:
    if of_broker:
        yield _within("Leaderships that moved to others", expected.leaders_moved, measured.leaders_moved)
        yield _within("Moves of the controller", expected.controller_moves, measured.controller_moves)
    else:
        ok = measured.zookeeper_left >= expected.zookeeper_left
        left = f"{expected.zookeeper_left} at least", str(measured.zookeeper_left)
        yield DrillComparison("ZooKeeper servers that served", *left, OK if ok else WORSE)
        yield _seconds("ZooKeeper without a quorum, for", expected.quorumless_s, measured.quorumless_s)
        yield _within("Moves of the controller", expected.controller_moves, measured.controller_moves)
    yield _seconds("Partitions without a leader, for", expected.leaderless_s, measured.leaderless_s)
    yield _seconds(
        "Partitions short of replicas in sync, for", expected.under_replicated_s, measured.under_replicated_s
    )
    yield _within("Partitions below min.insync.replicas, at most", expected.below, measured.below)
    yield _back(expected, measured)
    lost = measured.lost
    yield DrillComparison(
        "Acknowledged records lost", "none", "no probe" if lost is None else str(lost), _of_lost(lost)
    )
    yield _unanswered(expected, measured)
    yield from _latency(probed)


def _of_lost(lost: int | None) -> str:
    return UNKNOWN if lost is None else WORSE if lost > 0 else OK


def _within(what: str, pair: tuple[int, int], value: int) -> DrillComparison:
    least, most = pair
    text = str(most) if least == most else f"{least} to {most}"
    return DrillComparison(what, text, str(value), OK if value <= most else WORSE)


def _seconds(what: str, pair: tuple[float, float], value: float) -> DrillComparison:
    most = pair[1]
    return DrillComparison(
        what, f"{most:.0f} s at most" if most else "never", f"{value:.0f} s", OK if value <= most + LOOK_S else WORSE
    )


def _back(expected: ExpectedEffects, measured: Measured) -> DrillComparison:
    what, text = "All in sync again after it was put back, in", f"{expected.back_s:.0f} s at most"
    if measured.back_s is None:
        return DrillComparison(what, text, "not seen", WORSE)
    return DrillComparison(what, text, f"{measured.back_s:.0f} s", OK if measured.back_s <= expected.back_s else WORSE)


def _unanswered(expected: ExpectedEffects, measured: Measured) -> DrillComparison:
    what = "The probe could not write or read some partition, for"
    if measured.unanswered_s is None:
        return DrillComparison(what, f"{expected.unanswered_s[1]:.0f} s at most", "no probe", UNKNOWN)
    # The probe tells every other second, and of what goes on again when it has tried it.
    most = expected.unanswered_s[1]
    ok = measured.unanswered_s <= most + 2 * LOOK_S
    return DrillComparison(what, f"{most:.0f} s at most", f"{measured.unanswered_s:.0f} s", OK if ok else WORSE)


def _latency(probed: Probed | None) -> Iterator[DrillComparison]:
    """Yield measured latencies, for which nothing is expected."""
    if probed is None:
        return
    if probed.written is not None:
        yield DrillComparison(
            "Records that could be written, in these minutes", "", f"{100 * probed.written:.1f} %", "measured"
        )
    if probed.read is not None:
        yield DrillComparison("Readings that succeeded, in these minutes", "", f"{100 * probed.read:.1f} %", "measured")
    if probed.p99_ms is not None:
        before = "" if probed.p99_before_ms is None else f"{probed.p99_before_ms:.0f} ms before"
        yield DrillComparison("From sent to read, p99 in these minutes", before, f"{probed.p99_ms:.0f} ms", "measured")

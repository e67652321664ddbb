"""What an increment adds to the sums of deliveries. Pure.

Whatever came is counted as received. What an increment counts again, because a group was killed before it could commit
or has gone back, had been received before: the application got it twice. So sums only grow, and are the same whoever
adds them up in whichever pieces.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from broker.audit.increment import AuditTier, Increment
from broker.audit.tally import RecordTally
from console.ecosystem.completeness.points import FINEST, TIERS, DeliveryPoint, Points, add

#: A record's time may be ahead of ours by so much; further on it is nobody's clock.
AHEAD_MS = 3_600_000
_BROKER = re.compile(r"broker[-. ]?\d+")


class SeriesKey(NamedTuple):
    topic: str
    tier: str
    reader: str


def series_of(increment: Increment) -> SeriesKey:
    """Return the series; producers are summed up, and so are brokers that count what they lead: each has counted other
    records.
    """
    tier, source, topic, _ = increment.chain
    if tier is AuditTier.PRODUCED:
        source = ""
    elif tier is AuditTier.APPENDED and _BROKER.fullmatch(source):
        source = "brokers"
    return SeriesKey(topic, str(tier), source)


def contribution(increment: Increment, undone: Iterable[Increment], now_ms: int) -> Points:
    """Return the increment's points by steps of the finest tier, without records of no time.

    `undone`: what it replaced in the ledger.
    """
    points: Points = {}
    for window, point in _points_of(increment, undone):
        if now_ms - TIERS[-1].kept_ms <= window <= now_ms + AHEAD_MS:
            add(points, window - window % FINEST.step_ms, point)
    return points


def _points_of(increment: Increment, undone: Iterable[Increment]) -> Iterator[tuple[int, DeliveryPoint]]:
    for window, tally in increment.windows.items():
        yield window, DeliveryPoint(tally.count, tally.bytes)
    for kind, windows in increment.aside.items():
        for window, tally in windows.items():
            yield window, DeliveryPoint(aside={kind: tally.count})
    for window, latency in increment.latencies.items():
        yield window, DeliveryPoint(latency=latency)
    for before in undone:
        for window, tally in before.windows.items():
            yield window, DeliveryPoint(again=_from(tally, increment.start))
        for kind, windows in before.aside.items():
            for window, tally in windows.items():
                yield window, DeliveryPoint(aside={kind: -_from(tally, increment.start)})


def _from(tally: RecordTally, offset: int) -> int:
    """Return the tally's records at or behind `offset`, by share if they lie on both sides."""
    if offset <= tally.first_offset:
        return tally.count
    if offset > tally.last_offset:
        return 0
    return round(tally.count * (tally.last_offset - offset + 1) / (tally.last_offset - tally.first_offset + 1))

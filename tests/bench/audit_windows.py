"""What the windows of the message audit cost a stream job: processor seconds for what is told in ten seconds.

python -m tests.bench.audit_windows [--minutes 12]

Counted are 1,000,000 records/s, and ten times as many: 1,000 partitions a topic, of each of which four producers, a
counter and two groups speak every ten seconds. Counts travel and not records, so that is 700 increments/s, and 7,000.
What a batch does with them is done here without Spark, whose own part is what its batches cost anyhow: the state is
read, the increments are counted, windows judged and rows made, the state is written.
"""

import argparse
import statistics
import time
from collections.abc import Iterator

from broker.audit.increment import NO_RANGE, AuditTier, Chain, Increment
from broker.audit.tally import WINDOW_MS, RecordTally
from broker.spark.audit.topic_windows import TopicWindows, understood, written
from broker.spark.jobs.message_audit import InputRecord, count

PARTITIONS, RECORDS_PER_S, REPORT_MS = 1_000, 1_000_000, 10_000
PRODUCERS, GROUPS = 4, 2
KEPT_MS = 600_000
_BEGIN_MS = 1_700_000_040_000 // WINDOW_MS * WINDOW_MS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=int, default=12, help="how long is told before, and with, what is measured")
    minutes = parser.parse_args().minutes
    for topics in (1, 10):
        states: dict[str, str] = {}
        took = [_batch(states, number, topics) for number in range(minutes * 60_000 // REPORT_MS)]
        newest, size = took[-6:], sum(map(len, states.values())) / 1e6
        increments = topics * PARTITIONS * (PRODUCERS + 1 + GROUPS) * 1000 // REPORT_MS
        print(
            f"{topics * RECORDS_PER_S:>10,} records/s counted · {increments:,} increments/s · "
            f"a batch of 10 s takes {statistics.median(newest):.2f} CPU s (at most {max(newest):.2f}) · "
            f"state {size:.1f} MB",
            flush=True,
        )


def _batch(states: dict[str, str], number: int, topics: int) -> float:
    """Processor seconds for one report of every source."""
    took = 0.0
    for topic in (f"topic-{index}" for index in range(topics)):
        at_ms = _BEGIN_MS + number * REPORT_MS
        records = [
            InputRecord(0, place, increment.to_bytes())
            for place, increment in enumerate(increments_of(topic, number, at_ms))
        ]
        began = time.process_time()
        windows = understood(topic, states[topic]) if topic in states else TopicWindows(topic)
        for _ in count(windows, records, at_ms, KEPT_MS):
            pass
        states[topic] = written(windows)
        took += time.process_time() - began
    return took


def increments_of(topic: str, number: int, at_ms: int) -> Iterator[Increment]:
    """The reports of all sources at that time; the first has number 0."""
    window, item = at_ms // WINDOW_MS * WINDOW_MS, RECORDS_PER_S * REPORT_MS // 1000 // PARTITIONS
    first = number * item
    whole = {window: RecordTally(item, item * 1000, 0x1234_5678_9ABC_DEF0, first, first + item - 1)}
    part = {window: RecordTally(item // PRODUCERS, item * 250, 0x1234_5678_9ABC_DEF0, first, first + item - 1)}
    for partition in range(PARTITIONS):
        for source in range(PRODUCERS):
            chain = Chain(AuditTier.PRODUCED, f"producer-{source}", topic, partition)
            yield Increment(chain, f"{source:032x}", number, at_ms, part, NO_RANGE, NO_RANGE)
        for tier, source in (
            (AuditTier.APPENDED, "counter"),
            *((AuditTier.CONSUMED, f"group-{at}") for at in range(GROUPS)),
        ):
            chain = Chain(tier, source, topic, partition)
            yield Increment(chain, f"{partition:032x}", number, at_ms, whole, first, first + item)


if __name__ == "__main__":
    main()

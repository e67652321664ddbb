"""Runs in which brokers count what they append: at the end every record that readers of committed records find is
counted once, in its window, unless the log was shortened or compacted. `SIMULATE_AUDIT=1` in the environment asks for
it.
"""

import os
from collections import Counter
from collections.abc import Mapping

from broker.audit.increment import AUDIT_TOPIC, BROKER, AuditTier, BadIncrement, Chain, Increment
from broker.audit.ledger import AuditState
from broker.audit.tally import window_of
from broker.common.types import TopicPartition
from broker.records.record import Record
from tests.simulation.history import History
from tests.simulation.topics import BY_NAME, COMPACTED, SHORTENED

SETTINGS = {"barnabas.audit.enable": "true", "barnabas.audit.interval.ms": 300}


def is_asked_for() -> bool:
    return os.environ.get("SIMULATE_AUDIT", "") not in ("", "0")


def ledger_of(records_by_partition: Mapping[TopicPartition, list[Record]]) -> AuditState:
    """`records_by_partition`: what is committed in each partition of the audit topic."""
    ledger = AuditState()
    for where in sorted(records_by_partition):
        for record in records_by_partition[where] if where.topic == AUDIT_TOPIC else ():
            try:
                ledger.add(Increment.from_bytes(record.value))
            except BadIncrement:
                continue
    return ledger


def check_counts(
    history: History,
    ledger: AuditState,
    committed: Mapping[TopicPartition, list[Record]],
    ends: Mapping[TopicPartition, int],
) -> None:
    """`ends`: of the logs, as far as they are committed."""
    for where, records in sorted(committed.items()):
        if where.topic not in BY_NAME or where.topic in COMPACTED | SHORTENED or not ends[where]:
            continue
        story = ledger.stories.get(Chain(AuditTier.APPENDED, BROKER, *where))
        if story is None or story.end != ends[where] or story.start != 0 or story.gaps:
            counted_range = (story.start, story.end, story.gaps) if story else None
            history.violate(f"{where} ends at {ends[where]} and is counted so: {counted_range}")
            continue
        counted = {
            window: tally.count for window, tally in ((window, story.tally(window)) for window in story.windows())
        }
        if counted != dict(Counter(window_of(record.timestamp_ms) for record in records)):
            history.violate(f"{where} has {len(records)} records and is counted so: {counted}")

"""Transactions that do not end, and whose readers stand still, as sentences. Pure."""

from collections.abc import Iterable, Sequence

from console.cluster.producers.open_transactions import OpenTransactionState
from console.cluster.producers.stuck import StuckTransaction
from console.kit.common.figures import duration, grouped
from console.signals.overview.health import HealthLevel, HealthReason
from console.signals.overview.next_action import NextAction

#: Partitions with a reason of their own; the rest are counted in one.
NAMED_MAX = 3
_NAME_LENGTH_MAX = 60
_WHY = {
    OpenTransactionState.HANGING: "no coordinator knows of it, so nothing will end it",
    OpenTransactionState.UNCLAIMED: "no coordinator knows of it, and its producer is silent",
    OpenTransactionState.OVERDUE: "its time is up, and its coordinator has not aborted it",
}
_ABORT = "Abort it, if its producer is gone"
_LOOK = "See its producer, and when its coordinator ends it"


def transaction_reasons(transactions: Sequence[StuckTransaction], now_ms: int) -> Iterable[HealthReason]:
    for transaction in transactions[:NAMED_MAX]:
        yield _stuck(transaction, now_ms)
    if (more := len(transactions) - NAMED_MAX) > 0:
        text = f"{more} more open transaction{' holds' if more == 1 else 's hold'} back read_committed consumers."
        action = NextAction("Open the Producers tab of their topics", "topics")
        yield HealthReason(HealthLevel.WARNING, "Transactions", text, action, key="more transactions", weight=more)


def _stuck(transaction: StuckTransaction, now_ms: int) -> HealthReason:
    topic = transaction.topic
    name = topic if len(topic) <= _NAME_LENGTH_MAX else f"{topic[:_NAME_LENGTH_MAX]}…"
    transaction_state = OpenTransactionState(transaction.standing)
    why = _WHY.get(transaction_state, "its coordinator waits for its producer")
    text = f"A transaction in {name}-{transaction.partition} does not end: {why}."
    evidence = (
        f"read_committed consumers wait at offset {transaction.offset}, "
        f"{grouped(transaction.waiting)} records behind it"
        f" · open for {duration(now_ms - transaction.since_ms)} · producer id {transaction.producer_id}"
    )
    hangs = transaction_state in (OpenTransactionState.HANGING, OpenTransactionState.UNCLAIMED)
    action = NextAction(_ABORT if hangs else _LOOK, "topic-producers", topic)
    key = f"transaction:{topic}:{transaction.partition}:{transaction.producer_id}"
    return HealthReason(
        HealthLevel.WARNING, f"Topic {name}", text, action, evidence, transaction.since_ms, key, parts=(topic,)
    )

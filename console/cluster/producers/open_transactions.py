"""What becomes of a transaction that is open in a partition: who will end it and when, or that nobody will. Pure.

A partition says that it is open, its coordinator that it will be ended. One that no coordinator knows of stays open for
ever, and with it everybody who reads committed records stands still (KIP-664).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from console.kit.common.figures import duration, grouped, utc_time
from console.kit.gateway.producers.interface import ProducerView, TransactionsView, TransactionView

#: As long as Kafka lets a transaction take (transaction.max.timeout.ms): whoever wrote since then may be about to end
#: it, and what two brokers said one after the other may not fit together. Kafka's own command waits as long.
HANGS_AFTER_MS = 15 * 60_000
#: A coordinator looks for those whose time is up this often (transaction.abort.timed.out.transaction.cleanup.…).
_GRACE_MS = 60_000
_DECIDED = ("PrepareCommit", "PrepareAbort")


class OpenTransactionState(StrEnum):
    OPEN = "open"
    ENDING = "ending"
    OVERDUE = "overdue"
    UNCLAIMED = "unclaimed"
    HANGING = "hanging"
    UNTOLD = "not known"


_TONES = {
    OpenTransactionState.OPEN: "busy",
    OpenTransactionState.ENDING: "busy",
    OpenTransactionState.OVERDUE: "warning",
    OpenTransactionState.UNCLAIMED: "warning",
    OpenTransactionState.HANGING: "critical",
    OpenTransactionState.UNTOLD: "plain",
}


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """`transaction`: as its coordinator knows it, if one does. `sentence`: what it is waiting for, and the way out."""

    producer: ProducerView
    open_from: int
    standing: OpenTransactionState
    sentence: str
    transaction: TransactionView | None = None
    #: Records from where it began to the end of the log, of whomever: they wait with it. None: the end is not known.
    waiting: int | None = None
    #: Since it began, or since its last write where no coordinator tells when it began; None: neither is known.
    open_ms: int | None = None

    @property
    def tone(self) -> str:
        return _TONES[self.standing]

    @property
    def waiting_text(self) -> str:
        return "what comes after" if self.waiting is None else f"{grouped(self.waiting)} offsets"


def open_transactions(
    topic: str,
    producers: Iterable[ProducerView],
    view: TransactionsView,
    ends: dict[int, int | None],
    now_ms: int,
) -> list[OpenTransaction]:
    """Return the open transactions: first those that nothing will end, then the oldest.

    `ends`: partition → its next offset.
    """
    transactions = []
    for producer in producers:
        if producer.open_from is None:
            continue
        known = _known_to_coordinator(topic, producer, view.transactions)
        standing, sentence = _standing(producer, known, view.untold, now_ms)
        end = ends.get(producer.partition)
        waiting = None if end is None else max(0, end - producer.open_from)
        began_ms = (known and known.started_at_ms) or producer.last_at_ms
        open_ms = None if began_ms is None else max(0, now_ms - began_ms)
        transactions.append(OpenTransaction(producer, producer.open_from, standing, sentence, known, waiting, open_ms))
    return sorted(
        transactions,
        key=lambda transaction: (
            transaction.standing is not OpenTransactionState.HANGING,
            transaction.producer.last_at_ms or 0,
        ),
    )


def _known_to_coordinator(
    topic: str, producer: ProducerView, transactions: Iterable[TransactionView]
) -> TransactionView | None:
    """Return the coordinator's transaction of this producer; None if its epoch is later, as that ended this one too."""
    for transaction in transactions:
        is_its = transaction.producer_id == producer.producer_id and transaction.epoch >= producer.epoch
        if is_its and (topic, producer.partition) in transaction.partitions:
            return transaction
    return None


def _standing(
    producer: ProducerView, known: TransactionView | None, untold: str, now_ms: int
) -> tuple[OpenTransactionState, str]:
    if known is not None:
        return _claimed(known, now_ms)
    if untold:
        return OpenTransactionState.UNTOLD, f"{untold} Until then it is unknown whether it will be ended."
    quiet_ms = None if producer.last_at_ms is None else now_ms - producer.last_at_ms
    if quiet_ms is not None and quiet_ms < HANGS_AFTER_MS:
        left = duration(HANGS_AFTER_MS - max(0, quiet_ms))
        return OpenTransactionState.UNCLAIMED, (
            "No coordinator knows of it; but its producer wrote a moment ago, and it may just be ending. If it is "
            f"still open in {left}, it hangs, and can be aborted here."
        )
    return OpenTransactionState.HANGING, (
        "No coordinator knows of it, so it will never end: read_committed consumers stop here until it is aborted."
    )


def _claimed(known: TransactionView, now_ms: int) -> tuple[OpenTransactionState, str]:
    if known.state in _DECIDED:
        end = "commit" if known.state == "PrepareCommit" else "abort"
        return (
            OpenTransactionState.ENDING,
            f"It is decided to {end}; the marker that says so is on its way to this partition.",
        )
    if known.started_at_ms is None:
        return OpenTransactionState.OPEN, "Its coordinator knows of it and will end it."
    ends_ms = known.started_at_ms + known.timeout_ms
    if now_ms > ends_ms + _GRACE_MS:
        return OpenTransactionState.OVERDUE, (
            f"Its time was up at {utc_time(ends_ms)}, and broker {known.coordinator}, its coordinator, has not aborted "
            "it yet: look into that broker's log. A new producer with its transactional.id ends it as well."
        )
    return OpenTransactionState.OPEN, (
        f"Broker {known.coordinator}, its coordinator, aborts it at {utc_time(ends_ms)} unless its producer ends it "
        "before. To end it sooner, start a producer with its transactional.id: it aborts what was left open."
    )
